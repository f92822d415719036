//! A pass, where its tensors are: on the CPU or on a GPU.

use super::config::Config;
use super::dense::{DenseMut, Quad, dense, lies_dense};
use super::element::Convolved;
use super::problem::{Pass, Precision, Problem};
use super::{gpu, host, weight_gpu};
use crate::device::Gpu;
use crate::error::Error;
use crate::inlined::Filled;
use crate::launches::{Known, LaunchKind, launched};
use crate::tensor::{Item, Tensor};
use tilewright_dims::Dims;

/// What a forward pass, or an input's gradient, reads: tensors without gaps, and a bias, which a gradient has none of.
pub(super) type Operands<'a, T> = ([&'a Tensor<T, Quad>; 2], Option<&'a Tensor<f32, Quad>>);

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
        y: DenseMut<'_, T>,
    ) -> Result<(), Error> {
        let (x, w, bias) = (dense(x), dense(w), bias.map(dense));
        if let Some(gpu) = self.gpu.filter(|_| self.problem.images > 0) {
            return gpu::forward(gpu, self.problem, self.config, (x, w), bias, y);
        }
        if let (Some(x), Some(w), Some(y)) = (x.host(), w.host(), y.host()) {
            T::forward(self.problem, [x, w], bias.and_then(|b| b.host()), y);
            on_host(Pass::Forward);
        }
        Ok(())
    }

    /// The sums of a forward pass, with their bias, or of an input's gradient, unrounded.
    pub(super) fn sums<T: Convolved>(
        self,
        pass: Pass,
        (operands, bias): Operands<'_, T>,
        y: DenseMut<'_, f32>,
    ) -> Result<(), Error> {
        if self.gpu.is_some() && self.problem.images > 0 {
            return self.finished(pass, (operands, bias), y, (Precision::F32, None));
        }
        let ([a, w], bias) = (operands.map(dense), bias.map(dense));
        if let (Some(a), Some(w), Some(y)) = (a.host(), w.host(), y.host()) {
            T::sums_of((pass, self.problem), [a, w], bias.and_then(|b| b.host()), y);
            on_host(pass);
        }
        Ok(())
    }

    /// As [`Call::sums`] on a GPU: what an expression makes of the sums, or the sums, as elements of the named type.
    pub(super) fn finished<T: Convolved, U: Item>(
        self,
        pass: Pass,
        ([a, w], bias): Operands<'_, T>,
        y: DenseMut<'_, U>,
        finish: (Precision, Option<Filled<'_>>),
    ) -> Result<(), Error> {
        let Some(gpu) = self.gpu else { return Ok(()) };
        let operands = (dense(a), dense(w));
        gpu::finished((gpu, pass, self.problem, self.config), operands, bias.map(dense), y, finish)
    }

    /// The input's gradient from the result's and the weights.
    pub(super) fn grad_input<T: Convolved>(
        self,
        [dy, w]: [&Tensor<T, Quad>; 2],
        dx: DenseMut<'_, T>,
    ) -> Result<(), Error> {
        let (dy, w) = (dense(dy), dense(w));
        if let Some(gpu) = self.gpu.filter(|_| self.problem.images > 0) {
            return gpu::grad_input(gpu, self.problem, self.config, (dy, w), dx);
        }
        if let (Some(dy), Some(w), Some(dx)) = (dy.host(), w.host(), dx.host()) {
            T::grad_input(self.problem, [dy, w], dx);
            on_host(Pass::GradInput);
        }
        Ok(())
    }

    /// The weights' gradient from the input and the result's gradient, of at least one image.
    pub(super) fn grad_weight<T: Convolved>(
        self,
        [x, dy]: [&Tensor<T, Quad>; 2],
        dw: DenseMut<'_, f32>,
    ) -> Result<(), Error> {
        let (x, dy) = (dense(x), dense(dy));
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
