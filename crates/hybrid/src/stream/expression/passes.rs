//! Bands, and the passes over them before that give what stands before each, where scans go along the dimension.

use super::array::{Held, Operand};
use super::evaluation::{Evaluation, Fed, Made, On, on_device};
use super::face::evaluate_on_host;
use super::parts::{Nowhere, Parts};
use super::plan::{Beside, ExpressionPlan};
use super::section::Goal;
use super::shape::{Shape, stored};
use crate::Error;
use crate::budget::{Budget, Permit};
use crate::store::Extents;
use crate::stream::control::Control;
use crate::stream::matmul::Traffic;
use std::sync::Arc;
use tilewright_expr::bind::{Binding, dense};
use tilewright_expr::cut;
use tilewright_expr::cut::{Numbers, Share};
use tilewright_expr::graph::{DimId, Graph, Output};
use tilewright_ops::Launcher;

/// What computes the bands of a plan.
pub(super) type Compute<'c> = dyn FnMut(&Evaluation<'_>, &ExpressionPlan, Control<'_>) -> Result<Traffic, Error> + 'c;

/// Bands, and what comes before them.
pub(super) struct Passes<'a> {
    /// What is evaluated on bands. What stands before them is not there yet.
    pub(super) bands: Box<Evaluation<'a>>,
    totals: Vec<Totals<'a>>,
}

/// What the bands of scans come to, and the expressions of what stands before each.
struct Totals<'a> {
    parts: Passes<'a>,
    before: Vec<Graph>,
    /// A dimension of the totals of all bands.
    bands: DimId,
}

/// What passes share: where bands are computed, how long they are, whose memory has what they come to, and who is told.
#[derive(Clone, Copy)]
pub(super) struct Under<'u> {
    pub(super) on: On,
    pub(super) plan: &'u ExpressionPlan,
    pub(super) host: &'u Budget,
    pub(super) control: Control<'u>,
}

/// What bands came to.
#[derive(Default)]
pub(super) struct Came {
    /// A row for each band.
    pub(super) parts: Vec<Arc<Parts>>,
    /// What was copied for that.
    pub(super) traffic: Traffic,
    /// Leave to have them.
    pub(super) memory: Vec<Permit>,
}

impl Came {
    fn and(mut self, other: Came) -> Came {
        self.parts.extend(other.parts);
        self.memory.extend(other.memory);
        Came { traffic: self.traffic.and(other.traffic), ..self }
    }
}

impl<'a> Passes<'a> {
    /// Those of an evaluation's own results.
    pub(super) fn of_results(whole: &Evaluation<'a>, passes: cut::Passes) -> Result<Passes<'a>, String> {
        let made = whole.made.iter().map(Made::same).collect();
        Self::of((whole, &whole.fed), passes, |_, _| Ok(made))
    }

    /// Those of what bands of some operands are reduced to, which goes nowhere yet.
    pub(super) fn of_parts(
        (whole, fed): (&Evaluation<'a>, &[Fed<'a>]),
        passes: cut::Passes,
    ) -> Result<Passes<'a>, String> {
        Self::of((whole, fed), passes, made)
    }

    fn of(
        (whole, fed): (&Evaluation<'a>, &[Fed<'a>]),
        cut::Passes { cut, kept, totals }: cut::Passes,
        made: impl FnOnce(&[Fed<'a>], (&Graph, Numbers)) -> Result<Vec<Made<'a>>, Error>,
    ) -> Result<Passes<'a>, String> {
        let share = |(operand, share): (u16, &Share)| match share {
            Share::Image(image) => fed[usize::from(operand)].renamed(|dim| image.renamed(cut.dim, dim)),
            _ => fed[usize::from(operand)].clone(),
        };
        let kept: Vec<Fed<'a>> = kept.into_iter().zip(&cut.shares).map(share).collect();
        let totals = totals.into_iter().map(|totals| Totals::of((whole, &kept), totals));
        let totals: Vec<Totals<'a>> = totals.collect::<Result<_, _>>()?;
        let before: Result<Vec<_>, Error> = totals.iter().map(Totals::fed).collect();
        let before = before.map_err(|error| error.to_string())?.into_iter().flatten();
        let fed: Vec<Fed<'a>> = kept.into_iter().chain(before).collect();
        let graph = cut.graph.clone().unwrap_or_default();
        let made = made(&fed, (&graph, cut.numbers)).map_err(|error| error.to_string())?;
        let names = whole.names.iter().copied().chain([(cut.dim, graph.dim_name(cut.dim))]).collect();
        let launcher = Launcher::new(graph, &format!("{} of a band", whole.launcher.name()));
        let bands = Evaluation::in_bands(launcher, cut, fed, made, names);
        bands.cut.as_ref().map_or(Ok(()), |cut| bands.check(cut))?;
        Ok(Passes { bands: Box::new(bands), totals })
    }

    /// How all of them are cut, where there are so many bytes: as what is evaluated last. On the CPU what all bands come to is in the same memory.
    pub(super) fn plan(&self, on: On, budget: u64) -> Result<ExpressionPlan, Error> {
        let mut beside = Beside::default();
        self.beside(on, self.bands.bytes_of_parts(), &mut beside);
        if on != On::HOST {
            let passes = beside.passes.into_iter().map(|(plan, _)| (plan, 0)).collect();
            beside = Beside { passes, ..Beside::default() };
        }
        ExpressionPlan::of_indices(&self.bands, on).within_beside(&beside, budget)
    }

    /// The plans of all passes where the bands of the last one are as long as a plan's, in their order.
    pub(super) fn plans(&self, on: On, plan: &ExpressionPlan) -> Vec<ExpressionPlan> {
        let mut plans: Vec<_> = self.totals.iter().flat_map(|totals| totals.parts.plans(on, plan)).collect();
        plans.push(ExpressionPlan::of_indices(&self.bands, on).of_length(plan.band));
        plans
    }

    /// What each pass takes beside so many bytes a band that are held all the time, in the order from the last one to the first.
    fn beside(&self, on: On, held: u128, beside: &mut Beside) {
        beside.passes.push((ExpressionPlan::of_indices(&self.bands, on), held + self.bands.bytes_before()));
        let mut held = held;
        for totals in &self.totals {
            let (parts, before) = (totals.parts.bands.bytes_of_parts(), totals.bytes_before());
            // What stands before bands is computed of what they come to, both in memory twice: in windows too.
            beside.alone = beside.alone.max(held + 2 * (parts + before));
            totals.parts.beside(on, held + parts, beside);
            held += before;
        }
    }

    /// Has all bands computed, into these results.
    pub(super) fn run(
        &self,
        under: Under<'_>,
        made: Vec<Made<'_>>,
        compute: &mut Compute<'_>,
    ) -> Result<Traffic, Error> {
        let mut came = Came::default();
        for totals in &self.totals {
            came = came.and(totals.run(under, compute)?);
        }
        let Came { parts: before, traffic, memory: _memory } = came;
        let Evaluation { launcher, cut, fed, names, .. } = &*self.bands;
        let own = fed.len() - before.len();
        let before = fed[own..].iter().zip(before).map(|(fed, parts)| fed.of(Held::Here(parts)));
        let fed = fed[..own].iter().cloned().chain(before).collect();
        let evaluation = Evaluation::in_bands(launcher.clone(), cut.clone()?, fed, made, names.clone());
        let plan = ExpressionPlan::of_indices(&evaluation, under.on).of_length(under.plan.band);
        let own = compute(&evaluation, &plan, under.control)?;
        Ok(traffic.and(own))
    }

    /// Has all bands computed, into host memory.
    pub(super) fn run_to_parts(&self, under: Under<'_>, compute: &mut Compute<'_>) -> Result<Came, Error> {
        let bands = under.plan.count();
        let shapes = || self.bands.made.iter().map(|made| &made.shape);
        let (parts, permit) = all_parts(bands, shapes(), under.host)?;
        let made =
            parts.iter().zip(shapes()).map(|(parts, shape)| Made { goal: Goal::Whole(&**parts), shape: shape.clone() });
        let traffic = self.run(under, made.collect(), compute)?;
        Ok(Came { parts, traffic, memory: vec![permit] })
    }
}

/// Memory for what so many bands come to.
fn all_parts<'s>(
    bands: usize,
    shapes: impl Iterator<Item = &'s Shape> + Clone,
    host: &Budget,
) -> Result<(Vec<Arc<Parts>>, Permit), Error> {
    let permit = host.try_acquire(shapes.clone().map(|shape| (bands * shape.bytes()) as u64).sum())?;
    Ok((shapes.map(|shape| Parts::new(bands, shape).map(Arc::new)).collect::<Result<_, Error>>()?, permit))
}

impl<'a> Totals<'a> {
    fn of(
        of: (&Evaluation<'a>, &[Fed<'a>]),
        cut::Totals { parts, before, bands }: cut::Totals,
    ) -> Result<Totals<'a>, String> {
        Ok(Totals { parts: Passes::of_parts(of, parts)?, before, bands })
    }

    /// Bytes of what stands before a band.
    fn bytes_before(&self) -> u128 {
        let shapes = self.parts.bands.made.iter().map(|made| &made.shape);
        let bytes = |(graph, shape): (&Graph, &Shape)| {
            let element = graph.node(graph.outputs[0].node).dtype.size();
            (shape.bytes() / shape.element_bytes() * element) as u128
        };
        self.before.iter().zip(shapes).map(bytes).sum()
    }

    /// What stands before a band, as operands that are not there yet.
    fn fed(&self) -> Result<Vec<Fed<'a>>, Error> {
        let of = |(graph, total): (&Graph, &Made<'_>)| {
            let dtype = graph.node(graph.outputs[0].node).dtype;
            let (dims, extents) = (total.shape.dims(), total.shape.extents());
            let matrix = Extents::new(1, extents.iter().product());
            let lies = (dims, extents.to_vec());
            let shape = Shape::new("elements of what stands before a band", lies, dtype, (matrix, stored(dtype)))?;
            let operand =
                Operand { source: Held::There(&Nowhere::NOTHING), dims: dims.into(), extents: extents.into() };
            Ok(Fed::new(operand, shape))
        };
        self.before.iter().zip(&self.parts.bands.made).map(of).collect()
    }

    /// What stands before each band.
    fn run(&self, under: Under<'_>, compute: &mut Compute<'_>) -> Result<Came, Error> {
        let Came { parts: totals, traffic, memory: _totals } = self.parts.run_to_parts(under, compute)?;
        let fed = self.fed()?;
        let (before, permit) = all_parts(under.plan.count(), fed.iter().map(|fed| &fed.shape), under.host)?;
        for (((graph, total), made), into) in self.before.iter().zip(totals).zip(&self.parts.bands.made).zip(&before) {
            let operand = of_all_bands((Held::Here(total), &made.shape), (self.bands, under.plan.count()));
            let name = format!("{} before a band", self.parts.bands.launcher.name());
            let evaluation = Evaluation::of(Launcher::new(graph.clone(), &name), vec![operand], &[&**into])?;
            evaluate_on_host(under.host, &evaluation, Control { progress: None, ..under.control })?;
        }
        Ok(Came { parts: before, traffic, memory: vec![permit] })
    }
}

/// What all bands came to, as an operand that has another dimension before those of one.
pub(super) fn of_all_bands<'b>((source, shape): (Held<'b>, &Shape), (dim, bands): (DimId, usize)) -> Operand<'b> {
    let dims: Vec<DimId> = [dim].into_iter().chain(shape.dims().iter().copied()).collect();
    let extents = [bands].into_iter().chain(shape.extents().iter().copied()).collect();
    Operand { source, dims: dims.into(), extents }
}

/// What a band is reduced to.
fn made<'a>(fed: &[Fed<'a>], (graph, numbers): (&Graph, Numbers)) -> Result<Vec<Made<'a>>, Error> {
    let extents = results_of(graph, fed, numbers)?;
    let of = |(output, extents): (&Output, Vec<i64>)| {
        let dtype = graph.node(output.node).dtype;
        let extents: Vec<usize> = extents.iter().map(|extent| *extent as usize).collect();
        let matrix = Extents::new(1, extents.iter().product());
        let shape = Shape::new("elements of a part", (&output.dims, extents), dtype, (matrix, stored(dtype)))?;
        Ok(Made { goal: Goal::Whole(&Nowhere::NOTHING), shape })
    };
    graph.outputs.iter().zip(extents).map(of).collect()
}

/// The lengths of results of these operands, and of what an expression is told of a window.
pub(super) fn results_of(graph: &Graph, fed: &[Fed<'_>], numbers: Numbers) -> Result<Vec<Vec<i64>>, Error> {
    let axes: Vec<_> = fed.iter().map(|fed| fed.shape.axes()).collect();
    // Results have none of the dimension that is cut, of which a ruler is any length.
    let ruler = graph.operands.get(fed.len()).filter(|_| matches!(numbers, Numbers::Places { .. }));
    let ruler = ruler.map(|spec| dense(&spec.dims, &[1]));
    let numbers = vec![on_device(&[]); numbers.count()];
    let views = axes.iter().chain(&ruler).map(|axes| on_device(axes));
    let views: Vec<_> = views.chain(numbers).collect();
    Ok(Binding::new(graph, &views)?.results()?)
}
