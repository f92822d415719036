//! A pass, where its tensors are: on the CPU or on a GPU.

use super::config::Config;
use super::dense::{DenseMut, Quad, dense, lies_dense};
use super::element::Convolved;
use super::ends::Ends;
use super::image::Ready;
use super::multiprocessor::Multiprocessor;
use super::problem::{Pass, Precision, Problem};
use super::{gpu, host, weight_gpu};
use crate::device::Gpu;
use crate::error::Error;
use crate::inlined::Filled;
use crate::launches::{Known, LaunchKind, launched};
use crate::tensor::{Item, Tensor};
use tilewright_dims::Dims;

/// What a forward pass, or an input's gradient, reads: an image, tensors without gaps, and a bias, which a gradient has none of.
pub(super) struct Reads<'a, T> {
    pub(super) image: &'a Ready<'a, T>,
    pub(super) w: &'a Tensor<T, Quad>,
    pub(super) bias: Option<&'a Tensor<f32, Quad>>,
}

impl<T> Clone for Reads<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Reads<'_, T> {}

impl<'a, T: Convolved> Reads<'a, T> {
    /// All of it, where it is on the host.
    #[allow(clippy::type_complexity, reason = "image and weights, and the bias if there is one")]
    fn on_host(&self) -> Option<([&'a [T]; 2], Option<&'a [f32]>)> {
        let Ready::Memory(image) = self.image else { return None };
        Some(([dense(image).host()?, dense(self.w).host()?], self.bias.and_then(|bias| dense(bias).host())))
    }
}

/// A pass to compute.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) problem: &'a Problem,
    pub(super) config: Config,
    /// `None` is the CPU.
    pub(super) gpu: Option<&'a Gpu>,
}

impl<'a> Call<'a> {
    /// A pass with results of type `written`. Refuses a configuration of another pass's kernel, and one that does not fit where no kernel is
    /// built that would find out.
    pub(super) fn new(
        (pass, problem): (Pass, &'a Problem),
        config: Config,
        written: Precision,
        gpu: Option<&'a Gpu>,
    ) -> Result<Call<'a>, Error> {
        config.check_kind(pass)?;
        if gpu.is_none() || problem.images == 0 {
            config.check((pass, problem), gpu.map(Multiprocessor::of), Ends::stored(written))?;
        }
        Ok(Call { problem, config, gpu })
    }

    /// As [`Call::new`], of rows that nobody computes: who asks for their workspace is refused what the call would be.
    pub(super) fn asked(
        (pass, problem): (Pass, &'a Problem),
        config: Config,
        ends: Ends,
        gpu: Option<&'a Gpu>,
    ) -> Result<Call<'a>, Error> {
        if let Some(gpu) = gpu {
            config.check_kind(pass)?;
            config.check((pass, problem), Some(Multiprocessor::of(gpu)), ends)?;
        }
        Call::new((pass, problem), config, ends.written, gpu)
    }

    /// The result from input, weights and bias.
    pub(super) fn forward<T: Convolved>(self, reads: Reads<'_, T>, y: DenseMut<'_, T>) -> Result<(), Error> {
        if self.gpu.is_some() && self.problem.images > 0 {
            return self.finished(Pass::Forward, reads, y, (T::PRECISION, None));
        }
        if let (Some((operands, bias)), Some(y)) = (reads.on_host(), y.host()) {
            T::forward(self.problem, operands, bias, y);
            on_host(Pass::Forward);
        }
        Ok(())
    }

    /// The sums of a forward pass, with their bias, or of an input's gradient, unrounded.
    pub(super) fn sums<T: Convolved>(self, pass: Pass, reads: Reads<'_, T>, y: DenseMut<'_, f32>) -> Result<(), Error> {
        if self.gpu.is_some() && self.problem.images > 0 {
            return self.finished(pass, reads, y, (Precision::F32, None));
        }
        if let (Some((operands, bias)), Some(y)) = (reads.on_host(), y.host()) {
            T::sums_of((pass, self.problem), operands, bias, y);
            on_host(pass);
        }
        Ok(())
    }

    /// As [`Call::sums`] on a GPU: what an expression makes of the sums, or the sums, as elements of the named type.
    pub(super) fn finished<T: Convolved, U: Item>(
        self,
        pass: Pass,
        reads: Reads<'_, T>,
        y: DenseMut<'_, U>,
        finish: (Precision, Option<Filled<'_>>),
    ) -> Result<(), Error> {
        let Some(gpu) = self.gpu else { return Ok(()) };
        gpu::by_rows((gpu, pass, self.problem, self.config), reads, y, finish)
    }

    /// The input's gradient from the result's and the weights.
    pub(super) fn grad_input<T: Convolved>(self, reads: Reads<'_, T>, dx: DenseMut<'_, T>) -> Result<(), Error> {
        if self.gpu.is_some() && self.problem.images > 0 {
            return self.finished(Pass::GradInput, reads, dx, (T::PRECISION, None));
        }
        if let (Some((operands, _)), Some(dx)) = (reads.on_host(), dx.host()) {
            T::grad_input(self.problem, operands, dx);
            on_host(Pass::GradInput);
        }
        Ok(())
    }

    /// The weights' gradient from the input and the result's gradient, of at least one image.
    pub(super) fn grad_weight<T: Convolved>(
        self,
        images: [&Ready<'_, T>; 2],
        dw: DenseMut<'_, f32>,
    ) -> Result<(), Error> {
        if let Some(gpu) = self.gpu {
            return weight_gpu::grad_weight(gpu, self.problem, self.config, images, dw);
        }
        let [Ready::Memory(x), Ready::Memory(dy)] = images else { return Ok(()) };
        if let (Some(x), Some(dy), Some(dw)) = (dense(x).host(), dense(dy).host(), dw.host()) {
            T::grad_weight(self.problem, [x, dy], dw);
            on_host(Pass::GradWeight);
        }
        Ok(())
    }

    /// Bytes that the weights' gradient needs besides its operands and copies of them, of expressions of these numbers.
    pub(super) fn grad_weight_workspace(self, numbers: weight_gpu::Numbers) -> Result<usize, Error> {
        match self.gpu {
            Some(gpu) => weight_gpu::workspace(gpu, self.problem, self.config, numbers),
            None => Ok(host::workspace(self.problem)),
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
