//! Five short lessons: what typed dimensions are for, each with what goes wrong without them.
//!
//! As programs that print pictures, each with a CUDA C++ kernel beside it that gives the same numbers, they lie in
//! `examples/`; a sixth program there multiplies matrices tile by tile without index arithmetic.
//!
//! # 1. Type safety and commutativity
//!
//! A coordinate names its dimension. So the order of a sum does not matter, and a place is the same whatever order the axes
//! have in memory:
//!
//! ```
//! use tilewright_dims::{dims, tensor};
//! dims! { Y, X }
//! tensor!(Rows: u8, [Y: 3, X: 5]);
//! tensor!(Columns: u8, [X: 5, Y: 3]);
//!
//! let at = [Y(2) + X(3), X(3) + Y(2)];        // one type
//! assert_eq!(at[0], at[1]);
//! assert_eq!(Rows::offset(at[0]), 2 * 5 + 3);
//! assert_eq!(Columns::offset(at[1]), 3 * 3 + 2);
//! ```
//!
//! Two bare integers in the wrong order are a wrong picture. Two dimensions in the wrong place do not compile:
//!
//! ```compile_fail,E0277
//! # tilewright_dims::dims! { Y, X }
//! let (row, width) = (Y(2), X(5));
//! if row < width {}                           // `X` cannot be compared with dimension `Y`
//! ```
//!
//! ```compile_fail,E0277
//! # tilewright_dims::dims! { Y, X }
//! # tilewright_dims::tensor!(Rows: u8, [Y: 3, X: 5]);
//! Rows::offset(Y(2) + 3);                     // a bare integer names no dimension
//! ```
//!
//! # 2. Cursors
//!
//! A cursor is a place that collects coordinates, in any order and as often as one likes. It computes an offset only when
//! it is read, from the sum of them all, so that neighbours and steps cross from block to block by themselves:
//!
//! ```
//! # use tilewright_dims::{dims, tensor};
//! # dims! { Y, X }
//! tensor!(Picture: i32, [X/4: 3, Y: 2, X%4]);     // blocks of four columns
//! let numbers: Vec<i32> = (0..24).collect();
//! let mut here = Picture::view(&numbers)?.at(Y(1) + X(2));
//! assert_eq!((here.offset(), here.at(X(1)).offset(), here.at(X(2)).offset()), (6, 7, 12));
//! here.step(X(1));
//! here.step(X(1));
//! assert_eq!((*here, here.in_range(), here.at(X(8)).get()), (12, true, None));
//! assert_eq!(here.at(X(8)).value_or(-1), -1);     // a mask
//! # Ok::<(), tilewright_dims::TooShort>(())
//! ```
//!
//! A step keeps the type, and so takes no new dimension:
//!
//! ```compile_fail,E0277
//! # tilewright_dims::dims! { Y, X }
//! # tilewright_dims::tensor!(Picture: i32, [X/4: 3, Y: 2, X%4]);
//! let mut here = Picture::view(&[0; 24]).unwrap().at(X(2));
//! here.step(Y(1));                                // write `here.at(Y(1))`
//! ```
//!
//! # 3. Folding and carry
//!
//! `K / 8` counts `K` in blocks of eight. It adds to `K` exactly, and rounds down also below zero:
//!
//! ```
//! # use tilewright_dims::{dims, folds, tensor};
//! dims! { I, K }
//! folds! { K8 = K / 8 }
//! assert_eq!(K(7) + K(6), K8(1) + K(5));
//! assert_eq!((K(13).fold::<8>(), K(13) % 8), (K8(1), K(5)));
//! assert_eq!((K(-1).fold::<8>(), K(-1) % 8), (K8(-1), K(7)));
//! ```
//!
//! In a layout of blocks, adding coordinates and adding offsets are two things. The second forgets to carry:
//!
//! ```
//! # use tilewright_dims::{dims, folds, tensor};
//! # dims! { I, K }
//! # folds! { K8 = K / 8 }
//! tensor!(A: f32, [K/8: 3, I: 2, K%8]);
//! assert_eq!(A::offset(K(7) + K(6)), 16 + 5);                 // block 1, column 5
//! assert_eq!(A::offset(K(7)) + A::offset(K(6)), 8 + 5);       // another row!
//! ```
//!
//! Plain subscripts give references, which cannot carry; so each dimension is subscripted once:
//!
//! ```compile_fail,E0277
//! # tilewright_dims::dims! { I, K }
//! # tilewright_dims::tensor!(A: f32, [K/8: 3, I: 2, K%8]);
//! let a = A::view(&[0.0; 48]).unwrap();
//! let _ = a[K(7)][K(6)][I(0)];                    // write `a[K(7) + K(6)][I(0)]`
//! ```
//!
//! And folds that leave a gap are no layout:
//!
//! ```compile_fail,E0080
//! # tilewright_dims::dims! { I, K }
//! tilewright_dims::tensor!(A: f32, [K/8: 3, I: 2, K%4]);      // where `K%4` ends, `K/4` has to begin
//! ```
//!
//! # 4. Projection
//!
//! A tensor takes from a coordinate the dimensions that it has, and ignores the others. That is all that broadcasting is;
//! and to add up into what lacks a dimension is to reduce over it:
//!
//! ```
//! # use tilewright_dims::{dims, tensor};
//! dims! { N, C, X }
//! tensor!(Samples: i32, [N: 2, C: 3, X: 4]);
//! tensor!(Gain: i32, [N: 2]);
//! tensor!(Totals: i32, [N: 2, C: 3]);
//! let (numbers, mut memory) = ((0..24).collect::<Vec<_>>(), [0; 6]);
//! let (samples, gain) = (Samples::view(&numbers)?, Gain::view(&[1, 10])?);
//! let mut totals = Totals::view_mut(&mut memory)?;
//! for at in Samples::coords() {
//!     *totals.at(at) += *samples.at(at) * *gain.at(at);
//! }
//! assert_eq!(memory, [6, 22, 38, 540, 700, 860]);
//! # Ok::<(), tilewright_dims::TooShort>(())
//! ```
//!
//! What meets none of a tensor's dimensions is a mistake:
//!
//! ```compile_fail,E0277
//! # use tilewright_dims::{dims, tensor};
//! # dims! { N, C, X }
//! # tensor!(Gain: i32, [N: 2]);
//! Gain::offset(C(2) + X(3));                      // has none of the dimensions of `Gain`
//! ```
//!
//! # 5. Compound index
//!
//! A thread has a number, a tile has coordinates. A layout takes the one apart into the other: `coords_of` once,
//! `partition` for a worker's share of a whole tile, and `via index(..)` inside a tensor, so that the lane is a coordinate
//! that adds up with the others:
//!
//! ```
//! # use tilewright_dims::{dims, tensor};
//! dims! { I, K, LANE }
//! tensor!(Tile: f32, [I: 8, K: 8]);
//! assert_eq!(Tile::coords_of(13), I(1) + K(5));
//! assert_eq!(Tile::partition(13, 32).map(Tile::offset).collect::<Vec<_>>(), [13, 45]);
//!
//! // Four lanes share a row, and each has two neighbours of it.
//! tensor!(Fragment: f32, [I: 8, K: 8] via index(LANE -> [I: 8, K/2: 4]));
//! assert_eq!(Fragment::offset(LANE(13) + K(1)), Tile::offset(I(3) + K(2) + K(1)));
//! ```
//!
//! A lane is no row. Where a layout does not know it, it says so:
//!
//! ```compile_fail,E0277
//! # use tilewright_dims::{dims, tensor};
//! # dims! { I, K, LANE }
//! # tensor!(Tile: f32, [I: 8, K: 8]);
//! Tile::offset(LANE(13));
//! ```
