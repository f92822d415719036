//! Parts of your own: operations, reads, writes and patterns from outside of this crate, which fuse with those inside.
//!
//! Most of what one adds is a function over expressions, and needs nothing from here: `fn swish<S: World>(x: Expr<f32, S>) ->
//! Expr<f32, S>`. This module is for what such a function cannot say, and for parts that should have a name: explanations show
//! a named part as one operation, whatever it is made of.
//!
//! | what | trait | in a chain |
//! |---|---|---|
//! | a scalar function, in Rust or in CUDA C++ | [`scalar_fn`] | `knee::of(x, 0.8)` |
//! | how the elements of a format are read | [`Read`] | `packed.read(Bits { .. })` |
//! | an operation over neighbours, along dimensions | [`Pattern`] | `x.apply(Peaks)` |
//! | how a format is stored | [`Write`] | `x.write(BytePlanes)` |
//!
//! All of them become nodes of the one graph, so a chain of them is one kernel, and runs on the CPU. A part takes its
//! parameters as fields: numbers are literals of the kernel, expressions are operands.
//!
//! # A scalar function
//!
//! An ordinary Rust function that also becomes device code: the same bits on both. What it may consist of stands in the
//! documentation of `tilewright-macros`. Arguments are expressions and literals, which broadcast by the names of their
//! dimensions as everywhere; a tuple of results is computed once.
//!
//! ```
//! use tilewright_dims::dims;
//! use tilewright_expr::extend::{Float, scalar_fn};
//! use tilewright_expr::{In, trace};
//! dims! { Y, X, C }
//!
//! /// Values above `limit`, bent towards it.
//! #[scalar_fn]
//! fn knee<T: Float>(x: T, limit: T) -> T {
//!     if x <= limit {
//!         return x;
//!     }
//!     limit + (x - limit).ln_1p()
//! }
//!
//! assert_eq!(knee(0.5_f32, 0.8), 0.5);
//! let t = trace(|x: In<f32, (Y, X, C)>, limit: In<f32, (C,)>| knee::of(x * 0.5, limit).store::<(C, Y, X)>());
//! # t.graph.check().unwrap();
//! ```
//!
//! A text by hand is the way out where Rust does not say it: one or more functions, the last of which is the entry. A body
//! beside it is its twin on the CPU; without one, the CPU answers with an error.
//!
//! ```
//! # use tilewright_expr::extend::scalar_fn;
//! #[scalar_fn(cuda = "
//!     unsigned spread(unsigned x) {
//!         unsigned bits = 0;
//!         for (int i = 0; i < 16; ++i) bits |= (x >> i & 1) << 2 * i;
//!         return bits;
//!     }
//!     unsigned interleave(unsigned x, unsigned y) { return spread(x) | spread(y) << 1; }
//! ")]
//! fn interleave(x: u32, y: u32) -> u32 {
//!     (0..16).fold(0, |bits, i| bits | (x >> i & 1) << (2 * i) | (y >> i & 1) << (2 * i + 1))
//! }
//! ```
//!
//! # A read
//!
//! A mask of one bit a pixel, eight in a byte. What stands at a pixel is said once; crops, resizes and warps of the mask read
//! their pixels through it.
//!
//! ```
//! use tilewright_dims::{Dims, dims};
//! use tilewright_expr::extend::{Apply, Read};
//! use tilewright_expr::{Expr, In, coordinate, trace};
//! dims! { Y, X, B }
//!
//! struct Bits {
//!     width: usize,
//! }
//!
//! impl Read<In<u8, (Y, B)>> for Bits {
//!     type Elem = bool;
//!     type Set = <(Y, X) as Dims>::Set;
//!     const NAME: &'static str = "bits";
//!     fn read(self, bytes: In<u8, (Y, B)>) -> In<bool, (Y, X)> {
//!         let x = coordinate::<X>().repeat::<X>(self.width);
//!         let byte = bytes.at::<B, _>(x >> 3);
//!         ((byte >> (x & 7).to::<u8>()) & 1).ne(0)
//!     }
//! }
//!
//! let t = trace(|bytes: In<u8, (Y, B)>| {
//!     bytes.read(Bits { width: 640 }).to::<f32>().resize::<Y, X>(100, 100).store::<(Y, X)>()
//! });
//! # t.graph.check().unwrap();
//! ```
//!
//! # A pattern
//!
//! Values that are larger than both neighbours along `X`; others become 0. `S` stands for any dimensions with `X` among them.
//!
//! ```
//! use tilewright_dims::{Merge, Present, Without, dims};
//! use tilewright_expr::extend::{Apply, Pattern};
//! use tilewright_expr::{Border, Expr, In, Per, World, coordinate, trace};
//! dims! { N, Y, X }
//!
//! struct Peaks;
//!
//! impl<S> Pattern<Expr<f32, S>> for Peaks
//! where
//!     S: World + Without<X, Was: Present<X>, Rest: Merge<Per<X>, Out = S>>,
//! {
//!     type Output = Expr<f32, S>;
//!     const NAME: &'static str = "peaks";
//!     fn apply(self, value: Expr<f32, S>) -> Expr<f32, S> {
//!         let beside = |step: i32| value.at_border::<X, _>(coordinate::<X>() + step, Border::Replicate);
//!         value.gt(beside(-1).max(beside(1))).select(value, 0.0)
//!     }
//! }
//!
//! let t = trace(|rows: In<f32, (N, Y, X)>| rows.exp().apply(Peaks).store::<(N, Y, X)>());
//! # t.graph.check().unwrap();
//! ```
//!
//! # A write
//!
//! 16-bit values as two planes of bytes, written by one kernel.
//!
//! ```
//! use tilewright_dims::dims;
//! use tilewright_expr::extend::{Apply, Write};
//! use tilewright_expr::{In, Out, trace};
//! dims! { Y, X }
//!
//! struct BytePlanes;
//!
//! impl Write<In<u16, (Y, X)>> for BytePlanes {
//!     type Outputs = (Out<u8, (Y, X)>, Out<u8, (Y, X)>);
//!     const NAME: &'static str = "byte planes";
//!     fn write(self, x: In<u16, (Y, X)>) -> Self::Outputs {
//!         ((x >> 8).to::<u8>().store(), (x & 0xff).to::<u8>().store())
//!     }
//! }
//!
//! let t = trace(|x: In<u16, (Y, X)>| (x + 1).write(BytePlanes));
//! # t.graph.check().unwrap();
//! assert_eq!(t.graph.outputs.len(), 2);
//! ```
//!
//! A part of several expressions is one of a tuple: `(indices, palette).read(Palette)`.

/// The examples of the page that describes [`scalar_fn`].
#[cfg(doctest)]
#[doc = include_str!("../../../macros/README.md")]
struct Examples;

mod arguments;
mod constant;
mod cuda;
pub mod elementary;
mod function;
mod parts;
mod results;
mod text;

#[doc(hidden)]
pub use crate::eval::Lane;
pub use arguments::{Arguments, Operands};
pub(crate) use cuda::check as check_cuda;
pub use function::{Function, ScalarFunction, call};
pub use parts::{Apply, Expressions, Pattern, Read, Write};
pub use results::Results;
pub(crate) use text::definitions;
pub use text::{Constant, Source, Text};
pub use tilewright_macros::scalar_fn_of_expr as scalar_fn;
#[doc(inline)]
pub use tilewright_scalar as scalar;
pub use tilewright_scalar::Float;
