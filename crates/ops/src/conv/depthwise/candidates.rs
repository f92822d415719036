//! The configurations that are worth a look, by what the estimate expects of them.

use super::super::ends::Ends;
use super::super::meeting::Meeting;
use super::super::multiprocessor::{GpuScale, Multiprocessor};
use super::super::problem::{Pass, Problem};
use super::super::row_plan::{MOST_THREADS, STRIP, stackable};
use super::estimate::estimate;
use super::plan::{DepthwiseConfig, DepthwisePlan, check_problem};
use tilewright_perf::DeviceFacts;

/// Into how many parts channels and columns are divided.
const PARTS: [usize; 4] = [1, 2, 3, 4];
/// Strips of blocks whose pixels are whole sectors of memory.
const STRIPS: [usize; 3] = [16, 8, 4];
const PIXELS: [usize; 5] = [4, 8, 7, 5, 2];
const VECTORS: [usize; 3] = [8, 4, 2];
/// Of these the first for which there is memory, but as many as this where that costs no block of a multiprocessor: a call that finds nothing in the
/// level-2 cache is 0.5 us faster with eight than with six.
const SLOTS: [usize; 3] = [6, 4, 3];
const MANY_SLOTS: usize = 8;
/// How many times blocks fill all multiprocessors.
const WAVES: [usize; 2] = [1, 2];

/// Where lanes multiply though tensor cores could: windows of no more taps, rows of as many columns at least, which are written whole, and as many of them
/// at least for each multiprocessor. With 25 taps 64x56x56x128 takes lanes 57 us and tensor cores 33; with shorter rows a step waits longer than it
/// works (docs/notes/conv.md).
const MOST_TAPS: usize = 9;
const LEAST_COLUMNS: usize = 40;
const LEAST_ROWS: usize = 16;

/// The configurations between such ends, the fastest first by the estimate, where this kernel is expected to be faster than the one by rows; else none.
pub(in super::super) fn preferred(
    problem: &Problem,
    pass: Pass,
    ends: Ends,
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> Vec<DepthwiseConfig> {
    let [rows, columns] = [0, 1].map(|axis| Meeting::of(problem, axis, pass).written);
    let few = problem.images * rows < LEAST_ROWS * GpuScale::from(device).multiprocessors;
    if problem.kernel.iter().product::<usize>() > MOST_TAPS || columns < LEAST_COLUMNS || few {
        return Vec::new();
    }
    let whole = [problem.channels().div_ceil(STRIP), columns];
    let mut all = estimated(problem, pass, ends, sm, device, |_| vec![whole]);
    all.retain(|(_, config)| problem.channels() == config.strips * STRIP);
    all.into_iter().map(|(_, config)| config).collect()
}

/// The configurations that are worth a look, with what the estimate expects of each, in microseconds; the fastest first. None where the kernel is not
/// made for the problem.
pub fn depthwise_estimates(
    problem: &Problem,
    pass: Pass,
    sm: Multiprocessor,
    device: &DeviceFacts,
) -> Vec<(f64, DepthwiseConfig)> {
    estimated(problem, pass, Ends::stored(problem.precision), sm, device, |columns| sides(problem, columns))
}

/// Those with blocks of such strips and columns.
fn estimated(
    problem: &Problem,
    pass: Pass,
    ends: Ends,
    sm: Multiprocessor,
    device: &DeviceFacts,
    sides: impl FnOnce(&Meeting) -> Vec<[usize; 2]>,
) -> Vec<(f64, DepthwiseConfig)> {
    let (gpu, mut all) = (GpuScale::from(device), Vec::new());
    if check_problem(problem, pass, sm, ends).is_err() {
        return all;
    }
    let meetings @ [rows, columns] = [0, 1].map(|axis| Meeting::of(problem, axis, pass));
    let len = rows.phase_len();
    for [strips, own] in sides(&columns) {
        for [pixels, vector] in VECTORS.into_iter().flat_map(|vector| PIXELS.map(|pixels| [pixels, vector])) {
            // None with more than a third of its pixels for nothing.
            let filled = own.next_multiple_of(pixels);
            let lanes = filled / pixels * (strips * STRIP / vector);
            if 16 / problem.precision.bytes() < vector || lanes > MOST_THREADS || 3 * filled > 4 * own {
                continue;
            }
            let of = |rows, slots| DepthwiseConfig { strips, columns: own, rows, pixels, vector, slots };
            let plan = |slots| DepthwisePlan::between(*problem, pass, of(len, slots), sm, ends).ok();
            let Some(fits) = SLOTS.into_iter().find_map(plan) else { continue };
            let plan = plan(MANY_SLOTS).filter(|it| it.resident() == fits.resident()).unwrap_or(fits);
            all.push((estimate(&plan, gpu), plan.config));
            // As many rows as leave each multiprocessor its blocks once, or twice.
            let blocks = gpu.multiprocessors * plan.resident() / (plan.blocks[2] * plan.blocks[3]);
            for above in WAVES.map(|waves| blocks * waves).into_iter().filter(|above| *above > 0) {
                let rows = if stackable(&rows) {
                    plan.stack().div_ceil(above)
                } else {
                    len.div_ceil((above / (problem.images * rows.phases).max(1)).max(1))
                };
                let other = of(rows, plan.config.slots);
                all.push((estimate(&DepthwisePlan::unchecked(*problem, pass, other, sm, meetings), gpu), other));
            }
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// Strips and columns of a block.
fn sides(problem: &Problem, columns: &Meeting) -> Vec<[usize; 2]> {
    let all = problem.channels().div_ceil(STRIP);
    let mut strips: Vec<usize> = PARTS.map(|parts| all.div_ceil(parts)).into_iter().chain(STRIPS).collect();
    strips.retain(|strips| *strips <= all.min(32));
    let mut widths = PARTS.map(|parts| columns.written.div_ceil(parts)).to_vec();
    strips.sort_unstable();
    strips.dedup();
    widths.dedup();
    strips.into_iter().rev().flat_map(|strips| widths.iter().map(move |width| [strips, *width])).collect()
}
