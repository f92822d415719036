//! Plans, which ask no driver, on a stub that counts who does.

use crate::ledger::{Entry, Ledger, Stubs};
use tilewright_driver::Device as Driver;
use tilewright_hybrid::budget::Budget;
use tilewright_hybrid::dispatch::{Choice, Job, Rates, Reason, Verb};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Columns, Device, Rows, Shape, Side};

#[test]
fn m16_plans_ask_no_driver() {
    Stubs::check("device::planned::m16_plans_ask_no_driver", "planned");
}

pub(crate) fn child_planned() {
    let (ledger, gpu) = (Ledger::here(), Gpu::new(&Driver::new(0).unwrap().stream().unwrap()));
    let driver = gpu.stream().device();
    let all = driver.memory_bytes() as u64;
    let plain = Device::with(&gpu).rated(Rates::h200()).guarded(Breaker::new(0, Settings::default()));
    let given = Budgets { device: Budget::device(driver), pinned: Budget::pinned() };
    let asked = || [Entry::Calls, Entry::Asked].map(|entry| ledger.get(entry));
    // Of three quarters of the memory, and not streamed.
    let side = ((all / 8 * 3 / 4) as f64).sqrt() as usize;
    let shape = Shape::new(Rows(side), Columns(side));
    let job = Job::verb::<f64>(Verb::Qr, shape, Columns(0)).unwrap();
    for device in [plain.clone(), plain.within(given)] {
        let device = device.choosing(Choice::Gpu);
        let before = asked();
        // Nobody has asked yet: all of it.
        assert_eq!(device.plan(&job).unwrap().side, Side::Gpu);
        assert!(device.plan_matmul::<f64>(Precision::Auto, [shape; 2], false).is_ok());
        assert_eq!(asked(), before);
        // An operation asks for what there is, half of which is taken.
        let half = DeviceMat::<f64>::uninitialised(&gpu, Shape::new(Rows((all / 16) as usize), Columns(1))).unwrap();
        let small = ndarray::Array2::<f64>::eye(4);
        device.qr((&small).into()).unwrap();
        assert!(asked()[1] > before[1], "it does count");
        let before = asked();
        assert!(device.plan(&job).is_err(), "what was known last");
        let by_itself = device.clone().choosing(Choice::Auto).plan(&job).unwrap();
        assert_eq!((by_itself.side, by_itself.reason), (Side::Cpu, Reason::TooLarge));
        assert_eq!(asked(), before);
        drop(half);
        gpu.stream().trim().unwrap();
        device.qr((&small).into()).unwrap();
        let before = asked();
        assert_eq!(device.plan(&job).unwrap().side, Side::Gpu);
        assert_eq!(asked(), before);
    }
}
