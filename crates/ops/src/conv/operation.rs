//! [`RowOperation`]: the row kernel as the learned model sees it. All that names a configuration's fields for it stands here.

use super::choice::{self, each_plan};
use super::ends::Ends;
use super::estimate::estimate;
use super::kernel_text::access_bytes;
use super::multiprocessor::{GpuScale, Multiprocessor, REGISTERS};
use super::named::{self, Field, problem_names, problem_of_names, refused, set_all};
use super::problem::{Pass, Precision, Problem};
use super::row_plan::{RowConfig, RowPlan, STRIP, TILE};
use tilewright_perf::dataset::Named;
use tilewright_perf::training::{Operation, Plan};
use tilewright_perf::work::Quantised;
use tilewright_perf::{DeviceFacts, Error, Features, GbtParams, Models, Unit, Work};

/// A convolution's result and its input's gradient, by rows: operation `conv2d_rows` of models and data sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowOperation;

/// The name of models and rows.
const NAME: &str = "conv2d_rows";

const FIELDS: [Field<RowConfig>; 10] = [
    ("strips", |it| it.strips, |it, value| it.strips = value),
    ("warp_strips", |it| it.warp_strips, |it, value| it.warp_strips = value),
    ("images", |it| it.images, |it, value| it.images = value),
    ("items", |it| it.items, |it, value| it.items = value),
    ("columns", |it| it.columns, |it, value| it.columns = value),
    ("rows", |it| it.rows, |it, value| it.rows = value),
    ("tiles", |it| it.tiles, |it, value| it.tiles = value),
    ("step", |it| it.step, |it, value| it.step = value),
    ("slots", |it| it.slots, |it, value| it.slots = value),
    ("whole_rows", |it| it.whole_rows.into(), |it, value| it.whole_rows = value != 0),
];

/// What the model is told besides the general features.
const DIMENSIONS: [&str; 5] = ["images", "rows", "columns", "channels", "pixels"];
const FLAGS: [&str; 34] = [
    "log_strips",
    "log_warp_strips",
    "log_block_images",
    "log_items",
    "log_block_columns",
    "log_block_rows",
    "tiles",
    "step",
    "slots",
    "whole_rows",
    "group_width",
    "taps_y",
    "taps_x",
    "up",
    "down",
    "phases",
    "element_bytes",
    "grad_input",
    "copy_engine",
    "log_access_bytes",
    "cell_bytes",
    "odd_cell",
    "odd_store",
    "lines_per_row",
    "reach_per_column",
    "warps",
    "lent",
    "stacked",
    "busiest_scheduler",
    "conflicts",
    "waits_for_banks",
    "fetched_beside",
    "resident_warps",
    "log_estimate",
];

impl RowOperation {
    /// A problem and a pass as rows of data sets have them.
    pub fn problem(problem: &Problem, pass: Pass) -> Named {
        problem_names(problem, pass)
    }

    /// The inverse of [`RowOperation::problem`]. Refuses names that are missing, and what no convolution is.
    pub fn of_problem(problem: &Named) -> Result<(Problem, Pass), Error> {
        problem_of_names(problem)
    }

    /// A configuration as rows of data sets have it.
    pub fn configuration(config: &RowConfig) -> Named {
        named::configuration(FIELDS, config)
    }

    /// The inverse of [`RowOperation::configuration`]. Refuses names that are missing; whether it is legal a problem decides.
    pub fn of_configuration(configuration: &Named) -> Result<RowConfig, Error> {
        let mut config = RowConfig {
            strips: 1,
            warp_strips: 1,
            images: 1,
            items: 1,
            columns: 1,
            rows: 1,
            tiles: 1,
            step: 1,
            slots: 2,
            whole_rows: false,
        };
        set_all(&FIELDS, configuration, &mut config)?;
        Ok(config)
    }

    /// The configuration that a pass gets: the best by the model that knows the device's architecture, or the nearest to it, of the 32
    /// candidates that the estimate expects to be fastest; where there is no model for this operation, the first of those.
    pub fn chosen(
        models: &Models,
        problem: &Problem,
        pass: Pass,
        sm: Multiprocessor,
        device: &DeviceFacts,
    ) -> RowConfig {
        choice::chosen(models, problem, pass, Ends::stored(problem.precision), sm, device)
    }

    /// As [`RowOperation::chosen`], so many to time, which is the first: candidates of other tilings come before its like
    /// ([`shortlist`](tilewright_perf::shortlist())). Fewer where there are no more.
    pub fn to_time(
        count: usize,
        models: &Models,
        problem: &Problem,
        pass: Pass,
        sm: Multiprocessor,
        device: &DeviceFacts,
    ) -> Vec<RowConfig> {
        choice::to_time(count, models, problem, pass, Ends::stored(problem.precision), sm, device)
    }

    /// All candidates of a pass with what the estimate expects of each on a device, in microseconds; the fastest first.
    pub fn estimates(problem: &Problem, pass: Pass, sm: Multiprocessor, device: &DeviceFacts) -> Vec<(f64, RowConfig)> {
        let (mut estimates, gpu) = (Vec::new(), GpuScale::from(device));
        each_plan(problem, pass, (sm, gpu.multiprocessors), Ends::stored(problem.precision), |plan| {
            estimates.push((estimate(plan, gpu), plan.config));
        });
        estimates.sort_by(|a, b| a.0.total_cmp(&b.0));
        estimates
    }
}

impl Operation for RowOperation {
    fn name(&self) -> &str {
        NAME
    }

    /// A tenth of the problems says when to stop; each tree asks about three fifths of the columns.
    /// Of what configurations of a problem have in common three tenths are learned: it takes trees, and decides little. So do slow ones, of which only the
    /// order among the fastest matters: one that takes a third longer than the best counts 0.4.
    fn plan(&self) -> Plan {
        let params = GbtParams::default().trees(100).depth(8).rate(0.18).columns(0.6).shared(0.3).focus(3.0);
        let params = params.early_stopping(0.1, 30);
        Plan { params, ..Plan::default() }
    }

    fn kind(&self, configuration: &Named) -> Result<Vec<i64>, Error> {
        Ok(RowOperation::of_configuration(configuration)?.tiling().map(|number| number as i64).to_vec())
    }

    /// The input's gradient of a layer takes about as long as its forward pass.
    fn shape(&self, problem: &Named) -> Named {
        let mut shape = problem.clone();
        shape.remove("pass");
        shape
    }

    fn features(&self) -> Result<Features, Error> {
        Features::new(&DIMENSIONS, &FLAGS)
    }

    fn work(&self, problem: &Named, configuration: &Named, device: &DeviceFacts) -> Result<Work, Error> {
        let ((problem, pass), config) = (problem_of_names(problem)?, RowOperation::of_configuration(configuration)?);
        let plan = RowPlan::new(problem, pass, config, device.into()).map_err(|error| refused(error.to_string()))?;
        Ok(work(&plan, device.into()))
    }
}

/// What the blocks of a plan do.
pub(super) fn work(plan: &RowPlan, gpu: GpuScale) -> Work {
    let (problem, config) = (&plan.problem, &plan.config);
    let bytes = problem.precision.bytes();
    let lines = plan.lines();
    let cell = config.strips * STRIP * bytes;
    let row = config.images * plan.reach * cell;
    let written = config.images * config.columns * config.rows * cell;
    let blocks: usize = plan.blocks.iter().product();
    let items = (blocks * config.items) as f32;
    let product = 2.0 * (TILE * STRIP) as f32 * (32 / bytes) as f32;
    let parts = (plan.warps * config.tiles * config.warp_strips) as f32;
    let registers = if plan.lent > 0 { plan.registers } else { plan.likely_registers() };
    let of = |extents: [usize; 4]| extents.iter().map(|n| *n as f32).product::<f32>() * bytes as f32;
    let (x, w, y) = (of(problem.input_extents()), of(problem.weight_extents()), of(problem.output_extents()));
    let (read, result) = if plan.pass == Pass::GradInput { (y, x) } else { (x, y) };
    let work = Work {
        bytes_read: read + w,
        bytes_written: result,
        bytes_moved: items * (lines * row + written) as f32,
        flops: problem.flops() as f32,
        flops_done: items * parts * plan.products() * product,
        unit: if problem.precision == Precision::F32 { Unit::TensorTf32 } else { Unit::TensorF16 },
        blocks: blocks as f32,
        threads: (32 * plan.block_warps) as u32,
        registers: registers.min(REGISTERS / (32 * plan.block_warps)) as u32,
        shared_bytes: plan.shared_bytes as u32,
        bytes_in_flight: ((config.slots - 1) * config.step * row) as u32,
        steps: (config.items * lines / config.step) as f32,
        expected_us: estimate(plan, gpu) as f32,
        ..Work::default()
    };
    flagged(dimensioned(work, plan), plan)
}

/// [`DIMENSIONS`].
fn dimensioned(mut work: Work, plan: &RowPlan) -> Work {
    let (problem, config) = (&plan.problem, &plan.config);
    let [images, rows, columns, channels] = plan.blocks;
    let pixels = config.images * config.columns;
    let extents = [
        (problem.images, images * config.images * config.items),
        (if plan.stacked() { plan.stack() } else { plan.rows.written }, rows * config.rows),
        (plan.columns.written, columns * config.columns),
        (problem.channels(), channels * config.strips * STRIP),
        (pixels, pixels.next_multiple_of(TILE * config.tiles)),
    ];
    for (useful, padded) in extents {
        work.dimensions.push(Quantised { useful: useful as f32, padded: padded.max(useful) as f32 });
    }
    work
}

/// [`FLAGS`].
fn flagged(mut work: Work, plan: &RowPlan) -> Work {
    let (problem, config) = (&plan.problem, &plan.config);
    let bytes = problem.precision.bytes();
    let cell = config.strips * STRIP * bytes;
    let store = if config.whole_rows { cell } else { config.warp_strips * STRIP * bytes };
    let log = |value: usize| (value as f32).log2();
    let flag = |is: bool| f32::from(u8::from(is));
    let flags: [f32; FLAGS.len()] = [
        log(config.strips),
        log(config.warp_strips),
        log(config.images),
        log(config.items),
        log(config.columns),
        log(config.rows),
        config.tiles as f32,
        config.step as f32,
        config.slots as f32,
        flag(config.whole_rows),
        problem.group_width as f32,
        plan.rows.taps as f32,
        plan.columns.taps as f32,
        plan.rows.up as f32,
        plan.rows.down as f32,
        plan.rows.phases as f32,
        bytes as f32,
        flag(plan.pass == Pass::GradInput),
        flag(plan.bulk),
        log(access_bytes(problem)),
        cell as f32,
        flag(!cell.is_multiple_of(32)),
        flag(!store.is_multiple_of(32)),
        plan.lines() as f32 / config.rows as f32,
        plan.reach as f32 / config.columns as f32,
        plan.warps as f32,
        flag(plan.lent > 0),
        flag(plan.stacked()),
        (plan.warps.div_ceil(4) * 4) as f32 / plan.warps as f32,
        plan.conflicts() as f32,
        plan.waits_when_roomy(),
        plan.fetched_beside() as f32,
        (plan.resident() * plan.warps) as f32,
        work.expected_us.log2(),
    ];
    flags.into_iter().for_each(|value| work.flags.push(value));
    work
}
