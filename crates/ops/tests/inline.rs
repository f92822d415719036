//! Expressions inside of kernels that are written by hand, through NVRTC: beside the headers that such kernels have, two functions in
//! one source.

use crate::support::skip;
use tilewright_dims::{Dims, dims};
use tilewright_driver::{Arch, Source, TargetKind, compile, toolkit};
use tilewright_expr::bind::{Axis, Place, View, dense};
use tilewright_expr::emit::{Caller, Inline, Inlined};
use tilewright_expr::graph::Graph;
use tilewright_expr::{In, Rect, f16, trace};
use tilewright_headers::headers_for;

dims! { N, H, W, K }

/// What a convolution includes, and a kernel that does nothing between its functions.
const KERNEL: [&str; 2] = [
    "#include \"tilewright/tensor.cuh\"
#include \"tilewright/fragment.cuh\"
#include \"tilewright/half.cuh\"
#include \"tilewright/arch/barrier.cuh\"
",
    "struct Params {
  input_Params input;
  epilogue_Params epilogue;
  uint4* made;
};
extern \"C\" __global__ void kernel(const __grid_constant__ Params p) {
  const int n = blockIdx.z, h = blockIdx.y, w = blockIdx.x, k = 8 * threadIdx.x;
  float given[8];
  tw::f16 read[8], made[8];
  input(p.input, n, h, w, k, read);
  for (int i = 0; i < 8; ++i) given[i] = (float)read[i];
  epilogue(p.epilogue, n, h, w, k, given, made);
  made[0] = epilogue(p.epilogue, n, h, w, k, given[0]);
  unsigned word[4];
  for (int i = 0; i < 4; ++i) word[i] = made[2 * i].bits | (unsigned)made[2 * i + 1].bits << 16;
  p.made[((n * gridDim.y + h) * gridDim.x + w) * blockDim.x + threadIdx.x] = make_uint4(word[0], word[1], word[2], word[3]);
}
",
];

/// The function of a graph whose dimensions have 8 points each, in device memory.
fn function(graph: &Graph, given: Option<u16>, name: &str) -> Inlined {
    let axes = |dims: &[u64]| dense(dims, &vec![8; dims.len()]);
    let operands = graph.operands.iter().enumerate().filter(|(i, _)| Some(*i as u16) != given);
    let in_order = |dims: &[u64]| <(N, H, W, K)>::IDS.iter().copied().filter(|d| dims.contains(d)).collect::<Vec<_>>();
    let all: Vec<Vec<Axis>> = operands.map(|(_, o)| axes(&in_order(&o.dims))).collect();
    let views: Vec<View<'_>> =
        all.iter().map(|axes| View { axes, place: Place::Device, alignment: 16, boxes: None }).collect();
    let points: Vec<_> = graph.outputs[0].dims.iter().map(|d| (*d, "?", 8)).collect();
    let caller = Caller { points: &points, given, lanes: 8, sized: false, room: 0 };
    Inline::new(graph, &views, &caller).and_then(|inline| inline.emit(graph, name)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn functions_compile_beside_headers_of_kernels() {
    if toolkit::nvrtc().is_err() {
        return skip("inline::functions_compile_beside_headers_of_kernels", "no NVRTC");
    }
    let input = trace(|x: In<u8, (H, W, K)>, boxes: In<Rect, (N,)>, mean: In<f32, (K,)>, std: In<f32, (K,)>| {
        let pixel = x.crop::<H, W, _>(boxes).resize::<H, W>(8, 8);
        ((pixel - mean) / std).to::<f16>().store::<(N, H, W, K)>()
    });
    type Image<T> = In<T, (N, H, W, K)>;
    let epilogue = trace(|acc: Image<f32>, residual: Image<f16>, bias: In<f32, (K,)>, scale: In<f32, ()>| {
        let sum = (acc * scale + bias).gelu() + residual.to::<f32>();
        tilewright_special::digamma::of(sum).to::<f16>().store::<(N, H, W, K)>()
    });
    let functions = [function(&input.graph, None, "input"), function(&epilogue.graph, Some(0), "epilogue")];
    let [first, last] = KERNEL;
    let mut text = first.to_string();
    for function in &functions {
        text.extend(function.headers.iter().map(|name| format!("#include \"tilewright/{name}.cuh\"\n")));
        text.push_str(&function.source);
    }
    text.push_str(last);
    for arch in [Arch::new(8, 0), Arch::new(9, 0)] {
        let headers = headers_for(&text).into_iter().map(|(name, text)| (name.to_string(), text.into())).collect();
        let source = Source {
            name: "inline".into(),
            text: text.clone(),
            headers,
            options: Vec::new(),
            target: TargetKind::Portable,
        };
        let compiled = compile(&source, arch).unwrap_or_else(|e| panic!("{arch:?}: {e}"));
        let ptx = String::from_utf8(compiled.image).expect("PTX is text");
        assert!(ptx.contains("v4.u32") || ptx.contains("v4.b32"), "eight halves are one load");
        assert!(!ptx.contains(".local"), "arrays of values are registers");
    }
}
