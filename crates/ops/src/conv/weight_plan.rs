//! How the kernel of the weights' gradient divides its work: what may be chosen, what is legal, and its text.

use super::bringing::{AT_ONCE, bringing, check_turns, turns};
use super::config_error::ConfigError;
use super::config_error::{at_most, field};
use super::ends::{Reading, image_within, reading};
use super::kernel_text::{KernelText, access_bytes, constants, cuda, multiplied, row_map, shape, span};
use super::meeting::Meeting;
use super::multiprocessor::Multiprocessor;
use super::problem::{LARGEST, Pass, Problem};
use super::registers::{even_share, least_registers};
use super::row_plan::{LONGEST_SIDE, MOST_BLOCKS, MOST_THREADS, STRIP};
use std::fmt::Write as _;
use tilewright_driver::TargetKind;
use tilewright_expr::emit::Inlined;

/// The kernel, behind the sizes that [`WeightPlan::text`] writes.
const TEXT: &str = concat!(
    include_str!("kernels/meeting.cuh"),
    "\n",
    include_str!("kernels/part.cuh"),
    "\n",
    include_str!("kernels/read.cuh"),
    "\n",
    include_str!("kernels/weight_operands.cuh"),
    "\n",
    include_str!("kernels/grad_weight.cu")
);

/// How the gradient of a convolution's weights is divided into blocks, and a block into warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WeightConfig {
    /// Strips of 8 channels of a block: 1 to 16, even ones for groups of 16 channels.
    pub strips: usize,
    /// Images of a block; more than one only where `columns` is the whole width.
    pub images: usize,
    /// How many times a block takes so many images, one time after another: the more, the fewer parts of the sum.
    pub items: usize,
    /// Columns of the result's gradient of a block.
    pub columns: usize,
    /// Rows of the result's gradient of a block.
    pub rows: usize,
    /// Products of 16 pixels (8 of f32) that a warp has of each row: 1 to 8.
    pub tiles: usize,
    /// Rows that the ring in shared memory holds: 2 to 16, from 4 on where an expression is read.
    pub slots: usize,
}

impl WeightConfig {
    /// What candidates that a model is wrong about alike have in common.
    pub(super) fn tiling(&self) -> [usize; 4] {
        [self.strips, self.images, self.columns, self.tiles]
    }
}

/// Parts that a thread adds up, unless there are too many for a block.
const PARTS_OF_THREAD: usize = 4;
/// Registers of a thread beside sums, rows, and addresses.
const OTHER_REGISTERS: usize = 44;

/// A configuration of a problem, and what follows from both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightPlan {
    pub(crate) problem: Problem,
    pub(crate) config: WeightConfig,
    pub(crate) rows: Meeting,
    pub(crate) columns: Meeting,
    /// Blocks along images, rows, columns and channels.
    pub(crate) blocks: [usize; 4],
    /// Read columns of a block.
    pub(crate) reach: usize,
    /// Warps that multiply, and those that bring rows.
    pub(crate) warps: usize,
    pub(crate) bringing: usize,
    pub(crate) shared_bytes: usize,
    pub(crate) registers: usize,
    /// Registers that threads have at least, whatever the configuration.
    least_registers: usize,
    pub(crate) span: usize,
    /// Whether neither image is an expression's.
    pub(crate) is_stored: bool,
    /// Whether the copy engine brings rows of the input, and of the result's gradient.
    pub(crate) bulk: [bool; 2],
    /// [`Multiprocessor::room`].
    pub(crate) room: usize,
}

impl WeightPlan {
    pub(crate) fn new(
        problem: Problem,
        config: WeightConfig,
        sm: Multiprocessor,
        readings: [Reading; 2],
    ) -> Result<WeightPlan, ConfigError> {
        let plan = WeightPlan::unchecked(problem, config, sm, readings);
        plan.check_ranges()?;
        plan.check_limits(sm)?;
        Ok(plan)
    }

    /// Refuses what does not fit the problem.
    pub(crate) fn check_ranges(&self) -> Result<(), ConfigError> {
        check_ranges(&self.problem, &self.config, [&self.rows, &self.columns])
    }

    /// Refuses what does not fit a block.
    pub(crate) fn check_limits(&self, sm: Multiprocessor) -> Result<(), ConfigError> {
        let WeightPlan { ref config, reach, warps, bringing, .. } = *self;
        field("columns", config.columns, reach <= LONGEST_SIDE, || {
            format!("which reads {reach} columns, and a copy takes at most {LONGEST_SIDE}")
        })?;
        check_turns(config.slots, bringing)?;
        at_most("threads", 32 * (warps + bringing), MOST_THREADS, "columns, images or strips, or more tiles a warp")?;
        at_most("bytes of shared memory", self.shared_bytes, sm.shared_bytes, "slots, columns, images or strips")?;
        at_most("registers a thread", self.registers, even_share(warps + bringing), "tiles, or warps")?;
        at_most("blocks in the grid", self.blocks.iter().product(), MOST_BLOCKS, "blocks: more images or rows each")
    }

    /// What follows from a configuration whose numbers are not 0, be it legal or not.
    pub(crate) fn unchecked(
        problem: Problem,
        config: WeightConfig,
        sm: Multiprocessor,
        readings: [Reading; 2],
    ) -> WeightPlan {
        let [rows, columns] = [0, 1].map(|axis| Meeting::of(&problem, axis, Pass::GradWeight));
        let engine = sm.bulk_copies && access_bytes(&problem) == 16 && problem.images > 0;
        let bulk = readings.map(|it| it == Reading::Stored && engine);
        let mut plan = WeightPlan {
            problem,
            config,
            rows,
            columns,
            blocks: [0; 4],
            reach: 0,
            warps: 0,
            shared_bytes: 0,
            bringing: 0,
            least_registers: readings.map(least_registers).into_iter().fold(0, usize::max),
            registers: 0,
            span: 1,
            is_stored: readings == [Reading::Stored; 2],
            bulk,
            room: sm.room(),
        };
        plan.retake_all(config);
        plan
    }

    /// Takes another configuration whose numbers are not 0, be it legal or not.
    pub(crate) fn retake_all(&mut self, config: WeightConfig) {
        let (problem, rows, columns) = (&self.problem, &self.rows, &self.columns);
        self.config = config;
        self.blocks = blocks(problem, &config, [rows, columns]);
        self.reach = columns.across().reach(config.columns, columns.taps);
        self.warps = config.strips * problem.group_width.div_ceil(STRIP) * warps_along(problem, &config);
        self.registers = registers(problem, &config, rows).max(self.least_registers);
        let reading = if self.is_stored { Reading::Stored } else { Reading::Computed };
        self.bringing = bringing(self.bulk == [true; 2], reading, self.warps, self.registers);
        self.span = span(config.strips * STRIP * problem.precision.bytes());
        self.shared_bytes = self.shared_bytes();
    }

    /// Takes another ring.
    pub(crate) fn retake_slots(&mut self, slots: usize) {
        self.config.slots = slots;
        self.shared_bytes = self.shared_bytes();
    }

    /// Takes other items and rows, on which no limit depends but those of their own and the number of blocks. Whether that is legal.
    pub(crate) fn retake(&mut self, items: usize, rows: usize) -> bool {
        (self.config.items, self.config.rows) = (items, rows);
        self.blocks = blocks(&self.problem, &self.config, [&self.rows, &self.columns]);
        let turns = self.problem.images.max(1).div_ceil(self.config.images);
        let legal = (1..=turns).contains(&items) && (1..=self.rows.phase_len()).contains(&rows);
        legal && self.blocks.iter().product::<usize>() <= MOST_BLOCKS
    }

    /// Blocks one above the other, of so many rows.
    pub(crate) fn blocks_above(&self, rows: usize) -> usize {
        self.rows.phase_len().div_ceil(rows) * self.rows.phases
    }

    /// Parts of the sum: the blocks of each channel.
    pub(crate) fn parts(&self) -> usize {
        self.blocks[..3].iter().product()
    }

    /// Warps that share a strip's pixels.
    pub(crate) fn warps_along(&self) -> usize {
        warps_along(&self.problem, &self.config)
    }

    /// Elements of the result.
    pub(crate) fn elements(&self) -> usize {
        self.problem.weight_extents().iter().product()
    }

    /// Bytes of the parts of the sum; none where there is one, which is the result.
    pub(crate) fn workspace(&self) -> usize {
        workspace(self.parts(), self.elements())
    }

    /// How many turns the warps take that share a strip, until the sums of all lie where the ring was.
    pub(crate) fn turns(&self) -> usize {
        self.warps_along().div_ceil((self.ring_bytes() / self.collected_bytes()).max(1))
    }

    /// What the kernel takes of shared memory, in the order in which it does.
    fn shared_bytes(&self) -> usize {
        let barriers = (16 * self.config.slots).next_multiple_of(128);
        (128 + barriers).next_multiple_of(128 * self.span) + self.ring_bytes().max(self.collected_bytes())
    }

    fn ring_bytes(&self) -> usize {
        let WeightConfig { strips, images, columns, slots, .. } = self.config;
        let (bytes, channels) = (self.problem.precision.bytes(), strips * STRIP);
        let row = |columns: usize| (images * columns * channels).next_multiple_of(8 * channels) * bytes;
        slots * (row(self.reach) + row(columns))
    }

    /// Bytes of what a block adds up.
    fn collected_bytes(&self) -> usize {
        let [taps_y, taps_x] = self.problem.kernel;
        self.config.strips * STRIP * taps_y * taps_x * self.problem.group_width * size_of::<f32>()
    }

    /// The kernel that multiplies. Input and gradient may be expressions, functions of the name `image`.
    pub(crate) fn kernel(&self, expressions: [Option<&Inlined>; 2]) -> Result<KernelText, ConfigError> {
        let WeightConfig { strips, images, columns, .. } = self.config;
        let problem = &self.problem;
        let map = |of, columns| row_map(problem, of, [images, columns, strips * STRIP], self.span);
        Ok(KernelText {
            entry: "conv2d_grad_weight",
            text: self.text(expressions),
            grid: self.blocks.iter().product::<usize>() as u32,
            threads: (32 * (self.warps + self.bringing)) as u32,
            shared_bytes: self.shared_bytes as u32,
            target: TargetKind::Plain,
            read: self.bulk[0].then(|| map([problem.height, problem.width], self.reach)).transpose()?,
            other: self.bulk[1].then(|| map(problem.output(), columns)).transpose()?,
        })
    }

    /// The kernel that adds up the parts, where there are several.
    pub(crate) fn adding(&self) -> Option<KernelText> {
        let (parts, elements) = (self.parts(), self.elements());
        let vector = if elements.is_multiple_of(4) { 4 } else { 1 };
        let (blocks, shares) = (elements.div_ceil(32 * vector), parts.div_ceil(PARTS_OF_THREAD).min(32));
        let mut text = String::from("namespace plan {\n");
        let plan =
            [("parts", parts), ("elements", elements), ("blocks", blocks), ("shares", shares), ("vector", vector)];
        constants(&mut text, &plan.map(|(name, size)| (name, size as isize)));
        text.push_str("}\n");
        text.push_str(include_str!("kernels/parts.cu"));
        (parts > 1).then_some(KernelText {
            entry: "conv2d_add_parts",
            text,
            grid: blocks as u32,
            threads: (32 * shares) as u32,
            shared_bytes: if shares > 1 { (shares * 32 * vector * size_of::<f32>()) as u32 } else { 0 },
            target: TargetKind::Plain,
            read: None,
            other: None,
        })
    }

    fn text(&self, expressions: [Option<&Inlined>; 2]) -> String {
        let (problem, config) = (&self.problem, &self.config);
        let (element, held) = (multiplied(problem.precision), cuda(problem.precision));
        let mut text = String::from("#include \"tilewright/half.cuh\"\n");
        let _ = writeln!(text, "namespace shape {{\nusing Element = {element};\nusing Held = {held};");
        let [input, given] = expressions.map(|it| it.is_some());
        let _ = writeln!(text, "constexpr bool computed_input = {input}, computed_given = {given};");
        shape(&mut text, problem, Pass::GradWeight);
        let [input, given] = self.bulk;
        let _ = writeln!(text, "}}\nnamespace plan {{\nconstexpr bool bulk_input = {input}, bulk_given = {given};");
        let [blocks_n, blocks_y, blocks_x, blocks_k] = self.blocks;
        let plan = [
            ("strips", config.strips),
            ("images", config.images),
            ("items", config.items),
            ("reach", self.reach),
            ("columns", config.columns),
            ("rows", config.rows),
            ("tiles", config.tiles),
            ("step", 1),
            ("slots", config.slots),
            ("resident", if self.is_stored { self.promised() } else { 0 }),
            ("span", self.span),
            ("bringing", self.bringing),
            ("turns", turns(self.bringing, config.slots)),
            ("at_once", AT_ONCE),
            ("blocks_n", blocks_n),
            ("blocks_y", blocks_y),
            ("blocks_x", blocks_x),
            ("blocks_k", blocks_k),
        ];
        constants(&mut text, &plan.map(|(name, size)| (name, size as isize)));
        text.push_str("}\n");
        image_within(&mut text, "of_x", expressions[0]);
        image_within(&mut text, "of_dy", expressions[1]);
        text.push_str(TEXT);
        text
    }
}

/// Bytes of so many parts of a sum of so many elements; none where there is one, which is the result.
pub(crate) fn workspace(parts: usize, elements: usize) -> usize {
    if parts > 1 { parts * elements * size_of::<f32>() } else { 0 }
}

/// Pixels of a product.
pub(crate) fn depth(problem: &Problem) -> usize {
    32 / problem.precision.bytes()
}

fn blocks(problem: &Problem, config: &WeightConfig, [rows, columns]: [&Meeting; 2]) -> [usize; 4] {
    [
        problem.images.max(1).div_ceil(config.images * config.items),
        rows.phase_len().div_ceil(config.rows) * rows.phases,
        columns.written.div_ceil(config.columns),
        problem.channels().div_ceil(config.strips * STRIP),
    ]
}

fn warps_along(problem: &Problem, config: &WeightConfig) -> usize {
    (config.images * config.columns).div_ceil(depth(problem) * config.tiles)
}

fn check_ranges(problem: &Problem, config: &WeightConfig, [rows, columns]: [&Meeting; 2]) -> Result<(), ConfigError> {
    let WeightConfig { strips, images, items, slots, tiles, .. } = *config;
    let halves = problem.group_width.div_ceil(STRIP);
    field("strips", strips, (1..=16).contains(&strips) && strips.is_multiple_of(halves), || {
        format!("allowed are multiples of {halves} from {halves} to 16")
    })?;
    let written = columns.written;
    field("columns", config.columns, (1..=written).contains(&config.columns), || {
        format!("allowed are 1 to {written}")
    })?;
    let all = problem.images.max(1);
    field("images", images, (1..=all).contains(&images) && (images == 1 || config.columns == written), || {
        format!("allowed are 1, or up to {all} where a block has all {written} columns")
    })?;
    let turns = all.div_ceil(images);
    field("items", items, (1..=turns).contains(&items), || format!("allowed are 1 to {turns}, all images"))?;
    let of_image = (problem.height * problem.width).max(rows.written * written) * problem.channels();
    at_most("elements of a block's images", images.saturating_mul(of_image), LARGEST, "images")?;
    let height = rows.phase_len();
    field("rows", config.rows, (1..=height).contains(&config.rows), || format!("allowed are 1 to {height}"))?;
    field("tiles", tiles, (1..=8).contains(&tiles), || "allowed are 1 to 8".into())?;
    field("slots", slots, (2..=16).contains(&slots), || "allowed are 2 to 16".into())
}

/// About as many registers as a thread needs: sums, rows of the result's gradient, addresses.
fn registers(problem: &Problem, config: &WeightConfig, rows: &Meeting) -> usize {
    let reads = if problem.precision.bytes() == 2 { [1, 1] } else { [4, 2] };
    let pairs = problem.kernel[1].div_ceil(2);
    let kept = rows.taps.div_ceil(rows.down);
    let addresses = config.tiles * (pairs * reads[0] + reads[1]);
    4 * rows.taps * pairs + 2 * kept * config.tiles + addresses + OTHER_REGISTERS
}

/// The kernels of the weights' gradient under a configuration: the one that multiplies, which writes the parts of the sum one after
/// another, and the one that adds them up, where there are several.
pub fn weight_kernels(
    problem: &Problem,
    config: WeightConfig,
    sm: Multiprocessor,
) -> Result<(KernelText, Option<KernelText>), ConfigError> {
    weight_kernels_with(problem, config, sm, [None; 2])
}

/// As [`weight_kernels`], of an input or a result's gradient that are expressions: functions `image` of a place and of as many channels at
/// once as 16 bytes hold and divide all of them.
pub fn weight_kernels_with(
    problem: &Problem,
    config: WeightConfig,
    sm: Multiprocessor,
    expressions: [Option<&Inlined>; 2],
) -> Result<(KernelText, Option<KernelText>), ConfigError> {
    let plan = WeightPlan::new(*problem, config, sm, expressions.map(reading))?;
    Ok((plan.kernel(expressions)?, plan.adding()))
}
