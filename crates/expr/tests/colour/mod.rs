//! Colour: channels, spaces, video frames, against loops in `f64` over the written formulas.

mod channels;
mod frames;
mod golden;
mod kernels;
mod spaces;
mod written;
mod yuv;

use crate::random::Rng;
use crate::tensor::{Tensor, evaluate_every_way};
use ndarray::{ArrayD, Dimension, IxDyn};
use tilewright_dims::dims;
use tilewright_expr::Value;
use tilewright_expr::error::Error;
use tilewright_expr::graph::Graph;

dims! { N, Y, X, C, K, H, W, U, P }

/// A type of pixels, from and to the numbers of the reference.
trait Shade: Value {
    fn shade(v: f64) -> Self;
    fn real(self) -> f64;
}
macro_rules! shades {
    ($($t:ty),*) => { $(impl Shade for $t {
        fn shade(v: f64) -> Self { v as $t }
        fn real(self) -> f64 { self as f64 }
    })* };
}
shades!(u8, u16, i32, f32, f64);

/// Random whole numbers from 0 to `max`, or numbers between 0 and `max` for floats.
fn picture<T: Shade>(rng: &mut Rng, dims: &[u64], shape: &[usize], max: f64) -> (ArrayD<T>, Tensor) {
    let float = T::DTYPE.is_float();
    let value = || T::shade(if float { rng.unit() * max } else { rng.range(0, max as i64 + 1) as f64 });
    let values = ArrayD::from_shape_simple_fn(shape.to_vec(), value);
    let tensor = Tensor::of(dims, &values);
    (values, tensor)
}

fn tabulate(shape: &[usize], f: impl Fn(&[usize]) -> f64) -> ArrayD<f64> {
    ArrayD::from_shape_fn(IxDyn(shape), |i| f(i.as_array_view().as_slice().expect("an index is dense")))
}

/// Holds if each value is the expected one, up to `tolerance`. Of integers the expectation is rounded first, and only where it
/// is within `tolerance` of a half may the result be the other neighbour.
fn close<T: Shade>(result: &Tensor, expected: &ArrayD<f64>, tolerance: f64) {
    let got = result.array::<T>();
    assert_eq!(got.shape(), expected.shape());
    for (i, e) in expected.indexed_iter() {
        let g = got[&i].real();
        let slack = if T::DTYPE.is_float() { tolerance } else { 0.5 + tolerance };
        assert!((g - e).abs() <= slack, "{i:?}: got {g}, the formula gives {e}");
    }
}

/// The results, the same whatever the layouts.
fn results(graph: &Graph, inputs: &[&Tensor]) -> Vec<Tensor> {
    graph.check().unwrap_or_else(|e| panic!("{e}"));
    evaluate_every_way(graph, inputs)
}

/// What is wrong with the sizes of these operands.
fn refusal(graph: &Graph, inputs: &[&Tensor]) -> String {
    use crate::tensor::{Layout, Stored};
    use tilewright_expr::bind::{Binding, Place, View};
    let stored: Vec<Stored> = inputs.iter().map(|t| Stored::new(t, &Layout::dense(t.dims.len()))).collect();
    let views: Vec<View<'_>> = stored.iter().map(|s| s.view(Place::Device, false)).collect();
    let refused: Option<Error> = Binding::new(graph, &views).err();
    refused.map_or_else(|| "it is accepted".into(), |e| e.to_string())
}
