//! Derived dimensions: what a layout computes from coordinates before it looks at its axes.

use super::{Axis, LayoutError, counted, sum};
use std::fmt;

/// A map from coordinates to coordinates; the twin of `tilewright_dims::Derive`. What it gives adds to the coordinates that are
/// there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Map {
    /// The swizzle `tilewright_dims::Checkerboard`: `(2 * pair + colour) ^ (pair / (ranks / 2) & 1)` with `pair` the remainder of
    /// the first dimension by its size, `colour` that of the second, in units of its fold, by 2.
    Checkerboard {
        /// Cells of a row.
        ranks: i32,
        /// Which pair of cells; its fold is 1.
        pair: Axis,
        /// Which cell of the pair; its size is 2.
        colour: Axis,
        /// The dimension that it gives, of `2 * pair.size` cells.
        cell: String,
    },
    /// A compound index: a number along `dim` becomes the coordinates of the element of that number.
    Index {
        /// The dimension that is taken apart.
        dim: String,
        /// Axes that it counts, the last one fastest; their strides do not matter.
        axes: Vec<Axis>,
    },
}

impl Map {
    /// Each dimension that it reads, with its fold and its size.
    pub(super) fn reads(&self) -> Vec<(&str, i32, i32)> {
        match self {
            Map::Checkerboard { pair, colour, .. } => {
                [pair, colour].map(|axis| (axis.dim.as_str(), axis.fold, axis.size)).to_vec()
            }
            Map::Index { dim, axes } => {
                let count = axes.iter().map(|axis| axis.size).fold(1i32, i32::saturating_mul);
                vec![(dim, 1, count)]
            }
        }
    }

    /// Every dimension that it names.
    pub(super) fn dims(&self) -> Vec<&str> {
        match self {
            Map::Checkerboard { pair, colour, cell, .. } => vec![&pair.dim, &colour.dim, cell],
            Map::Index { dim, axes } => {
                std::iter::once(dim).chain(axes.iter().map(|a| &a.dim)).map(String::as_str).collect()
            }
        }
    }

    /// The dimension that nobody names from outside.
    pub(super) fn hides(&self) -> Option<&str> {
        match self {
            Map::Checkerboard { cell, .. } => Some(cell),
            Map::Index { .. } => None,
        }
    }

    /// The coordinates with those that the map gives.
    pub(super) fn apply<'a>(&'a self, mut coords: Vec<(&'a str, i64)>) -> Vec<(&'a str, i64)> {
        match self {
            Map::Checkerboard { ranks, pair, colour, cell } => {
                let p = sum(&coords, &pair.dim).rem_euclid(i64::from(pair.size));
                let c = sum(&coords, &colour.dim).div_euclid(i64::from(colour.fold)).rem_euclid(2);
                coords.retain(|(dim, _)| dim != cell);
                coords.push((cell, (2 * p + c) ^ (p / i64::from(ranks / 2) % 2)));
            }
            Map::Index { dim, axes } => {
                let number = sum(&coords, dim);
                coords.extend(counted(axes, number));
            }
        }
        coords
    }

    /// An element's coordinates with the hidden dimension written as what it comes from.
    pub(super) fn undo<'a>(&'a self, mut coords: Vec<(&'a str, i64)>) -> Vec<(&'a str, i64)> {
        if let Map::Checkerboard { ranks, pair, colour, cell } = self {
            let at = sum(&coords, cell);
            let c = (at % 2) ^ (at / i64::from(*ranks) % 2);
            coords.retain(|(dim, _)| dim != cell);
            coords.extend([(pair.dim.as_str(), at / 2), (colour.dim.as_str(), c * i64::from(colour.fold))]);
        }
        coords
    }

    /// Refuses numbers out of range, and a hidden dimension without its axis.
    pub(super) fn check(&self, axes: &[Axis]) -> Result<(), LayoutError> {
        let at_least = |axis: String, what, got: i32, least: i32| match got < least {
            true => Err(LayoutError::Number { axis, what, got: got.into(), least: least.into() }),
            false => Ok(()),
        };
        match self {
            Map::Checkerboard { ranks, pair, colour, cell } => {
                at_least(pair.to_string(), "size", pair.size, 1)?;
                at_least(colour.to_string(), "fold", colour.fold, 1)?;
                at_least(self.to_string(), "number of ranks", *ranks, 2)?;
                if ranks % 2 != 0 {
                    return Err(LayoutError::OddRanks { map: self.to_string(), ranks: *ranks });
                }
                let size = pair.size.saturating_mul(2);
                if !axes.iter().any(|a| a.dim == *cell && a.fold == 1 && a.size == size) {
                    return Err(LayoutError::NoAxis { dim: cell.clone(), size });
                }
            }
            Map::Index { axes, .. } => {
                for axis in axes {
                    at_least(axis.to_string(), "size", axis.size, 1)?;
                    at_least(axis.to_string(), "fold", axis.fold, 1)?;
                }
            }
        }
        Ok(())
    }

    /// The type in CUDA C++.
    pub(super) fn cuda(&self) -> String {
        match self {
            Map::Checkerboard { ranks, pair, colour, cell } => format!(
                "tw::Checkerboard<{}, {}, {}, {}, {cell}, {ranks}>",
                pair.dim, pair.size, colour.dim, colour.fold
            ),
            Map::Index { dim, axes } => {
                let axes: Vec<String> = axes.iter().map(Axis::cuda).collect();
                format!("tw::Index<{dim}, tw::Layout<{}>>", axes.join(", "))
            }
        }
    }
}

/// As it is written behind `via`.
impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Map::Checkerboard { ranks, pair, colour, cell } => {
                write!(f, "checkerboard({ranks}: {pair}, {colour} -> {cell})")
            }
            Map::Index { dim, axes } => {
                let axes: Vec<String> = axes.iter().map(Axis::to_string).collect();
                write!(f, "index({dim} -> [{}])", axes.join(", "))
            }
        }
    }
}
