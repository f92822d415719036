//! The end of the process, while the compiler works.
//!
//! The compiler library's destructors run when `main` has returned, whatever other threads do then: one that compiles works
//! on destroyed data and crashes a process that ended well. `atexit` does not help: the library registers destructors while it
//! compiles, and what is registered last runs first. What belongs to the main thread is dropped before all of them, though, so
//! that is where the end waits for what is being compiled at that moment. Nothing new begins then.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// No compilation takes this long; one that hangs does not hold the process.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

struct State {
    running: usize,
    ending: bool,
}

static STATE: Mutex<State> = Mutex::new(State { running: 0, ending: false });
static CHANGED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A compilation under way, or the search for the compiler.
pub(crate) struct Running(());

impl Running {
    /// `None` when the process is ending.
    pub(crate) fn begin() -> Option<Self> {
        let mut state = state();
        if state.ending {
            return None;
        }
        state.running += 1;
        Some(Self(()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        state().running -= 1;
        CHANGED.notify_all();
    }
}

/// Has the end of the process wait for compilations, if this is the main thread. On others nothing happens.
pub(crate) fn wait_for_compilations() {
    struct MainThread;

    impl Drop for MainThread {
        fn drop(&mut self) {
            let mut state = state();
            state.ending = true;
            let _ = CHANGED.wait_timeout_while(state, LONGEST_WAIT, |state| state.running > 0);
        }
    }

    thread_local! {
        static END: Option<MainThread> =
            (rustix::thread::gettid() == rustix::process::getpid()).then(|| MainThread);
    }
    // A thread that is ending itself has no more of these.
    let _ = END.try_with(|_| {});
}
