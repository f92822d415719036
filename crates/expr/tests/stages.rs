//! Kernels whose blocks keep values in shared memory: stencils, alone and one on another, give the bits of the host evaluator and
//! of the definition.

use crate::emitted::{Prepared, check_kernels, prepare};
use crate::random::{Case, Operand, Rng};
use crate::tensor::{Layout, Stored, evaluate};
use tilewright_dims::{Dim, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::{Binary, Graph, NodeId, OperandSpec, Output};
use tilewright_expr::{Border, DType, Error};

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

/// `source` after so many operations that nobody would compute it twice.
fn costly(graph: &mut Graph, source: NodeId) -> NodeId {
    let dtype = graph.node(source).dtype;
    let real = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let mut value = graph.cast(source, real);
    for k in 0..40 {
        let [factor, more] = [0.97 + k as f32 / 1024.0, 0.3].map(|v| graph.constant(Scalar::of(v)));
        let [factor, more] = [factor, more].map(|v| graph.cast(v, real));
        value = graph.fma(value, factor, more);
    }
    graph.cast(value, dtype)
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

/// What blocks keep, or threads read themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Stages(usize),
    Windows,
    Across,
}

fn way(prepared: &Prepared) -> Way {
    match &prepared.plan.staging {
        None => Way::Stages(0),
        Some(s) if !s.windows.is_empty() => Way::Windows,
        Some(s) if s.stages.iter().all(|s| s.across) => Way::Across,
        Some(s) => Way::Stages(s.stages.len()),
    }
}

/// Prepares cases, and says which way each goes.
fn staged(cases: Vec<(String, Case, Way)>) -> Vec<Prepared> {
    let all = cases.into_iter().enumerate().map(|(i, (name, case, expected))| {
        let prepared = prepare(name.clone(), &case, i).expect("there are no loops");
        assert_eq!(way(&prepared), expected, "{name}\n{}", prepared.kernel.source);
        prepared
    });
    all.collect()
}

/// A source that is worth keeping, or the operand itself.
fn source(graph: &mut Graph, operand: NodeId, kept: bool) -> NodeId {
    if kept { costly(graph, operand) } else { operand }
}

#[test]
fn a_window() {
    let mut cases = Vec::new();
    for (i, shape) in [[1, 1], [2, 9], [5, 129], [9, 128], [30, 401], [33, 11]].into_iter().enumerate() {
        for dtype in [DType::F32, DType::U8, DType::U16, DType::F16, DType::F64] {
            let kept = (i + dtype as usize / 2).is_multiple_of(2);
            let (mut graph, x) = over(dtype, &YX);
            let x = source(&mut graph, x, kept);
            let border = borders(&mut graph, dtype)[(i + dtype as usize) % 5];
            let reach = [[1, 1, 2, 2], [1, 1, 1, 1], [0, 3, 1, 0]][(i + dtype as usize) % 3];
            let blurred = blurred(&mut graph, x, reach, border);
            let name = format!("{dtype} {shape:?} {reach:?} {border:?}");
            cases.push((
                name,
                case(graph, &[(blurred, &YX)], &shape),
                if kept { Way::Stages(1) } else { Way::Windows },
            ));
        }
    }
    check_kernels("stages::a_window", &staged(cases));
}

/// A blur along rows, and one of its result along columns.
fn separable(graph: &mut Graph, source: NodeId, reach: i32, border: Border<NodeId>) -> NodeId {
    let pass = |graph: &mut Graph, source: NodeId, dim: u64| {
        let mut sum: Option<NodeId> = None;
        for k in -reach..=reach {
            let tap = graph.shifted(source, &[(dim, k)], border);
            let weight = graph.constant(Scalar::of(1.0 / (2.0 + k as f32 * k as f32)));
            let term = graph.binary(Binary::Mul, tap, weight);
            sum = Some(sum.map_or(term, |s| graph.binary(Binary::Add, term, s)));
        }
        sum.expect("a window has a tap")
    };
    let rows = pass(graph, source, X::ID);
    pass(graph, rows, Y::ID)
}

#[test]
fn windows_on_windows() {
    let mut cases = Vec::new();
    for (i, shape) in [[1, 1], [3, 10], [17, 131], [25, 390]].into_iter().enumerate() {
        for b in (0..5).filter(|b| i != 1 || b % 2 == 0) {
            // A Gaussian of a Gaussian; what repeats the picture is not read through.
            let (mut graph, x) = over(DType::F32, &YX);
            let x = costly(&mut graph, x);
            let border = borders(&mut graph, DType::F32)[b];
            let twice = blurred(&mut graph, x, [1, 2, 0, 2], border);
            let twice = blurred(&mut graph, twice, [2, 0, 1, 1], border);
            cases.push((format!("twice {shape:?} {b}"), case(graph, &[(twice, &YX)], &shape), Way::Stages(2)));
            // An opening of bytes, whose margins are not even, and what it takes away.
            let (mut graph, x) = over(DType::U8, &YX);
            let x = costly(&mut graph, x);
            let border = borders(&mut graph, DType::U8)[b];
            let low = extreme(&mut graph, x, Binary::Min, X::ID, 2, border);
            let open = extreme(&mut graph, low, Binary::Max, Y::ID, 2, border);
            let hat = graph.binary(Binary::Sub, x, open);
            cases.push((
                format!("opening {shape:?} {b}"),
                case(graph, &[(hat, &YX), (low, &YX)], &shape),
                Way::Stages(2),
            ));
            if (i + b) % 2 == 0 {
                let (mut graph, x) = over(DType::F32, &YX);
                let x = costly(&mut graph, x);
                let border = borders(&mut graph, DType::F32)[b];
                let once = separable(&mut graph, x, 2, border);
                let twice = separable(&mut graph, once, 1, border);
                cases.push((format!("separable {shape:?} {b}"), case(graph, &[(twice, &YX)], &shape), Way::Stages(4)));
            }
        }
    }
    check_kernels("stages::windows_on_windows", &staged(cases));
}

#[test]
fn channels_batches_and_results() {
    let mut cases = Vec::new();
    for (i, shape) in [[2, 9, 130, 3], [1, 26, 300, 3]].into_iter().enumerate() {
        // Grey of packed pixels, blurred: the grey is kept.
        let (mut graph, x) = over(DType::U8, &[N::ID, Y::ID, X::ID, C::ID]);
        let wide = graph.cast(x, DType::F32);
        let wide = costly(&mut graph, wide);
        let [one, last] = [0, 2].map(|k| graph.constant(Scalar::of(k)));
        let [r, b] = [one, last].map(|c| graph.at(wide, &[(C::ID, c)], &[]));
        let grey = graph.fma(r, b, r);
        let border = borders(&mut graph, DType::F32)[i];
        let grey = blurred(&mut graph, grey, [1, 1, 1, 1], border);
        let grey = graph.cast(grey, DType::U8);
        cases.push((format!("grey {shape:?}"), case(graph, &[(grey, &[N::ID, Y::ID, X::ID])], &shape), Way::Stages(1)));
        // All channels, under another layout.
        let (mut graph, x) = over(DType::U8, &[N::ID, Y::ID, X::ID, C::ID]);
        let x = costly(&mut graph, x);
        let border = borders(&mut graph, DType::U8)[i + 1];
        let soft = blurred(&mut graph, x, [1, 1, 2, 2], border);
        cases.push((
            format!("channels {shape:?}"),
            case(graph, &[(soft, &[C::ID, N::ID, Y::ID, X::ID])], &shape),
            Way::Stages(1),
        ));
    }
    for shape in [[700], [1024], [2100], [1]] {
        let (mut graph, x) = over(DType::F16, &[X::ID]);
        let x = costly(&mut graph, x);
        let border = borders(&mut graph, DType::F16)[2];
        let low = extreme(&mut graph, x, Binary::Min, X::ID, 3, border);
        let high = extreme(&mut graph, low, Binary::Max, X::ID, 3, border);
        cases.push((format!("line {shape:?}"), case(graph, &[(high, &[X::ID])], &shape), Way::Stages(2)));
    }
    check_kernels("stages::channels_batches_and_results", &staged(cases));
}

/// What no stage can hold is computed in place.
#[test]
fn what_is_not_kept() {
    let mut cases = Vec::new();
    let shape = [12, 140];
    // Two taps of a load are two loads of a thread.
    let (mut graph, x) = over(DType::F32, &YX);
    let tap = graph.shifted(x, &[(X::ID, 1)], Border::Replicate);
    let slope = graph.binary(Binary::Sub, tap, x);
    cases.push(("a difference".to_string(), case(graph, &[(slope, &YX)], &shape), Way::Windows));
    // A window that is farther away than it is wide.
    let (mut graph, x) = over(DType::F32, &YX);
    let x = costly(&mut graph, x);
    let far = graph.shifted(x, &[(Y::ID, 100)], Border::Reflect);
    let far = blurred(&mut graph, far, [1, 1, 1, 1], Border::Reflect);
    let more = blurred(&mut graph, x, [40, 40, 0, 0], Border::Reflect);
    let sum = graph.binary(Binary::Add, far, more);
    cases.push(("far away".to_string(), case(graph, &[(sum, &YX)], &shape), Way::Stages(1)));
    // Coordinates that are computed from values: of a picture that is kept, and around a blur.
    let (mut graph, x) = over(DType::I32, &YX);
    let dear = costly(&mut graph, x);
    let soft = extreme(&mut graph, dear, Binary::Min, X::ID, 2, Border::Reflect101);
    let there = graph.at_border(soft, &[(X::ID, x)], &[], Border::Wrap);
    let round = extreme(&mut graph, there, Binary::Max, Y::ID, 2, Border::Replicate);
    cases.push(("a gather".to_string(), case(graph, &[(round, &YX)], &shape), Way::Stages(1)));
    // Transposed, so that a row is read along columns.
    let (mut graph, x) = over(DType::F32, &YX);
    let soft = blurred(&mut graph, x, [1, 1, 1, 1], Border::Replicate);
    let (row, column) = (graph.index(X::ID), graph.index(Y::ID));
    let sizes = [(Y::ID, graph.size_of(x, X::ID)), (X::ID, graph.size_of(x, Y::ID))];
    let turned = graph.at(soft, &[(Y::ID, row), (X::ID, column)], &sizes);
    cases.push(("turned".to_string(), case(graph, &[(turned, &YX)], &shape), Way::Stages(0)));
    check_kernels("stages::what_is_not_kept", &staged(cases));
}

/// Windows of any reach, on each other and on pictures of any size.
#[test]
fn any_windows() {
    let mut rng = Rng::new(7);
    let mut prepared = Vec::new();
    for i in 0..10 {
        let dtype = rng.pick(&[DType::U8, DType::I16, DType::F32, DType::F16, DType::F64]);
        let shape = [rng.range(1, 20), rng.pick(&[1, 9, 127, 129, 260])];
        let (mut graph, operand) = over(dtype, &YX);
        let x = source(&mut graph, operand, i % 2 == 0);
        let mut value = x;
        for _ in 0..rng.range(1, 4) {
            let border = rng.pick(&borders(&mut graph, dtype));
            let reach = [0; 4].map(|_| rng.range(0, 3) as i32);
            let read = if rng.chance(0.2) { x } else { value };
            let next = match rng.range(0, 3) {
                0 => blurred(&mut graph, read, reach, border),
                1 => extreme(&mut graph, read, Binary::Max, Y::ID, 1 + reach[0], border),
                _ => extreme(&mut graph, read, Binary::Min, X::ID, 1 + reach[2], border),
            };
            value = graph.binary(Binary::Max, next, value);
        }
        let name = format!("{i}: {dtype} {shape:?}");
        prepared.extend(prepare(name, &case(graph, &[(value, &YX)], &shape), i));
    }
    let ways: Vec<Way> = prepared.iter().map(way).collect();
    let stages = ways.iter().map(|w| if let Way::Stages(n) = w { *n } else { 0 }).sum::<usize>();
    assert!(stages > 6 && ways.contains(&Way::Windows), "{ways:?}");
    check_kernels("stages::any_windows", &prepared);
}

/// Three windows of five by five on each other, in two passes each: places in shared memory are used again. Five are too much for
/// one thread of the host, which keeps nothing.
#[test]
fn deep_windows() {
    let deep = |count: usize, shape: &[i64]| {
        let (mut graph, x) = over(DType::F32, &YX);
        let soft = (0..count).fold(x, |x, _| separable(&mut graph, x, 2, Border::Reflect101));
        case(graph, &[(soft, &YX)], shape)
    };
    let name = |shape: [i64; 2]| format!("deep {shape:?}");
    let cases = [[3, 130], [12, 70]].map(|shape| (name(shape), deep(3, &shape), Way::Stages(6)));
    let prepared = staged(cases.into());
    let staging = prepared[0].plan.staging.as_ref().expect("there are stages");
    let sum: i64 = staging.stages.iter().map(|s| s.bytes(&staging.tile)).sum();
    assert!(staging.bytes() * 2 < sum, "{} bytes for stages of {sum}", staging.bytes());
    check_kernels("stages::deep_windows", &prepared);

    let case = deep(6, &[12, 70]);
    let stored = [Stored::new(&case.operands[0].tensor, &Layout::dense(2))];
    match evaluate(&case.graph, &stored, &case.outputs, true, 0) {
        Err(Error::Long { limit }) => assert_eq!(limit, 1 << 18),
        other => panic!("{other:?}"),
    }
}

/// Results under another order than their operands.
#[test]
fn transposed() {
    let mut cases = Vec::new();
    for (i, shape) in [[16, 16], [33, 129], [70, 40], [128, 256], [17, 300]].into_iter().enumerate() {
        for dtype in [DType::F32, DType::U8, DType::F16, DType::F64, DType::Bool] {
            let (graph, x) = over(dtype, &YX);
            let name = format!("{dtype} {shape:?}");
            let mut case = case(graph, &[(x, &[X::ID, Y::ID])], &shape);
            if i % 2 == 1 {
                // Lines with gaps.
                case.operands[0].layout.pad[1] = 3;
                case.outputs[0].pad[1] = 5;
            }
            cases.push((name, case, Way::Across));
        }
    }
    for shape in [[2, 20, 19, 33], [3, 17, 40, 16]] {
        // Planes to pixels of many channels, with the same picture under its own order, and a row of factors.
        let (mut graph, x) = over(DType::F32, &[N::ID, Y::ID, X::ID, C::ID]);
        let twice = graph.binary(Binary::Add, x, x);
        let orders: [&[u64]; 2] = [&[N::ID, C::ID, Y::ID, X::ID], &[N::ID, C::ID, Y::ID, X::ID]];
        cases.push((
            format!("planes {shape:?}"),
            case(graph, &[(x, orders[0]), (twice, orders[1])], &shape),
            Way::Across,
        ));
    }
    // Too short to be worth it, or read elsewhere too.
    let (graph, x) = over(DType::F32, &YX);
    cases.push(("short".into(), case(graph, &[(x, &[X::ID, Y::ID])], &[15, 300]), Way::Stages(0)));
    let (mut graph, x) = over(DType::F32, &YX);
    let row = graph.index(Y::ID);
    let first = graph.constant(Scalar::of(0i32));
    let row = graph.binary(Binary::Min, row, first);
    let top = graph.at(x, &[(Y::ID, row)], &[]);
    let sum = graph.binary(Binary::Add, x, top);
    cases.push(("gathered".into(), case(graph, &[(sum, &[X::ID, Y::ID])], &[40, 50]), Way::Stages(0)));
    check_kernels("stages::transposed", &staged(cases));
}
