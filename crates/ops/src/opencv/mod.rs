//! OpenCV's names over the same engine: existing code is ported line by line, and what was a kernel a line becomes one.
//!
//! ```
//! use tilewright_dims::dims;
//! use tilewright_ops::opencv::*;
//! use tilewright_ops::{Tensor, fuse};
//! // cv::cuda::resize(src, a, Size(64, 128));      cv::cuda::cvtColor(a, b, COLOR_BGR2RGB);
//! // b.convertTo(c, CV_32F, 1 / 255.0);            cv::cuda::subtract(c, mean, d);
//! // cv::cuda::divide(d, deviation, e);            cv::cuda::split(e, planes);
//! let prepare = fuse(|src: Mat<u8>| {
//!     let a = resize(src, Size(64, 128), INTER_LINEAR);
//!     let b = cvt_color(a, COLOR_BGR2RGB);
//!     let c = convert_to::<f32, _, _>(b, 1.0 / 255.0, 0.0);
//!     let d = subtract(c, [0.485, 0.456, 0.406]);
//!     let e = divide(d, [0.229, 0.224, 0.225]);
//!     e.store::<(C, Y, X)>()
//! });
//! let src = Tensor::<u8, (Y, X, C)>::from_vec([240, 320, 3], vec![128; 240 * 320 * 3])?;
//! assert_eq!(prepare.call(&src)?.extents(), [3, 128, 64]);
//! # Ok::<(), tilewright_ops::Error>(())
//! ```
//!
//! A function takes matrices that are still to be computed and gives one: nothing runs before the results are stored. A [`Mat`]
//! has rows, columns and channels, a [`MatC1`] no channels; a batch has one dimension more, and every function takes it too.
//! They are expressions like any other, so that whatever else expressions can do stands between these lines.
//!
//! Each function does what its namesake in OpenCV 4 and 5 does, bit for bit where its documentation names no difference: integers are
//! computed in floating point, rounded half to even and saturated, and each line rounds to its element type, also where two of
//! them are one kernel. Scalars are numbers for all channels, or arrays of one for each; beside integers, sums and distances round
//! them to integers first.

mod arithmetic;
mod borders;
mod channels;
mod filters;
mod geometry;
mod morphology;
mod pixels;
mod statistics;

pub use arithmetic::{Operand, absdiff, add, add_weighted, convert_to, divide, max, min, multiply, sqrt, subtract};
pub use borders::{BORDER_DEFAULT, BorderType, BorderType::*};
pub use channels::{
    ColorCode, ColorCode::*, copy_channel, cvt_color, cvt_color_from_gray, cvt_color_to_gray, merge, split,
};
pub use filters::{
    FILTER_SCHARR, blur, box_filter, filter_2d, gaussian_blur, laplacian, median_blur, scharr, sep_filter_2d, sobel,
};
pub use geometry::{Interpolation, Interpolation::*, Point, RotateCode, RotateCode::*, Size};
pub use geometry::{copy_make_border, crop, flip, remap, resize, rotate, transpose, warp_affine, warp_perspective};
pub use morphology::{MorphShape, MorphShape::*, MorphType, MorphType::*};
pub use morphology::{dilate, erode, get_structuring_element, hit_or_miss, morphology_ex};
pub use pixels::{CmpType, CmpType::*, Table, ThresholdType, ThresholdType::*};
pub use pixels::{bitwise_and, bitwise_not, bitwise_or, bitwise_xor, compare, in_range, lut, threshold};
pub use statistics::{Extreme, ReduceType, ReduceType::*};
pub use statistics::{mean, mean_std_dev, min_max_loc, normalize, reduce_to_column, reduce_to_row, sum};

pub use crate::picture::{C, Mat, MatC1, Picture, X, Y};
use tilewright_dims::dims;

dims! {
    /// Entries of a table.
    L
}
