//! A fused expression, what it reads and where it writes, checked; and the dimension that it is cut along.

use super::array::{Operand, Operands};
use super::folded::Fold;
use super::plan::ExpressionPlan;
use super::shape::Shape;
use crate::Error;
use crate::budget::Budget;
use crate::store::{Sink, Source, Tile};
use crate::stream::direct::Direct;
use crate::stream::hints;
use crate::stream::staging::Load;
use std::fmt;
use std::ops::Range;
use tilewright_dims::Dim;
use tilewright_driver::DeviceBytes;
use tilewright_expr::bind::{Axis, Binding, Place, View};
use tilewright_expr::cut::{Cut, Share};
use tilewright_expr::graph::{DimId, Graph};
use tilewright_ops::{Fused, Launcher};

/// Bytes from which on it is better to begin before all of them are there.
const LONG: u64 = 256 << 20;

/// What slots are multiples of.
const GRANULE: usize = 4096;

/// A fused expression over stored arrays into sinks, a sink a result.
///
/// It is computed in *bands*: some indices of one dimension at a time, the outermost one of the results that can be cut. What an operand
/// brings to a band follows from the expression: the same indices, those with a margin where it is read at shifted coordinates, or all of it,
/// once, where it lacks the dimension or is read anywhere.
pub struct Evaluation<'a> {
    pub(super) expression: Launcher,
    /// What is evaluated on a window: the expression, or one that knows where the window begins.
    pub(super) launcher: Launcher,
    /// How it is cut; why not, where all of it is one band.
    pub(super) cut: Result<Cut, Error>,
    /// How it is folded, where it is not cut.
    pub(super) fold: Option<Fold<'a>>,
    pub(super) fed: Vec<Fed<'a>>,
    pub(super) made: Vec<Made<'a>>,
    pub(super) names: Vec<(DimId, &'static str)>,
}

/// An operand.
#[derive(Clone)]
pub(super) struct Fed<'a> {
    operand: Operand<'a>,
    pub(super) shape: Shape,
}

impl<'a> Fed<'a> {
    pub(super) fn operand(&self) -> Operand<'a> {
        self.operand.clone()
    }

    pub(super) fn source(&self) -> &dyn Source {
        self.operand.source.source()
    }

    /// Whether it is read where it lies.
    pub(super) fn is_on(&self, on: On) -> bool {
        on.has(self.source().resident())
    }
}

/// A result.
pub(super) struct Made<'a> {
    pub(super) sink: &'a dyn Sink,
    pub(super) shape: Shape,
}

impl Made<'_> {
    fn room(&self) -> Option<DeviceBytes<'_>> {
        self.sink.resident().map(|sink| sink.room().bytes())
    }

    /// Whether it is written where it is wanted.
    pub(super) fn is_on(&self, on: On) -> bool {
        on.has(self.room())
    }
}

/// The processor that computes: what lies on the GPU that it is, it reads and writes where that is. The CPU has copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct On(Option<usize>);

impl On {
    pub(super) const HOST: On = On(None);

    pub(super) fn gpu(ordinal: usize) -> On {
        On(Some(ordinal))
    }

    fn has(self, memory: Option<DeviceBytes<'_>>) -> bool {
        memory.is_some_and(|bytes| Some(bytes.device().ordinal()) == self.0)
    }
}

/// Some indices of the dimension that is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Band {
    /// Those of the results.
    pub(super) indices: Range<usize>,
    /// Those that are evaluated.
    pub(super) window: Range<usize>,
}

impl<'a> Evaluation<'a> {
    /// An expression with its operands, a tuple in their order, and a sink for each result. Nothing is read yet.
    ///
    /// Errors: [`Error::Expression`] where sizes do not agree, [`Error::Shape`] and [`Error::ElementType`] where a sink is of another size or type
    /// than its result.
    pub fn new<A, O>(
        expression: &Fused<A, O>,
        operands: impl Operands<'a, A>,
        sinks: &[&'a dyn Sink],
    ) -> Result<Evaluation<'a>, Error> {
        // Results hold nothing before.
        let expression = match expression.graph().fresh() {
            Some(fresh) => Launcher::new(fresh, expression.launcher().name()),
            None => expression.launcher(),
        };
        Self::of(expression, operands.list(), sinks)
    }

    pub(super) fn of(
        expression: Launcher,
        operands: Vec<Operand<'a>>,
        sinks: &[&'a dyn Sink],
    ) -> Result<Evaluation<'a>, Error> {
        let graph = expression.graph();
        let of_operand = |(operand, spec): (Operand<'a>, &tilewright_expr::graph::OperandSpec)| {
            let (source, lies) = (operand.source.source(), (&operand.dims[..], operand.extents.clone()));
            let shape = Shape::new("elements of an operand", lies, spec.dtype, (source.extents(), source.element()))?;
            Ok(Fed { operand, shape })
        };
        let fed = operands.into_iter().zip(&graph.operands).map(of_operand).collect::<Result<Vec<_>, Error>>()?;
        let axes: Vec<Vec<Axis>> = fed.iter().map(|fed| fed.shape.axes()).collect();
        let views: Vec<View<'_>> = axes.iter().map(|axes| on_device(axes)).collect();
        let binding = Binding::new(graph, &views)?;
        let (results, extents) = (graph.results(), binding.results()?);
        if results.len() != sinks.len() {
            let (expected, got) = (results.len(), sinks.len());
            return Err(Error::Shape { operation: "a streamed expression", what: "number of sinks", expected, got });
        }
        let of_result = |((result, extents), sink): ((&tilewright_expr::join::Joined<'_>, Vec<i64>), &&'a dyn Sink)| {
            let dtype = graph.node(graph.outputs[result.outputs.start].node).dtype;
            let lies = (result.dims, extents.iter().map(|extent| *extent as usize).collect());
            let shape = Shape::new("elements of a result's sink", lies, dtype, (sink.extents(), sink.element()))?;
            Ok(Made { sink: *sink, shape })
        };
        let made: Vec<Made<'a>> =
            results.iter().zip(extents).zip(sinks).map(of_result).collect::<Result<_, Error>>()?;
        let names = made.iter().flat_map(|made| made.shape.dims()).map(|dim| (*dim, graph.dim_name(*dim))).collect();
        let cut = Err(Error::Uncut { dimension: "", why: String::new() });
        let whole = Evaluation { launcher: expression.clone(), expression, cut, fold: None, fed, made, names };
        let dims = whole.made.first().map_or(Vec::new(), |made| made.shape.dims().to_vec());
        let cut = whole.cut_along(&dims);
        Ok(if cut.cut.is_err() { cut.folded() } else { cut })
    }

    /// The same, cut along a dimension of one's own choice. [`Error::Uncut`] where that cannot be.
    pub fn along<D: Dim>(self) -> Result<Evaluation<'a>, Error> {
        let cut = self.cut_along(&[D::ID]);
        match cut.cut {
            Ok(_) => Ok(cut),
            Err(error) => Err(error),
        }
    }

    /// The dimension that it is cut along, if it is.
    pub fn dimension(&self) -> Option<&'static str> {
        if let Some(fold) = &self.fold {
            return fold.parts.dimension();
        }
        self.cut.as_ref().ok().map(|cut| self.name(cut.dim))
    }

    /// How it is cut where there are so many bytes for operands and results. [`Error::Budget`] where not even one index fits,
    /// [`Error::Uncut`] where nothing can be cut and the whole does not fit. Where something lies on a GPU it is planned there: what lies there takes no
    /// bytes. Where all of an operand is reduced first it is the plan of that.
    pub fn plan(&self, budget: u64) -> Result<ExpressionPlan, Error> {
        let first = self.folding(self.home(), budget).map_or(self, |fold| &fold.parts);
        ExpressionPlan::new(first, self.home(), budget)
    }

    /// How it is folded, unless all of it is one band, and a short one.
    pub(super) fn folding(&self, on: On, budget: u64) -> Option<&Fold<'a>> {
        let ExpressionPlan { bytes_in, bytes_out, bytes_once, .. } = ExpressionPlan::of_indices(self, on);
        let is_short = bytes_in + bytes_out + bytes_once <= u128::from(budget.min(LONG));
        self.fold.as_ref().filter(|_| !is_short)
    }

    /// The GPU that the first operand or result lies on which is on any.
    pub(super) fn home(&self) -> On {
        On(self.resident().next().map(|memory| memory.device().ordinal()))
    }

    /// Memory of operands and results that lie on GPUs.
    pub(super) fn resident(&self) -> impl Iterator<Item = DeviceBytes<'_>> {
        let fed = self.fed.iter().filter_map(|fed| fed.source().resident());
        fed.chain(self.made.iter().filter_map(Made::room))
    }

    /// Whether something lies on another GPU than this one.
    pub(crate) fn lies_elsewhere(&self, ordinal: Option<usize>) -> bool {
        self.resident().any(|memory| Some(memory.device().ordinal()) != ordinal)
    }

    /// Cut along the first of these dimensions that can be; otherwise it is known why not along the first one.
    fn cut_along(mut self, dims: &[DimId]) -> Self {
        let mut first = None;
        for dim in dims {
            match self.cut_of(*dim) {
                Ok(cut) => {
                    self.launcher = match &cut.graph {
                        Some(graph) => Launcher::new(graph.clone(), self.expression.name()),
                        None => self.expression.clone(),
                    };
                    self.cut = Ok(cut);
                    return self;
                }
                Err(why) => {
                    first.get_or_insert(Error::Uncut { dimension: self.name(*dim), why });
                }
            }
        }
        let why = || "its results have no dimension; reduce parts of its operands in calls of their own".to_string();
        self.cut = Err(first.unwrap_or_else(|| Error::Uncut { dimension: "?", why: why() }));
        self
    }

    /// Folded along the first dimension, of the largest operand first, that it can be folded along.
    fn folded(mut self) -> Self {
        let mut fed: Vec<&Fed<'_>> = self.fed.iter().collect();
        fed.sort_by_key(|fed| std::cmp::Reverse(fed.shape.bytes()));
        let dims: Vec<DimId> = fed.iter().flat_map(|fed| fed.shape.dims().iter().copied()).collect();
        self.fold = dims.into_iter().find_map(|dim| Fold::of(&self, dim).ok());
        self
    }

    pub(super) fn names_of_operands(&self, dim: DimId) -> Vec<(DimId, &'static str)> {
        vec![(dim, self.graph().dim_name(dim))]
    }

    /// How it is cut along a dimension, or why not.
    fn cut_of(&self, dim: DimId) -> Result<Cut, String> {
        let cut = self.expression.graph().cut(dim).map_err(|why| why.to_string())?;
        self.check_tiles_of(&cut)?;
        let inner = self.made.iter().position(|made| !made.shape.is_outermost(dim));
        match inner.filter(|_| cut.margin.places() > 0) {
            Some(number) => Err(format!(
                "operands are read at shifted coordinates along it, and it is not the outermost dimension of result {number}"
            )),
            None => Ok(cut),
        }
    }

    /// That bands are tiles of what is stored, or why not.
    pub(super) fn check_tiles(&self) -> Result<(), String> {
        self.cut.as_ref().map_or(Ok(()), |cut| self.check_tiles_of(cut))
    }

    fn check_tiles_of(&self, cut: &Cut) -> Result<(), String> {
        let dim = cut.dim;
        let banded = |(number, share): (usize, &Share)| matches!(share, Share::Band(_)).then_some(number);
        let operands = cut.shares.iter().enumerate().filter_map(banded).map(|i| ("operand", i, &self.fed[i].shape));
        let results = self.made.iter().enumerate().map(|(i, made)| ("result", i, &made.shape));
        for (what, number, shape) in operands.chain(results) {
            if shape.extent(dim).is_some() && shape.tile(dim, 0..1).is_none() {
                return Err(format!(
                    "its indices are no tiles of {what} {number} as it is stored; store it with this dimension outermost"
                ));
            }
        }
        Ok(())
    }
}

impl Evaluation<'_> {
    pub(super) fn graph(&self) -> &Graph {
        self.launcher.graph()
    }

    pub(super) fn name(&self, dim: DimId) -> &'static str {
        self.names.iter().find(|(d, _)| *d == dim).map_or("?", |(_, name)| name)
    }

    /// Has what sinks gather counted in a budget of host memory.
    pub(crate) fn gather_within(&self, host: &Budget) -> Result<(), Error> {
        self.made.iter().try_for_each(|made| made.sink.gather_within(host))
    }

    /// Whether there is nothing to compute.
    pub(crate) fn is_empty(&self) -> bool {
        self.made.iter().all(|made| made.shape.bytes() == 0)
    }

    /// The operands that are brought in bands, with their numbers.
    pub(super) fn banded(&self, on: On) -> impl Iterator<Item = (usize, &Fed<'_>)> {
        self.fed.iter().enumerate().filter(move |(number, fed)| self.is_banded(*number) && !fed.is_on(on))
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
        self.cut.as_ref().is_ok_and(|cut| matches!(cut.shares[number], Share::Band(_)))
    }

    /// Length of the dimension that is cut; 1 where nothing is.
    pub(super) fn extent(&self) -> usize {
        let operand = |cut: &Cut| {
            let of = |(number, fed): (usize, &Fed<'_>)| self.is_banded(number).then(|| fed.shape.extent(cut.dim));
            self.fed.iter().enumerate().find_map(of).flatten()
        };
        let along = |cut: &Cut| self.made.first().and_then(|made| made.shape.extent(cut.dim)).or_else(|| operand(cut));
        self.cut.as_ref().ok().and_then(along).unwrap_or(1)
    }

    /// Bytes of operands that are brought, and of results that go back, that so many indices are.
    pub(super) fn bytes_of(&self, on: On, indices: usize) -> [u128; 2] {
        let fed = self.banded(on).map(|(_, fed)| self.bytes_in(&fed.shape, indices) as u128).sum();
        let in_bands = self.brought_back(on).filter(|(_, made)| !self.is_part(made));
        let made = in_bands.map(|(_, made)| self.bytes_in(&made.shape, indices) as u128).sum();
        [fed, made]
    }

    /// Bytes that a band is reduced to.
    pub(super) fn bytes_of_parts(&self) -> u128 {
        self.made.iter().filter(|made| self.is_part(made)).map(|made| made.shape.bytes() as u128).sum()
    }

    /// Whether a result is what each band is reduced to: it lacks the dimension.
    fn is_part(&self, made: &Made<'_>) -> bool {
        self.cut.as_ref().is_ok_and(|cut| made.shape.extent(cut.dim).is_none())
    }

    /// Where what is made of a band begins in the memory of its window, in bytes, how much it is, and which tile of the sink.
    pub(super) fn part(&self, made: &Made<'_>, plan: &ExpressionPlan, band: &Band) -> (Range<usize>, Tile) {
        if self.is_part(made) {
            let (number, whole) = (band.indices.start / plan.band, made.shape.whole());
            let rows = number * whole.rows.len()..(number + 1) * whole.rows.len();
            return (0..made.shape.bytes(), Tile { rows, ..whole });
        }
        let of = |indices: usize| self.bytes_in(&made.shape, indices);
        let begin = of(band.indices.start - band.window.start);
        (begin..begin + of(band.indices.len()), self.tile(&made.shape, &band.indices))
    }

    /// Bytes of a result in the memory of a window.
    pub(super) fn bytes_made(&self, made: &Made<'_>, window: usize) -> usize {
        if self.is_part(made) { made.shape.bytes() } else { self.bytes_in(&made.shape, window) }
    }

    /// Bytes of operands and results that stay where they are.
    pub(super) fn bytes_there(&self, on: On) -> u128 {
        let fed = self.fed.iter().filter(|fed| fed.is_on(on)).map(|fed| fed.shape.bytes() as u128);
        fed.chain(self.made.iter().filter(|made| made.is_on(on)).map(|made| made.shape.bytes() as u128)).sum()
    }

    /// Bytes of an operand that is brought in bands, or of a result, in so many indices; all of it is one index where nothing is cut.
    pub(super) fn bytes_in(&self, shape: &Shape, indices: usize) -> usize {
        match &self.cut {
            Ok(cut) => shape.bytes_along(cut.dim) * indices,
            Err(_) => shape.bytes() * indices,
        }
    }

    /// The tile of an operand that is brought in bands, or of a result, that these indices are.
    pub(super) fn tile(&self, shape: &Shape, indices: &Range<usize>) -> Tile {
        let along = |cut: &Cut| shape.tile(cut.dim, indices.clone());
        self.cut.as_ref().ok().and_then(along).unwrap_or_else(|| shape.whole())
    }

    /// Columns of a whole window's tile of an operand.
    pub(super) fn columns_of(&self, fed: &Fed<'_>, plan: &ExpressionPlan) -> usize {
        let is_whole = self.brought_whole(On::HOST).any(|(_, whole)| std::ptr::eq(whole, fed));
        let tile = if is_whole { fed.shape.whole() } else { self.tile(&fed.shape, &(0..plan.window())) };
        tile.columns.len()
    }

    /// Columns of a whole band's tile of a result.
    pub(super) fn columns_made(&self, made: &Made<'_>, plan: &ExpressionPlan) -> usize {
        self.tile(&made.shape, &(0..plan.band)).columns.len()
    }

    /// What goes through slots by a plan: bytes of at most so many to one place, of which any element fits into a granule.
    pub(super) fn load(&self, on: On, most: u128, plan: &ExpressionPlan, direct: Direct) -> Load {
        let through =
            |fed: &&Fed<'_>| !fed.is_on(on) && direct.from(fed.source(), self.columns_of(fed, plan)).is_none();
        let fed = self.fed.iter().filter(through);
        let fed = fed.map(|fed| (fed.source().grain(), fed.source().extents(), &fed.shape));
        let is_staged = |made: &&Made<'_>| direct.to(made.sink, self.columns_made(made, plan)).is_none();
        let made = self.brought_back(on).map(|(_, made)| made).filter(is_staged);
        let made = made.map(|made| (made.sink.grain(), made.sink.extents(), &made.shape));
        let ways = [fed.clone().next().is_some(), made.clone().next().is_some()];
        let load = Load { granule: GRANULE, ways, ..Load::default() };
        let stored = self.fed.iter().filter(|fed| !fed.is_on(on));
        let load = stored.map(Fed::source).fold(load, Load::reading);
        fed.chain(made).fold(load, |load, (grain, extents, shape)| Load {
            most,
            ..load.with_grain(grain, extents.columns, shape.element_bytes())
        })
    }

    /// Axes of operands and results in the memory of a window.
    pub(super) fn axes(&self, window: usize) -> [Vec<Vec<Axis>>; 2] {
        let of = |shape: &Shape, is_cut: bool| match &self.cut {
            Ok(cut) if is_cut => shape.axes_of(cut.dim, window),
            _ => shape.axes(),
        };
        let fed = self.fed.iter().enumerate().map(|(number, fed)| of(&fed.shape, self.is_banded(number))).collect();
        [fed, self.made.iter().map(|made| of(&made.shape, true)).collect()]
    }

    /// Where a window of something begins that lies whole in the memory of the GPU, in bytes, and its axes there.
    pub(super) fn axes_there(&self, shape: &Shape, is_cut: bool, window: &Range<usize>) -> (usize, Vec<Axis>) {
        let mut axes = shape.axes();
        let dim = self.cut.as_ref().ok().filter(|_| is_cut).map(|cut| cut.dim);
        let Some(axis) = dim.and_then(|dim| axes.iter_mut().find(|axis| axis.dim == dim)) else { return (0, axes) };
        axis.extent = window.len() as i64;
        (window.start * axis.stride.unsigned_abs() as usize * shape.element_bytes(), axes)
    }

    /// The first index of a window and the length of the whole, where the expression counts.
    pub(super) fn counts(&self, window: &Range<usize>) -> Result<Option<[i32; 2]>, Error> {
        let Ok(Cut { graph: Some(_), .. }) = &self.cut else { return Ok(None) };
        let number = |n: usize| {
            let limit = i32::MAX as usize;
            let what = "the length of a dimension that is computed with";
            i32::try_from(n).map_err(|_| Error::Shape {
                operation: "a streamed expression",
                what,
                expected: limit,
                got: n,
            })
        };
        Ok(Some([number(window.start)?, number(self.extent())?]))
    }
}

/// Axes in the memory of a GPU.
pub(super) fn on_device(axes: &[Axis]) -> View<'_> {
    View { axes, place: Place::Device, alignment: 16, boxes: None }
}

impl fmt::Debug for Evaluation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.launcher.name();
        write!(f, "Evaluation of {name} cut along {}", self.dimension().unwrap_or("nothing"))
    }
}
