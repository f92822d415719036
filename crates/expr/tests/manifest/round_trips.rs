//! What was written comes back: every operation of the table, random graphs, sections, scatters, functions.

use super::{Pipeline, round_trip};
use crate::random::{case, sections};
use crate::table::cells;
use rayon::prelude::*;
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Place, View, dense};
use tilewright_expr::extend::scalar_fn;
use tilewright_expr::graph::Graph;
use tilewright_expr::manifest::OwnedView;
use tilewright_expr::{Error, In, Rect, trace};

dims! { N, Y, X }

const SEEDS: u64 = 850;

#[test]
fn every_cell_of_the_table() {
    let cells = cells();
    assert!(cells.len() > 2000);
    cells.par_iter().for_each(|cell| {
        let pipeline = Pipeline::of(&cell.case).unwrap_or_else(|| panic!("{} has sizes", cell.name));
        round_trip(&cell.name, &pipeline);
    });
}

#[test]
fn random_graphs() {
    let one = std::env::var("EXPR_SEED").ok().and_then(|s| s.parse::<u64>().ok());
    let done = one.map_or(0..SEEDS, |seed| seed..seed + 1).into_par_iter().filter(|seed| {
        let pipelines = [(*seed, case(*seed)), (*seed, sections(*seed))];
        let pipelines = pipelines.iter().filter_map(|(seed, case)| Some((seed, Pipeline::of(case)?)));
        pipelines.map(|(seed, pipeline)| round_trip(&format!("seed {seed}"), &pipeline)).count() == 2
    });
    assert!(done.count() as u64 > SEEDS / 2 || one.is_some());
}

fn on_device(extents: &[i64], dims: &[u64]) -> OwnedView {
    OwnedView::of(View { axes: &dense(dims, extents), place: Place::Device, alignment: 16, boxes: None })
}

/// Host boxes decide the size of a result, and whether kernels check them.
#[test]
fn boxes_on_the_host() {
    let graph = trace(|p: In<u8, (Y, X)>, boxes: In<Rect, (N,)>| p.crop::<Y, X, _>(boxes).store::<(N, Y, X)>()).graph;
    let axes = dense(<(N,)>::IDS, &[3]);
    let boxes = [Rect::new(1, 2, 5, 4), Rect::new(0, 0, 5, 4), Rect::new(3, 1, 5, 4)];
    let host = View { axes: &axes, place: Place::Host, alignment: 16, boxes: Some(&boxes) };
    let operands = vec![on_device(&[20, 30], <(Y, X)>::IDS), OwnedView::of(host)];
    let results = vec![on_device(&[3, 4, 5], <(N, Y, X)>::IDS)];
    let pipeline = Pipeline { graph, operands, results };
    assert_eq!(pipeline.text().0.operands[1], "Rect (N 3) host 16 boxes 1 2 5 4");
    assert!(!pipeline.sources().expect("it can be planned")[0].contains("tw::guard("));
    round_trip("boxes", &pipeline);
}

/// A table, and a function that another one calls.
const TABLE: [f32; 2] = [0.5, -1e-30];

#[scalar_fn]
fn inner_step(x: f32, i: i32) -> f32 {
    x.exp() + TABLE[i & 1]
}

#[scalar_fn]
fn outer_step(x: f32) -> (f32, i32) {
    let mut sum = 0.0;
    for i in 0..3 {
        sum += inner_step(x, i);
    }
    (sum.sin(), 7)
}

#[scalar_fn(cuda = "float by_hand(float x) { return x > 0 ? x : -x; }")]
fn by_hand(x: f32) -> f32 {
    if x > 0.0 { x } else { -x }
}

pub(super) fn with_functions() -> Pipeline {
    let graph = trace(|x: In<f32, (X,)>| {
        let (sum, seven) = outer_step::of(x);
        ((sum + by_hand::of(x) + tilewright_special::gamma::of(x)).store::<(X,)>(), seven.store::<(X,)>())
    })
    .graph;
    let line = || on_device(&[1000], <(X,)>::IDS);
    Pipeline { graph, operands: vec![line()], results: vec![line(), line()] }
}

/// A program's own functions come with their texts; the kernel is the same, and the host says that it has no twin.
#[test]
fn functions_of_a_program() {
    let pipeline = with_functions();
    round_trip("functions", &pipeline);
    let (plan, texts) = pipeline.text();
    let again = super::read_texts(&plan, &texts).expect("it is in order");
    assert!(pipeline.sources().expect("a source")[0].contains("own_inner_step_"));
    let [views, outs] =
        [&again.operands, &again.results].map(|list| list.iter().map(OwnedView::view).collect::<Vec<_>>());
    let host = tilewright_expr::eval::HostKernel::new(&again.graph, &views, &outs);
    let error = host.expect_err("there is no twin");
    assert!(matches!(error, Error::NoTwin { .. }), "{error}");
}

/// Of two dimensions of one name each keeps its own.
#[test]
fn dimensions_of_one_name() {
    let mut graph = Graph::default();
    for (id, name) in [(7, "two words"), (3, "X"), (5, "X"), (9, "any")] {
        graph.name_dim(id, name);
    }
    let dims = [7, 3, 5, 9, 11];
    let spec = |dims: &[u64]| {
        let mut dims = dims.to_vec();
        dims.sort_unstable();
        tilewright_expr::graph::OperandSpec { dtype: tilewright_expr::DType::F16, components: 1, dims: dims.into() }
    };
    graph.operand(spec(&dims));
    let node = graph.input(0, 0);
    graph.outputs.push(tilewright_expr::graph::Output { node, dims: dims.into() });
    let view = || on_device(&[2, 3, 4, 5, 6], &dims);
    let pipeline = Pipeline { graph, operands: vec![view()], results: vec![view()] };
    let labels = pipeline.text().0.dims;
    let expected = [
        "two_words = 0x0000000000000007 \"two words\"",
        "X = 0x0000000000000003",
        "X_2 = 0x0000000000000005 \"X\"",
        "any = 0x0000000000000009",
        "_ = 0x000000000000000b \"?\"",
    ];
    assert_eq!(labels, expected);
    round_trip("names", &pipeline);
}
