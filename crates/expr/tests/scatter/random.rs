//! Random expressions, scattered.

use super::{Case, Prepared, check, prepare_if};
use crate::random::{Rng, case};
use crate::tensor::Layout;
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::Binary;
use tilewright_expr::scatter::Scattering;
use tilewright_expr::{Collision, DType, Initial};

const SEEDS: u64 = 120;
/// The dimension along which places are computed.
const PLACES: u64 = 0x4242;

/// The first result of a random graph, scattered along some of its dimensions to places that follow from its values and the
/// coordinates.
fn scattered(seed: u64) -> Option<Case> {
    let given = case(seed);
    if !given.known {
        return None;
    }
    let mut rng = Rng::new(seed ^ 0xabcd);
    let mut graph = given.graph;
    let output = graph.outputs.swap_remove(0);
    graph.outputs.clear();
    graph.joins.clear();
    graph.name_dim(PLACES, "places");
    let (value, dtype) = (output.node, graph.node(output.node).dtype);
    let ways: Vec<Collision> =
        Collision::ALL.into_iter().filter(|c| *c != Collision::Unique && c.takes(dtype)).collect();
    let extent = rng.pick(&[1, 4, 9, 70, 900]);
    let mut coord = graph.cast(value, DType::I32);
    for dim in &output.dims {
        let index = graph.index(*dim);
        coord = graph.binary(Binary::Add, coord, index);
    }
    let most = graph.constant(Scalar::of(extent as i32 + 3));
    let coord = graph.binary(Binary::Rem, coord, most);
    let first = Scalar { dtype, bits: rng.bits(dtype) };
    let initial = if rng.chance(0.7) { Initial::Filled(first) } else { Initial::Held(first) };
    let scattering = Scattering { value, places: vec![(PLACES, coord, extent)], collision: rng.pick(&ways), initial };
    let mut dims: Vec<u64> = output.dims.iter().copied().filter(|_| rng.chance(0.4)).collect();
    dims.push(PLACES);
    rng.shuffle(&mut dims);
    graph.scatter(&scattering, &dims);
    let layouts = given.operands.iter().map(|o| o.layout.clone()).collect();
    let outputs = vec![if rng.chance(0.5) { Layout::dense(dims.len()) } else { Layout::random(&mut rng, dims.len()) }];
    let operands = given.operands.into_iter().map(|o| o.tensor).collect();
    let name = format!("EXPR_SEED={seed}, {:?} of {dtype} to {extent} places", scattering.collision);
    Some(Case { name, graph, operands, layouts, outputs }).filter(|c| c.graph.check().is_ok())
}

#[test]
fn random_expressions() {
    let one = std::env::var("EXPR_SEED").ok().and_then(|s| s.parse::<u64>().ok());
    let cases: Vec<Case> = one.map_or(0..SEEDS, |n| n..n + 1).filter_map(scattered).collect();
    let prepared: Vec<Prepared<'_>> = cases.iter().enumerate().filter_map(|(i, case)| prepare_if(case, i)).collect();
    if one.is_none() {
        // What the generator is there for does occur.
        let private = prepared.iter().filter(|p| p.private() > 0).count();
        assert!(prepared.len() > 60 && private > 10, "{} cases, {private} with places of blocks", prepared.len());
    }
    check("scatter::random::random_expressions", &prepared);
}
