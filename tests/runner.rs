//! Runs a kernel on the host model and on a GPU, from one description, and hands what it wrote to one check.

use bytemuck::{NoUninit, Pod};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use tilewright_driver::{
    Arch, Device, DeviceBuffer, Error as DriverError, KernelCache, LaunchConfig, Source, TargetKind, compile, toolkit,
};
use tilewright_headers::headers_for;
use tilewright_headers::host_model::{Error, HostModel, KernelSource, Launch, Schedule, skip};
use tilewright_headers::tensor_map::TensorMap;

/// A kernel `extern "C" __global__ void <entry>(const __grid_constant__ Params p)`, and how it is launched.
pub(crate) struct Kernel<'a> {
    /// The test's name; it stands in messages and skips.
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    pub(crate) entry: &'a str,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    /// `sm_90a` features: wgmma, setmaxnreg.
    pub(crate) target: TargetKind,
}

/// A field of the kernel's `Params`, in their order.
pub(crate) enum Arg {
    /// A pointer to these bytes, which the kernel only reads.
    Read(Vec<u8>),
    /// A pointer to so many bytes, all 0xff before the launch, which the check sees.
    Written(usize),
    /// A value, aligned to its size.
    Value(Vec<u8>),
    /// A `tw::TensorMap` of the buffer that the argument at this position points to.
    Map(TensorMap, usize),
}

pub(crate) fn read<T: NoUninit>(values: &[T]) -> Arg {
    Arg::Read(bytemuck::cast_slice(values).to_vec())
}

pub(crate) fn written<T>(count: usize) -> Arg {
    Arg::Written(count * size_of::<T>())
}

pub(crate) fn value<T: NoUninit>(value: T) -> Arg {
    Arg::Value(bytemuck::bytes_of(&value).to_vec())
}

/// What the kernel wrote, in the order of the [`Arg::Written`].
pub(crate) struct Outputs(Vec<Vec<u8>>);

impl Outputs {
    pub(crate) fn get<T: Pod>(&self, number: usize) -> Vec<T> {
        self.0[number].chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
    }
}

/// Runs the kernel under every schedule of the host model, and on the GPU; `check` sees the outputs of each run, and where it
/// was. What the machine lacks is noted as a skip.
pub(crate) fn everywhere(kernel: &Kernel<'_>, args: &[Arg], check: impl Fn(&Outputs, &str)) {
    if let Some(model) = model(kernel) {
        for schedule in Schedule::ALL.into_iter().chain((2..6).map(Schedule::Shuffled)) {
            let outputs = on_host(&model, kernel, args, schedule).unwrap_or_else(|e| panic!("{schedule:?}: {e}"));
            check(&outputs, &format!("{}, host model, {schedule:?}", kernel.name));
        }
    }
    if let Some(outputs) = on_gpu(kernel, args) {
        check(&outputs, &format!("{}, GPU", kernel.name));
    }
}

/// Demands that the host model refuses the kernel, with all of `parts` in the message of some schedule.
pub(crate) fn reported(kernel: &Kernel<'_>, args: &[Arg], parts: &[&str]) {
    let Some(model) = model(kernel) else { return };
    let said: Vec<String> = Schedule::ALL
        .into_iter()
        .map(|schedule| match on_host(&model, kernel, args, schedule) {
            Ok(_) => format!("{schedule:?}: nothing"),
            Err(error) => error.to_string(),
        })
        .collect();
    let named = said.iter().any(|message| parts.iter().all(|part| message.contains(part)));
    assert!(named, "{}: expected {parts:?} in\n{}", kernel.name, said.join("\n"));
}

/// The compiled kernel. The last one of each test thread is kept, for tests that run one kernel on several inputs.
fn model(kernel: &Kernel<'_>) -> Option<Rc<HostModel>> {
    thread_local! {
        static LAST: RefCell<Option<(String, Rc<HostModel>)>> = const { RefCell::new(None) };
    }
    if HostModel::compiler().is_none() {
        skip(kernel.name, "no C++ compiler");
        return None;
    }
    let key = format!("{}\n{}", kernel.name, kernel.text);
    let kept = LAST.with_borrow(|last| last.as_ref().filter(|(of, _)| *of == key).map(|(_, model)| model.clone()));
    Some(kept.unwrap_or_else(|| {
        let source = KernelSource { name: kernel.name, text: kernel.text };
        let model = Rc::new(HostModel::compile(&[source]).unwrap_or_else(|error| panic!("{error}")));
        LAST.set(Some((key, model.clone())));
        model
    }))
}

/// The parameter block: pointers where `addresses` has them, values as they are, tensor maps as `encode` makes them.
fn block(args: &[Arg], addresses: &[u64], encode: impl Fn(&TensorMap, u64) -> [u8; 128]) -> Vec<u8> {
    let is_pointer = |arg: &Arg| matches!(arg, Arg::Read(_) | Arg::Written(_));
    let address = |position: usize| addresses[args[..position].iter().filter(|arg| is_pointer(arg)).count()];
    let (mut bytes, mut widest) = (Vec::new(), 1);
    for (position, arg) in args.iter().enumerate() {
        let field = match arg {
            Arg::Value(value) => value.clone(),
            Arg::Map(map, of) => {
                assert!(is_pointer(&args[*of]), "argument {of} is no buffer");
                encode(map, address(*of)).to_vec()
            }
            Arg::Read(_) | Arg::Written(_) => address(position).to_ne_bytes().to_vec(),
        };
        let align = field.len().next_power_of_two().min(64);
        widest = widest.max(align);
        bytes.resize(bytes.len().next_multiple_of(align), 0);
        bytes.extend(field);
    }
    bytes.resize(bytes.len().next_multiple_of(widest), 0);
    bytes
}

fn on_host(model: &HostModel, kernel: &Kernel<'_>, args: &[Arg], schedule: Schedule) -> Result<Outputs, Error> {
    // 128-byte units, so that every buffer is aligned as on the GPU.
    #[derive(Clone, Copy)]
    #[repr(C, align(128))]
    struct Line([u8; 128]);
    let lines = |bytes: usize, fill: u8| vec![Line([fill; 128]); bytes.div_ceil(128).max(1)];
    let mut buffers: Vec<(Vec<Line>, Option<usize>)> = Vec::new();
    for arg in args {
        match arg {
            Arg::Read(values) => {
                let mut memory = lines(values.len(), 0);
                for (line, part) in memory.iter_mut().zip(values.chunks(128)) {
                    line.0[..part.len()].copy_from_slice(part);
                }
                buffers.push((memory, None));
            }
            Arg::Written(bytes) => buffers.push((lines(*bytes, 0xff), Some(*bytes))),
            Arg::Value(_) | Arg::Map(..) => {}
        }
    }
    let addresses: Vec<u64> = buffers.iter_mut().map(|(memory, _)| memory.as_mut_ptr() as u64).collect();
    let launch = Launch { grid: kernel.grid, block: kernel.block, shared_bytes: kernel.shared_bytes, schedule };
    let block = block(args, &addresses, TensorMap::host_bytes);
    // SAFETY: the buffers have the sizes that the test gives and live until the launch has ended.
    unsafe { model.run(0, kernel.entry, launch, &block) }?;
    let outputs = buffers.into_iter().filter_map(|(memory, bytes)| {
        let all: Vec<u8> = memory.iter().flat_map(|line| line.0).collect();
        bytes.map(|bytes| all[..bytes].to_vec())
    });
    Ok(Outputs(outputs.collect()))
}

/// What the kernel writes on the GPU; without one, the kernel is compiled if NVRTC is there.
fn on_gpu(kernel: &Kernel<'_>, args: &[Arg]) -> Option<Outputs> {
    let source = Source {
        name: kernel.name.into(),
        text: kernel.text.into(),
        headers: headers_for(kernel.text).into_iter().map(|(n, t)| (n.to_owned(), Cow::Borrowed(t))).collect(),
        options: Vec::new(),
        target: kernel.target,
    };
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(DriverError::NoDriver { .. } | DriverError::NoDevice | DriverError::DriverTooOld { .. }) => {
            skip(&format!("{}, launch", kernel.name), "no GPU");
            match toolkit::nvrtc() {
                Ok(_) => drop(compile(&source, Arch::new(9, 0)).unwrap_or_else(|e| panic!("{}: {e}", kernel.name))),
                Err(_) => skip(&format!("{}, compile", kernel.name), "no NVRTC"),
            }
            return None;
        }
        Err(other) => panic!("{other}"),
    };
    if device.arch() < Arch::new(9, 0) && args.iter().any(|arg| matches!(arg, Arg::Map(..))) {
        skip(&format!("{}, launch", kernel.name), "no tensor maps before compute capability 9.0");
        return None;
    }
    Some(launch(&device, kernel, &source, args).unwrap_or_else(|e| panic!("{}: {e}", kernel.name)))
}

/// The map of the buffer at this address as the GPU reads it.
fn encoded(map: &TensorMap, address: u64, buffers: &[(DeviceBuffer<u8>, bool)]) -> Result<[u8; 128], DriverError> {
    let buffer = buffers.iter().map(|(buffer, _)| buffer).find(|buffer| buffer.device_ptr() == address);
    let encoded = tilewright_driver::TensorMap::encode(map, buffer.expect("the address of a buffer"))?;
    Ok(*encoded.as_bytes())
}

fn launch(device: &Device, kernel: &Kernel<'_>, source: &Source, args: &[Arg]) -> Result<Outputs, DriverError> {
    let (module, _) = KernelCache::in_memory().load(device, source)?;
    let function = module.function(kernel.entry)?;
    if kernel.shared_bytes > 48 << 10 {
        function.set_max_shared_bytes(kernel.shared_bytes)?;
    }
    let stream = device.stream()?;
    let mut buffers: Vec<(DeviceBuffer<u8>, bool)> = Vec::new();
    for arg in args {
        match arg {
            Arg::Read(values) => buffers.push((stream.upload(values.as_slice())?, false)),
            Arg::Written(bytes) => {
                let buffer = stream.alloc::<u8>(*bytes)?;
                buffer.fill_bytes(0xff)?;
                buffers.push((buffer, true));
            }
            Arg::Value(_) | Arg::Map(..) => {}
        }
    }
    let addresses: Vec<u64> = buffers.iter().map(|(buffer, _)| buffer.device_ptr()).collect();
    let encode = |map: &TensorMap, address| encoded(map, address, &buffers).unwrap_or_else(|e| panic!("{e}"));
    let block = block(args, &addresses, encode);
    let (grid, block_size, shared_bytes) = (kernel.grid, kernel.block, kernel.shared_bytes);
    let config =
        LaunchConfig { grid, block: block_size, shared_bytes, cluster: None, programmatic: false, cooperative: false };
    // SAFETY: the buffers have the sizes that the test gives, and are read below, behind the launch on the same stream.
    unsafe { function.launch(&stream, &config, &block) }?;
    stream.synchronize()?;
    let written = buffers.iter().filter(|(_, written)| *written);
    Ok(Outputs(written.map(|(buffer, _)| buffer.to_vec()).collect::<Result<_, _>>()?))
}
