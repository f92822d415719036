//! Windows on a GPU: the fused kernel on the engine's buffers.

use super::evaluation::Evaluation;
use super::run::Compute;
use crate::Error;
use crate::stream::gpu::GpuEngine;
use std::ops::Range;
use tilewright_driver::DeviceBuffer;
use tilewright_expr::Expr;
use tilewright_ops::{Feeds, Given, Gpu, Taken};

/// The kernel, on the stream of a GPU.
pub(super) struct GpuWindows<'a> {
    pub(super) evaluation: &'a Evaluation<'a>,
    pub(super) gpu: &'a Gpu,
}

impl Compute<GpuEngine> for GpuWindows<'_> {
    fn evaluate(
        &self,
        _: &GpuEngine,
        window: &Range<usize>,
        operands: &[&DeviceBuffer<u8>],
        results: &mut [DeviceBuffer<u8>],
    ) -> Result<(), Error> {
        let counts = self.evaluation.counts(window)?;
        let [of_operands, of_results] = self.evaluation.axes(window.len());
        let buffers = operands.iter().zip(&of_operands).map(|(buffer, axes)| Given::Buffer(buffer, axes));
        let counts = counts.iter().flatten().map(|count| Given::Value(Feeds::<Expr<i32, ()>>::operand(count)));
        let given: Vec<Given<'_>> = buffers.chain(counts).collect();
        let mut taken: Vec<Taken<'_>> =
            results.iter_mut().zip(&of_results).map(|(buffer, axes)| Taken { buffer, axes }).collect();
        Ok(self.evaluation.launcher.launch(self.gpu, &given, &mut taken)?)
    }

    /// A coordinate that reached outside comes out here.
    fn outcome(&self) -> Result<(), Error> {
        Ok(self.gpu.synchronize()?)
    }
}
