//! Sections: what one launch computes over one iteration space each.
//!
//! Outputs that fit into one world are one section: a [`Plan`]. Others, of other sizes or other dimensions, are computed beside them,
//! each section by blocks of its own. So are the parts of a result that several expressions make.

mod part;

use crate::bind::{Axis, Binding, Place, View};
use crate::collective::{Group, Shares, reduced};
use crate::error::Error;
use crate::graph::{DimId, Graph};
use crate::join::Joined;
use crate::plan::{Configuration, Division, Plan, check_output};
use crate::scatter::{Partial, fills, resolve};
use part::part;
use std::borrow::Cow;

/// Where an output is written: a result, from one of its elements on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The result.
    pub result: usize,
    /// Elements from the result's at coordinates 0 to the output's.
    pub start: i64,
    /// Elements from the result's lowest in memory to the output's.
    pub lowest: i64,
}

/// A part of a launch that has a plan of its own.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// What it computes.
    pub graph: Cow<'a, Graph>,
    /// Its plan.
    pub plan: Plan,
    /// Which of the launch's operands its own are.
    pub operands: Vec<usize>,
    /// Where its outputs are written.
    pub targets: Vec<Target>,
    /// Which of the graph's outputs its own are.
    outputs: Vec<usize>,
}

/// The plans of one launch.
#[derive(Clone, Debug)]
pub struct Sections<'a> {
    /// The sections, in the order of their blocks.
    pub list: Vec<Section<'a>>,
}

/// How a section is planned.
type Planner = fn(&Graph, &[View<'_>], &[View<'_>]) -> Result<Plan, Error>;

impl<'a> Sections<'a> {
    /// Plans a launch for these operands and results. Sizes are checked.
    pub fn new(graph: &'a Graph, views: &[View<'_>], results: &[View<'_>]) -> Result<Self, Error> {
        Sections::planned(graph, views, results, |several| if several { Plan::section } else { Plan::new })
    }

    /// Plans evaluation on the host, one section after the other.
    pub fn host(graph: &'a Graph, views: &[View<'_>], results: &[View<'_>]) -> Result<Self, Error> {
        Sections::planned(graph, views, results, |_| Plan::host)
    }

    fn planned(
        graph: &'a Graph,
        views: &[View<'_>],
        results: &[View<'_>],
        planner: impl Fn(bool) -> Planner,
    ) -> Result<Self, Error> {
        let binding = Binding::new(graph, views)?;
        let resolved = resolve(graph, &binding);
        let (given, graph) = (graph, resolved.as_ref().unwrap_or(graph));
        let binding = Binding::of(graph, views);
        let stored = stored(graph, &binding, results)?;
        let groups = groups(graph, &binding, &stored)?;
        // What goes along its values is planned without the nodes that it is not made from.
        let whole = given.partials.is_empty() && groups.iter().any(|g| g.len() == stored.len());
        let plan = planner(groups.len() > 1);
        let section = |outputs: Vec<usize>| {
            let outs: Vec<View<'_>> = outputs.iter().map(|o| stored[*o].view()).collect();
            let targets = outputs.iter().map(|o| stored[*o].target).collect();
            if whole {
                let operands = (0..views.len()).collect();
                let plan = plan(given, views, &outs)?;
                return Ok(Section { graph: Cow::Borrowed(given), plan, operands, targets, outputs });
            }
            let (part, operands) = part(graph, &outputs);
            let mine: Vec<View<'_>> = operands.iter().map(|i| views[*i]).collect();
            let mut plan = plan(&part, &mine, &outs)?;
            // Boxes are checked against the whole graph.
            plan.checked = operands.iter().map(|i| binding.checked(*i as u16)).collect();
            Ok(Section { graph: Cow::Owned(part), plan, operands, targets, outputs })
        };
        Ok(Sections { list: groups.into_iter().map(section).collect::<Result<_, Error>>()? })
    }

    /// Plans the launch before: what gives places of results their first value. `None` if there are none.
    pub fn fills(graph: &'a Graph, views: &[View<'_>], results: &[View<'_>]) -> Result<Option<Self>, Error> {
        Sections::filled(graph, views, results, false)
    }

    /// As [`Sections::fills`], for the host.
    pub fn host_fills(graph: &'a Graph, views: &[View<'_>], results: &[View<'_>]) -> Result<Option<Self>, Error> {
        Sections::filled(graph, views, results, true)
    }

    fn filled(graph: &'a Graph, views: &[View<'_>], results: &[View<'_>], host: bool) -> Result<Option<Self>, Error> {
        if graph.partials.is_empty() {
            return Ok(None);
        }
        let binding = Binding::new(graph, views)?;
        let resolved = resolve(graph, &binding);
        let graph = resolved.as_ref().unwrap_or(graph);
        let stored = stored(graph, &Binding::of(graph, views), results)?;
        let mut list = Vec::new();
        for (output, fill) in fills(graph).into_iter().filter(|(output, _)| !stored[*output].is_empty()) {
            let plan = Plan::fill(&fill, &[stored[output].view()], host);
            let targets = vec![stored[output].target];
            list.push(Section { graph: Cow::Owned(fill), plan, operands: Vec::new(), targets, outputs: vec![output] });
        }
        Ok((!list.is_empty()).then_some(Sections { list }))
    }

    /// What a configuration divides: the points of a launch of one pointwise section. `None` for all others, of which every section has the
    /// configuration that its plan chooses.
    pub fn division(&self) -> Option<Division> {
        match self.list.as_slice() {
            [section] => section.plan.division(&section.graph),
            _ => None,
        }
    }

    /// What a configuration shares out: the rows of a launch of one section whose threads reduce them together, once. `None` for all others.
    pub fn shares(&self) -> Option<Shares> {
        match self.list.as_slice() {
            [section] => section.plan.shares(),
            _ => None,
        }
    }

    /// The same launch under a configuration. Refuses launches that have none of its kind, and configurations that are not legal.
    pub fn configured(mut self, config: impl Into<Configuration>) -> Result<Self, Error> {
        let config = config.into();
        let [section] = self.list.as_mut_slice() else {
            return Err(match config {
                Configuration::Pointwise(_) => Error::NotPointwise,
                Configuration::Shared(_) => Error::NotShared,
            });
        };
        section.plan = section.plan.configured(&section.graph, config)?;
        Ok(self)
    }

    /// Everything that the source text depends on beside the graph; of one section, its plan's key.
    pub fn key(&self) -> Vec<u64> {
        if let [section] = self.list.as_slice()
            && let Cow::Borrowed(_) = section.graph
        {
            return section.plan.key();
        }
        // No plan has so many lanes.
        let mut key = vec![u64::MAX, self.list.len() as u64, u64::from(self.large_grid())];
        for section in &self.list {
            let plan = section.plan.key();
            // A histogram that is scattered and one that is not are one graph.
            let partial = u64::from(!section.graph.partials.is_empty());
            key.extend([section.outputs.len() as u64, plan.len() as u64, partial]);
            key.extend(section.outputs.iter().map(|o| *o as u64));
            key.extend(plan);
        }
        key
    }

    /// Blocks of all sections.
    pub fn blocks(&self) -> i64 {
        self.list.iter().map(|s| s.plan.blocks()).sum()
    }

    /// The first block of each section.
    pub fn first_blocks(&self) -> Vec<i64> {
        let before = |sum: &mut i64, section: &Section<'_>| {
            let first = *sum;
            *sum += section.plan.blocks();
            Some(first)
        };
        self.list.iter().scan(0, before).collect()
    }

    /// Whether a block's number needs 64 bits.
    pub fn large_grid(&self) -> bool {
        self.blocks() > i64::from(i32::MAX)
    }

    /// The grid of this call: all blocks along x, beyond 2^31 - 1 along y too.
    pub fn grid(&self) -> [u32; 3] {
        crate::plan::grid(self.blocks())
    }

    /// Whether blocks wait for each other, so that all must be resident at once: fewer than [`Sections::grid`] do as well.
    pub fn together(&self) -> bool {
        self.list.iter().any(|s| s.plan.group.as_ref().is_some_and(Group::together))
    }

    /// Threads of a block.
    pub fn block(&self) -> [u32; 2] {
        match self.list.as_slice() {
            [section] => section.plan.block,
            _ => [crate::plan::BLOCK, 1],
        }
    }
}

/// An output with its own view of a result.
struct Stored {
    axes: Vec<Axis>,
    place: Place,
    alignment: u32,
    target: Target,
    /// Whether it is one of several parts.
    part: bool,
}

impl Stored {
    fn view(&self) -> View<'_> {
        View { axes: &self.axes, place: self.place, alignment: self.alignment, boxes: None }
    }

    fn is_empty(&self) -> bool {
        self.axes.iter().any(|a| a.extent == 0)
    }
}

/// Checks the results, and finds each output's place in its own.
fn stored(graph: &Graph, binding: &Binding<'_>, results: &[View<'_>]) -> Result<Vec<Stored>, Error> {
    let joined = graph.results();
    if joined.len() != results.len() {
        return Err(Error::Count { what: "outputs", expected: joined.len(), got: results.len() });
    }
    let mut stored = Vec::with_capacity(graph.outputs.len());
    for (number, (result, view)) in joined.iter().zip(results).enumerate() {
        check_output(graph, number, view, (result.dims, &binding.result(result)?))?;
        parts(graph, binding, (number, result), view, &mut stored)?;
    }
    Ok(stored)
}

fn parts(
    graph: &Graph,
    binding: &Binding<'_>,
    (number, result): (usize, &Joined<'_>),
    view: &View<'_>,
    stored: &mut Vec<Stored>,
) -> Result<(), Error> {
    let mut before = 0;
    for output in result.outputs.clone() {
        let (dims, sizes) = (&graph.outputs[output].dims, binding.part(result, output)?);
        let (mut axes, mut start) = (view.axes.to_vec(), 0);
        let along = |dim: &DimId| Some(*dim) == result.along;
        if let Some(axis) = axes.iter_mut().find(|a| along(&a.dim))
            && let Some(i) = result.dims.iter().position(along)
        {
            start = before * axis.stride;
            before += sizes[i];
            axis.extent = sizes[i];
        }
        if let Some(partial) = graph.partial(output) {
            axes.iter_mut().for_each(|a| a.dim = partial.inner_dim(a.dim));
        }
        axes.retain(|a| dims.contains(&a.dim));
        let bytes = start * graph.node(graph.outputs[output].node).dtype.size() as i64;
        let alignment =
            if bytes == 0 { view.alignment } else { view.alignment.min(1 << bytes.trailing_zeros().min(4)) };
        let target = Target { result: number, start, lowest: View::origin(view.axes) + start - View::origin(&axes) };
        stored.push(Stored { axes, place: view.place, alignment, target, part: result.outputs.len() > 1 });
    }
    Ok(())
}

/// The outputs of each section: one that has all of its loops, and those that have some of them, equally long. What has no points
/// takes part in none, unless nothing has.
fn groups(graph: &Graph, binding: &Binding<'_>, stored: &[Stored]) -> Result<Vec<Vec<usize>>, Error> {
    let mut loops = Vec::with_capacity(stored.len());
    let mut empty: Vec<bool> = stored.iter().map(Stored::is_empty).collect();
    for (output, one) in stored.iter().enumerate() {
        let mut of: Vec<(DimId, i64)> = match graph.partial(output) {
            Some(p) => {
                p.world.iter().map(|(d, size)| Ok((*d, binding.size(*d, *size)?))).collect::<Result<_, Error>>()?
            }
            None => one.axes.iter().map(|a| (a.dim, a.extent)).collect(),
        };
        // Nothing is stored where a loop has no points.
        empty[output] |= of.iter().any(|(_, n)| *n == 0);
        for root in graph.roots(output) {
            of.extend(reduced(graph, binding, root)?);
        }
        of.sort_unstable();
        of.dedup();
        loops.push(of);
    }
    let all_empty = empty.iter().all(|e| *e);
    let mut order: Vec<usize> = (0..stored.len()).filter(|i| all_empty || !empty[*i]).collect();
    order.sort_by_key(|i| std::cmp::Reverse(loops[*i].len()));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for output in order {
        let apart = |other: &usize| stored[output].part && stored[*other].target.result == stored[output].target.result;
        // What meets may have places of its own in each block; a result with elements has no loops in common with one without.
        let alone = |other: &usize| {
            let meets = |p: &Partial| p.collision.operation().is_some() || !p.places.is_empty() && empty[*other];
            graph.partial(*other).is_some_and(meets)
        };
        let fits = |group: &&mut Vec<usize>| {
            !group.iter().chain([&output]).any(alone)
                && !group.iter().any(apart)
                && loops[output].iter().all(|l| loops[group[0]].contains(l))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(output),
            None => groups.push(vec![output]),
        }
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort_unstable();
    Ok(groups)
}
