//! Drivers that are missing, old, or without a device; and the whole host side on a driver that answers yes to everything.

use std::time::Instant;

use tilewright_driver::{
    Arch, Compiled, Device, Error, KernelCache, LaunchConfig, Origin, Source, TargetKind, TensorMap, driver_version,
};
use tilewright_headers::tensor_map::{Element, Swizzle, TensorMap as Description};

use crate::{allocations, cache::bundle_of, child, skip, stub};

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
fn m13_a_process_that_is_forked() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = stub::lost_by_forks(folder.path()) else {
        return skip("driver::m13_a_process_that_is_forked", "no C compiler");
    };
    child::check(&child::command("forked").env("TILEWRIGHT_LIBCUDA", library).output().unwrap());
}

pub(crate) fn child_forked() {
    let stream = Device::new(0).unwrap().stream().unwrap();
    stream.synchronize().unwrap();
    let (parent, system) = (std::process::id(), libloading::os::unix::Library::this());
    // SAFETY: the signatures are those of unistd.h.
    let (fork, exit) = unsafe {
        (
            system.get::<unsafe extern "C" fn() -> i32>("fork").unwrap(),
            system.get::<unsafe extern "C" fn(i32) -> !>("_exit").unwrap(),
        )
    };
    // SAFETY: the child calls a driver without locks, and ends.
    let child = unsafe { fork() };
    if child == 0 {
        let error = stream.synchronize().unwrap_err();
        let Error::Forked { call: "cuStreamSynchronize", process, opened_by } = error else {
            // SAFETY: nothing is left to do.
            unsafe { exit(1) }
        };
        // SAFETY: as above.
        unsafe { exit(if process != parent && opened_by == parent { 0 } else { 2 }) }
    }
    let child = rustix::process::Pid::from_raw(child);
    let ended = rustix::process::waitpid(child, rustix::process::WaitOptions::empty()).unwrap().unwrap();
    assert_eq!(ended.1.exit_status(), Some(0));
    stream.synchronize().unwrap();
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

#[test]
fn first_driver() {
    with_stub("driver::first_driver", "first driver", 12_000, 0, &[]);
}

pub(crate) fn child_first_driver() {
    assert_eq!(Device::new(0).unwrap().parameter_bytes(), 4096);
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
    assert_eq!((device.name(), device.arch(), device.driver_version()), (stub::NAME, Arch::new(9, 0), (12, 4)));
    assert_eq!(device.parameter_bytes(), 32_764);
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
    launch_with(&device);
    tensor_map(&device);
}

fn launch_with(device: &Device) {
    let two = device.load(&compiled(b"code")).unwrap().function("two").unwrap();
    assert_eq!((two.parameters(), two.parameter_bytes()), (Some([4, 8].as_slice()), None));
    let stream = device.stream().unwrap();
    let config = LaunchConfig::linear(1, 32);
    // SAFETY: the fake driver runs nothing; it compares the parameters with 7 and 4096.
    let go = |parameters: &[&[u8]]| unsafe { two.launch_with(&stream, &config, parameters) };
    let (seven, address) = (7u32.to_ne_bytes(), 4096u64.to_ne_bytes());
    go(&[&seven, &address]).unwrap();
    assert!(matches!(go(&[&address[..4], &address]), Err(Error::Launch { .. })), "the fake driver sees the values");
    for parameters in [&[][..], &[&seven[..]], &[&seven[..], &address, &address]] {
        let error = go(parameters).unwrap_err();
        assert!(matches!(error, Error::ParameterCount { expected: 2, got, .. } if got == parameters.len()), "{error}");
    }
    let error = go(&[&seven, &seven]).unwrap_err();
    assert!(matches!(error, Error::ParameterBytes { index: 1, expected: 8, got: 4, .. }), "{error}");
    // SAFETY: as above.
    let error = unsafe { two.launch(&stream, &config, &[0; 12]) }.unwrap_err();
    assert!(matches!(error, Error::ParameterCount { expected: 2, got: 1, .. }), "{error}");
    let count = allocations::during(|| (0..1000).for_each(|_| go(&[&seven, &address]).unwrap()));
    assert_eq!(count, 0, "a launch allocates nothing");
}

fn tensor_map(device: &Device) {
    let buffer = device.stream().unwrap().alloc::<u16>(80 * 99 + 72).unwrap();
    let describe =
        |size, rows, swizzle| Description::new(Element::Bf16, &[size, rows], &[160], &[64, 16], swizzle).unwrap();
    let map = TensorMap::encode(&describe(72, 100, Swizzle::Bytes128), &buffer).unwrap();
    let words: Vec<u64> =
        map.as_bytes().chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
    // Type, rank, address, sizes, stride, box, steps, interleave, swizzle, promotion, fill.
    assert_eq!(words, [9, 2, 4096, 72, 100, 160, 64, 16, 1, 1, 0, 3, 3, 0, 0, 0]);
    let error = TensorMap::encode(&describe(72, 101, Swizzle::None), &buffer).unwrap_err();
    assert!(matches!(error, Error::TensorMapReach { expected: 16_144, got: 15_984 }), "{error}");
    let error = TensorMap::encode(&describe(77, 2, Swizzle::None), &buffer).unwrap_err();
    assert!(matches!(error, Error::Driver { call: "cuTensorMapEncodeTiled", code: 1, .. }), "{error}");
    let huge = Description::new(Element::F64, &[1 << 32; 5], &[(1 << 40) - 16; 4], &[2; 5], Swizzle::None).unwrap();
    assert!(matches!(TensorMap::encode(&huge, &buffer), Err(Error::TensorMapReach { .. })));
}

fn refused_entry(device: &Device) {
    assert!(matches!(device.load(&compiled(b"X")), Err(Error::Refused { bytes: 1, .. })));
    let cache = KernelCache::in_memory();
    let source = Source { text: "#error the stored entry is refused, so this is compiled".into(), ..Source::default() };
    cache.put(&source, compiled(b"X"));
    // No NVRTC in this child's environment, or an error of compilation: in no case the refusal.
    let error = cache.load(device, &source).unwrap_err();
    assert!(matches!(error, Error::NoNvrtc { .. } | Error::Compile { .. }), "{error:?}");
    assert_eq!((cache.statistics().unusable, cache.statistics().compiles), (1, 0));

    // What is built ahead is refused, and the folder has what was compiled at an earlier start.
    let root = tempfile::tempdir().unwrap();
    KernelCache::open(root.path()).put(&source, compiled(b"code"));
    let cache = KernelCache::open(root.path());
    let refused = bundle_of([(source.key(device.arch()), compiled(b"X"))]);
    cache.add_bundle(refused.clone());
    assert_eq!(cache.load(device, &source).unwrap().1, Origin::Disk);
    assert_eq!(cache.load(device, &source).unwrap().1, Origin::Memory);
    let counted = cache.statistics();
    assert_eq!((counted.bundle, counted.unusable, counted.disk, counted.memory), (1, 1, 1, 1));
    // The folder has nothing better.
    KernelCache::open(root.path()).put(&source, compiled(b"Xtoo"));
    let cache = KernelCache::open(root.path());
    cache.add_bundle(refused);
    let error = cache.load(device, &source).unwrap_err();
    assert!(matches!(error, Error::NoNvrtc { .. } | Error::Compile { .. }), "{error:?}");
    assert_eq!(cache.statistics().unusable, 2);
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
