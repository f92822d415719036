//! The bounds that fail when an expression is wrong, each with a message that names the dimension and the next step.

use crate::dtype::Rect;
use crate::matrix::{Affine, Perspective};
use tilewright_dims::{Absent, NoDim};

/// Holds when nothing is left over: every dimension of the expression is in the stored layout.
#[diagnostic::on_unimplemented(
    message = "the stored layout lacks dimension `{Self}`",
    label = "the expression varies along `{Self}`",
    note = "add `{Self}` to the layout, or remove it from the expression"
)]
pub trait AllStored {}
impl AllStored for NoDim {}

/// Holds when nothing is left over: the expression has every dimension of the stored layout.
#[diagnostic::on_unimplemented(
    message = "the stored layout has dimension `{Self}`, which the expression lacks",
    label = "nothing varies along `{Self}`",
    note = "to store the same values along it, say so: `.repeat::<{Self}>(n)`"
)]
pub trait NoExtra {}
impl NoExtra for NoDim {}

/// Holds when nothing is left over: the expression has every dimension that is to be reduced.
#[diagnostic::on_unimplemented(
    message = "there is no dimension `{Self}` to reduce",
    label = "the expression does not vary along `{Self}`",
    note = "reduce a dimension that is there; of equal values along `{Self}` say how many: `.repeat::<{Self}>(n)`"
)]
pub trait Reducible {}
impl Reducible for NoDim {}

/// Holds when nothing is left over: the expression has the dimension that is to be scanned.
#[diagnostic::on_unimplemented(
    message = "there is no dimension `{Self}` to scan",
    label = "the expression does not vary along `{Self}`",
    note = "scan a dimension that is there; of equal values along `{Self}` say how many: `.repeat::<{Self}>(n)`"
)]
pub trait Scannable {}
impl Scannable for NoDim {}

/// Holds when nothing is left over: values or coordinates have every dimension along which they are scattered.
#[diagnostic::on_unimplemented(
    message = "there is no dimension `{Self}` to scatter along",
    label = "neither values nor coordinates vary along `{Self}`",
    note = "name a dimension that is there; of equal values along `{Self}` say how many: `.repeat::<{Self}>(n)`"
)]
pub trait Scatterable {}
impl Scatterable for NoDim {}

/// Holds when the expression lacks the dimension `D`, which its result gains.
#[diagnostic::on_unimplemented(
    message = "the expression has dimension `{D}` already",
    label = "the result is to gain `{D}`",
    note = "name another dimension, or call the one that is there otherwise: `.rename::<{D}, ..>()`"
)]
pub trait Fresh<D> {}
impl<D> Fresh<D> for Absent {}

/// Holds between equal element types: `Self` on the right of the operator, `L` on its left.
#[diagnostic::on_unimplemented(
    message = "cannot combine elements of `{L}` and `{Self}`",
    label = "the element types differ",
    note = "convert one side: `.to::<{L}>()`"
)]
pub trait SameElement<L> {}
impl<T> SameElement<T> for T {}

/// Holds for `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition",
    label = "expected an expression of `bool`",
    note = "compare first: `.ne(0 as {Self})`, `.lt(..)`"
)]
pub trait Condition {}
impl Condition for bool {}

/// Holds for [`Rect`].
#[diagnostic::on_unimplemented(
    message = "elements of `{Self}` are not boxes",
    label = "expected an expression of `Rect`",
    note = "a crop needs boxes: an operand such as `In<Rect, (N,)>`"
)]
pub trait BoxElement {}
impl BoxElement for Rect {}

/// Holds for [`Affine`].
#[diagnostic::on_unimplemented(
    message = "elements of `{Self}` are not affine maps",
    label = "expected an expression of `Affine`",
    note = "a warp needs its maps, from the result to the picture: an operand such as `In<Affine, (N,)>`"
)]
pub trait AffineElement {}
impl AffineElement for Affine {}

/// Holds for [`Perspective`].
#[diagnostic::on_unimplemented(
    message = "elements of `{Self}` are not perspective maps",
    label = "expected an expression of `Perspective`",
    note = "a warp needs its maps, from the result to the picture: an operand such as `In<Perspective, (N,)>`"
)]
pub trait PerspectiveElement {}
impl PerspectiveElement for Perspective {}
