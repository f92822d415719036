//! Expressions that need all of an operand before any of their results: reductions of its bands first, and what is left of the expression over those.

use super::array::{Held, Operand};
use super::evaluation::{Evaluation, Fed, Made, on_device};
use super::plan::ExpressionPlan;
use super::shape::{Shape, stored};
use crate::Error;
use crate::budget::{Budget, Permit};
use crate::store::{Element, Extents, MemoryScratch, Scratch as _, Sink, Source, Tile};
use std::sync::Arc;
use tilewright_expr::bind::Binding;
use tilewright_expr::cut::{Folded, Numbers};
use tilewright_expr::graph::{DimId, Graph};
use tilewright_ops::Launcher;

/// Results of one launch.
const MOST: usize = 4;

/// How an expression is folded.
pub(super) struct Fold<'a> {
    /// What is evaluated on bands. Its results go nowhere yet.
    pub(super) parts: Box<Evaluation<'a>>,
    rest: Graph,
    /// A dimension of what bands are reduced to.
    bands: DimId,
    kept: Vec<u16>,
}

impl<'a> Fold<'a> {
    /// How an evaluation that cannot be cut is folded along a dimension, or why not.
    pub(super) fn of(whole: &Evaluation<'a>, dim: DimId) -> Result<Fold<'a>, String> {
        let length = |operand: u16, dim: DimId| {
            whole.fed[usize::from(operand)].shape.extent(dim).map_or(0, |extent| extent as i64)
        };
        let folded = whole.graph().fold(dim, MOST, length).map_err(|why| why.to_string())?;
        let Folded { parts: cut, rest, bands, kept } = folded;
        let graph = cut.graph.clone().unwrap_or_default();
        let name = whole.launcher.name();
        let made = Self::made(whole, (&graph, cut.numbers)).map_err(|error| error.to_string())?;
        let names = whole.names_of_operands(dim);
        let launcher = Launcher::new(graph, &format!("{name} of a band"));
        let fed = whole.fed.iter().map(Fed::clone).collect();
        let parts = Evaluation { expression: launcher.clone(), launcher, cut: Ok(cut), fold: None, fed, made, names };
        parts.check_tiles().map(|()| Fold { parts: Box::new(parts), rest, bands, kept })
    }

    /// What a band is reduced to.
    fn made(whole: &Evaluation<'a>, (graph, numbers): (&Graph, Numbers)) -> Result<Vec<Made<'a>>, Error> {
        let axes: Vec<_> = whole.fed.iter().map(|fed| fed.shape.axes()).collect();
        let numbers = vec![on_device(&[]); numbers.count()];
        let views: Vec<_> = axes.iter().map(|axes| on_device(axes)).chain(numbers).collect();
        let extents = Binding::new(graph, &views)?.results()?;
        let of = |(output, extents): (&tilewright_expr::graph::Output, Vec<i64>)| {
            let dtype = graph.node(output.node).dtype;
            let extents: Vec<usize> = extents.iter().map(|extent| *extent as usize).collect();
            let matrix = Extents::new(1, extents.iter().product());
            let shape = Shape::new("elements of a part", (&output.dims, extents), dtype, (matrix, stored(dtype)))?;
            Ok(Made { sink: &Nowhere, shape })
        };
        graph.outputs.iter().zip(extents).map(of).collect()
    }

    /// Has the bands of a plan computed, and gives what is left to compute: an evaluation of all that they were reduced to, and leave to have the memory
    /// for that.
    pub(super) fn run<'b, R>(
        &self,
        (plan, host, sinks): (&ExpressionPlan, &Budget, &[Made<'b>]),
        compute: impl FnOnce(&Evaluation<'_>) -> Result<R, Error>,
    ) -> Result<(R, Evaluation<'b>, Permit), Error>
    where
        'a: 'b,
    {
        let bands = plan.count();
        let bytes: u64 = self.parts.made.iter().map(|made| (bands * made.shape.bytes()) as u64).sum();
        let permit = host.try_acquire(bytes)?;
        let parts = self.parts.made.iter().map(|made| Parts::new(bands, &made.shape).map(Arc::new));
        let parts: Vec<Arc<Parts>> = parts.collect::<Result<_, Error>>()?;
        let made = self.parts.made.iter().zip(&parts);
        let made = made.map(|(made, parts)| Made { sink: &**parts, shape: made.shape.clone() }).collect();
        let Evaluation { expression, launcher, fed, names, .. } = &*self.parts;
        let evaluation = Evaluation {
            expression: expression.clone(),
            launcher: launcher.clone(),
            cut: self.parts.cut.clone(),
            fold: None,
            fed: fed.clone(),
            made,
            names: names.clone(),
        };
        let done = compute(&evaluation)?;
        drop(evaluation);
        let kept = self.kept.iter().map(|operand| self.parts.fed[usize::from(*operand)].operand());
        let parts = parts.into_iter().zip(&self.parts.made).map(|(parts, made)| {
            let dims: Vec<DimId> = [self.bands].into_iter().chain(made.shape.dims().iter().copied()).collect();
            let extents = [bands].into_iter().chain(made.shape.extents().iter().copied()).collect();
            Operand { source: Held::Here(parts), dims: dims.into(), extents }
        });
        let name = format!("{} of all bands", expression.name());
        let sinks: Vec<&'b dyn Sink> = sinks.iter().map(|made| made.sink).collect();
        let rest = Evaluation::of(Launcher::new(self.rest.clone(), &name), kept.chain(parts).collect(), &sinks)?;
        Ok((done, rest, permit))
    }
}

/// What bands were reduced to, a row each.
struct Parts(MemoryScratch);

impl Parts {
    fn new(bands: usize, shape: &Shape) -> Result<Parts, Error> {
        let extents = Extents::new(bands, shape.bytes() / shape.element_bytes());
        MemoryScratch::new(extents, shape.element()).map(Parts)
    }
}

impl Source for Parts {
    fn extents(&self) -> Extents {
        self.0.extents()
    }

    fn element(&self) -> Element {
        self.0.element()
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        self.0.read_tile(tile, out)
    }
}

impl Sink for Parts {
    fn extents(&self) -> Extents {
        self.0.extents()
    }

    fn element(&self) -> Element {
        self.0.element()
    }

    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        self.0.write_tile(tile, data)
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

/// Where results go that are planned and not made.
struct Nowhere;

impl Sink for Nowhere {
    fn extents(&self) -> Extents {
        Extents::new(0, 0)
    }

    fn element(&self) -> Element {
        Element::U8
    }

    fn write_tile(&self, _: &Tile, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}
