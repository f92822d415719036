//! The primary context of a device, and what the driver tells about the device.

use std::{cell::Cell, ffi::CStr, ptr};

use cudarc::driver::sys::*;

use super::{Driver, Handle, spare::Spare};
use crate::Error;

thread_local! {
    /// The context that this crate last made current on this thread.
    static CURRENT: Cell<*mut CUctx_st> = const { Cell::new(ptr::null_mut()) };
}

/// A device's primary context. It is retained once and never released, so what points at it is never stale.
pub(crate) struct Context {
    pub(crate) driver: &'static Driver,
    pub(crate) ordinal: i32,
    device: CUdevice,
    handle: Handle<CUctx_st>,
    pub(super) spare: Spare,
}

impl Context {
    pub(crate) fn retain(driver: &'static Driver, ordinal: i32) -> Result<Self, Error> {
        let (mut device, mut handle) = (0, ptr::null_mut());
        // SAFETY: the driver is initialised; out pointers are valid.
        unsafe { cu!(driver, cuDeviceGet(&mut device, ordinal)) }?;
        // SAFETY: `device` was given by the driver just now.
        unsafe { cu!(driver, cuDevicePrimaryCtxRetain(&mut handle, device)) }?;
        Ok(Self { driver, ordinal, device, handle: Handle(handle), spare: Spare::default() })
    }

    /// Makes the context current on this thread, unless this crate did so last.
    #[inline]
    pub(crate) fn bind(&self) -> Result<&'static Driver, Error> {
        if CURRENT.get() != self.handle.0 {
            self.bind_anew()?;
        }
        Ok(self.driver)
    }

    #[cold]
    pub(crate) fn bind_anew(&self) -> Result<(), Error> {
        // SAFETY: the primary context is retained for good.
        unsafe { cu!(self.driver, cuCtxSetCurrent(self.handle.0)) }?;
        CURRENT.set(self.handle.0);
        Ok(())
    }

    pub(crate) fn attribute(&self, attribute: CUdevice_attribute) -> Result<i32, Error> {
        let mut value = 0;
        // SAFETY: the out pointer is valid, the device is the driver's.
        unsafe { cu!(self.driver, cuDeviceGetAttribute(&mut value, attribute, self.device)) }.map(|()| value)
    }

    pub(crate) fn name(&self) -> Result<String, Error> {
        let mut name = [0u8; 256];
        // SAFETY: the driver writes at most the given number of bytes, the last of them NUL.
        unsafe { cu!(self.driver, cuDeviceGetName(name.as_mut_ptr().cast(), 255, self.device)) }?;
        Ok(CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned())
    }

    pub(crate) fn uuid(&self) -> Result<[u8; 16], Error> {
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: the out pointer is valid.
        unsafe { cu!(self.driver, cuDeviceGetUuid_v2(&mut uuid, self.device)) }?;
        Ok(uuid.bytes.map(|byte| byte as u8))
    }

    pub(crate) fn total_memory(&self) -> Result<usize, Error> {
        let mut bytes = 0;
        // SAFETY: the out pointer is valid.
        unsafe { cu!(self.driver, cuDeviceTotalMem_v2(&mut bytes, self.device)) }.map(|()| bytes)
    }

    /// Free and total bytes, now.
    pub(crate) fn memory_info(&self) -> Result<(usize, usize), Error> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the out pointers are valid; the context is current after `bind`.
        unsafe { cu!(self.bind()?, cuMemGetInfo_v2(&mut free, &mut total)) }.map(|()| (free, total))
    }

    /// Lets the device's memory pool keep what is freed, so that the next allocation costs no system call.
    pub(crate) fn keep_pool(&self) -> Result<(), Error> {
        let (pool, mut threshold) = (self.pool()?, u64::MAX);
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: this attribute is a cuuint64_t, which is what the pointer leads to.
        unsafe { cu!(self.driver, cuMemPoolSetAttribute(pool, attribute, (&raw mut threshold).cast())) }
    }

    /// Gives what the device's memory pool keeps, and nobody uses, to the system.
    pub(crate) fn trim_pool(&self) -> Result<(), Error> {
        let pool = self.pool()?;
        // SAFETY: the pool is the device's own.
        unsafe { cu!(self.bind()?, cuMemPoolTrimTo(pool, 0)) }
    }

    fn pool(&self) -> Result<CUmemoryPool, Error> {
        let mut pool = ptr::null_mut();
        // SAFETY: the out pointer is valid.
        unsafe { cu!(self.driver, cuDeviceGetDefaultMemPool(&mut pool, self.device)) }.map(|()| pool)
    }
}
