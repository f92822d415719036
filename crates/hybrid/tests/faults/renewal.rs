//! A lost context: what is of it says so, and the device has another one where the driver makes it.

use tilewright_driver::{Device as Driver, Error as DriverError};
use tilewright_hybrid::bits::BitMatrix;
use tilewright_hybrid::bits::gpu::DeviceBitMatrix;
use tilewright_hybrid::dispatch::{Choice, Rates, last_decision};
use tilewright_hybrid::faults::{Breaker, Condition, EventKind, Settings, renew};
use tilewright_hybrid::linear::{DeviceMat, Gpu};
use tilewright_hybrid::{Class, Device, Error, Side};

use super::operations::{ROOM, STREAMS, budgets, gpu, matrix, regular};
use crate::ledger::{Entry, Ledger, Stubs};

/// Somebody else in the process reset the device.
const CONTEXT_IS_DESTROYED: i64 = 709;
const ILLEGAL_ADDRESS: i64 = 700;

#[test]
fn b3_a_lost_context() {
    Stubs::check("faults::renewal::b3_a_lost_context", "renewed");
}

pub(crate) fn child_renewed() {
    let ledger = Ledger::here();
    let kernels = || STREAMS.iter().for_each(|(_, stream)| stream(&gpu(), &budgets(ROOM), 24).unwrap());
    kernels();
    renew(0).unwrap();
    assert_eq!(ledger.get(Entry::Renewals), 0, "nothing was lost");
    let renewed = lost(&ledger, CONTEXT_IS_DESTROYED);
    renewed.unwrap();
    let breaker = Breaker::of(0);
    assert_eq!((breaker.health().condition, ledger.get(Entry::Renewals)), (Condition::Closed, 1));
    let story: Vec<_> = breaker.events().into_iter().map(|event| event.kind).collect();
    assert!(matches!(story[..], [EventKind::Poisoned, EventKind::Revived]), "{story:?}");
    product(&gpu());
    assert_eq!(last_decision().unwrap().side, Side::Gpu);
    // Those that were loaded before are loaded again.
    kernels();

    // By the face, whose clones use the context too.
    let device = asked(&gpu()).guarded(Breaker::new(0, Settings::default()));
    let a = matrix(9, 9, 1);
    let multiply = |device: &Device| device.product((&a).into(), (&a).into());
    let device = device.renewed().unwrap();
    assert_eq!((multiply(&device).unwrap(), ledger.get(Entry::Renewals)), (a.dot(&a), 1), "nothing was lost");
    ledger.fail(1, CONTEXT_IS_DESTROYED);
    assert!(multiply(&device).unwrap_err().is_sticky());
    assert!(matches!(multiply(&device), Err(Error::DevicePoisoned { .. })));
    let clone = device.clone();
    let in_use = device.renewed().unwrap_err();
    assert!(matches!(in_use, Error::Driver(DriverError::ContextInUse { .. })), "{in_use}");
    let device = clone.renewed().unwrap();
    assert_eq!((multiply(&device).unwrap(), ledger.get(Entry::Renewals)), (a.dot(&a), 2));
    assert_eq!(last_decision().unwrap().side, Side::Gpu);
    assert_eq!(device.health().unwrap().condition, Condition::Closed);
    drop(device);

    let error = lost(&ledger, ILLEGAL_ADDRESS).unwrap_err();
    assert!(
        matches!(&error, Error::DevicePoisoned { ordinal: 0, why } if why.contains("start the process anew")),
        "{error}"
    );
    assert_eq!(breaker.health().condition, Condition::Poisoned);
    assert!(breaker.health().last_failure.unwrap().contains("700"));
    assert!(matches!(renew(0), Err(Error::DevicePoisoned { .. })), "as often as one asks");
    assert_eq!(ledger.get(Entry::Renewals), 3, "released once");
    // Nothing works there, and all does on the CPU.
    assert!(matches!(Device::gpu(0), Err(Error::DevicePoisoned { .. })));
    assert_eq!(Device::auto().product((&a).into(), (&a).into()).unwrap(), a.dot(&a));
}

fn asked(gpu: &Gpu) -> Device {
    Device::with(gpu).choosing(Choice::Gpu).within(budgets(ROOM)).rated(Rates::h200())
}

fn product(gpu: &Gpu) {
    let (a, b) = (matrix(20, 30, 1), matrix(30, 10, 2));
    let device = asked(gpu);
    assert_eq!(device.product((&a).into(), (&b).into()).unwrap(), a.dot(&b));
}

/// A context is lost while matrices, factors, pinned memory and a graph are in use; and whether there is another one when they are not.
fn lost(ledger: &Ledger, code: i64) -> Result<(), Error> {
    let gpu = gpu();
    product(&gpu);
    let device = asked(&gpu);
    let a = matrix(12, 12, 3);
    let there = DeviceMat::upload(&gpu, (&a).into())?;
    let factors = device.lu((&regular(12)).into())?;
    let bits = DeviceBitMatrix::upload(gpu.stream(), &BitMatrix::zeros(5, 6)?)?;
    let mut slot = Driver::new(0)?.pinned::<f64>(12)?;
    slot.fill(2.5);
    let (graph, ()) = gpu.stream().capture(|| ())?;
    ledger.fail(1, code);
    // The first one tells what failed.
    let first = there.download().unwrap_err();
    assert!(matches!(first, Error::Driver(DriverError::Driver { .. })) && first.is_sticky(), "{first}");
    let right = matrix(12, 1, 1);
    let later = [
        there.download().err(),
        there.view().download().err(),
        factors.solve((&right).into()).err(),
        bits.download().err(),
        bits.transposed().err(),
        graph.launch(gpu.stream()).err().map(Error::from),
        gpu.stream().record().err().map(Error::from),
        DeviceMat::upload(&gpu, (&a).into()).err(),
        Driver::new(0)?.stream().err().map(Error::from),
        Driver::new(0)?.memory_info().err().map(Error::from),
        // The face learns of what it was not there for.
        device.product((&a).into(), (&a).into()).err(),
        device.lu((&a).into()).err(),
    ];
    for (number, error) in later.into_iter().enumerate() {
        let error = error.unwrap_or_else(|| panic!("use {number} of a lost context"));
        assert!(matches!(error, Error::DevicePoisoned { ordinal: 0, .. }), "{number}: {error}");
        assert!(error.is_sticky() && error.class() == Class::Device);
    }
    assert_eq!(Breaker::of(0).health().condition, Condition::Poisoned);
    assert_eq!(slot[11], 2.5, "memory of the host is there");
    let in_use = renew(0).unwrap_err();
    assert!(matches!(in_use, Error::Driver(DriverError::ContextInUse { objects: 3.., .. })), "{in_use}");
    drop((device, there, factors, bits, slot, graph, gpu));
    renew(0)
}
