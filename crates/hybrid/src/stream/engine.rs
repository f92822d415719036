//! What streaming needs of a device: memory, three queues that work beside one another, marks between them, and what it computes.

use crate::Error;
use std::ops::DerefMut;
use std::time::{Duration, Instant};
use tilewright_driver::blas::Layout;
use tilewright_driver::{PinnedBytes, PinnedBytesMut, PinnedRows};

/// One of the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Copies to the device.
    In,
    /// What it computes.
    Compute,
    /// Copies back.
    Out,
}

/// How a factor enters a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    #[default]
    Plain,
    /// Transposed.
    Transposed,
    /// Transposed and conjugated.
    Adjoint,
}

impl Form {
    /// Rows and columns of what is stored, of what enters.
    pub(super) fn stored(self, [rows, columns]: [usize; 2]) -> [usize; 2] {
        if self == Form::Plain { [rows, columns] } else { [columns, rows] }
    }
}

/// `c = alpha * a * b + beta * c`, of matrices that lie row by row without gaps: `c` of `rows x columns`, the factors, in their forms, of
/// `rows x depth` and `depth x columns`. Where `beta` is 0, `c` is not read. Of all rows so many from the first of a part on are computed: `count`
/// times, one part below another, with as many `b`, which lie one behind another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multiplication<T> {
    pub(crate) rows: usize,
    pub(crate) first: usize,
    pub(crate) part: usize,
    pub(crate) count: usize,
    pub(crate) columns: usize,
    pub(crate) depth: usize,
    pub(crate) forms: [Form; 2],
    pub(crate) alpha: T,
    pub(crate) beta: T,
}

/// A device. Work of one queue is done in its order; between queues there is no order but that of marks.
pub(crate) trait Engine<T>: Sync {
    /// Host memory that copies go from and to. Looking into it waits for copies that use it.
    type Host: DerefMut<Target = [T]> + Send;
    /// Memory of the device. Nobody waits when it is dropped: see [`Engine::finish`].
    type Buffer: Send + Sync;
    /// A place in a queue.
    type Mark: Send;

    /// Such memory, page-locked or not.
    fn host(&self, elements: usize, is_locked: bool) -> Result<Self::Host, Error>;
    fn buffer(&self, elements: usize) -> Result<Self::Buffer, Error>;

    /// Queues a copy ([`Queue::In`]) of the first `elements` of `from` to `to`, from its element `at` on.
    fn bring(&self, from: &Self::Host, elements: usize, to: &mut Self::Buffer, at: usize) -> Result<(), Error>;

    /// Queues a copy back ([`Queue::Out`]) of `elements`, from the element `at` of `from` on, to the begin of `to`.
    fn take_back(&self, from: &Self::Buffer, at: usize, elements: usize, to: &mut Self::Host) -> Result<(), Error>;

    /// A mark behind all that a queue has so far.
    fn mark(&self, queue: Queue) -> Result<Self::Mark, Error>;

    /// Lets what a queue gets from now on wait for a mark.
    fn wait(&self, queue: Queue, mark: &Self::Mark) -> Result<(), Error>;

    /// A mark that has come to pass, and the time when it had; `None` where marks have no times.
    fn origin(&self) -> Result<Option<(Self::Mark, Instant)>, Error> {
        Ok(None)
    }

    /// A mark with a time, of which [`Engine::mark`] has none.
    fn timed_mark(&self, queue: Queue) -> Result<Self::Mark, Error> {
        self.mark(queue)
    }

    /// How much later than an origin such a mark came to pass.
    fn since(&self, _origin: &Self::Mark, _mark: &Self::Mark) -> Result<Duration, Error> {
        unreachable!("asked of an engine whose marks have no times")
    }

    /// Waits until all queues are empty, whatever became of their work.
    fn finish(&self);

    /// The same, and what went wrong in any of them.
    fn outcome(&self) -> Result<(), Error> {
        self.finish();
        Ok(())
    }

    /// Whether it copies from and to page-locked memory that is not its own: what the next two need.
    fn reaches_locked(&self) -> bool {
        false
    }

    /// Queues a copy ([`Queue::In`]) of rows to `to`, from its element `at` on, without gaps.
    fn bring_rows(&self, _: (PinnedBytes<'_>, &PinnedRows), _to: &mut Self::Buffer, _at: usize) -> Result<(), Error> {
        unreachable!("asked of an engine that does not reach such memory")
    }

    /// Queues a copy back ([`Queue::Out`]) of what stands without gaps from the element `at` of `from` on.
    fn take_rows_back(
        &self,
        _from: &Self::Buffer,
        _at: usize,
        _: (&mut PinnedBytesMut<'_>, &PinnedRows),
    ) -> Result<(), Error> {
        unreachable!("asked of an engine that does not reach such memory")
    }
}

/// A device that multiplies.
pub(crate) trait Multiplier<T>: Engine<T> {
    /// What two factors lose of themselves, relative to them, before they are multiplied.
    fn entering(&self) -> f64 {
        0.0
    }

    /// Queues a product ([`Queue::Compute`]).
    fn multiply(
        &self,
        what: &Multiplication<T>,
        factors: [&Self::Buffer; 2],
        c: &mut Self::Buffer,
    ) -> Result<(), Error>;
}

/// A triangle of a matrix that something is divided by, from the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Divisor {
    /// On and below the diagonal.
    Lower,
    /// Below the diagonal, with ones on it.
    UnitLower,
    /// On and above the diagonal.
    Upper,
    /// On and below the diagonal, transposed and conjugated.
    LowerAdjoint,
}

/// What an LU factorisation with partial pivoting found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pivoted<T> {
    /// At step i row i and row `rows[i]`, counted from 0 in the part that was factored, were exchanged.
    pub(crate) rows: Vec<usize>,
    /// The diagonal of U.
    pub(crate) diagonal: Vec<T>,
}

/// A device that eliminates: what factors and solutions are made of. Its matrices are parts of buffers, stored column by column. All is queued
/// ([`Queue::Compute`]) but factorisations, which are waited for, because of what they find.
pub(crate) trait Eliminator<T>: Engine<T> {
    /// Exchanges of rows, where the device finds them.
    type Exchanges: Send;

    /// `to = form(from)`
    fn copy(&self, form: Form, from: (&Self::Buffer, Layout), to: (&mut Self::Buffer, Layout)) -> Result<(), Error>;

    /// `c = c - form(a) form(b)`
    fn subtract(
        &self,
        forms: [Form; 2],
        factors: [(&Self::Buffer, Layout); 2],
        c: (&mut Self::Buffer, Layout),
    ) -> Result<(), Error>;

    /// x with `divisor(a) x = b`, in place of b.
    fn divide(&self, divisor: Divisor, a: (&Self::Buffer, Layout), b: (&mut Self::Buffer, Layout))
    -> Result<(), Error>;

    /// x with `x adjoint(lower(a)) = b`, in place of b.
    fn divide_by_adjoint(&self, a: (&Self::Buffer, Layout), b: (&mut Self::Buffer, Layout)) -> Result<(), Error>;

    /// Has the device know exchanges: at step i of row i and row `rows[i]`.
    fn exchanges(&self, rows: &[usize]) -> Result<Self::Exchanges, Error>;

    /// Exchanges rows.
    fn exchange(&self, exchanges: &Self::Exchanges, a: (&mut Self::Buffer, Layout)) -> Result<(), Error>;

    /// LU with partial pivoting in place, of a matrix with at least as many rows as columns.
    fn lu(&self, a: (&mut Self::Buffer, Layout)) -> Result<Pivoted<T>, Error>;

    /// Cholesky of the lower triangle in place, and the diagonal of the factor; `Ok(Err(order))`: that leading minor is not positive.
    fn cholesky(&self, a: (&mut Self::Buffer, Layout)) -> Result<Result<Vec<T>, usize>, Error>;
}

/// Waits for all queues when it is dropped: declared behind what they use, it is dropped before.
pub(super) struct Finish<'a, T, E: Engine<T>>(&'a E, std::marker::PhantomData<fn() -> T>);

impl<'a, T, E: Engine<T>> Finish<'a, T, E> {
    pub(super) fn at_the_end(engine: &'a E) -> Self {
        Finish(engine, std::marker::PhantomData)
    }
}

impl<T, E: Engine<T>> Drop for Finish<'_, T, E> {
    fn drop(&mut self) {
        self.0.finish();
    }
}
