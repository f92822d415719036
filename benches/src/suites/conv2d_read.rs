//! A convolution of an expression, beside the call that stores it first: normalisation for each channel and a ReLU before a layer.

use super::conv2d::{Input, Output, Weights, are_close};
use crate::Result;
use crate::convolutions::Convolution;
use crate::kernels::Flush;
use crate::report::Report;
use crate::session::Session;
use crate::shapes::params;
use crate::tuning::timing::{C, H, K, N, W, repeated};
use tilewright_expr::{In, f16};
use tilewright_ops::conv::{Pass, conv2d, conv2d_grad_weight_into, conv2d_into, read};
use tilewright_ops::{Device, Tensor, fuse};

/// The layer; its bias is left out.
pub(super) const CASE: &str = "128x56x56x128-3x3-bias";

/// Measures the forward pass and the weights' gradient of an expression, and the former as two calls.
pub(super) fn run(session: &Session, of: Convolution, report: &mut Report) -> Result<()> {
    let (problem, params, device) = (&of.problem, params(&of.problem), &session.device);
    let x: Input<f16> = repeated(problem.input_extents(), f16::from_f32)?.to(device)?;
    let dy: Output<f16> = repeated(problem.output_extents(), f16::from_f32)?.to(device)?;
    let w: Weights<f16> = repeated(problem.weight_extents(), f16::from_f32)?.to(device)?;
    let numbers = |first: f32| (0..problem.channels()).map(|c| first + (c % 7) as f32 / 8.0).collect::<Vec<_>>();
    let scale = Tensor::<f32, (C,)>::from_vec([problem.channels()], numbers(0.5))?.to(device)?;
    let shift = Tensor::<f32, (C,)>::from_vec([problem.channels()], numbers(-0.25))?.to(device)?;
    let normalise = fuse(|x: In<f16, (N, H, W, C)>, scale: In<f32, (C,)>, shift: In<f32, (C,)>| {
        (x.to::<f32>() * scale + shift).max(0.0).to::<f16>().store::<(N, H, W, C)>()
    });
    let image = read(&normalise, (&x, &scale, &shift));

    let mut y: Output<f16> = Tensor::zeros(problem.output_extents(), device)?;
    conv2d_into(&mut y, &image, &w, &params)?;
    let (first, cpu) = (x.narrow::<N>(0, 1)?.to(&Device::Cpu)?, &Device::Cpu);
    let (scale_there, shift_there) = (scale.to(cpu)?, shift.to(cpu)?);
    let expected: Tensor<f16, (N, H, W, K)> =
        conv2d(&read(&normalise, (&first, &scale_there, &shift_there)), &w.to(cpu)?, &params)?;
    are_close(&y.narrow::<N>(0, 1)?.to_vec()?, &expected.to_vec()?)?;

    let flush = Flush::new(&session.gpu)?;
    let cold = |work: &mut dyn FnMut() -> Result<()>| session.clock.single_us(&mut || flush.launch(), &mut *work);
    let limit = |pass: Pass| session.limit_us(problem.bytes(pass) as usize);
    let mut add = |metric: &str, us: f64, limit: f64| {
        report.add("conv2d", CASE, metric, us, "us").limited(limit);
    };

    let us = cold(&mut || Ok(conv2d_into(&mut y, &image, &w, &params)?))?;
    add("forward_read_device_us", us, limit(Pass::Forward)?);
    let mut stored: Input<f16> = Tensor::zeros(problem.input_extents(), device)?;
    let us = cold(&mut || {
        normalise.call_into(&mut stored, &x, &scale, &shift)?;
        Ok(conv2d_into(&mut y, &stored, &w, &params)?)
    })?;
    add("forward_stored_device_us", us, limit(Pass::Forward)?);
    let mut dw: Weights<f32> = Tensor::zeros(problem.weight_extents(), device)?;
    let us = cold(&mut || Ok(conv2d_grad_weight_into(&mut dw, &image, &dy, &params)?))?;
    add("grad_weight_read_device_us", us, limit(Pass::GradWeight)?);
    Ok(())
}
