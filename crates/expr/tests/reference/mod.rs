//! Every operation of the typed face against an independent reference over ndarray arrays, under many memory layouts.

mod arithmetic;
pub(crate) mod casts;
mod exp;
pub(crate) mod paths;
mod reads;
mod shapes;

use crate::random::Rng;
use crate::tensor::{Tensor, evaluate_every_way};
use ndarray::{ArrayD, Dimension, IxDyn};
use tilewright_dims::dims;
use tilewright_expr::Value;
use tilewright_expr::graph::Graph;

dims! { N, Y, X, C, K }

/// Evaluates under many layouts and compares the only result with `expected`, bit for bit.
fn check<T: Value>(graph: &Graph, inputs: &[&Tensor], expected: &ArrayD<T>) {
    let results = evaluate_every_way(graph, inputs);
    assert_eq!(results.len(), 1);
    same(&results[0], expected);
}

fn same<T: Value>(result: &Tensor, expected: &ArrayD<T>) {
    let expected = Tensor::of(&result.dims, &expected.as_standard_layout().into_owned());
    assert!(result.same(&expected), "got against the reference: {}", result.difference(&expected));
}

/// Random values with their tensor.
fn array<T: Value>(rng: &mut Rng, dims: &[u64], shape: &[i64]) -> (ArrayD<T>, Tensor) {
    let tensor = rng.tensor(T::DTYPE, dims, shape);
    (tensor.array(), tensor)
}

/// `shape` made of `f` of each index.
fn tabulate<T>(shape: &[i64], f: impl Fn(&[usize]) -> T) -> ArrayD<T> {
    let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
    ArrayD::from_shape_fn(IxDyn(&shape), |i| f(i.as_array_view().as_slice().expect("an index is dense")))
}
