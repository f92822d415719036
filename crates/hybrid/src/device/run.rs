//! How every operation of a [`Device`] runs: decided, recorded, within the budgets, under the breaker.

use super::{Accelerated, Device, known};
use crate::budget::{Budget, Grant, Permit};
use crate::dispatch::{Choice, Decision, Job, Moved, Outcome, Reason, Running, begun_anew, ended, moved, noted};
use crate::faults::{Attempt, Done, Policy, Scale, Why};
use crate::linear::Place;
use crate::stream::{Beside, Control, PanelPlan};
use crate::{Error, Side};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What an operation does on either processor. Nothing that it reads is changed before its result is whole.
pub(super) trait Route<R> {
    /// All at once, on one of the processors. What is done in parts asks before each whether it is still wanted, and tells each.
    fn whole(&mut self, place: &Place, control: Control<'_>) -> Result<R, Error>;

    /// Through a GPU whose memory does not hold it, in tiles. Called only for jobs that can be streamed.
    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<R, Error> {
        let _ = (scale, control);
        Err(gpu.lacks_room())
    }

    /// Through host memory that does not hold it, in panels. Called only where the decision says so.
    fn in_panels(&mut self, control: Control<'_>) -> Result<R, Error> {
        self.whole(&Place::Cpu, control)
    }
}

impl<R, F: FnMut(&Place) -> Result<R, Error>> Route<R> for F {
    fn whole(&mut self, place: &Place, _: Control<'_>) -> Result<R, Error> {
        self(place)
    }
}

/// A result, and the memory of the GPU that is its own for as long as it is kept.
pub(super) struct Ran<R> {
    pub(super) value: R,
    pub(super) permit: Option<Permit>,
}

impl Device {
    /// Decides about an operation, leaves the record, and runs it.
    pub(super) fn run<R>(&self, job: &Job, route: impl Route<R>) -> Result<Ran<R>, Error> {
        self.refuse_unused()?;
        self.refuse_lost()?;
        let beside = |plan: &PanelPlan| self.beside(job, plan, |gpu| gpu.solver().ok());
        let (rates, room) = (self.rates_to_decide(), (self.budget(job), &beside as &Beside<'_>));
        let decision = Decision::beside(job, self.choice, &rates, room, self.host_room(job))?;
        let (decision, trial) = match &self.experience {
            Some(experience) => {
                let (decision, is_tried) = experience.decided(job, decision);
                (decision, is_tried.then_some(experience))
            }
            None => (decision, None),
        };
        noted(&decision);
        let (operation, element, expected) = (job.operation, job.element, decision.cost().wall);
        let span = tracing::debug_span!(target: "tilewright::dispatch", "operation", operation, element, side = ?decision.side, expected);
        let running = Running::begin(&decision);
        let (begin, began) = (trial.is_some().then(|| self.waited_for()), Instant::now());
        let done = span.in_scope(|| self.run_decided(job, &decision, &RefCell::new(route)));
        let Moved { tiles, traffic, checked } = moved();
        let done = done.map(|Done { value, side, halvings, why }| {
            // What the CPU has done by others is their way.
            let tiles = tiles.filter(|_| side == Side::Gpu || decision.on_host.is_some());
            (value, Outcome { side, halvings, why, tiles, traffic, checked })
        });
        if let Some(running) = running {
            running.end(done.as_ref().map(|(_, outcome)| outcome));
        }
        let took = began.elapsed().as_secs_f64();
        let ((value, permit), outcome) = done?;
        if let (Side::Cpu, None, None) = (outcome.side, &outcome.why, self.rates)
            && let Some((unit, rate)) = job.rate_on_cpu(took)
        {
            known::learn_of_cpu(self.usable().map(|it| &it.gpu), unit, rate);
        }
        if let (Some(trial), Some(begin)) = (trial, begin) {
            let seconds = self.waited_for().duration_since(begin).as_secs_f64();
            match &outcome.why {
                None => trial.tell(job, decision.side, seconds),
                Some(Why::Failed(error)) if is_for_cpu(job, error) => trial.tell(job, decision.side, f64::INFINITY),
                // What a fault moved to the CPU says nothing about either.
                Some(_) => {}
            }
        }
        ended(outcome);
        Ok(Ran { value, permit })
    }

    /// Now, when all that was queued on the GPU is done.
    fn waited_for(&self) -> Instant {
        // What failed there says so to whoever asks for its result.
        let _ = self.gpu.as_ref().map(|it| it.gpu.stream().synchronize());
        Instant::now()
    }

    /// The breaker learns here of a context that was lost outside of an operation, and who asked for that GPU alone is told.
    fn refuse_lost(&self) -> Result<(), Error> {
        let Some(it) = self.usable().filter(|it| it.gpu.stream().device().is_lost()) else { return Ok(()) };
        let alive = it.breaker.check(it.breaker.epoch());
        if let (Ok(()), Err(error)) = (alive, it.gpu.stream().synchronize()) {
            it.breaker.poison(&error.into());
        }
        if self.choice == Choice::Gpu { it.breaker.check(it.breaker.epoch()) } else { Ok(()) }
    }

    fn run_decided<R>(
        &self,
        job: &Job,
        decision: &Decision,
        route: &RefCell<impl Route<R>>,
    ) -> Result<Done<(R, Option<Permit>)>, Error> {
        let control = self.watched.control();
        // What tells no parts is one step.
        let whole = |place: &Place| {
            control.check(0, 1)?;
            let is_told = AtomicBool::new(false);
            let tell = |done, steps| {
                is_told.store(true, Ordering::Relaxed);
                control.tell(done, steps);
            };
            let result = route.borrow_mut().whole(place, Control { progress: Some(&tell), ..control })?;
            if !is_told.load(Ordering::Relaxed) {
                control.tell(1, 1);
            }
            Ok::<_, Error>(result)
        };
        let on_cpu = |permit: Option<Permit>| {
            // What it takes of the host is given back when it is over.
            let _permit = permit;
            begun_anew();
            let value = match decision.on_host {
                Some(_) => route.borrow_mut().in_panels(control)?,
                None => whole(&Place::Cpu)?,
            };
            Ok((value, None))
        };
        // What goes in panels takes what it needs itself.
        let host_bytes = if decision.on_host.is_some() { 0 } else { job.host_bytes };
        let (Side::Gpu, Some(gpu)) = (decision.side, &self.gpu) else {
            let value = on_cpu(Some(self.host.try_acquire(host_bytes)?))?;
            return Ok(Done { value, side: Side::Cpu, halvings: 0, why: None });
        };
        let streamed = decision.gpu.as_ref().is_some_and(|it| it.tiles.is_some());
        let on_gpu = |scale: Scale| {
            if streamed || scale.halvings() > 0 {
                return Ok((route.borrow_mut().in_tiles(gpu, scale, control)?, None));
            }
            let permit = gpu.budgets.device.try_acquire(decision.gpu.as_ref().map_or(0, |it| it.device_bytes))?;
            let whole = || whole(&Place::Gpu(gpu.gpu.clone()));
            // What is free is known by the driver, and what is taken too.
            if gpu.is_measured { Ok((whole()?, Some(permit))) } else { Ok((Grant::spent(permit, whole)?, None)) }
        };
        let attempt = Attempt::new(job.operation, &gpu.breaker).host_memory(&gpu.host, host_bytes);
        let attempt = if job.divisible.is_none() { attempt.undivided() } else { attempt };
        // Who asked for the GPU, or for what it alone can do, is told that it failed.
        let is_gpu_alone = self.choice == Choice::Gpu || decision.reason == Reason::GpuAlone;
        let attempt = if is_gpu_alone { attempt.policy(Policy::FailFast) } else { attempt };
        attempt.cannot(&|error| is_for_cpu(job, error)).run(on_gpu, on_cpu)
    }
}

impl Accelerated {
    /// The error of what cannot be made smaller.
    pub(super) fn lacks_room(&self) -> Error {
        lacks_room(&self.budgets.device)
    }
}

pub(super) fn lacks_room(device: &Budget) -> Error {
    let (available, limit) = (device.available(), device.limit());
    Error::Budget { what: "device memory for one call as a whole", requested: limit, available, limit }
}

/// Whether the CPU may do what the GPU says it cannot: it lacks a library, a compiler or a routine, which only asking it shows, or cuSOLVER would lose NaN on
/// its way through panels. Other operations refuse what is not finite on either processor.
fn is_for_cpu(job: &Job, error: &Error) -> bool {
    use tilewright_driver::Error as Driver;
    match error {
        Error::Unsupported { place, .. } => *place == "GPU",
        Error::Driver(error) => {
            use Driver::{NoLibrary, NoNvrtc, OldLibrary, UnknownArch};
            matches!(error, NoLibrary { .. } | OldLibrary { .. } | NoNvrtc { .. } | UnknownArch { .. })
        }
        Error::NotFinite { .. } => job.divisible.is_some(),
        _ => false,
    }
}
