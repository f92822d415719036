//! Colour: channels, conversions between colour spaces, video formats.
//!
//! Channels are an ordinary dimension of the user's, `C` in the examples: every operation names it. All of it is composed of
//! the graph's own operations, so pictures that are converted can be cropped, resized and stored in the same kernel. An
//! operation that needs all channels of a pixel (a matrix, a hue) computes them together where `C` is held in registers.
//!
//! Values are *code values*: 0 to 255 for `u8`, 0 to 65535 for `u16`, 0 to 1 for floats, unless a [`Depth`] says otherwise.
//! Conversions compute in the element type's floating-point type ([`Pixel::Real`](crate::Pixel)); integers are rounded half to
//! even and saturate, floats are neither rounded nor limited.

mod channels;
mod depth;
mod frame;
mod hue;
mod lab;
mod matrix;
mod packed;
mod picture;
mod sampling;
mod space;
mod write;
mod yuv;

pub use channels::{Channels, per_channel, stack};
pub use depth::Depth;
pub use frame::{Frame, i420, nv12, nv21, p010, p012, p016, planar, yv12};
pub use matrix::{Matrix, Mixed};
pub use packed::{ayuv, uyvy, vyuy, y210, y212, y216, y416, yuyv, yvyu};
pub use picture::{Interleaved, Picture};
pub use sampling::{ChromaSiting, Subsampling};
pub use space::{Shade, Space};
pub use write::{ThreePlanes, YuvPicture};
pub use yuv::{Range, Standard, YuvMatrix, YuvSpec};
