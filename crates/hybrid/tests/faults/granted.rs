//! What is taken of the GPU and of page-locked memory was granted: on a stub, which counts bytes where they are given out.

use tilewright_driver::Stream;
use tilewright_hybrid::budget::Budget;
use tilewright_hybrid::dispatch::last_decision;
use tilewright_hybrid::faults::Policy;

use super::elsewhere::{ELSEWHERE, OUTSIDE};
use super::operations::{FACE, ROOM, STREAMS, budgets, eager, eighths, gpu};
use crate::ledger::{Entry, Ledger, Stubs};

/// So that a matrix, 72 KiB, is much larger than what its pieces are rounded up by.
const SIDE: usize = 96;
/// What the sizes that a stream's pool keeps are larger by, of all pieces of what is streamed: each by a quarter at most, those of these sizes by less.
const ROUNDED_UP: u64 = 8 << 10;

#[test]
fn what_is_taken_was_granted() {
    Stubs::check("faults::granted::what_is_taken_was_granted", "granted");
}

pub(crate) fn child_granted() {
    let (ledger, mut streamed) = (Ledger::here(), 0);
    for (name, operation, parts) in FACE {
        for room in [Some(ROOM), parts.map(|parts| eighths(parts, SIDE))].into_iter().flatten() {
            let gpu = gpu();
            let (device, _, [of_device, of_pinned, _]) = eager(&gpu, room, Policy::FallbackAndReport);
            let taken = taken(&ledger, gpu.stream(), [&of_device, &of_pinned], || operation(&device, SIDE).unwrap());
            let is_streamed = last_decision().unwrap().gpu.unwrap().tiles.is_some();
            // Matrices that lie there whole are pieces as well.
            let rounded_up = if is_streamed { ROUNDED_UP } else { of_device.peak() / 4 };
            within(name, taken, [&of_device, &of_pinned], rounded_up);
            streamed += usize::from(is_streamed);
        }
    }
    assert!(streamed >= 4, "{streamed}");
    // Expressions have a stream of their own, and follow.
    for (name, operation, _) in ELSEWHERE.iter().filter(|(name, _, has)| *has != OUTSIDE && *name != "an expression") {
        let gpu = gpu();
        let (device, _, [of_device, of_pinned, _]) = eager(&gpu, ROOM, Policy::FallbackAndReport);
        let of = [&of_device, &of_pinned];
        let taken = taken(&ledger, gpu.stream(), of, || operation(&gpu, &device, SIDE).unwrap());
        within(name, taken, of, of_device.peak() / 4);
    }
    let own = tilewright_ops::Device::gpu(0).unwrap();
    for (name, operation) in STREAMS {
        let (gpu, budgets) = (gpu(), budgets(eighths(16, SIDE)));
        let stream = own.as_gpu().filter(|_| name == "an expression").map_or(gpu.stream(), |own| own.stream());
        let of = [&budgets.device, &budgets.pinned];
        let taken = taken(&ledger, stream, of, || operation(&gpu, &budgets, SIDE).unwrap());
        assert!(taken.iter().all(|&bytes| bytes > 0), "{name}: {taken:?}");
        within(name, taken, of, ROUNDED_UP);
    }
}

/// The most bytes that an operation has at once, on the device and page-locked, with nothing left of one before.
fn taken(ledger: &Ledger, stream: &Stream, budgets: [&Budget; 2], operation: impl Fn()) -> [u64; 2] {
    // Handles and kernels stay.
    operation();
    stream.trim().unwrap();
    budgets.iter().for_each(|budget| budget.reset_peak());
    let [on_device, pinned, _] = ledger.in_use();
    ledger.set(Entry::MostDeviceBytes, on_device);
    ledger.set(Entry::MostPinnedBytes, pinned);
    operation();
    let most = [Entry::MostDeviceBytes, Entry::MostPinnedBytes].map(|entry| ledger.get(entry));
    [most[0] - on_device, most[1] - pinned].map(|bytes| bytes.try_into().unwrap())
}

fn within(name: &str, taken: [u64; 2], budgets: [&Budget; 2], of_device: u64) {
    for ((bytes, budget), rounded_up) in taken.into_iter().zip(budgets).zip([of_device, 0]) {
        let granted = budget.peak();
        assert!(bytes <= granted + rounded_up, "{name} took {bytes} bytes, granted {granted}: {budget:?}");
    }
}
