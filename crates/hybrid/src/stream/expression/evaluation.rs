//! A fused expression, what it reads and where it writes, checked.

use super::array::Held;
use super::array::{Operand, Operands};
use super::plan::ExpressionPlan;
use super::section::Goal;
use super::shape::Shape;
use super::steps::Planned;
use super::window::Band;
use crate::Error;
use crate::budget::Budget;
use crate::store::{Sink, Source};
use std::fmt;
use tilewright_dims::Dim;
use tilewright_driver::DeviceBytes;
use tilewright_expr::bind::{Axis, Binding, Place, View};
use tilewright_expr::cut::Cut;
use tilewright_expr::graph::{DimId, Graph};
use tilewright_ops::{Fused, Launcher};

/// How often an expression may be in two, the rest of it being so again.
const SPLITS: usize = 3;

/// A fused expression over stored arrays into sinks, a sink a result.
///
/// It is computed in *bands*: some indices of one dimension at a time, the outermost one of the results that can be cut. What an operand
/// brings to a band follows from the expression: the same indices, those with a margin where it is read at shifted coordinates, those that the band reads
/// where it is sliced, padded or reversed, or all of it, once, where it lacks the dimension or is read anywhere.
pub struct Evaluation<'a> {
    pub(super) expression: Launcher,
    /// What is evaluated on a window: the expression, or one that knows where the window begins.
    pub(super) launcher: Launcher,
    /// The same on windows of bands behind the first one, where results are whole and keep what the bands before left.
    pub(super) behind: Option<Launcher>,
    /// How it is cut; why not, where all of it is one band.
    pub(super) cut: Result<Cut, Error>,
    /// Which dimensions it may be cut along, the first one first; whether somebody chose them.
    pub(super) dims: Vec<DimId>,
    pub(super) is_by_choice: bool,
    /// Dimensions of what bands were reduced to before.
    pub(super) folded: Vec<DimId>,
    /// How often it may be in two.
    pub(super) splits: usize,
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
    pub(super) fn new(operand: Operand<'a>, shape: Shape) -> Fed<'a> {
        Fed { operand, shape }
    }

    /// The same from elsewhere.
    pub(super) fn of<'b>(&self, source: Held<'b>) -> Fed<'b> {
        let Operand { dims, extents, .. } = &self.operand;
        Fed { operand: Operand { source, dims: dims.clone(), extents: extents.clone() }, shape: self.shape.clone() }
    }

    /// The same under other dimensions.
    pub(super) fn renamed(&self, to: impl Fn(DimId) -> DimId) -> Fed<'a> {
        let Operand { source, dims, extents } = &self.operand;
        let dims = dims.iter().map(|dim| to(*dim)).collect();
        Fed {
            operand: Operand { source: source.clone(), dims, extents: extents.clone() },
            shape: self.shape.renamed(&to),
        }
    }

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
    pub(super) goal: Goal<'a>,
    pub(super) shape: Shape,
}

impl<'a> Made<'a> {
    pub(super) fn same(&self) -> Made<'a> {
        Made { goal: self.goal.clone(), shape: self.shape.clone() }
    }

    pub(super) fn sink(&self) -> &dyn Sink {
        self.goal.sink()
    }

    fn room(&self) -> Option<DeviceBytes<'_>> {
        self.goal.resident().map(|there| there.room().bytes())
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
        let goals: Vec<Goal<'a>> = sinks.iter().map(|sink| Goal::Whole(*sink)).collect();
        Self::left(expression, operands, &goals, &[])
    }

    /// What folds left, whose bands have these dimensions.
    pub(super) fn left(
        expression: Launcher,
        operands: Vec<Operand<'a>>,
        goals: &[Goal<'a>],
        before: &[DimId],
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
        if results.len() != goals.len() {
            let (expected, got) = (results.len(), goals.len());
            return Err(Error::Shape { operation: "a streamed expression", what: "number of sinks", expected, got });
        }
        let of_result = |((result, extents), goal): ((&tilewright_expr::join::Joined<'_>, Vec<i64>), &Goal<'a>)| {
            let dtype = graph.node(graph.outputs[result.outputs.start].node).dtype;
            let lies = (result.dims, extents.iter().map(|extent| *extent as usize).collect());
            let stored = (goal.sink().extents(), goal.sink().element());
            let shape = Shape::new("elements of a result's sink", lies, dtype, stored)?;
            Ok(Made { goal: goal.clone(), shape })
        };
        let made: Vec<Made<'a>> =
            results.iter().zip(extents).zip(goals).map(of_result).collect::<Result<_, Error>>()?;
        // Along those of what is scattered it can be cut too.
        let scattered = (0..graph.outputs.len()).filter(|output| graph.partial(*output).is_some());
        let scattered: Vec<DimId> = scattered.flat_map(|output| graph.loops_of(output)).collect();
        let names = made.iter().flat_map(|made| made.shape.dims()).chain(&scattered);
        let names = names.map(|dim| (*dim, graph.dim_name(*dim))).collect();
        let whole = Evaluation {
            launcher: expression.clone(),
            behind: None,
            expression,
            cut: Err(Error::Uncut { dimension: "", why: String::new() }),
            dims: Vec::new(),
            is_by_choice: false,
            folded: before.to_vec(),
            splits: SPLITS,
            fed,
            made,
            names,
        };
        let of_results = whole.made.first().map_or(Vec::new(), |made| made.shape.dims().to_vec());
        let dims = if scattered.is_empty() { of_results } else { whole.outermost_first(scattered, of_results) };
        Ok(whole.cut_along(dims))
    }

    /// Dimensions of operands, of the largest one first, outermost first.
    pub(super) fn dims_of_operands(&self) -> impl Iterator<Item = DimId> {
        let mut fed: Vec<&Fed<'_>> = self.fed.iter().collect();
        fed.sort_by_key(|fed| std::cmp::Reverse(fed.shape.bytes()));
        fed.into_iter().flat_map(|fed| fed.shape.dims().iter().copied())
    }

    /// Some dimensions in the order in which the largest operand has them, which may be those that results lack; then others.
    fn outermost_first(&self, dims: Vec<DimId>, others: Vec<DimId>) -> Vec<DimId> {
        let mut ordered = Vec::new();
        for dim in self.dims_of_operands().filter(|dim| dims.contains(dim)).chain(others) {
            if !ordered.contains(&dim) {
                ordered.push(dim);
            }
        }
        ordered
    }

    /// What is evaluated on bands.
    pub(super) fn in_bands(
        launcher: Launcher,
        cut: Cut,
        fed: Vec<Fed<'a>>,
        made: Vec<Made<'a>>,
        names: Vec<(DimId, &'static str)>,
    ) -> Evaluation<'a> {
        let behind = cut.scattered.then(|| behind(&launcher));
        let (expression, cut, dims, folded) = (launcher.clone(), Ok(cut), Vec::new(), Vec::new());
        let (is_by_choice, splits) = (true, 0);
        Evaluation { expression, launcher, behind, cut, dims, is_by_choice, folded, splits, fed, made, names }
    }

    /// The same, cut along a dimension of one's own choice. [`Error::Uncut`] where that cannot be.
    pub fn along<D: Dim>(self) -> Result<Evaluation<'a>, Error> {
        let cut = self.by_choice(vec![D::ID]);
        match cut.cut {
            Err(error) if cut.steps().is_empty() => Err(error),
            _ => Ok(cut),
        }
    }

    /// The same, cut along one of these dimensions or not at all.
    pub(super) fn by_choice(self, dims: Vec<DimId>) -> Evaluation<'a> {
        Evaluation { is_by_choice: true, ..self }.cut_along(dims)
    }

    /// The dimension that it is cut along, if it is.
    pub fn dimension(&self) -> Option<&'static str> {
        self.of_indices(On::HOST).dimension
    }

    /// How it is cut where there are so many bytes for operands and results. [`Error::Budget`] where not even one index fits,
    /// [`Error::Uncut`] where nothing can be cut and the whole does not fit. Where something lies on a GPU it is planned there: what lies there takes no
    /// bytes. Where all of an operand is reduced first it is the plan of that; where scans go along the dimension, that of the results, and operands are
    /// brought once more before, as often as scans stand one inside the other; where results are computed apart, that of the part that copies most. What
    /// other passes copy is said too ([`ExpressionPlan::others`]). What all bands come to then is within these bytes too, as on the CPU, unless something
    /// lies on a GPU: there it is in host memory.
    pub fn plan(&self, budget: u64) -> Result<ExpressionPlan, Error> {
        self.planned(self.home(), budget).map(Planned::with_others)
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
}

impl Evaluation<'_> {
    pub(super) fn graph(&self) -> &Graph {
        self.launcher.graph()
    }

    /// What is evaluated on the window of a band.
    pub(super) fn launcher_of(&self, band: &Band) -> &Launcher {
        self.behind.as_ref().filter(|_| band.indices.start > 0).unwrap_or(&self.launcher)
    }

    pub(super) fn name(&self, dim: DimId) -> &'static str {
        self.names.iter().find(|(d, _)| *d == dim).map_or("?", |(_, name)| name)
    }

    /// Has what sinks gather counted in a budget of host memory.
    pub(crate) fn gather_within(&self, host: &Budget) -> Result<(), Error> {
        self.made.iter().try_for_each(|made| made.sink().gather_within(host))
    }

    /// Whether there is nothing to compute.
    pub(crate) fn is_empty(&self) -> bool {
        self.made.iter().all(|made| made.shape.bytes() == 0)
    }
}

/// The same expression for results that keep what they hold.
pub(super) fn behind(launcher: &Launcher) -> Launcher {
    Launcher::new(launcher.graph().held(), launcher.name())
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
