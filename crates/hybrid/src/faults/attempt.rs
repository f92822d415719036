use std::{sync::Arc, time::Duration};

use super::{Breaker, EventKind, Policy, nesting::Under};
use crate::{
    Class, Error, Side,
    budget::{Budget, Memory, Permit},
};

/// How much smaller than planned the parts of an operation should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    halvings: u32,
}

impl Scale {
    /// How often parts are halved: 0 at first.
    pub fn halvings(self) -> u32 {
        self.halvings
    }

    /// A planned size, halved so often, but at least 1.
    pub fn of(self, planned: usize) -> usize {
        planned.checked_shr(self.halvings).unwrap_or(0).max(1)
    }
}

/// Why an operation went to the CPU.
#[derive(Clone, Debug)]
pub enum Why {
    /// The policy is [`Policy::CpuOnly`].
    Policy,
    /// The operation that it is a part of is on the CPU.
    Outer,
    /// The device rests.
    Resting {
        /// For so long, unless a probe fails.
        retry_in: Duration,
    },
    /// The device is poisoned.
    Poisoned,
    /// It failed on the device, or the device cannot do it.
    Failed(Arc<Error>),
}

/// A result and where it comes from.
#[derive(Clone, Debug)]
pub struct Done<T> {
    /// The result.
    pub value: T,
    /// Where it was computed.
    pub side: Side,
    /// How often parts were halved until the device had room.
    pub halvings: u32,
    /// Why it was computed on the CPU, if it was.
    pub why: Option<Why>,
}

/// One operation that can run on a device, or on the CPU instead.
///
/// The function for the device is called again with a smaller [`Scale`] when memory is short. When that does not help either, or the
/// device fails otherwise, the function for the CPU is called, at most once, and only if policy and host memory allow. Neither
/// function should change what the other reads: results are what they return.
///
/// An attempt within another's function stays where that one is, and leaves what to do about a failure to it. An operation within
/// itself is [`Error::Nested`], so attempts cannot call each other without end.
pub struct Attempt<'a> {
    operation: &'static str,
    breaker: &'a Breaker,
    policy: Option<Policy>,
    halvings: Option<u32>,
    host: Option<(&'a Budget, u64)>,
    cannot: Option<&'a dyn Fn(&Error) -> bool>,
}

impl<'a> Attempt<'a> {
    /// An operation on the breaker's device.
    pub fn new(operation: &'static str, breaker: &'a Breaker) -> Self {
        Self { operation, breaker, policy: None, halvings: None, host: None, cannot: None }
    }

    /// Takes this policy instead of the breaker's.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Has no parts that could be smaller: where memory is short, the device is not tried again.
    pub fn undivided(mut self) -> Self {
        self.halvings = Some(0);
        self
    }

    /// So many bytes of host memory are needed on the CPU, out of this budget; else [`Error::FallbackWouldExceedBudget`].
    pub fn host_memory(mut self, budget: &'a Budget, bytes: u64) -> Self {
        self.host = Some((budget, bytes));
        self
    }

    /// Errors by which the device says that it cannot do it, and the CPU may: then it goes on there too, as after a failure, and nothing is held
    /// against the device.
    pub fn cannot(mut self, is_so: &'a dyn Fn(&Error) -> bool) -> Self {
        self.cannot = Some(is_so);
        self
    }

    /// Runs it. The function for the CPU gets the permit for the memory it needs, if any was asked for.
    pub fn run<T>(
        &self,
        mut gpu: impl FnMut(Scale) -> Result<T, Error>,
        cpu: impl FnOnce(Option<Permit>) -> Result<T, Error>,
    ) -> Result<Done<T>, Error> {
        let outer = Under::outer();
        let under = Under::begin(self.operation, outer.unwrap_or(Side::Gpu))?;
        let policy = self.policy.unwrap_or(self.breaker.settings().policy);
        match (outer, policy) {
            (Some(Side::Cpu), _) => self.on_cpu(&under, Why::Outer, cpu),
            (_, Policy::CpuOnly) => self.on_cpu(&under, Why::Policy, cpu),
            // The attempt around this one counts a failure, halves parts, and goes to the CPU.
            (Some(Side::Gpu), policy) => match gpu(Scale { halvings: 0 }) {
                Ok(value) => Ok(Done { value, side: Side::Gpu, halvings: 0, why: None }),
                Err(error) if policy == Policy::FallbackAndReport && self.cannot_do(&error) => {
                    self.on_cpu(&under, Why::Failed(Arc::new(error)), cpu)
                }
                Err(error) => Err(error),
            },
            (None, policy) => match self.on_gpu(&mut gpu) {
                Ok(done) => Ok(done),
                Err(stop) => match stop.why {
                    Some(why) if policy == Policy::FallbackAndReport => self.on_cpu(&under, why, cpu),
                    _ => Err(stop.error),
                },
            },
        }
    }

    fn on_gpu<T>(&self, gpu: &mut impl FnMut(Scale) -> Result<T, Error>) -> Result<Done<T>, Stop> {
        let admission = self.breaker.admit().map_err(Stop::refused)?;
        let most = self.halvings.unwrap_or(self.breaker.settings().halvings);
        let mut scale = Scale { halvings: 0 };
        loop {
            match gpu(scale) {
                Ok(value) => {
                    admission.succeed();
                    return Ok(Done { value, side: Side::Gpu, halvings: scale.halvings, why: None });
                }
                Err(error) if error.class() == Class::Resource && scale.halvings < most => {
                    scale.halvings += 1;
                    self.breaker.record(EventKind::Smaller { operation: self.operation, halvings: scale.halvings });
                }
                Err(error) => {
                    admission.fail(self.operation, &error);
                    let goes_on = matches!(error.class(), Class::Resource | Class::Device) || self.cannot_do(&error);
                    return Err(Stop::failed(error, goes_on));
                }
            }
        }
    }

    fn cannot_do(&self, error: &Error) -> bool {
        self.cannot.is_some_and(|is_so| is_so(error))
    }

    fn on_cpu<T>(
        &self,
        under: &Under,
        why: Why,
        cpu: impl FnOnce(Option<Permit>) -> Result<T, Error>,
    ) -> Result<Done<T>, Error> {
        let permit = self.permit(&why)?;
        under.move_to(Side::Cpu);
        let has_fallen_back = !matches!(why, Why::Policy | Why::Outer);
        if has_fallen_back {
            self.breaker.record(EventKind::FellBack { operation: self.operation, why: why.clone() });
        }
        // What it takes on its way may be too much as well.
        let is_host = |error: &Error| matches!(error, Error::Budget { what, .. } if *what == Memory::Host.name());
        let value = cpu(permit).map_err(|error| match has_fallen_back && is_host(&error) {
            true => self.beyond(&why, error),
            false => error,
        })?;
        Ok(Done { value, side: Side::Cpu, halvings: 0, why: Some(why) })
    }

    fn permit(&self, why: &Why) -> Result<Option<Permit>, Error> {
        let Some((budget, bytes)) = self.host else { return Ok(None) };
        budget.try_acquire(bytes).map(Some).map_err(|error| self.beyond(why, error))
    }

    /// A budget that is too small for the CPU to go on, with what the device said before.
    fn beyond(&self, why: &Why, error: Error) -> Error {
        match error {
            Error::Budget { requested, available, limit, .. } => {
                let cause = match why {
                    Why::Failed(error) => Some(Box::new(Error::clone(error))),
                    _ => None,
                };
                Error::FallbackWouldExceedBudget { operation: self.operation, requested, available, limit, cause }
            }
            other => other,
        }
    }
}

/// An attempt that ended on the device: its error, and why the CPU may go on, if it may.
struct Stop {
    error: Error,
    why: Option<Why>,
}

impl Stop {
    fn refused(error: Error) -> Self {
        let why = match &error {
            Error::DeviceResting { retry_in, .. } => Why::Resting { retry_in: *retry_in },
            _ => Why::Poisoned,
        };
        Self { error, why: Some(why) }
    }

    fn failed(error: Error, goes_on: bool) -> Self {
        let why = goes_on.then(|| Why::Failed(Arc::new(error.clone())));
        Self { error, why }
    }
}
