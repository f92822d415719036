//! What is measured: of each shape and pass a sample of configurations, the same in every run.

use crate::{Result, shapes};
use rayon::prelude::*;
use std::collections::HashSet;
use tilewright_ops::conv::{Multiprocessor, Pass, Problem, RowConfig, RowOperation};
use tilewright_perf::dataset::Row;

/// The shapes of a run. Those that are held out have a data set of their own, which no training reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum List {
    /// Those that are trained on.
    Training,
    /// Those that are not.
    HeldOut,
}

impl List {
    /// The data set of an operation.
    pub fn file(self, op: &str) -> String {
        match self {
            List::Training => format!("{op}.csv.gz"),
            List::HeldOut => format!("{op}-held-out.csv.gz"),
        }
    }

    fn shapes(self) -> Result<Vec<Problem>> {
        match self {
            List::Training => shapes::training(),
            List::HeldOut => shapes::held_out(),
        }
    }
}

/// How many configurations of a shape and pass.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Those that the estimate expects to be fastest.
    pub best: usize,
    /// More, at random among the [`NEAR`] that it expects to be fastest.
    pub near: usize,
    /// More, at random among all.
    pub random: usize,
}

/// The configurations among which a choice is made.
pub const NEAR: usize = 400;

/// A shape and a pass with configurations to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The shape.
    pub problem: Problem,
    /// The pass.
    pub pass: Pass,
    /// What the estimate takes.
    pub estimated: RowConfig,
    /// What is measured.
    pub configs: Vec<RowConfig>,
}

impl Group {
    /// Its name in messages.
    pub fn name(&self) -> String {
        let Problem { images, height, width, group_width, kernel, stride, dilation, precision, .. } = self.problem;
        let [rows, columns] = kernel;
        let channels = self.problem.channels();
        let [s, d] = [stride, dilation].map(|step| step[0]);
        let pass = self.pass.name();
        format!("{pass} {images}x{height}x{width}x{channels} w{group_width} {rows}x{columns} s{s} d{d} {precision:?}")
    }
}

/// The groups of a GPU of so many multiprocessors, without what is known, in an order in which the first of them are a sample of all.
pub fn planned(
    list: List,
    sampling: Sampling,
    sm: Multiprocessor,
    multiprocessors: usize,
    known: &[Row],
) -> Result<Vec<Group>> {
    let passes = [Pass::Forward, Pass::GradInput];
    let mut wanted: Vec<(Problem, Pass)> =
        list.shapes()?.into_iter().flat_map(|problem| passes.map(|pass| (problem, pass))).collect();
    let mut random = Random(list as u64 + 1);
    random.shuffle(&mut wanted);
    let known: HashSet<_> = known.iter().map(|row| (&row.problem, &row.configuration)).collect();
    let group = |(at, (problem, pass)): (usize, (Problem, Pass))| {
        let all: Vec<RowConfig> = RowOperation::estimates(&problem, pass, sm, multiprocessors)
            .into_iter()
            .map(|(_, config)| config)
            .collect();
        let estimated = *all.first()?;
        let named = RowOperation::problem(&problem, pass);
        let mut configs = sampled(&all, sampling, &mut Random(at as u64 + 1000));
        configs.retain(|config| !known.contains(&(&named, &RowOperation::configuration(config))));
        Some(Group { problem, pass, estimated, configs })
    };
    let groups: Vec<Group> = wanted.into_par_iter().enumerate().filter_map(group).collect();
    Ok(groups.into_iter().filter(|group| !group.configs.is_empty()).collect())
}

/// Of configurations in the order of their estimated times, each once.
fn sampled(all: &[RowConfig], Sampling { best, near, random }: Sampling, numbers: &mut Random) -> Vec<RowConfig> {
    let mut taken: Vec<RowConfig> = all.iter().take(best).copied().collect();
    for (count, end) in [(near, NEAR), (random, usize::MAX)] {
        let mut rest: Vec<RowConfig> = all.iter().take(end).copied().filter(|it| !taken.contains(it)).collect();
        numbers.shuffle(&mut rest);
        taken.extend(rest.into_iter().take(count));
    }
    taken
}

/// SplitMix64: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        (1..items.len()).rev().for_each(|last| items.swap(last, self.below(last + 1)));
    }
}
