//! The primary context of a device, and what the driver tells about the device.

use std::{
    cell::Cell,
    ffi::CStr,
    ops::Deref,
    ptr,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use cudarc::driver::sys::*;

use super::{Driver, Handle, spare::Spare};
use crate::Error;

thread_local! {
    /// The context that this crate last made current on this thread.
    static CURRENT: Cell<Option<&'static Context>> = const { Cell::new(None) };
}

/// A device's primary context. It lasts as long as the process, unless it is lost: then nothing of it reaches the driver any more, and it can be
/// released when nothing holds it.
pub(crate) struct Context {
    pub(crate) driver: &'static Driver,
    pub(crate) ordinal: i32,
    /// Among the contexts of this process.
    pub(crate) number: u64,
    device: CUdevice,
    handle: Handle<CUctx_st>,
    pub(super) spare: Spare,
    /// What failed so that nothing works behind it.
    lost: OnceLock<Error>,
    /// How many [`Held`] there are.
    held: AtomicUsize,
    released: AtomicBool,
}

/// A context in use: by a stream, an event or a graph, so by all memory, or for a while by whoever calls the driver without one.
pub(crate) struct Held(&'static Context);

impl Held {
    pub(crate) fn new(context: &'static Context) -> Self {
        context.held.fetch_add(1, Ordering::SeqCst);
        Self(context)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Deref for Held {
    type Target = &'static Context;

    fn deref(&self) -> &&'static Context {
        &self.0
    }
}

/// Says that the context which is current on this thread is lost by this failure.
pub(super) fn lose_current(error: &Error) {
    if let Some(context) = CURRENT.get() {
        let _ = context.lost.set(error.clone());
    }
}

impl Context {
    /// A context that is never freed.
    pub(crate) fn retain(driver: &'static Driver, ordinal: i32) -> Result<&'static Self, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // A failure here is none of another context's.
        CURRENT.set(None);
        let (mut device, mut handle) = (0, ptr::null_mut());
        // SAFETY: the driver is initialised; out pointers are valid.
        unsafe { cu!(driver, cuDeviceGet(&mut device, ordinal)) }?;
        // SAFETY: `device` was given by the driver just now.
        unsafe { cu!(driver, cuDevicePrimaryCtxRetain(&mut handle, device)) }?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let (lost, held, released) = (OnceLock::new(), AtomicUsize::new(0), AtomicBool::new(false));
        let spare = Spare::default();
        Ok(Box::leak(Box::new(Self {
            driver,
            ordinal,
            number,
            device,
            handle: Handle(handle),
            lost,
            held,
            released,
            spare,
        })))
    }

    /// Lets a lost context go. [`Error::ContextInUse`] while something holds it, [`Error::ContextLost`] where others in this process keep it.
    pub(crate) fn release(&'static self) -> Result<(), Error> {
        let (objects, ordinal) = (self.held.load(Ordering::SeqCst), self.ordinal as usize);
        if objects > 0 {
            return Err(Error::ContextInUse { ordinal, objects });
        }
        CURRENT.set(None);
        if !self.released.swap(true, Ordering::SeqCst) {
            // SAFETY: retained once and released once. Nothing of it is in use, and nothing will be: `bind` refuses a lost context.
            unsafe { cu!(self.driver, cuDevicePrimaryCtxRelease_v2(self.device)) }?;
        }
        let (mut flags, mut is_active) = (0, 0);
        // SAFETY: the out pointers are valid.
        unsafe { cu!(self.driver, cuDevicePrimaryCtxGetState(self.device, &mut flags, &mut is_active)) }?;
        if is_active == 0 { Ok(()) } else { self.check() }
    }

    /// Whether it is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// [`Error::ContextLost`] if it is.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.lost.get().map_or(Ok(()), |cause| Err(self.loss(cause)))
    }

    #[cold]
    fn loss(&self, cause: &Error) -> Error {
        Error::ContextLost { ordinal: self.ordinal as usize, cause: Box::new(cause.clone()) }
    }

    /// Makes the context current on this thread, unless this crate did so last. [`Error::ContextLost`] for a lost one, whose objects are nothing to
    /// the driver.
    #[inline]
    pub(crate) fn bind(&'static self) -> Result<&'static Driver, Error> {
        self.check()?;
        if !CURRENT.get().is_some_and(|current| ptr::eq(current, self)) {
            self.bind_anew()?;
        }
        Ok(self.driver)
    }

    #[cold]
    pub(crate) fn bind_anew(&'static self) -> Result<(), Error> {
        self.check()?;
        CURRENT.set(Some(self));
        // SAFETY: the primary context is retained until it is lost.
        let bound = unsafe { cu!(self.driver, cuCtxSetCurrent(self.handle.0)) };
        bound.inspect_err(|_| CURRENT.set(None))
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
    pub(crate) fn memory_info(&'static self) -> Result<(usize, usize), Error> {
        let _held = Held::new(self);
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
    pub(crate) fn trim_pool(&'static self) -> Result<(), Error> {
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
