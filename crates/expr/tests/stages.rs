//! Kernels whose blocks keep values in shared memory: stencils, alone and one on another, give the bits of the host evaluator and
//! of the definition.

use crate::emitted::{Prepared, check_kernels, prepare};
use crate::random::{Case, Operand, Rng};
use crate::tensor::Layout;
use tilewright_dims::{Dim, Dims, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::{Binary, Graph, NodeId, OperandSpec, Output};
use tilewright_expr::{Border, DType};

dims! { N, Y, X, C }

const YX: [u64; 2] = [Y::ID, X::ID];

/// Every kind of border.
fn borders(graph: &mut Graph, dtype: DType) -> [Border<NodeId>; 5] {
    let seven = graph.constant(Scalar::of(7i32));
    let constant = graph.cast(seven, dtype);
    [Border::Constant(constant), Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap]
}

/// A graph of one operand over `dims`.
fn over(dtype: DType, dims: &[u64]) -> (Graph, NodeId) {
    let mut graph = Graph::default();
    [(N::ID, "N"), (Y::ID, "Y"), (X::ID, "X"), (C::ID, "C")].iter().for_each(|(id, name)| graph.name_dim(*id, name));
    graph.operand(OperandSpec { dtype, components: 1, dims: dims.into() });
    let source = graph.input(0, 0);
    (graph, source)
}

/// The weighted sum, in `f32` or `f64`, of a window of `up + 1 + down` rows and `left + 1 + right` columns.
fn blurred(graph: &mut Graph, source: NodeId, reach: [i32; 4], border: Border<NodeId>) -> NodeId {
    let [up, down, left, right] = reach;
    let dtype = graph.node(source).dtype;
    let real = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let mut sum: Option<NodeId> = None;
    for dy in -up..=down {
        for dx in -left..=right {
            let tap = graph.shifted(source, &[(Y::ID, dy), (X::ID, dx)], border);
            let tap = graph.cast(tap, real);
            let weight = Scalar::of(1.0 / f32::from((3 + dy * dy + 2 * dx * dx + dx) as i16));
            let weight = graph.constant(weight);
            let weight = graph.cast(weight, real);
            let term = graph.binary(Binary::Mul, tap, weight);
            sum = Some(sum.map_or(term, |s| graph.binary(Binary::Add, term, s)));
        }
    }
    let sum = sum.expect("a window has a tap");
    graph.cast(sum, dtype)
}

/// The extreme along one dimension.
fn extreme(graph: &mut Graph, source: NodeId, op: Binary, dim: u64, reach: i32, border: Border<NodeId>) -> NodeId {
    let mut best = graph.shifted(source, &[(dim, -reach)], border);
    for k in 1 - reach..=reach {
        let tap = graph.shifted(source, &[(dim, k)], border);
        best = graph.binary(op, best, tap);
    }
    best
}

fn case(mut graph: Graph, results: &[(NodeId, &[u64])], shape: &[i64]) -> Case {
    let mut rng = Rng::new(shape.iter().fold(graph.len() as u64, |h, n| h * 31 + *n as u64));
    let spec = graph.operands[0].clone();
    let tensor = rng.tensor(spec.dtype, &spec.dims, shape);
    let operand = Operand { tensor, layout: Layout::dense(shape.len()), place: Place::Device };
    graph.outputs.extend(results.iter().map(|(node, dims)| Output { node: *node, dims: (*dims).into() }));
    let outputs = results.iter().map(|(_, dims)| Layout::dense(dims.len())).collect();
    Case { graph, operands: vec![operand], outputs, known: true }
}

/// Prepares cases, and says how many stages each has.
fn staged(cases: Vec<(String, Case, usize)>) -> Vec<Prepared> {
    let stages = |p: &Prepared| p.plan.staging.as_ref().map_or(0, |s| s.stages.len());
    let all = cases.into_iter().enumerate().map(|(i, (name, case, expected))| {
        let prepared = prepare(name.clone(), &case, i).expect("there are no loops");
        assert_eq!(stages(&prepared), expected, "{name}\n{}", prepared.kernel.source);
        prepared
    });
    all.collect()
}

#[test]
fn a_window() {
    let mut cases = Vec::new();
    for (i, shape) in [[1, 1], [2, 9], [5, 129], [9, 128], [30, 401], [33, 11]].into_iter().enumerate() {
        for dtype in [DType::F32, DType::U8, DType::U16, DType::F16, DType::F64] {
            let (mut graph, x) = over(dtype, &YX);
            let border = borders(&mut graph, dtype)[(i + dtype as usize) % 5];
            let reach = [[2, 2, 2, 2], [1, 1, 1, 1], [0, 3, 1, 0]][(i + dtype as usize) % 3];
            let blurred = blurred(&mut graph, x, reach, border);
            let name = format!("{dtype} {shape:?} {reach:?} {border:?}");
            cases.push((name, case(graph, &[(blurred, &YX)], &shape), 1));
        }
    }
    check_kernels("stages::a_window", &staged(cases));
}
