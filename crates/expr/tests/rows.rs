//! Kernels that go along their rows several times: what a turn computed is kept for the next, where rows end evenly.

use crate::emitted::{Prepared, check_all, prepare};
use crate::random::{Case, Operand, Rng};
use crate::tensor::Layout;
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::graph::Graph;
use tilewright_expr::{DType, In, f16, trace};

dims! { Y, X }

fn case(graph: Graph, dtype: DType, shape: [i64; 2]) -> Case {
    let mut rng = Rng::new(shape[1] as u64);
    let tensor = rng.tensor(dtype, <(Y, X)>::IDS, &shape);
    let operand = Operand { tensor, layout: Layout::dense(2), place: Place::Device };
    let outputs = graph.outputs.iter().map(|o| Layout::dense(o.dims.len())).collect();
    Case { graph, operands: vec![operand], outputs, known: true }
}

fn cases() -> Vec<(String, Case)> {
    let softmax = || trace(|x: In<f32, (Y, X)>| x.softmax::<X>().store::<(Y, X)>()).graph;
    let norm = || {
        let epsilon = f16::from_f32(1e-3);
        trace(move |x: In<f16, (Y, X)>| {
            (x.layer_norm::<X>(epsilon).store::<(Y, X)>(), x.variance::<X>().store::<(Y,)>())
        })
        .graph
    };
    let mut all = Vec::new();
    for shape in [[5, 64], [3, 48], [2, 4096], [1, 5120]] {
        all.push((format!("softmax {shape:?}"), case(softmax(), DType::F32, shape)));
        all.push((format!("layer norm {shape:?}"), case(norm(), DType::F16, shape)));
    }
    // The longest rows that are kept, by 1024 threads; and one that ends within a step.
    for n in [32_768, 16_384, 9_000] {
        let centred = trace(|x: In<f32, (Y, X)>| (x - x.maximum::<X>()).store::<(Y, X)>()).graph;
        all.push((format!("centred {n}"), case(centred, DType::F32, [1, n])));
    }
    // Two values of each point are kept, of which one is let go; and rows that end before their block does.
    let twice = trace(|x: In<f32, (Y, X)>| {
        let (below, above) = (x.minimum::<X>(), x.maximum::<X>());
        let (low, high) = ((x - below).exp(), (above - x).sqrt());
        let both = low.sum::<X>() + high.sum::<X>();
        (low * both - high).store::<(Y, X)>()
    });
    all.push(("twice".into(), case(twice.graph, DType::F32, [9, 512])));
    // Rows with tails are read anew in each turn.
    all.push(("softmax with tails".into(), case(softmax(), DType::F32, [3, 67])));
    all
}

#[test]
fn rows_are_kept() {
    let held = |p: &Prepared| p.kernel.source.contains("TW_UNROLL");
    for (name, case) in cases() {
        let even = !name.contains("tails");
        let prepared = prepare(name.clone(), &case, 0).expect("there are no loops");
        assert_eq!(held(&prepared), even, "{name}\n{}", prepared.kernel.source);
        // One load a point: a later turn has what the first one read.
        if even {
            let loads = prepared.kernel.source.matches("p.in0 ").count();
            assert_eq!(loads, 1, "{name}\n{}", prepared.kernel.source);
        }
    }
    check_all("rows::rows_are_kept", cases().into_iter());
}

/// Rows of one step to four: threads load several before they store the first result, in blocks that end behind the last row, or one by
/// one where rows end within a step or a body is long.
#[test]
fn short_rows_together() {
    let sums =
        || trace(|x: In<f32, (Y, X)>| (x.sum::<X>().store::<(Y,)>(), (x * 0.5).maximum::<X>().store::<(Y,)>())).graph;
    let halves = || trace(|x: In<f16, (Y, X)>| x.to::<f32>().sum::<X>().store::<(Y,)>()).graph;
    let long = || trace(|x: In<f32, (Y, X)>| x.sin().sum::<X>().store::<(Y,)>()).graph;
    let down = || trace(|x: In<f32, (Y, X)>| x.sum::<Y>().store::<(X,)>()).graph;
    let mut all = Vec::new();
    for (shape, passes) in [([301, 32], 4), ([1, 32], 4), ([130, 64], 2), ([65, 128], 1), ([40, 52], 2), ([33, 20], 4)]
    {
        all.push((format!("sums of {shape:?}"), case(sums(), DType::F32, shape), passes));
        all.push((
            format!("halves of {shape:?}"),
            case(halves(), DType::F16, shape),
            if shape[1] % 8 == 0 { passes } else { 1 },
        ));
    }
    all.push(("a tail".into(), case(sums(), DType::F32, [37, 45]), 1));
    all.push(("a long body".into(), case(long(), DType::F32, [35, 32]), 1));
    all.push(("down columns".into(), case(down(), DType::F32, [32, 301]), 1));
    for (name, case, passes) in &all {
        let prepared = prepare(name.clone(), case, 0).expect("there are no loops");
        let group = prepared.plan.group.as_ref().expect("threads share rows");
        assert_eq!(group.passes, *passes, "{name}\n{}", prepared.kernel.source);
    }
    check_all("rows::short_rows_together", all.into_iter().map(|(name, case, _)| (name, case)));
}

/// Blocks take segments of rows that no threads could keep, and wait for each other between turns.
#[test]
fn long_rows_in_turns() {
    let along = || trace(|x: In<f32, (Y, X)>| x.layer_norm::<X>(1e-3).store::<(Y, X)>()).graph;
    let across = || trace(|x: In<f32, (Y, X)>| (x - x.maximum::<Y>()).store::<(Y, X)>()).graph;
    let spread = || {
        trace(|x: In<f32, (Y, X)>| {
            let (deviation, mean) = (x.standard_deviation::<(Y, X)>(), x.mean::<(Y, X)>());
            (deviation.store::<()>(), mean.store::<()>())
        })
        .graph
    };
    let cases = [
        ("norm along rows", case(along(), DType::F32, [2, 33_001])),
        ("norm along an even row", case(along(), DType::F32, [1, 40_960])),
        ("maximum across rows", case(across(), DType::F32, [32_800, 9])),
        ("deviation of all", case(spread(), DType::F32, [150, 301])),
    ];
    for (name, case) in &cases {
        let prepared = prepare(name.to_string(), case, 0).expect("there are no loops");
        assert!(prepared.kernel.source.contains("tw::meet("), "{name}\n{}", prepared.kernel.source);
    }
    check_all("rows::long_rows_in_turns", cases.into_iter().map(|(name, case)| (name.to_string(), case)));
}

/// Two reductions along one dimension need not be equally long, nor as long as the result.
#[test]
fn lengths_that_differ() {
    let stored = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| (a.sum::<X>() + b).store::<(Y, X)>()).graph;
    let both = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| (a.sum::<X>() + b.maximum::<X>()).store::<(Y,)>()).graph;
    let cases = [("a sum beside a row", stored), ("a sum and a maximum", both)].map(|(name, graph)| {
        let mut case = case(graph, DType::F32, [5, 300]);
        let tensor = Rng::new(9).tensor(DType::F32, <(Y, X)>::IDS, &[5, 41]);
        case.operands.push(Operand { tensor, layout: Layout::dense(2), place: Place::Device });
        (name.to_string(), case)
    });
    check_all("rows::lengths_that_differ", cases.into_iter());
}
