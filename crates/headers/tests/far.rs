//! Tensors of memory that is longer than offsets of 32 bits reach.

use crate::fixture::{compile, launch, run};
use tilewright_headers::host_model::{Error, HostModel, KernelSource, Schedule};

/// Tells how far from its beginning a tensor begins that is so many steps further along N.
const FAR: &str = r#"
#include "tilewright/layout.cuh"
struct N : tw::Dim<N> { using Dim::Dim; };
struct X : tw::Dim<X> { using Dim::Dim; };
using A = tw::Tensor<const float, tw::Packed<tw::Run<N, 2>, tw::Run<X, 1000>>>;
struct Params { const float* x; long long* y; };
extern "C" __global__ void far_apart(const __grid_constant__ Params p) {
  const auto from = [&](A a) { return (long long)((unsigned long long)a.data - (unsigned long long)p.x); };
  p.y[0] = from(A{p.x}.beyond(N(0)));
  p.y[1] = from(A{p.x}.beyond(N(3)).beyond(N(-2)));
  p.y[2] = from(A{p.x}.beyond(N(5000000)));
  p.y[3] = (long long)*A{p.x}.beyond(N(1)).at(N(1) + X(7));
}
"#;

#[derive(Clone, Copy)]
#[repr(C)]
struct Params {
    x: *const f32,
    y: *mut i64,
}

#[test]
fn further_than_offsets_reach() {
    let Some(model) = compile("far", &[FAR]) else { return };
    let x: Vec<f32> = (0..3000).map(|i| i as f32).collect();
    let mut y = [-1i64; 4];
    let params = Params { x: x.as_ptr(), y: y.as_mut_ptr() };
    run(&model, "far_apart", launch(1, 1, 0, Schedule::Forward), params).unwrap();
    assert_eq!(y, [0, 4000, 20_000_000_000, 2007]);
}

/// Along another dimension than the outermost, and where a step is more than one coordinate.
#[test]
fn along_another_axis_is_refused() {
    let cases = [
        (FAR.replace("beyond(N(0))", "beyond(X(0))"), "the tensor's outermost axis is one of another dimension"),
        (FAR.replace("tw::Run<N, 2>", "tw::Run<N, 2, 8>"), "is more than one coordinate"),
    ];
    if compile("far", &[FAR]).is_none() {
        return;
    }
    for (text, part) in cases {
        let error = HostModel::compile(&[KernelSource { name: "far", text: &text }]).expect_err("accepted");
        assert!(matches!(error, Error::Compile { .. }) && error.to_string().contains(part), "{error}\nlacks {part}");
    }
}
