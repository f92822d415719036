//! Windows around each pixel.

use super::Channels::Any;
use super::{C, Q, R, Rows, Scalar, X, Y, rows};
use std::marker::PhantomData;
use tilewright_expr::stencils::{Mask, Outside};
use tilewright_expr::{Border, Number, Pixel, Sampled};

const KERNEL: [[f32; 2]; 3] = [[0.5, -1.0], [0.0, 2.0], [0.125, 0.75]];

pub(super) fn sampled<T: Scalar + Sampled + Pixel<Real: Scalar>>(rows: &mut impl Rows, _: PhantomData<T>) {
    rows! { rows, T:
        "correlate", Any => |g| g.a.correlate::<Y, X>(KERNEL, Border::Reflect101).store::<(Y, X, C)>();
        "convolve", Any => |g| g.a.convolve::<Y, X>(KERNEL, Border::Constant(T::default())).store::<(Y, X, C)>();
        "correlate_by", Any => |g| {
            let weights = g.places[0].to::<T::Real>();
            g.a.correlate_by::<Y, X, R, Q, _>(weights, Border::Replicate).store::<(Y, X, C)>()
        };
        "correlate_by_around", Any => |g| {
            let weights = g.places[1].to::<T::Real>();
            g.a.correlate_by_around::<Y, X, R, Q, _>(weights, (2, 0), Border::Wrap).store::<(Y, X, C)>()
        };
        "separable", Any => |g| {
            g.a.separable::<Y, X>([1.0, 2.0, 1.0], [-1.0, 0.5], Border::Reflect).store::<(C, Y, X)>()
        };
        "box_filter", Any => |g| g.a.box_filter::<Y, X>(3, 2, Border::Reflect101).store::<(Y, X, C)>();
        "box_sum", Any => |g| g.a.box_sum::<Y, X>(2, 3, Border::Wrap).store::<(Y, X, C)>();
        "gaussian_blur", Any => |g| {
            g.a.gaussian_blur::<Y, X>((3, 5), (1.0, 0.0), Border::Replicate).store::<(Y, X, C)>()
        };
        "sobel", Any => |g| g.a.sobel::<Y, X>((0, 1), 3, Border::Reflect101).store::<(Y, X, C)>();
        "scharr", Any => |g| g.a.scharr::<Y, X>((1, 0), Border::Replicate).store::<(Y, X, C)>();
        "laplacian", Any => |g| g.a.laplacian::<Y, X>(1, Border::Reflect).store::<(Y, X, C)>();
    }
}

pub(super) fn numbers<T: Scalar + Number>(rows: &mut impl Rows, _: PhantomData<T>) {
    rows! { rows, T:
        "median", Any => |g| g.a.median::<Y, X>(3, Border::Replicate).store::<(Y, X, C)>();
        "erode", Any => |g| g.a.erode::<Y, X>(&Mask::cross(3, 3), Outside::Ignored).store::<(Y, X, C)>();
        "dilate", Any => |g| g.a.dilate::<Y, X>(&Mask::rectangle(2, 3), Border::Reflect).store::<(Y, X, C)>();
        "open", Any => |g| g.a.open::<Y, X>(&Mask::rectangle(2, 2), Border::Replicate).store::<(Y, X, C)>();
        "close", Any => |g| g.a.close::<Y, X>(&Mask::rectangle(1, 3), Border::Wrap).store::<(C, Y, X)>();
        "morphological_gradient", Any => |g| {
            g.a.morphological_gradient::<Y, X>(&Mask::cross(3, 3), Outside::Ignored).store::<(Y, X, C)>()
        };
        "top_hat", Any => |g| g.a.top_hat::<Y, X>(&Mask::rectangle(1, 2), Border::Replicate).store::<(Y, X, C)>();
        "black_hat", Any => |g| g.a.black_hat::<Y, X>(&Mask::rectangle(2, 1), Border::Reflect101).store::<(Y, X, C)>();
    }
}
