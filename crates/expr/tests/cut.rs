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

/// Where a band of each operand is, and of which operand.
fn images(graph: &Graph, dim: u64, length: impl Fn(u16, u64) -> i64) -> (Vec<(u16, i64, [i64; 2])>, i64) {
    let passes = graph.cut_images(dim, length, |_, _| true).unwrap();
    let image = |(operand, share): (&u16, &Share)| match share {
        Share::Image(image) => (*operand, image.step, [image.low, image.high]),
        share => panic!("{share:?}"),
    };
    (passes.kept.iter().zip(&passes.cut.shares).map(image).collect(), passes.cut.margin.places())
}

/// Slices are so far away, what is reversed runs from its end, and a border reaches as far inside as the coordinate was outside.
#[test]
fn bands_have_images_in_what_is_read_elsewhere() {
    let length = |_, dim: u64| if dim == Y::ID { 1000 } else { 7 };
    let t = trace(|a: In<f32, (Y, X)>| {
        (a.slice::<Y>(600, 300) - a.slice::<Y>(3, 300) + a.slice::<Y>(1, 300)).store::<(Y, X)>()
    });
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [1, 3]), (0, 1, [600, 600])], 2));
    let t =
        trace(|a: In<f32, (Y, X)>| (a.reverse::<Y>() + a.box_filter::<Y, X>(5, 3, Border::Reflect)).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, -1, [999, 999]), (0, 1, [-2, 2])], 4));
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<Y>(400, 0, Border::Replicate).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [-400, -400])], 0), "what is outside is at an end");
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<Y>(4, 2, Border::Reflect101).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [-8, 4])], 12), "as far inside as outside");
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<Y>(4, 4, Border::Constant(0.0)).reverse::<Y>().store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, -1, [1003, 1003])], 0));
    // Under another name, in the operand's own place.
    let t = trace(|a: In<f32, (Y, X)>| (a.rename::<Y, K>() + 1.0).store::<(K, X)>());
    let passes = t.graph.cut_images(K::ID, length, |_, _| true).unwrap();
    let Share::Image(image) = passes.cut.shares[0] else { panic!("{:?}", passes.cut.shares) };
    assert_eq!((image.along, image.step, passes.cut.length), (Y::ID, 1, Some(1000)));
    let dims = passes.cut.graph.unwrap().operands[0].dims.clone();
    assert!(dims.len() == 2 && [K::ID, X::ID].iter().all(|dim| dims.contains(dim)), "{dims:?}");
    // A window has the image wherever that ends.
    assert_eq!((image.begin(0..10, 12, 1000), image.begin(990..1000, 12, 1000)), (0, 988));
    // What is read at computed places is whole, and with nothing else there are no images.
    let t = trace(|a: In<f32, (Y, X)>, at: In<i32, (Y,)>| (a.at::<Y, _>(at) + a.reverse::<Y>()).store::<(Y, X)>());
    let passes = t.graph.cut_images(Y::ID, length, |_, _| true).unwrap();
    assert_eq!((passes.cut.shares[0], passes.kept), (Share::Whole, vec![0, 1]));
    let t = trace(|a: In<f32, (Y, X)>| a.cumsum::<Y>().slice::<Y>(1, 3).store::<(Y, X)>());
    assert_eq!(t.graph.cut_images(Y::ID, length, |_, _| true).unwrap_err(), Uncut::Length);
}

/// What a border repeats has an image that goes on at the other end, which serves other borders around there too; where windows may not go on it is whole.
#[test]
fn images_of_what_a_border_repeats() {
    let length = |_, dim: u64| if dim == Y::ID { 1000 } else { 7 };
    let wraps = |graph: &Graph| -> Vec<bool> {
        let shares = graph.cut_images(Y::ID, length, |_, _| true).unwrap().cut.shares;
        shares.iter().map(|share| matches!(share, Share::Image(image) if image.wraps)).collect()
    };
    let beside = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(3, 1, Border::Wrap) + b.box_filter::<Y, X>(7, 1, Border::Reflect101);
        (low + a.box_filter::<Y, X>(5, 1, Border::Replicate)).store::<(Y, X)>()
    });
    assert_eq!(beside.graph.cut(Y::ID).unwrap_err(), Uncut::Wrapped);
    assert_eq!(images(&beside.graph, Y::ID, length), (vec![(0, 1, [-2, 2]), (1, 1, [-3, 3])], 6));
    assert_eq!(wraps(&beside.graph), [true, false]);
    for [below, above] in [[Border::Wrap, Border::Reflect], [Border::Reflect101, Border::Wrap]] {
        let t = trace(|a: In<f32, (Y, X)>| {
            a.box_filter::<Y, X>(5, 1, below).box_filter::<Y, X>(3, 1, above).reverse::<Y>().store::<(Y, X)>()
        });
        let back = |images: Vec<(u16, i64, [i64; 2])>| images.iter().map(|(.., [low, high])| high - low).sum::<i64>();
        let (found, places) = images(&t.graph, Y::ID, length);
        assert_eq!((found.len(), found[0].1, back(found), places), (1, -1, 6, 6), "{below:?} {above:?}");
        assert_eq!(wraps(&t.graph), [true]);
    }
    // What is as long as something else repeats with its own length; what repeats with another length than the operand's is no window of that.
    let t = trace(|a: In<f32, (Y, X)>| a.box_filter::<Y, X>(3, 1, Border::Wrap).slice::<Y>(900, 100).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [899, 901])], 2));
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<Y>(4, 2, Border::Wrap).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [-4, -4])], 0));
    let t = trace(|a: In<f32, (Y, X)>| a.slice::<Y>(100, 800).box_filter::<Y, X>(3, 1, Border::Wrap).store::<(Y, X)>());
    assert_eq!(t.graph.cut_images(Y::ID, length, |_, _| true).unwrap_err(), Uncut::Length);
    let image =
        |begin: i64| tilewright_expr::cut::Image { along: Y::ID, step: 1, low: begin, high: begin, wraps: true };
    assert_eq!((image(-3).begin(0..10, 12, 1000), image(3).begin(999..1000, 12, 1000)), (997, 2));
    let passes = beside.graph.cut_images(Y::ID, length, |operand, _| operand != 0).unwrap();
    assert_eq!(passes.cut.shares[0], Share::Whole);
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
    let t = trace(|a: In<i32, (Y,)>| {
        (a.scatter::<Y, K, _, _>(a, 16, meet::Sum, Initial::Filled(0)).store::<(K,)>(), a.store::<(Y,)>())
    });
    assert_eq!(t.graph.only_results(&[0], |_, _| 100).unwrap_err(), Uncut::Scattered { result: 0 });
}

/// A slice and a result in parts have no bands of their operands' indices, and a band may go anywhere where places are computed.
#[test]
fn what_stands_elsewhere_than_it_is_read_is_refused() {
    let refused = |graph: &Graph, why: Uncut| {
        assert_eq!(graph.cut(Y::ID).unwrap_err(), why);
        assert_eq!(graph.cut_twice(Y::ID, 4, |_, _| 100).unwrap_err(), why);
    };
    refused(&trace(|a: In<f32, (Y,)>| a.slice::<Y>(1, 3).store::<(Y,)>()).graph, Uncut::Length);
    refused(&trace(|a: In<f32, (Y,)>| a.pad::<Y>(1, 3, Border::Reflect).store::<(Y,)>()).graph, Uncut::Length);
    refused(&trace(|a: In<f32, (Y,)>| concatenate::<Y, _>((a, a)).store::<(Y,)>()).graph, Uncut::Joined { result: 0 });
    let t = trace(|a: In<i32, (Y,)>| a.scatter::<Y, Y, _, _>(a, 16, meet::Sum, Initial::Filled(0)).store::<(Y,)>());
    refused(&t.graph, Uncut::Scattered { result: 0 });
}

/// What stands before a band is an operand more for each scan; scans one inside the other need passes one before the other.
#[test]
fn scans_are_cut_with_what_stands_before_a_band() {
    let length = |_, _| 100;
    let t = trace(|a: In<f32, (Y, X)>| (a.cumsum::<Y>() + a.cumsum::<X>()).store::<(Y, X)>());
    let passes = t.graph.cut_scans(Y::ID, 4, length).unwrap();
    assert_eq!(passes.cut.shares, [band(0, 0), Share::Before]);
    let graph = passes.cut.graph.unwrap();
    assert_eq!((graph.operands.len(), passes.cut.numbers), (2, Numbers::None), "nothing counts");
    // Sums of f32 are carried in f64.
    assert_eq!((&graph.operands[1].dims[..], graph.operands[1].dtype), (&[X::ID][..], DType::F64));
    let totals = &passes.totals[0];
    assert!(totals.before.len() == 1 && totals.parts.totals.is_empty() && ![Y::ID, X::ID].contains(&totals.bands));
    let t = trace(|a: In<f32, (Y,)>| a.cumsum::<Y>().cummax::<Y>().store::<(Y,)>());
    let passes = t.graph.cut_scans(Y::ID, 4, length).unwrap();
    assert_eq!(passes.cut.shares, [band(0, 0), Share::Before, Share::Before]);
    assert!(passes.totals[0].parts.totals[0].parts.totals.is_empty());
    let t = trace(|a: In<f32, (Y,)>| a.store::<(Y,)>());
    assert!(matches!(t.graph.cut_scans(Y::ID, 4, length), Err(Uncut::Scanned)));
    // Beside the point, from there on: the first value that is needed stands one before the band.
    let t = trace(|a: In<f32, (Y, X)>| a.cumsum::<Y>().box_filter::<Y, X>(3, 3, Border::Reflect).store::<(Y, X)>());
    let passes = t.graph.cut_scans(Y::ID, 4, length).unwrap();
    assert_eq!((&passes.cut.shares[..], passes.cut.numbers), (&[band(1, 1), Share::Before][..], Numbers::Within));
    assert_eq!(passes.totals[0].parts.cut.margin, Margin { before: -1, after: 0 });
    let t = trace(|a: In<f32, (Y, X)>| a.cumsum::<Y>().box_filter::<Y, X>(3, 3, Border::Wrap).store::<(Y, X)>());
    assert!(matches!(t.graph.cut_scans(Y::ID, 4, length), Err(Uncut::Scanned)));
}

/// As many reductions at once as are asked for; the others are left to the rest, with a dimension of its own for each pass.
#[test]
fn reductions_are_folded_some_at_a_time() {
    let t = trace(|a: In<f32, (Y,)>| (a.sum::<Y>() + a.minimum::<Y>() + a.maximum::<Y>()).store::<()>());
    let first = t.graph.fold(Y::ID, 2, |_, _| 100).unwrap();
    assert_eq!((first.parts.cut.graph.unwrap().outputs.len(), first.kept), (2, vec![0]));
    let second = first.rest.fold(Y::ID, 2, |_, _| 100).unwrap();
    assert_eq!(second.parts.cut.graph.unwrap().outputs.len(), 1);
    assert_ne!(first.bands, second.bands, "there may be other bands then");
    assert_eq!(second.kept, [1, 2], "what the first two are");
    // A sum with a margin counts its own band only, and an operand that it does not read is not there.
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(3, 1, Border::Wrap);
        (low.sum::<(Y, X)>() * a + b).store::<(Y, X)>()
    });
    let folded = t.graph.fold(Y::ID, 4, |_, _| 100).unwrap();
    let cut = folded.parts.cut;
    assert_eq!((cut.numbers, cut.wraps, cut.graph.unwrap().operands.len()), (Numbers::Within, true, 3));
    assert_eq!((cut.shares, folded.parts.kept), (vec![band(1, 1)], vec![0]));
    let t = trace(|a: In<f32, (K, X)>, b: In<f32, (Y, X)>| {
        (a.sum::<(K, X)>() + (b * coordinate::<Y>().to::<f32>()).sum::<(Y, X)>()).store::<()>()
    });
    let folded = t.graph.fold(Y::ID, 4, |_, _| 100).unwrap();
    let cut = folded.parts.cut;
    assert_eq!((cut.numbers, cut.graph.unwrap().operands.len()), (Numbers::Window, 3));
    assert_eq!((cut.shares, folded.parts.kept, folded.kept), (vec![band(0, 0)], vec![1], vec![0]));
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

/// More scans than a launch has results are found in more passes; products of floats are refused: what bands come to may overflow where the whole does not.
#[test]
fn many_scans_and_scans_of_products() {
    let t = trace(|a: In<f32, (Y, X)>| {
        let (sums, ends) = (a.cumsum::<Y>() + a.abs().cumsum::<Y>(), a.cummax::<Y>() + a.cummin::<Y>());
        (sums + ends + (a * a).cumsum::<Y>()).store::<(Y, X)>()
    });
    let passes = t.graph.cut_scans(Y::ID, 4, |_, _| 100).unwrap();
    assert_eq!(passes.totals.iter().map(|totals| totals.before.len()).collect::<Vec<_>>(), [4, 1]);
    assert!(t.graph.cut_scans(Y::ID, 5, |_, _| 100).is_ok());
    let t = trace(|a: In<f32, (Y, X)>| a.cumprod::<Y>().store::<(Y, X)>());
    assert_eq!(t.graph.cut_scans(Y::ID, 4, |_, _| 100).unwrap_err(), Uncut::Products);
    let t = trace(|a: In<f32, (Y, X)>| a.cumprod::<Y>().sum::<(Y, X)>().store::<()>());
    assert_eq!(t.graph.fold(Y::ID, 4, |_, _| 100).unwrap_err(), Uncut::Products);
    let t = trace(|a: In<i32, (Y, X)>| a.cumprod::<Y>().store::<(Y, X)>());
    assert!(t.graph.cut_scans(Y::ID, 4, |_, _| 100).is_ok());
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

/// What is evaluated on bands that are read elsewhere, as a kernel: rows that threads reduce together, borders, and what runs backwards.
#[test]
fn images_are_kernels() {
    let length = |_, dim: u64| if dim == Y::ID { 90 } else { 67 };
    let slices = trace(|a: In<f32, (Y, X)>| {
        (a.slice::<Y>(41, 40) * a.slice::<Y>(2, 40) - a.reverse::<Y>().slice::<Y>(5, 40)).store::<(Y, X)>()
    });
    let rows = trace(|a: In<f32, (Y, X)>| {
        let off = a.reverse::<Y>() - a.maximum::<X>();
        (off.store::<(Y, X)>(), (off * off).sum::<X>().store::<(Y,)>())
    });
    let borders = trace(|a: In<f32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(3, 5, Border::Reflect101).slice::<Y>(7, 71);
        low.pad::<Y>(2, 3, Border::Reflect).reverse::<Y>().store::<(X, Y)>()
    });
    let repeated = trace(|a: In<f32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(3, 5, Border::Wrap).box_filter::<Y, X>(5, 3, Border::Reflect);
        (low - a.box_filter::<Y, X>(3, 1, Border::Replicate)).store::<(Y, X)>()
    });
    let lag = trace(|a: In<f32, (Y, X)>| (a.slice::<Y>(0, 71) * a.slice::<Y>(19, 71)).sum::<Y>().store::<(X,)>());
    let mut rng = Rng::new(12);
    let mut case = |passes: Passes| {
        let (band, window) = (17, 17 + passes.cut.margin.places());
        let graph = passes.cut.graph.unwrap();
        let images = passes.cut.shares.iter().flat_map(|share| match share {
            Share::Image(image) => [image.begin(40..57, window, 90) as i32, 90],
            share => panic!("{share:?}"),
        });
        let mut numbers = [40].into_iter().chain(images);
        let ruler = passes.kept.len();
        let operand = |(number, spec): (usize, &OperandSpec)| {
            if spec.dims.is_empty() {
                let tensor = Tensor::of(&[], &arr0(numbers.next().unwrap()).into_dyn());
                return Operand { tensor, layout: Layout::dense(0), place: Place::Host };
            }
            let along = |dim: &u64| if *dim == Y::ID { if number == ruler { band } else { window } } else { 67 };
            let shape: Vec<i64> = spec.dims.iter().map(along).collect();
            let layout = Layout::dense(shape.len());
            Operand { tensor: rng.tensor(spec.dtype, &spec.dims, &shape), layout, place: Place::Device }
        };
        let operands = graph.operands.iter().enumerate().map(operand).collect();
        let outputs = graph.outputs.iter().map(|output| Layout::dense(output.dims.len())).collect();
        Case { graph, operands, outputs, known: true }
    };
    let whole =
        [("slices", slices.graph), ("rows", rows.graph), ("borders", borders.graph), ("repeated", repeated.graph)];
    let mut cases: Vec<(String, Case)> = whole
        .map(|(name, graph)| (name.to_string(), case(graph.cut_images(Y::ID, length, |_, _| true).unwrap())))
        .into();
    cases.push(("lag".into(), case(lag.graph.fold_images(Y::ID, 4, length, |_, _| true).unwrap().parts)));
    check_all("cut::images_are_kernels", cases.into_iter());
}
