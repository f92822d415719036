//! [`WeightOperation`]: the kernel of the weights' gradient as the learned model sees it. All that names a configuration's fields for it
//! stands here.

use super::ends::Reading;
use super::kernel_text::access_bytes;
use super::multiprocessor::{GpuScale, Multiprocessor, REGISTERS, fetched_beside};
use super::named::{self, Field, problem_of_names, refused, set_all};
use super::problem::{Precision, Problem};
use super::row_plan::STRIP;
use super::weight_choice;
use super::weight_estimate::estimate;
use super::weight_plan::{WeightConfig, WeightPlan, depth};
use tilewright_perf::dataset::Named;
use tilewright_perf::training::{Operation, Plan};
use tilewright_perf::work::Quantised;
use tilewright_perf::{DeviceFacts, Error, Features, GbtParams, Models, Unit, Work};

/// The gradient of a convolution's weights: operation `conv2d_grad_weight` of models and data sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeightOperation;

/// The name of models and rows.
const NAME: &str = "conv2d_grad_weight";

const FIELDS: [Field<WeightConfig>; 7] = [
    ("strips", |it| it.strips, |it, value| it.strips = value),
    ("images", |it| it.images, |it, value| it.images = value),
    ("items", |it| it.items, |it, value| it.items = value),
    ("columns", |it| it.columns, |it, value| it.columns = value),
    ("rows", |it| it.rows, |it, value| it.rows = value),
    ("tiles", |it| it.tiles, |it, value| it.tiles = value),
    ("slots", |it| it.slots, |it, value| it.slots = value),
];

/// What the model is told besides the general features.
const DIMENSIONS: [&str; 5] = ["images", "rows", "columns", "channels", "pixels"];
const FLAGS: [&str; 24] = [
    "log_strips",
    "log_block_images",
    "log_items",
    "log_block_columns",
    "log_block_rows",
    "tiles",
    "slots",
    "group_width",
    "taps_y",
    "taps_x",
    "down",
    "phases",
    "element_bytes",
    "log_access_bytes",
    "cell_bytes",
    "odd_cell",
    "lines_per_row",
    "reach_per_column",
    "warps",
    "warps_along",
    "log_parts",
    "fetched_beside",
    "resident_warps",
    "log_estimate",
];

impl WeightOperation {
    /// A configuration as rows of data sets have it.
    pub fn configuration(config: &WeightConfig) -> Named {
        named::configuration(FIELDS, config)
    }

    /// The inverse of [`WeightOperation::configuration`]. Refuses names that are missing; whether it is legal a problem decides.
    pub fn of_configuration(configuration: &Named) -> Result<WeightConfig, Error> {
        let mut config = WeightConfig { strips: 1, images: 1, items: 1, columns: 1, rows: 1, tiles: 1, slots: 2 };
        set_all(&FIELDS, configuration, &mut config)?;
        Ok(config)
    }

    /// The configuration that the pass gets: the best by the model that knows the device's architecture, or the nearest to it, of the 32
    /// candidates that the estimate expects to be fastest; where there is no model for this operation, the first of those.
    pub fn chosen(models: &Models, problem: &Problem, sm: Multiprocessor, device: &DeviceFacts) -> WeightConfig {
        weight_choice::chosen(models, (problem, [Reading::Stored; 2]), sm, device)
    }

    /// As [`WeightOperation::chosen`], so many to time, which is the first: candidates of other tilings come before its like
    /// ([`shortlist`](tilewright_perf::shortlist())). Fewer where there are no more.
    pub fn to_time(
        count: usize,
        models: &Models,
        problem: &Problem,
        sm: Multiprocessor,
        device: &DeviceFacts,
    ) -> Vec<WeightConfig> {
        weight_choice::to_time(count, models, (problem, [Reading::Stored; 2]), sm, device)
    }

    /// All candidates with what the estimate expects of each on a device, in microseconds; the fastest first.
    pub fn estimates(problem: &Problem, sm: Multiprocessor, device: &DeviceFacts) -> Vec<(f64, WeightConfig)> {
        weight_choice::estimates((problem, [Reading::Stored; 2]), sm, device.into())
    }
}

impl Operation for WeightOperation {
    fn name(&self) -> &str {
        NAME
    }

    /// Of what configurations of a problem have in common three tenths are learned: it takes trees, and decides little.
    fn plan(&self) -> Plan {
        let params = GbtParams::default().trees(150).depth(5).rate(0.12).columns(0.4).shared(0.3).focus(1.5);
        let params = params.early_stopping(0.1, 30);
        Plan { params, ..Plan::default() }
    }

    fn kind(&self, configuration: &Named) -> Result<Vec<i64>, Error> {
        Ok(WeightOperation::of_configuration(configuration)?.tiling().map(|number| number as i64).to_vec())
    }

    fn features(&self) -> Result<Features, Error> {
        Features::new(&DIMENSIONS, &FLAGS)
    }

    fn work(&self, problem: &Named, configuration: &Named, device: &DeviceFacts) -> Result<Work, Error> {
        let (problem, _) = problem_of_names(problem)?;
        let config = WeightOperation::of_configuration(configuration)?;
        let plan = WeightPlan::new(problem, config, device.into(), [Reading::Stored; 2])
            .map_err(|error| refused(error.to_string()))?;
        Ok(work(&plan, device.into()))
    }
}

/// What the blocks of a plan do.
pub(super) fn work(plan: &WeightPlan, gpu: GpuScale) -> Work {
    let (problem, config) = (&plan.problem, &plan.config);
    let rows = &plan.rows;
    let bytes = problem.precision.bytes();
    let lines = plan.lines();
    let cell = config.strips * STRIP * bytes;
    let items = (plan.blocks.iter().product::<usize>() * config.items) as f32;
    let given = config.images * config.columns * config.rows * cell;
    let of = |extents: [usize; 4]| extents.iter().map(|n| *n as f32).product::<f32>();
    let pairs = problem.kernel[1].div_ceil(2) as f32;
    let product = 2.0 * (2 * STRIP * STRIP * depth(problem)) as f32;
    let meetings = lines as f32 * rows.taps as f32 / rows.down as f32;
    let work = Work {
        bytes_read: (of(problem.input_extents()) + of(problem.output_extents())) * bytes as f32,
        bytes_written: of(problem.weight_extents()) * 4.0,
        bytes_moved: items * (config.images * plan.reach * lines * cell + given) as f32 + 2.0 * plan.workspace() as f32,
        flops: problem.flops() as f32,
        flops_done: items * (plan.warps * config.tiles) as f32 * meetings * pairs * product,
        unit: if problem.precision == Precision::F32 { Unit::TensorTf32 } else { Unit::TensorF16 },
        blocks: plan.blocks.iter().product::<usize>() as f32,
        threads: (32 * (plan.warps + plan.bringing)) as u32,
        registers: plan.likely_registers().min(REGISTERS / (32 * (plan.warps + plan.bringing))) as u32,
        shared_bytes: plan.shared_bytes as u32,
        bytes_in_flight: ((config.slots - 1) * config.images * (plan.reach + config.columns) * cell) as u32,
        steps: (config.items * lines) as f32,
        expected_us: estimate(plan, gpu) as f32,
        ..Work::default()
    };
    flagged(dimensioned(work, plan), plan)
}

/// [`DIMENSIONS`].
fn dimensioned(mut work: Work, plan: &WeightPlan) -> Work {
    let (problem, config) = (&plan.problem, &plan.config);
    let [images, vertical, horizontal, channels] = plan.blocks;
    let pixels = config.images * config.columns;
    let extents = [
        (problem.images, images * config.images * config.items),
        (plan.rows.written, vertical * config.rows),
        (problem.output()[1], horizontal * config.columns),
        (problem.channels(), channels * config.strips * STRIP),
        (pixels, pixels.next_multiple_of(depth(problem) * config.tiles)),
    ];
    for (useful, padded) in extents {
        work.dimensions.push(Quantised { useful: useful as f32, padded: padded.max(useful) as f32 });
    }
    work
}

/// [`FLAGS`].
fn flagged(mut work: Work, plan: &WeightPlan) -> Work {
    let (problem, config) = (&plan.problem, &plan.config);
    let bytes = problem.precision.bytes();
    let cell = config.strips * STRIP * bytes;
    let log = |value: usize| (value as f32).log2();
    let flags: [f32; FLAGS.len()] = [
        log(config.strips),
        log(config.images),
        log(config.items),
        log(config.columns),
        log(config.rows),
        config.tiles as f32,
        config.slots as f32,
        problem.group_width as f32,
        problem.kernel[0] as f32,
        problem.kernel[1] as f32,
        plan.rows.down as f32,
        plan.rows.phases as f32,
        bytes as f32,
        log(access_bytes(problem)),
        cell as f32,
        f32::from(u8::from(!cell.is_multiple_of(32))),
        plan.lines() as f32 / config.rows as f32,
        plan.reach as f32 / config.columns as f32,
        plan.warps as f32,
        plan.warps_along() as f32,
        log(plan.parts()),
        fetched_beside(cell, problem.channels() * bytes) as f32,
        (plan.resident() * plan.warps) as f32,
        work.expected_us.log2(),
    ];
    flags.into_iter().for_each(|value| work.flags.push(value));
    work
}
