//! What is measured: of each shape and pass a sample of configurations, the same in every run.

use super::grouped::{For, Grouped};
use super::timing::{Timed, time};
use crate::session::Session;
use crate::{Result, shapes};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use tilewright_ops::Error;
use tilewright_ops::conv::{KernelConfig, Multiprocessor, Pass, Problem, RowOperation, WeightOperation};
use tilewright_perf::dataset::{Named, Row};
use tilewright_perf::training::Operation;
use tilewright_perf::{DeviceFacts, Models};

/// What is tuned of convolutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A convolution's result, and its input's gradient.
    Conv2d,
    /// Its weights' gradient.
    Conv2dGradWeight,
}

impl Op {
    /// The operation's name in models and data sets.
    pub fn name(self) -> String {
        match self {
            Op::Conv2d => RowOperation.name().into(),
            Op::Conv2dGradWeight => WeightOperation.name().into(),
        }
    }

    fn passes(self) -> &'static [Pass] {
        match self {
            Op::Conv2d => &[Pass::Forward, Pass::GradInput],
            Op::Conv2dGradWeight => &[Pass::GradWeight],
        }
    }
}

/// All that are worth a look, in the order of their estimated times.
fn candidates(problem: &Problem, pass: Pass, asked: &Asked<'_>) -> Vec<KernelConfig> {
    if pass == Pass::GradWeight {
        let estimates = WeightOperation::estimates(problem, asked.sm, asked.device);
        return estimates.into_iter().map(|(_, config)| KernelConfig::Weights(config)).collect();
    }
    let estimates = RowOperation::estimates(problem, pass, asked.sm, asked.device);
    estimates.into_iter().map(|(_, config)| KernelConfig::Rows(config)).collect()
}

/// Of what models choose, those to time.
fn to_time(count: usize, problem: &Problem, pass: Pass, asked: &Asked<'_>) -> Vec<KernelConfig> {
    let Asked { sm, device, models } = *asked;
    if pass == Pass::GradWeight {
        let listed = WeightOperation::to_time(count, models, problem, sm, device);
        return listed.into_iter().map(KernelConfig::Weights).collect();
    }
    RowOperation::to_time(count, models, problem, pass, sm, device).into_iter().map(KernelConfig::Rows).collect()
}

/// Strips of a block.
pub fn strips_of(config: KernelConfig) -> usize {
    match config {
        KernelConfig::Rows(config) => config.strips,
        KernelConfig::Depthwise(config) => config.strips,
        KernelConfig::Weights(config) => config.strips,
    }
}

/// The inverse of [`names`]; nothing where names are missing.
fn of_named(named: &Named, op: Op) -> Option<KernelConfig> {
    match op {
        Op::Conv2d => RowOperation::of_configuration(named).ok().map(KernelConfig::Rows),
        Op::Conv2dGradWeight => WeightOperation::of_configuration(named).ok().map(KernelConfig::Weights),
    }
}

/// As rows of data sets have it: without names that of the kernel in which lanes multiply, which no model chooses.
fn names(config: &KernelConfig) -> Named {
    match config {
        KernelConfig::Rows(config) => RowOperation::configuration(config),
        KernelConfig::Depthwise(_) => Named::new(),
        KernelConfig::Weights(config) => WeightOperation::configuration(config),
    }
}

/// The shapes of a run. Those that are held out have a data set of their own, which no training reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum List {
    /// Those that are trained on.
    Training,
    /// More of them, of odd sizes: rows for the same data set.
    TrainingOdd,
    /// More of them, drawn at random: rows for the same data set.
    TrainingRandom,
    /// More of them, whose rows threads bring: rows for the same data set.
    TrainingThreads,
    /// More of them, drawn at random and unlike all of these: rows for the same data set.
    TrainingFurther,
    /// More of them, of f32 and bf16 in groups of every width: rows for the same data set.
    TrainingTypes,
    /// Those that are not.
    HeldOut,
    /// More that are not, which no plan was chosen by either: they have a data set of their own.
    HeldOutFresh,
}

impl List {
    /// The data set of an operation.
    pub fn file(self, op: &str) -> String {
        match self {
            List::HeldOut => format!("{op}-held-out.csv.gz"),
            List::HeldOutFresh => format!("{op}-held-out-fresh.csv.gz"),
            _ => format!("{op}.csv.gz"),
        }
    }

    pub(super) fn seed(self) -> u64 {
        match self {
            List::Training => 1,
            List::HeldOut => 2,
            List::TrainingOdd => 3,
            List::TrainingRandom => 4,
            List::TrainingThreads => 5,
            List::TrainingFurther => 6,
            List::TrainingTypes => 7,
            List::HeldOutFresh => 8,
        }
    }

    /// Its shapes.
    pub fn shapes(self) -> Result<Vec<Problem>> {
        match self {
            List::Training => shapes::training(),
            List::TrainingOdd => shapes::training_odd(),
            List::TrainingRandom => shapes::training_random(),
            List::TrainingThreads => shapes::training_threads(),
            List::TrainingFurther => shapes::training_further(),
            List::TrainingTypes => shapes::training_types(),
            List::HeldOut => shapes::held_out(),
            List::HeldOutFresh => shapes::held_out_fresh(),
        }
    }
}

/// Who is asked what is worth measuring.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What a block can have.
    pub sm: Multiprocessor,
    /// The GPU.
    pub device: &'a DeviceFacts,
    /// The models of [`Sampling::chosen`].
    pub models: &'a Models,
}

/// How many configurations of a shape and pass.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// The first that models choose: where they are wrong, the next ones learn it.
    pub chosen: usize,
    /// More, that the estimate expects to be fastest.
    pub best: usize,
    /// More, of each number of strips that it expects to be fastest: where the estimate is off between them, models learn it.
    pub strips: usize,
    /// More, at random among the [`NEAR`] that it expects to be fastest.
    pub near: usize,
    /// More, at random among all.
    pub random: usize,
    /// So many that are known to be the fastest are measured again, and so is what models choose: one GPU is some percent faster than the next of its kind, so that the
    /// best of several runs is what the fastest of them did.
    pub again: usize,
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
    pub estimated: KernelConfig,
    /// What is measured.
    pub configs: Vec<KernelConfig>,
}

impl Grouped for Group {
    type Config = KernelConfig;

    fn name(&self) -> String {
        let Problem { images, height, width, group_width, kernel, stride, dilation, precision, .. } = self.problem;
        let [rows, columns] = kernel;
        let channels = self.problem.channels();
        let [s, d] = [stride, dilation].map(|step| step[0]);
        let pass = self.pass.name();
        format!("{pass} {images}x{height}x{width}x{channels} w{group_width} {rows}x{columns} s{s} d{d} {precision:?}")
    }

    fn configs(&self) -> &[KernelConfig] {
        &self.configs
    }

    fn plain(&self) -> KernelConfig {
        self.estimated
    }

    fn problem(&self) -> Named {
        RowOperation::problem(&self.problem, self.pass)
    }

    fn named(&self, config: KernelConfig) -> Named {
        names(&config)
    }

    fn compile(&self, config: KernelConfig, (sm, arch): For) -> std::result::Result<(), Error> {
        config.compile(&self.problem, self.pass, sm, arch)
    }

    fn time(&self, session: &Session, configs: &[KernelConfig]) -> Result<Vec<Timed>> {
        time(session, self, configs)
    }
}

/// The groups, without what is known: first those of which the fewest rows are known, otherwise in an order in which the first of them are a sample of all.
pub fn planned((op, list): (Op, List), sampling: Sampling, asked: &Asked<'_>, known: &[Row]) -> Result<Vec<Group>> {
    let mut wanted: Vec<(Problem, Pass)> =
        list.shapes()?.into_iter().flat_map(|problem| op.passes().iter().map(move |pass| (problem, *pass))).collect();
    let mut random = Random(list.seed());
    random.shuffle(&mut wanted);
    let mut rows = HashMap::<_, Vec<&Row>>::new();
    known.iter().for_each(|row| rows.entry(&row.problem).or_default().push(row));
    let group = |(at, (problem, pass)): (usize, (Problem, Pass))| {
        let all = candidates(&problem, pass, asked);
        let estimated = *all.first()?;
        let named = RowOperation::problem(&problem, pass);
        let known = rows.get(&named).map_or(&[][..], |rows| &rows[..]);
        let chosen = to_time(sampling.chosen, &problem, pass, asked);
        let mut configs = [chosen.clone(), sampled(&all, sampling, &mut Random(at as u64 + 1000))].concat();
        let measured: HashSet<_> = known.iter().map(|row| &row.configuration).collect();
        configs.retain(|config| !measured.contains(&names(config)));
        if sampling.again > 0 {
            configs.extend(chosen);
            configs.extend(fastest(known, op, sampling.again));
        }
        let mut taken = HashSet::new();
        configs.retain(|config| taken.insert(*config));
        Some((known.len(), Group { problem, pass, estimated, configs }))
    };
    let mut groups: Vec<(usize, Group)> = wanted.into_par_iter().enumerate().filter_map(group).collect();
    groups.sort_by_key(|(known, _)| *known);
    Ok(groups.into_iter().map(|(_, group)| group).filter(|group| !group.configs.is_empty()).collect())
}

/// Of a problem's rows the configurations of the fastest.
fn fastest(known: &[&Row], op: Op, count: usize) -> Vec<KernelConfig> {
    let mut known = known.to_vec();
    known.sort_by(|a, b| a.median_us.total_cmp(&b.median_us));
    known.iter().filter_map(|row| of_named(&row.configuration, op)).take(count).collect()
}

/// Of configurations in the order of their estimated times, each once.
fn sampled(
    all: &[KernelConfig],
    Sampling { best, strips, near, random, .. }: Sampling,
    numbers: &mut Random,
) -> Vec<KernelConfig> {
    let mut taken: Vec<KernelConfig> = all.iter().take(best).copied().collect();
    let mut of_strips = HashMap::new();
    let is_wanted = |it: &&KernelConfig| {
        let count = of_strips.entry(strips_of(**it)).or_insert(0);
        *count += 1;
        *count <= strips
    };
    let wanted: Vec<KernelConfig> = all.iter().filter(is_wanted).copied().filter(|it| !taken.contains(it)).collect();
    taken.extend(wanted);
    for (count, end) in [(near, NEAR), (random, usize::MAX)] {
        let mut rest: Vec<KernelConfig> = all.iter().take(end).copied().filter(|it| !taken.contains(it)).collect();
        numbers.shuffle(&mut rest);
        taken.extend(rest.into_iter().take(count));
    }
    taken
}

/// SplitMix64: the same numbers everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        (1..items.len()).rev().for_each(|last| items.swap(last, self.below(last + 1)));
    }
}
