//! Reads at any coordinates.

use super::*;
use crate::tensor::{Layout, Stored, evaluate};
use tilewright_expr::{Error, coordinate};

#[test]
fn a_table_and_a_row_of_each_plane() {
    let mut rng = Rng::new(1);
    let (table, t_table) = array::<u16>(&mut rng, <(K,)>::IDS, &[7]);
    let index = ArrayD::from_shape_simple_fn(vec![5, 9], || rng.range(0, 7) as i32);
    let t = trace(|table: In<u16, (K,)>, i: In<i32, (Y, X)>| table.at::<K, _>(i).store::<(Y, X)>());
    let expected = index.mapv(|i| table[[i as usize].as_slice()]);
    check(&t.graph, &[&t_table, &Tensor::of(<(Y, X)>::IDS, &index)], &expected);

    let (planes, t_planes) = array::<f32>(&mut rng, <(N, Y, X)>::IDS, &[3, 4, 6]);
    let rows = ArrayD::from_shape_vec(vec![3], vec![3i32, 0, 2]).expect("three");
    let t = trace(|p: In<f32, (N, Y, X)>, row: In<i32, (N,)>| p.at::<Y, _>(row).store::<(N, X)>());
    let expected = tabulate(&[3, 6], |i| planes[[i[0], rows[i[0]] as usize, i[1]].as_slice()]);
    check(&t.graph, &[&t_planes, &Tensor::of(<(N,)>::IDS, &rows)], &expected);

    let t = trace(|p: In<f32, (N, Y, X)>| p.at::<Y, _>(3).store::<(X, N)>());
    check(&t.graph, &[&t_planes], &tabulate(&[6, 3], |i| planes[[i[1], 3, i[0]].as_slice()]));
}

/// The coordinate varies along the dimension that it replaces.
#[test]
fn along_its_own_dimension() {
    let mut rng = Rng::new(2);
    let (p, tensor) = array::<i32>(&mut rng, <(Y, X)>::IDS, &[6, 5]);
    // As long as the source, as said, as long as the indices.
    let t = trace(|p: In<i32, (Y, X)>| p.at::<Y, _>(coordinate::<Y>() / 2).store::<(Y, X)>());
    check(&t.graph, &[&tensor], &tabulate(&[6, 5], |i| p[[i[0] / 2, i[1]].as_slice()]));
    let t = trace(|p: In<i32, (Y, X)>| p.at_sized::<Y, _>(coordinate::<Y>() / 2, 11).store::<(Y, X)>());
    check(&t.graph, &[&tensor], &tabulate(&[11, 5], |i| p[[i[0] / 2, i[1]].as_slice()]));
    let order = ArrayD::from_shape_vec(vec![4], vec![5i32, 0, 0, 3]).expect("four");
    let t = trace(|p: In<i32, (Y, X)>, order: In<i32, (Y,)>| p.at::<Y, _>(order).store::<(Y, X)>());
    let expected = tabulate(&[4, 5], |i| p[[order[i[0]] as usize, i[1]].as_slice()]);
    check(&t.graph, &[&tensor, &Tensor::of(<(Y,)>::IDS, &order)], &expected);
    // A window of three rows, as a dimension of its own.
    let t = trace(|p: In<i32, (Y, X)>, w: In<i32, (K,)>| {
        (p.at_border::<Y, _>(coordinate::<Y>() + coordinate::<K>() - 1, Border::Replicate) * w).store::<(Y, X, K)>()
    });
    let (w, t_w) = array::<i32>(&mut rng, <(K,)>::IDS, &[3]);
    let expected = tabulate(&[6, 5, 3], |i| {
        p[[(i[0] + i[2]).saturating_sub(1).min(5), i[1]].as_slice()].wrapping_mul(w[[i[2]].as_slice()])
    });
    check(&t.graph, &[&tensor, &t_w], &expected);
}

/// Each coordinate varies along both dimensions: a transposition of a square, and a skew.
#[test]
fn both_coordinates_at_once() {
    let (p, tensor) = array::<u8>(&mut Rng::new(3), <(Y, X)>::IDS, &[6, 6]);
    let t = trace(|p: In<u8, (Y, X)>| p.at_point::<Y, X, _, _>(coordinate::<X>(), coordinate::<Y>()).store::<(Y, X)>());
    check(&t.graph, &[&tensor], &tabulate(&[6, 6], |i| p[[i[1], i[0]].as_slice()]));
    let t = trace(|p: In<u8, (Y, X)>| {
        let (y, x) = (coordinate::<Y>(), coordinate::<X>());
        p.at_point_border::<Y, X, _, _>(y - x * 2, x + y, Border::Constant(7)).store::<(Y, X)>()
    });
    let expected = tabulate(&[6, 6], |i| {
        let (y, x) = (i[0] as i64 - 2 * i[1] as i64, (i[0] + i[1]) as i64);
        let inside = (0..6).contains(&y) && (0..6).contains(&x);
        if inside { p[[y as usize, x as usize].as_slice()] } else { 7 }
    });
    check(&t.graph, &[&tensor], &expected);
}

/// A read outside is clamped and found: the first coordinate that is outside, limited to what the error has room for.
#[test]
fn coordinates_outside() {
    let (p, tensor) = array::<u8>(&mut Rng::new(4), <(X,)>::IDS, &[5]);
    let t = trace(|p: In<u8, (X,)>, i: In<i32, (K,)>| p.at::<X, _>(i).store::<(K,)>());
    let run = |indices: [i32; 3]| {
        let list = ArrayD::from_shape_vec(vec![3], indices.to_vec()).expect("three");
        let inputs = [&tensor, &Tensor::of(<(K,)>::IDS, &list)].map(|t| Stored::new(t, &Layout::dense(1)));
        let (results, failed) = evaluate(&t.graph, &inputs, &[Layout::dense(1)], true, 0).expect("it runs");
        let expected = list.mapv(|i| p[[i.clamp(0, 4) as usize].as_slice()]);
        assert_eq!(results[0].array::<u8>(), expected);
        failed
    };
    assert_eq!(run([4, 0, 2]), None);
    for (outside, coordinate) in
        [(5, 5), (-1, -1), (-17, -17), (i32::MAX, (1 << 30) - 1), (i32::MIN, -(1 << 30)), (1 << 29, 1 << 29)]
    {
        assert_eq!(run([4, outside, 2]), Some(Error::Coordinate { coordinate }));
    }
    assert_eq!(
        Error::Coordinate { coordinate: -3 }.to_string(),
        "a coordinate computed on the device (-3) lies outside of the dimension that is read there; it was clamped. \
         Read through a border to give such coordinates a meaning: `.at_border`"
    );
}
