//! The row kernel's text for a problem and a configuration, and how it is launched.

use super::bringing::{AT_ONCE, turns};
use super::config_error::ConfigError;
use super::ends::{Fusing, function};
use super::kernel_text::{KernelText, constants, row_map, shape_namespace};
use super::multiprocessor::Multiprocessor;
use super::problem::{Pass, Precision, Problem};
use super::registers::{LEFT, even_share};
use super::row_plan::{RowConfig, RowPlan, STRIP};
use std::fmt::Write as _;
use tilewright_driver::TargetKind;
use tilewright_headers::tensor_map::{TensorMap, TensorMapError};

/// The kernel, behind the sizes that [`RowPlan::text`] writes.
const TEXT: &str = concat!(
    include_str!("kernels/meeting.cuh"),
    "\n",
    include_str!("kernels/part.cuh"),
    "\n",
    include_str!("kernels/tensors.cuh"),
    "\n",
    include_str!("kernels/layouts.cuh"),
    "\n",
    include_str!("kernels/fused.cuh"),
    "\n",
    include_str!("kernels/read.cuh"),
    "\n",
    include_str!("kernels/exact.cuh"),
    "\n",
    include_str!("kernels/operands.cuh"),
    "\n",
    include_str!("kernels/output.cuh"),
    "\n",
    include_str!("kernels/rows.cu")
);

/// The kernel of a forward pass, or of an input's gradient, under a configuration.
pub fn row_kernel(
    problem: &Problem,
    pass: Pass,
    config: RowConfig,
    sm: Multiprocessor,
    bias: bool,
) -> Result<KernelText, ConfigError> {
    row_kernel_with(problem, pass, config, sm, bias, Fusing::nothing(problem.precision))
}

/// As [`row_kernel`], with expressions: of an image that no memory holds, and of what becomes of sums.
pub fn row_kernel_with(
    problem: &Problem,
    pass: Pass,
    config: RowConfig,
    sm: Multiprocessor,
    bias: bool,
    fusing: Fusing<'_>,
) -> Result<KernelText, ConfigError> {
    RowPlan::between(*problem, pass, config, sm, fusing.ends())?.kernel(bias, fusing)
}

impl RowPlan {
    pub(crate) fn kernel(&self, bias: bool, fusing: Fusing<'_>) -> Result<KernelText, ConfigError> {
        let plan = self.roomy();
        Ok(KernelText {
            entry: "conv2d",
            text: plan.text(bias, fusing),
            grid: plan.blocks.iter().product::<usize>() as u32,
            threads: (32 * plan.block_warps) as u32,
            shared_bytes: plan.shared_bytes as u32,
            target: if plan.lent > 0 { TargetKind::ArchSpecific } else { TargetKind::Plain },
            read: plan.bulk.then(|| plan.map_read()).transpose()?,
            other: plan.config.whole_rows.then(|| plan.map_written()).transpose()?,
        })
    }

    /// Images, rows, columns, channels, in boxes of one row.
    fn map_read(&self) -> Result<TensorMap, TensorMapError> {
        self.map([self.rows.read, self.columns.read], self.reach)
    }

    fn map_written(&self) -> Result<TensorMap, TensorMapError> {
        self.map([self.rows.written, self.columns.written], self.config.columns)
    }

    fn map(&self, of: [usize; 2], box_columns: usize) -> Result<TensorMap, TensorMapError> {
        row_map(&self.problem, of, [self.config.images, box_columns, self.config.strips * STRIP], self.span)
    }

    /// Whether tensor cores multiply zeros that the definition knows nothing of, so that sums can be NaN for their sake.
    fn multiplies_zeros(&self) -> bool {
        let problem = &self.problem;
        problem.group_width < STRIP || self.pass == Pass::GradInput || problem.padding != [[0; 2]; 2]
    }

    /// Registers of a thread's share that a kernel without an epilogue leaves.
    fn spare_registers(&self) -> usize {
        let share = if self.lent > 0 { self.lent } else { even_share(self.block_warps * self.promised()) };
        share.saturating_sub(self.registers)
    }

    fn text(&self, bias: bool, fusing: Fusing<'_>) -> String {
        let (problem, config) = (&self.problem, &self.config);
        let [blocks_n, blocks_y, blocks_x, blocks_k] = self.blocks.map(|blocks| blocks as isize);
        // What an expression wants nobody knows: the compiler shares registers out as it sees fit, unless they are lent.
        let has_expression = fusing.image.is_some() || fusing.epilogue.is_some();
        let resident = if has_expression { usize::from(self.lent > 0) } else { self.promised() };
        let plan = [
            ("strips", config.strips as isize),
            ("warp_strips", config.warp_strips as isize),
            ("images", config.images as isize),
            ("items", self.turns() as isize),
            ("columns", config.columns as isize),
            ("reach", self.reach as isize),
            ("rows", config.rows as isize),
            ("tiles", config.tiles as isize),
            ("step", config.step as isize),
            ("slots", config.slots as isize),
            ("sent", self.sent_rows() as isize),
            ("resident", resident as isize),
            ("spare", self.spare_registers() as isize),
            ("span", self.span as isize),
            ("bringing", self.bringing as isize),
            ("turns", turns(self.bringing, config.slots) as isize),
            ("lent", self.lent as isize),
            ("left", LEFT as isize),
            ("resting", self.resting as isize),
            ("at_once", AT_ONCE as isize),
            ("blocks_n", blocks_n),
            ("blocks_y", blocks_y),
            ("blocks_x", blocks_x),
            ("blocks_k", blocks_k),
        ];
        let zeros = self.multiplies_zeros();
        let watched = zeros && (problem.group_width < STRIP || problem.precision == Precision::F32);
        let flags = [
            ("bias", bias),
            ("zeros", zeros),
            ("watched", watched),
            ("computed", fusing.image.is_some()),
            ("expression", fusing.epilogue.is_some()),
        ];
        let mut text = shape_namespace(problem, self.pass, self.ends.written, &flags);
        text.push_str("namespace plan {\n");
        let (bulk, engine, whole) = (self.bulk, self.engine, config.whole_rows);
        let _ = writeln!(
            text,
            "constexpr bool bulk = {bulk}, engine = {engine}, whole = {whole}, stacked = {}, paced = {};",
            self.stacked(),
            self.paced()
        );
        constants(&mut text, &plan);
        text.push_str("}\n");
        function(&mut text, "epilogue", fusing.epilogue);
        function(&mut text, "image", fusing.image);
        text.push_str(TEXT);
        text
    }
}
