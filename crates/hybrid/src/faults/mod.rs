//! Faults of a GPU survived: a circuit breaker for each device, and attempts that go on, smaller or on the CPU.
//!
//! Only a lack of memory and a failing device ([`Class::Resource`](crate::Class), [`Class::Device`](crate::Class)) are held against a
//! device. A few such failures within a minute *open* its breaker: the device rests. After a cooldown one operation may try it, the
//! *probe*; if that succeeds the breaker *closes*. A device whose context is damaged for good is *poisoned*: nothing runs on it until
//! it has a new context, which few drivers give ([`renew`]).
//!
//! Nothing is printed: what happens is in [`Breaker::events`], in callbacks and in events of `tracing`.

mod attempt;
mod breaker;
mod event;
mod gate;
mod machine;
mod nesting;
mod renewal;
mod sync;

pub use attempt::{Attempt, Done, Scale, Why};
pub use breaker::{Admission, Breaker, Health, Policy, Settings};
pub use event::{Event, EventKind};
pub use machine::{Condition, Limits};
pub use renewal::renew;

#[cfg(test)]
mod modelled;
