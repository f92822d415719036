//! Generated from the graph's compositions by the test `scalar_fn::elementary::forms`; not to be edited.

use super::*;

#[inline(always)]
pub(crate) fn f32(x: f32) -> f32 {
    let v2 = x < 1.1754944e-38_f32;
    let v4 = x * 16777216.0_f32;
    let v5 = if v2 { v4 } else { x };
    let v8 = if v2 { -24.0_f32 } else { 0.0_f32 };
    let v10 = 0.70710677_f32.to_bits() as i32;
    let v12 = v5.to_bits() as i32;
    let v13 = v12.wrapping_sub(v10);
    let v14 = Arith::shr(v13, 23_i32);
    let v15 = Arith::shl(v14, 23_i32);
    let v16 = v12.wrapping_sub(v15);
    let v17 = f32::from_bits(v16 as u32);
    let v18 = CastTo::<f32>::cast_to(v14);
    let v19 = v18 + v8;
    let v21 = v17 - 1.0_f32;
    let v22 = v17 + 1.0_f32;
    let v23 = v22 - 1.0_f32;
    let v24 = v17 - v23;
    let v25 = 1.0_f32 / v22;
    let v26 = v21 * v25;
    let v27 = -v26;
    let v28 = v27.mul_add(v22, v21);
    let v29 = v27.mul_add(v24, 0.0_f32);
    let v30 = v28 + v29;
    let v31 = v30 * v25;
    let v32 = v26 * v26;
    let v35 = 0.23048238_f32.mul_add(v32, 0.28562236_f32);
    let v37 = v35.mul_add(v32, 0.40000015_f32);
    let v39 = v32.mul_add(v37, 0.6666667_f32);
    let v40 = v26 * v32;
    let v41 = v31 + v31;
    let v42 = v40.mul_add(v39, v41);
    let v43 = v26 + v26;
    let v44 = v43 + v42;
    let v45 = v44 - v43;
    let v46 = v42 - v45;
    let v49 = v44 * 1.442695_f32;
    let v50 = -v49;
    let v51 = v44.mul_add(1.442695_f32, v50);
    let v52 = v44.mul_add(1.925963e-8_f32, v51);
    let v53 = v46.mul_add(1.442695_f32, v52);
    let v54 = v19 + v49;
    let v55 = v54 - v19;
    let v56 = v49 - v55;
    let v57 = v56 + v53;
    let v58 = v54 + v57;
    let v61 = x > 0.0_f32;
    let v62 = x < f32::from_bits(0x7f800000);
    let v63 = v61 & v62;
    let v64 = x == 0.0_f32;
    let v65 = if v61 { f32::from_bits(0x7f800000) } else { f32::from_bits(0x7fc00000) };
    let v66 = -f32::from_bits(0x7f800000);
    let v67 = if v64 { v66 } else { v65 };
    let v68 = if v63 { v58 } else { v67 };
    v68
}

#[inline(always)]
pub(crate) fn f64(x: f64) -> f64 {
    let v2 = x < 2.2250738585072014e-308_f64;
    let v4 = x * 9007199254740992.0_f64;
    let v5 = if v2 { v4 } else { x };
    let v8 = if v2 { -53.0_f64 } else { 0.0_f64 };
    let v10 = 0.7071067811865476_f64.to_bits() as i64;
    let v12 = v5.to_bits() as i64;
    let v13 = v12.wrapping_sub(v10);
    let v14 = Arith::shr(v13, 52_i64);
    let v15 = Arith::shl(v14, 52_i64);
    let v16 = v12.wrapping_sub(v15);
    let v17 = f64::from_bits(v16 as u64);
    let v18 = CastTo::<f64>::cast_to(v14);
    let v19 = v18 + v8;
    let v21 = v17 - 1.0_f64;
    let v22 = v17 + 1.0_f64;
    let v23 = v22 - 1.0_f64;
    let v24 = v17 - v23;
    let v25 = 1.0_f64 / v22;
    let v26 = v21 * v25;
    let v27 = -v26;
    let v28 = v27.mul_add(v22, v21);
    let v29 = v27.mul_add(v24, 0.0_f64);
    let v30 = v28 + v29;
    let v31 = v30 * v25;
    let v32 = v26 * v26;
    let v35 = 0.1291361767218225_f64.mul_add(v32, 0.13285957435193352_f64);
    let v37 = v35.mul_add(v32, 0.15385574796462032_f64);
    let v39 = v37.mul_add(v32, 0.18181808247544543_f64);
    let v41 = v39.mul_add(v32, 0.2222222227110234_f64);
    let v43 = v41.mul_add(v32, 0.2857142857133851_f64);
    let v45 = v43.mul_add(v32, 0.40000000000000024_f64);
    let v47 = v32.mul_add(v45, 0.6666666666666666_f64);
    let v48 = v26 * v32;
    let v49 = v31 + v31;
    let v50 = v48.mul_add(v47, v49);
    let v51 = v26 + v26;
    let v52 = v51 + v50;
    let v53 = v52 - v51;
    let v54 = v50 - v53;
    let v57 = v52 * 1.4426950408889634_f64;
    let v58 = -v57;
    let v59 = v52.mul_add(1.4426950408889634_f64, v58);
    let v60 = v52.mul_add(2.0355273740931033e-17_f64, v59);
    let v61 = v54.mul_add(1.4426950408889634_f64, v60);
    let v62 = v19 + v57;
    let v63 = v62 - v19;
    let v64 = v57 - v63;
    let v65 = v64 + v61;
    let v66 = v62 + v65;
    let v69 = x > 0.0_f64;
    let v70 = x < f64::from_bits(0x7ff0000000000000);
    let v71 = v69 & v70;
    let v72 = x == 0.0_f64;
    let v73 = if v69 { f64::from_bits(0x7ff0000000000000) } else { f64::from_bits(0x7ff8000000000000) };
    let v74 = -f64::from_bits(0x7ff0000000000000);
    let v75 = if v72 { v74 } else { v73 };
    let v76 = if v71 { v66 } else { v75 };
    v76
}
