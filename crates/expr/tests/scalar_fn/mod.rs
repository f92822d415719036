//! `#[scalar_fn]`: the same bits from the Rust body and from the kernel, for each construct of the subset.

mod elementary;
mod face;
mod functions;
mod hand;
mod numbers;
mod special;

use crate::emitted::check_all;
use crate::random::{Case, Operand, Rng};
use crate::reference::casts::edges;
use crate::tensor::{Layout, Tensor};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::graph::Graph;
use tilewright_expr::{In, trace};

dims! { X }

/// Values of each argument: those at which something happens, and random bits.
const COUNT: usize = 401;

/// The graph on operands along `X`.
fn case(name: &str, graph: Graph) -> (String, Case) {
    graph.check().unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut rng = Rng::new(name.len() as u64 + 3);
    let mut operand = |spec: &tilewright_expr::graph::OperandSpec| {
        let ends = edges(spec.dtype);
        // NaNs of every sign and payload are one value.
        let bits =
            (0..COUNT).map(|i| if i % 3 == 0 { ends[rng.next() as usize % ends.len()] } else { rng.bits(spec.dtype) });
        let bits: Vec<u64> = bits.collect();
        let tensor =
            Tensor { dtype: spec.dtype, components: 1, dims: spec.dims.to_vec(), shape: vec![COUNT as i64], bits };
        // With a step in memory, a thread computes one point: a short text.
        Operand { tensor, layout: Layout { step: 2, ..Layout::dense(1) }, place: Place::Device }
    };
    let operands = graph.operands.iter().map(&mut operand).collect();
    let outputs = graph.outputs.iter().map(|_| Layout { step: 2, ..Layout::dense(1) }).collect();
    assert!(graph.outputs.iter().all(|o| o.dims[..] == *<(X,)>::IDS));
    (name.into(), Case { outputs, graph, operands, known: true })
}

#[test]
fn every_construct() {
    let mut cases = Vec::new();
    macro_rules! row {
        ($name:literal, |$($arg:ident: $t:ty),*| $results:expr, $($number:tt)*) => {
            cases.push(case($name, trace(|$($arg: In<$t, (X,)>),*| {
                let results = $results;
                ($(results.$number.store::<(X,)>(),)*)
            }).graph))
        };
    }
    use functions::{elementary, floats, integers, statements};
    functions::rows!(row);
    check_all("scalar_fn::every_construct", cases.into_iter());
}
