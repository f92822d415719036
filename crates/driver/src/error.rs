use std::{fmt::Write, path::PathBuf};

use crate::Arch;

/// What can go wrong, with the numbers and the next step.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No driver library could be opened.
    #[error("no CUDA driver on this machine ({}); install NVIDIA's driver, or run on the CPU", list(tried))]
    NoDriver {
        /// Each name tried, with the loader's answer.
        tried: Vec<String>,
    },
    /// The driver library is older than CUDA 12.0, or is no complete driver.
    #[error("the driver library {library} {}; install NVIDIA's driver 525 (CUDA 12.0) or newer", too_old(*symbol, *version))]
    DriverTooOld {
        /// The first function that is missing; `None` when only the version is too low.
        symbol: Option<&'static str>,
        /// The library that was opened.
        library: String,
        /// The CUDA version that it serves (major, minor), when it says one.
        version: Option<(i32, i32)>,
    },
    /// The driver works, and no GPU is visible.
    #[error("the CUDA driver sees no GPU; check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or run on the CPU")]
    NoDevice,
    /// There is no device with this number.
    #[error("there is no device {ordinal}: this machine has {count}, counted from 0")]
    BadOrdinal {
        /// The device asked for.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// Any other failure of a driver call. Failures of earlier work on the device can surface here.
    #[error("{call} failed: {name} ({code}), {message}{}", driver_hint(*code))]
    Driver {
        /// The function called.
        call: &'static str,
        /// The driver's result code.
        code: u32,
        /// The code's name.
        name: String,
        /// The driver's explanation.
        message: String,
    },
    /// A failure of a driver call in a process that was forked from one that had opened the driver: no GPU serves it, whatever it does.
    #[error(
        "{call} failed: no GPU serves process {process}, which was forked from {opened_by} after that had opened one; fork before, or \
         start a program (`std::process::Command`)"
    )]
    Forked {
        /// The function called.
        call: &'static str,
        /// The process that called it.
        process: u32,
        /// The process that had opened the driver.
        opened_by: u32,
    },
    /// The device lost its context in an earlier call, and with it all that was made on it.
    #[error(
        "GPU {ordinal} lost its context, and all that was there: {cause}; start the process anew, or go on with the CPU (`Device::renew` says \
         whether the driver makes another context)"
    )]
    ContextLost {
        /// The device.
        ordinal: usize,
        /// The call that failed.
        cause: Box<Error>,
    },
    /// A lost context that is still in use.
    #[error(
        "GPU {ordinal} gets no new context while {objects} streams, events and graphs of the lost one are there; drop them and all buffers"
    )]
    ContextInUse {
        /// The device.
        ordinal: usize,
        /// Objects that hold the old one.
        objects: usize,
    },
    /// The device has too little memory left.
    #[error(
        "out of device memory: {requested} bytes asked for, {free} of {total} free; free buffers or use smaller tiles"
    )]
    OutOfMemory {
        /// Bytes asked for.
        requested: usize,
        /// Bytes free on the device after the failure.
        free: usize,
        /// Bytes of the device.
        total: usize,
    },
    /// Page-locked host memory could not be had.
    #[error("no page-locked host memory for {requested} bytes; use smaller buffers or raise `ulimit -l`")]
    OutOfPinnedMemory {
        /// Bytes asked for.
        requested: usize,
    },
    /// A size that does not fit the address space.
    #[error("{elements} elements of {element_bytes} bytes are more than the address space holds")]
    TooLarge {
        /// Elements asked for.
        elements: usize,
        /// Bytes of one.
        element_bytes: usize,
    },
    /// Two lengths that must agree, or fit, do not.
    #[error("{what}: expected {expected}, got {got}")]
    Length {
        /// What was to be done, and in which unit.
        what: &'static str,
        /// The length that would be right.
        expected: usize,
        /// The length given.
        got: usize,
    },
    /// Two things of different devices were used together.
    #[error(
        "{what} belongs to device {got}, its partner to device {expected}; use one device's stream, buffers and modules"
    )]
    OtherDevice {
        /// What is on the other device.
        what: &'static str,
        /// The device expected.
        expected: i32,
        /// The device found.
        got: i32,
    },
    /// Refused while a graph is captured on the stream.
    #[error("{call} cannot be part of a graph; do it before or after the capture")]
    Capturing {
        /// What was refused.
        call: &'static str,
    },
    /// The module has no kernel of this name.
    #[error("{module}: no kernel named `{kernel}`; declare it `extern \"C\" __global__`")]
    NoKernel {
        /// The module's source name.
        module: String,
        /// The name asked for.
        kernel: String,
    },
    /// A parameter has not the size that the kernel declares.
    #[error("kernel `{kernel}`: parameter {index} was given {got} bytes, the kernel declares {expected}")]
    ParameterBytes {
        /// The kernel.
        kernel: String,
        /// Which parameter, counted from 0.
        index: usize,
        /// Declared bytes.
        expected: usize,
        /// Bytes given.
        got: usize,
    },
    /// The number of parameters is not the number that the kernel declares, or that a launch can take.
    #[error(
        "kernel `{kernel}` takes {expected} parameters, got {got}; give each one its bytes (`Function::launch_with`)"
    )]
    ParameterCount {
        /// The kernel.
        kernel: String,
        /// Parameters declared, or the most that there can be.
        expected: usize,
        /// Parameters given.
        got: usize,
    },
    /// Memory that does not fit a parameter of a kernel in Rust.
    #[error("kernel `{kernel}`, parameter `{parameter}`: {misfit}")]
    Operand {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Why.
        misfit: Box<crate::kernels::Misfit>,
    },
    /// A size of a kernel in Rust that it cannot have.
    #[error("kernel `{kernel}`: {what} is {got}, it must lie in 0..={limit}; split the work into several launches")]
    KernelSize {
        /// The kernel.
        kernel: &'static str,
        /// The dimension, or the number of blocks that the sizes ask for.
        what: String,
        /// The size given.
        got: i64,
        /// The largest.
        limit: i64,
    },
    /// The kernels in Rust are built for newer devices.
    #[error("the kernels in Rust need compute capability 8.0 or newer, this is {arch}; use kernels in CUDA C++ there")]
    NoRustKernels {
        /// The device.
        arch: Arch,
    },
    /// A tensor map that CUDA does not take.
    #[error("no tensor map: {0}")]
    TensorMap(#[from] tilewright_headers::tensor_map::TensorMapError),
    /// A tensor map that reaches beyond its buffer.
    #[error(
        "the tensor map reaches {expected} bytes from its start, the buffer has {got}; allocate more, or make a size or a stride smaller"
    )]
    TensorMapReach {
        /// Bytes from the first element to the end of the last.
        expected: u64,
        /// Bytes of the buffer.
        got: u64,
    },
    /// The driver or the device has no tensor maps.
    #[error("tensor maps need a device of compute capability 9.0 and a driver with `cuTensorMapEncodeTiled`, this is {arch}{}; use ordinary loads", if *has_symbol { "" } else { " and the driver lacks it" })]
    NoTensorMaps {
        /// The device.
        arch: Arch,
        /// Whether the driver has the function.
        has_symbol: bool,
    },
    /// The driver refused a launch.
    #[error(
        "kernel `{kernel}` was not launched with grid {grid:?}, block {block:?}, {shared_bytes} bytes of shared memory: {cause}"
    )]
    Launch {
        /// The kernel.
        kernel: String,
        /// Blocks.
        grid: [u32; 3],
        /// Threads of a block.
        block: [u32; 3],
        /// Dynamic shared memory, bytes.
        shared_bytes: u32,
        /// The driver's answer.
        cause: Box<Error>,
    },
    /// The driver does not take this image: it is damaged, or made for another device or a newer driver.
    #[error("{name}: the driver refuses the {bytes} byte image, {cause}")]
    Refused {
        /// The source's name.
        name: String,
        /// Size of the image.
        bytes: usize,
        /// The driver's answer.
        cause: Box<Error>,
    },
    /// NVRTC was found nowhere.
    #[error(
        "no NVRTC (CUDA's run-time compiler) on this machine; get it with `cargo xtask toolkit`. Tried: {}",
        list(tried)
    )]
    NoNvrtc {
        /// Each place, with what was wrong there.
        tried: Vec<String>,
    },
    /// A library for linear algebra was found nowhere.
    #[error(
        "no {library} on this machine; install the CUDA toolkit or `pip install {package}`, or set TILEWRIGHT_CUDA. Tried: {}",
        list(tried)
    )]
    NoLibrary {
        /// `cuBLAS` or `cuSOLVER`.
        library: &'static str,
        /// The package of PyPI that has it.
        package: &'static str,
        /// Each place, with what was wrong there.
        tried: Vec<String>,
    },
    /// A call of cuBLAS or cuSOLVER failed.
    #[error("{library}: {call} failed with {name} ({code}){}", library_hint(name))]
    Library {
        /// `cuBLAS` or `cuSOLVER`.
        library: &'static str,
        /// The function called.
        call: &'static str,
        /// The library's result code, or its `info` where that names an argument.
        code: i64,
        /// The code's name.
        name: &'static str,
    },
    /// The library that was found is older than a function that is needed.
    #[error("{library}{} lacks `{symbol}`; it is there since CUDA {since}", found.as_ref().map(|it| format!(" {it}")).unwrap_or_default())]
    OldLibrary {
        /// `cuBLAS` or `cuSOLVER`.
        library: &'static str,
        /// Its version, where that is known.
        found: Option<String>,
        /// The function.
        symbol: &'static str,
        /// The version of CUDA that first has it.
        since: &'static str,
    },
    /// A matrix on the device that is not what a call needs.
    #[error("{call}: {what} is {got}, expected {expected}")]
    Matrix {
        /// The call.
        call: &'static str,
        /// Which extent of which matrix.
        what: &'static str,
        /// The extent that would be right, or the least that would be.
        expected: usize,
        /// The extent given.
        got: usize,
    },
    /// A call of NVRTC failed, other than a compilation with errors.
    #[error("{call} failed with NVRTC result {code}{}", nvrtc_hint(*code))]
    Nvrtc {
        /// The function called.
        call: &'static str,
        /// NVRTC's result code.
        code: u32,
    },
    /// `main` has returned: what compiles now would not be used.
    #[error("the process is ending, nothing is compiled any more")]
    Ending,
    /// This NVRTC cannot compile for the device.
    #[error("{name}: NVRTC {version} does not know {arch} (it knows {known}); get another with `cargo xtask toolkit`")]
    UnknownArch {
        /// The source's name.
        name: String,
        /// The target asked for.
        arch: Arch,
        /// Targets that it knows.
        known: String,
        /// NVRTC's version.
        version: String,
    },
    /// The source does not compile. The message names the op first, then the log; the source is in a file.
    #[error("{name} does not compile ({}):\n{}", source_place(source_path.as_ref()), shortened(log))]
    Compile {
        /// The source's name.
        name: String,
        /// NVRTC's log, whole.
        log: String,
        /// Where the source was written, with options and headers; `None` if it could not be written.
        source_path: Option<PathBuf>,
    },
    /// ptxas reported C7510: tensor-core work runs serialised, several times slower than written.
    #[error(
        "{name}: ptxas serialised wgmma (C7510); take function calls and asserts out of its pipeline:\n{}",
        shortened(log)
    )]
    SerializedWgmma {
        /// The source's name.
        name: String,
        /// NVRTC's log, whole.
        log: String,
    },
    /// A text for C has a NUL byte inside.
    #[error("{name}: {what} has a NUL byte inside")]
    NulByte {
        /// The source or module.
        name: String,
        /// Which text.
        what: String,
    },
    /// `python3 -m pip` cannot be run.
    #[error(
        "cannot fetch {package}, `python3 -m pip` does not run ({reason}); install python3-pip{}",
        instead(package)
    )]
    NoPip {
        /// What was wanted.
        package: &'static str,
        /// What happened.
        reason: String,
    },
    /// pip ran and did not bring the file.
    #[error(
        "pip could not download {package} ({status}); check the network or pip's mirror settings:\n{}",
        shortened(stderr)
    )]
    Download {
        /// Package and version.
        package: String,
        /// pip's exit status.
        status: String,
        /// What pip said.
        stderr: String,
    },
    /// The downloaded file is not the one that this version of tilewright was tested with.
    #[error("{file} has SHA-256 {got}, expected {expected}; nothing was installed. Try again, or check pip's mirror")]
    Hash {
        /// The file.
        file: String,
        /// The pinned hash.
        expected: &'static str,
        /// The hash of what came.
        got: String,
    },
    /// PyPI has no wheel of a package for this kind of machine.
    #[error("there is no wheel of {package} for {host}{}", instead(package))]
    NoWheel {
        /// What was wanted.
        package: &'static str,
        /// The machine's architecture.
        host: &'static str,
    },
    /// Neither XDG_CACHE_HOME nor HOME is set.
    #[error("no cache folder: set HOME or XDG_CACHE_HOME")]
    NoCacheFolder,
    /// A bundle of compiled kernels cannot be used.
    #[error("cannot use the bundle {}: {reason}", bundle_place(path.as_ref()))]
    Bundle {
        /// The file; `None` for one that is part of the program.
        path: Option<PathBuf>,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The file system refused something.
    #[error("cannot {doing} {}: {reason}", path.display())]
    File {
        /// The verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        reason: String,
    },
}

impl Error {
    /// Whether the device's context is damaged for good, so that every later call on it fails too, whatever it is.
    pub fn is_sticky(&self) -> bool {
        match self {
            Self::Driver { code, .. } => is_sticky(*code),
            Self::Launch { cause, .. } => cause.is_sticky(),
            Self::ContextLost { .. } => true,
            _ => false,
        }
    }

    /// Whether this is the driver's answer with this code.
    pub(crate) fn is_code(&self, codes: &[u32]) -> bool {
        matches!(self, Self::Driver { code, .. } if codes.contains(code))
    }

    pub(crate) fn file(doing: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self::File { doing, path: path.into(), reason: error.to_string() }
    }
}

/// What to do without a wheel.
fn instead(package: &str) -> &'static str {
    if package.contains("nvrtc") { ", or set TILEWRIGHT_CUDA to a folder with libnvrtc" } else { "" }
}

fn list(items: &[String]) -> String {
    if items.is_empty() { "nothing".into() } else { items.join("; ") }
}

fn too_old(symbol: Option<&str>, version: Option<(i32, i32)>) -> String {
    let mut text = match version {
        Some((major, minor)) => format!("serves CUDA {major}.{minor}"),
        None => "tells no version".into(),
    };
    if let Some(symbol) = symbol {
        let _ = write!(text, " and lacks `{symbol}`");
    }
    text
}

/// Answers after which every later call of the process fails too: exceptions of a kernel (illegal address, launch timeout, assertion, stack,
/// instruction, alignment, address space, program counter, launch failure, contained), and a context or a driver that is gone.
///
/// Source: descriptions of `CUresult` in the CUDA driver API.
fn is_sticky(code: u32) -> bool {
    is_exception(code) || matches!(code, 4 | 214 | 709)
}

fn is_exception(code: u32) -> bool {
    matches!(code, 700 | 702 | 710 | 714..=719 | 721)
}

fn driver_hint(code: u32) -> &'static str {
    match code {
        code if is_exception(code) => {
            "; a kernel launched earlier is at fault and this process has lost the device: run it under compute-sanitizer"
        }
        3 | 4 | 999 | 802 | 803 => "; check `nvidia-smi`, the driver may need a restart",
        _ => "",
    }
}

fn library_hint(name: &str) -> &'static str {
    match name {
        "ALLOC_FAILED" => ", out of device memory: free buffers or use smaller matrices",
        "NOT_INITIALIZED" => ", check `nvidia-smi`; the library may be newer than the driver",
        "ARCH_MISMATCH" => ", the device lacks what the operation needs",
        _ => "",
    }
}

fn nvrtc_hint(code: u32) -> &'static str {
    match code {
        1 => ", out of memory",
        5 => ", an option that it does not know: see Source::options",
        7 => ", its libnvrtc-builtins is missing or of another version: run `cargo xtask toolkit`",
        _ => "",
    }
}

fn bundle_place(path: Option<&PathBuf>) -> String {
    path.map_or("in this program (`include_bundle!`)".into(), |path| path.display().to_string())
}

fn source_place(path: Option<&PathBuf>) -> String {
    path.map_or("its source could not be written to disk".into(), |path| format!("source: {}", path.display()))
}

/// The first lines of a log, and how many more there are.
fn shortened(log: &str) -> String {
    const LINES: usize = 60;
    let count = log.lines().count();
    let mut text = log.lines().take(LINES).collect::<Vec<_>>().join("\n");
    if count > LINES {
        let _ = write!(text, "\n... and {} more lines, in the error's `log`", count - LINES);
    }
    text
}
