//! Reverse, reorder, rename, repeat, fill, several outputs, outputs over a part of the world, empty tensors.

use super::{C, K, N, X, Y, array, check, same, tabulate};
use crate::random::Rng;
use crate::tensor::{Layout, Stored, Tensor, evaluate, evaluate_every_way};
use ndarray::Axis;
use tilewright_dims::Dims;
use tilewright_expr::{In, Rect, constant, coordinate, trace};

#[test]
fn reverse_reorder_and_permute() {
    let (a, tensor) = array::<u16>(&mut Rng::new(1), <(Y, X, C)>::IDS, &[5, 11, 4]);
    let mut back = a.clone();
    back.invert_axis(Axis(1));
    let order = [2, 0, 0, 3, 1];
    let t = trace(|a: In<u16, (Y, X, C)>| {
        (a.reverse::<X>().store::<(Y, X, C)>(), a.reorder::<C>(&order).reverse::<Y>().store::<(C, X, Y)>())
    });
    // Results of one world agree about C: one at a time.
    let expected = tabulate(&[5, 11, 5], |i| a[[4 - i[2], i[1], order[i[0]] as usize].as_slice()]);
    for (i, expected) in [back, expected].iter().enumerate() {
        let mut graph = t.graph.clone();
        graph.outputs = vec![graph.outputs[i].clone()];
        check(&graph, &[&tensor], expected);
    }
}

/// Two roles of one dimension: every value with every other.
#[test]
fn rename_gives_a_dimension_a_second_role() {
    let (a, tensor) = array::<i64>(&mut Rng::new(2), <(Y, X)>::IDS, &[3, 13]);
    let t = trace(|a: In<i64, (Y, X)>| (a - a.rename::<X, K>()).store::<(Y, K, X)>());
    let expected = tabulate(&[3, 13, 13], |i| a[[i[0], i[2]].as_slice()].wrapping_sub(a[[i[0], i[1]].as_slice()]));
    check(&t.graph, &[&tensor], &expected);
}

#[test]
fn repeat_fill_and_coordinates() {
    let (a, tensor) = array::<f32>(&mut Rng::new(3), <(X,)>::IDS, &[7]);
    let t = trace(|a: In<f32, (X,)>| a.repeat::<N>(4).store::<(N, X)>());
    check(&t.graph, &[&tensor], &tabulate(&[4, 7], |i| a[&i[1..]]));
    let t = trace(|| constant(-2.5f64).repeat::<Y>(3).repeat::<X>(1030).store::<(Y, X)>());
    check(&t.graph, &[], &tabulate(&[3, 1030], |_| -2.5f64));
    let t = trace(|a: In<f32, (X,)>| {
        let i = coordinate::<X>().to::<f32>() + 10.0 * coordinate::<Y>().to::<f32>();
        (i + a * 0.0 - a * 0.0).repeat::<Y>(3).store::<(X, Y)>()
    });
    let expected =
        tabulate(&[7, 3], |i| if a[&i[..1]].is_finite() { i[0] as f32 + 10.0 * i[1] as f32 } else { f32::NAN });
    check(&t.graph, &[&tensor], &expected);
}

/// Different types, different orders, parts of the world.
#[test]
fn several_outputs() {
    let mut rng = Rng::new(4);
    let (a, a_tensor) = array::<i32>(&mut rng, <(N, Y, X)>::IDS, &[3, 5, 17]);
    let (b, b_tensor) = array::<i32>(&mut rng, <(Y,)>::IDS, &[5]);
    let (s, s_tensor) = array::<i32>(&mut rng, &[], &[]);
    let t = trace(|a: In<i32, (N, Y, X)>, b: In<i32, (Y,)>, s: In<i32, ()>| {
        ((b + s).store::<(Y,)>(), (a + b).store::<(X, N, Y)>(), a.gt(b).store::<(N, Y, X)>(), (s + s).store::<()>())
    });
    let results = evaluate_every_way(&t.graph, &[&a_tensor, &b_tensor, &s_tensor]);
    let s = s[[].as_slice()];
    same(&results[0], &b.mapv(|b| b.wrapping_add(s)));
    same(&results[1], &tabulate(&[17, 3, 5], |i| a[[i[1], i[2], i[0]].as_slice()].wrapping_add(b[&i[2..]])));
    same(&results[2], &tabulate(&[3, 5, 17], |i| a[i] > b[&i[1..2]]));
    same(&results[3], &tabulate(&[], |_| s.wrapping_add(s)));
}

/// A result over other dimensions than the largest one: the world is their union.
#[test]
fn outputs_over_different_parts_of_the_world() {
    let mut rng = Rng::new(5);
    let (a, a_tensor) = array::<u8>(&mut rng, <(Y, X)>::IDS, &[5, 19]);
    let (b, b_tensor) = array::<u8>(&mut rng, <(N, X)>::IDS, &[3, 19]);
    let t = trace(|a: In<u8, (Y, X)>, b: In<u8, (N, X)>| (a.store::<(Y, X)>(), (b / 2u8).store::<(X, N)>()));
    let results = evaluate_every_way(&t.graph, &[&a_tensor, &b_tensor]);
    same(&results[0], &a);
    same(&results[1], &tabulate(&[19, 3], |i| b[[i[1], i[0]].as_slice()] / 2));
}

/// One point, and nothing but scalars.
#[test]
fn no_dimension_at_all() {
    let (a, tensor) = array::<f64>(&mut Rng::new(6), &[], &[]);
    let t = trace(|a: In<f64, ()>| (a * 2.0).store::<()>());
    check(&t.graph, &[&tensor], &a.mapv(|v| v * 2.0));
}

/// An empty batch is an empty result: nothing is written, nothing is read.
#[test]
fn empty_tensors() {
    let mut rng = Rng::new(7);
    let picture = rng.tensor(tilewright_expr::DType::U8, <(Y, X, C)>::IDS, &[6, 7, 3]);
    let t = trace(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
        p.crop::<Y, X, _>(b).resize::<Y, X>(2, 3).store::<(N, Y, X, C)>()
    });
    for known in [true, false] {
        let stored = [
            Stored::new(&picture, &Layout::dense(3)),
            Stored::new(&Tensor::boxes(<(N,)>::IDS, &[0], &[]), &Layout::dense(1)),
        ];
        let (results, failed) =
            evaluate(&t.graph, &stored, &[Layout::dense(4)], known, 0).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((results[0].shape.as_slice(), failed), ([0, 2, 3, 3].as_slice(), None));
    }
    for shape in [[0, 5], [5, 0], [0, 0]] {
        let a = rng.tensor(tilewright_expr::DType::F32, <(Y, X)>::IDS, &shape);
        let t = trace(|a: In<f32, (Y, X)>| (a.reverse::<X>() + 1.0).exp().store::<(X, Y)>());
        check(&t.graph, &[&a], &tabulate(&[shape[1], shape[0]], |_| 0.0f32));
    }
}

/// Where one result is empty and another is not, the other is computed.
#[test]
fn an_empty_result_beside_one_that_is_not() {
    let mut rng = Rng::new(8);
    let a = rng.tensor(tilewright_expr::DType::F32, <(N, X)>::IDS, &[0, 5]);
    let b = rng.tensor(tilewright_expr::DType::F32, <(X,)>::IDS, &[5]);
    let t = trace(|a: In<f32, (N, X)>, b: In<f32, (X,)>| ((a + b).store::<(N, X)>(), (-b).store::<(X,)>()));
    let stored = [Stored::new(&a, &Layout::dense(2)), Stored::new(&b, &Layout::dense(1))];
    let (results, _) =
        evaluate(&t.graph, &stored, &[Layout::dense(2), Layout::dense(1)], true, 0).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(results[0].shape, [0, 5]);
    let negated = Tensor { bits: b.bits.iter().map(|v| v ^ 0x8000_0000).collect(), ..b };
    assert!(results[1].same(&negated), "{}", results[1].difference(&negated));
}
