//! Generated from the graph's compositions by the test `scalar_fn::elementary::forms`; not to be edited.

use super::*;

#[inline(always)]
pub(crate) fn f32(x: f32) -> f32 {
    let v3 = Arith::maximum(x, -173.1234_f32);
    let v4 = Arith::minimum(v3, 131.28525_f32);
    let v8 = v4.mul_add(1.0_f32, 12582912.0_f32);
    let v9 = v8 - 12582912.0_f32;
    let v10 = v8.to_bits() as i32;
    let v11 = v10.wrapping_sub(1262485504_i32);
    let v12 = v4 - v9;
    let v15 = v12 * 0.6931472_f32;
    let v16 = -v15;
    let v17 = v12.mul_add(0.6931472_f32, v16);
    let v18 = v12.mul_add(-1.9046542e-9_f32, v17);
    let v21 = 0.00019890991_f32.mul_add(v15, 0.001393365_f32);
    let v23 = v21.mul_add(v15, 0.0083333105_f32);
    let v25 = v23.mul_add(v15, 0.041666467_f32);
    let v27 = v25.mul_add(v15, 0.16666667_f32);
    let v29 = v27.mul_add(v15, 0.5_f32);
    let v30 = v15 * v15;
    let v31 = v18.mul_add(v15, v18);
    let v32 = v30.mul_add(v29, v31);
    let v33 = 1.0_f32 + v15;
    let v34 = v33 - 1.0_f32;
    let v35 = v15 - v34;
    let v36 = v35 + v32;
    let v37 = v33 + v36;
    let v39 = Arith::shr(v11, 1_i32);
    let v40 = v11.wrapping_sub(v39);
    let v43 = v39.wrapping_add(127_i32);
    let v44 = Arith::shl(v43, 23_i32);
    let v45 = f32::from_bits(v44 as u32);
    let v46 = v40.wrapping_add(127_i32);
    let v47 = Arith::shl(v46, 23_i32);
    let v48 = f32::from_bits(v47 as u32);
    let v49 = v37 * v45;
    let v50 = v49 * v48;
    v50
}

#[inline(always)]
pub(crate) fn f64(x: f64) -> f64 {
    let v3 = Arith::maximum(x, -1096.4482310756123_f64);
    let v4 = Arith::minimum(v3, 1027.198869112942_f64);
    let v8 = v4.mul_add(1.0_f64, 6755399441055744.0_f64);
    let v9 = v8 - 6755399441055744.0_f64;
    let v10 = v8.to_bits() as i64;
    let v11 = v10.wrapping_sub(4843621399236968448_i64);
    let v12 = v4 - v9;
    let v15 = v12 * 0.6931471805599453_f64;
    let v16 = -v15;
    let v17 = v12.mul_add(0.6931471805599453_f64, v16);
    let v18 = v12.mul_add(2.3190468138462996e-17_f64, v17);
    let v21 = 2.0914686968086876e-9_f64.mul_add(v15, 2.5105217004720745e-8_f64);
    let v23 = v21.mul_add(v15, 2.75572736431103e-7_f64);
    let v25 = v23.mul_add(v15, 2.7557255400206422e-6_f64);
    let v27 = v25.mul_add(v15, 2.4801587325547743e-5_f64);
    let v29 = v27.mul_add(v15, 0.00019841269874820627_f64);
    let v31 = v29.mul_add(v15, 0.0013888888888883748_f64);
    let v33 = v31.mul_add(v15, 0.008333333333326136_f64);
    let v35 = v33.mul_add(v15, 0.04166666666666667_f64);
    let v37 = v35.mul_add(v15, 0.1666666666666667_f64);
    let v39 = v37.mul_add(v15, 0.5_f64);
    let v40 = v15 * v15;
    let v41 = v18.mul_add(v15, v18);
    let v42 = v40.mul_add(v39, v41);
    let v43 = 1.0_f64 + v15;
    let v44 = v43 - 1.0_f64;
    let v45 = v15 - v44;
    let v46 = v45 + v42;
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
