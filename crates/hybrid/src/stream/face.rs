//! Products of matrices that are larger than the memory of a GPU, or than memory.

use super::control::Control;
use super::direct::Direct;
use super::engine::Form;
use super::gpu::GpuEngine;
use super::matmul::{Factor, Product, Traffic, run};
use super::matmul_plan::MatmulPlan;
use super::staging::Staging;
use crate::Error;
use crate::budget::Budget;
use crate::dispatch::ProductExtents;
use crate::linear::{Gpu, Precision, Scalar};
use crate::store::{Extents, Sink, Source, Stored};
use tilewright_driver::blas::Element;

/// Memory that an operation may use.
#[derive(Clone, Debug)]
pub struct Budgets {
    /// The GPU's.
    pub device: Budget,
    /// Page-locked memory of the host. Where it has not room for two slots, one each way, of what is streamed, a few slots lie in ordinary memory:
    /// copies are slower then, and waited for. What a stream is done with stays locked for the next one, at most 128 MiB a GPU and counted by no budget, until
    /// [`Stream::trim`](tilewright_driver::Stream::trim).
    pub pinned: Budget,
}

impl<'a> Factor<'a> {
    /// A stored matrix as it is.
    pub fn plain(source: &'a dyn Source) -> Factor<'a> {
        Factor { source, form: Form::Plain }
    }

    /// A stored matrix, transposed.
    pub fn transposed(source: &'a dyn Source) -> Factor<'a> {
        Factor { source, form: Form::Transposed }
    }

    /// A stored matrix, transposed and conjugated.
    pub fn adjoint(source: &'a dyn Source) -> Factor<'a> {
        Factor { source, form: Form::Adjoint }
    }

    /// Rows and columns, as it enters.
    pub fn extents(&self) -> [usize; 2] {
        let stored = self.source.extents();
        match self.form {
            Form::Plain => [stored.rows, stored.columns],
            Form::Transposed | Form::Adjoint => [stored.columns, stored.rows],
        }
    }
}

impl<T: Scalar + Stored> Product<'_, T> {
    /// Tiles that so many bytes of the GPU's memory hold: of whole rows where it reads `b` itself, if that is not much more to copy.
    fn plan(&self, extents: ProductExtents, budget: u64) -> Result<MatmulPlan, Error> {
        let is_read_by_rows = self.b.form == Form::Plain && self.b.source.locked().is_some();
        MatmulPlan::suited(extents, size_of::<T>(), budget, self.c.is_some(), is_read_by_rows)
    }

    /// Its extents. [`Error::Shape`] where factors, what is added and where it goes do not agree, [`Error::ElementType`] where one is of
    /// another type.
    pub fn extents(&self, sink: &dyn Sink) -> Result<ProductExtents, Error> {
        self.extents_into(sink.extents(), sink.element())
    }

    pub(super) fn extents_into(&self, into: Extents, element: crate::store::Element) -> Result<ProductExtents, Error> {
        let operation = "a streamed product";
        let ([rows, depth], [of_b, columns]) = (self.a.extents(), self.b.extents());
        let same = |what, expected: usize, got: usize| match expected == got {
            true => Ok(()),
            false => Err(Error::Shape { operation, what, expected, got }),
        };
        same("rows of b", depth, of_b)?;
        let result = [("rows of c", rows), ("columns of c", columns)];
        let added = self.c.map(|c| c.extents());
        for stored in added.into_iter().chain([into]) {
            same(result[0].0, result[0].1, stored.rows)?;
            same(result[1].0, result[1].1, stored.columns)?;
        }
        let elements = [self.a.source.element(), self.b.source.element(), element];
        for element in elements.into_iter().chain(self.c.map(|c| c.element())) {
            if element != T::ELEMENT {
                let (expected, got) = (element.name(), T::ELEMENT.name());
                return Err(Error::ElementType { operation, expected, got });
            }
        }
        if self.c.is_none() && self.beta != T::ZERO {
            return Err(Error::Shape { operation, what: "matrices to add, as beta is not 0", expected: 1, got: 0 });
        }
        Ok(ProductExtents { rows, columns, depth })
    }
}

/// `sink = alpha * a * b + beta * c` on a GPU, in tiles that fit into the budgets: while one panel is multiplied the next ones are read and
/// copied, and while one tile of the result is computed the one before is copied back and written. The sink is not committed: whoever
/// does it makes the whole result visible at once, and after an error there is none.
///
/// What the same plan takes without a GPU is said by [`MatmulPlan`]. What lies in page-locked memory
/// ([`PinnedSource`](crate::store::PinnedSource), [`PinnedSink`](crate::store::PinnedSink)) the GPU copies itself, and tiles are of whole rows
/// then. Sums are added panel by panel, so results depend on the plan in the last bits: the same sizes, budgets and places give the same bits.
/// Special numbers go through as IEEE 754 has it; with a `beta` of 0 `c` is not read. Where `control` has it verified, all is read once more when
/// it is done, and what is not the product is [`Error::WrongProduct`].
///
/// Errors: [`Error::Shape`], [`Error::ElementType`]; [`Error::Unsupported`] where a sink that cannot be read is to be verified; [`Error::Budget`] without room for the smallest tiles;
/// [`Error::Cancelled`]; those of sources, of the sink and of the driver.
pub fn matmul<T: Scalar + Stored + Element<Coefficient = T, Sum = T>>(
    gpu: &Gpu,
    budgets: &Budgets,
    precision: Precision,
    product: &Product<'_, T>,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let extents = product.extents(sink)?;
    let plan = product.plan(extents, budgets.device.available())?;
    matmul_by(&plan, gpu, budgets, precision, product, sink, control)
}

/// As [`matmul`], by a plan of the caller's: with other tiles, or with one stage, which copies and multiplies in turns and so shows what doing
/// both at once is worth. [`Error::Shape`] for a plan of another product, or without stages, rows, columns or depth.
pub fn matmul_by<T: Scalar + Stored + Element<Coefficient = T, Sum = T>>(
    plan: &MatmulPlan,
    gpu: &Gpu,
    budgets: &Budgets,
    precision: Precision,
    product: &Product<'_, T>,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    plan.check(product.extents(sink)?, size_of::<T>())?;
    let _device = budgets.device.try_acquire(u64::try_from(plan.device_bytes()).unwrap_or(u64::MAX))?;
    let engine = GpuEngine::multiplying::<T>(gpu, precision)?;
    let load = product.load(plan, sink, Direct::of::<T, _>(&engine));
    let (staging, _pinned) = Staging::new::<T>(&budgets.pinned, load);
    run(&engine, plan, product, sink, staging, control)
}
