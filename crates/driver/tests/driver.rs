//! Drivers that are missing, old, or without a device; and the whole host side on a driver that answers yes to everything.

use std::time::Instant;

use tilewright_driver::{Arch, Compiled, Device, Error, KernelCache, LaunchConfig, Source, TargetKind, driver_version};

use crate::{allocations, child, skip, stub};

fn with_stub(name: &str, scenario: &str, version: i32, result: u32, missing: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = stub::driver(folder.path(), version, result, missing) else {
        return skip(name, "no C compiler");
    };
    let mut command = child::command(scenario);
    let missing = missing.first().copied().unwrap_or_default();
    let version = if missing == "cuDriverGetVersion" { "None" } else { "Some((11, 4))" };
    command.env("TILEWRIGHT_LIBCUDA", library).env("MISSING", missing).env("VERSION", version);
    child::check(&command.output().unwrap());
}

#[test]
fn no_driver() {
    child::check(&child::command("no driver").env("TILEWRIGHT_LIBCUDA", "/nowhere/libcuda.so.1").output().unwrap());
}

pub(crate) fn child_no_driver() {
    for error in [Device::count().unwrap_err(), Device::new(0).unwrap_err(), driver_version().unwrap_err()] {
        assert!(matches!(&error, Error::NoDriver { tried } if tried.len() == 1), "{error:?}");
        assert!(error.to_string().contains("/nowhere/libcuda.so.1"), "{error}");
    }
}

#[test]
fn missing_symbols() {
    for symbol in ["cuInit", "cuDriverGetVersion", "cuLaunchKernelEx", "cuEventElapsedTime"] {
        with_stub("driver::missing_symbols", "missing symbol", 11_040, 0, &[symbol]);
    }
}

pub(crate) fn child_missing_symbol() {
    let expected = child::argument("MISSING");
    for error in [Device::count().unwrap_err(), Device::new(3).unwrap_err(), driver_version().unwrap_err()] {
        let Error::DriverTooOld { symbol, version, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*symbol, Some(expected.as_str()));
        assert_eq!(format!("{version:?}"), child::argument("VERSION"));
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

#[test]
fn a_library_that_is_no_driver() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = stub::library(folder.path(), "libcuda.so.1", "int nothing() { return 0; }") else {
        return skip("driver::a_library_that_is_no_driver", "no C compiler");
    };
    let mut command = child::command("missing symbol");
    command.env("TILEWRIGHT_LIBCUDA", library).env("MISSING", "cuInit").env("VERSION", "None");
    child::check(&command.output().unwrap());
}

#[test]
fn old_driver() {
    with_stub("driver::old_driver", "old driver", 11_080, 0, &[]);
}

pub(crate) fn child_old_driver() {
    let error = Device::new(0).unwrap_err();
    assert!(matches!(error, Error::DriverTooOld { symbol: None, version: Some((11, 8)), .. }), "{error:?}");
}

#[test]
fn no_device() {
    with_stub("driver::no_device", "no device", 12_040, 100, &[]);
}

pub(crate) fn child_no_device() {
    assert_eq!(driver_version().unwrap(), (12, 4));
    for error in [Device::count().unwrap_err(), Device::new(0).unwrap_err(), Device::new(usize::MAX).unwrap_err()] {
        assert!(matches!(error, Error::NoDevice), "{error:?}");
    }
}

#[test]
fn fake_device() {
    with_stub("driver::fake_device", "fake device", 12_040, 0, &[]);
}

fn compiled(image: &[u8]) -> Compiled {
    Compiled {
        name: "fake".into(),
        arch: Arch::new(9, 0),
        target: TargetKind::Plain,
        compiler: (13, 0),
        kernels: Vec::new(),
        log: String::new(),
        image: image.into(),
    }
}

pub(crate) fn child_fake_device() {
    assert!(matches!(Device::new(1), Err(Error::BadOrdinal { ordinal: 1, count: 1 })));
    let device = Device::new(0).unwrap();
    assert_eq!((device.name(), device.arch(), device.driver_version()), ("F", Arch::new(9, 0), (12, 4)));
    let stream = device.stream().unwrap();

    let buffer = stream.alloc::<f32>(3).unwrap();
    assert_eq!((buffer.len(), buffer.allocated_bytes(), buffer.device_ptr()), (3, 16, 4096));
    assert_eq!(stream.alloc::<f32>(0).unwrap().device_ptr(), 0);
    assert!(matches!(stream.alloc::<f64>(usize::MAX), Err(Error::TooLarge { element_bytes: 8, .. })));
    let error = stream.alloc::<u8>(1 << 41).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { requested, .. } if requested == 1 << 41), "{error:?}");
    assert!(matches!(buffer.copy_to_slice(&mut [0.0; 2]), Err(Error::Length { expected: 3, got: 2, .. })));

    let mut pinned = device.pinned::<u16>(5).unwrap();
    assert_eq!(pinned[..], [0; 5]);
    pinned[4] = 7;
    let mut target = stream.alloc::<u16>(5).unwrap();
    target.copy_from_pinned(&stream, &pinned).unwrap();
    target.copy_to_pinned(&stream, &mut pinned).unwrap();
    assert_eq!(pinned[..], [0, 0, 0, 0, 7]);
    assert!(device.pinned::<u16>(0).unwrap().is_empty());

    refused_entry(&device);
    launch(&device);
}

fn refused_entry(device: &Device) {
    assert!(matches!(device.load(&compiled(b"X")), Err(Error::Refused { bytes: 1, .. })));
    let cache = KernelCache::in_memory();
    let source = Source { text: "#error the stored entry is refused, so this is compiled".into(), ..Source::default() };
    cache.put(&source, compiled(b"X"));
    // No NVRTC in this child's environment, or an error of compilation: in no case the refusal.
    let error = cache.load(device, &source).unwrap_err();
    assert!(matches!(error, Error::NoNvrtc { .. } | Error::Compile { .. }), "{error:?}");
}

fn launch(device: &Device) {
    let module = device.load(&compiled(b"code")).unwrap();
    assert!(matches!(module.function("X"), Err(Error::NoKernel { .. })));
    assert!(matches!(module.function("a\0b"), Err(Error::NulByte { .. })));
    let (function, stream) = (module.function("kernel").unwrap(), device.stream().unwrap());
    assert_eq!((function.parameter_bytes(), function.registers()), (Some(16), 24));
    assert!(matches!(function.set_max_shared_bytes(200_000), Err(Error::Length { .. })));

    let config = LaunchConfig { cluster: Some([2, 1, 1]), programmatic: true, ..LaunchConfig::linear(2, 32) };
    // SAFETY: the fake driver runs nothing.
    let go = |bytes: &[u8]| unsafe { function.launch(&stream, &config, bytes) };
    assert!(matches!(go(&[0; 15]), Err(Error::ParameterBytes { expected: 16, got: 15, .. })));
    let block = [0u8; 16];
    go(&block).unwrap();
    let count = 100_000;
    let start = Instant::now();
    let allocations = allocations::during(|| (0..count).for_each(|_| go(&block).unwrap()));
    let ns = start.elapsed().as_nanos() as f64 / count as f64;
    eprintln!("a launch costs {ns:.1} ns beside the driver");
    assert_eq!(allocations, 0);
    assert!(ns < 2000.0, "{ns} ns"); // generous: test machines are shared
}
