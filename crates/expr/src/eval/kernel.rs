//! [`HostKernel`]: every section of an expression, one after the other.

use super::HostSection;
use super::calls::check_calls;
use crate::bind::{Binding, View};
use crate::dtype::{HostSlice, HostSliceMut};
use crate::error::Error;
use crate::graph::Graph;
use crate::sections::{Sections, Target};

/// An expression compiled for the host, for operands of these sizes and layouts.
#[derive(Debug)]
pub struct HostKernel {
    sections: Vec<Placed>,
    operands: usize,
    results: usize,
}

/// A section, what it reads, and where it writes.
#[derive(Debug)]
struct Placed {
    section: HostSection,
    operands: Vec<usize>,
    targets: Vec<Target>,
}

impl HostKernel {
    /// Plans the evaluation; sizes are checked as for a kernel.
    pub fn new(graph: &Graph, views: &[View<'_>], results: &[View<'_>]) -> Result<HostKernel, Error> {
        check_calls(graph)?;
        let fills = Sections::host_fills(graph, views, results)?.map_or(Vec::new(), |fills| fills.list);
        let sections = Sections::host(graph, views, results)?.list;
        let sections = fills.into_iter().chain(sections).map(|s| {
            let section = HostSection::new(&s.graph, s.plan)?;
            Ok(Placed { section, operands: s.operands, targets: s.targets })
        });
        let sections = sections.collect::<Result<_, Error>>()?;
        Ok(HostKernel { sections, operands: views.len(), results: results.len() })
    }

    /// The sizes of result `result` for operands of these sizes.
    pub fn output_extents(graph: &Graph, views: &[View<'_>], result: usize) -> Result<Vec<i64>, Error> {
        Binding::new(graph, views)?.result(&graph.results()[result])
    }

    /// Computes every result.
    pub fn run(&self, inputs: &[HostSlice<'_>], outputs: &mut [HostSliceMut<'_>]) -> Result<(), Error> {
        count("operands", self.operands, inputs.len())?;
        count("outputs", self.results, outputs.len())?;
        let mut first = Ok(());
        for placed in &self.sections {
            let inputs: Vec<HostSlice<'_>> = placed.operands.iter().map(|i| inputs[*i]).collect();
            // Outputs of a section are of different results, in their order.
            let target =
                |(result, slice): (usize, _)| Some((slice, placed.targets.iter().find(|t| t.result == result)?));
            let mine = outputs.iter_mut().enumerate().filter_map(target);
            let start = |t: &Target| usize::try_from(t.lowest).unwrap_or(usize::MAX);
            let mut slices: Vec<HostSliceMut<'_>> =
                mine.map(|(slice, t): (&mut HostSliceMut<'_>, _)| slice.tail(start(t))).collect();
            let met = |e| match e {
                Error::Met { output, place } => {
                    let target = &placed.targets[output];
                    Error::Met { output: target.result, place: place + start(target) }
                }
                other => other,
            };
            first = first.and(placed.section.run(&inputs, &mut slices).map_err(met));
        }
        first
    }
}

fn count(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::Count { what, expected, got }) }
}
