//! A pattern: values that stand out among their neighbours.

use crate::{X, Y};
use tilewright::dims::{Merge, Present, Without};
use tilewright::expr::Per;
use tilewright::extend::Pattern;
use tilewright::prelude::*;

/// Values that are larger than all four neighbours; others become 0. Beyond the picture its edge goes on, so that no value on the
/// edge is one.
#[derive(Clone, Copy, Debug)]
pub struct Peaks;

impl<S> Pattern<Expr<f32, S>> for Peaks
where
    S: World
        + Without<X, Was: Present<X>, Rest: Merge<Per<X>, Out = S>>
        + Without<Y, Was: Present<Y>, Rest: Merge<Per<Y>, Out = S>>,
{
    type Output = Expr<f32, S>;
    const NAME: &'static str = "peaks";

    fn apply(self, value: Expr<f32, S>) -> Expr<f32, S> {
        let column = |step: i32| value.at_border::<X, _>(coordinate::<X>() + step, Border::Replicate);
        let row = |step: i32| value.at_border::<Y, _>(coordinate::<Y>() + step, Border::Replicate);
        let beside: Expr<f32, S> = column(-1).max(column(1));
        let around: Expr<f32, S> = beside.max(row(-1).max(row(1)));
        value.gt(around).select(value, 0.0)
    }
}
