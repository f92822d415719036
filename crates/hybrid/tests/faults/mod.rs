//! Breakers and attempts. What a device would answer is injected, in `injected` call by call; real faults are in `gpu`.

mod attempts;
mod breaker;
mod crowd;
mod elsewhere;
mod forked;
mod gpu;
mod granted;
mod growth;
mod injected;
mod operations;
mod quiet;
mod renewal;
mod threads;

pub(crate) use crowd::child_crowd;
pub(crate) use forked::child_forked;
pub(crate) use gpu::child_sticky_fault;
pub(crate) use granted::child_granted;
pub(crate) use growth::{child_on_a_gpu as child_growth_on_a_gpu, child_on_stubs as child_growth_on_stubs};
pub(crate) use injected::child_injected;
pub(crate) use quiet::child_quiet;
pub(crate) use renewal::child_renewed;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tilewright_driver::Error as Driver;
use tilewright_hybrid::{
    Error,
    faults::{Breaker, EventKind, Settings},
};

/// A clock that tests set.
#[derive(Clone, Default)]
struct Clock(Arc<AtomicU64>);

impl Clock {
    fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    fn breaker(&self, settings: Settings) -> Breaker {
        let clock = self.clone();
        Breaker::with_clock(7, settings, move || Duration::from_secs(clock.0.load(Ordering::SeqCst)))
    }
}

fn out_of_memory() -> Error {
    Driver::OutOfMemory { requested: 10, free: 1, total: 5 }.into()
}

fn answer(code: u32) -> Error {
    Driver::Driver { call: "cuLaunchKernelEx", code, name: "CUDA_ERROR".into(), message: "as injected".into() }.into()
}

/// A failure that leaves the context whole.
fn hiccup() -> Error {
    answer(999)
}

/// An illegal address.
fn sticky() -> Error {
    answer(700)
}

fn kinds(breaker: &Breaker) -> Vec<String> {
    let name = |kind: &EventKind| format!("{kind:?}").split([' ', '{']).next().unwrap_or_default().to_owned();
    breaker.events().iter().map(|event| name(&event.kind)).collect()
}
