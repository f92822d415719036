//! One product: what it asks of a machine, and how it runs where its operands lie.

use super::Accelerated;
use super::asked::is_stored;
use super::banded::Factors;
use super::copies::{Copies, Download};
use super::delivered::{committed, delivered, lies_by_rows, write};
use super::multiplicand::{Multiplicand, multiply_batch_there};
use super::operand::{Form, Goal, Operand, Target};
use super::own::HostMemory;
use super::run::Route;
use super::source::MatrixSource;
use super::stored::Conjugated;
use crate::budget::{Budget, Memory, Permit};
use crate::faults::Scale;
use crate::linear::{DeviceMat, Gpu, Place, matmul};
use crate::matrix::Element;
use crate::store::{Extents, MemorySink, Sink, Stored};
use crate::stream::{Budgets, Control, Factor, Form as Enters};
use crate::{Error, MatMut};
use ndarray::Array2;

/// `c = alpha * a * b + beta * c`.
pub(super) struct Multiplication<'a, T: Multiplicand> {
    pub(super) factors: Factors<'a, T>,
    pub(super) c: Target<'a, T>,
    /// For what the CPU reads from stores or fetches from the GPU, for what is gathered for the GPU, and for a result that is whole before it takes its place.
    pub(super) room: HostMemory,
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
                let _result = self.room.host.try_acquire(c.shape().bytes::<T>()?.0 as u64)?;
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
                kept.filled(&self.room.host, |sink| {
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
        let copies = Copies::of((&self.room.host, of_result), [a, b], are_stored, Download::own(&self.room))?;
        let factors = self.factors.with(&copies);
        let room = self.room.clone();
        let multiply = |c: Target<'_, T>| Multiplication { factors, c, room }.on_gpu(gpu);
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
                    return committed((&self.room, Some(gpu)), c, beta != T::Factor::ZERO, multiply);
                }
                Goal::Gpu(_) | Goal::Stored(_) => {}
            }
        }
        // What lies by rows is, column by column, the transposed product, unless its factors would have to be copied there.
        let is_plain = [a, b].iter().all(Operand::is_read_either_way);
        let is_turned = is_plain && batch.is_none() && self.c.in_host().is_some_and(lies_by_rows);
        let [a, b] = if is_turned { [b.t(), a.t()] } else { [a, b] };
        let copies = [uploaded(gpu, &a, is_plain)?, uploaded(gpu, &b, is_plain)?];
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
                let mut c = if is_turned { c.reborrow().t() } else { c.reborrow() };
                let mut result = match beta == T::Factor::ZERO {
                    true => DeviceMat::uninitialised(gpu, c.shape())?,
                    false => DeviceMat::upload(gpu, c.read())?,
                };
                multiply(&mut result)?;
                if is_new && c.elements().as_columns().is_some() {
                    return result.download_to(c);
                }
                delivered(&self.room, &mut c, &result)
            }
            Goal::Stored(_) => self.gathered(gpu),
        }
    }
}

/// A copy of an operand in host memory, if it may be as it lies, and whether that is the transposed one.
fn uploaded<T: Multiplicand>(
    gpu: &Gpu,
    operand: &Operand<'_, T>,
    may_turn: bool,
) -> Result<Option<(DeviceMat<T>, bool)>, Error> {
    let Form::Host(matrix) = operand.0 else { return Ok(None) };
    let is_turned = may_turn && matrix.as_columns().is_none() && matrix.t().as_columns().is_some();
    let copy = DeviceMat::upload(gpu, if is_turned { matrix.t() } else { matrix })?;
    Ok(Some((copy, is_turned)))
}

/// An operand for the GPU: as it was, or its copy there.
fn there<'a, T: Multiplicand>(operand: Operand<'a, T>, copy: &'a Option<(DeviceMat<T>, bool)>) -> Operand<'a, T> {
    match copy {
        Some((copy, is_turned)) if *is_turned => Operand::from(copy).t(),
        Some((copy, _)) => copy.into(),
        None => operand,
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
