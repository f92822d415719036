//! Solutions and inverses, put where they are wanted.

use super::Device;
use super::operand::{Diagonal, Form, Goal, Operand, Target};
use super::placed::{Placed, Through, unstreamed};
use super::source::MatrixSource;
use super::streamed;
use crate::Error;
use crate::dispatch::{self, Verb};
use crate::linear::{Given, Lu, Made, Place, Scalar};
use crate::matrix::{Shape, expect};
use crate::store::{Sink, Source};
use crate::stream::{Factor, Identity};
use std::cell::RefCell;

/// A solution for `b`, or, where that is the identity, the inverse; of a matrix, right-hand sides and a target that fit each other.
pub(super) fn solving<T: Scalar>(a: Shape, b: &Operand<'_, T>, x: &Target<'_, T>) -> Result<Verb, Error> {
    let is_inverse = matches!(b.0, Form::Diagonal(Diagonal::Ones(_)));
    let verb = if is_inverse { Verb::Inverse } else { Verb::Solve };
    let operation = verb.name();
    let side = a.square(operation)?;
    expect(operation, "rows of b", side, b.shape().rows.0)?;
    expect(operation, "rows of x", side, x.shape().rows.0)?;
    expect(operation, "columns of x", b.shape().columns.0, x.shape().columns.0)?;
    Ok(verb)
}

impl Device {
    /// x with `a x = b`, wherever `a`, `b` and x lie; with the identity for `b` ([`Operand::identity`]) x is the inverse.
    ///
    /// What is stored is read whole where it fits. What the GPU has no room for is streamed through it from where it is stored, and what host memory has no
    /// room for, with its factors, through the CPU, in panels ([`OnHost`](crate::dispatch::OnHost)); the factors take host memory of the matrix's size meanwhile, or, where that is short, a file
    /// ([`spilling_into`](Device::spilling_into)): without a folder for it, [`Error::Budget`]. A
    /// sink is committed when the result is whole, and what lies on the GPU is changed then. [`Error::Unsupported`] for other diagonals, which need
    /// divisions only; other errors are those of [`linear::solve`](crate::linear::solve).
    pub fn solve_into<T: Scalar>(&self, a: Operand<'_, T>, b: Operand<'_, T>, x: Target<'_, T>) -> Result<(), Error> {
        let verb = solving(a.shape(), &b, &x)?;
        // What is wanted on a GPU is not brought to the host to be checked.
        let is_checked = !matches!(x.0, Goal::Gpu(_));
        let checked = |of: (Given<'_, T>, Option<Given<'_, T>>), made: Made<T>| match is_checked {
            true => self.checked(of, made),
            false => Ok(made),
        };
        let x = RefCell::new(x);
        if verb == Verb::Inverse {
            let whole = |place: &Place, [a]: [Given<'_, T>; 1]| {
                x.borrow_mut().put(checked((a, None), Lu::of(place, a)?.inverted()?)?)
            };
            return self.into(verb, [a], &x, whole, streamed::inverse::<T>);
        }
        let whole = |place: &Place, [a, b]: [Given<'_, T>; 2]| {
            x.borrow_mut().put(checked((a, Some(b)), Lu::of(place, a)?.solution(b)?)?)
        };
        self.into(verb, [a, b], &x, whole, streamed::solve::<T>)
    }

    /// A solution that was made at once, or an inverse where there is no right-hand side, after its check, if one is wanted and what it is of is not on a GPU.
    pub(super) fn checked<T: Scalar>(
        &self,
        (a, b): (Given<'_, T>, Option<Given<'_, T>>),
        made: Made<T>,
    ) -> Result<Made<T>, Error> {
        let (Some(verify), Given::Host(a)) = (self.watched.control().verify, a) else { return Ok(made) };
        let (a, identity) = (MatrixSource(a), Identity::<T>::new(a.rows()));
        let check = |b: &dyn Source, made: Made<T>| {
            let x = made.into_dense()?;
            dispatch::checked(
                verify.check_solution::<T>([Factor::plain(&a), Factor::plain(b)], &MatrixSource(x.view()))?,
            );
            Ok(Made::Host(x))
        };
        match b {
            None => check(&identity, made),
            Some(Given::Host(b)) => check(&MatrixSource(b), made),
            Some(Given::Gpu(_)) => Ok(made),
        }
    }

    /// Runs a verb whose result is put where it is wanted, also when it is streamed.
    fn into<T: Scalar, const N: usize>(
        &self,
        verb: Verb,
        operands: [Operand<'_, T>; N],
        x: &RefCell<Target<'_, T>>,
        whole: impl FnMut(&Place, [Given<'_, T>; N]) -> Result<(), Error>,
        streamed: impl Fn(Through<'_, N>, &dyn Sink) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut job = self.job(verb, &operands)?;
        x.borrow().wanted_by(&mut job, self.ordinal())?;
        let (host, on_its_way) = (&self.host, x.borrow().on_its_way()?);
        if let (Some(gathered), Goal::Host(_) | Goal::New(_)) = (&mut job.gathered, &x.borrow().0) {
            gathered.result = on_its_way.by_cpu;
        }
        // The result is taken when it is made.
        job.host_bytes = job.host_bytes.saturating_sub(on_its_way.by_cpu);
        let streamed = |through: Through<'_, N>| match x.borrow_mut().away() {
            Ok(away) => away.fill(host, |sink| streamed(through, sink)),
            Err(_) => unstreamed(through),
        };
        self.run(&job, Placed { operands, scratches: self.scratches(), on_its_way, whole, streamed })
            .map(|ran| ran.value)
    }
}
