//! The compiled library and its launches: all unsafe code of this crate.

use std::ffi::{CStr, c_int, c_void};
use std::path::Path;
use std::ptr;

use tempfile::TempDir;

use super::abi::{BoxFields, Kernel, Order, Outcome, Parameter, Request};
use super::{Error, HostModel, Launch, Schedule, unit};

type Run = unsafe extern "C" fn(*const Kernel, *const Request) -> c_int;

const LARGEST_PARAMETER: u64 = 32_764;
const LARGEST_SHARED: u64 = 232_448;
const MESSAGE_BYTES: usize = 1024;

#[derive(Debug)]
pub(super) struct Library {
    library: libloading::Library,
    run: Run,
    /// Removed with the library.
    _folder: Option<TempDir>,
}

impl Library {
    pub(super) fn open(path: &Path) -> Result<Library, Error> {
        // SAFETY: the file was made a moment ago from runtime.h and kernels; what runs on loading is the constructor of
        // `arenas`, which sets two members.
        let library = unsafe { libloading::Library::new(path) }?;
        // SAFETY: runtime.h exports this name with this signature. `run` is not called after `library` is gone: both
        // stand here.
        let run = *unsafe { library.get::<Run>(b"tilewright_host_launch\0") }?;
        Ok(Library { library, run, _folder: None })
    }

    /// Keeps the library's folder as long as the library.
    pub(super) fn beside(self, folder: TempDir) -> Library {
        Library { _folder: Some(folder), ..self }
    }

    /// Whether this process carries the address sanitizer's runtime. A library that needs it would end one that does
    /// not.
    pub(super) fn sanitizer_is_loaded() -> bool {
        let process = libloading::os::unix::Library::this();
        // SAFETY: the symbol is looked for, neither read nor called.
        unsafe { process.get::<*const c_void>(b"__asan_init\0") }.is_ok()
    }

    fn kernel(&self, source: usize, name: &str) -> Result<&Kernel, Error> {
        let symbol = unit::symbol(source, name) + "\0";
        // SAFETY: units export under this name a constant `Kernel`, which lives as long as the library.
        let kernel = unsafe { self.library.get::<*const Kernel>(symbol.as_bytes()) }?;
        // SAFETY: as above; the reference is bound to `&self`.
        Ok(unsafe { &**kernel })
    }
}

impl HostModel {
    /// Runs one kernel of source number `source` over its grid, and returns when all blocks have ended.
    ///
    /// `params`: the bytes of the kernel's parameter struct, or of several parameters laid out like a struct of them;
    /// pointers inside are the host's. Several launches may run at the same time, from several threads.
    ///
    /// # Errors
    /// [`Error::UnknownKernel`], [`Error::ParameterBytes`] and [`Error::Limit`] before anything runs;
    /// [`Error::Deadlock`] when no thread of a block can go on; [`Error::Misuse`] when the kernel breaks a rule. After
    /// the last two, what the kernel wrote until then stays written.
    ///
    /// # Safety
    /// The kernel runs as native code. Every pointer in `params` must be good for what the kernel does with it, from
    /// several threads at a time, until this returns. `params` must be initialised throughout, padding included.
    pub unsafe fn run(&self, source: usize, kernel: &str, launch: Launch, params: &[u8]) -> Result<(), Error> {
        let entry = self.entry(source, kernel)?;
        check_limits(kernel, &launch)?;
        let (expected, got) = (entry.parameter_bytes, params.len() as u64);
        if expected != got {
            return Err(Error::ParameterBytes { kernel: kernel.to_owned(), expected, got });
        }
        check(kernel, "the parameter's size", got, 0, LARGEST_PARAMETER)?;

        let (order, seed) = match launch.schedule {
            Schedule::Forward => (Order::Forward, 0),
            Schedule::Backward => (Order::Backward, 0),
            Schedule::Shuffled(seed) => (Order::Shuffled, seed),
        };
        let mut message = [0u8; MESSAGE_BYTES];
        let request = Request {
            grid: launch.grid,
            block: launch.block,
            order,
            seed,
            shared_bytes: launch.shared_bytes.into(),
            parameter: params.as_ptr().cast(),
            parameter_bytes: got,
            message: message.as_mut_ptr().cast(),
            message_bytes: MESSAGE_BYTES as u64,
        };
        // SAFETY: both structs are generated from the header; the runtime reads `parameter_bytes` bytes of the parameter, which
        // is at most what it has room for, and writes at most `message_bytes` bytes, ending in zero; sizes are within
        // its limits. What the kernel does with the parameter's pointers is the caller's promise.
        let outcome = Outcome(unsafe { (self.library.run)(ptr::from_ref(entry), &raw const request) });
        if outcome == Outcome::Done {
            return Ok(());
        }
        let text =
            CStr::from_bytes_until_nul(&message).map_or_else(|_| String::new(), |m| m.to_string_lossy().into_owned());
        let kernel = kernel.to_owned();
        Err(if outcome == Outcome::Deadlock {
            Error::Deadlock { kernel, text }
        } else {
            Error::Misuse { kernel, text }
        })
    }
}

impl HostModel {
    /// Runs a kernel of several parameters as [`HostModel::run`] does: the bytes of each, in the kernel's order. The bytes
    /// of a pointer are those of its address.
    ///
    /// # Errors
    /// Those of [`HostModel::run`]; [`Error::ParameterCount`] for more or fewer parameters than the kernel takes.
    ///
    /// # Safety
    /// As for [`HostModel::run`].
    pub unsafe fn run_with(
        &self,
        source: usize,
        kernel: &str,
        launch: Launch,
        parameters: &[&[u8]],
    ) -> Result<(), Error> {
        let entry = self.entry(source, kernel)?;
        let (expected, got) = (entry.parameter_count, parameters.len() as u64);
        if expected != got {
            return Err(Error::ParameterCount { kernel: kernel.to_owned(), expected, got });
        }
        let mut block = vec![0; usize::try_from(entry.parameter_bytes).unwrap_or(0)];
        for (index, given) in parameters.iter().enumerate() {
            // SAFETY: the table has `parameter_count` entries and lives as long as the library.
            let Parameter { offset, bytes } = unsafe { entry.parameters.add(index).read() };
            let got = given.len() as u64;
            let place = usize::try_from(offset).ok().and_then(|offset| block.get_mut(offset..)?.get_mut(..given.len()));
            match place {
                Some(place) if bytes == got => place.copy_from_slice(given),
                _ => return Err(Error::ParameterBytes { kernel: kernel.to_owned(), expected: bytes, got }),
            }
        }
        // SAFETY: the block is laid out as the kernel reads it; the rest is the caller's promise.
        unsafe { self.run(source, kernel, launch, &block) }
    }

    fn entry(&self, source: usize, kernel: &str) -> Result<&Kernel, Error> {
        let known = self.kernels(source);
        if known.iter().any(|name| name == kernel) {
            return self.library.kernel(source, kernel);
        }
        Err(Error::UnknownKernel { source_index: source, kernel: kernel.to_owned(), known: known.to_vec() })
    }
}

/// A tensor map as the host model reads it.
pub(crate) fn bytes_of(fields: BoxFields) -> [u8; 128] {
    // SAFETY: the sizes are the same, every field is a number, and none of the 128 bytes is padding: 8 * (2 + 5 + 4) + 4 * 8 + 8.
    unsafe { std::mem::transmute(fields) }
}

fn check_limits(kernel: &str, launch: &Launch) -> Result<(), Error> {
    let [grid, block] = [launch.grid, launch.block].map(|sides| sides.map(u64::from));
    check(kernel, "grid x", grid[0], 1, (1 << 31) - 1)?;
    check(kernel, "grid y", grid[1], 1, 65_535)?;
    check(kernel, "grid z", grid[2], 1, 65_535)?;
    check(kernel, "block x", block[0], 1, 1024)?;
    check(kernel, "block y", block[1], 1, 1024)?;
    check(kernel, "block z", block[2], 1, 64)?;
    check(kernel, "threads of a block", block.iter().product(), 1, 1024)?;
    check(kernel, "bytes of shared memory", launch.shared_bytes.into(), 0, LARGEST_SHARED)
}

fn check(kernel: &str, what: &'static str, got: u64, low: u64, high: u64) -> Result<(), Error> {
    if (low..=high).contains(&got) {
        return Ok(());
    }
    Err(Error::Limit { kernel: kernel.to_owned(), what, got, low, high })
}

#[cfg(test)]
mod tests {
    use std::mem::{align_of, offset_of, size_of};

    use super::*;
    use crate::host_model::{KernelSource, skip};

    /// What the C++ compiler has to agree with: sizes, alignments and places as Rust has them.
    macro_rules! asserted {
        ($($name:literal $of:ident { $($field:ident),* })*) => {
            [$(
                format!("static_assert(sizeof({}) == {});\n", $name, size_of::<$of>()),
                format!("static_assert(alignof({}) == {});\n", $name, align_of::<$of>()),
                $(format!(
                    "static_assert(__builtin_offsetof({}, {}) == {});\n",
                    $name, stringify!($field), offset_of!($of, $field)
                ),)*
            )*].concat()
        };
    }

    fn compile(assertions: &str) -> Result<HostModel, Error> {
        let kernel = "struct P { int x; };\nextern \"C\" __global__ void none(const __grid_constant__ P p) {}\n";
        let text = format!("#include \"tilewright/host/abi.h\"\n{assertions}{kernel}");
        HostModel::compile(&[KernelSource { name: "abi", text: &text }])
    }

    #[test]
    fn the_compiler_lays_out_what_rust_does() {
        if HostModel::compiler().is_none() {
            return skip("host_model::the_compiler_lays_out_what_rust_does", "no C++ compiler");
        }
        let mut assertions = asserted! {
            "tw::host::Parameter" Parameter { offset, bytes }
            "tw::host::Kernel" Kernel { call, parameter_bytes, parameters, parameter_count }
            "tw::host::Request" Request {
                grid, block, order, seed, shared_bytes, parameter, parameter_bytes, message, message_bytes
            }
            "tw::host::BoxFields" BoxFields { mark, base, sizes, strides, rank, element, span, unused }
            "tw::host::Outcome" Outcome {}
            "tw::host::Order" Order {}
        };
        for (name, value) in [("Done", Outcome::Done), ("Deadlock", Outcome::Deadlock), ("Misuse", Outcome::Misuse)] {
            assertions += &format!("static_assert((int)tw::host::Outcome::{name} == {});\n", value.0);
        }
        for (name, value) in [("Forward", Order::Forward), ("Backward", Order::Backward), ("Shuffled", Order::Shuffled)]
        {
            assertions += &format!("static_assert((unsigned)tw::host::Order::{name} == {});\n", value.0);
        }
        compile(&assertions).unwrap_or_else(|error| panic!("{error}"));

        let moved = assertions.replace("(tw::host::Request, seed) == 32", "(tw::host::Request, seed) == 28");
        assert_ne!(moved, assertions);
        assert!(compile(&moved).is_err(), "a wrong place is not noticed");
    }
}
