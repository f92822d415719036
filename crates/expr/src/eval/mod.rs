//! Host evaluation: the same lowered program as the kernel's, interpreted in blocks of the inner dimension on all cores.
//!
//! What varies along the inner dimension is a block of 1024 values that stays in the first-level cache; what does not is
//! computed once per row, and what rows have in common once for a strip of them. Of short rows a block has several (`bands`).
//! Every operation is the function that constant folding uses, so the bits are the device's.

mod bands;
mod calls;
mod group;
mod kept;
mod kernel;
mod lanes;
mod lines;
mod loads;
mod meet;
mod memory;
mod raw;
mod scan;
mod schedule;
#[cfg(target_arch = "x86_64")]
mod shuffles;
mod steps;
mod values;
mod worker;

use crate::dtype::{HostSlice, HostSliceMut};
use crate::error::Error;
use crate::graph::Graph;
use crate::plan::Plan;
use crate::program::Goal;
use bands::{BandWorker, Bands};
pub(crate) use calls::each;
pub use kernel::HostKernel;
#[doc(hidden)]
pub use lanes::Lane;
pub(crate) use lanes::{Arg, fill};
use raw::Target;
pub(crate) use raw::{Work, wide};
use rayon::prelude::*;
use schedule::Schedule;
use std::sync::atomic::{AtomicU32, Ordering};
use worker::Worker;

/// Points of the inner dimension that are computed together.
const BLOCK: usize = 1024;
/// Blocks that one task computes, at most.
const TASK: usize = 64;

/// One section: loops that all its outputs have.
#[derive(Debug)]
struct HostSection {
    /// A turn for each level of shared reductions, then the one that stores.
    turns: Vec<Schedule>,
    /// How its rows are computed together, if they are short.
    bands: Option<Bands>,
    plan: Plan,
}

impl HostSection {
    fn new(graph: &Graph, plan: Plan) -> Result<HostSection, Error> {
        let program = Schedule::program(graph, &plan)?;
        let levels = (0..program.levels()).map(Goal::Level);
        let turns = levels.chain([Goal::Stores]).map(|goal| Schedule::new(program.aimed(goal), &plan));
        let turns: Vec<Schedule> = turns.collect();
        let bands = Bands::new(&turns[turns.len() - 1], &plan);
        Ok(HostSection { turns, bands, plan })
    }

    /// Computes every output.
    fn run(&self, inputs: &[HostSlice<'_>], outputs: &mut [HostSliceMut<'_>]) -> Result<(), Error> {
        self.check_memory(inputs, outputs)?;
        if self.plan.points() == 0 {
            return Ok(());
        }
        let failed = AtomicU32::new(0);
        let targets: Vec<Target<'_>> = outputs.iter_mut().map(Target::new).collect();
        let place = |turn: usize| Worker::new(self, turn, inputs, &targets, &failed);
        match (&self.plan.group, &self.bands) {
            (Some(group), _) => group::run(&self.plan, group, &self.turns, &place),
            (None, Some(bands)) => self.run_bands(bands, &place),
            (None, None) => self.run_blocks(&place),
        }
        match failed.load(Ordering::Relaxed) {
            0 => {}
            word => return Err(Error::of_word(word)),
        }
        let met = |(output, target): (usize, &Target<'_>)| Some(Error::Met { output, place: target.met()? });
        targets.iter().enumerate().find_map(met).map_or(Ok(()), Err)
    }

    fn run_bands<'a>(&'a self, bands: &'a Bands, place: &(dyn Fn(usize) -> Worker<'a> + Sync)) {
        let columns = self.plan.inner().map_or(1, |w| w.extent) as usize;
        let rows = self.plan.points() as usize / columns;
        let task = (TASK * BLOCK / columns).min(rows.div_ceil(4 * rayon::current_num_threads())).max(bands.rows());
        (0..rows.div_ceil(task)).into_par_iter().for_each_init(
            || BandWorker::new(place(0), bands),
            |worker, t| worker.run(t * task, ((t + 1) * task).min(rows)),
        );
    }

    fn run_blocks<'a>(&self, place: &(dyn Fn(usize) -> Worker<'a> + Sync)) {
        let inner = self.plan.inner().map_or(1, |w| w.extent) as usize;
        let per_row = inner.div_ceil(BLOCK);
        let rows = self.plan.points() as usize / inner;
        let task = TASK.min((rows * per_row).div_ceil(4 * rayon::current_num_threads())).max(1);
        // A task is a strip of columns where rows share values, else a run of blocks.
        let strip = if self.turns[0].shares_rows() { 1 } else { per_row };
        let strips = per_row / strip;
        let blocks = rows * strip;
        (0..blocks.div_ceil(task) * strips).into_par_iter().for_each_init(
            || place(0),
            |worker, t| {
                let (first, part) = (t / strips * task, t % strips);
                for block in first..(first + task).min(blocks) {
                    let start = (part + block % strip) * BLOCK;
                    worker.block(block / strip, start, BLOCK.min(inner - start));
                }
            },
        );
    }
}
