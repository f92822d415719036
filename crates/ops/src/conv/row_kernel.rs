//! The row kernel's text for a problem and a configuration, and how it is launched.

use super::problem::{Pass, Precision, Problem};
use super::row_plan::{ConfigError, Multiprocessor, RowConfig, RowPlan, STRIP};
use std::fmt::Write as _;
use tilewright_expr::emit::Inlined;
use tilewright_headers::tensor_map::{self, Swizzle, TensorMap, TensorMapError};

/// The kernel, behind the sizes that [`RowPlan::text`] writes.
const TEXT: &str = concat!(
    include_str!("kernels/layouts.cuh"),
    "\n",
    include_str!("kernels/fused.cuh"),
    "\n",
    include_str!("kernels/exact.cuh"),
    "\n",
    include_str!("kernels/part.cuh"),
    "\n",
    include_str!("kernels/operands.cuh"),
    "\n",
    include_str!("kernels/output.cuh"),
    "\n",
    include_str!("kernels/rows.cu")
);

/// A kernel as it is compiled and launched, but for addresses.
#[derive(Clone, Debug)]
pub struct KernelText {
    /// The kernel's name.
    pub entry: &'static str,
    /// Its source.
    pub text: String,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// What the copy engine has to know of the tensor that is read; nothing where it reads none.
    pub read: Option<TensorMap>,
    /// What it has to know of the tensor that is written; nothing where warps store it themselves.
    pub written: Option<TensorMap>,
}

/// The kernel of a forward pass, or of an input's gradient, under a configuration.
pub fn row_kernel(
    problem: &Problem,
    pass: Pass,
    config: RowConfig,
    sm: Multiprocessor,
    bias: bool,
) -> Result<KernelText, ConfigError> {
    RowPlan::new(*problem, pass, config, sm)?.kernel(bias, None)
}

/// As [`row_kernel`], for results of type `written`: sums, or what `expression`, a function of the name `epilogue`, makes of them.
pub fn row_kernel_with(
    problem: &Problem,
    pass: Pass,
    config: RowConfig,
    sm: Multiprocessor,
    bias: bool,
    (written, expression): (Precision, Option<&Inlined>),
) -> Result<KernelText, ConfigError> {
    RowPlan::writing(*problem, pass, config, sm, written)?.kernel(bias, expression)
}

pub(crate) fn cuda(precision: Precision) -> &'static str {
    match precision {
        Precision::F16 => "tw::f16",
        Precision::Bf16 => "tw::bf16",
        Precision::F32 => "float",
    }
}

impl RowPlan {
    pub(crate) fn kernel(&self, bias: bool, expression: Option<&Inlined>) -> Result<KernelText, ConfigError> {
        Ok(KernelText {
            entry: "conv2d",
            text: self.text(bias, expression),
            grid: self.blocks.iter().product::<usize>() as u32,
            threads: (32 * self.block_warps) as u32,
            shared_bytes: self.shared_bytes as u32,
            read: self.bulk.then(|| self.map_read()).transpose()?,
            written: self.config.whole_rows.then(|| self.map_written()).transpose()?,
        })
    }

    /// Images, rows, columns, channels, in boxes of one row.
    fn map_read(&self) -> Result<TensorMap, TensorMapError> {
        self.map([self.rows.read, self.columns.read], self.reach)
    }

    fn map_written(&self) -> Result<TensorMap, TensorMapError> {
        self.map([self.rows.written, self.columns.written], self.config.columns)
    }

    fn map(&self, [height, width]: [usize; 2], box_columns: usize) -> Result<TensorMap, TensorMapError> {
        let (problem, config) = (&self.problem, &self.config);
        let (element, bytes) = match problem.precision {
            Precision::F16 => (tensor_map::Element::F16, 2),
            Precision::Bf16 => (tensor_map::Element::Bf16, 2),
            Precision::F32 => (tensor_map::Element::F32, 4),
        };
        let [images, height, width, channels] = [problem.images, height, width, problem.channels()].map(|n| n as u64);
        let strides = [channels * bytes, channels * width * bytes, channels * width * height * bytes];
        let boxes = [config.strips * STRIP, box_columns, 1, config.images].map(|side| side as u32);
        let swizzle = match self.span {
            2 => Swizzle::Bytes32,
            4 => Swizzle::Bytes64,
            8 => Swizzle::Bytes128,
            _ => Swizzle::None,
        };
        TensorMap::new(element, &[channels, width, height, images], &strides, &boxes, swizzle)
    }

    /// Whether tensor cores multiply zeros that the definition knows nothing of, so that sums can be NaN for their sake.
    fn multiplies_zeros(&self) -> bool {
        let problem = &self.problem;
        problem.group_width < STRIP || self.pass == Pass::GradInput || problem.padding != [[0; 2]; 2]
    }

    fn text(&self, bias: bool, expression: Option<&Inlined>) -> String {
        let (problem, config, rows) = (&self.problem, &self.config, &self.rows);
        let across = self.columns.across();
        let (held, written) = (cuda(problem.precision), cuda(self.written));
        let element = if problem.precision == Precision::F32 { "tw::tf32" } else { held };
        let live = rows.live_phase.map_or(-1, |phase| phase as isize);
        let shape = [
            ("group", problem.group_width as isize),
            ("channels", problem.channels() as isize),
            ("vector", self.vector as isize),
            ("images", problem.images as isize),
            ("height", rows.read as isize),
            ("width", self.columns.read as isize),
            ("out_height", rows.written as isize),
            ("out_width", self.columns.written as isize),
            ("taps_y", rows.taps as isize),
            ("taps_x", self.columns.taps as isize),
            ("up_y", rows.up as isize),
            ("down_y", rows.down as isize),
            ("shift_y", rows.shift as isize),
            ("origin_y", rows.origin),
            ("phases", rows.phases as isize),
            ("pitch", rows.pitch as isize),
            ("phase_pitch", rows.phase_pitch as isize),
            ("live_phase", live),
            ("up_x", across.up as isize),
            ("down_x", across.down as isize),
            ("spread_x", across.spread as isize),
            ("shift_x", across.shift as isize),
            ("origin_x", across.origin),
            ("stride_y", problem.stride[0] as isize),
            ("stride_x", problem.stride[1] as isize),
            ("dilation_y", problem.dilation[0] as isize),
            ("dilation_x", problem.dilation[1] as isize),
            ("padding_y", problem.padding[0][0] as isize),
            ("padding_x", problem.padding[1][0] as isize),
        ];
        let [blocks_n, blocks_y, blocks_x, blocks_k] = self.blocks.map(|blocks| blocks as isize);
        let plan = [
            ("strips", config.strips as isize),
            ("warp_strips", config.warp_strips as isize),
            ("images", config.images as isize),
            ("items", config.items as isize),
            ("columns", config.columns as isize),
            ("rows", config.rows as isize),
            ("tiles", config.tiles as isize),
            ("step", config.step as isize),
            ("slots", config.slots as isize),
            ("span", self.span as isize),
            ("blocks_n", blocks_n),
            ("blocks_y", blocks_y),
            ("blocks_x", blocks_x),
            ("blocks_k", blocks_k),
        ];
        let mut text = String::from("#include \"tilewright/half.cuh\"\n");
        let constants = |text: &mut String, of: &[(&str, isize)]| {
            of.iter().for_each(|(name, value)| writeln!(text, "constexpr int {name} = {value};").expect("text grows"));
        };
        let _ = write!(
            text,
            "namespace shape {{\nusing Element = {element};\nusing Held = {held};\nusing Written = {written};\n"
        );
        let transposed = self.pass == Pass::GradInput;
        let zeros = self.multiplies_zeros();
        let _ = writeln!(text, "constexpr bool transposed = {transposed}, bias = {bias}, zeros = {zeros};");
        let _ = writeln!(text, "constexpr bool expression = {};", expression.is_some());
        constants(&mut text, &shape);
        text.push_str("}\nnamespace plan {\n");
        let _ = writeln!(text, "constexpr bool bulk = {}, whole = {};", self.bulk, config.whole_rows);
        constants(&mut text, &plan);
        text.push_str("}\n");
        match expression {
            Some(function) => {
                for header in &function.headers {
                    let _ = writeln!(text, "#include \"tilewright/{header}.cuh\"");
                }
                text.push_str(&function.source);
            }
            None => text.push_str("struct epilogue_Params {};\n"),
        }
        text.push_str(TEXT);
        text
    }
}
