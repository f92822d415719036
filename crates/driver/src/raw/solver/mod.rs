//! cuSOLVER: its functions, a handle, and what all calls have in common.

mod eigen;
mod factor;

use std::{
    ffi::{OsStr, c_int, c_schar, c_void},
    ptr,
};

use cudarc::cusolver::sys::*;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::{Context, Handle, Memory, Stream, open};
use crate::Error;
use crate::blas::{Kind, Operation};

table!(SolverTable: cudarc::cusolver::sys, cusolverStatus_t {
    cusolverDnCreate(*mut cusolverDnHandle_t);
    cusolverDnDestroy(cusolverDnHandle_t);
    cusolverDnSetStream(cusolverDnHandle_t, cudaStream_t);
    cusolverDnCreateParams(*mut cusolverDnParams_t);
    cusolverDnDestroyParams(cusolverDnParams_t);
    cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, i64, i64, cudaDataType, *const c_void, i64, cudaDataType, *mut usize, *mut usize);
    cusolverDnXgetrf(cusolverDnHandle_t, cusolverDnParams_t, i64, i64, cudaDataType, *mut c_void, i64, *mut i64, cudaDataType, *mut c_void, usize, *mut c_void, usize, *mut c_int);
    cusolverDnXgetrs(cusolverDnHandle_t, cusolverDnParams_t, cublasOperation_t, i64, i64, cudaDataType, *const c_void, i64, *const i64, cudaDataType, *mut c_void, i64, *mut c_int);
    cusolverDnSlaswp(cusolverDnHandle_t, c_int, *mut f32, c_int, c_int, c_int, *const c_int, c_int);
    cusolverDnDlaswp(cusolverDnHandle_t, c_int, *mut f64, c_int, c_int, c_int, *const c_int, c_int);
    cusolverDnClaswp(cusolverDnHandle_t, c_int, *mut cuComplex, c_int, c_int, c_int, *const c_int, c_int);
    cusolverDnZlaswp(cusolverDnHandle_t, c_int, *mut cuDoubleComplex, c_int, c_int, c_int, *const c_int, c_int);
    cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, i64, cudaDataType, *const c_void, i64, cudaDataType, *mut usize, *mut usize);
    cusolverDnXpotrf(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, i64, cudaDataType, *mut c_void, i64, cudaDataType, *mut c_void, usize, *mut c_void, usize, *mut c_int);
    cusolverDnXpotrs(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, i64, i64, cudaDataType, *const c_void, i64, cudaDataType, *mut c_void, i64, *mut c_int);
    cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, i64, i64, cudaDataType, *const c_void, i64, cudaDataType, *const c_void, cudaDataType, *mut usize, *mut usize);
    cusolverDnXgeqrf(cusolverDnHandle_t, cusolverDnParams_t, i64, i64, cudaDataType, *mut c_void, i64, cudaDataType, *mut c_void, cudaDataType, *mut c_void, usize, *mut c_void, usize, *mut c_int);
    cusolverDnSorgqr_bufferSize(cusolverDnHandle_t, c_int, c_int, c_int, *const f32, c_int, *const f32, *mut c_int);
    cusolverDnDorgqr_bufferSize(cusolverDnHandle_t, c_int, c_int, c_int, *const f64, c_int, *const f64, *mut c_int);
    cusolverDnCungqr_bufferSize(cusolverDnHandle_t, c_int, c_int, c_int, *const cuComplex, c_int, *const cuComplex, *mut c_int);
    cusolverDnZungqr_bufferSize(cusolverDnHandle_t, c_int, c_int, c_int, *const cuDoubleComplex, c_int, *const cuDoubleComplex, *mut c_int);
    cusolverDnSorgqr(cusolverDnHandle_t, c_int, c_int, c_int, *mut f32, c_int, *const f32, *mut f32, c_int, *mut c_int);
    cusolverDnDorgqr(cusolverDnHandle_t, c_int, c_int, c_int, *mut f64, c_int, *const f64, *mut f64, c_int, *mut c_int);
    cusolverDnCungqr(cusolverDnHandle_t, c_int, c_int, c_int, *mut cuComplex, c_int, *const cuComplex, *mut cuComplex, c_int, *mut c_int);
    cusolverDnZungqr(cusolverDnHandle_t, c_int, c_int, c_int, *mut cuDoubleComplex, c_int, *const cuDoubleComplex, *mut cuDoubleComplex, c_int, *mut c_int);
    cusolverDnSormqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, c_int, c_int, c_int, *const f32, c_int, *const f32, *const f32, c_int, *mut c_int);
    cusolverDnDormqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, c_int, c_int, c_int, *const f64, c_int, *const f64, *const f64, c_int, *mut c_int);
    cusolverDnCunmqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, c_int, c_int, c_int, *const cuComplex, c_int, *const cuComplex, *const cuComplex, c_int, *mut c_int);
    cusolverDnZunmqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, c_int, c_int, c_int, *const cuDoubleComplex, c_int, *const cuDoubleComplex, *const cuDoubleComplex, c_int, *mut c_int);
    cusolverDnSormqr(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, c_int, c_int, c_int, *const f32, c_int, *const f32, *mut f32, c_int, *mut f32, c_int, *mut c_int);
    cusolverDnDormqr(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, c_int, c_int, c_int, *const f64, c_int, *const f64, *mut f64, c_int, *mut f64, c_int, *mut c_int);
    cusolverDnCunmqr(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, c_int, c_int, c_int, *const cuComplex, c_int, *const cuComplex, *mut cuComplex, c_int, *mut cuComplex, c_int, *mut c_int);
    cusolverDnZunmqr(cusolverDnHandle_t, cublasSideMode_t, cublasOperation_t, c_int, c_int, c_int, *const cuDoubleComplex, c_int, *const cuDoubleComplex, *mut cuDoubleComplex, c_int, *mut cuDoubleComplex, c_int, *mut c_int);
    cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cublasFillMode_t, i64, cudaDataType, *const c_void, i64, cudaDataType, *const c_void, cudaDataType, *mut usize, *mut usize);
    cusolverDnXsyevd(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cublasFillMode_t, i64, cudaDataType, *mut c_void, i64, cudaDataType, *mut c_void, cudaDataType, *mut c_void, usize, *mut c_void, usize, *mut c_int);
    cusolverDnXgesvd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, c_schar, c_schar, i64, i64, cudaDataType, *const c_void, i64, cudaDataType, *const c_void, cudaDataType, *const c_void, i64, cudaDataType, *const c_void, i64, cudaDataType, *mut usize, *mut usize);
    cusolverDnXgesvd(cusolverDnHandle_t, cusolverDnParams_t, c_schar, c_schar, i64, i64, cudaDataType, *mut c_void, i64, cudaDataType, *mut c_void, cudaDataType, *mut c_void, i64, cudaDataType, *mut c_void, i64, cudaDataType, *mut c_void, usize, *mut c_void, usize, *mut c_int);
});

// What CUDA 12.6 added; an older library serves everything else.
table!(NewTable: cudarc::cusolver::sys, cusolverStatus_t {
    cusolverDnXgeev_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cusolverEigMode_t, i64, cudaDataType, *const c_void, i64, cudaDataType, *const c_void, cudaDataType, *const c_void, i64, cudaDataType, *const c_void, i64, cudaDataType, *mut usize, *mut usize);
    cusolverDnXgeev(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cusolverEigMode_t, i64, cudaDataType, *mut c_void, i64, cudaDataType, *mut c_void, cudaDataType, *mut c_void, i64, cudaDataType, *mut c_void, i64, cudaDataType, *mut c_void, usize, *mut c_void, usize, *mut c_int);
});

/// cuSOLVER, loaded for good.
pub(crate) struct SolverLibrary {
    table: SolverTable,
    new: Option<NewTable>,
}

impl SolverLibrary {
    pub(crate) fn open(file: &OsStr) -> Result<Self, String> {
        let library = open(file, RTLD_NOW | RTLD_LOCAL)?;
        let table = SolverTable::resolve(&library).map_err(|symbol| format!("lacks `{symbol}`"))?;
        let new = NewTable::resolve(&library).ok();
        std::mem::forget(library); // the tables live as long as the process
        Ok(Self { table, new })
    }

    pub(crate) fn symbols() -> &'static [&'static str] {
        SolverTable::SYMBOLS
    }
}

/// A handle, bound to a stream. Calls through one handle must not overlap.
pub(crate) struct Solver {
    context: &'static Context,
    library: &'static SolverLibrary,
    handle: Handle<cusolverDnContext>,
    parameters: Handle<cusolverDnParams>,
    stream: std::sync::Arc<Stream>,
}

/// Room that a routine asked for: device memory, host memory, and where it says how it ended.
struct Workspace {
    device: Memory,
    host: Vec<u64>,
    info: Memory,
}

/// Where it is, for one call.
struct Room {
    device: *mut c_void,
    device_bytes: usize,
    host: *mut c_void,
    host_bytes: usize,
    info: *mut c_int,
}

impl Workspace {
    fn device(&self) -> *mut c_void {
        self.device.address as *mut c_void
    }

    fn info(&self) -> *mut c_int {
        self.info.address as *mut c_int
    }
}

impl Solver {
    pub(crate) fn create(library: &'static SolverLibrary, stream: std::sync::Arc<Stream>) -> Result<Self, Error> {
        let (table, context) = (&library.table, *stream.context);
        let (mut handle, mut parameters) = (ptr::null_mut(), ptr::null_mut());
        context.bind()?;
        // SAFETY: the out pointer is valid, the context current.
        check("cusolverDnCreate", unsafe { (table.cusolverDnCreate)(&mut handle) })?;
        let raw_stream = stream.handle().cast();
        let mut solver = Self { context, library, handle: Handle(handle), parameters: Handle(parameters), stream };
        // SAFETY: the handle was created just now; the stream is kept alive with it.
        check("cusolverDnSetStream", unsafe { (table.cusolverDnSetStream)(handle, raw_stream) })?;
        // SAFETY: the out pointer is valid.
        check("cusolverDnCreateParams", unsafe { (table.cusolverDnCreateParams)(&mut parameters) })?;
        solver.parameters = Handle(parameters);
        Ok(solver)
    }

    /// Room of sizes that the library named.
    fn workspace(&self, device_bytes: usize, host_bytes: usize) -> Result<Workspace, Error> {
        let room = |bytes: usize| Memory::allocate(self.stream.clone(), bytes.max(1));
        let info = room(size_of::<c_int>())?;
        // A routine that never writes it has not failed.
        info.fill(0, size_of::<c_int>(), &self.stream)?;
        Ok(Workspace { device: room(device_bytes)?, host: vec![0; host_bytes.div_ceil(size_of::<u64>())], info })
    }

    /// Asks by `wants` for the bytes of workspace on the device and on the host that a routine wants, and runs it in them.
    fn in_workspace(
        &self,
        [asking, running]: [&'static str; 2],
        wants: impl FnOnce(&mut usize, &mut usize) -> u32,
        runs: impl FnOnce(Room) -> u32,
    ) -> Result<usize, Error> {
        let (mut device_bytes, mut host_bytes) = (0, 0);
        self.context.bind()?;
        check(asking, wants(&mut device_bytes, &mut host_bytes))?;
        let mut work = self.workspace(device_bytes, host_bytes)?;
        let host = work.host.as_mut_ptr().cast();
        let code = runs(Room { device: work.device(), device_bytes, host, host_bytes, info: work.info() });
        self.finish(running, code, work)
    }

    /// Waits for a routine whose call gave `code` and tells its `info`: 0, or what that means for the routine. It may have queued work also where
    /// it failed, and that may use the workspace.
    fn finish(&self, call: &'static str, code: u32, workspace: Workspace) -> Result<usize, Error> {
        let mut info = [0; size_of::<c_int>()];
        let read = workspace.info.copy_to_host(0, &mut info, &workspace.info.stream);
        check(call, code)?;
        read?;
        let info = c_int::from_ne_bytes(info);
        let refused = |_| Error::Library { library: "cuSOLVER", call, code: info.into(), name: "a bad argument" };
        usize::try_from(info).map_err(refused)
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        let Ok(_) = self.context.bind() else { return };
        if !self.parameters.0.is_null() {
            // SAFETY: destroyed once.
            unsafe { (self.library.table.cusolverDnDestroyParams)(self.parameters.0) };
        }
        // SAFETY: destroyed once.
        unsafe { (self.library.table.cusolverDnDestroy)(self.handle.0) };
    }
}

fn check(call: &'static str, code: u32) -> Result<(), Error> {
    let name = match code {
        0 => return Ok(()),
        1 => "NOT_INITIALIZED",
        2 => "ALLOC_FAILED",
        3 => "INVALID_VALUE",
        4 => "ARCH_MISMATCH",
        6 => "EXECUTION_FAILED",
        7 => "INTERNAL_ERROR",
        8 => "MATRIX_TYPE_NOT_SUPPORTED",
        9 => "NOT_SUPPORTED",
        _ => "an unknown code",
    };
    Err(Error::Library { library: "cuSOLVER", call, code: code.into(), name })
}

fn size(extent: usize) -> i64 {
    i64::try_from(extent).unwrap_or(i64::MAX)
}

fn operation(operation: Operation) -> cublasOperation_t {
    match operation {
        Operation::Plain => cublasOperation_t::CUBLAS_OP_N,
        Operation::Transposed => cublasOperation_t::CUBLAS_OP_T,
        Operation::Adjoint => cublasOperation_t::CUBLAS_OP_C,
    }
}

fn data_type(kind: Kind) -> cudaDataType {
    match kind {
        Kind::F16 => cudaDataType::CUDA_R_16F,
        Kind::Bf16 => cudaDataType::CUDA_R_16BF,
        Kind::F32 => cudaDataType::CUDA_R_32F,
        Kind::F64 => cudaDataType::CUDA_R_64F,
        Kind::C64 => cudaDataType::CUDA_C_32F,
        Kind::C128 => cudaDataType::CUDA_C_64F,
        Kind::I8 => cudaDataType::CUDA_R_8I,
        Kind::I32 => cudaDataType::CUDA_R_32I,
    }
}
