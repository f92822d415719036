//! Results in bands: which part of each operand some neighbouring indices along a dimension are computed from.
//!
//! Results that are larger than memory are computed band by band. A *band* is a range of indices of one dimension; a *window* is a band
//! and a margin around it, as far as shifted reads reach, but not beyond the dimension's ends. The same expression, evaluated on windows
//! of the operands as if there were nothing else, gives a window of the results, of which the band has the right values: at the ends of
//! the whole a window ends too, so borders stand where they belong, and what they make of other ends lies in the margin. (That no border
//! reads farther than its margin is the law of [`crate::stage`].) Where a border repeats what is read, windows go on beyond the ends of the
//! dimension instead, with the indices of the other end. What is not read around the point is brought whole.
//!
//! What is as long as something else along the dimension, or read elsewhere along it, as a slice, a pad and what runs backwards, is read where the
//! [`Image`] of the band is ([`Graph::cut_images`]), and so is what one border repeats and another one does not.
//!
//! A coordinate that is computed with counts from the begin of the window. So it is one of the whole only where the first index is added
//! to it: [`Cut::graph`] has an operand for that.
//!
//! Results that lack a dimension of their operands, or need all along it, are [`Folded`]: bands are reduced, and the rest is an expression of that.
//! Those of scans need what stands before a band, which [`Passes`] before give. Values that go to computed places may go anywhere: results are whole then, and
//! bands are scattered into them one after the other ([`Cut::scattered`]).
//!
//! An operand that is read around the point and elsewhere too is there once more for that, whole ([`Graph::cut_twice`]). Results that have no dimension in common that can be cut are computed apart
//! ([`Graph::only_results`]), and so are the parts of one ([`Graph::only_part`]). What cannot be cut at all may be in two, each a result and an expression of its
//! own ([`Graph::split`]).

mod apart;
mod folded;
mod image;
mod moved;
mod offset;
mod parts;
mod reach;
mod scanned;
mod scattered;
mod split;
mod walk;

pub use folded::Folded;
pub use image::Image;
pub use scanned::{Passes, Totals};
pub use split::Split;

use crate::graph::{DimId, Graph};
use crate::stage::Margin;

/// What a band of the results reads of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All of it: it lacks the dimension, or is read anywhere along it.
    Whole,
    /// The band and a margin.
    Band(Margin),
    /// The image of the band, which is as long as the band and the margin wherever that stands.
    Image(Image),
    /// What the values of a scan before the band come to: an operand of its own.
    Before,
}

/// How results are computed in bands.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The dimension.
    pub dim: DimId,
    /// How long it is, where operands are not as long as the results.
    pub length: Option<i64>,
    /// What a band reads of each operand.
    pub shares: Vec<Share>,
    /// How far windows reach: as far as the farthest read of any operand.
    pub margin: Margin,
    /// Whether windows that are not the whole go on beyond the ends of the dimension, with the indices of its other end.
    pub wraps: bool,
    /// Whether results are whole, and values of every band go into what the bands before it left: behind the first band the expression is that of results that
    /// are [`held`](Graph::held).
    pub scattered: bool,
    /// What is evaluated on windows, where that is not the expression itself: behind its operands it has the [`numbers`](Self::numbers).
    pub graph: Option<Graph>,
    /// What the expression is told of a window.
    pub numbers: Numbers,
}

/// What an expression is told of a window, each an operand of `i32` without dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Nothing.
    None,
    /// The index of the whole that it begins at, below 0 where it does before the first one, and the length of the whole.
    Window,
    /// Where the band begins and ends, counted from the begin of the window.
    Within,
    /// Those of [`Numbers::Window`], and then those of [`Numbers::Within`].
    Band,
    /// Where the band begins; and for each operand that is an [`Image`] where its window begins and how long all of it is. Before them stands an operand of
    /// `u8` over the dimension that is as long as the band, which nobody reads.
    Places {
        /// How many are.
        images: usize,
    },
}

impl Numbers {
    /// How many they are.
    pub fn count(self) -> usize {
        match self {
            Numbers::None => 0,
            Numbers::Window | Numbers::Within => 2,
            Numbers::Band => 4,
            Numbers::Places { images } => 1 + 2 * images,
        }
    }
}

/// Why results are not computed in bands along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncut {
    /// A result lacks it.
    Lacking {
        /// The result's number.
        result: usize,
    },
    /// Its values go to computed places, wherever they stand along it, and those of other results do not: each is computed apart
    /// ([`Graph::only_results`]).
    Scattered {
        /// The result's number.
        result: usize,
    },
    /// The parts of a result stand one after the other along it: its indices are not those of the operands. Each is a result of its own
    /// ([`Graph::only_part`]).
    Joined {
        /// The result's number.
        result: usize,
    },
    /// It is not as long as in an operand that is read around the point: it is sliced, padded or repeated, and a window of one is no window of the other.
    /// [`Graph::cut_images`] may do, unless what is sliced is scanned or reduced along it, or read at computed places.
    Length,
    /// An operand that is as long as the results is read elsewhere than around the point: it has to be there once more ([`Graph::cut_twice`]).
    Both {
        /// The operand's number.
        operand: usize,
    },
    /// A scan goes along it: [`Graph::cut_scans`] may do, unless a border repeats what is scanned.
    Scanned,
    /// A scan of products of floats goes along it: what bands come to may overflow where the whole does not.
    Products,
    /// One border repeats what is read along it, and another one does not: windows at an end would have to go on, and to end there. [`Graph::cut_images`] may
    /// do, unless what is repeated is scanned, or is not all of an operand.
    Wrapped,
}

impl std::fmt::Display for Uncut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Uncut::Lacking { result } => write!(f, "result {result} lacks it, and is made of no reductions of bands"),
            Uncut::Scattered { result } => {
                write!(f, "values along it go to computed places of result {result}, and not of others; store it in a call of its own")
            }
            Uncut::Joined { result } => {
                write!(
                    f,
                    "the parts of result {result} stand one after the other along it; store it in a call of its own, with this dimension outermost"
                )
            }
            Uncut::Length => {
                f.write_str("what is scanned along it, or read at computed places, is sliced, padded or repeated; compute that before, in a call of its own")
            }
            Uncut::Both { operand } => write!(
                f,
                "operand {operand} is read elsewhere along it than around the point, as by a sum or backwards; for that it has to be there whole"
            ),
            Uncut::Scanned => f.write_str(
                "a scan goes along it, which a border repeats beside its ends; compute the scan before, in a call of its own",
            ),
            Uncut::Products => f.write_str(
                "a scan of products of floats goes along it, whose bands may overflow where the whole does not; sum logarithms instead",
            ),
            Uncut::Wrapped => f.write_str(
                "one border repeats what is read along it and another one does not, and what is repeated is scanned or sliced, or this is not the outermost \
                 dimension of its operand; take the same border, or compute the inner stencil before, in a call of its own",
            ),
        }
    }
}

impl Graph {
    /// How results are computed in bands along `dim`.
    pub fn cut(&self, dim: DimId) -> Result<Cut, Uncut> {
        let found = walk::shares(self, dim, |_| 0)?;
        found.once()?;
        if !found.scans.is_empty() {
            return Err(Uncut::Scanned);
        }
        let is_told = found.counted || found.scatters_beside();
        let graph = is_told.then(|| offset::with_first_index(self, dim, &found).0);
        Ok(found.into_cut(dim, graph))
    }
}
