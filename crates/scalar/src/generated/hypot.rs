//! Generated from the graph's compositions by the test `scalar_fn::elementary::forms`; not to be edited.

use super::*;

#[inline(always)]
pub(crate) fn f32(x: f32, y: f32) -> f32 {
    let v2 = x.abs();
    let v3 = y.abs();
    let v4 = Arith::maximum(v2, v3);
    let v5 = Arith::minimum(v2, v3);
    let v11 = v4 > 1.1529215e18_f32;
    let v12 = v4 < 9.094947e-13_f32;
    let v13 = if v12 { 1.2379401e27_f32 } else { 1.0_f32 };
    let v14 = if v11 { 8.077936e-28_f32 } else { v13 };
    let v15 = if v12 { 8.077936e-28_f32 } else { 1.0_f32 };
    let v16 = if v11 { 1.2379401e27_f32 } else { v15 };
    let v17 = v4 * v14;
    let v18 = v5 * v14;
    let v19 = v17 * v17;
    let v20 = -v19;
    let v21 = v17.mul_add(v17, v20);
    let v22 = v18 * v18;
    let v23 = -v22;
    let v24 = v18.mul_add(v18, v23);
    let v25 = v19 + v22;
    let v26 = v25 - v19;
    let v27 = v22 - v26;
    let v28 = v21 + v24;
    let v29 = v27 + v28;
    let v30 = v25 + v29;
    let v31 = v30 - v25;
    let v32 = v29 - v31;
    let v33 = Arith::sqrt(v30);
    let v34 = -v33;
    let v35 = v34.mul_add(v33, v30);
    let v36 = v35 + v32;
    let v38 = v33 == 0.0_f32;
    let v39 = v33 + v33;
    let v40 = if v38 { 1.0_f32 } else { v39 };
    let v41 = v36 / v40;
    let v42 = v33 + v41;
    let v43 = v42 * v16;
    let v45 = v2 == f32::from_bits(0x7f800000);
    let v46 = v3 == f32::from_bits(0x7f800000);
    let v47 = v45 | v46;
    let v48 = if v47 { f32::from_bits(0x7f800000) } else { v43 };
    v48
}

#[inline(always)]
pub(crate) fn f64(x: f64, y: f64) -> f64 {
    let v2 = x.abs();
    let v3 = y.abs();
    let v4 = Arith::maximum(v2, v3);
    let v5 = Arith::minimum(v2, v3);
    let v11 = v4 > 3.273390607896142e150_f64;
    let v12 = v4 < 3.4395525670743494e-136_f64;
    let v13 = if v12 { 4.149515568880993e180_f64 } else { 1.0_f64 };
    let v14 = if v11 { 2.409919865102884e-181_f64 } else { v13 };
    let v15 = if v12 { 2.409919865102884e-181_f64 } else { 1.0_f64 };
    let v16 = if v11 { 4.149515568880993e180_f64 } else { v15 };
    let v17 = v4 * v14;
    let v18 = v5 * v14;
    let v19 = v17 * v17;
    let v20 = -v19;
    let v21 = v17.mul_add(v17, v20);
    let v22 = v18 * v18;
    let v23 = -v22;
    let v24 = v18.mul_add(v18, v23);
    let v25 = v19 + v22;
    let v26 = v25 - v19;
    let v27 = v22 - v26;
    let v28 = v21 + v24;
    let v29 = v27 + v28;
    let v30 = v25 + v29;
    let v31 = v30 - v25;
    let v32 = v29 - v31;
    let v33 = Arith::sqrt(v30);
    let v34 = -v33;
    let v35 = v34.mul_add(v33, v30);
    let v36 = v35 + v32;
    let v38 = v33 == 0.0_f64;
    let v39 = v33 + v33;
    let v40 = if v38 { 1.0_f64 } else { v39 };
    let v41 = v36 / v40;
    let v42 = v33 + v41;
    let v43 = v42 * v16;
    let v45 = v2 == f64::from_bits(0x7ff0000000000000);
    let v46 = v3 == f64::from_bits(0x7ff0000000000000);
    let v47 = v45 | v46;
    let v48 = if v47 { f64::from_bits(0x7ff0000000000000) } else { v43 };
    v48
}
