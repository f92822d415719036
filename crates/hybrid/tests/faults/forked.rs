//! Processes that are forked from one that has opened the GPU, which no driver serves.

use rustix::process::{Pid, WaitOptions, waitpid};
use tilewright_driver::Error as DriverError;
use tilewright_hybrid::dispatch::Choice;
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::{Device, Error};

use super::operations::{gpu, matrix};
use crate::ledger::{Ledger, Stubs};

/// What a driver answers there.
const NOT_INITIALIZED: i64 = 3;

#[test]
fn m13_a_device_of_the_process_before() {
    Stubs::check("faults::forked::m13_a_device_of_the_process_before", "forked");
}

pub(crate) fn child_forked() {
    let (ledger, a, parent) = (Ledger::here(), matrix(9, 9, 1), std::process::id());
    let device = Device::with(&gpu()).choosing(Choice::Gpu).guarded(Breaker::new(0, Settings::default()));
    let multiply = |device: &Device| device.product((&a).into(), (&a).into());
    assert_eq!(multiply(&device).unwrap(), a.dot(&a));
    let is_told = || {
        ledger.fail(1, NOT_INITIALIZED);
        let error = multiply(&device).unwrap_err();
        let told = error.to_string().contains("fork before");
        let Error::Driver(DriverError::Forked { process, opened_by, .. }) = error else { return false };
        // Who asks for the CPU needs no driver.
        let here = multiply(&device.clone().choosing(Choice::Cpu));
        told && process != parent && opened_by == parent && here.is_ok_and(|c| c == a.dot(&a))
    };
    // SAFETY: the signatures are those of unistd.h.
    let (fork, exit) = unsafe {
        let system = libloading::os::unix::Library::this();
        let fork = *system.get::<unsafe extern "C" fn() -> i32>("fork").unwrap();
        (fork, *system.get::<unsafe extern "C" fn(i32) -> !>("_exit").unwrap())
    };
    // SAFETY: the child has this thread alone, whose work no other one shares, and ends.
    let forked = unsafe { fork() };
    if forked == 0 {
        let is_told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(is_told)).unwrap_or(false);
        // SAFETY: nothing is left to do.
        unsafe { exit(if is_told { 0 } else { 1 }) }
    }
    let (_, status) = waitpid(Pid::from_raw(forked), WaitOptions::empty()).unwrap().unwrap();
    assert_eq!(status.exit_status(), Some(0));
    ledger.mend();
    assert_eq!(multiply(&device).unwrap(), a.dot(&a), "the parent has its GPU");
}
