//! Generated from the graph's compositions by the test `scalar_fn::elementary::forms`; not to be edited.

use super::*;

#[inline(always)]
pub(crate) fn f32(x: f32) -> f32 {
    let v3 = Arith::maximum(x, -120.0_f32);
    let v4 = Arith::minimum(v3, 91.0_f32);
    let v8 = v4.mul_add(1.442695_f32, 12582912.0_f32);
    let v9 = v8 - 12582912.0_f32;
    let v10 = v8.to_bits() as i32;
    let v14 = v9.mul_add(-0.6933594_f32, v4);
    let v15 = v9.mul_add(0.00021219444_f32, v14);
    let v20 = 0.00019890991_f32.mul_add(v15, 0.001393365_f32);
    let v22 = v20.mul_add(v15, 0.0083333105_f32);
    let v24 = v22.mul_add(v15, 0.041666467_f32);
    let v26 = v24.mul_add(v15, 0.16666667_f32);
    let v28 = v26.mul_add(v15, 0.5_f32);
    let v29 = v15 * v15;
    let v31 = v29.mul_add(v28, v15);
    let v32 = 1.0_f32 + v31;
    let v34 = Arith::shr(v10, 1_i32);
    let v35 = v10.wrapping_sub(v34);
    let v38 = v34.wrapping_add(127_i32);
    let v39 = Arith::shl(v38, 23_i32);
    let v40 = f32::from_bits(v39 as u32);
    let v41 = v35.wrapping_add(127_i32);
    let v42 = Arith::shl(v41, 23_i32);
    let v43 = f32::from_bits(v42 as u32);
    let v44 = v32 * v40;
    let v45 = v44 * v43;
    v45
}

#[inline(always)]
pub(crate) fn f64(x: f64) -> f64 {
    let v3 = Arith::maximum(x, -760.0_f64);
    let v4 = Arith::minimum(v3, 712.0_f64);
    let v8 = v4.mul_add(1.4426950408889634_f64, 6755399441055744.0_f64);
    let v9 = v8 - 6755399441055744.0_f64;
    let v10 = v8.to_bits() as i64;
    let v11 = v10.wrapping_sub(4843621399236968448_i64);
    let v14 = v9.mul_add(-0.6931471803691238_f64, v4);
    let v15 = v9.mul_add(-1.9082149292705877e-10_f64, v14);
    let v16 = v14 - v15;
    let v17 = v9.mul_add(-1.9082149292705877e-10_f64, v16);
    let v20 = 2.0914686968086876e-9_f64.mul_add(v15, 2.5105217004720745e-8_f64);
    let v22 = v20.mul_add(v15, 2.75572736431103e-7_f64);
    let v24 = v22.mul_add(v15, 2.7557255400206422e-6_f64);
    let v26 = v24.mul_add(v15, 2.4801587325547743e-5_f64);
    let v28 = v26.mul_add(v15, 0.00019841269874820627_f64);
    let v30 = v28.mul_add(v15, 0.0013888888888883748_f64);
    let v32 = v30.mul_add(v15, 0.008333333333326136_f64);
    let v34 = v32.mul_add(v15, 0.04166666666666667_f64);
    let v36 = v34.mul_add(v15, 0.1666666666666667_f64);
    let v38 = v36.mul_add(v15, 0.5_f64);
    let v39 = v15 * v15;
    let v40 = v17.mul_add(v15, v17);
    let v41 = v39.mul_add(v38, v40);
    let v43 = 1.0_f64 + v15;
    let v44 = v43 - 1.0_f64;
    let v45 = v15 - v44;
    let v46 = v45 + v41;
    let v47 = v43 + v46;
    let v49 = Arith::shr(v11, 1_i64);
    let v50 = v11.wrapping_sub(v49);
    let v53 = v49.wrapping_add(1023_i64);
    let v54 = Arith::shl(v53, 52_i64);
    let v55 = f64::from_bits(v54 as u64);
    let v56 = v50.wrapping_add(1023_i64);
    let v57 = Arith::shl(v56, 52_i64);
    let v58 = f64::from_bits(v57 as u64);
    let v59 = v47 * v55;
    let v60 = v59 * v58;
    v60
}
