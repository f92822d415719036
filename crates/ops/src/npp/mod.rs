//! NPP's names over the same engine: existing code is ported line by line, and what was a kernel a line becomes one.
//!
//! ```
//! use tilewright_dims::dims;
//! use tilewright_expr::{In, Rect};
//! use tilewright_ops::npp::*;
//! use tilewright_ops::{Tensor, fuse};
//! // for each box: nppiResize_8u_C3R_Ctx(.., NPPI_INTER_LINEAR, ..);  nppiSwapChannels_8u_C3R_Ctx(.., order, ..);
//! // nppiConvert_8u32f_C3R_Ctx(..);  nppiMulC_32f_C3R_Ctx(.., scale, ..);  nppiSubC_32f_C3R_Ctx(.., mean, ..);
//! // nppiDivC_32f_C3R_Ctx(.., deviation, ..);  nppiCopy_32f_C3P3R_Ctx(..);
//! dims! { N }
//! let prepare = fuse(|src: Image<u8>, boxes: In<Rect, (N,)>| {
//!     let a = resize(roi_batch(src, boxes), NppiSize { width: 64, height: 128 }, NPPI_INTER_LINEAR);
//!     let b = swap_channels(a, [2, 1, 0]);
//!     let c = convert::<f32, _, _>(b);
//!     let d = mul_c(c, 1.0 / 255.0);
//!     let e = sub_c(d, [0.485, 0.456, 0.406]);
//!     let f = div_c(e, [0.229, 0.224, 0.225]);
//!     f.store::<(N, C, Y, X)>()
//! });
//! let src = Tensor::<u8, (Y, X, C)>::from_vec([240, 320, 3], vec![128; 240 * 320 * 3])?;
//! let boxes = Tensor::<Rect, (N,)>::from_vec([2], vec![Rect::new(0, 0, 60, 120), Rect::new(200, 100, 80, 90)])?;
//! assert_eq!(prepare.call(&src, &boxes)?.extents(), [2, 3, 128, 64]);
//! # Ok::<(), tilewright_ops::Error>(())
//! ```
//!
//! One function stands for NPP's family of a name, with all its types and numbers of channels: [`mul_c`] for `nppiMulC_32f_C1R`, `_C3R`,
//! `_C4R` and those in place, [`mul_c_sfs`] for `nppiMulC_8u_C1RSfs` and the like. A region of interest is [`roi`]; steps, contexts and
//! scratch buffers are not needed. NPP's batches, and those that it has not, are one more dimension: every function takes it. What is
//! stored by planes (`C3P3R`) is a layout, `.store::<(C, Y, X)>()`.
//!
//! An [`Image`] has rows, columns and channels, an [`ImageC1`] no channels. `AC4` images, whose fourth channel NPP leaves alone, are three
//! channels here: [`swap_channels`] with three takes them.
//!
//! Each function does what NPP 13.0 does on an H200 where `docs/notes/npp.md` has measured it; its documentation says what is not measured.
//! The set is what FastNPP covers, and what else stands in such chains.

mod arithmetic;
mod colour;
mod constants;
mod exchange;
mod geometry;
mod logical;
mod threshold;

pub use crate::picture::{C, Mat as Image, MatC1 as ImageC1, Picture, X, Y};
pub use arithmetic::{
    Scaled, abs, abs_diff, abs_diff_c, add, add_c, add_c_sfs, add_sfs, div, div_c, div_c_sfs, div_sfs, exp, exp_sfs,
    ln, ln_sfs, mul, mul_c, mul_c_sfs, mul_sfs, sqr, sqr_sfs, sqrt, sqrt_sfs, sub, sub_c, sub_c_sfs, sub_sfs,
};
pub use colour::{color_to_gray, color_twist, rgb_to_gray};
pub use constants::Constants;
pub use exchange::{
    Filled, NppRoundMode, NppRoundMode::*, convert, convert_rounded, convert_sfs, copy_const_border,
    copy_const_border_channels, copy_from_planes, copy_replicate_border, copy_to_planes, copy_wrap_border, dup, set,
    swap_channels,
};
pub use geometry::{NppiAxis, NppiAxis::*, NppiInterpolationMode, NppiInterpolationMode::*, NppiRect, NppiSize};
pub use geometry::{mirror, resize, resize_real, roi, roi_batch, transpose};
pub use logical::{and, and_c, l_shift_c, not, or, or_c, r_shift_c, xor, xor_c};
pub use threshold::{
    NppCmpOp, NppCmpOp::*, compare, compare_c, threshold, threshold_gt, threshold_gt_val, threshold_lt,
};
pub use threshold::{threshold_lt_val, threshold_lt_val_gt_val, threshold_val};
