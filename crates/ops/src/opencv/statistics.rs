//! What becomes of all pixels together, or of all in a row or a column.

use super::{C, Mat, MatC1, X, Y};
use tilewright_expr::{Expr, Number, Per, Sampled, constant};

/// The sum of each channel, in `f64`. Of floats, in another order than OpenCV's.
pub fn sum<T: Number>(src: Mat<T>) -> Expr<f64, Per<C>> {
    src.to::<f64>().sum::<(Y, X)>()
}

/// The mean of each channel, in `f64`. Of floats, summed in another order than OpenCV's.
pub fn mean<T: Number>(src: Mat<T>) -> Expr<f64, Per<C>> {
    src.to::<f64>().mean::<(Y, X)>()
}

/// The mean and the standard deviation of each channel, by two passes, where OpenCV's deviation comes from sums of squares.
pub fn mean_std_dev<T: Number>(src: Mat<T>) -> (Expr<f64, Per<C>>, Expr<f64, Per<C>>) {
    (mean(src), src.to::<f64>().standard_deviation::<(Y, X)>())
}

/// A smallest or a largest value, and the column and row where it stands: the first in the order of rows.
pub type Extreme<T> = (Expr<T, ()>, [Expr<i64, ()>; 2]);

/// The smallest and the largest value with their places. NaN is both.
pub fn min_max_loc<T: Number>(src: MatC1<T>) -> [Extreme<T>; 2] {
    let (least, most) = (src.minimum::<X>(), src.maximum::<X>());
    let (y_least, y_most) = (least.argmin::<Y>(), most.argmax::<Y>());
    let x_least = src.argmin::<X>().at::<Y, _>(y_least.to::<i32>());
    let x_most = src.argmax::<X>().at::<Y, _>(y_most.to::<i32>());
    [(least.minimum::<Y>(), [x_least, y_least]), (most.maximum::<Y>(), [x_most, y_most])]
}

/// The values from the smallest to the largest brought to `alpha` to `beta` (`NORM_MINMAX`), in `f64`. Where all are equal they
/// become the smaller of the two.
pub fn normalize<T: Sampled>(src: MatC1<T>, alpha: f64, beta: f64) -> MatC1<T> {
    let real = src.to::<f64>();
    let (least, most) = (real.minimum::<(Y, X)>(), real.maximum::<(Y, X)>());
    let range = most - least;
    let scale = range.gt(f64::EPSILON).select(constant((beta - alpha).abs()) / range, 0.0);
    ((real - least) * scale + alpha.min(beta)).to()
}

/// What becomes of a row or a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, missing_docs, reason = "OpenCV's names")]
pub enum ReduceType {
    REDUCE_SUM,
    REDUCE_AVG,
    REDUCE_MAX,
    REDUCE_MIN,
}

/// All rows as one, in `f64`: `reduce(src, dst, 0, how)`. OpenCV's mean is the sum times the rounded reciprocal of the number.
pub fn reduce_to_row<U: Number, T: Number>(src: MatC1<T>, how: ReduceType) -> Expr<U, Per<X>> {
    let src = src.to::<f64>();
    match how {
        ReduceType::REDUCE_SUM => src.sum::<Y>().to(),
        ReduceType::REDUCE_AVG => src.mean::<Y>().to(),
        ReduceType::REDUCE_MAX => src.maximum::<Y>().to(),
        ReduceType::REDUCE_MIN => src.minimum::<Y>().to(),
    }
}

/// All columns as one, in `f64`: `reduce(src, dst, 1, how)`.
pub fn reduce_to_column<U: Number, T: Number>(src: MatC1<T>, how: ReduceType) -> Expr<U, Per<Y>> {
    let src = src.to::<f64>();
    match how {
        ReduceType::REDUCE_SUM => src.sum::<X>().to(),
        ReduceType::REDUCE_AVG => src.mean::<X>().to(),
        ReduceType::REDUCE_MAX => src.maximum::<X>().to(),
        ReduceType::REDUCE_MIN => src.minimum::<X>().to(),
    }
}
