//! On a device. The kernel is PTX by hand, so no NVRTC is needed.

use std::time::Instant;

use bytemuck::{Pod, Zeroable};
use tilewright_driver::{
    Arch, Compiled, Device, DeviceBuffer, Error, Function, KernelCache, LaunchConfig, Module, Origin, Source, Stream,
    TargetKind,
};

use crate::{allocations, compile::has_nvrtc, skip};

const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .align 8 .b8 p[16])
{
    .reg .pred %q;
    .reg .b32 %r<5>;
    .reg .f32 %f<3>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [p];
    ld.param.f32 %f0, [p+8];
    ld.param.u32 %r0, [p+12];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %q, %r4, %r0;
    @%q bra done;
    cvta.to.global.u64 %d1, %d0;
    mul.wide.u32 %d2, %r4, 4;
    add.u64 %d3, %d1, %d2;
    ld.global.f32 %f1, [%d3];
    mul.f32 %f2, %f1, %f0;
    st.global.f32 [%d3], %f2;
done:
    ret;
}
.visible .entry two(.param .u32 value, .param .u64 at)
{
    .reg .b32 %r<1>;
    .reg .b64 %d<2>;
    ld.param.u32 %r0, [value];
    ld.param.u64 %d0, [at];
    cvta.to.global.u64 %d1, %d0;
    st.global.u32 [%d1], %r0;
    ret;
}
.visible .entry empty()
{
    ret;
}
\0";

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Scale {
    values: u64,
    factor: f32,
    count: u32,
}

/// The first device, or the test is skipped by name.
pub(crate) fn device(name: &str) -> Option<Device> {
    match Device::new(0) {
        Ok(device) => Some(device),
        Err(error @ (Error::NoDriver { .. } | Error::NoDevice | Error::DriverTooOld { .. })) => {
            skip(name, &error.to_string());
            None
        }
        Err(other) => panic!("{other}"),
    }
}

fn ptx() -> Compiled {
    Compiled {
        name: "scale".into(),
        arch: Arch::new(7, 0),
        target: TargetKind::Portable,
        compiler: (13, 0),
        kernels: Vec::new(),
        log: String::new(),
        image: PTX.into(),
    }
}

fn scale(function: &Function, stream: &Stream, values: &DeviceBuffer<f32>, factor: f32) -> Result<(), Error> {
    let count = values.len() as u32;
    let parameters = Scale { values: values.device_ptr(), factor, count };
    // SAFETY: the buffer has `count` floats and outlives the launch, which is on its stream or ordered with it.
    unsafe { function.launch(stream, &LaunchConfig::linear(count.div_ceil(128), 128), bytemuck::bytes_of(&parameters)) }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32).collect()
}

#[test]
fn properties() {
    let Some(device) = device("gpu::properties") else { return };
    eprintln!("{device:?} {:?}", device.driver_version());
    assert!(device.arch() >= Arch::new(5, 0) && device.multiprocessors() > 0 && device.l2_bytes() > 0);
    assert!(device.driver_version() >= (12, 0) && device.uuid() != [0; 16] && !device.name().is_empty());
    let (free, total) = device.memory_info().unwrap();
    assert!(free <= total && total <= device.memory_bytes() && device.shared_bytes_per_block() >= 48 << 10);
    let [threads, blocks] = device.resident();
    assert!((1024..=2048).contains(&threads) && (8..=32).contains(&blocks), "{threads} threads, {blocks} blocks");
    assert!(device.memory_bandwidth().is_none_or(|bytes| (1e10..1e14).contains(&bytes)));
    let count = Device::count().unwrap();
    assert!(matches!(Device::new(count), Err(Error::BadOrdinal { .. })));
}

#[test]
fn buffers() {
    let Some(device) = device("gpu::buffers") else { return };
    let stream = device.stream().unwrap();
    for count in [0, 1, 3, 4, 1021, 1 << 20] {
        let host = numbers(count);
        let mut buffer = stream.upload(&host).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), host);
        assert!(buffer.device_ptr() % 256 == 0 && buffer.allocated_bytes() % 16 == 0);
        let mut copy = stream.alloc_zeroed::<f32>(count).unwrap();
        assert_eq!(copy.to_vec().unwrap(), vec![0.0; count]);
        copy.copy_from_buffer(&stream, &buffer).unwrap();
        buffer.fill_bytes(0xff).unwrap();
        assert!(buffer.to_vec().unwrap().iter().all(|value| value.to_bits() == u32::MAX));
        assert_eq!(copy.to_vec().unwrap(), host);
        buffer.copy_from_slice(&host).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), host);
        assert!(matches!(buffer.copy_from_slice(&vec![0.0; count + 1]), Err(Error::Length { .. })));
    }
}

#[test]
fn pool_keeps_memory() {
    let Some(device) = device("gpu::pool_keeps_memory") else { return };
    let stream = device.stream().unwrap();
    // What is given back stays reserved: as much is free after as was free while it was held. Large, so that what other tests
    // do meanwhile does not hide it.
    let bytes = 4 << 30;
    let free = || device.memory_info().unwrap().0;
    let buffer = stream.alloc::<u8>(bytes).unwrap();
    stream.synchronize().unwrap();
    let held = free();
    drop(buffer);
    stream.synchronize().unwrap();
    let given_back = free().saturating_sub(held);
    assert!(given_back < bytes / 2, "{given_back} of {bytes} bytes went back to the system");
}

#[test]
fn out_of_memory() {
    let Some(device) = device("gpu::out_of_memory") else { return };
    let stream = device.stream().unwrap();
    let asked = device.memory_bytes() * 2;
    let error = stream.alloc::<u8>(asked).unwrap_err();
    let Error::OutOfMemory { requested, free, total } = error else { panic!("{error:?}") };
    assert!(requested == asked && free <= total && total <= device.memory_bytes());
    assert!(matches!(stream.alloc::<f64>(usize::MAX / 4), Err(Error::TooLarge { .. })));
    assert_eq!(stream.upload(&[1u8, 2, 3]).unwrap().to_vec().unwrap(), [1, 2, 3], "the device still works");
}

#[test]
fn pinned_copies_are_guarded() {
    let Some(device) = device("gpu::pinned_copies_are_guarded") else { return };
    let (up, down) = (device.stream().unwrap(), device.stream().unwrap());
    let count = 8 << 20;
    let host = numbers(count);
    let mut pinned = device.pinned::<f32>(count).unwrap();
    assert!(pinned.iter().all(|value| *value == 0.0));
    pinned.copy_from_slice(&host);
    let mut buffer = up.alloc::<f32>(count).unwrap();
    buffer.copy_from_pinned(&up, &pinned).unwrap();
    pinned.fill(-1.0); // waits until the copy has read
    down.wait(&up.record().unwrap()).unwrap();
    let mut back = device.pinned::<f32>(count).unwrap();
    buffer.copy_to_pinned(&down, &mut back).unwrap();
    assert!(back[..] == host[..], "reading waits until the copy has written");
    // The start of both alone.
    back[..5].fill(7.0);
    buffer.copy_from_pinned_start(&up, &back, 3).unwrap();
    let start = buffer.to_vec().unwrap();
    assert!(start[..3] == [7.0; 3] && start[3..] == host[3..]);
    assert!(matches!(buffer.copy_from_pinned_start(&up, &back, count + 1), Err(Error::Length { .. })));
    back.copy_from_slice(&host);
    // Two streams at once from one buffer, then drop: each waits.
    let mut other = down.alloc::<f32>(count).unwrap();
    buffer.copy_from_pinned(&up, &back).unwrap();
    other.copy_from_pinned(&down, &back).unwrap();
    drop(back);
    assert!(other.to_vec().unwrap() == host && buffer.to_vec().unwrap() == host);
}

#[test]
fn events() {
    let Some(device) = device("gpu::events") else { return };
    let stream = device.stream().unwrap();
    let buffer = stream.alloc::<u8>(64 << 20).unwrap();
    let start = stream.record().unwrap();
    (0..20).for_each(|_| buffer.fill_bytes(1).unwrap());
    let end = stream.record().unwrap();
    end.synchronize().unwrap();
    assert!(start.is_done().unwrap() && end.is_done().unwrap());
    let ms = end.elapsed_ms_since(&start).unwrap();
    assert!(ms > 0.01 && ms < 1000.0, "{ms}");
}

#[test]
fn launches() {
    let Some(device) = device("gpu::launches") else { return };
    let stream = device.stream().unwrap();
    let module = device.load(&ptx()).unwrap();
    let function = module.function("scale").unwrap();
    assert!(function.registers() > 0 && function.max_threads_per_block() >= 128);
    assert!(function.blocks_per_multiprocessor(128, 0).unwrap() > 0);
    let host = numbers(1021);
    let values = stream.upload(&host).unwrap();
    scale(&function, &stream, &values, 2.0).unwrap();
    assert!(values.to_vec().unwrap().iter().zip(&host).all(|(got, from)| *got == from * 2.0));

    // SAFETY: none of these reaches the device, except the empty kernel.
    let launch =
        |function: &Function, config: &LaunchConfig, block: &[u8]| unsafe { function.launch(&stream, config, block) };
    let error = launch(&function, &LaunchConfig::linear(1, 1 << 20), &[0; 16]).unwrap_err();
    assert!(matches!(error, Error::Launch { block: [1_048_576, 1, 1], .. }), "{error:?}");
    assert!(matches!(launch(&function, &LaunchConfig::linear(0, 1), &[0; 16]), Err(Error::Launch { .. })));
    if let Some(expected) = function.parameter_bytes() {
        assert_eq!(expected, 16);
        assert!(matches!(launch(&function, &LaunchConfig::linear(1, 1), &[0; 8]), Err(Error::ParameterBytes { .. })));
    }
    several_parameters(&module, &stream);
    assert!(matches!(module.function("absent"), Err(Error::NoKernel { .. })));

    let empty = module.function("empty").unwrap();
    let config = LaunchConfig { programmatic: device.arch() >= Arch::new(9, 0), ..LaunchConfig::linear(1, 32) };
    launch(&empty, &config, &[]).unwrap();
    if device.arch() >= Arch::new(9, 0) {
        launch(&empty, &LaunchConfig { cluster: Some([2, 1, 1]), ..LaunchConfig::linear(4, 32) }, &[]).unwrap();
    }
    stream.synchronize().unwrap();
    let config = LaunchConfig::linear(1, 32);
    let (bursts, burst) = (50, 100);
    let time = |_| {
        stream.synchronize().unwrap();
        let start = Instant::now();
        let count = allocations::during(|| (0..burst).for_each(|_| launch(&empty, &config, &[]).unwrap()));
        assert_eq!(count, 0, "a launch allocates nothing");
        start.elapsed().as_nanos() / burst
    };
    eprintln!("a launch: {} ns", (0..bursts).map(time).min().unwrap());
    function.set_max_shared_bytes(device.shared_bytes_per_block()).unwrap();
    assert!(function.set_max_shared_bytes(device.shared_bytes_per_block() + 1).is_err());
}

fn several_parameters(module: &Module, stream: &Stream) {
    let (two, target) = (module.function("two").unwrap(), stream.alloc_zeroed::<u32>(2).unwrap());
    let (value, at) = (0xfeed_beefu32.to_ne_bytes(), (target.device_ptr() + 4).to_ne_bytes());
    let config = LaunchConfig::linear(1, 1);
    // SAFETY: the address is that of the buffer's second element, whose stream it is.
    let go = |parameters: &[&[u8]]| unsafe { two.launch_with(stream, &config, parameters) };
    go(&[&value, &at]).unwrap();
    assert_eq!(target.to_vec().unwrap(), [0, 0xfeed_beef]);
    if let Some(declared) = two.parameters() {
        assert_eq!(declared, [4, 8]);
        assert!(matches!(go(&[&value]), Err(Error::ParameterCount { expected: 2, got: 1, .. })));
        assert!(matches!(go(&[&at, &at]), Err(Error::ParameterBytes { index: 0, expected: 4, got: 8, .. })));
        // SAFETY: it is refused.
        let one = unsafe { two.launch(stream, &config, &[0; 16]) };
        assert!(matches!(one, Err(Error::ParameterCount { expected: 2, got: 1, .. })));
    }
}

#[test]
fn graphs() {
    let Some(device) = device("gpu::graphs") else { return };
    let stream = device.stream().unwrap();
    let function = device.load(&ptx()).unwrap().function("scale").unwrap();
    let values = stream.upload(&[1.0f32; 100]).unwrap();
    let (graph, result) = stream.capture(|| (0..3).try_for_each(|_| scale(&function, &stream, &values, 2.0))).unwrap();
    result.unwrap();
    assert_eq!(values.to_vec().unwrap(), [1.0; 100], "captured, not run");
    graph.launch(&stream).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(values.to_vec().unwrap(), [64.0; 100]);

    let mut pinned = device.pinned::<f32>(100).unwrap();
    let (_, refused) = stream
        .capture(|| {
            (stream.alloc::<u8>(1).err(), values.to_vec().err(), values.copy_to_pinned(&stream, &mut pinned).err())
        })
        .unwrap();
    for error in [refused.0, refused.1, refused.2] {
        assert!(matches!(error, Some(Error::Capturing { .. })), "{error:?}");
    }
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| stream.capture(|| panic!("inside"))));
    assert!(panicked.is_err());
    assert_eq!(values.to_vec().unwrap(), [64.0; 100], "the stream is out of capture");
}

#[test]
fn threads_share_a_device() {
    let Some(device) = device("gpu::threads_share_a_device") else { return };
    let function = device.load(&ptx()).unwrap().function("scale").unwrap();
    std::thread::scope(|scope| {
        for thread in 1..9 {
            let function = &function;
            scope.spawn(move || {
                let stream = device.stream().unwrap();
                let values = stream.upload(&[1.0f32; 1000]).unwrap();
                (0..100).for_each(|_| scale(function, &stream, &values, -1.0).unwrap());
                scale(function, &stream, &values, thread as f32).unwrap();
                assert_eq!(values.to_vec().unwrap(), [thread as f32; 1000]);
            });
        }
    });
}

#[test]
fn refused_images() {
    let Some(device) = device("gpu::refused_images") else { return };
    let elf = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 100]].concat();
    for image in
        [b"not a cubin".to_vec(), elf, b"\x7fELF".to_vec(), vec![0], b".version 99.0\n.target sm_999\n\0".to_vec()]
    {
        let error = device.load(&Compiled { image, ..ptx() }).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error:?}");
    }
    if !has_nvrtc("gpu::refused_images (eviction)") {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    let source = Source { name: "k".into(), text: "extern \"C\" __global__ void k() {}".into(), ..Source::default() };
    let bad = Compiled { arch: device.arch(), target: TargetKind::Plain, image: b"bad".to_vec(), ..ptx() };
    KernelCache::open(&folder).put(&source, bad);
    let cache = KernelCache::open(&folder);
    assert!(matches!(cache.load(&device, &source).unwrap().1, Origin::Compiled { .. }), "a refused entry is a miss");
    assert_eq!(cache.load(&device, &source).unwrap().1, Origin::Memory);
    let (module, origin) = KernelCache::open(&folder).load(&device, &source).unwrap();
    assert_eq!(origin, Origin::Disk);
    module.function("k").unwrap();
}
