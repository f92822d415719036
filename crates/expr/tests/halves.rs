//! What kernels do with halves: how wide they read, how many points a thread has, what text they include.

use tilewright_dims::dims;
use tilewright_expr::bind::{Place, View, dense};
use tilewright_expr::emit::emit;
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::Plan;
use tilewright_expr::{In, bf16, f16, trace};

dims! { Y, X, C }

/// Points of a thread, and the text, for dense operands of 64 x 1024 (x 3).
fn kernel(graph: &Graph) -> (u32, String) {
    // Every operand here has the dimensions of the result.
    let axes = dense(&graph.outputs[0].dims, &[64, 1024, 3][..graph.outputs[0].dims.len()]);
    let view = View { axes: &axes, place: Place::Device, alignment: 16, boxes: None };
    let plan = Plan::new(graph, &vec![view; graph.operands.len()], &[view]).unwrap_or_else(|e| panic!("{e}"));
    (plan.lanes, emit(graph, &plan).expect("few loops").source)
}

#[test]
fn sixteen_bytes_are_eight_halves() {
    let (lanes, text) = kernel(&trace(|a: In<f16, (Y, X)>, b: In<f16, (Y, X)>| (a * b).store::<(Y, X)>()).graph);
    assert_eq!(lanes, 8);
    assert_eq!(
        (text.matches("*(const uint4*)").count(), text.matches("store<true>((uint4*)").count()),
        (2, 1),
        "{text}"
    );
    // With floats beside them a thread has the points that 16 bytes of those are.
    let (lanes, text) = kernel(&trace(|a: In<f32, (Y, X)>| a.to::<bf16>().store::<(Y, X)>()).graph);
    assert_eq!((lanes, text.matches("store<true>((uint2*)").count()), (4, 1), "{text}");
    // Pixels of three: as many as fit into a thread's values.
    let (lanes, text) = kernel(&trace(|a: In<u8, (Y, X, C)>| a.to::<f16>().store::<(Y, X, C)>()).graph);
    assert!(lanes * 2 % 16 == 0 && text.contains("store<true>((uint4*)"), "{lanes} points: {text}");
}

#[test]
fn their_header_is_for_those_that_have_them() {
    let with = kernel(&trace(|a: In<u8, (Y, X)>| a.to::<f16>().to::<u8>().store::<(Y, X)>()).graph).1;
    let without = kernel(&trace(|a: In<u8, (Y, X)>| a.to::<f32>().to::<u8>().store::<(Y, X)>()).graph).1;
    assert!(with.contains("half_value.cuh") && !without.contains("half_value.cuh"));
}
