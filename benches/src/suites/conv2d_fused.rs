//! Expressions on both sides of a convolution, beside calls that store what is between: normalisation for each channel and a ReLU before a
//! layer, a residual and a ReLU behind it, and the way back of the ReLU before.

use super::conv2d::{Input, Output, Weights, are_close};
use crate::Result;
use crate::convolutions::Convolution;
use crate::kernels::Flush;
use crate::report::Report;
use crate::session::Session;
use crate::shapes::params;
use crate::tuning::timing::{C, H, K, N, W, repeated};
use tilewright_expr::{In, f16};
use tilewright_ops::conv::{
    Pass, conv2d, conv2d_grad_bias, conv2d_grad_bias_into, conv2d_grad_input_into, conv2d_grad_input_with_into,
    conv2d_grad_weight_into, conv2d_into, conv2d_with, conv2d_with_into, read,
};
use tilewright_ops::{Device, Tensor, fuse};

/// The layer; its bias is left out.
pub(super) const CASE: &str = "128x56x56x128-3x3-bias";

/// Measures all of it.
pub(super) fn run(session: &Session, of: Convolution, report: &mut Report) -> Result<()> {
    before(session, &of, report)?;
    behind(session, &of, report)?;
    back(session, &of, report)
}

/// The forward pass and the weights' gradient of an expression, and the former as two calls.
fn before(session: &Session, of: &Convolution, report: &mut Report) -> Result<()> {
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

/// A residual and a ReLU behind the forward pass, in its kernel and as a call of their own.
fn behind(session: &Session, of: &Convolution, report: &mut Report) -> Result<()> {
    let (problem, params, device) = (&of.problem, params(&of.problem), &session.device);
    let x: Input<f16> = repeated(problem.input_extents(), f16::from_f32)?.to(device)?;
    let w: Weights<f16> = repeated(problem.weight_extents(), f16::from_f32)?.to(device)?;
    let beside: Output<f16> = repeated(problem.output_extents(), f16::from_f32)?.to(device)?;
    let added = fuse(|sum: In<f32, (N, H, W, K)>, beside: In<f16, (N, H, W, K)>| {
        (sum + beside.to::<f32>()).max(0.0).to::<f16>().store::<(N, H, W, K)>()
    });
    // The same of what was rounded and stored.
    let added_then = fuse(|y: In<f16, (N, H, W, K)>, beside: In<f16, (N, H, W, K)>| {
        (y.to::<f32>() + beside.to::<f32>()).max(0.0).to::<f16>().store::<(N, H, W, K)>()
    });
    let mut y: Output<f16> = Tensor::zeros(problem.output_extents(), device)?;
    let mut between: Output<f16> = Tensor::zeros(problem.output_extents(), device)?;

    conv2d_with_into(&mut y, &x, &w, &params, &added, (&beside,))?;
    let cpu = &Device::Cpu;
    let (first, first_beside) = (x.narrow::<N>(0, 1)?.to(cpu)?, beside.narrow::<N>(0, 1)?.to(cpu)?);
    let expected: Output<f16> = conv2d_with(&first, &w.to(cpu)?, &params, &added, (&first_beside,))?;
    are_close(&y.narrow::<N>(0, 1)?.to_vec()?, &expected.to_vec()?)?;

    let flush = Flush::new(&session.gpu)?;
    let mut time = |metric: &str, work: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        let us = session.clock.single_us(&mut || flush.launch(), &mut *work)?;
        report.add("conv2d", CASE, metric, us, "us").limited(with_one_more(session, of, Pass::Forward)?);
        Ok(())
    };
    time("forward_with_device_us", &mut || Ok(conv2d_with_into(&mut y, &x, &w, &params, &added, (&beside,))?))?;
    time("forward_then_device_us", &mut || {
        conv2d_into(&mut between, &x, &w, &params)?;
        Ok(added_then.call_into(&mut y, &between, &beside)?)
    })
}

/// The derivative of the ReLU before, behind the input's gradient, in its kernel and as a call of its own; and the bias's gradient.
fn back(session: &Session, of: &Convolution, report: &mut Report) -> Result<()> {
    let (problem, params, device) = (&of.problem, params(&of.problem), &session.device);
    let x: Input<f16> = repeated(problem.input_extents(), f16::from_f32)?.to(device)?;
    let w: Weights<f16> = repeated(problem.weight_extents(), f16::from_f32)?.to(device)?;
    let dy: Output<f16> = repeated(problem.output_extents(), f16::from_f32)?.to(device)?;
    let passed = fuse(|sum: In<f32, (N, H, W, C)>, x: In<f16, (N, H, W, C)>| {
        x.to::<f32>().gt(0.0).select(sum, 0.0).to::<f16>().store::<(N, H, W, C)>()
    });
    let passed_then = fuse(|dx: In<f16, (N, H, W, C)>, x: In<f16, (N, H, W, C)>| {
        x.to::<f32>().gt(0.0).select(dx.to::<f32>(), 0.0).to::<f16>().store::<(N, H, W, C)>()
    });
    let mut dx: Input<f16> = Tensor::zeros(problem.input_extents(), device)?;
    let mut between: Input<f16> = Tensor::zeros(problem.input_extents(), device)?;
    let mut db: Tensor<f32, (K,)> = conv2d_grad_bias(&dy, &params)?;
    let size = [problem.height, problem.width];

    let flush = Flush::new(&session.gpu)?;
    let mut time = |metric: &str, limit: f64, work: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        let us = session.clock.single_us(&mut || flush.launch(), &mut *work)?;
        report.add("conv2d", CASE, metric, us, "us").limited(limit);
        Ok(())
    };
    let limit = with_one_more(session, of, Pass::GradInput)?;
    time("grad_input_with_device_us", limit, &mut || {
        Ok(conv2d_grad_input_with_into(&mut dx, &dy, &w, size, &params, &passed, (&x,))?)
    })?;
    time("grad_input_then_device_us", limit, &mut || {
        conv2d_grad_input_into(&mut between, &dy, &w, &params)?;
        Ok(passed_then.call_into(&mut dx, &between, &x)?)
    })?;
    let limit = session.limit_us(dy.len() * size_of::<f16>())?;
    time("grad_bias_device_us", limit, &mut || Ok(conv2d_grad_bias_into(&mut db, &dy, &params)?))
}

/// The limit of a pass that reads one more image of the layer's size.
fn with_one_more(session: &Session, of: &Convolution, pass: Pass) -> Result<f64> {
    let more = of.problem.output_extents().iter().product::<usize>() * size_of::<f16>();
    session.limit_us(of.problem.bytes(pass) as usize + more)
}
