//! Processes that are forked from one that has opened the GPU, which no driver serves, and what is printed.

use rustix::process::{Pid, WaitOptions, waitpid};
use tilewright_driver::Error as DriverError;
use tilewright_hybrid::dispatch::{Choice, last_outcome};
use tilewright_hybrid::faults::{Breaker, Condition, Policy, Settings};
use tilewright_hybrid::{Device, Error, Side};

use super::operations::{ROOM, eager, gpu, matrix};
use crate::ledger::{Ledger, Stubs};
use crate::{child, skip};

/// What a driver answers there.
const NOT_INITIALIZED: i64 = 3;
const INVALID_HANDLE: i64 = 400;
const ILLEGAL_ADDRESS: i64 = 700;

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
        // Whoever leaves the choice goes on.
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

/// A breaker opens, a context is lost, and an operation goes on on the CPU: all of that in silence.
#[test]
fn b4_nothing_is_printed() {
    let test = "faults::forked::b4_nothing_is_printed";
    let Some(stubs) = Stubs::new() else { return skip(test, "no C compiler") };
    let mut command = child::command("quiet");
    stubs.serve(&mut command);
    let output = command.output().unwrap();
    child::check(&output);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // Of what is printed all is the test runner's.
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let ours: Vec<_> = printed.lines().filter(|line| !line.is_empty() && !is_of_the_runner(line)).collect();
    assert!(ours.is_empty(), "{ours:?}");
}

fn is_of_the_runner(line: &str) -> bool {
    line == "running 1 test" || line == "test child::scenario ... ok" || line.starts_with("test result: ok. 1 passed")
}

pub(crate) fn child_quiet() {
    let (ledger, a) = (Ledger::here(), matrix(9, 9, 1));
    let (device, breaker, _) = eager(&gpu(), ROOM, Policy::FallbackAndReport);
    let goes_on = |code: Option<i64>| {
        code.inspect(|code| ledger.fail(1, *code));
        assert_eq!(device.product((&a).into(), (&a).into()).unwrap(), a.dot(&a));
        let outcome = last_outcome().unwrap();
        assert!(outcome.side == Side::Cpu && outcome.why.is_some(), "{outcome:?}");
    };
    (0..3).for_each(|_| goes_on(Some(INVALID_HANDLE)));
    assert!(matches!(breaker.health().condition, Condition::Open { .. }));
    goes_on(None);
    let (device, breaker, _) = eager(&gpu(), ROOM, Policy::FallbackAndReport);
    ledger.fail(1, ILLEGAL_ADDRESS);
    assert_eq!(device.product((&a).into(), (&a).into()).unwrap(), a.dot(&a));
    assert!(matches!(breaker.health().condition, Condition::Poisoned), "{:?}", breaker.health());
}
