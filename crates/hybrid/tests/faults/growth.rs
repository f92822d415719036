//! Nothing grows over two hundred operations, those that fail among them: on a stub, which counts, and on a GPU, whose driver says what is free.

use ndarray::Array2;
use tilewright_hybrid::budget::system::maps;
use tilewright_hybrid::faults::Policy;
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::store::{Extents, MemorySink, MemorySource};
use tilewright_hybrid::stream::{Cancel, Control, Factor, Product, matmul};
use tilewright_hybrid::{Class, Error};

use super::operations::{FACE, ROOM, STREAMS, budgets, eager, eighths, matrix, multiply};
use crate::child;
use crate::ledger::{Ledger, Stubs};

/// Operations in all, and how many of them come before anything is counted.
const OPERATIONS: usize = 200;
const FIRST: usize = 20;

#[test]
fn m14_on_stubs() {
    Stubs::check("faults::growth::m14_on_stubs", "growth on stubs");
}

#[test]
fn m14_on_a_gpu() {
    if crate::gpu("faults::growth::m14_on_a_gpu").is_some() {
        child::check(&child::command("growth on a GPU").output().unwrap());
    }
}

/// What a process has of the system: files, and mappings of memory.
fn held() -> (usize, u64) {
    (std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count), maps().unwrap_or(0))
}

pub(crate) fn child_on_stubs() {
    let ledger = Ledger::here();
    let mut counted = Vec::new();
    let gpu = super::operations::gpu();
    let all = tilewright_ops::Device::gpu(0).unwrap();
    for number in 0..=OPERATIONS {
        if number == FIRST || number == OPERATIONS {
            // What streams keep is as much as they like.
            gpu.stream().trim().and(all.as_gpu().map_or(Ok(()), |all| all.stream().trim())).unwrap();
            counted.push((ledger.in_use(), held()));
        }
        // One of the calls of each third operation finds no memory.
        if number % 3 == 0 {
            ledger.fail(number as i64 % 37 + 1, 2);
        }
        operation(&gpu, number, 24);
        ledger.mend();
    }
    let [(before, (files, maps)), (after, (files_after, maps_after))] = counted[..] else { panic!("{counted:?}") };
    assert_eq!((before, files), (after, files_after), "bytes on the device, pinned bytes, objects; files");
    // What allocators do for threads comes and goes.
    assert!(maps_after <= maps + 8, "{maps} {maps_after}");
}

pub(crate) fn child_on_a_gpu() {
    let gpu = super::operations::gpu();
    let free = || gpu.stream().synchronize().and_then(|()| gpu.stream().device().memory_info()).unwrap().0;
    // Others may use the GPU meanwhile: what grows, grows every time.
    let mut lost = Vec::new();
    for _ in 0..3 {
        let mut counted = Vec::new();
        for number in 0..=OPERATIONS {
            if number == FIRST || number == OPERATIONS {
                counted.push((free(), held()));
            }
            operation(&gpu, number, 512);
        }
        let [(before, (files, maps)), (after, (files_after, maps_after))] = counted[..] else { panic!("{counted:?}") };
        let grown = (before.saturating_sub(after), files_after.saturating_sub(files), maps_after.saturating_sub(maps));
        // Each operation comes 18 times, and a matrix is 2 MiB.
        if grown.0 < 32 << 20 && grown.1 == 0 && grown.2 <= 8 {
            return;
        }
        lost.push(grown);
    }
    panic!("bytes on the device, files and mappings more: {lost:?}");
}

/// One of ten.
fn operation(gpu: &Gpu, number: usize, side: usize) {
    let done = match number % 10 {
        kind @ 0..6 => {
            let (_, operation, parts) = FACE[kind % 3];
            let room = parts.filter(|_| kind >= 3).map_or(ROOM, |parts| eighths(parts, side));
            let (device, _, held) = eager(gpu, room, Policy::FallbackAndReport);
            let done = operation(&device, side);
            assert!(held.iter().all(|budget| budget.used() == 0));
            done
        }
        kind @ 6..8 => STREAMS[kind - 6].1(gpu, &budgets(eighths(16, side)), side),
        8 => {
            wrong(gpu, side);
            Ok(())
        }
        _ => cancelled(gpu, side),
    };
    // One that is cancelled is short of memory before, if it is.
    let class = done.as_ref().map_err(Error::class).err();
    assert!(class.is_none_or(|class| class == Class::Resource || number % 10 == 9), "{number}: {done:?}");
    assert!(number % 10 < 9 || class == Some(Class::Cancelled) || class == Some(Class::Resource), "{number}: {done:?}");
}

/// Calls that fail by themselves: for a wrong shape, for a singular matrix, for lack of room.
fn wrong(gpu: &Gpu, side: usize) {
    let (device, ..) = eager(gpu, ROOM, Policy::FailFast);
    let (a, ones) = (matrix(side, side, 1), Array2::<f64>::ones((side, side)));
    device.product((&a).into(), (&matrix(side + 1, 1, 2)).into()).unwrap_err();
    device.inverse((&ones).into()).unwrap_err();
    let (none, ..) = eager(gpu, 100, Policy::FallbackAndReport);
    multiply(&none, side).unwrap();
}

/// A streamed product that nobody wants any more when a part of it is there.
fn cancelled(gpu: &Gpu, side: usize) -> Result<(), Error> {
    let a = matrix(side, side, 1).into_raw_vec_and_offset().0;
    let source = MemorySource::from_slice(&a, Extents::new(side, side))?;
    let mut c = Array2::<f64>::zeros((side, side));
    let sink = MemorySink::new(c.view_mut());
    let (a, b) = (Factor::plain(&source), Factor::plain(&source));
    let product = Product { a, b, c: None, alpha: 1.0, beta: 0.0 };
    let cancel = Cancel::new();
    let tell = |done, _| {
        if done > 1 {
            cancel.cancel();
        }
    };
    let control = Control { cancel: Some(&cancel), progress: Some(&tell), ..Control::default() };
    matmul(gpu, &budgets(eighths(8, side)), Precision::Auto, &product, &sink, control).map(drop)
}
