//! Generated from the graph's compositions by the test `scalar_fn::elementary::forms`; not to be edited.

use super::*;

#[inline(always)]
pub(crate) fn f32(x: f32) -> f32 {
    let v3 = Arith::maximum(x, -52.115337_f32);
    let v4 = Arith::minimum(v3, 39.520798_f32);
    let v8 = v4.mul_add(3.321928_f32, 12582912.0_f32);
    let v9 = v8 - 12582912.0_f32;
    let v10 = v8.to_bits() as i32;
    let v11 = v10.wrapping_sub(1262485504_i32);
    let v14 = v9.mul_add(-0.3010254_f32, v4);
    let v15 = v9.mul_add(-4.605039e-6_f32, v14);
    let v16 = v14 - v15;
    let v17 = v9.mul_add(-4.605039e-6_f32, v16);
    let v20 = v15 * 2.3025851_f32;
    let v21 = -v20;
    let v22 = v15.mul_add(2.3025851_f32, v21);
    let v23 = v15.mul_add(-3.1975436e-8_f32, v22);
    let v24 = v17.mul_add(2.3025851_f32, v23);
    let v27 = 0.00019890991_f32.mul_add(v20, 0.001393365_f32);
    let v29 = v27.mul_add(v20, 0.0083333105_f32);
    let v31 = v29.mul_add(v20, 0.041666467_f32);
    let v33 = v31.mul_add(v20, 0.16666667_f32);
    let v35 = v33.mul_add(v20, 0.5_f32);
    let v36 = v20 * v20;
    let v37 = v24.mul_add(v20, v24);
    let v38 = v36.mul_add(v35, v37);
    let v40 = 1.0_f32 + v20;
    let v41 = v40 - 1.0_f32;
    let v42 = v20 - v41;
    let v43 = v42 + v38;
    let v44 = v40 + v43;
    let v46 = Arith::shr(v11, 1_i32);
    let v47 = v11.wrapping_sub(v46);
    let v50 = v46.wrapping_add(127_i32);
    let v51 = Arith::shl(v50, 23_i32);
    let v52 = f32::from_bits(v51 as u32);
    let v53 = v47.wrapping_add(127_i32);
    let v54 = Arith::shl(v53, 23_i32);
    let v55 = f32::from_bits(v54 as u32);
    let v56 = v44 * v52;
    let v57 = v56 * v55;
    v57
}

#[inline(always)]
pub(crate) fn f64(x: f64) -> f64 {
    let v3 = Arith::maximum(x, -330.0638062464714_f64);
    let v4 = Arith::minimum(v3, 309.2176711151153_f64);
    let v8 = v4.mul_add(3.321928094887362_f64, 6755399441055744.0_f64);
    let v9 = v8 - 6755399441055744.0_f64;
    let v10 = v8.to_bits() as i64;
    let v11 = v10.wrapping_sub(4843621399236968448_i64);
    let v14 = v9.mul_add(-0.3010299955494702_f64, v4);
    let v15 = v9.mul_add(-1.1451100898021838e-10_f64, v14);
    let v16 = v14 - v15;
    let v17 = v9.mul_add(-1.1451100898021838e-10_f64, v16);
    let v20 = v15 * 2.302585092994046_f64;
    let v21 = -v20;
    let v22 = v15.mul_add(2.302585092994046_f64, v21);
    let v23 = v15.mul_add(-2.1707562233822494e-16_f64, v22);
    let v24 = v17.mul_add(2.302585092994046_f64, v23);
    let v27 = 2.0914686968086876e-9_f64.mul_add(v20, 2.5105217004720745e-8_f64);
    let v29 = v27.mul_add(v20, 2.75572736431103e-7_f64);
    let v31 = v29.mul_add(v20, 2.7557255400206422e-6_f64);
    let v33 = v31.mul_add(v20, 2.4801587325547743e-5_f64);
    let v35 = v33.mul_add(v20, 0.00019841269874820627_f64);
    let v37 = v35.mul_add(v20, 0.0013888888888883748_f64);
    let v39 = v37.mul_add(v20, 0.008333333333326136_f64);
    let v41 = v39.mul_add(v20, 0.04166666666666667_f64);
    let v43 = v41.mul_add(v20, 0.1666666666666667_f64);
    let v45 = v43.mul_add(v20, 0.5_f64);
    let v46 = v20 * v20;
    let v47 = v24.mul_add(v20, v24);
    let v48 = v46.mul_add(v45, v47);
    let v50 = 1.0_f64 + v20;
    let v51 = v50 - 1.0_f64;
    let v52 = v20 - v51;
    let v53 = v52 + v48;
    let v54 = v50 + v53;
    let v56 = Arith::shr(v11, 1_i64);
    let v57 = v11.wrapping_sub(v56);
    let v60 = v56.wrapping_add(1023_i64);
    let v61 = Arith::shl(v60, 52_i64);
    let v62 = f64::from_bits(v61 as u64);
    let v63 = v57.wrapping_add(1023_i64);
    let v64 = Arith::shl(v63, 52_i64);
    let v65 = f64::from_bits(v64 as u64);
    let v66 = v54 * v62;
    let v67 = v66 * v65;
    v67
}
