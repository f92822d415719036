//! What can go wrong between a kernel's text and its result.

use std::path::PathBuf;

/// Why kernels could not be compiled or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No C++ compiler answers.
    #[error("the host model needs a C++ compiler: none of $CXX, c++, g++ and clang++ answers")]
    NoCompiler,
    /// Sanitizers were asked for in a process that does not carry their runtime.
    #[error(
        "sanitizers need their runtime in the process: start it with LD_PRELOAD=$(c++ -print-file-name=libasan.so)"
    )]
    NoSanitizer,
    /// A file could not be written or a process not started.
    #[error("the host model cannot {action} {}: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or program.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: std::io::Error,
    },
    /// A source in which no `__global__ void NAME(` was found.
    #[error("source {source_index} ({name}) holds no kernel: expected `__global__ void NAME(`")]
    NoKernel {
        /// The source's position.
        source_index: usize,
        /// The source's name.
        name: String,
    },
    /// The C++ compiler refused a source.
    #[error("{compiler} refused a kernel; its first errors:
{errors}the source is kept: {}", folder.join(file).display())]
    Compile {
        /// The compiler's program.
        compiler: String,
        /// Its first errors, each with the line that it shows.
        errors: String,
        /// The temporary folder with all sources, which is kept: the caller's to remove.
        folder: PathBuf,
        /// The refused source's file in that folder; empty where no error names one.
        file: String,
    },
    /// The compiled library could not be loaded.
    #[error("the compiled kernels cannot be loaded: {0}")]
    Load(#[from] libloading::Error),
    /// A launch of a kernel that is not there.
    #[error("source {source_index} has no kernel {kernel}; it has: {}", known.join(", "))]
    UnknownKernel {
        /// The source's position.
        source_index: usize,
        /// The kernel asked for.
        kernel: String,
        /// The kernels of that source; none for an unknown source.
        known: Vec<String>,
    },
    /// The parameter's bytes are not as many as the kernel's struct has.
    #[error("kernel {kernel} takes a parameter of {expected} bytes, got {got}")]
    ParameterBytes {
        /// The kernel.
        kernel: String,
        /// `sizeof` its parameter.
        expected: u64,
        /// The length given.
        got: u64,
    },
    /// The kernel takes more or fewer parameters.
    #[error("kernel {kernel} takes {expected} parameters, got {got}")]
    ParameterCount {
        /// The kernel.
        kernel: String,
        /// How many it takes.
        expected: u64,
        /// How many were given.
        got: u64,
    },
    /// A size of the launch is outside CUDA's limits.
    #[error("kernel {kernel}: {what} is {got}, allowed is {low} to {high}")]
    Limit {
        /// The kernel.
        kernel: String,
        /// Which size.
        what: &'static str,
        /// The size given.
        got: u64,
        /// The smallest allowed.
        low: u64,
        /// The largest allowed.
        high: u64,
    },
    /// No thread of a block can go on. The text says which thread waits, for what and where.
    #[error("kernel {kernel} is deadlocked: {text}")]
    Deadlock {
        /// The kernel.
        kernel: String,
        /// Block, thread, operation, `file:line`, and what the others do.
        text: String,
    },
    /// The kernel broke a rule that the GPU does not check, such as writing past its shared memory.
    #[error("kernel {kernel} broke a rule: {text}")]
    Misuse {
        /// The kernel.
        kernel: String,
        /// Block, thread and rule.
        text: String,
    },
}
