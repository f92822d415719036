//! The depthwise kernel's text for a problem and a configuration, and how it is launched.

use super::super::config_error::ConfigError;
use super::super::ends::{Ends, function};
use super::super::estimate::promised;
use super::super::kernel_text::{KernelText, constants, row_map, shape_namespace};
use super::super::multiprocessor::Multiprocessor;
use super::super::problem::{Pass, Problem};
use super::super::row_plan::STRIP;
use super::plan::{DepthwiseConfig, DepthwisePlan, SENT};
use std::fmt::Write as _;
use tilewright_driver::TargetKind;

/// The kernel, behind the sizes that [`DepthwisePlan::text`] writes.
const TEXT: &str = concat!(
    include_str!("../kernels/meeting.cuh"),
    "\n",
    include_str!("../kernels/part.cuh"),
    "\n",
    include_str!("../kernels/tensors.cuh"),
    "\n",
    include_str!("../kernels/read.cuh"),
    "\n",
    include_str!("../kernels/exact.cuh"),
    "\n",
    include_str!("../kernels/depthwise.cu")
);

/// The kernel of a depthwise forward pass, or of an input's gradient, in which lanes multiply, under a configuration.
pub fn depthwise_kernel(
    problem: &Problem,
    pass: Pass,
    config: DepthwiseConfig,
    sm: Multiprocessor,
    bias: bool,
) -> Result<KernelText, ConfigError> {
    DepthwisePlan::between(*problem, pass, config, sm, Ends::stored(problem.precision))?.kernel(bias)
}

impl DepthwisePlan {
    pub(crate) fn kernel(&self, bias: bool) -> Result<KernelText, ConfigError> {
        let channels = self.config.strips * STRIP;
        let map = |of, columns| row_map(&self.problem, of, [1, columns, channels], 1);
        Ok(KernelText {
            entry: "conv2d_depthwise",
            text: self.text(bias),
            grid: self.blocks.iter().product::<usize>() as u32,
            threads: (32 * self.warps) as u32,
            shared_bytes: self.shared_bytes as u32,
            target: TargetKind::Plain,
            read: Some(map([self.rows.read, self.columns.read], self.reach)?),
            other: Some(map([self.rows.written, self.columns.written], self.config.columns)?),
        })
    }

    fn text(&self, bias: bool) -> String {
        let (problem, config) = (&self.problem, &self.config);
        // Zeros of padding meet weights, which may be infinite.
        let zeros = self.pass == Pass::GradInput || problem.padding != [[0; 2]; 2];
        let flags = [("bias", bias), ("zeros", zeros), ("computed", false), ("expression", false)];
        let mut text = shape_namespace(problem, self.pass, problem.precision, &flags);
        let [blocks_n, blocks_y, blocks_x, blocks_k] = self.blocks;
        let _ = writeln!(text, "namespace plan {{\nconstexpr bool stacked = {};", self.stacked());
        // Of the last five a ring has one each: rows in steps of one, which are not swizzled, and one warp that has them brought.
        let plan = [
            ("strips", config.strips),
            ("columns", config.columns),
            ("reach", self.reach),
            ("rows", config.rows),
            ("pixels", config.pixels),
            ("vector", config.vector),
            ("slots", config.slots),
            ("sent", SENT),
            ("items", self.items()),
            ("resident", promised(self.resident(), self.blocks)),
            ("blocks_n", blocks_n),
            ("blocks_y", blocks_y),
            ("blocks_x", blocks_x),
            ("blocks_k", blocks_k),
            ("images", 1),
            ("step", 1),
            ("span", 1),
            ("bringing", 1),
            ("turns", 1),
            ("at_once", 1),
        ];
        constants(&mut text, &plan.map(|(name, value)| (name, value as isize)));
        text.push_str("}\n");
        function(&mut text, "epilogue", None);
        function(&mut text, "image", None);
        text.push_str(TEXT);
        text
    }
}
