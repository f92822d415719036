//! Which configuration the weights' gradient takes: all legal ones of a grid, and an estimate of their time.

use super::problem::{Pass, Problem};
use super::row_plan::{Multiprocessor, STRIP};
use super::weight_plan::{WeightConfig, WeightPlan};
use tilewright_perf::DeviceFacts;

const STRIPS: [usize; 8] = [8, 7, 6, 5, 4, 3, 2, 1];
const ALONG: [usize; 5] = [1, 2, 4, 8, 16];
const IMAGES: [usize; 4] = [1, 2, 4, 8];
const ROWS: [usize; 10] = [1, 2, 3, 4, 6, 7, 8, 14, 16, 28];
/// Blocks that the parts are to make, for each multiprocessor.
const WAVES: [f64; 4] = [1.0, 2.0, 3.0, 4.0];

/// Cycles of a product on a tensor core, and tensor cores of a multiprocessor.
const PRODUCT: f64 = 6.1;
const CORES: f64 = 4.0;
const CLOCK: f64 = 1.7e9;

/// The legal configurations that a choice is made of.
pub fn weight_candidates(problem: &Problem, sm: Multiprocessor, multiprocessors: usize) -> Vec<WeightConfig> {
    plans(problem, sm, multiprocessors as f64).map(|(config, _)| config).collect()
}

fn plans(
    problem: &Problem,
    sm: Multiprocessor,
    multiprocessors: f64,
) -> impl Iterator<Item = (WeightConfig, WeightPlan)> {
    let problem = *problem;
    let rows = problem.output()[0];
    let mut heights: Vec<usize> = ROWS.into_iter().chain([rows]).filter(|r| *r <= rows).collect();
    heights.sort_unstable();
    heights.dedup();
    let strips = STRIPS.into_iter().filter(move |s| (s - 1) * STRIP < problem.channels().next_multiple_of(2 * STRIP));
    strips.flat_map(move |strips| {
        let heights = heights.clone();
        ALONG.into_iter().flat_map(move |along| {
            let heights = heights.clone();
            IMAGES.into_iter().flat_map(move |images| {
                let of_rows = move |rows| (2..=4).map(move |slots| (rows, slots));
                heights.clone().into_iter().flat_map(of_rows).flat_map(move |(rows, slots)| {
                    let least = WeightConfig { strips, along, images, rows, items: 1, slots };
                    lengths(&problem, least, sm, multiprocessors)
                })
            })
        })
    })
}

/// A configuration with as many stages a block as fill the multiprocessors once or several times.
fn lengths(
    problem: &Problem,
    config: WeightConfig,
    sm: Multiprocessor,
    multiprocessors: f64,
) -> Vec<(WeightConfig, WeightPlan)> {
    let Ok(least) = WeightPlan::new(*problem, config, sm) else { return Vec::new() };
    let mut lengths = WAVES.map(|waves| {
        let parts = (waves * multiprocessors / least.blocks_k as f64).floor().clamp(1.0, least.parts as f64);
        least.parts.div_ceil(parts as usize)
    });
    lengths.sort_unstable();
    let mut lengths = lengths.to_vec();
    lengths.dedup();
    let legal = |items| {
        let config = WeightConfig { items, ..config };
        WeightPlan::new(*problem, config, sm).ok().map(|plan| (config, plan))
    };
    lengths.into_iter().filter_map(legal).collect()
}

/// The configuration of the shortest estimate; where none of the grid is legal, the smallest there is.
pub(crate) fn chosen_weights(problem: &Problem, sm: Multiprocessor, facts: &DeviceFacts) -> WeightConfig {
    let smallest =
        WeightConfig { strips: problem.group_width.div_ceil(STRIP), along: 1, images: 1, rows: 1, items: 1, slots: 2 };
    plans(problem, sm, facts.multiprocessors)
        .map(|(config, plan)| (config, seconds(problem, &config, &plan, sm, facts)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(smallest, |(config, _)| config)
}

/// About as long as a configuration takes: what its slowest multiprocessor reads, copies and multiplies, and what parts cost.
fn seconds(
    problem: &Problem,
    config: &WeightConfig,
    plan: &WeightPlan,
    sm: Multiprocessor,
    facts: &DeviceFacts,
) -> f64 {
    let element = problem.precision.bytes() as f64;
    let threads = 32 * plan.warps;
    let by_registers = 65_536 / (threads * (plan.registers + 16).min(255));
    let resident = (sm.shared_bytes / (plan.shared_bytes + 1024)).min(by_registers).min(2048 / threads).max(1) as f64;
    let waves = (plan.blocks() as f64 / (facts.multiprocessors * resident)).ceil();
    let at_once = resident.min((plan.blocks() as f64 / facts.multiprocessors).ceil());
    let stages = waves * plan.items() as f64;
    let channels = (config.strips * STRIP) as f64;
    let pixels = (plan.read + plan.products * 32 / problem.precision.bytes()) as f64;
    let bytes = pixels * channels * element;
    let pairs = (problem.kernel[0] * problem.kernel[1]).div_ceil(2) as f64;
    let units = plan.warps as f64 / config.along as f64;
    // Warps of a strip take so many products each; few warps do not keep the cores busy.
    let turns = plan.products.div_ceil(config.along) as f64;
    let issue = turns * (pairs * 16.0 + 70.0);
    let multiplied = (turns * config.along as f64 * units * pairs * PRODUCT / CORES * at_once)
        .max(issue * (plan.warps as f64 * at_once / CORES / 2.0).max(1.0));
    // A copy of a thread has one cell and about twenty instructions.
    let copied = bytes / 16.0 * 20.0 / 32.0 / CORES * at_once;
    let per_multiprocessor = facts.l2_bandwidth / facts.multiprocessors / CLOCK;
    let moved = bytes * at_once / per_multiprocessor;
    let in_flight = bytes * (config.slots - 1) as f64 * at_once;
    let waited = 1_000.0 * bytes * at_once / in_flight;
    let stage = (multiplied + copied).max(moved).max(waited) + 200.0;
    let least = problem.bytes(Pass::GradWeight) / facts.memory_bandwidth;
    let parts = 2.0 * plan.workspace() as f64 / facts.l2_bandwidth;
    (stages * stage / CLOCK).max(least) + parts + waves * 3e-6
}
