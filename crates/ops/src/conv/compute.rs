//! A pass, where its tensors are: on the CPU or on a GPU.

use super::config::Config;
use super::dense::{Quad, dense, dense_mut, lies_dense};
use super::element::Convolved;
use super::epilogue::Epilogue;
use super::problem::{Pass, Precision, Problem};
use super::{gpu, host, weight_gpu};
use crate::device::Gpu;
use crate::error::Error;
use crate::launches::{Known, LaunchKind, launched};
use crate::tensor::{Item, Tensor};
use tilewright_dims::Dims;

/// A pass to compute.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) problem: &'a Problem,
    pub(super) config: Config,
    /// `None` is the CPU.
    pub(super) gpu: Option<&'a Gpu>,
}

impl Call<'_> {
    /// The result from input, weights and bias, all without gaps.
    pub(super) fn forward<T: Convolved>(
        self,
        [x, w]: [&Tensor<T, Quad>; 2],
        bias: Option<&Tensor<f32, Quad>>,
        y: &mut Tensor<T, Quad>,
    ) -> Result<(), Error> {
        let (x, w, bias, y) = (dense(x), dense(w), bias.map(dense), dense_mut(y)?);
        if let Some(gpu) = self.gpu.filter(|_| self.problem.images > 0) {
            return gpu::forward(gpu, self.problem, self.config, (x, w), bias, y);
        }
        if let (Some(x), Some(w), Some(y)) = (x.host(), w.host(), y.host()) {
            T::forward(self.problem, [x, w], bias.and_then(|b| b.host()), y);
            on_host(Pass::Forward);
        }
        Ok(())
    }

    /// As [`Call::forward`], the sums unrounded.
    pub(super) fn sums<T: Convolved, L: Dims>(
        self,
        [x, w]: [&Tensor<T, Quad>; 2],
        bias: Option<&Tensor<f32, Quad>>,
        y: &mut Tensor<f32, L>,
    ) -> Result<(), Error> {
        if self.gpu.is_some() && self.problem.images > 0 {
            return self.finished([x, w], bias, y, (Precision::F32, None));
        }
        let (x, w, bias, y) = (dense(x), dense(w), bias.map(dense), dense_mut(y)?);
        if let (Some(x), Some(w), Some(y)) = (x.host(), w.host(), y.host()) {
            T::sums_of(self.problem, [x, w], bias.and_then(|b| b.host()), y);
            on_host(Pass::Forward);
        }
        Ok(())
    }

    /// As [`Call::forward`] on a GPU: what an expression makes of the sums, or the sums, as elements of the named type.
    pub(super) fn finished<T: Convolved, U: Item, L: Dims>(
        self,
        [x, w]: [&Tensor<T, Quad>; 2],
        bias: Option<&Tensor<f32, Quad>>,
        y: &mut Tensor<U, L>,
        finish: (Precision, Option<&Epilogue<'_>>),
    ) -> Result<(), Error> {
        let (x, w, bias, y) = (dense(x), dense(w), bias.map(dense), dense_mut(y)?);
        let Some(gpu) = self.gpu else { return Ok(()) };
        gpu::finished((gpu, self.problem, self.config), (x, w), bias, y, finish)
    }

    /// The input's gradient from the result's and the weights.
    pub(super) fn grad_input<T: Convolved>(
        self,
        [dy, w]: [&Tensor<T, Quad>; 2],
        dx: &mut Tensor<T, Quad>,
    ) -> Result<(), Error> {
        let (dy, w, dx) = (dense(dy), dense(w), dense_mut(dx)?);
        if let Some(gpu) = self.gpu.filter(|_| self.problem.images > 0) {
            return gpu::grad_input(gpu, self.problem, self.config, (dy, w), dx);
        }
        if let (Some(dy), Some(w), Some(dx)) = (dy.host(), w.host(), dx.host()) {
            T::grad_input(self.problem, [dy, w], dx);
            on_host(Pass::GradInput);
        }
        Ok(())
    }

    /// The weights' gradient from the input and the result's gradient.
    pub(super) fn grad_weight<T: Convolved>(
        self,
        [x, dy]: [&Tensor<T, Quad>; 2],
        dw: &mut Tensor<f32, Quad>,
    ) -> Result<(), Error> {
        if self.problem.images == 0 {
            return dw.write(&vec![0.0; dw.len()]);
        }
        let (x, dy, dw) = (dense(x), dense(dy), dense_mut(dw)?);
        if let Some(gpu) = self.gpu {
            return weight_gpu::grad_weight(gpu, self.problem, self.config, (x, dy), dw);
        }
        if let (Some(x), Some(dy), Some(dw)) = (x.host(), dy.host(), dw.host()) {
            T::grad_weight(self.problem, [x, dy], dw);
            on_host(Pass::GradWeight);
        }
        Ok(())
    }

    /// Bytes that a pass needs besides its operands and copies of them.
    pub(super) fn workspace(self, pass: Pass) -> Result<usize, Error> {
        match self.gpu {
            Some(gpu) => gpu::workspace(gpu, pass, self.problem, self.config),
            None => Ok(host::workspace(pass, self.problem)),
        }
    }
}

/// Bytes of the copy that a pass makes of `tensor`.
pub(super) fn copy_bytes<T: Item, L: Dims>(tensor: &Tensor<T, L>) -> usize {
    if lies_dense(tensor) { 0 } else { tensor.len() * size_of::<T>() }
}

fn on_host(pass: Pass) {
    launched(LaunchKind::Host, pass.name(), Known::Kernel, [[1; 3]; 2]);
}
