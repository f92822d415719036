//! Which part of each operand a band of the results is computed from: for each kind of read, and what is refused.

use crate::emitted::check_all;
use crate::random::{Case, Operand, Rng};
use crate::tensor::{Layout, Tensor};
use ndarray::arr0;
use tilewright_dims::{Dim, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::cut::{Numbers, Passes, Share, Uncut};
use tilewright_expr::graph::{Graph, OperandSpec, Size};
use tilewright_expr::stage::Margin;
use tilewright_expr::{Border, DType, In, Initial, Rect, concatenate, coordinate, meet, trace};

mod images;
mod scans;
mod scattered;
mod split;

dims! { N, Y, X, C, K }

fn band(before: i64, after: i64) -> Share {
    Share::Band(Margin { before: -before, after })
}

/// What each operand brings to a band, and whether the expression counts.
fn shares(graph: &Graph, dim: u64) -> (Vec<Share>, bool) {
    let cut = graph.cut(dim).unwrap();
    (cut.shares, cut.graph.is_some())
}

#[test]
fn values_at_the_point_and_broadcast_ones() {
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y,)>, c: In<f32, (X,)>, d: In<f32, ()>| {
        (a * b + c - d).store::<(X, Y)>()
    });
    assert_eq!(shares(&t.graph, Y::ID), ([band(0, 0), band(0, 0), Share::Whole, Share::Whole].to_vec(), false));
    assert_eq!(shares(&t.graph, X::ID), ([band(0, 0), Share::Whole, band(0, 0), Share::Whole].to_vec(), false));
    assert_eq!(t.graph.cut(C::ID).unwrap_err(), Uncut::Lacking { result: 0 });
}

#[test]
fn windows_of_stencils_add_up() {
    for border in [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Constant(1.0f32)] {
        let t = trace(|p: In<f32, (Y, X)>, q: In<f32, (Y, X)>| {
            let low = p.box_filter::<Y, X>(5, 3, border).gaussian_blur::<Y, X>((3, 7), (1.0, 1.0), border);
            (low + q).store::<(Y, X)>()
        });
        assert_eq!(shares(&t.graph, Y::ID), ([band(3, 3), band(0, 0)].to_vec(), false), "{border:?}");
        assert_eq!(shares(&t.graph, X::ID), ([band(4, 4), band(0, 0)].to_vec(), false), "{border:?}");
        assert_eq!(t.graph.cut(Y::ID).unwrap().margin, Margin { before: -3, after: 3 });
    }
    // A border that repeats has other rows behind the last one, which another one has not.
    let t = trace(|p: In<f32, (Y, X)>| p.box_filter::<Y, X>(3, 5, Border::Wrap).store::<(Y, X)>());
    let cut = t.graph.cut(Y::ID).unwrap();
    assert_eq!((cut.shares, cut.wraps), ([band(1, 1)].to_vec(), true));
    let t = trace(|p: In<f32, (Y, X)>| {
        let low = p.box_filter::<Y, X>(3, 1, Border::Wrap);
        (low + p.box_filter::<Y, X>(3, 1, Border::Reflect)).store::<(Y, X)>()
    });
    assert_eq!(t.graph.cut(Y::ID).unwrap_err(), Uncut::Wrapped);
    // Where nothing is read away from the point a border is no matter.
    let t = trace(|p: In<f32, (Y, X)>| {
        let low = p.box_filter::<Y, X>(3, 1, Border::Wrap);
        (low + p.box_filter::<Y, X>(1, 3, Border::Reflect)).store::<(Y, X)>()
    });
    assert!(t.graph.cut(Y::ID).unwrap().wraps);
}

#[test]
fn reductions_gathers_and_renamed_dimensions() {
    let t = trace(|a: In<f32, (Y, K)>, b: In<f32, (K, X)>| (a * b).sum::<K>().store::<(Y, X)>());
    assert_eq!(shares(&t.graph, Y::ID), ([band(0, 0), Share::Whole].to_vec(), false));
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y,)>| (a.sum::<Y>() * b).store::<(Y, X)>());
    assert_eq!(shares(&t.graph, Y::ID), ([Share::Whole, band(0, 0)].to_vec(), false));
    let t = trace(|a: In<f32, (Y, X)>, which: In<i32, (Y,)>| a.at::<Y, _>(which).store::<(Y, X)>());
    assert_eq!(shares(&t.graph, Y::ID), ([Share::Whole, band(0, 0)].to_vec(), false));
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y,)>| (a.rename::<Y, K>() + b).store::<(Y, K, X)>());
    assert_eq!(shares(&t.graph, Y::ID), ([Share::Whole, band(0, 0)].to_vec(), false));
    let t = trace(|picture: In<u8, (Y, X)>, boxes: In<Rect, (N,)>| {
        picture.crop::<Y, X, _>(boxes).resize::<Y, X>(4, 4).store::<(N, Y, X)>()
    });
    assert_eq!(shares(&t.graph, N::ID), ([Share::Whole, band(0, 0)].to_vec(), false));
    assert_eq!(t.graph.cut(Y::ID).unwrap_err(), Uncut::Length);
}

#[test]
fn what_is_read_elsewhere_too_is_refused() {
    let t = trace(|a: In<f32, (Y, X)>| (a / a.sum::<Y>()).store::<(Y, X)>());
    assert_eq!(t.graph.cut(Y::ID).unwrap_err(), Uncut::Both { operand: 0 });
    assert_eq!(shares(&t.graph, X::ID), ([band(0, 0)].to_vec(), false));
    let t = trace(|a: In<f32, (Y, X)>| a.reverse::<Y>().store::<(Y, X)>());
    assert_eq!(t.graph.cut(Y::ID).unwrap_err(), Uncut::Both { operand: 0 });
    let t = trace(|a: In<f32, (Y, X)>| a.cumsum::<Y>().store::<(Y, X)>());
    assert_eq!(t.graph.cut(Y::ID).unwrap_err(), Uncut::Scanned);
    let t = trace(|a: In<f32, (Y, X)>| a.slice::<Y>(1, 3).store::<(Y, X)>());
    assert_eq!(t.graph.cut(Y::ID).unwrap_err(), Uncut::Length);
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| (a.sum::<Y>().store::<(X,)>(), b.store::<(Y, X)>()));
    assert_eq!(t.graph.cut(Y::ID).unwrap_err(), Uncut::Lacking { result: 0 });
    for uncut in [Uncut::Length, Uncut::Scanned, Uncut::Products, Uncut::Wrapped, Uncut::Both { operand: 3 }] {
        assert!(!uncut.to_string().is_empty());
    }
}

/// What is read around the point and elsewhere too is there once more, whole: of that are what is reduced, gathered, and as long along another dimension.
#[test]
fn operands_that_are_read_both_ways_are_there_twice() {
    let length = |_, _| 100;
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (X,)>| (a * a.rename::<Y, K>() + b).sum::<X>().store::<(Y, K)>());
    assert_eq!(t.graph.cut(Y::ID).unwrap_err(), Uncut::Both { operand: 0 });
    let passes = t.graph.cut_twice(Y::ID, 4, length).unwrap();
    assert_eq!(
        (&passes.cut.shares[..], &passes.kept[..]),
        (&[band(0, 0), Share::Whole, Share::Whole][..], &[0, 1, 0][..])
    );
    assert!(passes.totals.is_empty());
    let graph = passes.cut.graph.unwrap();
    let sizes = &graph.node(graph.outputs[0].node).shape;
    let size = |dim: u64| sizes.iter().find(|(of, _)| *of == dim).map(|(_, size)| *size);
    assert_eq!((size(Y::ID), size(K::ID)), (Some(Size::Operand(0, Y::ID)), Some(Size::Operand(2, Y::ID))));
    // With a margin, coordinates, and a scan, whose operand comes behind.
    let t = trace(|a: In<f32, (Y,)>| (a.reverse::<Y>() + a.cummax::<Y>()).store::<(Y,)>());
    let passes = t.graph.cut_twice(Y::ID, 4, length).unwrap();
    assert_eq!(
        (&passes.cut.shares[..], passes.cut.numbers),
        (&[band(0, 0), Share::Whole, Share::Before][..], Numbers::Window)
    );
    assert_eq!((passes.kept, passes.totals[0].parts.kept.clone()), (vec![0, 0], vec![0]));
    // What is read in one way alone is there once.
    let t = trace(|a: In<f32, (Y,)>, b: In<f32, (Y,)>| (a - b).store::<(Y,)>());
    assert_eq!(t.graph.cut_twice(Y::ID, 4, length).unwrap().kept, [0, 1]);
}

/// Some results have what they are made of, and no other operand.
#[test]
fn results_apart() {
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y,)>| {
        let low = a.box_filter::<Y, X>(3, 1, Border::Reflect);
        (b.sum::<Y>().store::<()>(), low.store::<(Y, X)>(), (a + b).store::<(X, Y)>())
    });
    let of = |results: &[usize]| t.graph.only_results(results, |_, _| 100).unwrap();
    assert_eq!((of(&[0]).1, of(&[1]).1, of(&[2]).1, of(&[0, 2]).1), (vec![1], vec![0], vec![0, 1], vec![0, 1]));
    let (graph, _) = of(&[1, 2]);
    assert_eq!(graph.outputs.iter().map(|it| it.dims.to_vec()).collect::<Vec<_>>(), [[Y::ID, X::ID], [X::ID, Y::ID]]);
    assert_eq!(graph.cut(Y::ID).unwrap().margin, Margin { before: -1, after: 1 }, "borders are there");
}

/// A slice and a result in parts have no bands of their operands' indices.
#[test]
fn what_stands_elsewhere_than_it_is_read_is_refused() {
    let refused = |graph: &Graph, why: Uncut| {
        assert_eq!(graph.cut(Y::ID).unwrap_err(), why);
        assert_eq!(graph.cut_twice(Y::ID, 4, |_, _| 100).unwrap_err(), why);
    };
    refused(&trace(|a: In<f32, (Y,)>| a.slice::<Y>(1, 3).store::<(Y,)>()).graph, Uncut::Length);
    refused(&trace(|a: In<f32, (Y,)>| a.pad::<Y>(1, 3, Border::Reflect).store::<(Y,)>()).graph, Uncut::Length);
    refused(&trace(|a: In<f32, (Y,)>| concatenate::<Y, _>((a, a)).store::<(Y,)>()).graph, Uncut::Joined { result: 0 });
}

/// What a fold leaves has the borders that it had, and is cut with the margins of its stencils.
#[test]
fn stencils_are_left_as_they_were() {
    for border in [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Constant(1.0f32), Border::Wrap] {
        let t = trace(|a: In<f32, (Y, X)>| (a.box_filter::<Y, X>(5, 3, border) / a.sum::<(Y, X)>()).store::<(Y, X)>());
        let folded = t.graph.fold(Y::ID, 4, |_, _| 100).unwrap();
        assert_eq!(folded.kept, [0]);
        let cut = folded.rest.cut(Y::ID).unwrap();
        assert_eq!((cut.shares, cut.wraps), ([band(2, 2), Share::Whole].to_vec(), border == Border::Wrap));
    }
    let t = trace(|a: In<f32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(5, 3, Border::Wrap);
        ((low * low).sum::<(Y, X)>() + a.sum::<(Y, X)>()).store::<()>()
    });
    let first = t.graph.fold(Y::ID, 1, |_, _| 100).unwrap();
    let second = first.rest.fold(Y::ID, 1, |_, _| 100).unwrap();
    let margins: Vec<_> = [first, second].iter().map(|folded| folded.parts.cut.margin.places()).collect();
    assert!(margins == [4, 0] || margins == [0, 4], "{margins:?}");
}

/// A coordinate beside the point is one of the window: it reaches as far, though no operand is read there.
#[test]
fn windows_reach_as_far_as_coordinates() {
    for border in [Border::Replicate, Border::Wrap] {
        let t = trace(|a: In<f32, (Y, X)>| {
            let behind = a.correlate::<Y, X>([[0.0f32], [0.0], [1.0]], border);
            let both = behind * coordinate::<Y>().to::<f32>();
            both.correlate::<Y, X>([[1.0f32], [0.0], [0.0]], border).store::<(Y, X)>()
        });
        let cut = t.graph.cut(Y::ID).unwrap();
        assert_eq!(cut.margin.and(Margin { before: -1, after: 0 }), cut.margin, "{border:?}");
    }
}

#[test]
fn what_counts_gets_two_operands_more() {
    let t = trace(|a: In<f32, (Y, X)>| (a * coordinate::<Y>().to::<f32>()).store::<(Y, X)>());
    let cut = t.graph.cut(Y::ID).unwrap();
    let graph = cut.graph.unwrap();
    assert_eq!((graph.operands.len(), graph.outputs.len()), (3, 1));
    assert!(graph.operands[1].dims.is_empty() && graph.operands[2].dims.is_empty());
    assert_eq!(
        shares(&t.graph, X::ID),
        ([band(0, 0)].to_vec(), false),
        "coordinates along another dimension are what they are"
    );
}
