//! Convolutions on a GPU.

use super::config::Config;
use super::dense::{Dense, DenseMut};
use super::element::Convolved;
use super::error::ConvError;
use super::problem::{Pass, Problem};
use crate::device::{Device, Gpu};
use crate::error::Error;

/// The result from input, weights and bias.
pub(super) fn forward<T: Convolved>(
    gpu: &Gpu,
    _problem: &Problem,
    _config: Config,
    (_x, _w): (Dense<'_, T>, Dense<'_, T>),
    _bias: Option<Dense<'_, f32>>,
    _y: DenseMut<'_, T>,
) -> Result<(), Error> {
    no_kernel(Pass::Forward, gpu)
}

/// The input's gradient from the result's and the weights.
pub(super) fn grad_input<T: Convolved>(
    gpu: &Gpu,
    _problem: &Problem,
    _config: Config,
    (_dy, _w): (Dense<'_, T>, Dense<'_, T>),
    _dx: DenseMut<'_, T>,
) -> Result<(), Error> {
    no_kernel(Pass::GradInput, gpu)
}

/// The weights' gradient from the input and the result's gradient.
pub(super) fn grad_weight<T: Convolved>(
    gpu: &Gpu,
    _problem: &Problem,
    _config: Config,
    (_x, _dy): (Dense<'_, T>, Dense<'_, T>),
    _dw: DenseMut<'_, f32>,
) -> Result<(), Error> {
    no_kernel(Pass::GradWeight, gpu)
}

/// Bytes of device memory that a pass needs besides its operands.
pub(super) fn workspace(gpu: &Gpu, pass: Pass, _problem: &Problem, _config: Config) -> Result<usize, Error> {
    no_kernel(pass, gpu).map(|()| 0)
}

fn no_kernel(pass: Pass, gpu: &Gpu) -> Result<(), Error> {
    Err(ConvError::NoKernel { pass, device: Device::Gpu(gpu.clone()).to_string() }.into())
}
