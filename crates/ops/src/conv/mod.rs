//! Convolutions of pictures with groups of channels: the result, and the gradients of input, weights and bias.
//!
//! ```
//! use tilewright_dims::dims;
//! use tilewright_expr::f16;
//! use tilewright_ops::Tensor;
//! use tilewright_ops::conv::{Conv2d, conv2d, conv2d_grad_bias, conv2d_grad_input, conv2d_grad_weight};
//! dims! { N, H, W, C, K, R, S }
//! let one = f16::from_f32(1.0);
//! let x = Tensor::<f16, (N, H, W, C)>::from_vec([2, 5, 6, 16], vec![one; 2 * 5 * 6 * 16])?;
//! // Two groups of 8 channels: the weights' extent along C is the group's width.
//! let w = Tensor::<f16, (K, R, S, C)>::from_vec([16, 3, 3, 8], vec![one; 16 * 9 * 8])?;
//! let bias = Tensor::<f32, (K,)>::from_vec([16], vec![0.5; 16])?;
//! let params = Conv2d::new().padding(1).bias(&bias);
//! let y = conv2d(&x, &w, &params)?;
//! assert_eq!(y.extents(), [2, 5, 6, 16]);
//! // A corner meets four taps of eight channels.
//! assert_eq!(y.to_vec()?[0].to_f32(), 32.5);
//!
//! let dx = conv2d_grad_input(&y, &w, [5, 6], &params)?;
//! let dw: Tensor<f32, (K, R, S, C)> = conv2d_grad_weight(&x, &y, [3, 3, 8], &params)?;
//! let db = conv2d_grad_bias(&y, &params)?;
//! assert_eq!((dx.extents(), dw.extents(), db.extents()), (x.extents(), w.extents(), vec![16]));
//! # Ok::<(), tilewright_ops::Error>(())
//! ```
//!
//! What a dimension is for follows from its place: the input is over (images, rows, columns, channels), the weights over (channels of
//! the result, rows of taps, columns of taps, channels of a group), the result over (images, rows, columns, channels). Any layout in
//! memory will do: `x.permute::<(N, H, W, C)>()` is an `(N, C, H, W)` tensor as this convolution wants it, a view. What is not dense in
//! this order is copied first, by one more launch; what is dense is not.
//!
//! docs/conv.md says what exactly is computed.

mod behind;
mod bias_gradient;
mod bias_timing;
mod bringing;
mod candidates;
mod choice;
mod compute;
mod config;
mod config_error;
mod dense;
mod depthwise;
mod element;
mod ends;
mod error;
mod estimate;
mod forward;
mod fused;
mod gpu;
mod gradients;
mod host;
mod image;
mod kernel_text;
mod meeting;
mod multiprocessor;
mod named;
mod operation;
mod params;
mod problem;
mod read;
mod refined;
mod registers;
mod row_kernel;
mod row_plan;
mod row_timing;
mod scratch;
mod spare_memory;
mod taken;
mod weight_choice;
mod weight_estimate;
mod weight_gpu;
mod weight_operation;
mod weight_plan;
mod weight_timing;

pub use bias_gradient::{conv2d_grad_bias, conv2d_grad_bias_into, conv2d_grad_bias_workspace};
pub use choice::row_candidates;
pub use config::Config;
pub use config_error::ConfigError;
pub use depthwise::{DepthwiseConfig, depthwise_estimates, depthwise_kernel};
pub use element::Convolved;
pub use ends::Fusing;
pub use error::ConvError;
pub use forward::{conv2d, conv2d_into, conv2d_workspace};
pub use fused::{Beside, conv2d_with, conv2d_with_into, conv2d_with_workspace};
pub use fused::{conv2d_grad_input_with, conv2d_grad_input_with_into, conv2d_grad_input_with_workspace};
pub use gradients::{conv2d_grad_input, conv2d_grad_input_into, conv2d_grad_input_workspace};
pub use gradients::{conv2d_grad_weight, conv2d_grad_weight_into, conv2d_grad_weight_workspace};
pub use image::Image;
pub use kernel_text::KernelText;
pub use multiprocessor::Multiprocessor;
pub use operation::RowOperation;
pub use params::{Bias, Conv2d, Padding, Pair};
pub use problem::{GROUP_WIDTHS, KERNEL, LARGEST, PADDING, Pass, Precision, Problem, STEPS};
pub use read::{Operands, Read, read};
pub use row_kernel::{row_kernel, row_kernel_with};
pub use row_plan::RowConfig;
pub use taken::KernelConfig;
pub use weight_operation::WeightOperation;
pub use weight_plan::{WeightConfig, weight_kernels, weight_kernels_with};
