//! cuBLAS: its functions, and a handle.

mod emulation;
mod products;
mod triangles;

pub(crate) use products::Gemm;

use std::{
    ffi::{OsStr, c_int, c_longlong, c_void},
    ptr,
};

use cudarc::cublas::sys::*;
use emulation::EmulationTable;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::{Context, Handle, Stream, open};
use crate::Error;
use crate::blas::{Diagonal, Kind, Operation, Side, Triangle};

table!(BlasTable: cudarc::cublas::sys, cublasStatus_t {
    cublasCreate_v2(*mut cublasHandle_t);
    cublasDestroy_v2(cublasHandle_t);
    cublasGetVersion_v2(cublasHandle_t, *mut c_int);
    cublasSetStream_v2(cublasHandle_t, cudaStream_t);
    cublasSetMathMode(cublasHandle_t, cublasMath_t);
    cublasGemmEx_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, i64, i64, i64, *const c_void, *const c_void, cudaDataType, i64, *const c_void, cudaDataType, i64, *const c_void, *mut c_void, cudaDataType, i64, cublasComputeType_t, cublasGemmAlgo_t);
    cublasGemmStridedBatchedEx_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, i64, i64, i64, *const c_void, *const c_void, cudaDataType, i64, c_longlong, *const c_void, cudaDataType, i64, c_longlong, *const c_void, *mut c_void, cudaDataType, i64, c_longlong, i64, cublasComputeType_t, cublasGemmAlgo_t);
    cublasSgemv_v2_64(cublasHandle_t, cublasOperation_t, i64, i64, *const f32, *const f32, i64, *const f32, i64, *const f32, *mut f32, i64);
    cublasDgemv_v2_64(cublasHandle_t, cublasOperation_t, i64, i64, *const f64, *const f64, i64, *const f64, i64, *const f64, *mut f64, i64);
    cublasCgemv_v2_64(cublasHandle_t, cublasOperation_t, i64, i64, *const cuComplex, *const cuComplex, i64, *const cuComplex, i64, *const cuComplex, *mut cuComplex, i64);
    cublasZgemv_v2_64(cublasHandle_t, cublasOperation_t, i64, i64, *const cuDoubleComplex, *const cuDoubleComplex, i64, *const cuDoubleComplex, i64, *const cuDoubleComplex, *mut cuDoubleComplex, i64);
    cublasSger_v2_64(cublasHandle_t, i64, i64, *const f32, *const f32, i64, *const f32, i64, *mut f32, i64);
    cublasDger_v2_64(cublasHandle_t, i64, i64, *const f64, *const f64, i64, *const f64, i64, *mut f64, i64);
    cublasCgeru_v2_64(cublasHandle_t, i64, i64, *const cuComplex, *const cuComplex, i64, *const cuComplex, i64, *mut cuComplex, i64);
    cublasZgeru_v2_64(cublasHandle_t, i64, i64, *const cuDoubleComplex, *const cuDoubleComplex, i64, *const cuDoubleComplex, i64, *mut cuDoubleComplex, i64);
    cublasCgerc_v2_64(cublasHandle_t, i64, i64, *const cuComplex, *const cuComplex, i64, *const cuComplex, i64, *mut cuComplex, i64);
    cublasZgerc_v2_64(cublasHandle_t, i64, i64, *const cuDoubleComplex, *const cuDoubleComplex, i64, *const cuDoubleComplex, i64, *mut cuDoubleComplex, i64);
    cublasSgeam_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, i64, i64, *const f32, *const f32, i64, *const f32, *const f32, i64, *mut f32, i64);
    cublasDgeam_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, i64, i64, *const f64, *const f64, i64, *const f64, *const f64, i64, *mut f64, i64);
    cublasCgeam_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, i64, i64, *const cuComplex, *const cuComplex, i64, *const cuComplex, *const cuComplex, i64, *mut cuComplex, i64);
    cublasZgeam_64(cublasHandle_t, cublasOperation_t, cublasOperation_t, i64, i64, *const cuDoubleComplex, *const cuDoubleComplex, i64, *const cuDoubleComplex, *const cuDoubleComplex, i64, *mut cuDoubleComplex, i64);
    cublasSdgmm_64(cublasHandle_t, cublasSideMode_t, i64, i64, *const f32, i64, *const f32, i64, *mut f32, i64);
    cublasDdgmm_64(cublasHandle_t, cublasSideMode_t, i64, i64, *const f64, i64, *const f64, i64, *mut f64, i64);
    cublasCdgmm_64(cublasHandle_t, cublasSideMode_t, i64, i64, *const cuComplex, i64, *const cuComplex, i64, *mut cuComplex, i64);
    cublasZdgmm_64(cublasHandle_t, cublasSideMode_t, i64, i64, *const cuDoubleComplex, i64, *const cuDoubleComplex, i64, *mut cuDoubleComplex, i64);
    cublasScopy_v2_64(cublasHandle_t, i64, *const f32, i64, *mut f32, i64);
    cublasDcopy_v2_64(cublasHandle_t, i64, *const f64, i64, *mut f64, i64);
    cublasCcopy_v2_64(cublasHandle_t, i64, *const cuComplex, i64, *mut cuComplex, i64);
    cublasZcopy_v2_64(cublasHandle_t, i64, *const cuDoubleComplex, i64, *mut cuDoubleComplex, i64);
    cublasStrsm_v2_64(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, i64, i64, *const f32, *const f32, i64, *mut f32, i64);
    cublasDtrsm_v2_64(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, i64, i64, *const f64, *const f64, i64, *mut f64, i64);
    cublasCtrsm_v2_64(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, i64, i64, *const cuComplex, *const cuComplex, i64, *mut cuComplex, i64);
    cublasZtrsm_v2_64(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, i64, i64, *const cuDoubleComplex, *const cuDoubleComplex, i64, *mut cuDoubleComplex, i64);
    cublasSsyrk_v2_64(cublasHandle_t, cublasFillMode_t, cublasOperation_t, i64, i64, *const f32, *const f32, i64, *const f32, *mut f32, i64);
    cublasDsyrk_v2_64(cublasHandle_t, cublasFillMode_t, cublasOperation_t, i64, i64, *const f64, *const f64, i64, *const f64, *mut f64, i64);
    cublasCherk_v2_64(cublasHandle_t, cublasFillMode_t, cublasOperation_t, i64, i64, *const f32, *const cuComplex, i64, *const f32, *mut cuComplex, i64);
    cublasZherk_v2_64(cublasHandle_t, cublasFillMode_t, cublasOperation_t, i64, i64, *const f64, *const cuDoubleComplex, i64, *const f64, *mut cuDoubleComplex, i64);
});

/// The routine of each scalar type, with the same arguments: pointers are cast to what it declares.
macro_rules! by_kind {
    ($blas:expr, $kind:expr, [$s:ident, $d:ident, $c:ident, $z:ident], ($($argument:expr),* $(,)?)) => {{
        let (table, handle) = (&$blas.library.table, $blas.handle.0);
        let code = match $kind {
            Kind::F32 => (table.$s)(handle, $($argument),*),
            Kind::F64 => (table.$d)(handle, $($argument),*),
            Kind::C64 => (table.$c)(handle, $($argument),*),
            Kind::C128 => (table.$z)(handle, $($argument),*),
            Kind::F16 | Kind::Bf16 | Kind::I8 | Kind::I32 => NOT_SUPPORTED,
        };
        check(stringify!($d), code)
    }};
}
use by_kind;

const NOT_SUPPORTED: u32 = 15;

/// An alpha or a beta: cuBLAS reads 16 bytes of it at once, at a multiple of 16, whatever their type.
#[repr(C, align(16))]
struct Coefficient<T>(T);

impl<T> Coefficient<T> {
    fn cast<P>(&self) -> *const P {
        (&raw const *self).cast()
    }
}

/// cuBLAS, loaded for good.
pub(crate) struct BlasLibrary {
    table: BlasTable,
    emulation: Option<EmulationTable>,
}

impl BlasLibrary {
    pub(crate) fn open(file: &OsStr) -> Result<Self, String> {
        // Visible to cuSOLVER, which is linked to the same library.
        let library = open(file, RTLD_NOW | RTLD_GLOBAL)?;
        let table = BlasTable::resolve(&library).map_err(|symbol| format!("lacks `{symbol}`"))?;
        let emulation = EmulationTable::resolve(&library);
        std::mem::forget(library); // the tables live as long as the process
        Ok(Self { table, emulation })
    }

    pub(crate) fn symbols() -> &'static [&'static str] {
        BlasTable::SYMBOLS
    }
}

/// A handle, bound to a stream. Calls through one handle must not overlap.
pub(crate) struct Blas {
    context: &'static Context,
    library: &'static BlasLibrary,
    handle: Handle<cublasContext>,
}

impl Blas {
    /// For a stream that outlives the handle.
    pub(crate) fn create(library: &'static BlasLibrary, stream: &Stream) -> Result<Self, Error> {
        let (mut handle, table) = (ptr::null_mut(), &library.table);
        stream.context.bind()?;
        // SAFETY: the out pointer is valid, the context current.
        check("cublasCreate_v2", unsafe { (table.cublasCreate_v2)(&mut handle) })?;
        let blas = Self { context: *stream.context, library, handle: Handle(handle) };
        // SAFETY: the handle was created just now; the stream outlives it, says the caller, and both are of one context.
        check("cublasSetStream_v2", unsafe { (table.cublasSetStream_v2)(handle, stream.handle().cast()) })?;
        // Sums of halves stay in f32 also where they are made in parts.
        let math = cublasMath_t::CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
        // SAFETY: the handle is alive.
        check("cublasSetMathMode", unsafe { (table.cublasSetMathMode)(handle, math) })?;
        Ok(blas)
    }

    pub(crate) fn version(&self) -> Result<i32, Error> {
        let mut version = 0;
        self.context.bind()?;
        // SAFETY: the handle is alive, the out pointer valid.
        check("cublasGetVersion_v2", unsafe { (self.library.table.cublasGetVersion_v2)(self.handle.0, &mut version) })?;
        Ok(version)
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        let _ = self.context.bind().map(|_| unsafe { (self.library.table.cublasDestroy_v2)(self.handle.0) });
    }
}

fn check(call: &'static str, code: u32) -> Result<(), Error> {
    let name = match code {
        0 => return Ok(()),
        1 => "NOT_INITIALIZED",
        3 => "ALLOC_FAILED",
        7 => "INVALID_VALUE",
        8 => "ARCH_MISMATCH",
        11 => "MAPPING_ERROR",
        13 => "EXECUTION_FAILED",
        14 => "INTERNAL_ERROR",
        NOT_SUPPORTED => "NOT_SUPPORTED",
        16 => "LICENSE_ERROR",
        _ => "an unknown code",
    };
    Err(Error::Library { library: "cuBLAS", call, code: code.into(), name })
}

impl From<Operation> for cublasOperation_t {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Plain => Self::CUBLAS_OP_N,
            Operation::Transposed => Self::CUBLAS_OP_T,
            Operation::Adjoint => Self::CUBLAS_OP_C,
        }
    }
}

impl From<Side> for cublasSideMode_t {
    fn from(side: Side) -> Self {
        match side {
            Side::Left => Self::CUBLAS_SIDE_LEFT,
            Side::Right => Self::CUBLAS_SIDE_RIGHT,
        }
    }
}

impl From<Triangle> for cublasFillMode_t {
    fn from(triangle: Triangle) -> Self {
        match triangle {
            Triangle::Lower => Self::CUBLAS_FILL_MODE_LOWER,
            Triangle::Upper => Self::CUBLAS_FILL_MODE_UPPER,
        }
    }
}

impl From<Diagonal> for cublasDiagType_t {
    fn from(diagonal: Diagonal) -> Self {
        match diagonal {
            Diagonal::Stored => Self::CUBLAS_DIAG_NON_UNIT,
            Diagonal::Ones => Self::CUBLAS_DIAG_UNIT,
        }
    }
}

pub(super) fn data_type(kind: Kind) -> cudaDataType {
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
