//! How the kernel of the weights' gradient divides its work: what may be chosen, what is legal, and its text.

use super::problem::{LARGEST, Precision, Problem};
use super::row_kernel::{KernelText, cuda};
use super::row_plan::{ConfigError, MOST_BLOCKS, MOST_REGISTERS, MOST_THREADS, Multiprocessor, REGISTERS, STRIP};
use super::row_plan::{at_most, field};
use std::fmt::Write as _;

/// How the gradient of a convolution's weights is divided into blocks, and a block into warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WeightConfig {
    /// Strips of 8 channels of a block: 1 to 8, even ones for groups of 16 channels.
    pub strips: usize,
    /// Warps of a strip, which share its pixels: 1 to 16.
    pub along: usize,
    /// Images of a stage: 1 to 16.
    pub images: usize,
    /// Rows of the result of a stage.
    pub rows: usize,
    /// Stages of a block, one after another: the more, the fewer parts of the sum.
    pub items: usize,
    /// Stages that shared memory holds: 2 to 4.
    pub slots: usize,
}

/// Registers of a thread beside sums.
const OTHER_REGISTERS: usize = 40;

/// A configuration of a problem, and what follows from both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightPlan {
    problem: Problem,
    config: WeightConfig,
    /// Stages along images and along rows, parts of the sum, blocks along channels.
    stages: [usize; 2],
    pub(crate) parts: usize,
    pub(crate) blocks_k: usize,
    pub(crate) warps: usize,
    pub(crate) shared_bytes: usize,
    pub(crate) registers: usize,
    /// Pixels that a stage multiplies, in products, and pixels that it reads.
    pub(crate) products: usize,
    pub(crate) read: usize,
    /// Elements of one access to global memory.
    vector: usize,
}

impl WeightPlan {
    pub(crate) fn new(problem: Problem, config: WeightConfig, sm: Multiprocessor) -> Result<WeightPlan, ConfigError> {
        let ([out_rows, out_columns], [r, s]) = (problem.output(), problem.kernel);
        let images = problem.images.clamp(1, 16);
        let halves = problem.group_width.div_ceil(STRIP);
        field("strips", config.strips, in_range(config.strips, 8) && config.strips.is_multiple_of(halves), || {
            format!("allowed are multiples of {halves} from {halves} to 8")
        })?;
        field("along", config.along, in_range(config.along, 16), || "allowed are 1 to 16".into())?;
        field("images", config.images, in_range(config.images, images), || format!("allowed are 1 to {images}"))?;
        field("rows", config.rows, in_range(config.rows, out_rows), || format!("allowed are 1 to {out_rows}"))?;
        let stages = [problem.images.max(1).div_ceil(config.images), out_rows.div_ceil(config.rows)];
        let all = stages[0] * stages[1];
        at_most("stages", all, LARGEST / 2, "stages: more images or rows each")?;
        field("items", config.items, in_range(config.items, all), || format!("allowed are 1 to {all}, all stages"))?;
        field("slots", config.slots, (2..=4).contains(&config.slots), || "allowed are 2 to 4".into())?;
        let warps = config.strips * halves * config.along;
        at_most("threads", 32 * warps, MOST_THREADS, "strips, or warps along pixels")?;
        let element = problem.precision.bytes();
        let depth = 32 / element;
        let lines = (config.rows - 1) * problem.stride[0] + (r - 1) * problem.dilation[0] + 1;
        let reach = (out_columns - 1) * problem.stride[1] + (s - 1) * problem.dilation[1] + 1;
        let products = (config.images * config.rows * out_columns).div_ceil(depth);
        let read = config.images * lines * reach;
        // An odd number of cells of 16 bytes.
        let pixel = (config.strips * STRIP * element / 16 / 2 * 2 + 1) * 16;
        let pairs = (r * s).div_ceil(2);
        let ring = [read, products * depth].map(|pixels| (config.slots * pixels * pixel).next_multiple_of(128));
        let handed = if config.along > 1 { config.strips * halves * pairs * 512 } else { 0 };
        let plan = WeightPlan {
            problem,
            config,
            stages,
            parts: all.div_ceil(config.items),
            blocks_k: problem.channels().div_ceil(config.strips * STRIP),
            warps,
            shared_bytes: ring.iter().sum::<usize>().max(handed),
            registers: 4 * pairs + OTHER_REGISTERS,
            products,
            read,
            vector: 1 << problem.channels().trailing_zeros().min((16 / element).trailing_zeros()),
        };
        let remedy = "slots, strips, rows or images";
        at_most("bytes of shared memory", plan.shared_bytes, sm.shared_bytes, remedy)?;
        let limit = MOST_REGISTERS.min(REGISTERS / (32 * warps).next_multiple_of(128) / 8 * 8);
        at_most("registers a thread", plan.registers, limit, "strips, or warps along pixels")?;
        at_most("blocks in the grid", plan.blocks(), MOST_BLOCKS, "blocks: more stages each")?;
        Ok(plan)
    }

    pub(crate) fn blocks(&self) -> usize {
        self.parts * self.blocks_k
    }

    /// Stages of a block.
    pub(crate) fn items(&self) -> usize {
        self.config.items
    }

    /// Elements of the result.
    pub(crate) fn elements(&self) -> usize {
        self.problem.weight_extents().iter().product()
    }

    /// Bytes of the parts of the sum; none where there is one, which is the result.
    pub(crate) fn workspace(&self) -> usize {
        if self.parts > 1 { self.parts * self.elements() * size_of::<f32>() } else { 0 }
    }

    pub(crate) fn kernel(&self) -> KernelText {
        KernelText {
            entry: "conv2d_grad_weight",
            text: self.text(),
            grid: self.blocks() as u32,
            threads: (32 * self.warps) as u32,
            shared_bytes: self.shared_bytes as u32,
            read: None,
            written: None,
        }
    }

    /// The kernel that adds up the parts, where there are several.
    pub(crate) fn adding(&self) -> Option<KernelText> {
        let (parts, elements) = (self.parts, self.elements());
        let sizes = format!("namespace plan {{\nconstexpr int parts = {parts}, elements = {elements};\n}}\n");
        (parts > 1).then(|| KernelText {
            entry: "conv2d_add_parts",
            text: sizes + include_str!("kernels/parts.cu"),
            grid: elements.div_ceil(32) as u32,
            threads: 256,
            shared_bytes: 1024,
            read: None,
            written: None,
        })
    }

    fn text(&self) -> String {
        let (problem, config) = (&self.problem, &self.config);
        let held = cuda(problem.precision);
        let element = if problem.precision == Precision::F32 { "tw::tf32" } else { held };
        let [out_height, out_width] = problem.output();
        let shape = [
            ("group", problem.group_width),
            ("channels", problem.channels()),
            ("vector", self.vector),
            ("images", problem.images),
            ("height", problem.height),
            ("width", problem.width),
            ("out_height", out_height),
            ("out_width", out_width),
            ("taps_y", problem.kernel[0]),
            ("taps_x", problem.kernel[1]),
            ("stride_y", problem.stride[0]),
            ("stride_x", problem.stride[1]),
            ("dilation_y", problem.dilation[0]),
            ("dilation_x", problem.dilation[1]),
            ("padding_y", problem.padding[0][0]),
            ("padding_x", problem.padding[1][0]),
        ];
        let plan = [
            ("strips", config.strips),
            ("along", config.along),
            ("images", config.images),
            ("rows", config.rows),
            ("items", config.items),
            ("slots", config.slots),
            ("stages_n", self.stages[0]),
            ("stages_y", self.stages[1]),
            ("parts", self.parts),
            ("blocks_k", self.blocks_k),
        ];
        let mut text = String::from("#include \"tilewright/half.cuh\"\n");
        let _ = writeln!(text, "namespace shape {{\nusing Element = {element};\nusing Held = {held};");
        let constants = |text: &mut String, of: &[(&str, usize)]| {
            of.iter().for_each(|(name, value)| writeln!(text, "constexpr int {name} = {value};").expect("text grows"));
        };
        constants(&mut text, &shape);
        text.push_str("}\nnamespace plan {\n");
        constants(&mut text, &plan);
        text.push_str("}\n");
        text.push_str(include_str!("kernels/grad_weight.cu"));
        text
    }
}

fn in_range(value: usize, most: usize) -> bool {
    (1..=most).contains(&value)
}

/// The kernels of the weights' gradient under a configuration: the one that multiplies, which writes the parts of the sum one after
/// another, and the one that adds them up, where there are several.
pub fn weight_kernels(
    problem: &Problem,
    config: WeightConfig,
    sm: Multiprocessor,
) -> Result<(KernelText, Option<KernelText>), ConfigError> {
    let plan = WeightPlan::new(*problem, config, sm)?;
    Ok((plan.kernel(), plan.adding()))
}
