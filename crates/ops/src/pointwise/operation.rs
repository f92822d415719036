//! [`PointwiseOperation`]: a pointwise kernel as the learned model sees it. All that names a configuration's fields for it stands here.

use super::problem::PointwiseProblem;
use crate::fields::{self, Field};
use tilewright_expr::plan::Pointwise;
use tilewright_perf::dataset::Named;
use tilewright_perf::training::{Operation, Plan};
use tilewright_perf::{DeviceFacts, Error, Features, GbtParams, Unit, Work};

/// Fused pointwise kernels: operation `pointwise` of models and data sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointwiseOperation;

/// The name of models and rows.
pub(super) const NAME: &str = "pointwise";

const FIELDS: [Field<Pointwise>; 3] = [
    ("lanes", |it| it.lanes as usize, |it, value| it.lanes = value as u32),
    ("words", |it| it.words as usize, |it, value| it.words = value as u32),
    ("threads", |it| it.threads as usize, |it, value| it.threads = value as u32),
];

/// What the model is told besides the general features.
const DIMENSIONS: [&str; 2] = ["inner", "outer"];
const FLAGS: [&str; 30] = [
    "log_lanes",
    "log_words",
    "log_block_threads",
    "log_untold_lanes",
    "values",
    "held",
    "rank",
    "side_by_side",
    "known_inner",
    "whole",
    "aligned",
    "operands",
    "results",
    "read_beside",
    "read_apart",
    "read_again",
    "read_gathered",
    "sent",
    "written_beside",
    "written_apart",
    "narrowest",
    "widest",
    "narrowest_access",
    "widest_access",
    "light",
    "heavy",
    "wide",
    "nodes",
    "log_points",
    "log_block_points",
];

/// Bytes that memory moves for an element in steps.
const SECTOR: usize = 32;
/// How many operations a heavy one counts as.
const HEAVY: usize = 8;

impl PointwiseOperation {
    /// A configuration as rows of data sets have it.
    pub fn configuration(config: &Pointwise) -> Named {
        fields::configuration(FIELDS, config)
    }

    /// The inverse of [`PointwiseOperation::configuration`]. Refuses names that are missing; whether it is legal a problem decides.
    pub fn of_configuration(configuration: &Named) -> Result<Pointwise, Error> {
        let mut config = Pointwise { lanes: 1, words: 1, threads: 1 };
        fields::set_all(NAME, &FIELDS, configuration, &mut config)?;
        Ok(config)
    }
}

impl Operation for PointwiseOperation {
    fn name(&self) -> &str {
        NAME
    }

    fn features(&self) -> Result<Features, Error> {
        Features::new(&DIMENSIONS, &FLAGS)
    }

    fn work(&self, problem: &Named, configuration: &Named, _device: &DeviceFacts) -> Result<Work, Error> {
        let problem = PointwiseProblem::of_names(problem)?;
        let config = PointwiseOperation::of_configuration(configuration)?;
        problem.division().check(config).map_err(|error| fields::refused(NAME, error.to_string()))?;
        Ok(work(&problem, config))
    }

    /// Fewer and smaller trees than others have: a choice is made whenever a call is planned, and is to take a tenth of a millisecond.
    fn plan(&self) -> Plan {
        let params = GbtParams::default().trees(90).depth(5).rate(0.15).early_stopping(0.1, 20);
        Plan { params, ..Plan::default() }
    }
}

/// What the blocks of a configuration do.
pub(super) fn work(problem: &PointwiseProblem, config: Pointwise) -> Work {
    let division = problem.division();
    let ([x, y], blocks) = (division.block(config), division.blocks(config));
    let points = problem.inner as f32 * problem.outer as f32 * problem.rest as f32;
    let each = (config.lanes * config.words) as usize;
    let [along, across] = if division.side_by_side { [each, 1] } else { [1, each] };
    let covered = blocks.map(|n| n as f32);
    let covered = [covered[0] * x as f32 * along as f32, covered[1] * y as f32 * across as f32];
    let operations = (problem.light + HEAVY * problem.heavy) as f32;
    let read = problem.read_beside + problem.read_apart + problem.read_gathered;
    let threads = x * y;
    let work = Work {
        bytes_read: problem.bytes_read as f32,
        bytes_written: problem.bytes_written as f32,
        bytes_moved: points * moved(problem) as f32,
        flops: points * operations,
        flops_done: covered[0] * covered[1] * problem.rest as f32 * operations,
        unit: if 2 * problem.wide > problem.light + problem.heavy { Unit::F64 } else { Unit::F32 },
        blocks: blocks.iter().map(|n| *n as f32).product(),
        threads,
        registers: registers(problem, each, threads),
        bytes_in_flight: (threads as usize * each).saturating_mul(read).min(1 << 24) as u32,
        ..Work::default()
    };
    let useful = [problem.inner, problem.outer].map(|n| n as f32);
    let work =
        useful.into_iter().zip(covered).fold(work, |work, (useful, padded)| work.dimension(useful, padded.max(useful)));
    flags(problem, config, (points, threads as usize * each)).into_iter().fold(work, Work::flag)
}

/// Bytes of a point between L2 and multiprocessors: of what is read and written in steps whole sectors.
fn moved(problem: &PointwiseProblem) -> usize {
    let sectors = |bytes: usize| bytes * SECTOR / problem.widest.max(1);
    let whole = problem.read_beside + problem.written_beside + problem.read_again / 8;
    whole + sectors(problem.read_apart) + sectors(problem.written_apart) + 2 * problem.read_gathered
}

/// A guess: addresses, and the values of all points of a thread; as many as a block has room for.
fn registers(problem: &PointwiseProblem, points: usize, threads: u32) -> u32 {
    let values = problem.read_beside
        + problem.read_apart
        + problem.read_gathered
        + problem.written_beside
        + problem.written_apart;
    let guessed = 18 + 4 * problem.operands + points * values.div_ceil(4).max(problem.held);
    (guessed as u32).min(255).min(65_536 / threads)
}

/// [`FLAGS`], for so many points and points of a block.
fn flags(problem: &PointwiseProblem, config: Pointwise, (points, of_block): (f32, usize)) -> [f32; FLAGS.len()] {
    let log = |value: usize| (value as f32).log2();
    let number = |value: usize| value as f32;
    // Counts of operations go up to thousands.
    let count = |value: usize| (1.0 + value as f32).log2();
    let lanes = config.lanes as usize;
    let inner = if problem.side_by_side != 0 { lanes } else { 1 };
    let access = |size: usize| number((inner * size).min(16));
    [
        log(lanes),
        log(config.words as usize),
        log(config.threads as usize),
        log(problem.lanes),
        number(lanes * config.words as usize * problem.held),
        number(problem.held),
        number(problem.rank.min(8)),
        number(problem.side_by_side),
        number(problem.known_inner),
        number(usize::from(lanes <= problem.divisor)),
        number(problem.aligned),
        number(problem.operands),
        number(problem.results),
        number(problem.read_beside),
        number(problem.read_apart),
        number(problem.read_again),
        number(problem.read_gathered),
        number(problem.sent),
        number(problem.written_beside),
        number(problem.written_apart),
        number(problem.narrowest),
        number(problem.widest),
        access(problem.narrowest),
        access(problem.widest),
        count(problem.light),
        count(problem.heavy),
        count(problem.wide),
        count(problem.nodes),
        points.log2(),
        log(of_block),
    ]
}
