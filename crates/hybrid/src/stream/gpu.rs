//! A GPU that streams: a stream for each queue; products by cuBLAS.

use super::engine::{Engine, Form, Multiplication, Multiplier, Queue};
use super::slot::Slot;
use super::verify;
use crate::Error;
use crate::budget::Budget;
use crate::linear::{Arithmetic, Gpu, Precision, Scalar};
use crate::store::Stored;
use bytemuck::Pod;
use std::time::{Duration, Instant};
use tilewright_driver::blas::{Compute, Element, Layout, Matrix, MatrixMut, Operation};
use tilewright_driver::{DeviceBuffer, Event, PinnedBytes, PinnedBytesMut, PinnedRows, Stream};

/// The queues of a GPU, and what it multiplies by.
pub(super) struct GpuEngine {
    pub(super) gpu: Gpu,
    compute: Compute,
    /// By [`Queue`].
    streams: [Stream; 3],
    /// Whether the device keeps slots page-locked for the next stream.
    keeps_slots: bool,
}

/// Bytes that a device keeps page-locked at most ([`Device::pinned_scratch`](tilewright_driver::Device::pinned_scratch)).
const KEPT: u64 = 128 << 20;

impl GpuEngine {
    /// What is computed runs on the stream of `gpu`; copies have two of their own.
    pub(super) fn new(gpu: &Gpu) -> Result<GpuEngine, Error> {
        let device = gpu.stream().device();
        let streams = [device.stream()?, gpu.stream().clone(), device.stream()?];
        Ok(GpuEngine { gpu: gpu.clone(), compute: Compute::Own, streams, keeps_slots: true })
    }

    /// One whose slots, which are granted already, and what the device keeps page-locked of those of others are within a budget: where it has no room
    /// left for what is kept nothing is, neither from before nor from now on.
    pub(super) fn locking_within(self, pinned: &Budget) -> Result<GpuEngine, Error> {
        let keeps_slots = keeps_slots(pinned);
        if !keeps_slots {
            self.stream(Queue::In).trim()?;
        }
        Ok(GpuEngine { keeps_slots, ..self })
    }

    /// One whose products are as precise as asked.
    pub(super) fn multiplying<T: Scalar>(gpu: &Gpu, precision: Precision) -> Result<GpuEngine, Error> {
        let compute = match precision.arithmetic::<T>("a streamed product")? {
            Arithmetic::Own => Compute::Own,
            Arithmetic::Tf32 => Compute::Tf32,
            Arithmetic::Bf16 => Compute::Bf16,
            Arithmetic::Emulated { mantissa_bits } => Compute::Emulated { mantissa_bits },
            Arithmetic::Wide => {
                let (operation, element) = ("a streamed product", T::NAME);
                let why = "nothing converts on the device; convert the operands to f64".into();
                return Err(Error::Unsupported { operation, element, place: "GPU", why });
            }
        };
        // A library that is missing, or too old, is found before anything is read.
        gpu.blas()?.check(compute)?;
        Ok(GpuEngine { compute, ..GpuEngine::new(gpu)? })
    }

    pub(super) fn stream(&self, queue: Queue) -> &Stream {
        &self.streams[queue as usize]
    }
}

/// Whether a budget has room for what a device keeps.
pub(crate) fn keeps_slots(pinned: &Budget) -> bool {
    pinned.last_available().unwrap_or_else(|| pinned.available()) >= KEPT
}

impl<T: Pod + Send + Sync> Engine<T> for GpuEngine {
    type Host = Slot<T>;
    type Buffer = DeviceBuffer<T>;
    type Mark = Event;

    fn host(&self, elements: usize, is_locked: bool) -> Result<Slot<T>, Error> {
        match is_locked {
            true if self.keeps_slots => Ok(Slot::Locked(self.stream(Queue::In).device().pinned_scratch(elements)?)),
            true => Ok(Slot::Locked(self.stream(Queue::In).device().pinned(elements)?)),
            false => Ok(Slot::Ordinary(vec![T::zeroed(); elements])),
        }
    }

    fn buffer(&self, elements: usize) -> Result<DeviceBuffer<T>, Error> {
        let compute = self.stream(Queue::Compute);
        let buffer = compute.alloc(elements)?;
        // It is there for the other queues too from here on.
        let there = compute.mark()?;
        for queue in [Queue::In, Queue::Out] {
            self.stream(queue).wait(&there)?;
        }
        Ok(buffer)
    }

    fn bring(&self, from: &Slot<T>, elements: usize, to: &mut DeviceBuffer<T>, at: usize) -> Result<(), Error> {
        let queue = self.stream(Queue::In);
        match from {
            Slot::Locked(from) => to.copy_from_pinned_at(queue, at, from, elements)?,
            Slot::Ordinary(from) => to.copy_from_slice_at(queue, at, &from[..elements])?,
        }
        Ok(())
    }

    fn take_back(&self, from: &DeviceBuffer<T>, at: usize, elements: usize, to: &mut Slot<T>) -> Result<(), Error> {
        let queue = self.stream(Queue::Out);
        match to {
            Slot::Locked(to) => from.copy_to_pinned_at(queue, at, to, elements)?,
            Slot::Ordinary(to) => from.copy_to_slice_at(queue, at, &mut to[..elements])?,
        }
        Ok(())
    }

    fn mark(&self, queue: Queue) -> Result<Event, Error> {
        Ok(self.stream(queue).mark()?)
    }

    fn origin(&self) -> Result<Option<(Event, Instant)>, Error> {
        let queue = self.stream(Queue::In);
        // It waits for nothing, and its call is taken to last no time: so nothing is said to end later than it did.
        queue.synchronize()?;
        let before = Instant::now();
        let origin = queue.record()?;
        origin.synchronize()?;
        Ok(Some((origin, before)))
    }

    fn timed_mark(&self, queue: Queue) -> Result<Event, Error> {
        Ok(self.stream(queue).record()?)
    }

    fn since(&self, origin: &Event, mark: &Event) -> Result<Duration, Error> {
        let milliseconds = mark.elapsed_ms_since(origin)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds).max(0.0) / 1e3))
    }

    fn wait(&self, queue: Queue, mark: &Event) -> Result<(), Error> {
        Ok(self.stream(queue).wait(mark)?)
    }

    fn finish(&self) {
        for stream in &self.streams {
            // What failed has been said to whoever queued it, or will be to whoever comes next.
            let _ = stream.synchronize();
        }
    }

    fn outcome(&self) -> Result<(), Error> {
        self.streams.iter().try_for_each(|stream| Ok(stream.synchronize()?))
    }

    fn reaches_locked(&self) -> bool {
        true
    }

    fn bring_rows(
        &self,
        (from, rows): (PinnedBytes<'_>, &PinnedRows),
        to: &mut DeviceBuffer<T>,
        at: usize,
    ) -> Result<(), Error> {
        Ok(to.copy_rows_from_pinned(self.stream(Queue::In), at, from, rows)?)
    }

    fn take_rows_back(
        &self,
        from: &DeviceBuffer<T>,
        at: usize,
        (to, rows): (&mut PinnedBytesMut<'_>, &PinnedRows),
    ) -> Result<(), Error> {
        Ok(from.copy_rows_to_pinned(self.stream(Queue::Out), at, to, rows)?)
    }
}

impl<T: Scalar + Stored + Element<Coefficient = T, Sum = T>> Multiplier<T> for GpuEngine {
    fn entering(&self) -> f64 {
        match self.compute {
            Compute::Tf32 => verify::TF32,
            Compute::Bf16 => verify::BF16,
            _ => 0.0,
        }
    }

    /// What lies row by row is, column by column, the transposed matrix: `transpose(c) = transpose(b) transpose(a)`, in the same forms. One column
    /// is multiplied by the routine for vectors, which reads the matrix at the memory's full speed.
    fn multiply(
        &self,
        what: &Multiplication<T>,
        [a, of_b]: [&DeviceBuffer<T>; 2],
        c: &mut DeviceBuffer<T>,
    ) -> Result<(), Error> {
        let Multiplication { rows, first, part, count, columns, depth, forms, alpha, beta } = *what;
        let factor = |form, buffer, [rows, columns]: [usize; 2], [first, part]: [usize; 2]| {
            let across = Layout { offset: first * columns, rows: columns, columns: part, leading: columns.max(1) };
            let down = Layout { offset: first, rows: part, columns, leading: rows.max(1) };
            let (operation, layout) = match form {
                Form::Plain => (Operation::Plain, across),
                Form::Transposed => (Operation::Transposed, down),
                Form::Adjoint => (Operation::Adjoint, down),
            };
            Ok::<_, Error>((operation, Matrix::new(buffer, layout)?))
        };
        let a = factor(forms[0], a, [rows, depth], [first, part])?;
        let b = factor(forms[1], of_b, [depth, columns], [0, depth])?;
        let blas = self.gpu.blas()?;
        let is_vector = columns == 1 && count == 1 && depth > 0 && self.compute == Compute::Own;
        if is_vector && !forms.contains(&Form::Adjoint) {
            let turned = if forms[0] == Form::Plain { Operation::Transposed } else { Operation::Plain };
            let x = Matrix::new(of_b, Layout::dense(depth, 1))?;
            let y = MatrixMut::new(c, Layout { offset: first, ..Layout::dense(part, 1) })?;
            return Ok(blas.gemv(alpha, (turned, a.1), x, beta, y)?);
        }
        let c = MatrixMut::new(c, Layout { offset: first * columns, ..Layout::dense(columns, part) })?;
        if count > 1 {
            let strides = [depth * columns, if forms[0] == Form::Plain { part * depth } else { part }, part * columns];
            return Ok(blas.gemm_batched(self.compute, alpha, b, a, beta, c, count, strides)?);
        }
        let multiply = || Ok(blas.gemm(self.compute, alpha, b, a, beta, c)?);
        self.gpu.timed().around::<T>(self.gpu.stream(), (self.compute, [part, columns, depth]), multiply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Memory;

    #[test]
    fn slots_are_kept_where_the_budget_has_room_for_them_beside_all_that_is_granted() {
        let pinned = Budget::new(Memory::Pinned, 3 * KEPT);
        let one = pinned.try_acquire(2 * KEPT).unwrap();
        assert!(keeps_slots(&pinned), "as much as is left");
        let more = pinned.try_acquire(1).unwrap();
        assert!(!keeps_slots(&pinned));
        drop((one, more));
        assert!(keeps_slots(&pinned) && !keeps_slots(&Budget::new(Memory::Pinned, KEPT - 1)));
    }
}
