//! Every unsafe line of the crate stands in this folder: two tables of foreign functions, thin checked owners of what
//! the driver hands out, and mapped files.
//!
//! cudarc gives the types and the signatures; its own loaders are not called. They open whatever `dlopen` finds by name,
//! which need not be the library that was looked at, and panic on a missing symbol. A table is filled from one library or
//! not at all, and the compiler compares each row with cudarc's binding. Results are plain `u32`: cudarc's enum would be
//! undefined behaviour with the code of a newer driver.

use std::{
    ffi::{CStr, OsStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void},
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use cudarc::driver::sys::*;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::Error;

macro_rules! table {
    ($table:ident: $sys:path, $result:ty { $($name:ident($($argument:ty),*);)* }) => {
        #[allow(non_snake_case)]
        struct $table { $($name: unsafe extern "C" fn($($argument),*) -> u32,)* }

        impl $table {
            #[allow(dead_code, reason = "only the driver's are asked for")]
            const SYMBOLS: &'static [&'static str] = &[$(stringify!($name)),*];

            fn resolve(library: &Library) -> Result<Self, &'static str> {
                // SAFETY: each pointer gets the signature that cudarc generated for this symbol (compared below); its
                // result enum is `repr(u32)`, so the integer has the same ABI.
                Ok(Self { $($name: unsafe { *library.get(stringify!($name)).map_err(|_| stringify!($name))? },)* })
            }
        }

        const _: () = { use $sys::*; $(let _: unsafe fn($($argument),*) -> $result = $name;)* };
    };
}

/// Calls a function of a table and turns a code other than 0 into an error.
macro_rules! cu {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $driver.check(stringify!($name), ($driver.table.$name)($($argument),*))
    };
}

// Below the macros, which the modules use.
mod blas;
mod compiler;
mod context;
mod declared;
mod kernel;
mod map;
mod memory;
mod pool;
mod rows;
mod solver;
mod spare;
mod stream;
mod tensor_map;

pub(crate) use blas::{Blas, BlasLibrary, Gemm};
pub(crate) use compiler::{Compiler, preload};
pub(crate) use context::{Context, Held};
pub(crate) use declared::launch_declared;
pub(crate) use kernel::{Function, MOST_PARAMETER_BYTES, Module};
pub(crate) use map::Map;
pub(crate) use memory::{Memory, Pinned};
pub(crate) use solver::{Solver, SolverLibrary};
pub(crate) use stream::{Event, Graph, Stream};
pub(crate) use tensor_map::{EncodeTiled, encode_tiled};

table!(Table: cudarc::driver::sys, CUresult {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceGetAttribute(*mut c_int, CUdevice_attribute, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDeviceGetUuid_v2(*mut CUuuid, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuDevicePrimaryCtxGetState(CUdevice, *mut c_uint, *mut c_int);
    cuCtxSetCurrent(CUcontext);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuDeviceGetDefaultMemPool(*mut CUmemoryPool, CUdevice);
    cuMemPoolTrimTo(CUmemoryPool, usize);
    cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, *mut c_void);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamDestroy_v2(CUstream);
    cuStreamSynchronize(CUstream);
    cuStreamWaitEvent(CUstream, CUevent, c_uint);
    cuStreamIsCapturing(CUstream, *mut CUstreamCaptureStatus);
    cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
    cuStreamEndCapture(CUstream, *mut CUgraph);
    cuEventCreate(*mut CUevent, c_uint);
    cuEventDestroy_v2(CUevent);
    cuEventRecord(CUevent, CUstream);
    cuEventSynchronize(CUevent);
    cuEventQuery(CUevent);
    cuMemAllocAsync(*mut CUdeviceptr, usize, CUstream);
    cuMemFreeAsync(CUdeviceptr, CUstream);
    cuMemsetD8Async(CUdeviceptr, c_uchar, usize, CUstream);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream);
    cuMemcpy2DAsync_v2(*const CUDA_MEMCPY2D, CUstream);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuPointerGetAttribute(*mut c_void, CUpointer_attribute, CUdeviceptr);
    cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, c_ulonglong);
    cuGraphDestroy(CUgraph);
    cuGraphExecDestroy(CUgraphExec);
    cuGraphLaunch(CUgraphExec, CUstream);
    cuModuleLoadData(*mut CUmodule, *const c_void);
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuFuncGetAttribute(*mut c_int, CUfunction_attribute, CUfunction);
    cuFuncSetAttribute(CUfunction, CUfunction_attribute, c_int);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, CUfunction, c_int, usize);
    cuLaunchKernelEx(*const CUlaunchConfig, CUfunction, *mut *mut c_void, *mut *mut c_void);
});

/// Symbols whose signature is written by hand: cudarc's binding has an enum where any code may come, or is newer than CUDA 12.0.
const BY_HAND: [&str; 3] = ["cuGetErrorName", "cuGetErrorString", "cuEventElapsedTime"];

type ErrorText = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;

/// The driver library with every function that tilewright calls.
pub(crate) struct Driver {
    table: Table,
    error_name: ErrorText,
    error_string: ErrorText,
    elapsed: unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> u32,
    parameter_info: Option<unsafe extern "C" fn(CUfunction, usize, *mut usize, *mut usize) -> u32>,
    encode_tiled: Option<EncodeTiled>,
}

pub(crate) enum Unusable {
    /// The loader's own words.
    NotOpened(String),
    Lacks {
        symbol: &'static str,
        version: Option<i32>,
    },
}

fn open(file: &OsStr, flags: c_int) -> Result<Library, String> {
    // SAFETY: the file is NVIDIA's library (or what the user named in its place); its initialisers are as safe as the
    // program's own start-up.
    let opened = unsafe { Library::open(Some(file), flags) };
    // The loader's own words are the error's source.
    opened.map_err(|error| std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string))
}

impl Driver {
    /// All symbols that must be there.
    pub(crate) fn symbols() -> impl Iterator<Item = &'static str> {
        Table::SYMBOLS.iter().copied().chain(BY_HAND)
    }

    pub(crate) fn open(file: &OsStr) -> Result<Self, Unusable> {
        let library = open(file, RTLD_NOW | RTLD_LOCAL).map_err(Unusable::NotOpened)?;
        let lacks = |symbol| Unusable::Lacks { symbol, version: version_of(&library) };
        let table = Table::resolve(&library).map_err(lacks)?;
        let missing = |index: usize| move |_| BY_HAND[index];
        // SAFETY: signatures from cuda.h of CUDA 12.0; CUresult travels as the 32-bit integer that it is.
        let by_hand = unsafe {
            let error_name = library.get::<ErrorText>(BY_HAND[0]).map_err(missing(0)).map_err(lacks)?;
            let error_string = library.get::<ErrorText>(BY_HAND[1]).map_err(missing(1)).map_err(lacks)?;
            (*error_name, *error_string, *library.get(BY_HAND[2]).map_err(missing(2)).map_err(lacks)?)
        };
        // SAFETY: signature from cuda.h of CUDA 12.4, where this function first appears.
        let parameter_info = unsafe { library.get("cuFuncGetParamInfo") }.ok().map(|symbol| *symbol);
        // SAFETY: the signature is compared with cudarc's binding in tensor_map.rs. Drivers whose table is complete have it, but
        // only tensor maps need it.
        let encode_tiled = unsafe { library.get("cuTensorMapEncodeTiled") }.ok().map(|symbol| *symbol);
        std::mem::forget(library); // the pointers above live as long as the process
        let (error_name, error_string, elapsed) = by_hand;
        Ok(Self { table, error_name, error_string, elapsed, parameter_info, encode_tiled })
    }

    fn text(&self, read: ErrorText, code: u32) -> String {
        let mut text = ptr::null();
        // SAFETY: the out pointer is valid; the driver sets it to a static string, or to null for an unknown code.
        let found = unsafe { read(code, &mut text) == 0 && !text.is_null() };
        // SAFETY: not null, so a static NUL-terminated string.
        if found { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() } else { "unknown".into() }
    }

    #[inline]
    fn check(&self, call: &'static str, code: u32) -> Result<(), Error> {
        if code == 0 { Ok(()) } else { Err(self.failure(call, code)) }
    }

    #[cold]
    fn failure(&self, call: &'static str, code: u32) -> Error {
        let (process, opened_by) = (std::process::id(), OPENED_BY.load(Ordering::Relaxed));
        if opened_by != 0 && opened_by != process {
            return Error::Forked { call, process, opened_by };
        }
        let error = Error::Driver {
            call,
            code,
            name: self.text(self.error_name, code),
            message: self.text(self.error_string, code),
        };
        if error.is_sticky() {
            context::lose_current(&error);
        }
        error
    }

    /// `1000 * major + 10 * minor` of the newest CUDA that this driver serves.
    pub(crate) fn version(&self) -> Result<i32, Error> {
        let mut version = 0;
        // SAFETY: the out pointer is valid; this call needs no initialisation.
        unsafe { cu!(self, cuDriverGetVersion(&mut version)) }.map(|()| version)
    }

    pub(crate) fn initialise(&self) -> Result<(), Error> {
        // SAFETY: no pointers.
        unsafe { cu!(self, cuInit(0)) }?;
        // The first one's: a process that was forked from it inherits the number.
        let _ = OPENED_BY.compare_exchange(0, std::process::id(), Ordering::Relaxed, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn device_count(&self) -> Result<i32, Error> {
        let mut count = 0;
        // SAFETY: the out pointer is valid.
        unsafe { cu!(self, cuDeviceGetCount(&mut count)) }.map(|()| count)
    }
}

/// The process that initialised the driver; 0 before.
static OPENED_BY: AtomicU32 = AtomicU32::new(0);

fn version_of(library: &Library) -> Option<i32> {
    // SAFETY: the signature is cuda.h's, unchanged since the first CUDA.
    let read = unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> u32>("cuDriverGetVersion") }.ok()?;
    let mut version = 0;
    // SAFETY: the out pointer is valid.
    (unsafe { read(&mut version) } == 0).then_some(version)
}

/// A handle of the driver. The driver's handles may be used from any thread.
#[derive(PartialEq, Eq)]
struct Handle<T>(*mut T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
// SAFETY: the driver API is thread-safe; a handle is a token for it, nothing on this side is read through it.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}
