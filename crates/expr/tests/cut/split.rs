//! Expressions in two.

use super::*;
use tilewright_expr::graph::{Binary, Op};

/// A scan of what runs backwards cannot be cut; what runs backwards can, and a scan of that.
#[test]
fn what_is_scanned_backwards_is_a_result_before() {
    let length = |_, dim: u64| if dim == Y::ID { 90 } else { 7 };
    let t = trace(|a: In<f32, (X, Y)>, b: In<f32, (Y,)>| (a.reverse::<Y>().cummax::<Y>() * b).store::<(Y, X)>());
    assert!(t.graph.cut_scans(Y::ID, 4, length).is_err());
    let parted = t.graph.splits().into_iter().map(|node| t.graph.split(node, length).unwrap());
    let found = parted.into_iter().find(|it| it.rest.cut_scans(Y::ID, 4, |_, dim| length(0, dim)).is_ok()).unwrap();
    assert_eq!((&found.of[..], &found.kept[..]), (&[0][..], &[1][..]));
    assert_eq!(*found.first.outputs[0].dims, [Y::ID, X::ID], "as the result lies");
    assert!(found.first.cut_images(Y::ID, length, |_, _| false).is_ok());
    let between = found.rest.operands.last().unwrap();
    assert_eq!((between.dtype, &*between.dims), (DType::F32, &[Y::ID, X::ID][..]));
    assert_eq!(*found.rest.outputs[0].dims, *t.graph.outputs[0].dims);
}

/// Lengths of operands that are not left are those of what lies between, or numbers.
#[test]
fn lengths_are_those_of_what_lies_between() {
    let length = |_, _| 90;
    let t = trace(|a: In<f32, (Y,)>| {
        let low = a.cummin::<Y>();
        (low.reverse::<Y>() + low.slice::<Y>(3, 90 - 3).pad::<Y>(3, 0, Border::Reflect)).store::<(Y,)>()
    });
    let scan = *t.graph.splits().first().unwrap();
    let parted = t.graph.split(scan, length).unwrap();
    assert_eq!((parted.of, parted.kept), (vec![0], vec![]));
    assert_eq!(parted.rest.operands.len(), 1);
    assert!(parted.rest.cut_images(Y::ID, length, |_, _| false).is_ok());
    let t = trace(|a: In<f32, (Y,)>| a.store::<(Y,)>());
    assert!(t.graph.splits().is_empty());
    // A product that is summed is rounded once with the sum, so what is split off is a factor.
    let t = trace(|a: In<f32, (Y,)>| ((a * a.reverse::<Y>()).cumsum::<Y>() * 2.0).store::<(Y,)>());
    let splits = t.graph.splits();
    assert_eq!(splits.len(), 2);
    let is_product = |op: &Op| matches!(op, Op::Binary(Binary::Mul, ..));
    assert!(splits.iter().all(|node| !is_product(&t.graph.node(*node).op)));
}
