//! Every way in which values of every type meet, at computed places.

use super::{Case, check_cases, coordinates};
use crate::random::Rng;
use crate::tensor::Tensor;
use tilewright_dims::{Dims, dims};
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::{Graph, OperandSpec};
use tilewright_expr::scatter::Scattering;
use tilewright_expr::{Collision, DType, In, Initial, coordinate, meet, trace};

dims! { N, Y, X, K, H, W }

/// Values over (N, X) at coordinates over (X), to a result over (K, N) or (N, K).
fn graph(dtype: DType, collision: Collision, initial: Initial, extent: i64, order: &[u64]) -> Graph {
    let mut graph = Graph::default();
    for (id, name) in <(N, X, K)>::IDS.iter().zip(<(N, X, K)>::NAMES) {
        graph.name_dim(*id, name);
    }
    let value = graph.operand(OperandSpec { dtype, components: 1, dims: <(N, X)>::IDS.into() });
    let coord = graph.operand(OperandSpec { dtype: DType::I32, components: 1, dims: <(X,)>::IDS.into() });
    let (value, coord) = (graph.input(value, 0), graph.input(coord, 0));
    graph.scatter(&Scattering { value, places: vec![(<(K,)>::IDS[0], coord, extent)], collision, initial }, order);
    graph
}

/// Coordinates that are all different, some outside.
fn distinct(rng: &mut Rng, n: i64) -> Tensor {
    let mut places: Vec<i64> = (-3..n).collect();
    rng.shuffle(&mut places);
    let bits = places.iter().map(|p| u64::from(*p as i32 as u32)).collect();
    Tensor { dtype: DType::I32, components: 1, dims: <(X,)>::IDS.to_vec(), shape: vec![n + 3], bits }
}

/// Few places, which blocks have for themselves, and many.
#[test]
fn every_type_and_collision() {
    let mut rng = Rng::new(7);
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        for collision in Collision::ALL.into_iter().filter(|c| c.takes(dtype)) {
            let turn = cases.len() as u64 / 2 % 2;
            for (seed, extent) in [(turn, 5), (turn + 1, 301)] {
                let n = rng.range(0, 3) + 1;
                let held = Scalar { dtype, bits: rng.bits(dtype) };
                let initial = if rng.chance(0.5) { Initial::Filled(held) } else { Initial::Held(held) };
                let order = if seed % 2 == 0 { <(K, N)>::IDS } else { <(N, K)>::IDS };
                let at = match collision {
                    Collision::Unique => distinct(&mut rng, extent),
                    _ => coordinates(&mut rng, <(X,)>::IDS, &[281], extent),
                };
                let values = rng.tensor(dtype, <(N, X)>::IDS, &[n, at.shape[0]]);
                let name = format!("{collision:?} of {dtype} to {extent} places, {initial:?}");
                cases.push(Case::new(name, graph(dtype, collision, initial, extent, order), vec![values, at], seed));
            }
        }
    }
    assert_eq!(cases.len(), 2 * (8 * 7 + 4 * 3 + 4));
    check_cases("scatter::meetings::every_type_and_collision", &cases);
}

/// Planes, rows in another order, coordinates that are computed, results beside plain ones.
#[test]
fn shapes() {
    let mut rng = Rng::new(8);
    let mut cases = Vec::new();
    for (seed, [y, x]) in [[13, 29], [40, 64], [1, 1], [7, 300], [0, 4]].into_iter().enumerate() {
        let plane = rng.tensor(DType::I32, <(Y, X)>::IDS, &[y, x]);
        let rows = coordinates(&mut rng, <(Y, X)>::IDS, &[y, x], 9);
        let columns = coordinates(&mut rng, <(X,)>::IDS, &[x], 11);
        let points = trace(|v: In<i32, (Y, X)>, r: In<i32, (Y, X)>, c: In<i32, (X,)>| {
            v.scatter_point::<(Y, X), H, W, _, _, _>((r, c), (9, 11), meet::Max, Initial::Filled(-5)).store::<(W, H)>()
        });
        let operands = vec![plane.clone(), rows, columns];
        cases.push(Case::new(format!("points of {y} x {x}"), points.graph, operands, seed as u64));
        let histogram = trace(|v: In<i32, (Y, X)>| {
            let (row, column) = (coordinate::<Y>(), coordinate::<X>());
            let two = (v & 63).scatter_point::<(Y, X), Y, X, _, _, _>(
                (v & 3, (row + column) / 2),
                (4, 30),
                meet::Sum,
                Initial::Filled(100),
            );
            two.store::<(Y, X)>()
        });
        cases.push(Case::new(format!("of themselves, {y} x {x}"), histogram.graph, vec![plane.clone()], seed as u64));
        let beside = trace(|v: In<i32, (Y, X)>| {
            let low = (v / 7).scatter::<Y, K, _, _>(v & 7, 8, meet::Min, Initial::Filled(i32::MAX));
            let sums = v.to::<i64>().scatter::<(Y, X), K, _, _>(coordinate::<X>() % 5, 5, meet::Xor, Initial::Held(3));
            (low.store::<(X, K)>(), (v * 2).store::<(X, Y)>(), sums.store::<(K,)>())
        });
        cases.push(Case::new(format!("beside, {y} x {x}"), beside.graph, vec![plane], seed as u64));
    }
    for (seed, y) in [5, 40, 131, 0].into_iter().enumerate() {
        let mut order: Vec<i64> = (0..y).collect();
        rng.shuffle(&mut order);
        let bits = order.iter().map(|i| *i as u64).collect();
        let order = Tensor { dtype: DType::I32, components: 1, dims: <(Y,)>::IDS.to_vec(), shape: vec![y], bits };
        let x = rng.tensor(DType::U8, <(Y, X)>::IDS, &[y, 37]);
        let moved = trace(|x: In<u8, (Y, X)>, to: In<i32, (Y,)>| {
            let rows = (x / 2).scatter::<Y, Y, _, _>(to, 150, meet::Unique, Initial::Filled(9));
            (rows.store::<(Y, X)>(), (x * 3).store::<(Y, X)>())
        });
        cases.push(Case::new(format!("{y} rows in another order"), moved.graph, vec![x, order], seed as u64));
    }
    check_cases("scatter::meetings::shapes", &cases);
}

/// What is scattered may need a sum that threads share, a scan, or what blocks keep of a stencil.
#[test]
fn after_patterns() {
    use tilewright_expr::Border;
    let mut rng = Rng::new(9);
    let x = rng.tensor(DType::F32, <(Y, X)>::IDS, &[12, 90]);
    let pixels = rng.tensor(DType::U8, <(Y, X)>::IDS, &[40, 90]);
    let shared = trace(|x: In<f32, (Y, X)>| {
        let rank = ((x - x.minimum::<X>()) * 0.01).to::<i32>();
        rank.scatter::<(Y, X), K, _, _>(rank & 15, 16, meet::Max, Initial::Filled(0)).store::<(K,)>()
    });
    let scanned = trace(|x: In<u8, (Y, X)>| {
        x.cumsum::<X>().scatter::<X, K, _, _>(x.to::<i32>() % 10, 10, meet::Sum, Initial::Filled(0)).store::<(Y, K)>()
    });
    let blurred = trace(|x: In<u8, (Y, X)>| {
        let small = x.gaussian_blur::<Y, X>((5, 5), (1.0, 1.0), Border::Reflect101).to::<u8>();
        let few = small.histogram::<(Y, X), K>(256).store::<(K,)>();
        let many = small.scatter::<(Y, X), K, _, _>(coordinate::<X>() * 7, 600, meet::Max, Initial::Filled(0));
        (few, many.store::<(K,)>())
    });
    let cases = [
        Case::new("after a minimum along rows", shared.graph, vec![x], 0),
        Case::new("of a scan", scanned.graph, vec![pixels.clone()], 0),
        Case::new("of a blur", blurred.graph, vec![pixels], 0),
    ];
    check_cases("scatter::meetings::after_patterns", &cases);
}
