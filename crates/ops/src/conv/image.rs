//! [`Image`]: what a convolution reads, a tensor or an expression.

use super::compute::copy_bytes;
use super::dense::{Dense, Quad, dense, packed, sizes};
use super::element::Convolved;
use super::error::of_workspace;
use super::kernel_text::neighbours;
use crate::device::{Device, Gpu};
use crate::error::Error;
use crate::feed::Operand;
use crate::fused::Core;
use crate::inlined::{Computed, Filled};
use crate::signature::Signature;
use crate::tensor::{Item, Tensor};
use std::sync::Arc;
use tilewright_dims::Dims;
use tilewright_expr::Out;
use tilewright_expr::emit::{Caller, Inline};

/// Bytes of a kernel's parameters for an expression, and those of them for its operands in host memory.
pub(super) const EXPRESSION_BYTES: usize = 736;
pub(super) const ROOM: usize = 256;

/// What a convolution or a gradient reads beside the weights: a tensor, or an expression ([`read`](super::read)).
///
/// Elements are `f16`, `bf16` or `f32`, over four dimensions whose places say what they are: images, rows, columns, channels. An expression
/// that stores other elements is none:
///
/// ```compile_fail
/// # use tilewright_dims::dims;
/// # use tilewright_expr::In;
/// # use tilewright_ops::{conv::read, Tensor, fuse};
/// # dims! { N, H, W, C }
/// # let x = Tensor::<f32, (N, H, W, C)>::from_vec([1, 1, 1, 4], vec![1.0; 4]).unwrap();
/// let bytes = fuse(|x: In<f32, (N, H, W, C)>| x.to::<u8>().store::<(N, H, W, C)>());
/// let image = read(&bytes, (&x,)); // convolutions of `u8` are not computed
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no image that a convolution reads",
    label = "expected a `Tensor` or what `conv::read` gives, of `f16`, `bf16` or `f32`",
    note = "an expression converts other elements: `read(&fuse(|x: In<u8, (N, H, W, C)>| x.to::<f16>().store::<(N, H, W, C)>()), (&x,))`"
)]
pub trait Image {
    /// Its elements.
    type Item: Convolved;
    /// Its dimensions: images, rows, columns, channels.
    type Over: Dims;
    /// Does `work` with it.
    #[doc(hidden)]
    fn see<R>(&self, work: impl FnOnce(Seen<'_, Self::Item, Self::Over>) -> Result<R, Error>) -> Result<R, Error>;
}

impl<T: Convolved, L: Dims> Image for Tensor<T, L> {
    type Item = T;
    type Over = L;

    fn see<R>(&self, work: impl FnOnce(Seen<'_, T, L>) -> Result<R, Error>) -> Result<R, Error> {
        work(Seen::Stored(self))
    }
}

impl<I: Image> Image for &I {
    type Item = I::Item;
    type Over = I::Over;

    fn see<R>(&self, work: impl FnOnce(Seen<'_, I::Item, I::Over>) -> Result<R, Error>) -> Result<R, Error> {
        I::see(self, work)
    }
}

/// An image in a call.
pub enum Seen<'a, T, L> {
    Stored(&'a Tensor<T, L>),
    Computed(Expression<'a>),
}

/// An expression with its operands, and what is known of it.
pub struct Expression<'a> {
    core: &'a Arc<Core>,
    operands: &'a [Operand<'a>],
    device: Option<&'a Device>,
    gpu: Option<&'a Gpu>,
    computed: Arc<Computed>,
}

impl<'a> Expression<'a> {
    pub(super) fn core(&self) -> &'a Arc<Core> {
        self.core
    }

    pub(super) fn operands(&self) -> &'a [Operand<'a>] {
        self.operands
    }
}

impl<'a, T: Convolved, L: Dims> Seen<'a, T, L> {
    /// An expression that stores over `L`, on `device` where no operand says where.
    pub(super) fn expression(
        core: &'a Arc<Core>,
        device: Option<&'a Device>,
        operands: &'a [Operand<'a>],
    ) -> Result<Seen<'a, T, L>, Error> {
        let gpu = core.device(operands, device.and_then(Device::as_gpu))?;
        let signature = Signature { gpu, operands, targets: None };
        let computed = Computed::of(
            core,
            &signature,
            |views, extents| {
                let points: [_; 4] = std::array::from_fn(|i| (L::IDS[i], L::NAMES[i], extents[i]));
                let lanes = neighbours(extents[3] as usize, T::PRECISION) as u32;
                Inline::new(
                    core.graph(),
                    views,
                    &Caller { points: &points, given: None, lanes, sized: true, room: ROOM },
                )
            },
            EXPRESSION_BYTES,
        )?;
        Ok(Seen::Computed(Expression { core, operands, device, gpu, computed }))
    }

    /// Images, rows, columns, channels.
    pub(super) fn sizes(&self) -> [usize; 4] {
        match self {
            Seen::Stored(tensor) => sizes(tensor),
            Seen::Computed(it) => std::array::from_fn(|i| it.computed.extents.get(i).map_or(1, |e| *e as usize)),
        }
    }

    pub(super) fn device(&self) -> Device {
        match self {
            Seen::Stored(tensor) => tensor.device(),
            Seen::Computed(it) => it.gpu.map_or(Device::Cpu, |gpu| Device::Gpu(gpu.clone())),
        }
    }

    /// The number of the text that is part of a kernel, if it is.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Seen::Stored(_) => None,
            Seen::Computed(it) => it.computed.function.as_ref().map(|function| function.text.number),
        }
    }

    /// Bytes of the tensor that is made before a kernel reads it; none where the kernel reads what is there.
    pub(super) fn made_bytes(&self) -> usize {
        match self {
            Seen::Stored(tensor) => copy_bytes(tensor),
            Seen::Computed(Expression { computed, .. }) if computed.function.is_some() => 0,
            Seen::Computed(_) => self.sizes().iter().product::<usize>() * size_of::<T>(),
        }
    }

    /// The tensor, or what a call of its own stores of an expression.
    pub(super) fn stored(&self, call: &'static str) -> Result<Tensor<T, Quad>, Error> {
        match self {
            Seen::Stored(tensor) => Ok((*tensor).clone().renamed()),
            Seen::Computed(it) => {
                let made = of_workspace(call, it.core.call::<Out<T, L>>(it.operands, it.device))?;
                Ok(made.renamed())
            }
        }
    }

    /// What a kernel reads: memory without gaps, if need be in `call`'s workspace, or the expression where a GPU's kernel can evaluate it, place
    /// by place.
    pub(super) fn ready(&self, call: &'static str) -> Result<Ready<'_, T>, Error> {
        match self {
            Seen::Stored(tensor) => Ok(Ready::Memory(packed(call, tensor)?)),
            Seen::Computed(it) => match &it.computed.function {
                Some(function) => Ok(Ready::Expression(Filled { function, operands: it.operands })),
                None => Ok(Ready::Memory(packed(call, &self.stored(call)?)?)),
            },
        }
    }
}

/// An image that a kernel can read.
pub(super) enum Ready<'a, T> {
    Memory(Tensor<T, Quad>),
    Expression(Filled<'a>),
}

impl<'a, T: Item> Ready<'a, T> {
    pub(super) fn memory(&self) -> Option<Dense<'_, T>> {
        match self {
            Ready::Memory(tensor) => Some(dense(tensor)),
            Ready::Expression(_) => None,
        }
    }

    pub(super) fn expression(&self) -> Option<Filled<'a>> {
        match self {
            Ready::Memory(_) => None,
            Ready::Expression(filled) => Some(*filled),
        }
    }
}
