//! Dimensions that become one value, and dimensions that are gone through in order.

use super::Channels::Any;
use super::{B, C, Rows, Scalar, X, Y, rows};
use std::marker::PhantomData;
use tilewright_expr::{Condition, Float, Initial, Integer, Meet, Pixel, Sampled, Summed, constant, coordinate, meet};

pub(super) fn conditions<T: Scalar + Condition>(rows: &mut impl Rows, _: PhantomData<T>) {
    rows! { rows, T:
        "all", Any => |g| g.a.all::<X>().store::<(Y, C)>();
        "any", Any => |g| g.a.any::<(Y, X)>().store::<(C,)>();
    }
}

pub(super) fn numbers<T: Scalar + Summed<Sum: Scalar> + Sampled + Pixel<Real: Scalar>>(
    rows: &mut impl Rows,
    _: PhantomData<T>,
) {
    rows! { rows, T:
        "sum", Any => |g| g.a.sum::<X>().store::<(Y, C)>();
        "sum of pixels", Any => |g| g.a.sum::<(Y, X)>().store::<(C,)>();
        "sum of channels", Any => |g| g.a.sum::<C>().store::<(Y, X)>();
        "sum of all", Any => |g| g.a.sum::<(Y, X, C)>().store::<()>();
        "sum_to", Any => |g| g.a.sum_to::<X, _>(coordinate::<Y>() + 1).store::<(Y, C)>();
        "product", Any => |g| g.a.product::<X>().store::<(Y, C)>();
        "minimum", Any => |g| g.a.minimum::<(Y, X)>().store::<(C,)>();
        "maximum", Any => |g| g.a.maximum::<Y>().store::<(X, C)>();
        "argmin", Any => |g| g.a.argmin::<X>().store::<(Y, C)>();
        "argmax", Any => |g| g.a.argmax::<C>().store::<(Y, X)>();
        "mean", Any => |g| g.a.mean::<(Y, X)>().store::<(C,)>();
        "variance", Any => |g| g.a.variance::<X>().store::<(Y, C)>();
        "standard_deviation", Any => |g| g.a.standard_deviation::<(Y, X)>().store::<(C,)>();
        "cumsum", Any => |g| g.a.cumsum::<X>().store::<(Y, X, C)>();
        "cumprod", Any => |g| g.a.cumprod::<C>().store::<(Y, X, C)>();
        "cummin", Any => |g| g.a.cummin::<Y>().store::<(Y, X, C)>();
        "cummax", Any => |g| g.a.cummax::<X>().store::<(Y, X, C)>();
    }
}

pub(super) fn integers<T: Scalar + Integer>(rows: &mut impl Rows, _: PhantomData<T>) {
    rows! { rows, T:
        "histogram", Any => |g| (g.a & constant(T::from_bits64(7))).histogram::<(Y, X), B>(6).store::<(C, B)>();
        "weighted_histogram", Any => |g| {
            let bin = g.a & constant(T::from_bits64(7));
            bin.weighted_histogram::<(Y, X), B, _, _>(6, g.b).store::<(C, B)>()
        };
    }
}

pub(super) fn floats<T: Scalar + Float>(rows: &mut impl Rows, _: PhantomData<T>) {
    rows! { rows, T:
        "norm_l1", Any => |g| g.a.norm_l1::<X>().store::<(Y, C)>();
        "norm_l2", Any => |g| g.a.norm_l2::<(Y, X)>().store::<(C,)>();
        "norm_max", Any => |g| g.a.norm_max::<C>().store::<(Y, X)>();
        "softmax", Any => |g| g.a.softmax::<X>().store::<(Y, X, C)>();
        "softmax of channels", Any => |g| g.a.softmax::<C>().store::<(Y, X, C)>();
        "layer_norm", Any => |g| g.a.layer_norm::<(X, C)>(T::default()).store::<(Y, X, C)>();
        "rms_norm", Any => |g| g.a.rms_norm::<X>(T::default()).store::<(Y, X, C)>();
    }
}

pub(super) fn scattered<T: Scalar>(rows: &mut impl Rows, _: PhantomData<T>)
where
    meet::Unique: Meet<T>,
{
    rows! { rows, T:
        "scatter", Any => |g| {
            let column = coordinate::<X>() * 2 - 1;
            g.a.scatter::<X, B, _, _>(column, 9, meet::Unique, Initial::Filled(T::default())).store::<(Y, C, B)>()
        };
    }
}
