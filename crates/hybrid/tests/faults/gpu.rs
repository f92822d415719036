//! A real fault on a real device, in a process of its own: nothing works there afterwards.

use std::process::Stdio;

use tilewright_driver::{Arch, Compiled, Device, Error as Driver, LaunchConfig, TargetKind};
use tilewright_hybrid::{
    Error, Side,
    budget::{Budget, Memory},
    faults::{Attempt, Breaker, Condition, Settings, Why, renew},
};

use crate::{child, skip};

/// Stores to the address that it is given.
const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 at)
{
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [at];
    cvta.to.global.u64 %d1, %d0;
    st.global.u64 [%d1], %d0;
    ret;
}
\0";

fn store(device: Device, address: u64) -> Result<(), Error> {
    let compiled = Compiled {
        name: "store".into(),
        arch: Arch::new(7, 0),
        target: TargetKind::Portable,
        compiler: (13, 0),
        kernels: Vec::new(),
        log: String::new(),
        image: PTX.into(),
    };
    let function = device.load(&compiled)?.function("store")?;
    let stream = device.stream()?;
    // SAFETY: the address is mapped on no device, so no memory is written: the device stops the kernel, which is the test.
    unsafe { function.launch(&stream, &LaunchConfig::linear(1, 1), &address.to_ne_bytes())? };
    Ok(stream.synchronize()?)
}

#[test]
fn b3_b10_a_real_illegal_address() {
    const NAME: &str = "faults::gpu::b3_b10_a_real_illegal_address";
    match Device::new(0) {
        Ok(device) if crate::runs_kernels(&device, NAME) => {}
        Ok(_) => return,
        Err(error @ (Driver::NoDriver { .. } | Driver::NoDevice | Driver::DriverTooOld { .. })) => {
            return skip(NAME, &error.to_string());
        }
        Err(other) => panic!("{other}"),
    }
    let mut command = child::command("sticky fault");
    child::check(&command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap());
}

pub(crate) fn child_sticky_fault() {
    let device = Device::new(0).unwrap();
    let breaker = Breaker::new(device.ordinal(), Settings::default());
    let pinned = Budget::new(Memory::Pinned, 1 << 20);
    let (made, room) = (breaker.epoch(), pinned.try_acquire(8 * 1024).unwrap());
    let mut slot = device.pinned::<u64>(1024).unwrap();
    let host: Vec<u64> = (0..1024).collect();
    slot.copy_from_slice(&host);
    let attempt =
        || Attempt::new("sum", &breaker).run(|_| store(device, 8).map(|()| 0), |_| Ok(host.iter().sum::<u64>()));
    let done = attempt().unwrap();
    assert_eq!((done.value, done.side), (1024 * 1023 / 2, Side::Cpu));
    assert!(matches!(done.why, Some(Why::Failed(error)) if error.is_sticky()));
    assert_eq!(breaker.health().condition, Condition::Poisoned);
    assert!(matches!(breaker.check(made), Err(Error::DevicePoisoned { .. })));
    // The driver answers alike to whatever comes after.
    let again = device.stream().map_err(Error::from).and_then(|stream| Ok(stream.upload(&host)?)).err();
    assert!(matches!(again, Some(Error::DevicePoisoned { ordinal: 0, .. })), "{again:?}");
    assert!(matches!(attempt().unwrap().why, Some(Why::Poisoned)));
    let error = renew(0).unwrap_err();
    assert!(matches!(error, Error::Driver(Driver::ContextInUse { ordinal: 0, objects: 1 })), "{error}");
    // Through the owner that made it, although the device is dead.
    drop((slot, room));
    assert_eq!(pinned.used(), 0);
    // Whether there is another context the driver says; one that there is works.
    match renew(0) {
        Ok(()) => assert_eq!(Device::new(0).unwrap().stream().unwrap().upload(&host).unwrap().to_vec().unwrap(), host),
        Err(error) => assert!(matches!(error, Error::DevicePoisoned { ordinal: 0, .. }), "{error}"),
    }
}
