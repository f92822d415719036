//! What bands of operands and results are: tiles where these are stored, bytes and axes in memory.

use super::evaluation::{Evaluation, Fed, Made, On};
use super::plan::ExpressionPlan;
use super::shape::Shape;
use super::window::{Band, Window};
use crate::Error;
use crate::store::Tile;
use crate::stream::direct::Direct;
use crate::stream::hints;
use crate::stream::staging::Load;
use std::ops::Range;
use tilewright_expr::bind::Axis;
use tilewright_expr::cut::{Cut, Image, Numbers, Share};

/// What slots are multiples of.
const GRANULE: usize = 4096;

impl Evaluation<'_> {
    /// The operands that are brought in bands, with their numbers.
    pub(super) fn banded(&self, on: On) -> impl Iterator<Item = (usize, &Fed<'_>)> {
        self.fed.iter().enumerate().filter(move |(number, fed)| self.is_banded(*number) && !fed.is_on(on))
    }

    /// Whether operands that come in bands lie there already.
    pub(super) fn has_bands_on(&self, on: On) -> bool {
        self.fed.iter().enumerate().any(|(number, fed)| self.is_banded(number) && fed.is_on(on))
    }

    /// The operands that are brought once.
    pub(super) fn brought_whole(&self, on: On) -> impl Iterator<Item = (usize, &Fed<'_>)> {
        self.fed.iter().enumerate().filter(move |(number, fed)| !self.is_banded(*number) && !fed.is_on(on))
    }

    /// The results that go back, with their numbers.
    pub(super) fn brought_back(&self, on: On) -> impl Iterator<Item = (usize, &Made<'_>)> + Clone {
        self.made.iter().enumerate().filter(move |(_, made)| !made.is_on(on))
    }

    /// Whether an operand lies where another one does.
    pub(super) fn is_shared(&self, fed: &Fed<'_>) -> bool {
        hints::is_shared(fed.source(), self.fed.iter().map(Fed::source))
    }

    pub(super) fn is_banded(&self, number: usize) -> bool {
        self.cut
            .as_ref()
            .is_ok_and(|cut| matches!(cut.shares[number], Share::Band(_) | Share::Image(_) | Share::Before))
    }

    /// The operands that bands read elsewhere, and how long each is.
    fn images(&self) -> impl Iterator<Item = (usize, &Image, usize)> {
        let shares = self.cut.iter().flat_map(|cut| cut.shares.iter().enumerate().map(|share| (cut.dim, share)));
        shares.filter_map(|(dim, (number, share))| match share {
            Share::Image(image) => Some((number, image, self.fed[number].shape.extent(dim)?)),
            _ => None,
        })
    }

    /// Indices of the longest band whose windows fit into what it reads elsewhere; `None` where there is nothing like that.
    pub(super) fn longest(&self) -> Option<usize> {
        let margin = self.cut.as_ref().map_or(0, |cut| cut.margin.places()) as usize;
        self.images().map(|(.., length)| length.saturating_sub(margin).max(1)).min()
    }

    /// What a band reads of an operand that is brought in bands.
    pub(super) fn window_of(&self, number: usize, band: &Band) -> Window {
        let Some((_, image, length)) = self.images().find(|(of, ..)| *of == number) else { return band.window };
        let window = band.window.len() as i64;
        let begin = image.begin(band.indices.start as i64..band.indices.end as i64, window, length as i64);
        Window::new(begin..begin + window, length)
    }

    /// What is made of a band, and stands beside it in the memory of its window.
    pub(super) fn window_made(&self, band: &Band) -> Window {
        let alone = || Window::new(band.indices.start as i64..band.indices.end as i64, self.extent());
        if self.longest().is_some() { alone() } else { band.window }
    }

    /// Length of the dimension that is cut; 1 where nothing is.
    pub(super) fn extent(&self) -> usize {
        let operand = |cut: &Cut| {
            let of = |(number, fed): (usize, &Fed<'_>)| self.is_banded(number).then(|| fed.shape.extent(cut.dim));
            self.fed.iter().enumerate().find_map(of).flatten()
        };
        let known = |cut: &Cut| cut.length.and_then(|length| usize::try_from(length).ok());
        let made = |cut: &Cut| {
            let made = self.made.first().filter(|_| !cut.scattered)?;
            made.shape.extent(cut.dim)
        };
        let along = |cut: &Cut| known(cut).or_else(|| made(cut)).or_else(|| operand(cut));
        self.cut.as_ref().ok().and_then(along).unwrap_or(1)
    }

    /// Bytes of operands that are brought, and of results that go back, that so many indices are.
    pub(super) fn bytes_of(&self, on: On, indices: usize) -> [u128; 2] {
        let fed = self.banded(on).filter(|(number, _)| !self.is_before(*number));
        let fed = fed.map(|(_, fed)| self.bytes_in(&fed.shape, indices) as u128).sum();
        let in_bands = self.brought_back(on).filter(|(_, made)| !self.is_scattered() && !self.is_part(made));
        let made = in_bands.map(|(_, made)| self.bytes_in(&made.shape, indices) as u128).sum();
        [fed, made]
    }

    /// Whether an operand is what stands before each band.
    fn is_before(&self, number: usize) -> bool {
        self.cut.as_ref().is_ok_and(|cut| cut.shares[number] == Share::Before)
    }

    /// Bytes of what stands before a band.
    pub(super) fn bytes_before(&self) -> u128 {
        let before = self.fed.iter().enumerate().filter(|(number, _)| self.is_before(*number));
        before.map(|(_, fed)| fed.shape.bytes() as u128).sum()
    }

    /// Bytes that a band is reduced to.
    pub(super) fn bytes_of_parts(&self) -> u128 {
        self.made.iter().filter(|made| self.is_part(made)).map(|made| made.shape.bytes() as u128).sum()
    }

    /// Bytes of results that go back when all bands have been scattered into them.
    pub(super) fn bytes_scattered(&self, on: On) -> u128 {
        let back = self.brought_back(on).filter(|_| self.is_scattered());
        back.map(|(_, made)| made.shape.bytes() as u128).sum()
    }

    /// Whether results are whole, and values of every band go into them.
    pub(super) fn is_scattered(&self) -> bool {
        self.cut.as_ref().is_ok_and(|cut| cut.scattered)
    }

    /// Whether a result is what each band is reduced to: it lacks the dimension.
    pub(super) fn is_part(&self, made: &Made<'_>) -> bool {
        self.cut.as_ref().is_ok_and(|cut| !cut.scattered && made.shape.extent(cut.dim).is_none())
    }

    /// Where what is made of a band begins in the memory of its window, in bytes, how much it is, and which tile of the sink.
    pub(super) fn part(&self, made: &Made<'_>, plan: &ExpressionPlan, band: &Band) -> (Range<usize>, Tile) {
        if self.is_part(made) {
            return (0..made.shape.bytes(), row(&made.shape, plan, band));
        }
        if self.is_scattered() {
            return (0..made.shape.bytes(), made.shape.whole());
        }
        let of = |indices: usize| self.bytes_in(&made.shape, indices);
        let begin = of(band.begin());
        (begin..begin + of(band.indices.len()), self.tile(&made.shape, &band.indices))
    }

    /// Bytes of a result in the memory of a window.
    pub(super) fn bytes_made(&self, made: &Made<'_>, window: usize) -> usize {
        if self.is_scattered() { made.shape.bytes() } else { self.bytes_in(&made.shape, window) }
    }

    /// Bytes of operands and results that stay where they are.
    pub(super) fn bytes_there(&self, on: On) -> u128 {
        let fed = self.fed.iter().filter(|fed| fed.is_on(on)).map(|fed| fed.shape.bytes() as u128);
        fed.chain(self.made.iter().filter(|made| made.is_on(on)).map(|made| made.shape.bytes() as u128)).sum()
    }

    /// Bytes of an operand that is brought in bands, or of a result, in so many indices: all of it where it lacks the dimension that is cut. It is one index
    /// where nothing is.
    pub(super) fn bytes_in(&self, shape: &Shape, indices: usize) -> usize {
        match &self.cut {
            Ok(cut) if shape.extent(cut.dim).is_some() => shape.bytes_along(cut.dim) * indices,
            Ok(_) => shape.bytes(),
            Err(_) => shape.bytes() * indices,
        }
    }

    /// The tile of an operand that is brought in bands, or of a result, that these indices are.
    pub(super) fn tile(&self, shape: &Shape, indices: &Range<usize>) -> Tile {
        let along = |cut: &Cut| shape.tile(cut.dim, indices.clone());
        self.cut.as_ref().ok().and_then(along).unwrap_or_else(|| shape.whole())
    }

    /// The tiles of an operand that is brought in bands, and where in the memory of a window each begins, in bytes.
    pub(super) fn pieces(&self, number: usize, plan: &ExpressionPlan, band: &Band) -> Vec<(Tile, usize)> {
        let shape = &self.fed[number].shape;
        if self.cut.as_ref().is_ok_and(|cut| shape.extent(cut.dim).is_none()) {
            return vec![(row(shape, plan, band), 0)];
        }
        let mut at = 0;
        let piece = |piece: Range<usize>| {
            let begin = at;
            at += self.bytes_in(shape, piece.len());
            (self.tile(shape, &piece), begin)
        };
        self.window_of(number, band).pieces().map(piece).collect()
    }

    /// Columns of a whole window's tile of an operand.
    pub(super) fn columns_of(&self, fed: &Fed<'_>, plan: &ExpressionPlan) -> usize {
        let is_whole = self.brought_whole(On::HOST).any(|(_, whole)| std::ptr::eq(whole, fed));
        let tile = if is_whole { fed.shape.whole() } else { self.tile(&fed.shape, &(0..plan.window())) };
        tile.columns.len()
    }

    /// Columns of a whole band's tile of a result.
    pub(super) fn columns_made(&self, made: &Made<'_>, plan: &ExpressionPlan) -> usize {
        let tile = if self.is_scattered() { made.shape.whole() } else { self.tile(&made.shape, &(0..plan.band)) };
        tile.columns.len()
    }

    /// Whether bands are parts of rows of page-locked memory, which threads have to gather, where a GPU would copy whole rows itself.
    pub(super) fn is_narrow(&self, on: On, plan: &ExpressionPlan) -> bool {
        let direct = Direct::ON_GPU;
        let read = |(_, fed): (usize, &Fed<'_>)| {
            fed.source().locked().is_some() && direct.from(fed.source(), self.columns_of(fed, plan)).is_none()
        };
        let written = |(_, made): (usize, &Made<'_>)| {
            made.sink().locked().is_some() && direct.to(made.sink(), self.columns_made(made, plan)).is_none()
        };
        on != On::HOST && (self.banded(on).any(read) || self.brought_back(on).any(written))
    }

    /// What goes through slots by a plan: bytes of at most so many to one place, of which any element fits into a granule.
    pub(super) fn load(&self, on: On, most: u128, plan: &ExpressionPlan, direct: Direct) -> Load {
        let through =
            |fed: &&Fed<'_>| !fed.is_on(on) && direct.from(fed.source(), self.columns_of(fed, plan)).is_none();
        let fed = self.fed.iter().filter(through);
        let fed = fed.map(|fed| (fed.source().grain(), fed.source().extents(), &fed.shape));
        let is_staged = |made: &&Made<'_>| direct.to(made.sink(), self.columns_made(made, plan)).is_none();
        let made = self.brought_back(on).map(|(_, made)| made).filter(is_staged);
        let made = made.map(|made| (made.sink().grain(), made.sink().extents(), &made.shape));
        let bytes = [
            fed.clone().map(|(.., shape)| shape.bytes() as u128).sum(),
            made.clone().map(|(.., shape)| shape.bytes() as u128).sum(),
        ];
        let load = Load { granule: GRANULE, bytes, ..Load::default() };
        let stored = self.fed.iter().filter(|fed| !fed.is_on(on));
        let load = stored.map(Fed::source).fold(load, Load::reading);
        fed.chain(made).fold(load, |load, (grain, extents, shape)| Load {
            most,
            ..load.with_grain(grain, extents.columns, shape.element_bytes())
        })
    }

    /// Axes of operands and results in the memory of a window.
    pub(super) fn axes(&self, band: &Band) -> [Vec<Vec<Axis>>; 2] {
        let of = |shape: &Shape, window: Option<usize>| match (&self.cut, window) {
            (Ok(cut), Some(window)) => shape.axes_of(cut.dim, window),
            _ => shape.axes(),
        };
        let (window, made) = (band.window.len(), (!self.is_scattered()).then(|| self.window_made(band).len()));
        let fed = |(number, fed): (usize, &Fed<'_>)| of(&fed.shape, self.is_banded(number).then_some(window));
        let fed = self.fed.iter().enumerate().map(fed).collect();
        [fed, self.made.iter().map(|it| of(&it.shape, made)).collect()]
    }

    /// The axis of an operand that is as long as a band and has no elements of its own, where bands read others elsewhere.
    pub(super) fn ruler(&self, band: &Band) -> Option<[Axis; 1]> {
        let cut = self.cut.as_ref().ok().filter(|cut| matches!(cut.numbers, Numbers::Places { .. }))?;
        Some([Axis { dim: cut.dim, extent: band.indices.len() as i64, stride: 0 }])
    }

    /// Where a window of something begins that lies whole in the memory of the GPU, behind so many elements, in bytes, and its axes there.
    pub(super) fn axes_there(
        &self,
        shape: &Shape,
        (before, mut axes): (usize, Vec<Axis>),
        is_cut: bool,
        window: &Window,
    ) -> (usize, Vec<Axis>) {
        let dim = self.cut.as_ref().ok().filter(|_| is_cut).map(|cut| cut.dim);
        let mut begin = before;
        if let Some(axis) = axes.iter_mut().find(|axis| Some(axis.dim) == dim) {
            axis.extent = window.len() as i64;
            begin += usize::try_from(window.first()).unwrap_or(0) * axis.stride.unsigned_abs() as usize;
        }
        (begin * shape.element_bytes(), axes)
    }

    /// What the expression is told of a band, and of its window.
    pub(super) fn numbers(&self, band: &Band) -> Result<Vec<i32>, Error> {
        let (first, whole) = (band.window.first(), [band.window.first(), self.extent() as i64]);
        let within = [band.indices.start, band.indices.end].map(|index| index as i64 - first);
        let numbers = match self.told() {
            Numbers::None => Vec::new(),
            Numbers::Window => whole.to_vec(),
            Numbers::Within => within.to_vec(),
            Numbers::Band => [whole, within].concat(),
            Numbers::Places { .. } => {
                let place = |(number, _, length)| [self.window_of(number, band).first(), length as i64];
                [band.indices.start as i64].into_iter().chain(self.images().flat_map(place)).collect()
            }
        };
        let number = |n: i64| {
            let (operation, what) = ("a streamed expression", "the length of a dimension that is computed with");
            let (expected, got) = (i32::MAX as usize, n.unsigned_abs() as usize);
            i32::try_from(n).map_err(|_| Error::Shape { operation, what, expected, got })
        };
        numbers.into_iter().map(number).collect()
    }

    /// Which numbers the expression is told of a window.
    pub(super) fn told(&self) -> Numbers {
        self.cut.as_ref().map_or(Numbers::None, |cut| cut.numbers)
    }
}

/// What belongs to a band of something that has a row for each.
fn row(shape: &Shape, plan: &ExpressionPlan, band: &Band) -> Tile {
    let (number, whole) = (band.indices.start / plan.band, shape.whole());
    Tile { rows: number * whole.rows.len()..(number + 1) * whole.rows.len(), ..whole }
}
