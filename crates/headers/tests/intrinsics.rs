//! Bits, bytes, exact arithmetic, vector types and atomics against Rust.

use tilewright_headers::host_model::Schedule;

use crate::fixture::{compile, launch, random, run};

#[derive(Clone, Copy)]
#[repr(C)]
struct Pointers {
    x: *const u32,
    y: *mut u32,
}

const BITS: &str = r#"
#include "tilewright/prelude.cuh"
struct Params { const unsigned* x; unsigned* y; };
extern "C" __global__ void bits(const __grid_constant__ Params p) {
  const unsigned a = p.x[3 * threadIdx.x], b = p.x[3 * threadIdx.x + 1], c = p.x[3 * threadIdx.x + 2];
  const float f = __uint_as_float(a), g = __uint_as_float(b), h = __uint_as_float(c);
  unsigned* y = p.y + 16 * threadIdx.x;
  y[0] = __byte_perm(a, b, c);
  y[1] = __funnelshift_r(a, b, c);
  y[2] = __funnelshift_l(a, b, c);
  y[3] = __popc(a);
  y[4] = __clz(a);
  y[5] = __brev(a);
  y[6] = __umulhi(a, b);
  y[7] = __float_as_uint(__fmaf_rn(f, g, h));
  y[8] = __float_as_uint(__fdiv_rn(f, g));
  y[9] = __float_as_uint(f * g + h);
  y[10] = __float_as_uint(__fsqrt_rn(fabsf(f)));
  y[11] = __float_as_uint(rintf(f));
  y[12] = __float_as_uint(floorf(f));
  y[13] = __float_as_uint(fminf(f, g));
  y[14] = __float_as_uint(fmaxf(f, g));
  y[15] = (unsigned)__double2loint(fma((double)f, (double)g, (double)h));
}
"#;

const ZEROS: &str = r#"
#include "tilewright/prelude.cuh"
struct Params { const unsigned* x; unsigned* y; };
extern "C" __global__ void zeros(const __grid_constant__ Params p) {
  const float a = __uint_as_float(p.x[0]), b = __uint_as_float(p.x[1]), c = __uint_as_float(p.x[2]);
  p.y[0] = __float_as_uint(-fmaf(a, b, c));
  p.y[1] = (unsigned)__double2hiint(-fma((double)a, (double)b, (double)c));
}
"#;

/// The negative of a sum that is 0 is -0, which a fused multiply-subtract would not give.
#[test]
fn zeros_keep_their_signs() {
    let Some(model) = compile("zeros", &[ZEROS]) else { return };
    for [a, b, c] in [[0.0f32, 1.0, -0.0], [2.0, 3.0, -6.0], [0.0, 1.0, 0.0]] {
        let (x, mut y) = ([a, b, c].map(f32::to_bits), [7u32; 2]);
        let params = Pointers { x: x.as_ptr(), y: y.as_mut_ptr() };
        run(&model, "zeros", launch(1, 1, 0, Schedule::ALL[0]), params).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(y, [0x8000_0000; 2], "-({a} * {b} + {c})");
    }
}

fn truth(a: u32, b: u32, c: u32) -> [u32; 16] {
    let [f, g, h] = [a, b, c].map(f32::from_bits);
    let pair = u64::from(b) << 32 | u64::from(a);
    let byte = |i: u32| (pair >> (8 * (c >> (4 * i) & 7)) & 0xff) as u32;
    let fma = f64::from(f).mul_add(f64::from(g), f64::from(h));
    [
        byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24,
        (pair >> (c & 31)) as u32,
        (pair << (c & 31) >> 32) as u32,
        a.count_ones(),
        a.leading_zeros(),
        a.reverse_bits(),
        ((u64::from(a) * u64::from(b)) >> 32) as u32,
        f.mul_add(g, h).to_bits(),
        (f / g).to_bits(),
        (f * g + h).to_bits(),
        f.abs().sqrt().to_bits(),
        f.round_ties_even().to_bits(),
        f.floor().to_bits(),
        f.min(g).to_bits(),
        f.max(g).to_bits(),
        fma.to_bits() as u32,
    ]
}

#[test]
fn bits_and_arithmetic_agree_with_rust() {
    let Some(model) = compile("bits", &[BITS]) else { return };
    // Floats of moderate size, whose results are numbers: the bits of a NaN are nobody's promise.
    let floats = random(3 * 512, 11);
    let x: Vec<u32> =
        floats.iter().enumerate().map(|(i, v)| ((v - 0.5) * [3.0, 1e-3, 7e4][i / 3 % 3]).to_bits()).collect();
    let mut y = vec![0u32; 16 * 512];
    run(&model, "bits", launch(1, 512, 0, Schedule::Forward), Pointers { x: x.as_ptr(), y: y.as_mut_ptr() }).unwrap();
    for (got, x) in y.chunks(16).zip(x.chunks(3)) {
        assert_eq!(got, truth(x[0], x[1], x[2]), "of {x:x?}");
    }
}

#[test]
fn minimum_and_maximum_know_zeros_and_nans() {
    let text = r#"
#include "tilewright/prelude.cuh"
struct Params { unsigned* y; };
extern "C" __global__ void zeros(const __grid_constant__ Params p) {
  const float nan = __uint_as_float(0x7fc00000u);
  const float results[] = {fminf(0.0f, -0.0f), fminf(-0.0f, 0.0f), fmaxf(0.0f, -0.0f), fmaxf(-0.0f, 0.0f),
                           fminf(nan, 1.0f), fmaxf(1.0f, nan), tw::minimum(nan, 1.0f), __saturatef(nan)};
  for (int i = 0; i < 8; ++i) p.y[i] = __float_as_uint(results[i]);
}"#;
    let Some(model) = compile("zeros", &[text]) else { return };
    let mut y = [1u32; 8];
    run(&model, "zeros", launch(1, 1, 0, Schedule::Forward), y.as_mut_ptr()).unwrap();
    let one = 1.0f32.to_bits();
    assert_eq!(y, [1 << 31, 1 << 31, 0, 0, one, one, 0x7fc0_0000, 0]);
}

#[test]
fn vector_types_are_laid_out_as_on_the_gpu() {
    let text = r#"
#include "tilewright/prelude.cuh"
struct Params { unsigned* y; };
extern "C" __global__ void layouts(const __grid_constant__ Params p) {
  const unsigned layouts[] = {
      sizeof(float2) * 100 + alignof(float2), sizeof(float3) * 100 + alignof(float3),
      sizeof(float4) * 100 + alignof(float4), sizeof(double2) * 100 + alignof(double2),
      sizeof(uchar4) * 100 + alignof(uchar4), sizeof(ushort4) * 100 + alignof(ushort4),
      sizeof(int2) * 100 + alignof(int2), sizeof(uchar3) * 100 + alignof(uchar3)};
  for (int i = 0; i < 8; ++i) p.y[i] = layouts[i];
  __stcs((uint4*)p.y + 2, make_uint4(9, 10, 11, __ldcs((const uint2*)p.y).y));
}"#;
    let Some(model) = compile("layouts", &[text]) else { return };
    #[repr(align(16))]
    struct Aligned([u32; 12]);
    let mut y = Aligned([0; 12]);
    run(&model, "layouts", launch(1, 1, 0, Schedule::Forward), y.0.as_mut_ptr()).unwrap();
    assert_eq!(y.0, [808, 1204, 1616, 1616, 404, 808, 808, 301, 9, 10, 11, 1204]);
}

#[test]
fn atomics_of_all_blocks_meet() {
    let text = r#"
#include "tilewright/prelude.cuh"
struct Params { unsigned* y; };
extern "C" __global__ void meet(const __grid_constant__ Params p) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(p.y, 1);
  atomicAdd((float*)p.y + 1, 1.0f);
  atomicMin((int*)p.y + 2, -(int)i);
  atomicMax(p.y + 3, i);
  atomicOr(p.y + 4, 1u << i % 32);
  atomicAdd((unsigned long long*)(p.y + 6), 1ull << 32);
  if (atomicExch(p.y + 5, 1u) == 0) atomicCAS(p.y + 8, 0u, 77u);
  atomicSub(p.y + 9, 2);
}"#;
    let Some(model) = compile("meet", &[text]) else { return };
    for schedule in Schedule::ALL {
        let mut y = [0u64; 5];
        run(&model, "meet", launch(100, 64, 0, schedule), y.as_mut_ptr()).unwrap();
        let word = |i: usize| (y[i / 2] >> (32 * (i % 2))) as u32;
        assert_eq!([word(0), word(3), word(4), word(5)], [6400, 6399, u32::MAX, 1]);
        assert_eq!((f32::from_bits(word(1)), word(2) as i32), (6400.0, -6399));
        assert_eq!((y[3], word(8), word(9)), (6400 << 32, 77, 0u32.wrapping_sub(12_800)));
    }
}
