//! [`Behind`]: an expression that takes the sums of a pass, in the pass's kernel or by a call of its own.

use super::compute::{Call, Reads};
use super::dense::{dense_mut, lies_dense, sizes};
use super::element::Convolved;
use super::ends::{Ends, Reading};
use super::error::of_workspace;
use super::fused::{Beside, GRAD_NAME, NAME};
use super::gradients::check;
use super::image::{EXPRESSION_BYTES, ROOM};
use super::problem::{Pass, Precision};
use crate::device::{Device, Gpu};
use crate::error::Error;
use crate::feed::{Operand, of_tensor};
use crate::fused::Core;
use crate::inlined::{Filled, Function, given};
use crate::signature::Signature;
use crate::tensor::{Axes, Item, Tensor};
use std::marker::PhantomData;
use std::sync::Arc;
use tilewright_dims::Dims;
use tilewright_expr::bind::View;
use tilewright_expr::emit::{Caller, Inline};
use tilewright_expr::{DType, Out};

/// A pass with sums over `D`, and the expression that takes them.
pub(super) struct Behind<'a, D> {
    pub(super) call: Call<'a>,
    pub(super) pass: Pass,
    pub(super) core: &'a Arc<Core>,
    pub(super) _sums: PhantomData<D>,
}

impl<D: Dims> Behind<'_, D> {
    /// What the expression makes of the sums.
    pub(super) fn made<T: Convolved, U: Item, L: Dims, A>(
        &self,
        reads: Reads<'_, T>,
        beside: &impl Beside<D::Set, A>,
    ) -> Result<Tensor<U, L>, Error> {
        let in_kernel = self.in_kernel::<U, L, A, _>(beside, |filled| {
            let mut y = Tensor::result(&self.extents().map(|e| e as i64), self.call.gpu)?;
            self.call.finished(self.pass, reads, dense_mut(&mut y)?, filled)?;
            Ok(y)
        })?;
        if let Some(y) = in_kernel {
            return Ok(y);
        }
        let sums = self.sums(reads)?;
        beside.behind(of_tensor(&sums), |operands| self.core.call::<Out<U, L>>(operands, None))
    }

    /// As [`Behind::made`], into a tensor that is there.
    pub(super) fn made_into<T: Convolved, U: Item, L: Dims, A>(
        &self,
        y: &mut Tensor<U, L>,
        reads: Reads<'_, T>,
        beside: &impl Beside<D::Set, A>,
    ) -> Result<(), Error> {
        let in_kernel = self.in_kernel::<U, L, A, _>(beside, |filled| {
            let names = std::array::from_fn(|i| L::NAMES[i]);
            check("the result", names, sizes(y), self.extents())?;
            if !lies_dense(y) {
                return Ok(false);
            }
            self.call.finished(self.pass, reads, dense_mut(y)?, filled)?;
            Ok(true)
        })?;
        if in_kernel == Some(true) {
            return Ok(());
        }
        let sums = self.sums(reads)?;
        beside.behind(of_tensor(&sums), |operands| self.core.call_into::<Out<U, L>>(operands, y, None))
    }

    /// Bytes of the sums, where they go through memory. What the call would be refused is refused.
    pub(super) fn workspace<U: Item, L: Dims, A>(
        &self,
        beside: &impl Beside<D::Set, A>,
        reading: Reading,
    ) -> Result<usize, Error> {
        let in_kernel = self.in_kernel::<U, L, A, _>(beside, |_| Ok(()))?;
        let apart = in_kernel.is_none() && self.call.gpu.is_some() && self.call.problem.images > 0;
        let written = if apart { Precision::F32 } else { stored::<U>() };
        let ends = Ends { reading, written, loads: false, behind: in_kernel.is_some() };
        Call::asked((self.pass, self.call.problem), self.call.config, ends, self.call.gpu)?;
        let sums = self.extents().iter().product::<usize>() * size_of::<f32>();
        Ok(if in_kernel.is_some() { 0 } else { sums })
    }

    /// Does `work` with the expression as part of the pass's kernel, if it can be that and there is one.
    fn in_kernel<U: Item, L: Dims, A, V>(
        &self,
        beside: &impl Beside<D::Set, A>,
        work: impl FnOnce((Precision, Option<Filled<'_>>)) -> Result<V, Error>,
    ) -> Result<Option<V>, Error> {
        let axes = Axes::of::<D>(|i| (self.extents()[i] as i64, 1)).packed();
        beside.behind(given(axes.as_slice()), |operands| {
            together(self.call.gpu, self.core, operands)?;
            let (Some(gpu), Some(written)) = (self.call.gpu.filter(|_| self.call.problem.images > 0), written::<U>())
            else {
                return Ok(None);
            };
            if L::IDS != D::IDS {
                return Ok(None);
            }
            let function = self.function(gpu, operands)?;
            let filled = |function| (written, Some(Filled { function, operands }));
            function.as_ref().as_ref().map(|function| work(filled(function))).transpose()
        })
    }

    /// The expression as a function of a place, if it is one, and what it takes has room.
    fn function(&self, gpu: &Gpu, operands: &[Operand<'_>]) -> Result<Arc<Option<Function>>, Error> {
        let signature = Signature { gpu: Some(gpu), operands, targets: None };
        let plan = || {
            let extents = self.extents().map(|e| e as i64);
            let points: [_; 4] = std::array::from_fn(|i| (D::IDS[i], D::NAMES[i], extents[i]));
            let views: Vec<View<'_>> = operands.iter().skip(1).map(Operand::view).collect();
            let lanes = if extents[3] % 2 == 0 { 2 } else { 1 };
            let caller = Caller { points: &points, given: Some(0), lanes, sized: true, room: ROOM };
            Inline::new(self.core.graph(), &views, &caller)
        };
        let epilogues = self.core.epilogues();
        if let Some(known) = epilogues.known(&signature) {
            return Ok(known);
        }
        let function = epilogues.function(self.core.graph(), plan(), EXPRESSION_BYTES)?;
        // The values of boxes on the host are no part of the signature.
        let keep = operands.iter().all(|o| o.boxes().is_none());
        Ok(if keep { epilogues.keep(&signature, function) } else { Arc::new(function) })
    }

    fn sums<T: Convolved>(&self, reads: Reads<'_, T>) -> Result<Tensor<f32, D>, Error> {
        let name = if self.pass == Pass::GradInput { GRAD_NAME } else { NAME };
        if self.call.gpu.is_some() {
            tracing::debug!(
                name,
                "an expression is no part of the pass's kernel: sums go through memory, and a call of its own takes them"
            );
        }
        let sums = Tensor::result(&self.extents().map(|e| e as i64), self.call.gpu);
        let mut sums = of_workspace(name, sums)?;
        self.call.sums(self.pass, reads, dense_mut(&mut sums)?)?;
        Ok(sums)
    }

    fn extents(&self) -> [usize; 4] {
        match self.pass {
            Pass::GradInput => self.call.problem.input_extents(),
            _ => self.call.problem.output_extents(),
        }
    }
}

/// What the kernel can write as elements of `U`.
fn written<U: Item>() -> Option<Precision> {
    match (U::DTYPE, U::COMPONENTS) {
        (DType::F16, 1) => Some(Precision::F16),
        (DType::BF16, 1) => Some(Precision::Bf16),
        (DType::F32, 1) => Some(Precision::F32),
        _ => None,
    }
}

/// What the kernel writes for an expression that stores elements of `U`: these, or sums that a call of its own takes.
pub(super) fn stored<U: Item>() -> Precision {
    written::<U>().unwrap_or(Precision::F32)
}

/// Refuses operands of an expression that are tensors elsewhere than the convolution's.
fn together(gpu: Option<&Gpu>, core: &Core, operands: &[Operand<'_>]) -> Result<(), Error> {
    let place = |gpu: Option<&Gpu>| gpu.map_or(Device::Cpu, |gpu| Device::Gpu(gpu.clone())).to_string();
    match (core.device(operands, gpu)?, gpu) {
        (Some(found), Some(gpu)) if found.same(gpu) => Ok(()),
        (None, None) => Ok(()),
        (found, _) => {
            let operand = operands.iter().position(|o| o.address().is_some()).unwrap_or(0);
            Err(Error::Devices { operand, got: place(found), expected: place(gpu) })
        }
    }
}
