//! Elementary functions: accuracy over the whole range, special values, and the same bits from emitted kernels.

mod accuracy;
mod emitted;
mod erf;
mod special_values;
mod table;

use crate::tensor::{Layout, Stored, Tensor, evaluate};
use table::Of;
use tilewright_dims::{Dims, dims};
use tilewright_expr::dtype::Value;
use tilewright_expr::graph::{Graph, OperandSpec, Output};

dims! { X }

/// The graph of one function of operands along `X`.
fn graph_of(of: Of, dtype: tilewright_expr::DType) -> Graph {
    let mut graph = Graph::default();
    let spec = OperandSpec { dtype, components: 1, dims: <(X,)>::IDS.into() };
    let mut operand = || {
        let number = graph.operand(spec.clone());
        graph.input(number, 0)
    };
    let node = match of {
        Of::One(f, _) => {
            let x = operand();
            f(&mut graph, x)
        }
        Of::Two(f, _) => {
            let (x, y) = (operand(), operand());
            f(&mut graph, x, y)
        }
    };
    graph.outputs = vec![Output { node, dims: <(X,)>::IDS.into() }];
    graph
}

/// Values of a function on the host.
fn values<T: Value>(of: Of, args: &[Vec<T>]) -> Vec<T> {
    let tensor = |v: &Vec<T>| Tensor {
        dtype: T::DTYPE,
        components: 1,
        dims: <(X,)>::IDS.to_vec(),
        shape: vec![v.len() as i64],
        bits: v.iter().map(|x| x.to_bits64()).collect(),
    };
    let stored: Vec<Stored> = args.iter().map(|v| Stored::new(&tensor(v), &Layout::dense(1))).collect();
    let graph = graph_of(of, T::DTYPE);
    let (results, _) = evaluate(&graph, &stored, &[Layout::dense(1)], true, 1).unwrap_or_else(|e| panic!("{e}"));
    results[0].bits.iter().map(|b| T::from_bits64(*b)).collect()
}
