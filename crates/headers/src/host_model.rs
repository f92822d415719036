//! Runs CUDA kernels without a GPU: the system's C++ compiler builds them over a shim, each CUDA thread is a fiber.
//!
//! It is a test tool. Each block runs on one OS thread, on as many cores as the launch is worth; its threads are
//! resumed in the order of a [`Schedule`] and run until they wait or end. So a kernel that lacks a barrier gives wrong
//! results under some schedule, and one whose barrier not every thread reaches is reported as a deadlock, with the
//! line. Accesses to shared memory that the kernel tells of (typed views, primitives of `arch/`) are watched: races, early
//! reads and accesses to where a copy is in flight are reported with both lines; README.md lists what is seen.
//!
//! What a kernel must keep to: the source starts with `#include` lines of [`crate::device_headers`]; a kernel is
//! `extern "C" __global__ void NAME(..)`, with one struct by value ([`HostModel::run`]) or with several values and
//! pointers ([`HostModel::run_with`]); declaration blocks are replaced before
//! ([`layout::expand`](crate::layout::expand)); shared memory is the one dynamic buffer, `tw::host::shared_memory()`
//! here. The shim has no function whose bits would differ from the GPU's (`expf`, `sinf`). A thread that spins until
//! another thread of its block stores something never ends, unless it calls `__nanosleep`; neither does a block that
//! waits for one that has not started.
//!
//! ```
//! use tilewright_headers::host_model::{HostModel, KernelSource, Launch, Schedule, skip};
//!
//! let text = r#"
//! #include "tilewright/prelude.cuh"
//! struct Params { const float* x; float* y; int n; };
//! extern "C" __global__ void twice(const __grid_constant__ Params p) {
//!   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//!   if (i < p.n) p.y[i] = 2.0f * p.x[i];
//! }"#;
//!
//! #[repr(C)]
//! struct Params(*const f32, *mut f32, i32, i32);
//!
//! if HostModel::compiler().is_none() {
//!     skip("host_model example", "no C++ compiler");
//!     return Ok::<(), Box<dyn std::error::Error>>(());
//! }
//! let model = HostModel::compile(&[KernelSource { name: "twice", text }])?;
//! let (x, mut y) = ([1.0f32, 2.0, 3.0], [f32::NAN; 3]);
//! let params = Params(x.as_ptr(), y.as_mut_ptr(), 3, 0);
//! // SAFETY: Params has no padding.
//! let bytes = unsafe { std::slice::from_raw_parts((&raw const params).cast::<u8>(), size_of::<Params>()) };
//! let launch = Launch { grid: [2, 1, 1], block: [2, 1, 1], shared_bytes: 0, schedule: Schedule::Backward };
//! // SAFETY: the pointers are good for 3 elements, the kernel stays below p.n.
//! unsafe { model.run(0, "twice", launch, bytes)? };
//! assert_eq!(y, [2.0, 4.0, 6.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod abi;
mod compiler;
mod error;
mod library;
mod unit;

use std::io::Write as _;
use std::sync::OnceLock;

pub use compiler::Compiler;
pub use error::Error;

pub(crate) use abi::BoxFields;
use library::Library;
pub(crate) use library::bytes_of;
use unit::Source;

/// One CUDA source text; it may hold several kernels. Two sources may define the same names.
#[derive(Clone, Copy, Debug)]
pub struct KernelSource<'a> {
    /// Used for the file's name, so it shows in the compiler's errors and in the places that a deadlock names.
    pub name: &'a str,
    /// CUDA C++, starting with its `#include` lines.
    pub text: &'a str,
}

/// The order in which the threads of a block, and the blocks of a grid, are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// From the first to the last.
    Forward,
    /// From the last to the first.
    Backward,
    /// Shuffled anew after every barrier; the seed alone decides.
    Shuffled(u64),
}

impl Schedule {
    /// One of each kind: what a test runs a kernel under.
    pub const ALL: [Schedule; 3] = [Schedule::Forward, Schedule::Backward, Schedule::Shuffled(1)];
}

/// The shape of a launch. CUDA's limits hold: at most 1024 threads a block, 232,448 bytes of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Size of the block's dynamic shared memory. Every byte is 0xff when a block starts: a NaN, a -1.
    pub shared_bytes: u32,
    /// The order of blocks and threads.
    pub schedule: Schedule,
}

/// A set of kernels, compiled and loaded.
#[derive(Debug)]
pub struct HostModel {
    library: Library,
    sources: Vec<Source>,
}

impl HostModel {
    /// This machine's C++ compiler: `$CXX`, `c++`, `g++` or `clang++`, the first that answers; `None` without one.
    ///
    /// Looked for once in a process.
    pub fn compiler() -> Option<Compiler> {
        static FOUND: OnceLock<Option<Compiler>> = OnceLock::new();
        FOUND.get_or_init(Compiler::find).clone()
    }

    /// Compiles all kernels of `sources` into one library and loads it.
    ///
    /// Sources are compiled in batches, on all cores: hand over many at once.
    ///
    /// # Errors
    /// [`Error::NoCompiler`]; [`Error::NoKernel`] for a source without a kernel; [`Error::Compile`] with the compiler's
    /// first errors and the path of the refused source, which is kept; [`Error::Io`] and [`Error::Load`].
    pub fn compile(sources: &[KernelSource<'_>]) -> Result<HostModel, Error> {
        HostModel::compile_with(&HostModel::compiler().ok_or(Error::NoCompiler)?, sources)
    }

    /// [`HostModel::compile`] with a given compiler, say one [with sanitizers](Compiler::with_sanitizers).
    ///
    /// # Errors
    /// Those of [`HostModel::compile`], and [`Error::NoSanitizer`].
    pub fn compile_with(compiler: &Compiler, sources: &[KernelSource<'_>]) -> Result<HostModel, Error> {
        if compiler.sanitizes() && !Library::sanitizer_is_loaded() {
            return Err(Error::NoSanitizer);
        }
        let sources: Vec<Source> =
            sources.iter().enumerate().map(|(i, s)| Source::read(i, s)).collect::<Result<_, _>>()?;
        let (folder, units) = unit::write(&sources)?;
        let built = compiler.build(folder.path(), units).and_then(|path| Library::open(&path));
        match built {
            // A sanitizer's report reads the library again, for its lines.
            Ok(library) if compiler.sanitizes() => Ok(HostModel { library: library.beside(folder), sources }),
            Ok(library) => Ok(HostModel { library, sources }),
            Err(error @ Error::Compile { .. }) => {
                let _ = folder.keep();
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// The names of the kernels of source number `source`, in their order; empty for an unknown source.
    pub fn kernels(&self, source: usize) -> &[String] {
        self.sources.get(source).map_or(&[], |source| &source.kernels)
    }
}

/// Notes that `test` was skipped: on standard error, and as a line `SKIP <test>: <reason>` appended to the file that
/// the environment variable `TILEWRIGHT_SKIPS` names, if it is set.
pub fn skip(test: &str, reason: &str) {
    let line = format!("SKIP {test}: {reason}\n");
    eprint!("{line}");
    let Some(path) = std::env::var_os("TILEWRIGHT_SKIPS") else { return };
    let appended = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    if let Err(error) = appended.and_then(|mut file| file.write_all(line.as_bytes())) {
        eprintln!("cannot append to {}: {error}", path.display());
    }
}
