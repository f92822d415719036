//! Generated from the graph's compositions by the test `scalar_fn::elementary::forms`; not to be edited.

use super::*;

#[inline(always)]
pub(crate) fn f32(x: f32) -> f32 {
    let v1 = x.abs();
    let v3 = v1 < 1.1754944e-38_f32;
    let v5 = v1 * 16777216.0_f32;
    let v6 = if v3 { v5 } else { v1 };
    let v7 = v6.to_bits() as i32;
    let v10 = Arith::shr(v7, 23_i32);
    let v12 = v10.wrapping_add(2_i32);
    let v13 = Arith::div(v12, 3_i32);
    let v15 = v13.wrapping_sub(43_i32);
    let v16 = v15.wrapping_mul(3_i32);
    let v17 = Arith::shl(v16, 23_i32);
    let v18 = v7.wrapping_sub(v17);
    let v19 = f32::from_bits(v18 as u32);
    let v22 = 2.6034477e-5_f32.mul_add(v19, -0.0008304424_f32);
    let v24 = v22.mul_add(v19, 0.010852833_f32);
    let v26 = v24.mul_add(v19, -0.07512466_f32);
    let v28 = v26.mul_add(v19, 0.29903963_f32);
    let v30 = v28.mul_add(v19, -0.71491814_f32);
    let v32 = v30.mul_add(v19, 1.478896_f32);
    let v37 = v32 * v32;
    let v38 = v37 * v19;
    let v39 = -v38;
    let v40 = v39.mul_add(v32, 1.0_f32);
    let v41 = v40.mul_add(0.17283951_f32, 0.22222222_f32);
    let v42 = v40.mul_add(v41, 0.33333334_f32);
    let v43 = v42 * v40;
    let v44 = v32.mul_add(v43, v32);
    let v45 = v44 * v44;
    let v46 = v19 * v45;
    let v47 = v46 * v46;
    let v48 = -v47;
    let v49 = v46.mul_add(v46, v48);
    let v50 = v47 * v46;
    let v51 = -v50;
    let v52 = v47.mul_add(v46, v51);
    let v53 = v19 - v50;
    let v54 = v49.mul_add(v46, v52);
    let v55 = v53 - v54;
    let v56 = v45 * 0.33333334_f32;
    let v57 = v55.mul_add(v56, v46);
    let v60 = if v3 { 8_i32 } else { 0_i32 };
    let v61 = v15.wrapping_sub(v60);
    let v63 = v61.wrapping_add(127_i32);
    let v64 = Arith::shl(v63, 23_i32);
    let v65 = f32::from_bits(v64 as u32);
    let v66 = v57 * v65;
    let v67 = x.to_bits() as i32;
    let v68 = v67 < 0_i32;
    let v69 = -v66;
    let v70 = if v68 { v69 } else { v66 };
    let v73 = v1 < f32::from_bits(0x7f800000);
    let v74 = v1 > 0.0_f32;
    let v75 = v74 & v73;
    let v76 = if v75 { v70 } else { x };
    v76
}

#[inline(always)]
pub(crate) fn f64(x: f64) -> f64 {
    let v1 = x.abs();
    let v3 = v1 < 2.2250738585072014e-308_f64;
    let v5 = v1 * 1.8014398509481984e16_f64;
    let v6 = if v3 { v5 } else { v1 };
    let v7 = v6.to_bits() as i64;
    let v10 = Arith::shr(v7, 52_i64);
    let v12 = v10.wrapping_add(0_i64);
    let v13 = Arith::div(v12, 3_i64);
    let v15 = v13.wrapping_sub(341_i64);
    let v16 = v15.wrapping_mul(3_i64);
    let v17 = Arith::shl(v16, 52_i64);
    let v18 = v7.wrapping_sub(v17);
    let v19 = f64::from_bits(v18 as u64);
    let v22 = 2.6034477433439637e-5_f64.mul_add(v19, -0.0008304424299961852_f64);
    let v24 = v22.mul_add(v19, 0.010852833515977007_f64);
    let v26 = v24.mul_add(v19, -0.07512465780891567_f64);
    let v28 = v26.mul_add(v19, 0.29903962657323746_f64);
    let v30 = v28.mul_add(v19, -0.7149181219383872_f64);
    let v32 = v30.mul_add(v19, 1.4788960205839452_f64);
    let v37 = v32 * v32;
    let v38 = v37 * v19;
    let v39 = -v38;
    let v40 = v39.mul_add(v32, 1.0_f64);
    let v41 = v40.mul_add(0.1728395061728395_f64, 0.2222222222222222_f64);
    let v42 = v40.mul_add(v41, 0.3333333333333333_f64);
    let v43 = v42 * v40;
    let v44 = v32.mul_add(v43, v32);
    let v45 = v44 * v44;
    let v46 = v19 * v45;
    let v47 = v46 * v46;
    let v48 = -v47;
    let v49 = v46.mul_add(v46, v48);
    let v50 = v47 * v46;
    let v51 = -v50;
    let v52 = v47.mul_add(v46, v51);
    let v53 = v19 - v50;
    let v54 = v49.mul_add(v46, v52);
    let v55 = v53 - v54;
    let v56 = v45 * 0.3333333333333333_f64;
    let v57 = v55.mul_add(v56, v46);
    let v59 = if v3 { 18_i64 } else { 0_i64 };
    let v60 = v15.wrapping_sub(v59);
    let v62 = v60.wrapping_add(1023_i64);
    let v63 = Arith::shl(v62, 52_i64);
    let v64 = f64::from_bits(v63 as u64);
    let v65 = v57 * v64;
    let v66 = x.to_bits() as i64;
    let v67 = v66 < 0_i64;
    let v68 = -v65;
    let v69 = if v67 { v68 } else { v65 };
    let v72 = v1 < f64::from_bits(0x7ff0000000000000);
    let v73 = v1 > 0.0_f64;
    let v74 = v73 & v72;
    let v75 = if v74 { v69 } else { x };
    v75
}
