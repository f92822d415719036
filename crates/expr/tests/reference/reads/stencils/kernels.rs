//! The kernels of stencils: they run on the host model with the evaluator's bits.

use super::*;
use crate::emitted::check_all;
use crate::random::{Case, Operand};
use crate::tensor::Layout;
use tilewright_expr::bind::Place;
use tilewright_expr::graph::Graph;
use tilewright_expr::stencils::{Mask, Outside};

fn case(graph: Graph, tensors: Vec<Tensor>) -> Case {
    let dense = |rank: usize| Layout::dense(rank);
    let operand = |tensor: Tensor| Operand { layout: dense(tensor.dims.len()), place: Place::Device, tensor };
    let outputs = graph.outputs.iter().map(|o| dense(o.dims.len())).collect();
    Case { graph, operands: tensors.into_iter().map(operand).collect(), outputs, known: true }
}

#[test]
fn kernels_run() {
    let mut rng = Rng::new(100);
    let mut all: Vec<(String, Case)> = Vec::new();
    let octets = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[6, 7, 3], 256).1;
    let floats = rng.tensor(tilewright_expr::DType::F32, <(Y, X)>::IDS, &[5, 9]);
    let halves = rng.tensor(tilewright_expr::DType::F16, <(Y, X)>::IDS, &[4, 5]);
    let weights = rng.tensor(tilewright_expr::DType::F32, <(K, N)>::IDS, &[3, 2]);
    for border in borders(9u8) {
        let t = trace(|p: In<u8, (Y, X, C)>| {
            let sharp = p.correlate::<Y, X>([[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]], border);
            let edges = p.sobel::<Y, X>((0, 1), 3, border).to::<i16>();
            (sharp.to::<u8>().store::<(Y, X, C)>(), edges.store::<(C, Y, X)>())
        });
        all.push((format!("sharp, {border:?}"), case(t.graph, vec![octets.clone()])));
    }
    let blurred = trace(|p: In<f32, (Y, X)>| {
        p.gaussian_blur::<Y, X>((5, 5), (1.0, 1.0), Border::Constant(2.5)).store::<(Y, X)>()
    });
    all.push(("gaussian".into(), case(blurred.graph, vec![floats.clone()])));
    let middle = trace(|p: In<f32, (Y, X)>| {
        (p.median::<Y, X>(3, Border::Wrap).store::<(Y, X)>(), p.median::<Y, X>(5, Border::Reflect).store::<(Y, X)>())
    });
    all.push(("medians".into(), case(middle.graph, vec![floats.clone()])));
    let opened = trace(|p: In<f16, (Y, X)>| {
        let (small, round) = (Mask::rectangle(2, 3), Mask::ellipse(3, 5));
        (
            p.open::<Y, X>(&small, Outside::Ignored).store::<(Y, X)>(),
            p.dilate::<Y, X>(&round, Border::Wrap).store::<(Y, X)>(),
        )
    });
    all.push(("morphology".into(), case(opened.graph, vec![halves])));
    let long = trace(|p: In<f32, (Y, X)>| p.box_filter::<Y, X>(3, 40, Border::Reflect101).store::<(Y, X)>());
    all.push(("long".into(), case(long.graph, vec![floats.clone()])));
    let operand = trace(|p: In<f32, (Y, X)>, w: In<f32, (K, N)>| {
        p.correlate_by::<Y, X, K, N, _>(w, Border::Reflect).store::<(Y, X)>()
    });
    all.push(("weights at run time".into(), case(operand.graph, vec![floats, weights])));
    check_all("reference::reads::stencils::kernels::kernels_run", all.into_iter());
}
