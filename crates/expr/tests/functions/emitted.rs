//! Every function as an emitted kernel on the host model: the bits of the host evaluator and of the definition.

use super::X;
use super::table::{Of, TABLE};
use crate::emitted::{Prepared, compile, compiler, prepare};
use crate::random::{Case, Operand, Rng};
use crate::reference::casts::edges;
use crate::tensor::{Layout, Tensor};
use tilewright_dims::Dims;
use tilewright_expr::DType;
use tilewright_expr::bind::Place;
use tilewright_expr::graph::{Graph, OperandSpec, Output};

/// Functions of one kernel.
const TOGETHER: usize = 8;

fn case(rows: &[super::table::Row], dtype: DType) -> Case {
    let mut rng = Rng::new(rows.len() as u64);
    let mut bits: Vec<u64> = edges(dtype).into_iter().step_by(11).collect();
    bits.extend((0..60).map(|_| rng.next() & u64::MAX >> (64 - 8 * dtype.size())));
    let shape = [bits.len() as i64];
    let dims = <(X,)>::IDS;
    let other = rng.tensor(dtype, dims, &shape);
    let first = Tensor { dtype, components: 1, dims: dims.to_vec(), shape: shape.to_vec(), bits };
    let mut graph = Graph::default();
    let spec = OperandSpec { dtype, components: 1, dims: dims.into() };
    let [x, y] = [(); 2].map(|()| {
        let number = graph.operand(spec.clone());
        graph.input(number, 0)
    });
    let nodes: Vec<_> = rows
        .iter()
        .map(|row| match row.of {
            Of::One(f, _) => f(&mut graph, x),
            Of::Two(f, _) => f(&mut graph, x, y),
        })
        .collect();
    graph.outputs = nodes.iter().map(|n| Output { node: *n, dims: dims.into() }).collect();
    // With a step in memory, a thread computes one point: a short text.
    let layout = Layout { step: 2, ..Layout::dense(1) };
    let operand = |tensor| Operand { tensor, layout: layout.clone(), place: Place::Device };
    let operands = [first, other].into_iter().map(operand).collect();
    Case { outputs: vec![layout.clone(); graph.outputs.len()], graph, operands, known: true }
}

#[test]
fn every_function() {
    let groups = TABLE.chunks(TOGETHER).flat_map(|rows| [DType::F32, DType::F64].map(|dtype| (rows, dtype)));
    let prepared: Vec<Prepared> = groups
        .enumerate()
        .filter_map(|(i, (rows, dtype))| prepare(format!("{}.. of {dtype}", rows[0].name), &case(rows, dtype), i))
        .collect();
    if compiler("functions::emitted::every_function") {
        let (model, _) = compile(&prepared.iter().map(|p| &p.kernel).collect::<Vec<_>>());
        prepared.iter().enumerate().for_each(|(i, p)| p.check(&model, i));
    }
}
