//! Results of verbs on their way to where they are wanted.

use super::asked::goes;
use super::operand::{Goal, Target};
use super::product::write;
use super::streamed::in_memory;
use crate::Error;
use crate::budget::Budget;
use crate::dispatch::{At, Job};
use crate::linear::{DeviceMat, Made, Place, Scalar};
use crate::store::{Extents, Sink};
use ndarray::s;

/// Bytes of rows that are turned and written together.
const WRITTEN: usize = 64 << 20;

/// Bytes of host memory that a result takes on its way to where it is wanted, made by either processor.
#[derive(Clone, Copy)]
pub(super) struct OnItsWay {
    pub(super) by_cpu: u64,
    pub(super) by_gpu: u64,
}

impl OnItsWay {
    /// Of what is handed over as it is.
    pub(super) const NOTHING: Self = Self { by_cpu: 0, by_gpu: 0 };

    pub(super) fn on(self, place: &Place) -> u64 {
        match place {
            Place::Cpu => self.by_cpu,
            Place::Gpu(_) => self.by_gpu,
        }
    }
}

impl<T: Scalar> Target<'_, T> {
    /// What a result of its size takes on its way: what a GPU makes for a GPU stays there.
    pub(super) fn on_its_way(&self) -> Result<OnItsWay, Error> {
        let by_cpu = self.shape().bytes::<T>()?.0 as u64;
        Ok(OnItsWay { by_cpu, by_gpu: if matches!(self.0, Goal::Gpu(_)) { 0 } else { by_cpu } })
    }

    /// Says of a job where its result is wanted.
    pub(super) fn wanted_by(&self, job: &mut Job, ordinal: Option<usize>) -> Result<(), Error> {
        let at = goes(job.operation, self)?;
        // What is page-locked is gathered where it fits.
        job.written.at = if at == At::Pinned { At::Pageable } else { at };
        if let Goal::Gpu(there) = &self.0 {
            // Nothing is streamed to it.
            job.divisible = None;
            if Some(there.gpu().stream().device().ordinal()) != ordinal {
                job.not_on_gpu = Some("the result is wanted on another GPU");
            }
        }
        Ok(())
    }

    /// Puts a result there, and commits it.
    pub(super) fn put(&mut self, made: Made<T>) -> Result<(), Error> {
        match (&mut self.0, made) {
            (Goal::Gpu(there), Made::Gpu(made)) => there.assign(&made),
            (Goal::Gpu(there), Made::Host(made)) => {
                **there = DeviceMat::upload(there.gpu(), made.view())?;
                Ok(())
            }
            (Goal::Host(to) | Goal::New(to), made) => write(to, &made.into_dense()?.into_array()),
            (Goal::Stored(kept), made) => {
                let made = made.into_dense()?.into_array();
                let (rows, columns) = made.dim();
                let grain = kept.grain().rows.max(1);
                let height = (WRITTEN / (columns * size_of::<T>()).max(1)).max(1).next_multiple_of(grain);
                for tile in Extents::new(rows, columns).tiles(Extents::new(height, columns)) {
                    kept.write(&tile, &made.slice(s![tile.rows.clone(), ..]).as_standard_layout().into_owned())?;
                }
                kept.commit()
            }
        }
    }

    /// Has a stream put it there.
    pub(super) fn fill(
        &mut self,
        host: &Budget,
        stream: impl FnOnce(&dyn Sink) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match &mut self.0 {
            Goal::Host(to) | Goal::New(to) => write(to, &in_memory((to.rows(), to.columns()), stream)?),
            Goal::Gpu(there) => {
                let shape = there.shape();
                let made = in_memory((shape.rows.0, shape.columns.0), stream)?;
                **there = DeviceMat::upload(there.gpu(), (&made).into())?;
                Ok(())
            }
            Goal::Stored(kept) => {
                kept.filled::<T>(host, stream)?;
                kept.commit()
            }
        }
    }
}
