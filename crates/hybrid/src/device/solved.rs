//! Solutions and inverses of what is stored.

use super::asked::{at, goes, is_stored};
use super::multiplicand::{Multiplicand, Streamed};
use super::operand::{Diagonal, Form, Goal, Operand, Target};
use super::product::{Fed, read, write};
use super::run::Route;
use super::stored::Read;
use super::{Accelerated, Device};
use crate::budget::Budget;
use crate::dispatch::{At, Job, Verb};
use crate::faults::Scale;
use crate::linear::{self, Place};
use crate::matrix::{Columns, Element, expect};
use crate::store::{Extents, MemoryScratch, MemorySink, Sink};
use crate::stream::{self, Control};
use crate::{Error, MatRef};
use ndarray::Array2;

impl Device {
    /// x with `a x = b`, where `a`, `b` and x lie in host memory or are stored; with the identity for `b` ([`Operand::identity`]) x is the inverse.
    ///
    /// What fits is read whole. What the GPU has no room for is streamed through it from where it is stored; the factors take host memory of the
    /// matrix's size meanwhile: where that is short, [`Error::Budget`], and [`stream::solve`] takes a file for them. A sink is committed when
    /// the result is whole. [`Error::Unsupported`] for what lies on a GPU ([`Device::lu`] has factors there) and for other diagonals, which need
    /// divisions only; other errors are those of [`linear::solve`].
    pub fn solve_into<T: Streamed + Multiplicand>(
        &self,
        a: Operand<'_, T>,
        b: Operand<'_, T>,
        x: Target<'_, T>,
    ) -> Result<(), Error> {
        let is_inverse = matches!(b.0, Form::Diagonal(Diagonal::Ones(_)));
        let verb = if is_inverse { Verb::Inverse } else { Verb::Solve };
        let operation = verb.name();
        let is_elsewhere = |it: &Operand<'_, T>| matches!(it.0, Form::Gpu(_) | Form::Diagonal(_));
        if is_elsewhere(&a) || is_elsewhere(&b) && !is_inverse || matches!(x.0, Goal::Gpu(_)) {
            let why = "operands and the result lie in host memory or are stored; for what is on the GPU take the factors of Device::lu, and \
                       divide by a diagonal";
            return Err(Error::Unsupported { operation, element: T::NAME, place: "CPU and GPU", why: why.into() });
        }
        let side = a.shape().square(operation)?;
        expect(operation, "rows of b", side, b.shape().rows.0)?;
        expect(operation, "rows of x", side, x.shape().rows.0)?;
        expect(operation, "columns of x", b.shape().columns.0, x.shape().columns.0)?;
        let right = if is_inverse { Columns(0) } else { b.shape().columns };
        let mut job = Job::verb::<T>(verb, a.shape(), right)?;
        // What is page-locked is gathered where it fits.
        let lies = |at| if at == At::Pinned { At::Pageable } else { at };
        let places = [lies(at(operation, &a)?), lies(at(operation, &b)?)];
        job.read.iter_mut().zip(places).for_each(|(it, at)| *it = it.map(|it| crate::dispatch::Operand { at, ..it }));
        job.written.at = lies(goes::<T>(operation, &x)?);
        self.run(&job, System { a, b, x, host: self.host.clone() }).map(|ran| ran.value)
    }
}

/// `a x = b`, the inverse where `b` is the identity.
struct System<'a, T: Multiplicand> {
    a: Operand<'a, T>,
    b: Operand<'a, T>,
    x: Target<'a, T>,
    host: Budget,
}

impl<T: Streamed + Multiplicand> Route<()> for System<'_, T> {
    fn whole(&mut self, place: &Place) -> Result<(), Error> {
        let mut bytes = 0;
        for operand in [&self.a, &self.b].into_iter().filter(|it| is_stored(it)) {
            bytes += operand.shape().bytes::<T>()?.0 as u64;
        }
        let _permit = self.host.try_acquire(bytes)?;
        let copies = [read(&self.a)?, read(&self.b)?];
        let Some(a) = here(self.a, &copies[0]) else { return Ok(()) };
        let x = match here(self.b, &copies[1]) {
            Some(b) => linear::solve(place, a, b)?,
            None => linear::inverse(place, a)?,
        };
        match &mut self.x.0 {
            Goal::Host(to) | Goal::New(to) => write(to, &x),
            Goal::Stored(kept) => {
                kept.write(&Extents::new(x.nrows(), x.ncols()).whole(), &x)?;
                kept.commit()
            }
            Goal::Gpu(_) => Ok(()),
        }
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<(), Error> {
        let (shape, (a, b)) = (self.a.shape(), (Fed::of(self.a), Fed::of(self.b)));
        let Some(a) = a else { return Err(gpu.lacks_room()) };
        let _host = self.host.try_acquire(shape.bytes::<T>()?.0 as u64)?;
        let scratch = MemoryScratch::new(Extents::new(shape.rows.0, shape.columns.0), T::ELEMENT)?;
        let (budgets, _permit) = gpu.smaller(scale)?;
        let solve = |sink: &dyn Sink| {
            let a = a.factor();
            match &b {
                Some(b) => stream::solve::<T>(&gpu.gpu, &budgets, [a, b.factor()], &scratch, sink, control),
                None => stream::inverse::<T>(&gpu.gpu, &budgets, a, &scratch, sink, control),
            }
            .map(drop)
        };
        match &mut self.x.0 {
            Goal::Host(to) | Goal::New(to) => {
                let mut x = Array2::from_elem((to.rows(), to.columns()), T::ZERO);
                let sink = MemorySink::new(x.view_mut());
                solve(&sink)?;
                Box::new(sink).commit()?;
                write(to, &x)
            }
            Goal::Stored(kept) => {
                kept.filled::<T>(&self.host, solve)?;
                kept.commit()
            }
            Goal::Gpu(_) => Err(gpu.lacks_room()),
        }
    }
}

/// Where a matrix lies in host memory, or its copy there.
pub(super) fn here<'a, T: Element>(operand: Operand<'a, T>, copy: &'a Option<Read<T>>) -> Option<MatRef<'a, T>> {
    match operand.0 {
        Form::Host(matrix) => Some(matrix),
        _ => copy.as_ref().map(Read::view),
    }
}
