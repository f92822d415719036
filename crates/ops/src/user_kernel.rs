//! [`Kernel`]: a user's own CUDA kernel, compiled once, launched with arguments that are checked.

use crate::device::{Gpu, kernels};
use crate::error::Error;
use crate::interface::Interface;
use crate::launches::{self, Known, LaunchKind};
use crate::manifest::{OwnKernel, recorder};
use crate::raw;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tilewright_driver::{
    self as driver, Arch, Arguments, Compiled, Function, LaunchConfig, Module, Origin, Source, Stream, TargetKind,
};

/// CUDA's limits of a grid; those of a block are the kernel's.
const MOST_BLOCKS: [u64; 3] = [(1 << 31) - 1, 65_535, 65_535];
/// Dynamic shared memory that needs no permission.
const FREE_SHARED_BYTES: u32 = 48 << 10;

/// A CUDA source with one kernel that is meant, and how it is compiled.
///
/// Any CUDA C++ that NVRTC takes will do. tilewright's own headers (`#include "tilewright/layout.cuh"`) are there without a path; those
/// of NVIDIA and others are found with [`include_path`](Self::include_path). The compiler gets tilewright's defaults:
/// `--std=c++17 --fmad=false -DNDEBUG`, so that a kernel gives the bits of its host model; `.option("--fmad=true")` lets it
/// contract.
#[derive(Clone, Debug)]
pub struct KernelSource<'a> {
    text: &'a str,
    entry: Option<&'a str>,
    name: Option<&'a str>,
    options: Vec<String>,
    target: TargetKind,
}

impl<'a> KernelSource<'a> {
    /// A source; `include_str!("blur.cu")` gives its text.
    pub fn new(text: &'a str) -> Self {
        KernelSource { text, entry: None, name: None, options: Vec::new(), target: TargetKind::Plain }
    }

    /// The kernel that is meant, where the source has several.
    pub fn entry(self, kernel: &'a str) -> Self {
        KernelSource { entry: Some(kernel), ..self }
    }

    /// What the source is called in messages; by default `KERNEL.cu`.
    pub fn name(self, file: &'a str) -> Self {
        KernelSource { name: Some(file), ..self }
    }

    /// A folder in which `#include` looks, such as `/usr/local/cuda/include`. A header there that changes is compiled anew
    /// ([`Source::key`]).
    pub fn include_path(self, folder: impl AsRef<Path>) -> Self {
        self.option(format!("--include-path={}", folder.as_ref().display()))
    }

    /// An option of NVRTC: `-DTILE=32`, `--maxrregcount=64`.
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Compiles for exactly this architecture (`sm_90a`), as wgmma and setmaxnreg need.
    pub fn arch_specific(self) -> Self {
        KernelSource { target: TargetKind::ArchSpecific, ..self }
    }

    /// What the kernel takes. Needs no GPU and no compiler.
    pub fn interface(&self) -> Result<Interface, Error> {
        Interface::read(self.name.or(self.entry).unwrap_or("kernel"), self.text, self.entry)
    }

    /// Compiles, or takes from the cache, for an architecture. Needs NVRTC, but no GPU.
    pub fn compile(&self, arch: Arch) -> Result<Arc<Compiled>, Error> {
        let source = self.source(&self.interface()?);
        Ok(kernels().get(&source, arch).map_err(compile_error)?.0)
    }

    /// Loads it, from the cache if it is there, for launches that nothing checks; recorded and built ahead it is like any other
    /// ([`Gpu::kernel`]).
    pub fn load(&self, device: &driver::Device) -> Result<Module, Error> {
        Ok(self.loaded(device, &self.to_source()?)?.0)
    }

    /// Records it, and loads what the compiler is given for it.
    fn loaded(&self, device: &driver::Device, source: &Source) -> Result<(Module, Origin), Error> {
        if let Some(recorder) = recorder() {
            recorder.kernel(&self.owned());
        }
        kernels().load(device, source).map_err(compile_error)
    }

    /// What a manifest says of it.
    pub(crate) fn owned(&self) -> OwnKernel {
        OwnKernel {
            name: self.name.map(str::to_owned),
            entry: self.entry.map(str::to_owned),
            text: self.text.to_owned(),
            options: self.options.clone(),
            target: self.target,
        }
    }

    /// The source that a manifest says.
    pub(crate) fn of(kernel: &'a OwnKernel) -> Self {
        KernelSource {
            text: &kernel.text,
            entry: kernel.entry.as_deref(),
            name: kernel.name.as_deref(),
            options: kernel.options.clone(),
            target: kernel.target,
        }
    }

    /// What the compiler is given.
    pub(crate) fn to_source(&self) -> Result<Source, Error> {
        Ok(self.source(&self.interface()?))
    }

    fn source(&self, interface: &Interface) -> Source {
        let headers = tilewright_headers::headers_for(interface.text()).into_iter();
        Source {
            name: self.name.map_or_else(|| format!("{}.cu", interface.kernel()), str::to_owned),
            text: interface.text().to_owned(),
            headers: headers.map(|(name, text)| (name.to_owned(), Cow::Borrowed(text))).collect(),
            options: self.options.clone(),
            target: self.target,
        }
    }
}

impl<'a> From<&'a str> for KernelSource<'a> {
    fn from(text: &'a str) -> Self {
        KernelSource::new(text)
    }
}

/// The user's file and line first, the log behind it.
fn compile_error(error: driver::Error) -> Error {
    let driver::Error::Compile { log, .. } = &error else { return error.into() };
    let first = log.lines().find_map(|line| {
        let (place, message) = line.split_once(": error: ").or_else(|| line.split_once(": catastrophic error: "))?;
        let (file, line) = place.strip_suffix(')')?.rsplit_once('(')?;
        Some((format!("{file}:{line}"), message.to_owned()))
    });
    match first {
        Some((place, first)) => Error::Compile { place, first, cause: Box::new(error) },
        None => error.into(),
    }
}

/// A user's kernel on a GPU, with how it is launched. Clones share the code.
///
/// ```no_run
/// use tilewright_dims::dims;
/// use tilewright_ops::{Device, Tensor};
/// dims! { Y, X }
/// const TRANSPOSE: &str = r#"
/// #include "tilewright/layout.cuh"
/// /*@tilewright
/// dims! { Y, X }
/// tensor!(In: const f32, [Y: 4, X: 6]);
/// tensor!(Out: f32, [X: 6, Y: 4]);
/// @tilewright*/
/// extern "C" __global__ void transpose(In in, Out out) {
///   const Y y(threadIdx.y);
///   const X x(threadIdx.x);
///   *out.at(y + x) = *in.at(y + x);
/// }"#;
///
/// let device = Device::gpu(0)?;
/// let Some(gpu) = device.as_gpu() else { return Ok(()) };
/// let kernel = gpu.kernel(TRANSPOSE)?;
/// let x = Tensor::<f32, (Y, X)>::from_vec([4, 6], (0..24).map(|i| i as f32).collect())?.to(&device)?;
/// let mut y = Tensor::<f32, (X, Y)>::zeros([6, 4], &device)?;
/// kernel.launch([1], [6, 4], (&x, &mut y))?;
/// assert_eq!(y.to_vec()?[1], 6.0);
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
///
/// # Trust
/// The arguments are checked against what the source declares; what the code does is not. Whoever launches a kernel vouches that it
/// stays inside the memory that it declares (behind a bare `float*`, inside the buffer given), as one does for C code that a
/// program links. `compute-sanitizer`, and the host model of `tilewright-headers`, test that.
#[derive(Clone, Debug)]
pub struct Kernel {
    interface: Arc<Interface>,
    function: Function,
    stream: Stream,
    origin: Origin,
    shared_bytes: u32,
    cluster: Option<[u32; 3]>,
}

impl Gpu {
    /// Compiles a user's kernel, or takes it from the cache, and loads it.
    ///
    /// # Errors
    /// Those of [`Interface::read`]; [`Error::Compile`], which begins with file and line; [`Error::Misread`] when the compiled kernel
    /// takes something else than was read; [`Error::Driver`].
    pub fn kernel<'a>(&self, source: impl Into<KernelSource<'a>>) -> Result<Kernel, Error> {
        let (start, source) = (Instant::now(), source.into());
        let interface = source.interface()?;
        let text = source.source(&interface);
        let (module, origin) = source.loaded(self.device(), &text)?;
        let function = module.function(interface.kernel())?;
        launches::built(&text, self.device().arch(), origin, function.registers(), start);
        if let Some(bytes) = function.parameters() {
            interface.confirm(bytes)?;
        }
        let (interface, stream) = (Arc::new(interface), self.stream().clone());
        Ok(Kernel { interface, function, stream, origin, shared_bytes: 0, cluster: None })
    }
}

impl Kernel {
    /// The same kernel with this much dynamic shared memory a block.
    pub fn shared_bytes(self, bytes: u32) -> Result<Kernel, Error> {
        if bytes > FREE_SHARED_BYTES {
            self.function.set_max_shared_bytes(bytes)?;
        }
        Ok(Kernel { shared_bytes: bytes, ..self })
    }

    /// The same kernel in clusters of so many blocks.
    pub fn cluster(self, blocks: impl Sides) -> Kernel {
        Kernel { cluster: Some(blocks.sides()), ..self }
    }

    /// The same kernel on another stream of its GPU. It runs behind what is queued on the streams of its arguments, and later work
    /// there runs behind it; on the GPU's own stream that costs nothing.
    pub fn stream(self, stream: &Stream) -> Kernel {
        Kernel { stream: stream.clone(), ..self }
    }

    /// What it takes.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The loaded code: registers, shared memory, occupancy.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Where the machine code came from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Queues the kernel and returns at once: `grid` blocks of `block` threads (1 to 3 sides each), and a tuple of arguments in the
    /// kernel's order.
    ///
    /// An argument is a [`Tensor`](crate::Tensor) or a [`DeviceBuffer`](driver::DeviceBuffer), as `&x` where the kernel only reads
    /// (`const`) and `&mut y` where it may write, or a value: a number, or a `bytemuck::NoUninit` struct. A tensor must have the
    /// declared dimensions, sizes and strides; a buffer, which has none, must be long enough. A launch on the GPU's own stream
    /// allocates nothing.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`] and [`Error::Argument`], with kernel, parameter and numbers; [`Error::LaunchSize`]; what the driver
    /// refuses. What goes wrong on the device later comes out of `synchronize`.
    pub fn launch(&self, grid: impl Sides, block: impl Sides, arguments: impl Arguments) -> Result<(), Error> {
        let (grid, block) = (grid.sides(), block.sides());
        self.check_sizes(grid, block)?;
        let config = LaunchConfig {
            grid,
            block,
            shared_bytes: self.shared_bytes,
            cluster: self.cluster,
            programmatic: false,
            cooperative: false,
        };
        let device = self.function.device().ordinal();
        arguments.describe(|given| {
            self.interface.check(device, self.function.parameters(), given)?;
            self.stream.in_order(given, || raw::launch_checked(&self.function, &self.stream, &config, given))
        })?;
        launches::launched(LaunchKind::Own, self.interface.kernel(), Known::Call, [grid, block]);
        Ok(())
    }

    fn check_sizes(&self, grid: [u32; 3], block: [u32; 3]) -> Result<(), Error> {
        const NAMES: [[&str; 3]; 2] = [["grid x", "grid y", "grid z"], ["block x", "block y", "block z"]];
        let most = u64::from(self.function.max_threads_per_block());
        let check = |what, got, limit| {
            let kernel = || self.interface.kernel().to_owned();
            if (1..=limit).contains(&got) {
                Ok(())
            } else {
                Err(Error::LaunchSize { kernel: kernel(), what, got, limit })
            }
        };
        for side in 0..3 {
            check(NAMES[0][side], grid[side].into(), MOST_BLOCKS[side])?;
            check(NAMES[1][side], block[side].into(), if side == 2 { 64 } else { 1024 })?;
        }
        check("threads of a block", block.iter().map(|side| u64::from(*side)).product(), most)
    }
}

/// Lengths along x, y and z: a number, or one to three of them.
pub trait Sides {
    /// All three; 1 where none is given.
    fn sides(self) -> [u32; 3];
}

impl Sides for u32 {
    fn sides(self) -> [u32; 3] {
        [self, 1, 1]
    }
}

impl Sides for [u32; 1] {
    fn sides(self) -> [u32; 3] {
        [self[0], 1, 1]
    }
}

impl Sides for [u32; 2] {
    fn sides(self) -> [u32; 3] {
        [self[0], self[1], 1]
    }
}

impl Sides for [u32; 3] {
    fn sides(self) -> [u32; 3] {
        self
    }
}
