//! The standard catalogue: it has what programs ask for.

use std::collections::HashSet;
use tilewright_build_ptx::catalogue::{Entries, Suite};
use tilewright_dims::dims;
use tilewright_driver::Keys;
use tilewright_expr::{In, Rect, f16};
use tilewright_ops::{Plan, Tensor, fuse};
use tilewright_special as special;

// Names of their own: a kernel is found whatever dimensions are called.
dims! { Batch, Row, Column, Colour }

const LONG: usize = 100_000;

fn line<T: tilewright_ops::Item>(count: usize) -> Tensor<T, (Column,)> {
    Tensor::from_vec([count], vec![T::default(); count]).unwrap()
}

fn keys(suite: Suite) -> HashSet<Keys> {
    Entries::standard(&[suite]).unwrap().list().iter().map(|entry| entry.source.keys()).collect()
}

/// All that a call may want under its plan's own configuration: what models choose for some sizes is not in the catalogue.
#[track_caller]
fn assert_has(keys: &HashSet<Keys>, plan: &Plan) {
    for source in plan.of_own_configuration().unwrap().sources().unwrap() {
        assert!(keys.contains(&source.keys()), "the catalogue lacks\n{}", source.text);
    }
}

#[test]
fn functions_of_programs_are_there() {
    let keys = keys(Suite::Functions);
    let (x, y) = (line::<f32>(LONG), line::<f32>(LONG + 1));
    let exp = fuse(|x: In<f32, (Column,)>| x.exp().store::<(Column,)>());
    assert_has(&keys, &exp.plan(&x).unwrap());
    assert_has(&keys, &exp.plan(&y).unwrap());
    assert_has(&keys, &exp.plan(&line::<f32>(3 * LONG).step_by::<Column>(3).unwrap()).unwrap());
    let sum = fuse(|a: In<f16, (Column,)>, b: In<f16, (Column,)>| (a + b).store::<(Column,)>());
    assert_has(&keys, &sum.plan(&line(LONG), &line(LONG)).unwrap());
    let cast = fuse(|a: In<u8, (Row, Column)>| a.to::<f64>().store::<(Row, Column)>());
    let matrix = Tensor::<u8, (Row, Column)>::from_vec([300, 400], vec![0; 120_000]).unwrap();
    assert_has(&keys, &cast.plan(&matrix).unwrap());
    let digamma = fuse(|x: In<f32, (Column,)>| special::digamma::of(x).store::<(Column,)>());
    assert_has(&keys, &digamma.plan(&x).unwrap());
    let gcd = fuse(|a: In<i64, (Column,)>, b: In<i64, (Column,)>| special::gcd_i64::of(a, b).store::<(Column,)>());
    assert_has(&keys, &gcd.plan(&line(LONG), &line(LONG)).unwrap());
}

#[test]
fn crops_of_the_example_are_there() {
    let keys = keys(Suite::Pipelines);
    let crops = fuse(
        |picture: In<u8, (Row, Column, Colour)>,
         boxes: In<Rect, (Batch,)>,
         mul: In<f32, (Colour,)>,
         sub: In<f32, (Colour,)>,
         div: In<f32, (Colour,)>| {
            let pixel = picture.crop::<Row, Column, _>(boxes).resize::<Row, Column>(128, 64).reverse::<Colour>();
            ((pixel * mul - sub) / div).store::<(Batch, Colour, Row, Column)>()
        },
    );
    let picture = Tensor::<u8, (Row, Column, Colour)>::from_vec([600, 800, 3], vec![0; 1_440_000]).unwrap();
    let colours = Tensor::<f32, (Colour,)>::from_vec([3], vec![0.5; 3]).unwrap();
    for count in [1, 10, 150, 300] {
        let boxes = Tensor::<Rect, (Batch,)>::from_vec([count], vec![Rect::new(1, 2, 70, 90); count]).unwrap();
        assert_has(&keys, &crops.plan(&picture, &boxes, &colours, &colours, &colours).unwrap());
    }
}

#[test]
fn every_kernel_has_a_name_of_its_own() {
    let entries = Entries::standard(&Suite::ALL).unwrap();
    let mut names = HashSet::new();
    for entry in entries.list() {
        assert!(names.insert(entry.name()), "`{}` twice", entry.name());
        assert!(!entry.operation.contains('\t') && entry.suite.is_some());
    }
    assert!(names.len() > 3_500, "{} kernels", names.len());
}
