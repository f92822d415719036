//! Windows on a GPU: the fused kernel on the engine's buffers, and on what lies there already.

use super::evaluation::{Evaluation, On};
use super::run::Compute;
use super::window::Band;
use crate::Error;
use crate::stream::gpu::GpuEngine;
use tilewright_driver::{DeviceBuffer, DeviceBytes, DeviceRoom};
use tilewright_expr::Expr;
use tilewright_expr::bind::Axis;
use tilewright_ops::{Feeds, Given, Gpu, Taken};

/// The kernel, on the stream of a GPU.
pub(super) struct GpuWindows<'a> {
    pub(super) evaluation: &'a Evaluation<'a>,
    pub(super) on: On,
    pub(super) gpu: &'a Gpu,
}

impl Compute<GpuEngine> for GpuWindows<'_> {
    fn evaluate(
        &self,
        _: &GpuEngine,
        band: &Band,
        operands: &[&DeviceBuffer<u8>],
        results: &mut [DeviceBuffer<u8>],
    ) -> Result<(), Error> {
        let evaluation = self.evaluation;
        let (numbers, ruler) = (evaluation.numbers(band)?, evaluation.ruler(band));
        let [of_operands, of_results] = evaluation.axes(band);
        let mut buffers = operands.iter().map(|buffer| (buffer.device_bytes(), 0));
        let operands = evaluation.fed.iter().zip(of_operands).enumerate().filter_map(|(number, (fed, axes))| {
            let Some(there) = fed.source().resident().filter(|_| fed.is_on(self.on)) else {
                return buffers.next().map(|memory| (memory, axes));
            };
            let (lies, is_cut) = ((0, fed.shape.axes()), evaluation.is_banded(number));
            let (at, axes) = evaluation.axes_there(&fed.shape, lies, is_cut, &evaluation.window_of(number, band));
            Some(((there, at), axes))
        });
        let operands: Vec<((DeviceBytes<'_>, usize), Vec<Axis>)> = operands.collect();
        let mut buffers = results.iter_mut().map(|buffer| (buffer.device_room(), 0));
        let results = evaluation.made.iter().zip(of_results).filter_map(|(made, axes)| {
            let Some(there) = made.goal.resident().filter(|_| made.is_on(self.on)) else {
                return buffers.next().map(|memory| (memory, axes));
            };
            let lies = there.axes(made.shape.axes());
            let is_cut = !evaluation.is_scattered();
            let (at, axes) = evaluation.axes_there(&made.shape, lies, is_cut, &evaluation.window_made(band));
            Some(((there.room(), at), axes))
        });
        let results: Vec<((DeviceRoom<'_>, usize), Vec<Axis>)> = results.collect();
        let given = operands.iter().map(|((bytes, at), axes)| Given::There(*bytes, *at, axes));
        let numbers = numbers.iter().map(|number| Given::Value(Feeds::<Expr<i32, ()>>::operand(number)));
        // Nobody reads it, wherever it lies.
        let ruler = ruler.iter().zip(&operands).map(|(axes, ((bytes, at), _))| Given::There(*bytes, *at, axes));
        let given: Vec<Given<'_>> = given.chain(ruler).chain(numbers).collect();
        let taken = results.iter().map(|((room, at), axes)| Taken { room: *room, at: *at, axes });
        Ok(evaluation.launcher_of(band).launch(self.gpu, &given, &mut taken.collect::<Vec<_>>())?)
    }

    /// A coordinate that reached outside comes out here.
    fn outcome(&self) -> Result<(), Error> {
        Ok(self.gpu.synchronize()?)
    }
}
