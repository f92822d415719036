//! Generated from the graph's compositions by the test `scalar_fn::elementary::forms`; not to be edited.

use super::*;

#[inline(always)]
pub(crate) fn f32(x: f32) -> f32 {
    let v3 = Arith::maximum(x, -40.0_f32);
    let v4 = Arith::minimum(v3, 91.0_f32);
    let v8 = v4.mul_add(1.442695_f32, 12582912.0_f32);
    let v9 = v8 - 12582912.0_f32;
    let v10 = v8.to_bits() as i32;
    let v11 = v10.wrapping_sub(1262485504_i32);
    let v14 = v9.mul_add(-0.6933594_f32, v4);
    let v15 = v9.mul_add(0.00021219444_f32, v14);
    let v16 = v14 - v15;
    let v17 = v9.mul_add(0.00021219444_f32, v16);
    let v20 = 0.00019890991_f32.mul_add(v15, 0.001393365_f32);
    let v22 = v20.mul_add(v15, 0.0083333105_f32);
    let v24 = v22.mul_add(v15, 0.041666467_f32);
    let v26 = v24.mul_add(v15, 0.16666667_f32);
    let v28 = v26.mul_add(v15, 0.5_f32);
    let v29 = v15 * v15;
    let v30 = v17.mul_add(v15, v17);
    let v31 = v29.mul_add(v28, v30);
    let v34 = Arith::minimum(v11, 100_i32);
    let v35 = 0_i32.wrapping_sub(v34);
    let v39 = v35.wrapping_add(127_i32);
    let v40 = Arith::shl(v39, 23_i32);
    let v41 = f32::from_bits(v40 as u32);
    let v42 = -v41;
    let v43 = 1.0_f32 + v42;
    let v44 = v43 - 1.0_f32;
    let v45 = v43 - v44;
    let v46 = 1.0_f32 - v45;
    let v47 = v42 - v44;
    let v48 = v46 + v47;
    let v49 = v43 + v15;
    let v50 = v49 - v43;
    let v51 = v49 - v50;
    let v52 = v43 - v51;
    let v53 = v15 - v50;
    let v54 = v52 + v53;
    let v55 = v48 + v31;
    let v56 = v54 + v55;
    let v57 = v49 + v56;
    let v59 = Arith::shr(v11, 1_i32);
    let v60 = v11.wrapping_sub(v59);
    let v61 = v59.wrapping_add(127_i32);
    let v62 = Arith::shl(v61, 23_i32);
    let v63 = f32::from_bits(v62 as u32);
    let v64 = v60.wrapping_add(127_i32);
    let v65 = Arith::shl(v64, 23_i32);
    let v66 = f32::from_bits(v65 as u32);
    let v67 = v57 * v63;
    let v68 = v67 * v66;
    let v70 = x == 0.0_f32;
    let v71 = if v70 { x } else { v68 };
    v71
}

#[inline(always)]
pub(crate) fn f64(x: f64) -> f64 {
    let v3 = Arith::maximum(x, -40.0_f64);
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
    let v44 = Arith::minimum(v11, 100_i64);
    let v45 = 0_i64.wrapping_sub(v44);
    let v49 = v45.wrapping_add(1023_i64);
    let v50 = Arith::shl(v49, 52_i64);
    let v51 = f64::from_bits(v50 as u64);
    let v52 = -v51;
    let v53 = 1.0_f64 + v52;
    let v54 = v53 - 1.0_f64;
    let v55 = v53 - v54;
    let v56 = 1.0_f64 - v55;
    let v57 = v52 - v54;
    let v58 = v56 + v57;
    let v59 = v53 + v15;
    let v60 = v59 - v53;
    let v61 = v59 - v60;
    let v62 = v53 - v61;
    let v63 = v15 - v60;
    let v64 = v62 + v63;
    let v65 = v58 + v41;
    let v66 = v64 + v65;
    let v67 = v59 + v66;
    let v69 = Arith::shr(v11, 1_i64);
    let v70 = v11.wrapping_sub(v69);
    let v71 = v69.wrapping_add(1023_i64);
    let v72 = Arith::shl(v71, 52_i64);
    let v73 = f64::from_bits(v72 as u64);
    let v74 = v70.wrapping_add(1023_i64);
    let v75 = Arith::shl(v74, 52_i64);
    let v76 = f64::from_bits(v75 as u64);
    let v77 = v67 * v73;
    let v78 = v77 * v76;
    let v80 = x == 0.0_f64;
    let v81 = if v80 { x } else { v78 };
    v81
}
