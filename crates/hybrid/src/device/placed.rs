//! Verbs of operands wherever they lie: what of them a processor needs is brought to it.

use super::asked::{at, gathered, is_elsewhere, is_stored};
use super::copies::{Copies, Download};
use super::operand::{Form, Operand};
use super::product::Fed;
use super::run::{Ran, Route, lacks_room};
use super::scratch::Scratches;
use super::target::OnItsWay;
use super::{Accelerated, Device};
use crate::Error;
use crate::dispatch::{self, At, Divisible, Gathered, Job, Verb};
use crate::faults::Scale;
use crate::linear::{Given, Place, Scalar};
use crate::matrix::Columns;
use crate::stream::{Control, Factor, On, read_together};

/// A verb of N operands: on one processor, and through a GPU that has no room for them.
pub(super) struct Placed<'a, T: Scalar, const N: usize, W, S> {
    pub(super) operands: [Operand<'a, T>; N],
    pub(super) scratches: Scratches,
    /// Of a result, and of operands that a processor has where they lie.
    pub(super) on_its_way: OnItsWay,
    pub(super) whole: W,
    pub(super) streamed: S,
}

/// Operands that are read tile by tile, and the processor that they go through.
pub(super) struct Through<'a, const N: usize> {
    pub(super) operands: [Factor<'a>; N],
    pub(super) on: On<'a>,
    pub(super) scratches: &'a Scratches,
    pub(super) control: Control<'a>,
}

/// Where nothing is streamed: jobs say so, and nobody calls it.
pub(super) fn unstreamed<R, const N: usize>(through: Through<'_, N>) -> Result<R, Error> {
    Err(lacks_room(match through.on {
        On::Gpu(_, budgets) => &budgets.device,
        On::Host(host) => host,
    }))
}

impl<T, R, const N: usize, W, S> Route<R> for Placed<'_, T, N, W, S>
where
    T: Scalar,
    W: FnMut(&Place, [Given<'_, T>; N]) -> Result<R, Error>,
    S: FnMut(Through<'_, N>) -> Result<R, Error>,
{
    fn whole(&mut self, place: &Place, _: Control<'_>) -> Result<R, Error> {
        let mut bytes = self.on_its_way.on(place);
        if let Place::Cpu = place {
            // What lies on the GPU comes where it is needed.
            for operand in &self.operands {
                let Form::Gpu(there) = operand.0 else { continue };
                bytes = bytes.saturating_add(there.bytes_of_download()?);
            }
        }
        let are_stored = |form: &Form<'_, T>| matches!(form, Form::Stored(_));
        let copies = Copies::of((&self.scratches.host, bytes), self.operands, are_stored, Download::WHOLE)?;
        let given = copies.operands(self.operands).map(|operand| match operand.0 {
            Form::Host(matrix) => Given::Host(matrix),
            Form::Gpu(matrix) => Given::Gpu(matrix),
            Form::Stored(_) | Form::Diagonal(_) => unreachable!("diagonals were refused"),
        });
        (self.whole)(place, given)
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<R, Error> {
        let (budgets, _permit) = gpu.smaller(scale)?;
        self.through(On::Gpu(&gpu.gpu, &budgets), control).unwrap_or_else(|| Err(gpu.lacks_room()))
    }

    fn in_panels(&mut self, control: Control<'_>) -> Result<R, Error> {
        let host = self.scratches.host.clone();
        self.through(On::Host(&host), control).unwrap_or_else(|| Err(lacks_room(&host)))
    }
}

impl<T, const N: usize, W, S> Placed<'_, T, N, W, S>
where
    T: Scalar,
{
    /// Nothing where an operand is not streamed.
    fn through<R>(&mut self, on: On<'_>, control: Control<'_>) -> Option<Result<R, Error>>
    where
        S: FnMut(Through<'_, N>) -> Result<R, Error>,
    {
        let fed: Vec<_> = self.operands.iter().filter_map(|it| Fed::of(*it)).collect();
        let scratches = &self.scratches;
        (fed.len() == N).then(|| {
            let operands = std::array::from_fn(|i| fed[i].factor());
            (self.streamed)(Through { operands, on, scratches, control })
        })
    }
}

/// Says of a job which columns of its matrix are best read together.
fn read_in_strips<T: Scalar>(job: &mut Job, a: &Operand<'_, T>) {
    let (Some((what, bytes)), Some(fed)) = (&mut job.divisible, Fed::of(*a)) else { return };
    if let Divisible::Lu { together, .. }
    | Divisible::Cholesky { together, .. }
    | Divisible::Solution { together, .. } = what
    {
        *together = read_together(&fed.factor(), *bytes);
    }
}

/// Says of a job that a matrix on the GPU passes through the host once nevertheless.
fn comes_to_host<T: Scalar>(job: &mut Job, a: &Operand<'_, T>) -> Result<(), Error> {
    let (Form::Gpu(there), Some(read)) = (a.0, job.read[0]) else { return Ok(()) };
    job.read[2] = Some(dispatch::Operand { at: At::Pageable, ..read });
    job.device_bytes = job.device_bytes.saturating_add(there.bytes_of_part_there()?);
    Ok(())
}

/// Says of a job that the norm of a matrix on the GPU is wanted, which is found there, or, without a compiler for kernels, in parts that come to the host.
pub(super) fn is_measured<T: Scalar>(job: &mut Job, a: &Operand<'_, T>) -> Result<(), Error> {
    let Form::Gpu(there) = a.0 else { return Ok(()) };
    job.swept += there.shape().bytes::<T>()?.0 as f64;
    let taken = there.bytes_of_norm().saturating_add(there.bytes_of_part_there()?);
    job.device_bytes = job.device_bytes.saturating_add(taken);
    Ok(())
}

/// Says of a job what an operand on the GPU takes there: a copy in which to compute, or, where it is read alone, what that takes.
pub(super) fn is_copied<T: Scalar>(job: &mut Job, operand: &Operand<'_, T>, is_read: bool) -> Result<(), Error> {
    let Form::Gpu(there) = operand.0 else { return Ok(()) };
    let (copy, to_be_read) = (there.shape().bytes::<T>()?.0 as u64, there.bytes_to_be_read()?);
    let taken = if is_read { to_be_read } else { to_be_read.max(copy) };
    job.device_bytes = job.device_bytes.saturating_sub(copy).saturating_add(taken);
    Ok(())
}

/// Bytes of host memory that operands on the GPU take where they pass through it.
pub(super) fn passing<T: Scalar>(verb: Verb, operands: &[Operand<'_, T>]) -> Result<OnItsWay, Error> {
    let mut by_gpu = 0u64;
    for (number, operand) in operands.iter().enumerate() {
        let Form::Gpu(there) = operand.0 else { continue };
        let (all, part) = (there.shape().bytes::<T>()?.0 as u64, there.bytes_of_part()?);
        by_gpu = by_gpu.saturating_add(match (verb, number) {
            (Verb::Lu | Verb::Condition, _) => part,
            // Beside a part all of it in the smaller type.
            (Verb::SolveRefined, 0) => part.saturating_add(all / 2),
            (Verb::SolveRefined, _) => there.bytes_of_download()?,
            _ => 0,
        });
    }
    Ok(OnItsWay { by_cpu: 0, by_gpu })
}

impl Device {
    /// What a verb of a matrix, and of right-hand sides behind it, asks of a machine.
    pub(super) fn job<T: Scalar>(&self, verb: Verb, operands: &[Operand<'_, T>]) -> Result<Job, Error> {
        let [a, right @ ..] = operands else { unreachable!("a verb has an operand") };
        let right = right.first().map_or(Columns(0), |b| b.shape().columns);
        let mut job = Job::verb::<T>(verb, a.shape(), right)?;
        self.place(&mut job, operands)?;
        read_in_strips(&mut job, a);
        // A copy of what lies on the GPU is taken where it comes to the host.
        let copies = [job.read[0].map_or(0, |it| it.bytes), job.written.bytes];
        let come = operands.iter().zip(copies).filter(|(it, _)| matches!(it.0, Form::Gpu(_)));
        job.host_bytes = job.host_bytes.saturating_sub(come.map(|(_, bytes)| bytes).sum());
        let stored = operands.iter().filter(|it| is_stored(it)).map(|it| it.shape().bytes::<T>());
        let stored = stored.collect::<Result<Vec<_>, _>>()?;
        let whole = stored.iter().fold(job.host_bytes, |sum, bytes| sum.saturating_add(bytes.0 as u64));
        job.gathered = Some(Gathered { whole, result: 0 });
        match verb {
            // To be rounded.
            Verb::SolveRefined => comes_to_host(&mut job, a)?,
            Verb::Condition => is_measured(&mut job, a)?,
            _ => {}
        }
        for (number, operand) in operands.iter().enumerate() {
            // Residuals are taken with the matrix where it is, if it can be read there; what else is there is copied.
            is_copied(&mut job, operand, verb == Verb::SolveRefined && number == 0)?;
        }
        Ok(job)
    }

    /// Says of a job where its operands lie.
    pub(super) fn place<T: Scalar>(&self, job: &mut Job, operands: &[Operand<'_, T>]) -> Result<(), Error> {
        for (read, operand) in job.read.iter_mut().zip(operands) {
            if let Form::Diagonal(_) = operand.0 {
                let why = "a diagonal is its own factor, and its elements are its values; multiply and divide by them";
                let (operation, place) = (job.operation, "CPU and GPU");
                return Err(Error::Unsupported { operation, element: T::NAME, place, why: why.into() });
            }
            let at = gathered(at(job.operation, operand)?);
            *read = read.map(|it| dispatch::Operand { at, ..it });
        }
        if operands.iter().any(|it| matches!(it.0, Form::Gpu(_))) {
            job.divisible = None;
        }
        if operands.iter().any(|it| is_elsewhere(it, self.ordinal())) {
            job.not_on_gpu = Some("an operand lies on another GPU");
        }
        Ok(())
    }

    /// Runs a verb whose result is its own, of operands that take so much host memory on their way.
    pub(super) fn placed<T: Scalar, R, const N: usize>(
        &self,
        (job, on_its_way): (&Job, OnItsWay),
        operands: [Operand<'_, T>; N],
        whole: impl FnMut(&Place, [Given<'_, T>; N]) -> Result<R, Error>,
        streamed: impl FnMut(Through<'_, N>) -> Result<R, Error>,
    ) -> Result<Ran<R>, Error> {
        self.run(job, Placed { operands, scratches: self.scratches(), on_its_way, whole, streamed })
    }
}
