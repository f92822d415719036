//! f64 by integers of a fixed point. cudarc leaves these functions out of its bindings, whatever the version of CUDA (its issue 489): their signatures
//! here are those of `cublas_api.h` of cuBLAS 13.1.

use std::ffi::c_int;

use cudarc::cublas::sys::*;
use libloading::os::unix::Library;

use super::{Blas, check};
use crate::Error;

/// The functions that say how f64 is emulated. All came at once.
pub(super) struct EmulationTable {
    set_strategy: unsafe extern "C" fn(cublasHandle_t, cublasEmulationStrategy_t) -> u32,
    set_special_values: unsafe extern "C" fn(cublasHandle_t, u32) -> u32,
    set_control: unsafe extern "C" fn(cublasHandle_t, cudaEmulationMantissaControl_t) -> u32,
    set_bits: unsafe extern "C" fn(cublasHandle_t, c_int) -> u32,
}

const SET_STRATEGY: &str = "cublasSetEmulationStrategy";
const SET_SPECIAL_VALUES: &str = "cublasSetEmulationSpecialValuesSupport";
const SET_CONTROL: &str = "cublasSetFixedPointEmulationMantissaControl";
const SET_BITS: &str = "cublasSetFixedPointEmulationMaxMantissaBitCount";

/// The bits of what is emulated beside numbers (`cudaEmulationSpecialValuesSupport_t`), by which infinities and NaN go through.
const INFINITY_AND_NAN: u32 = 1 | 2;

impl EmulationTable {
    /// `None` in a library before cuBLAS 13.1, which is of CUDA 13.0 update 2.
    pub(super) fn resolve(library: &Library) -> Option<Self> {
        // SAFETY: each pointer gets the signature that the header has for this symbol; enums of C have the ABI of 32-bit integers.
        unsafe {
            Some(Self {
                set_strategy: *library.get(SET_STRATEGY).ok()?,
                set_special_values: *library.get(SET_SPECIAL_VALUES).ok()?,
                set_control: *library.get(SET_CONTROL).ok()?,
                set_bits: *library.get(SET_BITS).ok()?,
            })
        }
    }
}

impl Blas {
    /// Has a product keep so many bits, always as many, wherever cuBLAS can emulate at all. Behind it the handle is as a new one: who has cuBLAS emulate
    /// all products in f64 (`CUBLAS_EMULATE_DOUBLE_PRECISION`) gets what it finds to be enough there, not these bits.
    pub(super) fn emulating(
        &self,
        mantissa_bits: u32,
        product: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        use cublasEmulationStrategy_t::{CUBLAS_EMULATION_STRATEGY_DEFAULT, CUBLAS_EMULATION_STRATEGY_EAGER};
        use cudaEmulationMantissaControl_t::{
            CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC, CUDA_EMULATION_MANTISSA_CONTROL_FIXED,
        };
        let table = self.emulation()?;
        let bits = c_int::try_from(mantissa_bits).unwrap_or(c_int::MAX);
        let set = |strategy, control| {
            // SAFETY: the handle is alive.
            unsafe {
                check(SET_STRATEGY, (table.set_strategy)(self.handle.0, strategy))?;
                check(SET_CONTROL, (table.set_control)(self.handle.0, control))
            }
        };
        // SAFETY: the handle is alive.
        unsafe {
            check(SET_SPECIAL_VALUES, (table.set_special_values)(self.handle.0, INFINITY_AND_NAN))?;
            check(SET_BITS, (table.set_bits)(self.handle.0, bits))?;
        }
        let done = set(CUBLAS_EMULATION_STRATEGY_EAGER, CUDA_EMULATION_MANTISSA_CONTROL_FIXED).and_then(|()| product());
        let settled = set(CUBLAS_EMULATION_STRATEGY_DEFAULT, CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC);
        done.and(settled)
    }

    pub(crate) fn check_emulation(&self) -> Result<(), Error> {
        self.emulation().map(drop)
    }

    fn emulation(&self) -> Result<&'static EmulationTable, Error> {
        if let Some(table) = &self.library.emulation {
            return Ok(table);
        }
        let version = self.version()?;
        let found = Some(format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100));
        Err(Error::OldLibrary { library: "cuBLAS", found, symbol: SET_BITS, since: "13.0 update 2 (cuBLAS 13.1)" })
    }
}
