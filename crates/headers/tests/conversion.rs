//! Floats to integers: the GPU's results, which saturate, at the edges of every range.

use tilewright_headers::host_model::Schedule;

use crate::fixture::{compile, launch, run};

const CONVERT: &str = r#"
#include "tilewright/prelude.cuh"
struct Params { const double* x; long long* y; };
extern "C" __global__ void convert(const __grid_constant__ Params p) {
  const double d = p.x[threadIdx.x];
  const float f = (float)d;
  long long* y = p.y + threadIdx.x * 12;
  y[0] = __float2int_rz(f);
  y[1] = __float2int_rn(f);
  y[2] = __float2int_rd(f);
  y[3] = __float2int_ru(f);
  y[4] = __float2uint_rn(f);
  y[5] = __float2ll_rn(f);
  y[6] = (long long)__float2ull_rn(f);
  y[7] = __double2int_rn(d);
  y[8] = __double2uint_rz(d);
  y[9] = __double2ll_rz(d);
  y[10] = (long long)__double2ull_rn(d);
  y[11] = tw::cast<unsigned char>(f);
}
"#;

const I32: [i64; 2] = [i32::MIN as i64, i32::MAX as i64];
/// An odd number above the last float with a fraction; the largest float that is an i32; 2^31.
const ODD: i64 = 8_388_609;
const MAX: i64 = 2_147_483_520;
const B31: i64 = 1 << 31;
const U32: i64 = u32::MAX as i64;
const I64: [i64; 2] = [i64::MIN, i64::MAX];
/// The largest u64, and the u64 of the highest bit alone, as the test's i64.
const U64: i64 = -1;
const TOP: i64 = i64::MIN;

/// A value; then float -> int rz, rn, rd, ru, uint rn, ll rn, ull rn; double -> int rn, uint rz, ll rz, ull rn; float
/// -> u8.
#[rustfmt::skip]
const TABLE: &[(f64, [i64; 12])] = &[
    (0.0, [0; 12]),
    (-0.0, [0; 12]),
    (0.5, [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    (1.5, [1, 2, 1, 2, 2, 2, 2, 2, 1, 1, 2, 2]),
    (2.5, [2, 2, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2]),
    (-0.75, [0, -1, -1, 0, 0, -1, 0, -1, 0, 0, 0, 0]),
    (-2.5, [-2, -2, -3, -2, 0, -2, 0, -2, 0, -2, 0, 0]),
    (255.5, [255, 256, 255, 256, 256, 256, 256, 256, 255, 255, 256, 255]),
    (8_388_609.0, [ODD, ODD, ODD, ODD, ODD, ODD, ODD, ODD, ODD, ODD, ODD, 255]),
    (2_147_483_520.0, [MAX, MAX, MAX, MAX, MAX, MAX, MAX, MAX, MAX, MAX, MAX, 255]),
    (2_147_483_648.0, [I32[1], I32[1], I32[1], I32[1], B31, B31, B31, I32[1], B31, B31, B31, 255]),
    (-2_147_483_648.0, [I32[0], I32[0], I32[0], I32[0], 0, -(1 << 31), 0, I32[0], 0, -(1 << 31), 0, 0]),
    (4_294_967_296.0, [I32[1], I32[1], I32[1], I32[1], U32, 1 << 32, 1 << 32, I32[1], U32, 1 << 32, 1 << 32, 255]),
    (9_223_372_036_854_775_808.0, [I32[1], I32[1], I32[1], I32[1], U32, I64[1], TOP, I32[1], U32, I64[1], TOP, 255]),
    (-9_223_372_036_854_775_808.0, [I32[0], I32[0], I32[0], I32[0], 0, I64[0], 0, I32[0], 0, I64[0], 0, 0]),
    (18_446_744_073_709_551_616.0, [I32[1], I32[1], I32[1], I32[1], U32, I64[1], U64, I32[1], U32, I64[1], U64, 255]),
    (-1e30, [I32[0], I32[0], I32[0], I32[0], 0, I64[0], 0, I32[0], 0, I64[0], 0, 0]),
    (f64::INFINITY, [I32[1], I32[1], I32[1], I32[1], U32, I64[1], U64, I32[1], U32, I64[1], U64, 255]),
    (f64::NEG_INFINITY, [I32[0], I32[0], I32[0], I32[0], 0, I64[0], 0, I32[0], 0, I64[0], 0, 0]),
    (f64::NAN, [0, 0, 0, 0, 0, TOP, TOP, I32[0], 1 << 31, TOP, TOP, 0]),
];

#[derive(Clone, Copy)]
#[repr(C)]
struct Params {
    x: *const f64,
    y: *mut i64,
}

#[test]
fn floats_to_integers_saturate() {
    let Some(model) = compile("conversion", &[CONVERT]) else { return };
    let x: Vec<f64> = TABLE.iter().map(|row| row.0).collect();
    let mut y = vec![12_345i64; 12 * x.len()];
    let params = Params { x: x.as_ptr(), y: y.as_mut_ptr() };
    run(&model, "convert", launch(1, x.len() as u32, 0, Schedule::Forward), params).unwrap();
    for (got, (value, truth)) in y.chunks(12).zip(TABLE) {
        assert_eq!(got, truth, "of {value}");
    }
}
