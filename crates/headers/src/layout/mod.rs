//! Layouts whose shape is known at run time: the twin of `tilewright_dims::Layout`, with the same laws.

mod cuda;
mod declare;
mod error;
mod map;
mod parse;
mod part;
mod picture;

pub use cuda::declare_dims;
pub use declare::{DeclarationError, Declarations, DeclaredTensor, expand};
pub use error::LayoutError;
pub use map::Map;

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
    maps: Vec<Map>,
    len: i64,
    storage: i64,
}

impl Axis {
    pub(super) fn named(&self) -> String {
        match self.fold {
            1 => self.dim.clone(),
            fold => format!("{}/{fold}", self.dim),
        }
    }

    /// The first coordinate behind this axis.
    pub(super) fn end(&self) -> i64 {
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
        Layout::through(axes, Vec::new())
    }

    /// The same behind maps of coordinates, the first of which is applied first. What a map reads of a dimension is spoken for as if
    /// it were an axis: finer axes end where it begins, and coarser ones begin where it ends.
    pub fn through(axes: Vec<Axis>, maps: Vec<Map>) -> Result<Layout, LayoutError> {
        let read = maps.iter().flat_map(Map::reads).map(|(dim, fold, size)| Axis {
            dim: dim.to_owned(),
            fold,
            size,
            stride: 0,
            wraps: true,
        });
        let spoken_for: Vec<Axis> = axes.iter().cloned().chain(read).collect();
        for a in &spoken_for {
            let numbers = [("size", i64::from(a.size), 1), ("fold", i64::from(a.fold), 1), ("stride", a.stride, 0)];
            if let Some((what, got, least)) = numbers.into_iter().find(|(_, got, least)| got < least) {
                return Err(LayoutError::Number { axis: a.to_string(), what, got, least });
            }
        }
        maps.iter().try_for_each(|map| map.check(&axes))?;
        let (mut len, mut storage) = (1i64, 1i64);
        for a in &axes {
            let reach = (i64::from(a.size) - 1).checked_mul(a.stride).ok_or(LayoutError::TooLarge)?;
            storage = storage.checked_add(reach).ok_or(LayoutError::TooLarge)?;
            len = len.checked_mul(i64::from(a.size)).ok_or(LayoutError::TooLarge)?;
        }
        for a in &spoken_for {
            let kin = || spoken_for.iter().filter(|b| b.dim == a.dim);
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
        Ok(Layout { axes, maps, len, storage })
    }

    /// The layout that a type describes. A map that is not one of [`Map`] is refused.
    pub fn of<L: tilewright_dims::Layout>() -> Result<Layout, LayoutError> {
        let mut maps = String::new();
        let _ = L::write_maps(&mut maps);
        let axes = L::axes().map(|a| Axis {
            dim: a.name.to_string(),
            fold: a.fold,
            size: a.size,
            stride: i64::from(a.stride),
            wraps: a.wraps,
        });
        Layout::through(axes.collect(), parse::maps(&maps)?)
    }

    /// The axes, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The maps that coordinates go through before the axes, in their order.
    pub fn maps(&self) -> &[Map] {
        &self.maps
    }

    /// The dimensions of coordinates, in the order in which they first appear: those of the axes, and what maps read; without those
    /// that only a map gives.
    pub fn dims(&self) -> Vec<&str> {
        let mut dims: Vec<&str> = Vec::new();
        let read = self.maps.iter().flat_map(|map| map.reads());
        for dim in self.axes.iter().map(|a| a.dim.as_str()).chain(read.map(|(dim, ..)| dim)) {
            if !dims.contains(&dim) && !self.maps.iter().any(|map| map.hides() == Some(dim)) {
                dims.push(dim);
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

    /// The length along a dimension: that of its coarsest axis, or what a map reads of it.
    pub fn extent(&self, dim: &str) -> Option<i64> {
        if self.maps.iter().any(|map| map.hides() == Some(dim)) {
            return None;
        }
        let read = self.maps.iter().flat_map(|map| map.reads()).filter(|(other, ..)| *other == dim);
        let axes = self.axes.iter().filter(|a| a.dim == dim).map(Axis::end);
        axes.chain(read.map(|(_, fold, size)| i64::from(fold) * i64::from(size))).max()
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
        if !coords.iter().any(|(dim, _)| self.extent(dim).is_some()) {
            let mut got: Vec<&str> = coords.iter().map(|(dim, _)| *dim).collect();
            got.dedup();
            return Err(LayoutError::NoneShared { has: self.dims().join(", "), got: got.join(", ") });
        }
        Ok(self.place(coords))
    }

    /// The same, refused if a coordinate lies outside.
    pub fn checked_offset(&self, coords: &[(&str, i64)]) -> Result<i64, LayoutError> {
        for dim in self.dims() {
            let (value, extent) = (sum(coords, dim), self.extent(dim).unwrap_or(0));
            if !(0..extent).contains(&value) {
                return Err(LayoutError::Outside { dim: dim.into(), value, extent });
            }
        }
        self.offset(coords)
    }

    fn place(&self, coords: &[(&str, i64)]) -> i64 {
        let mapped = self.maps.iter().fold(coords.to_vec(), |coords, map| map.apply(coords));
        let coords = mapped.as_slice();
        let step = |a: &Axis| {
            let steps = sum(coords, &a.dim).div_euclid(i64::from(a.fold));
            a.stride.wrapping_mul(if a.wraps { steps.rem_euclid(i64::from(a.size)) } else { steps })
        };
        self.axes.iter().map(step).fold(0, i64::wrapping_add)
    }

    /// Coordinates of the element number `index`, counted along the last axis first.
    pub fn coords(&self, index: i64) -> Vec<(&str, i64)> {
        let on_axes = counted(&self.axes, index);
        let named = self.maps.iter().rev().fold(on_axes, |coords, map| map.undo(coords));
        self.dims().into_iter().map(|dim| (dim, sum(&named, dim))).collect()
    }

    /// The coordinates of every element, each once, the last axis fastest.
    pub fn points(&self) -> impl Iterator<Item = Vec<(&str, i64)>> {
        (0..self.len).map(|index| self.coords(index))
    }

    /// The share of worker number `worker` of so many: every `workers`-th element. Together they have each element once.
    pub fn partition(&self, worker: u32, workers: u32) -> impl Iterator<Item = Vec<(&str, i64)>> {
        (i64::from(worker)..self.len).step_by(workers.max(1) as usize).map(|index| self.coords(index))
    }
}

/// Element number `index` along each axis, counted along the last one first.
pub(super) fn counted(axes: &[Axis], index: i64) -> Vec<(&str, i64)> {
    let (mut coords, mut rest) = (Vec::new(), index);
    for a in axes.iter().rev() {
        coords.push((a.dim.as_str(), rest.rem_euclid(i64::from(a.size)) * i64::from(a.fold)));
        rest = rest.div_euclid(i64::from(a.size));
    }
    coords
}

/// The coordinate along `dim`, all parts together.
pub(super) fn sum(coords: &[(&str, i64)], dim: &str) -> i64 {
    coords.iter().filter(|(d, _)| *d == dim).map(|(_, value)| value).fold(0, |a, b| a.wrapping_add(*b))
}
