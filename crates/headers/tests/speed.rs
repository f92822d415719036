//! How long it takes: `cargo test -p tilewright-headers --release -- --ignored --nocapture speed`.

use std::fmt::Write as _;
use std::time::Instant;

use tilewright_headers::host_model::{Launch, Schedule};

use crate::fixture::{compile, launch, random, run};

/// A kernel of about 60 lines: straight-line arithmetic on named intermediates, as the emitter writes it.
fn long_kernel(number: usize) -> String {
    let mut text = String::from(
        "#include \"tilewright/prelude.cuh\"\nstruct Params { const float* x; float* y; long long n; };\n\
         extern \"C\" __global__ void k(const __grid_constant__ Params p) {\n\
         const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\nif (i >= p.n) return;\n\
         const float v0 = __ldg(p.x + i);\n",
    );
    for i in 1..54 {
        let (a, b) = (i - 1, (i * 7 + number) % i);
        let _ = match (i + number) % 5 {
            0 => writeln!(text, "const float v{i} = __fmaf_rn(v{a}, 0.5f, v{b});"),
            1 => writeln!(text, "const float v{i} = tw::minimum(v{a}, v{b} * 1.25f);"),
            2 => writeln!(text, "const float v{i} = v{a} < v{b} ? v{a} + {i}.0f : v{b} - v{a};"),
            3 => writeln!(text, "const float v{i} = tw::cast<float>(tw::cast<unsigned char>(v{a})) - v{b};"),
            _ => writeln!(text, "const float v{i} = tw::sqrt(tw::abs(v{a})) / (1.0f + tw::abs(v{b}));"),
        };
    }
    text + "p.y[i] = v53;\n}\n"
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Params {
    x: *const f32,
    y: *mut f32,
    n: i64,
}

#[test]
#[ignore = "a measurement"]
fn five_hundred_kernels() {
    let texts: Vec<String> = (0..500).map(long_kernel).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let start = Instant::now();
    let Some(model) = compile("five_hundred", &texts) else { return };
    eprintln!("500 kernels of 60 lines: compiled and loaded in {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let Some(_) = compile("one", &texts[..1]) else { return };
    eprintln!("one kernel: compiled and loaded in {:.2} s", start.elapsed().as_secs_f64());

    let (x, mut y) = (random(1 << 20, 5), vec![0.0f32; 1 << 20]);
    let params = Params { x: x.as_ptr(), y: y.as_mut_ptr(), n: 1 << 20 };
    let start = Instant::now();
    run(&model, "k", launch(1 << 12, 256, 0, Schedule::Forward), params).unwrap();
    eprintln!(
        "a map of 2^20 elements, no barrier: {:.1} ns an element",
        start.elapsed().as_secs_f64() * 1e9 / (1 << 20) as f64
    );
    let start = Instant::now();
    for _ in 0..100 {
        run(&model, "k", launch(4, 256, 0, Schedule::Forward), Params { n: 1000, ..params }).unwrap();
    }
    eprintln!("a launch of 4 blocks of 256, no barrier: {:.0} us", start.elapsed().as_secs_f64() * 1e4);
}

#[test]
#[ignore = "a measurement"]
fn barriers_and_shuffles() {
    let text = r#"
#include "tilewright/prelude.cuh"
struct Params { const float* x; float* y; long long n; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  float* tile = (float*)tw::host::shared_memory();
  float v = p.x[blockIdx.x * 256 + threadIdx.x];
  for (int round = 0; round < 8; ++round) {
    tile[threadIdx.x] = v;
    __syncthreads();
    v += tile[(threadIdx.x + 37) % 256];
    __syncthreads();
  }
  for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(0xffffffffu, v, step);
  p.y[blockIdx.x * 256 + threadIdx.x] = v;
}"#;
    let Some(model) = compile("barriers_and_shuffles", &[text]) else { return };
    let (x, mut y) = (random(4096, 5), vec![0.0f32; 4096]);
    for schedule in Schedule::ALL {
        let start = Instant::now();
        for _ in 0..100 {
            let params = Params { x: x.as_ptr(), y: y.as_mut_ptr(), n: 4096 };
            let launch = Launch { grid: [16, 1, 1], block: [256, 1, 1], shared_bytes: 1024, schedule };
            run(&model, "k", launch, params).unwrap();
        }
        eprintln!(
            "16 blocks of 256, 16 barriers and 5 shuffles, {schedule:?}: {:.2} ms",
            start.elapsed().as_secs_f64() * 10.0
        );
    }
}
