//! Every error, reached, with a message that names the dimension, the sizes and the operands.

use crate::random::Rng;
use crate::tensor::{Layout, Stored, Tensor, evaluate};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Axis, Bounds, Place, View, check_boxes, dense};
use tilewright_expr::dtype::{Element, HostSlice};
use tilewright_expr::eval::HostKernel;
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::Plan;
use tilewright_expr::sections::Sections;
use tilewright_expr::{Affine, Aspect, Border, Centres, DType, Error, Expr, Filter, In, Perspective, Rect};
use tilewright_expr::{constant, coordinate, trace};

dims! { N, Y, X, C, K }

const YX: &[u64] = <(Y, X)>::IDS;

fn view(axes: &[Axis]) -> View<'_> {
    View { axes, place: Place::Device, alignment: 16, boxes: None }
}

/// The refusal, in full, and the same from both ways to plan.
fn refusal(graph: &Graph, inputs: &[&[Axis]], outputs: &[&[Axis]]) -> String {
    let inputs: Vec<View<'_>> = inputs.iter().map(|a| view(a)).collect();
    refusal_of(graph, &inputs, outputs)
}

fn refusal_of(graph: &Graph, inputs: &[View<'_>], outputs: &[&[Axis]]) -> String {
    let outputs: Vec<View<'_>> = outputs.iter().map(|a| view(a)).collect();
    let error = Sections::new(graph, inputs, &outputs).expect_err("this is refused");
    assert_eq!(HostKernel::new(graph, inputs, &outputs).expect_err("this is refused"), error);
    error.to_string()
}

/// A crop of a `height` x `width` picture by these boxes, stored at `size`.
fn crop_refusal((height, width): (i64, i64), boxes: &[Rect], size: [i64; 2]) -> String {
    let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| p.crop::<Y, X, _>(b).store::<(N, Y, X)>());
    let n = boxes.len() as i64;
    let (p, b, o) =
        (dense(YX, &[height, width]), dense(<(N,)>::IDS, &[n]), dense(<(N, Y, X)>::IDS, &[n, size[0], size[1]]));
    refusal_of(&t.graph, &[view(&p), View { boxes: Some(boxes), place: Place::Host, ..view(&b) }], &[&o])
}

#[test]
fn sizes_that_disagree() {
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (X,)>| (a + b).store::<(Y, X)>());
    let (a, b) = (dense(YX, &[4, 5]), dense(<(X,)>::IDS, &[6]));
    assert_eq!(
        refusal(&t.graph, &[&a, &b], &[&a]),
        "dimension `X` is 5 long in operand 0 and 6 long in operand 1; operands that share a dimension must agree"
    );
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (X,)>| (a.resize::<Y, X>(4, 7) + b).store::<(Y, X)>());
    assert_eq!(
        refusal(&t.graph, &[&a, &b], &[&a]),
        "dimension `X` is 7 long in the expression (a literal 7) and 6 long in operand 1; \
         operands that share a dimension must agree"
    );
    let t = trace(|a: In<f32, (Y, X)>, r: In<Rect, ()>, b: In<f32, (X,)>| (a.crop::<Y, X, _>(r) * b).store::<(Y, X)>());
    let boxes = [Rect::new(0, 0, 3, 2)];
    let views = [view(&a), View { boxes: Some(&boxes), ..view(&[]) }, view(&b)];
    let message = refusal_of(&t.graph, &views, &[&a]);
    assert!(message.contains("dimension `X` is 3 long in the boxes of a crop and 6 long in operand 2"), "{message}");
}

#[test]
fn a_dimension_that_nothing_sizes() {
    let t = trace(|| coordinate::<X>().store::<(X,)>());
    let expected = "nothing says how long dimension `X` is; read an operand that has it, or `.repeat::<X>(n)`";
    assert_eq!(refusal(&t.graph, &[], &[&dense(<(X,)>::IDS, &[3])]), expected);
    // Whatever the sum knows, the coordinates that are turned around do not.
    let t = trace(|a: In<i32, (X,)>| (a + coordinate::<X>().reverse::<X>()).store::<(X,)>());
    assert_eq!(refusal(&t.graph, &[&dense(<(X,)>::IDS, &[3])], &[&dense(<(X,)>::IDS, &[3])]), expected);
    let t = trace(|a: In<i32, (X,)>| (a + coordinate::<X>().reorder::<X>(&[1, 0])).store::<(X,)>());
    assert_eq!(refusal(&t.graph, &[&dense(<(X,)>::IDS, &[2])], &[&dense(<(X,)>::IDS, &[2])]), expected);
    let t = trace(|r: In<Rect, ()>| {
        let yx = coordinate::<Y>() + coordinate::<X>();
        (yx.resize::<Y, X>(2, 2).store::<(Y, X)>(), yx.crop::<Y, X, _>(r).store::<(Y, X)>())
    });
    let message = refusal(&t.graph, &[&[]], &[&dense(YX, &[2, 2]), &dense(YX, &[2, 2])]);
    assert!(
        message.contains("how long dimension `Y` is") || message.contains("how long dimension `X` is"),
        "{message}"
    );
}

#[test]
fn boxes_of_different_sizes_without_a_resize() {
    let boxes = [Rect::new(0, 0, 3, 2), Rect::new(1, 1, 3, 2), Rect::new(0, 0, 3, 4)];
    assert_eq!(
        crop_refusal((10, 10), &boxes, [2, 3]),
        "dimension `Y` has a different size in each box (2 in box 0, 4 in box 2); \
         resize the crop to one size before storing it: `.resize::<Y, X>(height, width)`"
    );
}

#[test]
fn sizes_that_only_the_device_knows() {
    let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| p.crop::<Y, X, _>(b).store::<(N, Y, X)>());
    let message =
        refusal(&t.graph, &[&dense(YX, &[9, 9]), &dense(<(N,)>::IDS, &[2])], &[&dense(<(N, Y, X)>::IDS, &[2, 3, 3])]);
    assert_eq!(
        message,
        "the size of `Y` depends on boxes in device memory; resize the crop to a fixed size, or keep the boxes on the host"
    );
}

#[test]
fn boxes_outside_and_empty() {
    let good = Rect::new(0, 0, 3, 2);
    for (bad, text) in [
        (Rect::new(8, 0, 3, 2), "box 1 (3x2 at (8, 0)) reaches outside the 10x7 picture (0..10, 0..7)"),
        (Rect::new(0, 6, 3, 2), "box 1 (3x2 at (0, 6)) reaches outside the 10x7 picture (0..10, 0..7)"),
        (Rect::new(-1, 0, 3, 2), "box 1 (3x2 at (-1, 0)) reaches outside the 10x7 picture (0..10, 0..7)"),
        (
            Rect::new(i32::MAX, 0, i32::MAX, 2),
            "box 1 (2147483647x2 at (2147483647, 0)) reaches outside the 10x7 picture (0..10, 0..7)",
        ),
        (Rect::new(0, 0, 0, 2), "box 1 (0x2 at (0, 0)) is empty; a box needs at least one column and one row"),
        (Rect::new(0, 0, 3, -2), "box 1 (3x-2 at (0, 0)) is empty; a box needs at least one column and one row"),
    ] {
        assert_eq!(crop_refusal((7, 10), &[good, bad], [2, 3]), text);
    }
    // The last row and column are inside.
    let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| p.crop::<Y, X, _>(b).store::<(N, Y, X)>());
    let (p, b, o) = (dense(YX, &[7, 10]), dense(<(N,)>::IDS, &[1]), dense(<(N, Y, X)>::IDS, &[1, 2, 3]));
    let boxes = [Rect::new(7, 5, 3, 2)];
    let views = [view(&p), View { boxes: Some(&boxes), ..view(&b) }];
    assert!(Plan::new(&t.graph, &views, &[view(&o)]).is_ok());
}

#[test]
fn boxes_within_boxes_are_guarded() {
    let picture = Rng::new(3).tensor(DType::U8, YX, &[9, 9]);
    let outer = Tensor::boxes(&[], &[], &[Rect::new(1, 1, 4, 4)]);
    let t = trace(|p: In<u8, (Y, X)>, a: In<Rect, ()>, b: In<Rect, (N,)>| {
        p.crop::<Y, X, _>(a).crop::<Y, X, _>(b).resize::<Y, X>(2, 2).store::<(N, Y, X)>()
    });
    let run = |boxes: &[Rect]| {
        let n = boxes.len() as i64;
        let inputs = [&picture, &outer, &Tensor::boxes(<(N,)>::IDS, &[n], boxes)];
        let stored: Vec<Stored> = inputs.iter().map(|t| Stored::new(t, &Layout::dense(t.dims.len()))).collect();
        evaluate(&t.graph, &stored, &[Layout::dense(3)], true, 0)
    };
    let (_, failed) = run(&[Rect::new(0, 0, 4, 4), Rect::new(3, 3, 1, 1)]).expect("it is evaluated");
    assert_eq!(failed, None);
    let (_, failed) = run(&[Rect::new(0, 0, 4, 4), Rect::new(3, 3, 2, 1)]).expect("it is evaluated");
    assert_eq!(failed, Some(Error::Guard { index: 1 }));
    // What can be told on the host is, without a picture to name.
    let message = run(&[Rect::new(-1, 0, 2, 2)]).expect_err("it is refused").to_string();
    assert_eq!(message, "box 0 (2x2 at (-1, 0)) starts before the first row or column of what it crops");
}

#[test]
fn guards_of_boxes_on_the_device() {
    let picture = Rng::new(4).tensor(DType::U8, YX, &[6, 8]);
    let boxes =
        Tensor::boxes(<(N,)>::IDS, &[3], &[Rect::new(0, 0, 8, 6), Rect::new(1, 1, 2, 2), Rect::new(7, 0, 2, 6)]);
    let t =
        trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| p.crop::<Y, X, _>(b).resize::<Y, X>(3, 3).store::<(N, Y, X)>());
    let stored = [Stored::new(&picture, &Layout::dense(2)), Stored::new(&boxes, &Layout::dense(1))];
    let (_, failed) = evaluate(&t.graph, &stored, &[Layout::dense(3)], false, 0).expect("it is evaluated");
    assert_eq!(
        failed.expect("a guard").to_string(),
        "a box computed or stored on the device (index 2) reaches outside what it crops; its pixels were clamped to the picture"
    );
}

#[test]
fn counts() {
    let t = trace(|a: In<f32, (X,)>, b: In<f32, (X,)>| (a + b).store::<(X,)>());
    let x = dense(<(X,)>::IDS, &[3]);
    assert_eq!(refusal(&t.graph, &[&x], &[&x]), "the expression has 2 operands, got 1");
    assert_eq!(refusal(&t.graph, &[&x, &x], &[&x, &x]), "the expression has 1 outputs, got 2");
    let kernel = HostKernel::new(&t.graph, &[view(&x), view(&x)], &[view(&x)]).expect("it fits");
    let (a, mut out) = ([0f32; 3], [0f32; 3]);
    let error =
        kernel.run(&[f32::slice(&a)], &mut [f32::slice_mut(&mut out).expect("scalars")]).expect_err("one is missing");
    assert_eq!(error.to_string(), "the expression has 2 operands, got 1");
}

#[test]
fn elements_and_memory() {
    let t = trace(|a: In<f32, (Y, X)>| a.to::<u8>().store::<(Y, X)>());
    let axes = dense(YX, &[3, 5]);
    let kernel = HostKernel::new(&t.graph, &[view(&axes)], &[view(&axes)]).expect("it fits");
    let run = |a: HostSlice<'_>, n: usize| {
        let mut out = vec![7u8; n];
        kernel.run(&[a], &mut [u8::slice_mut(&mut out).expect("scalars")]).map_err(|e| e.to_string())
    };
    assert_eq!(run(f32::slice(&[0.0; 15]), 15), Ok(()));
    assert_eq!(run(i32::slice(&[0; 15]), 15), Err("operand 0 holds i32, the expression reads f32".into()));
    assert_eq!(
        run(f32::slice(&[0.0; 14]), 15),
        Err("operand 0 needs 15 elements for its extents and strides, its memory has 14".into())
    );
    assert_eq!(
        run(f32::slice(&[0.0; 15]), 14),
        Err("output 0 needs 15 elements for its extents and strides, its memory has 14".into())
    );
    // A rectangle is not an i32, though its components are.
    let t = trace(|a: In<i32, (X,)>| a.store::<(X,)>());
    let axes = dense(<(X,)>::IDS, &[2]);
    let kernel = HostKernel::new(&t.graph, &[view(&axes)], &[view(&axes)]).expect("it fits");
    let mut out = [0i32; 2];
    let error = kernel.run(&[Rect::slice(&[Rect::default(); 2])], &mut [i32::slice_mut(&mut out).expect("scalars")]);
    assert_eq!(error.expect_err("it is refused").to_string(), "operand 0 holds rectangles, the expression reads i32");
    // Backwards in memory, two apart: from the slice's last element to its first.
    let back = [Axis { stride: -2, ..axes[0] }];
    let kernel = HostKernel::new(&t.graph, &[view(&back)], &[view(&axes)]).expect("it fits");
    let error = kernel.run(&[i32::slice(&[0; 2])], &mut [i32::slice_mut(&mut out).expect("scalars")]);
    assert!(matches!(error, Err(Error::Memory { needed: 3, got: 2, .. })), "{error:?}");
    kernel.run(&[i32::slice(&[7, 8, 9])], &mut [i32::slice_mut(&mut out).expect("scalars")]).expect("it fits");
    assert_eq!(out, [9, 7]);
}

#[test]
fn outputs_of_the_wrong_size() {
    let t = trace(|a: In<f32, (Y, X)>| a.store::<(X, Y)>());
    let a = dense(YX, &[3, 5]);
    assert_eq!(
        refusal(&t.graph, &[&a], &[&dense(<(X, Y)>::IDS, &[5, 4])]),
        "output 0 is 4 long in dimension `Y`, the expression 3"
    );
    let mut overlapping = dense(<(X, Y)>::IDS, &[5, 3]);
    overlapping[0].stride = 2;
    assert_eq!(
        refusal(&t.graph, &[&a], &[&overlapping]),
        "output 0: two points are stored in the same place (dimension `X` has stride 2); an output needs distinct places"
    );
    overlapping[0].stride = 0;
    assert!(refusal(&t.graph, &[&a], &[&overlapping]).contains("dimension `X` has stride 0"));
}

/// A plan has one world; sections have one each.
#[test]
fn outputs_that_disagree() {
    let t = trace(|a: In<f32, (Y, X)>| (a.store::<(Y, X)>(), a.resize::<Y, X>(3, 10).store::<(Y, X)>()));
    let (a, large) = (dense(YX, &[3, 5]), dense(YX, &[3, 10]));
    let outputs = [view(&a), view(&large)];
    assert_eq!(
        Plan::new(&t.graph, &[view(&a)], &outputs).expect_err("one world").to_string(),
        "dimension `X` is 5 long in output 0 and 10 long in output 1; operands that share a dimension must agree"
    );
    assert_eq!(Sections::new(&t.graph, &[view(&a)], &outputs).expect("two worlds").list.len(), 2);
    let t = trace(|a: In<f32, (N, X)>, b: In<f32, (X,)>| ((a + b).store::<(N, X)>(), (-b).store::<(X,)>()));
    let (empty, x) = (dense(<(N, X)>::IDS, &[0, 5]), dense(<(X,)>::IDS, &[5]));
    let views = [view(&empty), view(&x)];
    assert_eq!(
        Plan::new(&t.graph, &views, &views).expect_err("one world").to_string(),
        "dimension `N` is 0 long, so that output 1, which lacks it and is not empty, would not be computed; \
         plan it as a section of its own"
    );
    assert_eq!(Sections::new(&t.graph, &views, &views).expect("one of them is empty").list.len(), 1);
}

#[test]
fn views_that_lack_a_dimension_or_have_one_too_many() {
    let t = trace(|a: In<f32, (Y, X)>| a.store::<(Y, X)>());
    let (a, x) = (dense(YX, &[3, 5]), dense(<(X,)>::IDS, &[5]));
    let nyx = dense(<(N, Y, X)>::IDS, &[2, 3, 5]);
    // An operand's dimensions are a set: its order is that of their ids.
    let refusal =
        |graph: &Graph, i: &[&[Axis]], o: &[&[Axis]]| refusal(graph, i, o).replace("over (X, Y)", "over (Y, X)");
    assert_eq!(refusal(&t.graph, &[&x], &[&a]), "operand 0 has dimensions (X), the expression reads it over (Y, X)");
    assert_eq!(refusal(&t.graph, &[&a], &[&x]), "output 0 has dimensions (X), the expression stores it over (Y, X)");
    let message = refusal(&t.graph, &[&nyx], &[&a]);
    assert!(
        message.starts_with("operand 0 has dimensions (") && message.contains("Y, X), the expression reads"),
        "{message}"
    );
    let message = refusal(&t.graph, &[&a], &[&nyx]);
    assert!(
        message.starts_with("output 0 has dimensions (") && message.contains("Y, X), the expression stores"),
        "{message}"
    );
    let twice = [a[0], a[1], a[1]];
    assert_eq!(
        refusal(&t.graph, &[&twice], &[&a]),
        "operand 0 has dimensions (Y, X, X), the expression reads it over (Y, X)"
    );
}

#[test]
fn negative_sizes() {
    let t = trace(|a: In<f32, (X,)>| a.store::<(X,)>());
    let x = [Axis { dim: X_ID, extent: -3, stride: 1 }];
    assert!(refusal(&t.graph, &[&x], &[&x]).starts_with("dimension `X` cannot be -3 long"));
}

const X_ID: u64 = <(X,)>::IDS[0];

#[test]
fn sizes_that_make_no_sense() {
    let (a, o) = (dense(YX, &[3, 5]), dense(YX, &[3, 5]));
    let t = trace(|a: In<f32, (Y, X)>| a.resize::<Y, X>(0, 4).store::<(Y, X)>());
    assert_eq!(refusal(&t.graph, &[&a], &[&o]), "dimension `Y` cannot be 0 long; a size is from 1 to 2147483647");
    let t = trace(|a: In<f32, (Y, X)>| a.resize::<Y, X>(4, 1 << 40).store::<(Y, X)>());
    assert!(refusal(&t.graph, &[&a], &[&o]).starts_with("dimension `X` cannot be 1099511627776 long"));
    let t = trace(|a: In<f32, (Y, X)>| a.repeat::<N>(usize::MAX).store::<(N, Y, X)>());
    assert!(refusal(&t.graph, &[&a], &[&o]).starts_with("dimension `N` cannot be 9223372036854775807 long"));
    let t = trace(|a: In<f32, (Y, X)>| a.reorder::<X>(&[]).store::<(Y, X)>());
    assert_eq!(refusal(&t.graph, &[&a], &[&o]), "dimension `X` cannot be 0 long; a size is from 1 to 2147483647");
}

/// There is no pixel to read: an error, and no index out of bounds.
#[test]
fn empty_pictures() {
    let empty = dense(YX, &[0, 5]);
    let t = trace(|a: In<f32, (Y, X)>| a.resize::<Y, X>(2, 2).store::<(Y, X)>());
    let message = refusal(&t.graph, &[&empty], &[&dense(YX, &[2, 2])]);
    assert_eq!(message, "dimension `Y` cannot be 0 long; a size is from 1 to 2147483647");
    let t =
        trace(|a: In<f32, (Y, X)>, b: In<Rect, (N,)>| a.crop::<Y, X, _>(b).resize::<Y, X>(2, 2).store::<(N, Y, X)>());
    let inputs: [&[Axis]; 2] = [&empty, &dense(<(N,)>::IDS, &[3])];
    let message = refusal(&t.graph, &inputs, &[&dense(<(N, Y, X)>::IDS, &[3, 2, 2])]);
    assert_eq!(message, "dimension `Y` cannot be 0 long; a size is from 1 to 2147483647");
}

#[test]
fn very_long_dimensions() {
    let long = 3i64 << 30;
    let a = dense(<(X,)>::IDS, &[long]);
    let t = trace(|a: In<u8, (X,)>| a.reverse::<X>().store::<(X,)>());
    let text = "dimension `X` is 3221225472 long; its coordinates are used as 32-bit numbers, which end at 2147483647";
    assert_eq!(refusal(&t.graph, &[&a], &[&a]), text);
    let t = trace(|a: In<u8, (X,)>| (a.to::<i32>() + coordinate::<X>()).store::<(X,)>());
    assert_eq!(refusal(&t.graph, &[&a], &[&a]), text);
    // The result is short, what it reads is long.
    let t = trace(|a: In<u8, (Y, X)>| a.resize::<Y, X>(1, 9).store::<(Y, X)>());
    assert_eq!(refusal(&t.graph, &[&dense(YX, &[1, long])], &[&dense(YX, &[1, 9])]), text);
    let t = trace(|a: In<u8, (X,)>| a.rename::<X, K>().store::<(K,)>());
    let message = refusal(&t.graph, &[&a], &[&dense(<(K,)>::IDS, &[long])]);
    assert!(message.contains("is 3221225472 long; its coordinates are used as 32-bit numbers"), "{message}");
    // Used as no number, it may be as long as memory is.
    let t = trace(|a: In<u8, (X,)>| (a + 1u8).store::<(X,)>());
    assert!(Plan::new(&t.graph, &[view(&a)], &[view(&a)]).is_ok());
}

#[test]
fn orders_that_name_an_index_that_is_not_there() {
    let a = dense(<(C,)>::IDS, &[3]);
    for (order, index) in [([0, 3, 1], 3), ([0, -1, 1], -1)] {
        let t = trace(|a: In<u8, (C,)>| a.reorder::<C>(&order).store::<(C,)>());
        assert_eq!(refusal(&t.graph, &[&a], &[&a]), format!("the expression reads index {index}, but `C` is 3 long"));
    }
}

/// Literal indices and parts are checked when sizes are known.
#[test]
fn parts_that_are_not_there() {
    let a = dense(YX, &[3, 5]);
    let t = trace(|a: In<u8, (Y, X)>| a.crop_at::<Y, X>((1, 2), (2, 4)).store::<(Y, X)>());
    assert_eq!(refusal(&t.graph, &[&a], &[&dense(YX, &[2, 4])]), "the expression reads index 5, but `X` is 5 long");
    let t = trace(|a: In<u8, (Y, X)>| a.crop_at::<Y, X>((1, 2), (2, 3)).store::<(Y, X)>());
    assert!(Plan::new(&t.graph, &[view(&a)], &[view(&dense(YX, &[2, 3]))]).is_ok());
    for (index, shown) in [(3, "3"), (-1, "-1")] {
        let t = trace(|a: In<u8, (Y, X)>| a.at::<Y, _>(index).store::<(X,)>());
        let text = format!("the expression reads index {shown}, but `Y` is 3 long");
        assert_eq!(refusal(&t.graph, &[&a], &[&dense(<(X,)>::IDS, &[5])]), text);
    }
    let t = trace(|a: In<u8, (Y, X)>| a.slice::<Y>(0, 0).store::<(Y, X)>());
    assert!(refusal(&t.graph, &[&a], &[&a]).starts_with("dimension `Y` cannot be 0 long"));
    let t = trace(|a: In<u8, (Y, X)>| a.slice::<Y>(usize::MAX, usize::MAX).store::<(Y, X)>());
    assert!(refusal(&t.graph, &[&a], &[&a]).starts_with("dimension `Y` cannot be 9223372036854775807 long"));
}

#[test]
fn reads_of_sizes_that_make_no_sense() {
    let (a, o) = (dense(YX, &[3, 5]), dense(YX, &[3, 5]));
    let starts = |graph: &Graph, text: &str| {
        let message = refusal(graph, &[&a], &[&o]);
        assert!(message.starts_with(text), "{message}");
    };
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<X>(usize::MAX, 1, Border::Wrap).store::<(Y, X)>());
    starts(&t.graph, "dimension `X` cannot be 9223372036854775807 long");
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<X>(1 << 31, 1, Border::Wrap).store::<(Y, X)>());
    starts(&t.graph, "dimension `X` cannot be 2147483648 long");
    // Too long together with what is there, which is known later.
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<X>((1 << 31) - 3, 1, Border::Wrap).store::<(Y, X)>());
    starts(&t.graph, "dimension `X` cannot be -2147483645 long");
    let t = trace(|a: In<f32, (Y, X)>| {
        a.resize_fit::<Y, X, _>(0, 4, Filter::Cubic, Aspect::Preserve, 0.0).store::<(Y, X)>()
    });
    starts(&t.graph, "dimension `Y` cannot be 0 long");
    let t = trace(|a: In<f32, (Y, X)>| a.resize_nearest::<Y, X>(4, 1 << 31, Centres::Half).store::<(Y, X)>());
    starts(&t.graph, "dimension `X` cannot be 2147483648 long");
    let t = trace(|a: In<f32, (Y, X)>| a.at_sized::<X, _>(coordinate::<X>(), 1 << 33).store::<(Y, X)>());
    starts(&t.graph, "dimension `X` cannot be 8589934592 long");
    for factor in [0.0, -2.0, f64::INFINITY] {
        let t = trace(|a: In<f32, (Y, X)>| a.resize_by::<Y, X>((1.0, factor), Filter::Linear).store::<(Y, X)>());
        starts(
            &t.graph,
            &format!("dimension `X` cannot be resized by a factor of {factor}; a factor is a finite number"),
        );
    }
    let t = trace(|a: In<f32, (Y, X)>| a.resize_by::<Y, X>((f64::NAN, 1.0), Filter::Linear).store::<(Y, X)>());
    let message = t.graph.check().expect_err("it is refused").to_string();
    assert!(message.starts_with("dimension `Y` cannot be resized by a factor of NaN"), "{message}");
    let t = trace(|a: In<f32, (Y, X)>, m: In<Affine, ()>| {
        a.warp_affine::<Y, X, _>(m, 0, 3, Filter::Linear, Border::Wrap).store::<(Y, X)>()
    });
    assert!(refusal(&t.graph, &[&a, &[]], &[&o]).starts_with("dimension `Y` cannot be 0 long"));
    let t = trace(|a: In<f32, (Y, X)>, m: In<Perspective, ()>| {
        a.warp_perspective::<Y, X, _>(m, 3, usize::MAX, Filter::Linear, Border::Wrap).store::<(Y, X)>()
    });
    assert!(refusal(&t.graph, &[&a, &[]], &[&o]).starts_with("dimension `X` cannot be 9223372036854775807 long"));
    // Nothing says how many rows the window has.
    let t = trace(|a: In<f32, (Y, X)>| a.at_border::<Y, _>(coordinate::<K>(), Border::Wrap).store::<(K, X)>());
    let message = refusal(&t.graph, &[&a], &[&dense(<(K, X)>::IDS, &[3, 5])]);
    assert!(message.starts_with("nothing says how long dimension `K` is"), "{message}");
}

/// There is nothing to read behind a border either.
#[test]
fn empty_pictures_with_borders() {
    let (empty, o) = (dense(YX, &[0, 5]), dense(YX, &[4, 5]));
    let text = "dimension `Y` cannot be 0 long; a size is from 1 to 2147483647";
    let padded = trace(|a: In<f32, (Y, X)>| a.pad::<Y>(2, 2, Border::Constant(0.0)).store::<(Y, X)>());
    assert_eq!(refusal(&padded.graph, &[&empty], &[&o]), text);
    let resized = trace(|a: In<f32, (Y, X)>| a.resize_with::<Y, X>(4, 5, Filter::Nearest).store::<(Y, X)>());
    assert_eq!(refusal(&resized.graph, &[&empty], &[&o]), text);
    let gathered = trace(|a: In<f32, (Y, X)>| a.at_sized::<Y, _>(coordinate::<Y>(), 4).store::<(Y, X)>());
    assert_eq!(refusal(&gathered.graph, &[&empty], &[&o]), text);
    let fitted = trace(|a: In<f32, (Y, X)>| {
        a.resize_fit::<Y, X, _>(4, 5, Filter::Linear, Aspect::Preserve, 0.0).store::<(Y, X)>()
    });
    assert_eq!(refusal(&fitted.graph, &[&empty], &[&o]), text);
    // Turned around, it stays empty.
    let t = trace(|a: In<f32, (Y, X)>| a.rot90::<Y, X>(1).store::<(Y, X)>());
    assert!(Plan::new(&t.graph, &[view(&empty)], &[view(&dense(YX, &[5, 0]))]).is_ok());
}

/// Boxes that may lie anywhere have pixels all the same.
#[test]
fn boxes_that_reach_outside_and_have_no_pixels() {
    let (p, b) = (dense(YX, &[7, 10]), dense(<(N,)>::IDS, &[2]));
    let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| {
        p.crop_border::<Y, X, _>(b, Border::Reflect).resize::<Y, X>(3, 3).store::<(N, Y, X)>()
    });
    let o = dense(<(N, Y, X)>::IDS, &[2, 3, 3]);
    let plan = |rect: Rect| {
        let boxes = [Rect::new(-5, -5, 2, 2), rect];
        let views = [view(&p), View { boxes: Some(&boxes), ..view(&b) }];
        Plan::new(&t.graph, &views, &[view(&o)]).map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(plan(Rect::new(i32::MIN, i32::MAX, i32::MAX, 1)), Ok(()));
    let text = "box 1 (0x4 at (1, 1)) is empty; a box needs at least one column and one row";
    assert_eq!(plan(Rect::new(1, 1, 0, 4)), Err(text.into()));
    // On the device the kernel finds it.
    let picture = Rng::new(8).tensor(DType::U8, YX, &[7, 10]);
    let boxes = Tensor::boxes(<(N,)>::IDS, &[2], &[Rect::new(-50, 3, 4, 4), Rect::new(1, 1, -3, 4)]);
    let stored = [Stored::new(&picture, &Layout::dense(2)), Stored::new(&boxes, &Layout::dense(1))];
    let (_, failed) = evaluate(&t.graph, &stored, &[Layout::dense(3)], false, 0).expect("it is evaluated");
    assert_eq!(failed, Some(Error::Guard { index: 1 }));
}

#[test]
fn elements_of_several_numbers() {
    let t = trace(|p: In<u8, (Y, X)>, m: In<Affine, (N,)>| {
        p.warp_affine::<Y, X, _>(m, 3, 5, Filter::Linear, Border::Wrap).store::<(N, Y, X)>()
    });
    let (p, n, o) = (dense(YX, &[3, 5]), dense(<(N,)>::IDS, &[1]), dense(<(N, Y, X)>::IDS, &[1, 3, 5]));
    let kernel = HostKernel::new(&t.graph, &[view(&p), view(&n)], &[view(&o)]).expect("it fits");
    let mut out = [0f32; 15];
    let picture = [7u8; 15];
    let mut run = |maps: HostSlice<'_>| {
        kernel.run(&[u8::slice(&picture), maps], &mut [f32::slice_mut(&mut out).expect("scalars")])
    };
    assert_eq!(run(Affine::slice(&[Affine::IDENTITY])), Ok(()));
    let message = run(Perspective::slice(&[Perspective::IDENTITY])).expect_err("it is refused").to_string();
    assert_eq!(message, "operand 1 holds perspective maps, the expression reads affine maps");
    assert_eq!(
        run(Affine::slice(&[])).expect_err("it is refused").to_string(),
        "operand 1 needs 1 elements for its extents and strides, its memory has 0"
    );
}

#[test]
fn expressions_that_outlive_their_trace() {
    let mut kept: Option<Expr<f32, _>> = None;
    let first = trace(|a: In<f32, (X,)>| {
        kept = Some(a);
        a.store::<(X,)>()
    });
    assert_eq!(first.graph.check(), Ok(()));
    let kept = kept.expect("the closure ran");
    let x = dense(<(X,)>::IDS, &[3]);
    let text =
        "an expression was used after the trace that made it had ended; build it inside the closure given to `fuse`";
    for graph in [
        trace(|a: In<f32, (X,)>| (a + kept).store::<(X,)>()).graph,
        trace(|a: In<f32, (X,)>| (kept * a).store::<(X,)>()).graph,
        trace(|_: In<f32, (X,)>| kept.store::<(X,)>()).graph,
        trace(|_: In<f32, (X,)>| kept.abs().to::<f64>().store::<(X,)>()).graph,
    ] {
        assert_eq!(refusal(&graph, &[&x], &[&x]), text);
    }
    let outside = constant(1.0f32);
    let graph = trace(|a: In<f32, (X,)>| (a + outside).store::<(X,)>()).graph;
    assert_eq!(refusal(&graph, &[&x], &[&x]), text);
}

#[test]
fn a_panic_inside_a_closure_ends_its_trace() {
    let caught = std::panic::catch_unwind(|| {
        trace(|a: In<f32, (X,)>| {
            assert!(a.store::<(X,)>().to_string_is_not_there(), "as intended");
            a.store::<(X,)>()
        })
    });
    assert!(caught.is_err());
    let t = trace(|a: In<f32, (X,)>| (a + 1.0).store::<(X,)>());
    assert_eq!(t.graph.check(), Ok(()));
}

trait Never {
    fn to_string_is_not_there(&self) -> bool;
}
impl<T> Never for T {
    fn to_string_is_not_there(&self) -> bool {
        false
    }
}

/// Two operands cropped by the same boxes are as long as each other, whatever the boxes.
#[test]
fn the_same_boxes_twice() {
    let mut rng = Rng::new(9);
    let (a, b) = (rng.tensor(DType::U8, YX, &[9, 12]), rng.tensor(DType::U8, YX, &[9, 12]));
    let boxes: Vec<Rect> = (0..5).map(|_| rng.inside(9, 12)).collect();
    let boxes = Tensor::boxes(<(N,)>::IDS, &[5], &boxes);
    let t = trace(|a: In<u8, (Y, X)>, b: In<u8, (Y, X)>, r: In<Rect, (N,)>| {
        (a.crop::<Y, X, _>(r) + b.crop::<Y, X, _>(r)).resize::<Y, X>(3, 4).store::<(N, Y, X)>()
    });
    let u = trace(|a: In<u8, (Y, X)>, b: In<u8, (Y, X)>, r: In<Rect, (N,)>| {
        (a + b).crop::<Y, X, _>(r).resize::<Y, X>(3, 4).store::<(N, Y, X)>()
    });
    let stored: Vec<Stored> = [&a, &b, &boxes].iter().map(|t| Stored::new(t, &Layout::dense(t.dims.len()))).collect();
    let run =
        |graph: &Graph| evaluate(graph, &stored, &[Layout::dense(3)], true, 0).unwrap_or_else(|e| panic!("{e}")).0;
    assert!(run(&t.graph)[0].same(&run(&u.graph)[0]));
}

#[test]
fn tensors_that_were_dropped() {
    // Raised by the crates that own tensors.
    let text = "a tensor that the expression reads was dropped before the expression was evaluated";
    assert_eq!(Error::Dropped.to_string(), text);
}

/// The first box that does not lie inside is named, whatever its numbers are.
#[test]
fn boxes_at_every_edge() {
    let mut rng = Rng::new(31);
    let edges = [i32::MIN, -1, 0, 1, 2, 19, 20, 21, 29, 30, 31, i32::MAX - 1, i32::MAX];
    let bounds = Bounds::Picture { width: 30, height: 20 };
    let mut refused = 0;
    for _ in 0..20_000 {
        let mut one = || edges[rng.next() as usize % edges.len()];
        let rect = Rect { x: one(), y: one(), width: one(), height: one() };
        let inside = |at: i32, size: i32, end: i64| at >= 0 && size > 0 && i64::from(at) + i64::from(size) <= end;
        let fits = inside(rect.x, rect.width, 30) && inside(rect.y, rect.height, 20);
        let good = Rect { x: 0, y: 0, width: 30, height: 20 };
        match check_boxes(&[good, good, rect, good], bounds) {
            Ok(()) => assert!(fits, "{rect:?}"),
            Err(Error::BoxEmpty { index, .. } | Error::BoxOutside { index, .. }) => {
                assert!(!fits && index == 2, "{rect:?}");
                refused += 1;
            }
            Err(e) => panic!("{e}"),
        }
        assert!(check_boxes(&[rect], Bounds::Anywhere).is_ok() == (rect.width > 0 && rect.height > 0), "{rect:?}");
    }
    assert!((10_000..20_000).contains(&refused), "{refused}");
}
