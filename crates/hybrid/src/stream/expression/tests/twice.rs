//! Operands that are read around the point and elsewhere too: for that they are there once more, whole. And other dimensions, where no band fits.

use super::folded::in_bands_of;
use super::*;
use tilewright_expr::{Border, In, coordinate};
use tilewright_ops::{Tensor, fuse};

const SHAPE: [usize; 2] = [211, 5];

/// Products of all pairs of rows are larger than the rows.
#[test]
fn all_pairs() {
    let mut values = Random(51).of(SHAPE[0] * SHAPE[1], Random::unit);
    values[77] = f32::INFINITY;
    values[500] = f32::NAN;
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    let square = [SHAPE[0], SHAPE[0]];
    let pairs = fuse(|x: In<f32, (Y, X)>| (x * x.rename::<Y, K>()).sum::<X>().store::<(Y, K)>());
    let farthest = fuse(|x: In<f32, (Y, X)>| {
        let off = x - x.rename::<Y, K>();
        let ramp = (coordinate::<Y>() - coordinate::<K>()).to::<f32>();
        ((off * off).sum::<X>() + ramp).store::<(K, Y)>()
    });
    for expression in [&pairs.launcher(), &farthest.launcher()] {
        assert_eq!(expression.graph().operands.len(), 1);
    }
    let whole = pairs.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(24 << 10, square, 7.0f32, check, |sink, run| {
        let of = Evaluation::new(&pairs, (&x,), &[sink]).unwrap();
        let plan = of.plan(24 << 10).unwrap();
        assert_eq!((of.dimension(), plan.bytes_once), (Some("Y"), 4 * values.len() as u128));
        run(&of);
    });
    let whole = farthest.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(24 << 10, square, 7.0f32, check, |sink, run| {
        run(&Evaluation::new(&farthest, (&x,), &[sink]).unwrap());
    });
}

/// Backwards, at computed places, and beside stencils and scans of the same operand.
#[test]
fn backwards_and_at_computed_places() {
    let length = 4001;
    let mut random = Random(52);
    let (values, which) =
        (random.of(length, Random::unit), random.of(length, |random: &mut Random| (random.next() % 4001) as i32));
    let (line, places) =
        (MemorySource::new(matrix(&values, [length, 1])), MemorySource::new(matrix(&which, [length, 1])));
    let x = Array::<f32, (Y,)>::new(&line, [length]).unwrap();
    let at = Array::<i32, (Y,)>::new(&places, [length]).unwrap();
    let tensor = Tensor::<f32, (Y,)>::from_vec([length], values.clone()).unwrap();
    let which = Tensor::<i32, (Y,)>::from_vec([length], which.clone()).unwrap();
    let backwards = fuse(|x: In<f32, (Y,)>, at: In<i32, (Y,)>| {
        let count = coordinate::<Y>().to::<f32>() + at.to::<f32>();
        (x.reverse::<Y>() * count - x).store::<(Y,)>()
    });
    let gathered = fuse(|x: In<f32, (Y,)>, at: In<i32, (Y,)>| (x.at::<Y, _>(at) * 2.0 + x).store::<(Y,)>());
    let scanned = fuse(|x: In<f32, (Y,)>, at: In<i32, (Y,)>| (x.at::<Y, _>(at) + x.cummax::<Y>()).store::<(Y,)>());
    for expression in [&backwards, &gathered, &scanned] {
        let whole = expression.call(&tensor, &which).unwrap().to_vec().unwrap();
        let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
        in_bands_of(40 << 10, [length, 1], f32::NAN, check, |sink, run| {
            run(&Evaluation::new(expression, (&x, &at), &[sink]).unwrap().along::<Y>().unwrap());
        });
    }
    let shape = [length / 11, 11];
    let picture = MemorySource::new(matrix(&values[..shape[0] * shape[1]], shape));
    let p = Array::<f32, (Y, X)>::new(&picture, shape).unwrap();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values[..shape[0] * shape[1]].to_vec()).unwrap();
    for border in [Border::Reflect, Border::Wrap] {
        let blurred = fuse(|p: In<f32, (Y, X)>| {
            (p.box_filter::<Y, X>(3, 3, border) + p.reverse::<Y>().reverse::<X>()).store::<(Y, X)>()
        });
        let whole = blurred.call(&tensor).unwrap().to_vec().unwrap();
        let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
        in_bands_of(28 << 10, shape, f32::NAN, check, |sink, run| {
            run(&Evaluation::new(&blurred, (&p,), &[sink]).unwrap().along::<Y>().unwrap());
        });
    }
}

/// Of no dimension that could be cut a single index fits: another one is, or bands are reduced.
#[test]
fn another_way_where_no_band_fits() {
    let shape = [3, 4001];
    let values = Random(53).of(shape[0] * shape[1], Random::unit);
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<f32, (Y, X)>::new(&source, shape).unwrap();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values.clone()).unwrap();
    let plain = fuse(|x: In<f32, (Y, X)>| (x * 2.0 + 1.0).store::<(Y, X)>());
    let largest = fuse(|x: In<f32, (Y, X)>| x.maximum::<X>().store::<(Y,)>());
    let whole = plain.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(12 << 10, shape, f32::NAN, check, |sink, run| {
        let of = Evaluation::new(&plain, (&x,), &[sink]).unwrap();
        assert_eq!((of.dimension(), of.plan(12 << 10).unwrap().dimension), (Some("Y"), Some("X")));
        run(&of);
    });
    let whole = largest.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(12 << 10, [3, 1], f32::NAN, check, |sink, run| {
        run(&Evaluation::new(&largest, (&x,), &[sink]).unwrap());
    });
}
