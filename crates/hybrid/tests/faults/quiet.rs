//! What is printed while devices fail: nothing.

use tilewright_hybrid::Side;
use tilewright_hybrid::dispatch::last_outcome;
use tilewright_hybrid::faults::{Condition, Policy};

use super::operations::{ROOM, eager, gpu, matrix};
use crate::ledger::{Ledger, Stubs};
use crate::{child, skip};

const INVALID_HANDLE: i64 = 400;
const ILLEGAL_ADDRESS: i64 = 700;

/// A breaker opens, a context is lost, and an operation goes on on the CPU: all of that in silence.
#[test]
fn b4_nothing_is_printed() {
    let test = "faults::quiet::b4_nothing_is_printed";
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
