//! One product: what it asks of a machine, and how it runs where its operands lie.

use super::Accelerated;
use super::asked::is_stored;
use super::banded::Factors;
use super::copies::{Copies, Download};
use super::multiplicand::{Multiplicand, multiply_batch_there};
use super::operand::{Form, Goal, Operand, Target};
use super::run::Route;
use super::source::MatrixSource;
use super::stored::Conjugated;
use crate::budget::{Budget, Memory, Permit};
use crate::faults::Scale;
use crate::linear::{DeviceMat, Gpu, Place, matmul};
use crate::matrix::{Dense, Element};
use crate::store::{Extents, MemorySink, Sink, Stored};
use crate::stream::{Budgets, Control, Factor, Form as Enters};
use crate::{Error, MatMut, MatRef};
use ndarray::{Array2, ArrayBase, Data, Ix2};
use rayon::prelude::*;

/// `c = alpha * a * b + beta * c`.
pub(super) struct Multiplication<'a, T: Multiplicand> {
    pub(super) factors: Factors<'a, T>,
    pub(super) c: Target<'a, T>,
    /// For what the CPU reads from stores or fetches from the GPU, for what is gathered for the GPU, and for a result that is whole before it takes its place.
    pub(super) host: Budget,
}

impl<T: Multiplicand> Multiplication<'_, T> {
    fn is_stored(&self) -> bool {
        is_stored(&self.factors.a) || is_stored(&self.factors.b) || matches!(self.c.0, Goal::Stored(_))
    }
}

impl<T: Multiplicand> Route<()> for Multiplication<'_, T> {
    fn whole(&mut self, place: &Place, control: Control<'_>) -> Result<(), Error> {
        // A stream, if one follows, reads page-locked memory itself.
        let in_memory = self.factors.in_memory();
        let stored = std::mem::replace(&mut self.factors, in_memory);
        let done = match (place, self.is_stored()) {
            (Place::Cpu, false) => self.on_cpu(control),
            (Place::Gpu(gpu), false) => self.on_gpu(gpu),
            (Place::Cpu, true) => self.in_host_tiles(control),
            (Place::Gpu(gpu), true) => self.gathered(gpu),
        };
        self.factors = stored;
        done
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<(), Error> {
        let Factors { operation, precision, alpha, a, b, beta, .. } = self.factors;
        let (Some(a), Some(b)) = (Fed::of(a), Fed::of(b)) else { return Err(gpu.lacks_room()) };
        let factors = (alpha, a.factor(), b.factor());
        match &mut self.c.0 {
            Goal::Gpu(_) => Err(gpu.lacks_room()),
            Goal::Host(c) | Goal::New(c) => {
                for (operand, name) in [(&a, "a"), (&b, "b")] {
                    if let Fed::Here(matrix) = operand {
                        c.refuse_overlap(operation, name, matrix.0)?;
                    }
                }
                let _result = self.host.try_acquire(c.shape().bytes::<T>()?.0 as u64)?;
                let mut result = Array2::from_elem((c.rows(), c.columns()), T::ZERO);
                let sink = MemorySink::new(result.view_mut());
                let added = MatrixSource(c.read());
                let (budgets, _permit) = gpu.smaller(scale)?;
                T::stream(&gpu.gpu, &budgets, precision, factors, (beta, Some(&added)), &sink, control)?;
                Box::new(sink).commit()?;
                write(c, &result)
            }
            Goal::Stored(kept) => {
                let added = kept.added.filter(|_| beta != T::Factor::ZERO);
                let (budgets, _permit) = gpu.smaller(scale)?;
                kept.filled(&self.host, |sink| {
                    T::stream(&gpu.gpu, &budgets, precision, factors, (beta, added), sink, control)
                })?;
                kept.commit()
            }
        }
    }
}

/// A factor as streams take it.
pub(super) enum Fed<'a, T: Element> {
    Here(MatrixSource<'a, T>),
    Stored(Factor<'a>),
    Conjugated(Conjugated<'a, T>),
}

impl<'a, T: Element + Stored> Fed<'a, T> {
    /// Nothing for what is not streamed.
    pub(super) fn of(operand: Operand<'a, T>) -> Option<Self> {
        Some(match operand.0 {
            Form::Host(matrix) => Fed::Here(MatrixSource(matrix)),
            Form::Stored(stored) => match (stored.transposed, stored.conjugated) {
                (false, true) => Fed::Conjugated(Conjugated::of(stored.source)),
                (false, false) => Fed::Stored(Factor { source: stored.source, form: Enters::Plain }),
                (true, false) => Fed::Stored(Factor { source: stored.source, form: Enters::Transposed }),
                (true, true) => Fed::Stored(Factor { source: stored.source, form: Enters::Adjoint }),
            },
            Form::Gpu(_) | Form::Diagonal(_) => return None,
        })
    }

    pub(super) fn factor(&self) -> Factor<'_> {
        match self {
            Fed::Here(source) => Factor::plain(source),
            Fed::Stored(factor) => *factor,
            Fed::Conjugated(source) => Factor::plain(source),
        }
    }
}

impl<T: Multiplicand> Multiplication<'_, T> {
    /// On a GPU that has room for all of it, what is stored being read into host memory first.
    fn gathered(&mut self, gpu: &Gpu) -> Result<(), Error> {
        let Factors { a, b, beta, .. } = self.factors;
        let of_result = if matches!(&self.c.0, Goal::Stored(kept) if !kept.lies()) {
            self.c.shape().bytes::<T>()?.0 as u64
        } else {
            0
        };
        let are_stored = |form: &Form<'_, T>| matches!(form, Form::Stored(_));
        let copies = Copies::of((&self.host, of_result), [a, b], are_stored, Download::OWN)?;
        let factors = self.factors.with(&copies);
        let host = self.host.clone();
        let multiply = |c: Target<'_, T>| Multiplication { factors, c, host }.on_gpu(gpu);
        match &mut self.c.0 {
            Goal::Host(c) => multiply(c.reborrow().into()),
            Goal::New(c) => multiply(Target(Goal::New(c.reborrow()))),
            Goal::Gpu(c) => multiply(Target(Goal::Gpu(c))),
            Goal::Stored(kept) if kept.lies() => {
                kept.computed(beta, |mut c| multiply(Target(Goal::New((&mut c).into()))))?;
                kept.commit()
            }
            Goal::Stored(kept) => {
                let shape = kept.shape();
                let whole = Extents::new(shape.rows.0, shape.columns.0).whole();
                let mut values = kept.added::<T>(&whole, beta)?;
                multiply(Target(Goal::New((&mut values).into())))?;
                kept.write(&whole, &values)?;
                kept.commit()
            }
        }
    }

    fn on_gpu(&mut self, gpu: &Gpu) -> Result<(), Error> {
        let Factors { operation, precision, alpha, a, b, beta, batch } = self.factors;
        if let (Form::Host(a), Form::Host(b), None) = (a.0, b.0, batch) {
            let place = Place::Gpu(gpu.clone());
            match &mut self.c.0 {
                Goal::New(c) => return matmul(&place, precision, alpha, a, b, beta, c.reborrow()),
                Goal::Host(c) => {
                    c.refuse_overlap(operation, "a", a)?;
                    c.refuse_overlap(operation, "b", b)?;
                    let multiply = |c: MatMut<'_, T>| matmul(&place, precision, alpha, a, b, beta, c);
                    return committed(&self.host, c, beta != T::Factor::ZERO, multiply);
                }
                Goal::Gpu(_) | Goal::Stored(_) => {}
            }
        }
        let copies = [uploaded(gpu, &a)?, uploaded(gpu, &b)?];
        let operands = [there(a, &copies[0]), there(b, &copies[1])];
        let multiply = |c: &mut DeviceMat<T>| match (operands.map(|it| it.0), batch) {
            ([Form::Gpu(a), Form::Gpu(b)], Some(extents)) => {
                multiply_batch_there(precision, (alpha, a, b), beta, c, extents)
            }
            ([Form::Gpu(a), Form::Gpu(b)], None) => T::multiply_there(precision, (alpha, a, b), beta, c),
            _ => T::scale_there(alpha, operands, beta, c),
        };
        let is_new = matches!(self.c.0, Goal::New(_));
        match &mut self.c.0 {
            Goal::Gpu(c) => multiply(c),
            Goal::Host(c) | Goal::New(c) => {
                let mut result = match beta == T::Factor::ZERO {
                    true => DeviceMat::uninitialised(gpu, c.shape())?,
                    false => DeviceMat::upload(gpu, c.read())?,
                };
                multiply(&mut result)?;
                if is_new && c.elements().as_columns().is_some() {
                    return result.download_to(c.reborrow());
                }
                let _host = self.host.try_acquire(c.shape().bytes::<T>()?.0 as u64)?;
                write(c, &result.download()?)
            }
            Goal::Stored(_) => self.gathered(gpu),
        }
    }
}

fn uploaded<T: Multiplicand>(gpu: &Gpu, operand: &Operand<'_, T>) -> Result<Option<DeviceMat<T>>, Error> {
    match operand.0 {
        Form::Host(matrix) => DeviceMat::upload(gpu, matrix).map(Some),
        _ => Ok(None),
    }
}

/// An operand for the GPU: as it was, or its copy there.
fn there<'a, T: Multiplicand>(operand: Operand<'a, T>, copy: &'a Option<DeviceMat<T>>) -> Operand<'a, T> {
    copy.as_ref().map_or(operand, Operand::from)
}

/// Bytes that a thread copies in a row.
const COPIED: usize = 1 << 20;

/// Has a result computed in memory of its own, which begins as `c` is where that is read, and puts it into `c` when it is whole: a device may
/// fail in the midst of a copy.
pub(super) fn committed<T: Element>(
    host: &Budget,
    c: &mut MatMut<'_, T>,
    reads_c: bool,
    compute: impl FnOnce(MatMut<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    // As `c` lies, so that nothing is rearranged.
    let lies_by_rows = c.elements().as_columns().is_none() && c.reborrow().t().elements().as_columns().is_some();
    let mut c = if lies_by_rows { c.reborrow().t() } else { c.reborrow() };
    let _host = host.try_acquire(c.shape().bytes::<T>()?.0 as u64)?;
    let mut own = if reads_c { c.read().to_dense()? } else { Dense::zeros(c.shape())? };
    compute(if lies_by_rows { own.view_mut().t() } else { own.view_mut() })?;
    put(&mut c, own.values());
    Ok(())
}

/// Puts an array where a result is wanted.
pub(super) fn write<T: Element>(
    c: &mut MatMut<'_, T>,
    result: &ArrayBase<impl Data<Elem = T>, Ix2>,
) -> Result<(), Error> {
    // An array that lies by rows is, column by column, the transposed one.
    if let Some(by_rows) = result.as_slice() {
        put(&mut c.reborrow().t(), by_rows);
    } else if let Some(by_columns) = result.t().as_slice() {
        put(c, by_columns);
    } else {
        put(c, MatRef::from(result).to_dense()?.values());
    }
    Ok(())
}

/// Puts values, column by column, into a matrix: by all threads where that lies so too.
fn put<T: Element>(c: &mut MatMut<'_, T>, values: &[T]) {
    match c.elements().as_columns() {
        Some(there) => {
            let each = COPIED / size_of::<T>();
            let parts = there.par_chunks_mut(each).zip(values.par_chunks(each));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
        }
        None => c.elements().fill(|index| values[index]),
    }
}

impl Accelerated {
    /// Budgets whose memory of the GPU is halved as often as it was short, and leave to use that.
    pub(super) fn smaller(&self, scale: Scale) -> Result<(Budgets, Option<Permit>), Error> {
        if scale.halvings() == 0 {
            return Ok((self.budgets.clone(), None));
        }
        let available = usize::try_from(self.budgets.device.available()).unwrap_or(usize::MAX);
        let permit = self.budgets.device.try_acquire(scale.of(available) as u64)?;
        let device = Budget::new(Memory::Device, permit.bytes());
        Ok((Budgets { device, pinned: self.budgets.pinned.clone() }, Some(permit)))
    }
}
