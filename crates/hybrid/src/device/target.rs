//! Results of verbs on their way to where they are wanted.

use super::asked::{gathered, goes};
use super::delivered::write;
use super::operand::{Goal, Target};
use super::stored::Kept;
use super::streamed::in_memory;
use crate::budget::Budget;
use crate::dispatch::Job;
use crate::linear::{DeviceMat, Made, Place, Scalar};
use crate::matrix::Element;
use crate::store::{Extents, Sink, Stored};
use crate::{Error, MatMut};
use ndarray::{Array2, s};

/// Bytes of rows that are turned and written together.
const WRITTEN: usize = 64 << 20;

/// Bytes of host memory that something takes on its way: a result to where it is wanted, an operand on the GPU that passes through the host.
#[derive(Clone, Copy)]
pub(super) struct OnItsWay {
    pub(super) by_cpu: u64,
    pub(super) by_gpu: u64,
}

impl OnItsWay {
    /// Of what is taken and handed over as it is.
    pub(super) const NOTHING: Self = Self { by_cpu: 0, by_gpu: 0 };

    pub(super) fn on(self, place: &Place) -> u64 {
        match place {
            Place::Cpu => self.by_cpu,
            Place::Gpu(_) => self.by_gpu,
        }
    }
}

impl<'a, T: Element + Stored> Target<'a, T> {
    /// What a result of its size takes on its way: what a GPU makes for a GPU stays there.
    pub(super) fn on_its_way(&self) -> Result<OnItsWay, Error> {
        let by_cpu = self.shape().bytes::<T>()?.0 as u64;
        Ok(OnItsWay { by_cpu, by_gpu: if matches!(self.0, Goal::Gpu(_)) { 0 } else { by_cpu } })
    }

    /// Says of a job where its result is wanted.
    pub(super) fn wanted_by(&self, job: &mut Job, ordinal: Option<usize>) -> Result<(), Error> {
        job.written.at = gathered(goes(job.operation, self)?);
        if let Goal::Gpu(there) = &self.0 {
            // Nothing is streamed to it.
            job.divisible = None;
            if Some(there.gpu().stream().device().ordinal()) != ordinal {
                job.not_on_gpu = Some("the result is wanted on another GPU");
            }
        }
        Ok(())
    }

    /// It, where it is in ordinary memory.
    pub(super) fn in_host(&mut self) -> Option<&mut MatMut<'a, T>> {
        match &mut self.0 {
            Goal::Host(to) | Goal::New(to) => Some(to),
            Goal::Stored(_) | Goal::Gpu(_) => None,
        }
    }

    /// Where it is, if not on a GPU; else what is there.
    pub(super) fn away(&mut self) -> Result<Away<'_, 'a, T>, &mut DeviceMat<T>> {
        match &mut self.0 {
            Goal::Host(to) | Goal::New(to) => Ok(Away::Host(to)),
            Goal::Stored(kept) => Ok(Away::Stored(kept)),
            Goal::Gpu(there) => Err(there),
        }
    }

    /// Puts a result there, and commits it.
    pub(super) fn put(&mut self, made: Made<T>) -> Result<(), Error>
    where
        T: Scalar,
    {
        match (self.away(), made) {
            (Ok(away), made) => away.put(&made.into_dense()?.into_array()),
            (Err(there), Made::Gpu(made)) => there.assign(&made),
            (Err(there), Made::Host(made)) => there.take(made.view()),
        }
    }
}

/// Where a result is wanted that can be streamed: in host memory, or stored.
pub(super) enum Away<'t, 'a, T: Element> {
    Host(&'t mut MatMut<'a, T>),
    Stored(&'t mut Kept<'a>),
}

impl<T: Element + Stored> Away<'_, '_, T> {
    /// Puts a result there, and commits it.
    pub(super) fn put(self, made: &Array2<T>) -> Result<(), Error> {
        let kept = match self {
            Away::Host(to) => return write(to, made),
            Away::Stored(kept) => kept,
        };
        let (rows, columns) = made.dim();
        let grain = kept.grain().rows.max(1);
        let height = (WRITTEN / (columns * size_of::<T>()).max(1)).max(1).next_multiple_of(grain);
        for tile in Extents::new(rows, columns).tiles(Extents::new(height, columns)) {
            kept.write(&tile, &made.slice(s![tile.rows.clone(), ..]).as_standard_layout().into_owned())?;
        }
        kept.commit()
    }

    /// Has a stream put it there.
    pub(super) fn fill(self, host: &Budget, stream: impl FnOnce(&dyn Sink) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Away::Host(to) => {
                let _result = host.try_acquire(to.shape().bytes::<T>()?.0 as u64)?;
                write(to, &in_memory((to.rows(), to.columns()), stream)?)
            }
            Away::Stored(kept) => {
                kept.filled(host, stream)?;
                kept.commit()
            }
        }
    }
}
