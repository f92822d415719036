//! Layouts whose shape is known at run time: the twin of `tilewright_dims::Layout`, with the same laws.

mod cuda;
mod declare;
mod parse;
mod picture;

pub use cuda::declare_dims;
pub use declare::{DeclarationError, Declarations, DeclaredTensor, expand};

use thiserror::Error;

/// One axis of memory: `(coordinate along dim) / fold`, modulo `size` if it wraps, in steps of `stride` elements. Division and
/// remainder round down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The dimension's name.
    pub dim: String,
    /// Units of the dimension that make one step.
    pub fold: i32,
    /// Number of steps.
    pub size: i32,
    /// Elements from one step to the next.
    pub stride: i64,
    /// Whether a coarser axis of the same dimension goes on where this one ends.
    pub wraps: bool,
}

/// What is wrong with a layout, or with coordinates in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A size, a fold or a stride out of its range.
    #[error("axis {axis}: its {what} is {got}, at least {least} is needed")]
    Number {
        /// The axis as it is written.
        axis: String,
        /// Size, fold or stride.
        what: &'static str,
        /// What it is.
        got: i64,
        /// The least that is allowed.
        least: i64,
    },
    /// Two axes count the same dimension in the same unit.
    #[error("two axes are `{axis}`: fold one of them, as in `K/8` and `K%8`")]
    Twice {
        /// Dimension and fold.
        axis: String,
    },
    /// A fold does not begin where the next finer one ends.
    #[error(
        "`{coarse}` counts {dim} in units of {fold}, but `{fine}` ends at {end}: make the finer axis {needed} steps long, \
         or the coarser fold {end}"
    )]
    Unequal {
        /// The dimension.
        dim: String,
        /// The coarser axis.
        coarse: String,
        /// The finer axis.
        fine: String,
        /// The coarser fold.
        fold: i32,
        /// Fold times size of the finer axis.
        end: i64,
        /// The size that would fit; 0 if none does.
        needed: i32,
    },
    /// An axis below another of its dimension does not wrap.
    #[error("`{axis}` is finer than another axis of its dimension: write it with `%`, as in `K%8` or `K/8%4`")]
    Unwrapped {
        /// The axis as it is written.
        axis: String,
    },
    /// More elements than offsets can count.
    #[error("the layout spans more than 2^63 - 1 elements: make a size or a stride smaller")]
    TooLarge,
    /// More elements than a kernel's offsets can count.
    #[error("the layout spans {elements} elements, kernels count {limit} at most: make a size or a stride smaller")]
    TooLargeForKernels {
        /// Elements that it spans.
        elements: i64,
        /// The most that a kernel addresses.
        limit: i64,
    },
    /// A coordinate outside the layout.
    #[error("{dim}({value}) lies outside 0..{extent}")]
    Outside {
        /// The dimension.
        dim: String,
        /// The coordinate.
        value: i64,
        /// The extent.
        extent: i64,
    },
    /// No coordinate lies along a dimension of the layout.
    #[error("the layout has the dimensions {has}, and none of {got}")]
    NoneShared {
        /// The layout's dimensions.
        has: String,
        /// Those of the coordinates.
        got: String,
    },
    /// Text that is no layout.
    #[error("column {column}: {message}")]
    Syntax {
        /// Where, counted from 1, in characters.
        column: usize,
        /// What was expected, and what is there.
        message: String,
    },
}

/// A list of axes, outermost first, that keeps the rules of a layout.
///
/// ```
/// use tilewright_headers::layout::Layout;
/// let a: Layout = "K/8: 4, I: 4, K%8".parse()?;
/// assert_eq!(a.offset(&[("I", 2), ("K", 13)])?, 53);
/// assert_eq!((a.extent("K"), a.len(), a.storage()), (Some(32), 128, 128));
/// println!("{}", a.show());
/// # Ok::<(), tilewright_headers::layout::LayoutError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    axes: Vec<Axis>,
    len: i64,
    storage: i64,
}

impl Axis {
    fn named(&self) -> String {
        match self.fold {
            1 => self.dim.clone(),
            fold => format!("{}/{fold}", self.dim),
        }
    }

    /// The first coordinate behind this axis.
    fn end(&self) -> i64 {
        i64::from(self.fold) * i64::from(self.size)
    }
}

impl std::fmt::Display for Axis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let separator = if self.wraps { "%" } else { ": " };
        write!(f, "{}{separator}{}", self.named(), self.size)
    }
}

impl Layout {
    /// Checks the axes. A stride may be 0 or make elements overlap, as long as nothing is written through the layout
    /// ([`overlaps`](Self::overlaps)).
    pub fn new(axes: Vec<Axis>) -> Result<Layout, LayoutError> {
        for a in &axes {
            let numbers = [("size", i64::from(a.size), 1), ("fold", i64::from(a.fold), 1), ("stride", a.stride, 0)];
            if let Some((what, got, least)) = numbers.into_iter().find(|(_, got, least)| got < least) {
                return Err(LayoutError::Number { axis: a.to_string(), what, got, least });
            }
        }
        let (mut len, mut storage) = (1i64, 1i64);
        for a in &axes {
            let reach = (i64::from(a.size) - 1).checked_mul(a.stride).ok_or(LayoutError::TooLarge)?;
            storage = storage.checked_add(reach).ok_or(LayoutError::TooLarge)?;
            len = len.checked_mul(i64::from(a.size)).ok_or(LayoutError::TooLarge)?;
            let kin = || axes.iter().filter(|b| b.dim == a.dim);
            if kin().filter(|b| b.fold == a.fold).count() > 1 {
                return Err(LayoutError::Twice { axis: a.named() });
            }
            if let Some(fine) = kin().filter(|b| b.fold < a.fold).max_by_key(|b| b.fold)
                && fine.end() != i64::from(a.fold)
            {
                let needed = if a.fold % fine.fold == 0 { a.fold / fine.fold } else { 0 };
                let (coarse, end) = (a.named(), fine.end());
                return Err(LayoutError::Unequal {
                    dim: a.dim.clone(),
                    coarse,
                    fine: fine.to_string(),
                    fold: a.fold,
                    end,
                    needed,
                });
            }
            if !a.wraps && kin().any(|b| b.fold > a.fold) {
                return Err(LayoutError::Unwrapped { axis: a.to_string() });
            }
        }
        Ok(Layout { axes, len, storage })
    }

    /// The layout that a type describes.
    pub fn of<L: tilewright_dims::Layout>() -> Result<Layout, LayoutError> {
        Layout::new(
            L::axes()
                .map(|a| Axis {
                    dim: a.name.to_string(),
                    fold: a.fold,
                    size: a.size,
                    stride: i64::from(a.stride),
                    wraps: a.wraps,
                })
                .collect(),
        )
    }

    /// The axes, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The dimensions, in the order in which they first appear.
    pub fn dims(&self) -> Vec<&str> {
        let mut dims: Vec<&str> = Vec::new();
        for a in &self.axes {
            if !dims.contains(&a.dim.as_str()) {
                dims.push(&a.dim);
            }
        }
        dims
    }

    /// Number of elements that have coordinates.
    #[allow(clippy::len_without_is_empty, reason = "a layout has at least one element")]
    pub fn len(&self) -> i64 {
        self.len
    }

    /// Number of elements from the first to the last one, gaps included.
    pub fn storage(&self) -> i64 {
        self.storage
    }

    /// The length along a dimension: that of its coarsest axis.
    pub fn extent(&self, dim: &str) -> Option<i64> {
        self.axes.iter().filter(|a| a.dim == dim).map(Axis::end).max()
    }

    /// Whether two coordinates share an element: by ascending stride, each axis must step beyond what those before it reach.
    pub fn overlaps(&self) -> bool {
        let mut axes: Vec<&Axis> = self.axes.iter().filter(|a| a.size > 1).collect();
        axes.sort_by_key(|a| a.stride);
        let mut reach = 0;
        axes.iter().any(|a| {
            let meets = a.stride <= reach;
            reach += a.stride * i64::from(a.size - 1);
            meets
        })
    }

    /// Where the element at these coordinates is. A dimension that is named twice counts as the sum, one that is not named as
    /// zero, and one that the layout lacks is ignored; but one of them the layout must have.
    pub fn offset(&self, coords: &[(&str, i64)]) -> Result<i64, LayoutError> {
        if !coords.iter().any(|(dim, _)| self.axes.iter().any(|a| a.dim == *dim)) {
            let mut got: Vec<&str> = coords.iter().map(|(dim, _)| *dim).collect();
            got.dedup();
            return Err(LayoutError::NoneShared { has: self.dims().join(", "), got: got.join(", ") });
        }
        Ok(self.place(coords))
    }

    /// The same, refused if a coordinate lies outside.
    pub fn checked_offset(&self, coords: &[(&str, i64)]) -> Result<i64, LayoutError> {
        for a in &self.axes {
            let (value, extent) = (sum(coords, &a.dim), self.extent(&a.dim).unwrap_or(0));
            if !(0..extent).contains(&value) {
                return Err(LayoutError::Outside { dim: a.dim.clone(), value, extent });
            }
        }
        self.offset(coords)
    }

    fn place(&self, coords: &[(&str, i64)]) -> i64 {
        let step = |a: &Axis| {
            let steps = sum(coords, &a.dim).div_euclid(i64::from(a.fold));
            a.stride.wrapping_mul(if a.wraps { steps.rem_euclid(i64::from(a.size)) } else { steps })
        };
        self.axes.iter().map(step).fold(0, i64::wrapping_add)
    }

    /// Coordinates of the element number `index`, counted along the last axis first.
    pub fn coords(&self, index: i64) -> Vec<(&str, i64)> {
        let mut coords: Vec<(&str, i64)> = self.dims().into_iter().map(|dim| (dim, 0)).collect();
        let mut rest = index;
        for a in self.axes.iter().rev() {
            let step = rest.rem_euclid(i64::from(a.size)) * i64::from(a.fold);
            rest = rest.div_euclid(i64::from(a.size));
            coords.iter_mut().filter(|(dim, _)| *dim == a.dim).for_each(|(_, value)| *value += step);
        }
        coords
    }
}

fn sum(coords: &[(&str, i64)], dim: &str) -> i64 {
    coords.iter().filter(|(d, _)| *d == dim).map(|(_, value)| value).fold(0, |a, b| a.wrapping_add(*b))
}
