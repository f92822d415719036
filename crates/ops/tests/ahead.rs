//! What calls would run, known without them.

use tilewright_dims::dims;
use tilewright_driver::Source;
use tilewright_expr::{In, Initial, coordinate, meet};
use tilewright_ops::{Tensor, fuse};

mod elsewhere {
    tilewright_dims::dims! { Height, Width }
}
dims! { Y, X }

const LARGE: [usize; 2] = [300, 301];

fn large() -> Vec<f32> {
    vec![0.0; LARGE[0] * LARGE[1]]
}

#[test]
fn names_of_dimensions_are_not_in_the_source() {
    use elsewhere::{Height, Width};
    let here = fuse(|x: In<f32, (Y, X)>| (x.exp() * 2.0).store::<(Y, X)>());
    let there = fuse(|x: In<f32, (Height, Width)>| (x.exp() * 2.0).store::<(Height, Width)>());
    let here = here.plan(&Tensor::<f32, (Y, X)>::from_vec(LARGE, large()).unwrap()).unwrap().sources().unwrap();
    let there =
        there.plan(&Tensor::<f32, (Height, Width)>::from_vec([50_000, 7], vec![0.0; 350_000]).unwrap()).unwrap();
    let texts = |sources: &[Source]| sources.iter().map(|s| s.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&here), texts(&there.sources().unwrap()));
    let shown = there.cuda_source().unwrap();
    assert!(shown.starts_with("// tilewright: loops (Width as X") && shown.ends_with(&here[0].text), "{shown}");
}

#[test]
fn every_kernel_of_a_call() {
    let empty = fuse(|x: In<f32, (X,)>| (x + 1.0).store::<(X,)>());
    let none = Tensor::<f32, (X,)>::from_vec([0], Vec::new()).unwrap();
    assert_eq!(empty.plan(&none).unwrap().sources().unwrap(), []);
    // What is not written has a first value: a kernel of its own, before the other.
    let scattered = fuse(|x: In<f32, (X,)>| {
        let place = coordinate::<X>() * 2;
        x.scatter::<X, Y, _, _>(place, 700_000, meet::Unique, Initial::Filled(0.5f32)).store::<(Y,)>()
    });
    let long = Tensor::<f32, (X,)>::from_vec([300_000], vec![0.0; 300_000]).unwrap();
    assert_eq!(scattered.plan(&long).unwrap().sources().unwrap().len(), 2);
    // Operands that a large parameter block takes: drivers before CUDA 12.1 have none. Under one configuration, not those of models as well.
    let factors = fuse(|x: In<f32, (Y, X)>, by: In<f32, (Y,)>| (x * by).store::<(Y, X)>());
    for (rows, kernels) in [(100, 1), (1500, 2), (20_000, 1)] {
        let x = Tensor::<f32, (Y, X)>::from_vec([rows, 1000], vec![0.0; rows * 1000]).unwrap();
        let by = Tensor::<f32, (Y,)>::from_vec([rows], vec![0.0; rows]).unwrap();
        let plan = factors.plan(&x, &by).unwrap().of_own_configuration().unwrap();
        assert_eq!(plan.sources().unwrap().len(), kernels, "{rows}");
    }
}

#[test]
fn idle_operands_are_left_out() {
    let with = fuse(|_: In<u8, (Y, X)>, x: In<f32, (Y, X)>, _: In<f32, (X,)>| (x * 2.0).store::<(Y, X)>());
    let without = fuse(|x: In<f32, (Y, X)>| (x * 2.0).store::<(Y, X)>());
    let x = Tensor::<f32, (Y, X)>::from_vec(LARGE, large()).unwrap();
    let bytes = Tensor::<u8, (Y, X)>::from_vec(LARGE, vec![0; LARGE[0] * LARGE[1]]).unwrap();
    let row = Tensor::<f32, (X,)>::from_vec([LARGE[1]], vec![0.0; LARGE[1]]).unwrap();
    let with = with.plan(&bytes, &x, &row).unwrap();
    let keys = |sources: Vec<Source>| sources.iter().map(Source::keys).collect::<Vec<_>>();
    let expected = keys(without.plan(&x).unwrap().sources().unwrap());
    assert_ne!(keys(with.sources().unwrap()), expected);
    assert_eq!(keys(with.of_used_operands().sources().unwrap()), expected);
}
