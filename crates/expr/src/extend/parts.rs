//! Reads, patterns and writes of a crate's own, and the methods that put them into a chain.

use crate::typed::{Expr, Outputs, Traceable, name};
use tilewright_dims::Set;

/// Expressions, or what is stored of them: one, or a tuple of two to four.
pub trait Expressions: Traceable {}
impl<E: Traceable> Expressions for E {}

/// How the elements of a format are read: what stands at a coordinate, out of the operand or the operands `E` that hold it.
///
/// The result is an expression, so that it is cropped, resized and warped as any other: only what is asked for is read.
pub trait Read<E> {
    /// The element type of what is read.
    type Elem;
    /// Its dimensions.
    type Set: Set;
    /// What explanations call it.
    const NAME: &'static str;
    /// The elements at every coordinate.
    fn read(self, source: E) -> Expr<Self::Elem, Self::Set>;
}

/// What is made of the expressions `E`: an operation over neighbours, along dimensions, of several values.
pub trait Pattern<E> {
    /// One expression, or a tuple of them.
    type Output: Expressions;
    /// What explanations call it.
    const NAME: &'static str;
    /// The pattern of `source`.
    fn apply(self, source: E) -> Self::Output;
}

/// How the expressions `E` are stored in a format: in one result, or in several that one kernel writes.
pub trait Write<E> {
    /// One result, or a tuple of them.
    type Outputs: Outputs + Expressions;
    /// What explanations call it.
    const NAME: &'static str;
    /// What is stored.
    fn write(self, source: E) -> Self::Outputs;
}

/// Parts of a crate's own in a chain, on an expression or a tuple of them.
pub trait Apply: Expressions + Sized {
    /// The elements that this holds, read as `format` says.
    fn read<R: Read<Self>>(self, format: R) -> Expr<R::Elem, R::Set> {
        let of = self.nodes();
        let made = format.read(self);
        name(R::NAME, &of, &made);
        made
    }

    /// What `pattern` makes of this.
    fn apply<P: Pattern<Self>>(self, pattern: P) -> P::Output {
        let of = self.nodes();
        let made = pattern.apply(self);
        name(P::NAME, &of, &made);
        made
    }

    /// Ends the expression: stored as `format` says.
    fn write<W: Write<Self>>(self, format: W) -> W::Outputs {
        let of = self.nodes();
        let made = format.write(self);
        name(W::NAME, &of, &made);
        made
    }
}
impl<E: Expressions> Apply for E {}
