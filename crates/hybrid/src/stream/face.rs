//! Products of matrices that are larger than the memory of a GPU, or than memory.

use super::control::Control;
use super::direct::Direct;
use super::engine::Form;
use super::gpu::GpuEngine;
use super::matmul::{Factor, Product, Traffic, run};
use super::matmul_plan::{MatmulPlan, STAGES};
use super::matvec::run as run_panels;
use super::matvec_plan::MatvecPlan;
use super::staging::Staging;
use super::verify;
use crate::Error;
use crate::budget::{Budget, Permit, Ring};
use crate::dispatch::{self, MatvecExtents, ProductExtents, Tiles};
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
        let ([rows, depth], [of_b, columns]) = (self.a.extents(), self.b.extents());
        same("rows of b", depth, of_b)?;
        self.check([rows, columns], (into, element))?;
        Ok(ProductExtents { rows, columns, depth })
    }

    /// The extents of a batch of products with vectors: one vector for all matrices, which are one product then, or one for each. The same errors.
    pub(super) fn batch(&self, sink: &dyn Sink) -> Result<MatvecExtents, Error> {
        self.batch_into(sink.extents(), sink.element())
    }

    pub(super) fn batch_into(&self, into: Extents, element: crate::store::Element) -> Result<MatvecExtents, Error> {
        let ([all_rows, columns], [of_x, one]) = (self.a.extents(), self.b.extents());
        same("columns of the vectors", 1, one)?;
        let extents = MatvecExtents::of(OPERATION, [all_rows, columns], of_x)?;
        self.check([all_rows, 1], (into, element))?;
        Ok(extents)
    }

    /// That what is added, and where a result of so many rows and columns goes, have its extents and the type of the factors.
    fn check(
        &self,
        [rows, columns]: [usize; 2],
        (into, element): (Extents, crate::store::Element),
    ) -> Result<(), Error> {
        let operation = OPERATION;
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
        Ok(())
    }
}

/// Bytes of the GPU's memory that a plan's tiles may take.
fn available(budgets: &Budgets, precision: Precision) -> u64 {
    budgets.device.available() / precision.times_in_memory()
}

/// What a product is streamed with, and leave to use that memory for as long.
struct Ready {
    staging: Staging,
    _pinned: Option<Ring>,
    engine: GpuEngine,
    _device: Permit,
}

impl Ready {
    /// For a plan that takes so many bytes of the GPU's memory, and brings such tiles of both factors and of the result.
    fn for_product<T: Scalar + Stored>(
        gpu: &Gpu,
        budgets: &Budgets,
        precision: Precision,
        (device_bytes, tiles): (u128, [[usize; 2]; 3]),
        (product, sink): (&Product<'_, T>, &dyn Sink),
        control: Control<'_>,
    ) -> Result<Ready, Error> {
        if control.verify.is_some() && matches!(precision, Precision::F64Emulated { .. }) {
            return Err(verify::refused_of_emulated::<T>());
        }
        let device_bytes = u64::try_from(device_bytes).unwrap_or(u64::MAX).saturating_mul(precision.times_in_memory());
        let device = budgets.device.try_acquire(device_bytes)?;
        let engine = GpuEngine::multiplying::<T>(gpu, precision)?;
        let load = product.load(tiles, sink, Direct::of::<T, _>(&engine));
        let (staging, pinned) = Staging::new::<T>(&budgets.pinned, load);
        let engine = engine.locking_within(&budgets.pinned)?;
        Ok(Ready { staging, _pinned: pinned, engine, _device: device })
    }
}

const OPERATION: &str = "a streamed product";

fn same(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    match expected == got {
        true => Ok(()),
        false => Err(Error::Shape { operation: OPERATION, what, expected, got }),
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
/// Errors: [`Error::Shape`], [`Error::ElementType`]; [`Error::Unsupported`] where a sink that cannot be read, or a product of emulated f64, is to be verified; [`Error::Budget`] without room for the smallest tiles;
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
    let plan = product.plan(extents, available(budgets, precision))?;
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
    let ready =
        Ready::for_product(gpu, budgets, precision, (plan.device_bytes(), plan.tiles()), (product, sink), control)?;
    let traffic = run(&ready.engine, plan, product, sink, ready.staging, control)?;
    dispatch::streamed(Tiles::Product(*plan), traffic);
    Ok(traffic)
}

/// `y = alpha * a * x + beta * y` for each matrix of a batch, on a GPU, in panels that fit into the budgets. The matrices stand one below another in
/// `product.a`, so that `count` of them, of `rows x columns`, are `count * rows x columns`; their vectors stand below one another in `product.b`, of one column,
/// and so do results in the sink and what is added: as `numpy.matmul` has stacks of matrices and of columns, whose NPY files are read as such. A `product.b` of
/// `columns` rows is one vector for all matrices; so one matrix, of any number of rows, is a batch too.
///
/// A panel is some matrices, or some rows of one; while one is multiplied the next ones are read and copied. Each matrix is copied once, and bound by
/// that: an element that crosses the link is used once. One vector for all stays on the GPU, others come once, with their matrices. What
/// [`matmul`] says of page-locked memory, special numbers, `beta` and the sink, which is not committed, holds here; where it is to be verified each product is,
/// and [`Error::WrongProduct`] has the number of the first wrong one.
///
/// Errors: those of [`matmul`]; [`Error::Budget`] without room for a vector and a row of a matrix in each stage.
pub fn matvec<T: Scalar + Stored + Element<Coefficient = T, Sum = T>>(
    gpu: &Gpu,
    budgets: &Budgets,
    precision: Precision,
    product: &Product<'_, T>,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let extents = product.batch(sink)?;
    let plan = MatvecPlan::new(extents, size_of::<T>(), available(budgets, precision), STAGES)?;
    let ready =
        Ready::for_product(gpu, budgets, precision, (plan.device_bytes(), plan.tiles()), (product, sink), control)?;
    let traffic = run_panels(&ready.engine, &plan, product, sink, ready.staging, control)?;
    dispatch::streamed(Tiles::Matvec(plan), traffic);
    Ok(traffic)
}

/// A product, or a batch of products with vectors: with one column in panels of rows, if the GPU has room for a row, else in tiles, as decisions have it.
pub(crate) fn multiply<T: Scalar + Stored + Element<Coefficient = T, Sum = T>>(
    gpu: &Gpu,
    budgets: &Budgets,
    precision: Precision,
    product: &Product<'_, T>,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    if product.b.extents()[1] == 1 {
        let extents = product.batch(sink)?;
        let has_room = MatvecPlan::new(extents, size_of::<T>(), available(budgets, precision), STAGES).is_ok();
        if has_room || extents.count != 1 {
            return matvec(gpu, budgets, precision, product, sink, control);
        }
    }
    matmul(gpu, budgets, precision, product, sink, control)
}
