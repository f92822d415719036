//! Every unsafe line of the crate: two tables of foreign functions, and thin checked owners of what the driver hands out.
//!
//! cudarc gives the types and the signatures; its own loaders are not called. They open whatever `dlopen` finds by name,
//! which need not be the library that was looked at, and panic on a missing symbol. A table is filled from one library or
//! not at all, and the compiler compares each row with cudarc's binding. Results are plain `u32`: cudarc's enum would be
//! undefined behaviour with the code of a newer driver.

use std::{
    cell::Cell,
    ffi::{CStr, CString, OsStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void},
    ptr,
};

use cudarc::driver::sys::*;
use cudarc::nvrtc::sys::nvrtcProgram;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

use crate::{Error, LaunchConfig};

macro_rules! table {
    ($table:ident: $sys:path, $result:ty { $($name:ident($($argument:ty),*);)* }) => {
        #[allow(non_snake_case)]
        struct $table { $($name: unsafe extern "C" fn($($argument),*) -> u32,)* }

        impl $table {
            #[allow(dead_code)] // only the driver's are asked for
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
    cuCtxSetCurrent(CUcontext);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuDeviceGetDefaultMemPool(*mut CUmemoryPool, CUdevice);
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
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
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

/// Calls a function of a table and turns a code other than 0 into an error.
macro_rules! cu {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $driver.check(stringify!($name), ($driver.table.$name)($($argument),*))
    };
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
        std::mem::forget(library); // the pointers above live as long as the process
        let (error_name, error_string, elapsed) = by_hand;
        Ok(Self { table, error_name, error_string, elapsed, parameter_info })
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
        Error::Driver {
            call,
            code,
            name: self.text(self.error_name, code),
            message: self.text(self.error_string, code),
        }
    }

    /// `1000 * major + 10 * minor` of the newest CUDA that this driver serves.
    pub(crate) fn version(&self) -> Result<i32, Error> {
        let mut version = 0;
        // SAFETY: the out pointer is valid; this call needs no initialisation.
        unsafe { cu!(self, cuDriverGetVersion(&mut version)) }.map(|()| version)
    }

    pub(crate) fn initialise(&self) -> Result<(), Error> {
        // SAFETY: no pointers.
        unsafe { cu!(self, cuInit(0)) }
    }

    pub(crate) fn device_count(&self) -> Result<i32, Error> {
        let mut count = 0;
        // SAFETY: the out pointer is valid.
        unsafe { cu!(self, cuDeviceGetCount(&mut count)) }.map(|()| count)
    }
}

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
}

impl Context {
    pub(crate) fn retain(driver: &'static Driver, ordinal: i32) -> Result<Self, Error> {
        let (mut device, mut handle) = (0, ptr::null_mut());
        // SAFETY: the driver is initialised; out pointers are valid.
        unsafe { cu!(driver, cuDeviceGet(&mut device, ordinal)) }?;
        // SAFETY: `device` was given by the driver just now.
        unsafe { cu!(driver, cuDevicePrimaryCtxRetain(&mut handle, device)) }?;
        Ok(Self { driver, ordinal, device, handle: Handle(handle) })
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
        let (mut pool, mut threshold) = (ptr::null_mut(), u64::MAX);
        // SAFETY: the out pointer is valid.
        unsafe { cu!(self.driver, cuDeviceGetDefaultMemPool(&mut pool, self.device)) }?;
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: this attribute is a cuuint64_t, which is what the pointer leads to.
        unsafe { cu!(self.driver, cuMemPoolSetAttribute(pool, attribute, (&raw mut threshold).cast())) }
    }
}

// The owners below hold a context that lives for good; each handle was given by the driver and is destroyed once, in `drop`.
pub(crate) struct Stream {
    pub(crate) context: &'static Context,
    handle: Handle<CUstream_st>,
}

impl Stream {
    pub(crate) fn create(context: &'static Context) -> Result<Self, Error> {
        let mut handle = ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
        // SAFETY: the out pointer is valid, the context current.
        unsafe { cu!(context.bind()?, cuStreamCreate(&mut handle, flags)) }?;
        Ok(Self { context, handle: Handle(handle) })
    }

    pub(crate) fn handle(&self) -> *mut c_void {
        self.handle.0.cast()
    }

    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the stream is alive.
        unsafe { cu!(self.context.bind()?, cuStreamSynchronize(self.handle.0)) }
    }

    pub(crate) fn wait(&self, event: &Event) -> Result<(), Error> {
        // SAFETY: both handles are alive.
        unsafe { cu!(self.context.bind()?, cuStreamWaitEvent(self.handle.0, event.handle.0, 0)) }
    }

    pub(crate) fn is_capturing(&self) -> Result<bool, Error> {
        let mut status = 0u32;
        // SAFETY: the status is a 32-bit enum; it is read as the integer that it is.
        unsafe { cu!(self.context.bind()?, cuStreamIsCapturing(self.handle.0, (&raw mut status).cast())) }?;
        Ok(status != 0)
    }

    pub(crate) fn begin_capture(&self) -> Result<(), Error> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive.
        unsafe { cu!(self.context.bind()?, cuStreamBeginCapture_v2(self.handle.0, mode)) }
    }

    /// Ends the capture; the template graph is instantiated and destroyed at once.
    pub(crate) fn end_capture(&self) -> Result<Graph, Error> {
        let (mut graph, mut exec) = (ptr::null_mut(), ptr::null_mut());
        let driver = self.context.bind()?;
        // SAFETY: the stream is alive, the out pointer valid.
        unsafe { cu!(driver, cuStreamEndCapture(self.handle.0, &mut graph)) }?;
        // SAFETY: the graph was given just now.
        let made = unsafe { cu!(driver, cuGraphInstantiateWithFlags(&mut exec, graph, 0)) };
        // SAFETY: the graph is destroyed once and not used after.
        unsafe { (driver.table.cuGraphDestroy)(graph) };
        made.map(|()| Graph { context: self.context, exec: Handle(exec) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: destroyed once. The driver finishes work already queued.
        let _ = self.context.bind().map(|driver| unsafe { (driver.table.cuStreamDestroy_v2)(self.handle.0) });
    }
}

pub(crate) struct Event {
    pub(crate) context: &'static Context,
    handle: Handle<CUevent_st>,
}

impl Event {
    pub(crate) fn create(context: &'static Context, timing: bool) -> Result<Self, Error> {
        let mut handle = ptr::null_mut();
        let flags = if timing { CUevent_flags::CU_EVENT_DEFAULT } else { CUevent_flags::CU_EVENT_DISABLE_TIMING };
        // SAFETY: the out pointer is valid.
        unsafe { cu!(context.bind()?, cuEventCreate(&mut handle, flags as c_uint)) }?;
        Ok(Self { context, handle: Handle(handle) })
    }

    pub(crate) fn record(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: both handles are alive.
        unsafe { cu!(self.context.bind()?, cuEventRecord(self.handle.0, stream.handle.0)) }
    }

    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the event is alive.
        unsafe { cu!(self.context.bind()?, cuEventSynchronize(self.handle.0)) }
    }

    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        let driver = self.context.bind()?;
        // SAFETY: the event is alive.
        let code = unsafe { (driver.table.cuEventQuery)(self.handle.0) };
        if code == CUresult::CUDA_ERROR_NOT_READY as u32 {
            Ok(false)
        } else {
            driver.check("cuEventQuery", code).map(|()| true)
        }
    }

    pub(crate) fn elapsed_ms_since(&self, start: &Event) -> Result<f32, Error> {
        let (mut ms, driver) = (0.0, self.context.bind()?);
        // SAFETY: both events are alive, the out pointer valid.
        let code = unsafe { (driver.elapsed)(&mut ms, start.handle.0, self.handle.0) };
        driver.check("cuEventElapsedTime", code).map(|()| ms)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: destroyed once; the driver keeps what it still needs.
        let _ = self.context.bind().map(|driver| unsafe { (driver.table.cuEventDestroy_v2)(self.handle.0) });
    }
}

pub(crate) struct Graph {
    pub(crate) context: &'static Context,
    exec: Handle<CUgraphExec_st>,
}

impl Graph {
    pub(crate) fn launch(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: both handles are alive. Captured work holds no host address: copies with the host are refused in a capture.
        unsafe { cu!(self.context.bind()?, cuGraphLaunch(self.exec.0, stream.handle.0)) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: destroyed once; a run under way is finished by the driver.
        let _ = self.context.bind().map(|driver| unsafe { (driver.table.cuGraphExecDestroy)(self.exec.0) });
    }
}

/// Device memory from the stream-ordered pool, given back on the stream that it came from.
pub(crate) struct Memory {
    pub(crate) stream: std::sync::Arc<Stream>,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
}

impl Memory {
    /// `bytes` is not 0.
    pub(crate) fn allocate(stream: std::sync::Arc<Stream>, bytes: usize) -> Result<Self, Error> {
        let mut address = 0;
        // SAFETY: the stream is alive, the out pointer valid.
        unsafe { cu!(stream.context.bind()?, cuMemAllocAsync(&mut address, bytes, stream.handle.0)) }?;
        Ok(Self { stream, address, bytes })
    }

    /// Whether `offset..offset + length` lies inside: what every copy below relies on.
    fn spans(&self, offset: usize, length: usize) -> Result<(), Error> {
        let inside = offset.checked_add(length).is_some_and(|end| end <= self.bytes);
        if inside { Ok(()) } else { Err(Error::Length { what: "a device copy", expected: self.bytes, got: length }) }
    }

    /// Returns when `source` has been read.
    pub(crate) fn copy_from_host(&self, source: &[u8]) -> Result<(), Error> {
        self.spans(0, source.len())?;
        let stream = &*self.stream;
        let bytes = source.as_ptr().cast();
        // SAFETY: both sides span the length; the synchronisation outlives the borrow of `source`.
        unsafe {
            cu!(stream.context.bind()?, cuMemcpyHtoDAsync_v2(self.address, bytes, source.len(), stream.handle.0))
        }?;
        stream.synchronize()
    }

    /// Returns when `target` has been written.
    pub(crate) fn copy_to_host(&self, target: &mut [u8]) -> Result<(), Error> {
        self.spans(0, target.len())?;
        let stream = &*self.stream;
        let bytes = target.as_mut_ptr().cast();
        // SAFETY: both sides span the length; the synchronisation outlives the borrow of `target`.
        unsafe {
            cu!(stream.context.bind()?, cuMemcpyDtoHAsync_v2(bytes, self.address, target.len(), stream.handle.0))
        }?;
        stream.synchronize()
    }

    /// Queues a copy of `length` bytes; the host side stays locked by the event of `source`.
    pub(crate) fn copy_from_pinned(&self, source: &Pinned, length: usize, stream: &Stream) -> Result<(), Error> {
        self.spans(0, length.max(source.bytes.min(length)))?;
        source.queue(length, stream, |driver| {
            // SAFETY: both sides span the length (checked here and in `queue`). `Pinned` gives nobody its bytes for
            // writing, and is not freed, before the event that `queue` records has come to pass.
            unsafe { cu!(driver, cuMemcpyHtoDAsync_v2(self.address, source.pointer.0.cast(), length, stream.handle.0)) }
        })
    }

    /// As `copy_from_pinned`, the other way.
    pub(crate) fn copy_to_pinned(&self, target: &mut Pinned, length: usize, stream: &Stream) -> Result<(), Error> {
        self.spans(0, length)?;
        target.queue(length, stream, |driver| {
            // SAFETY: as in `copy_from_pinned`; `Pinned` gives nobody its bytes for reading either before the event.
            unsafe { cu!(driver, cuMemcpyDtoHAsync_v2(target.pointer.0.cast(), self.address, length, stream.handle.0)) }
        })
    }

    pub(crate) fn copy_from_device(&self, source: &Memory, length: usize, stream: &Stream) -> Result<(), Error> {
        self.spans(0, length)?;
        source.spans(0, length)?;
        let driver = stream.context.bind()?;
        // SAFETY: both sides span the length.
        unsafe { cu!(driver, cuMemcpyDtoDAsync_v2(self.address, source.address, length, stream.handle.0)) }
    }

    pub(crate) fn fill(&self, byte: u8, length: usize, stream: &Stream) -> Result<(), Error> {
        self.spans(0, length)?;
        // SAFETY: the memory spans the length.
        unsafe { cu!(stream.context.bind()?, cuMemsetD8Async(self.address, byte, length, stream.handle.0)) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let stream = &*self.stream;
        // SAFETY: freed once, in the order of the stream that it was allocated on.
        let _ =
            stream.context.bind().map(|driver| unsafe { (driver.table.cuMemFreeAsync)(self.address, stream.handle.0) });
    }
}

/// Page-locked host memory, zeroed. `event` is recorded after each queued copy; while `pending`, only the device may touch it.
pub(crate) struct Pinned {
    pointer: Handle<u8>,
    bytes: usize,
    event: Event,
    pending: std::sync::atomic::AtomicBool,
    order: std::sync::Mutex<()>,
}

impl Pinned {
    pub(crate) fn allocate(context: &'static Context, bytes: usize) -> Result<Self, Error> {
        let mut pointer = ptr::null_mut();
        let event = Event::create(context, false)?;
        // SAFETY: the out pointer is valid. Not write-combined, so the host reads it at full speed.
        unsafe { cu!(context.bind()?, cuMemHostAlloc(&mut pointer, bytes.max(1), CU_MEMHOSTALLOC_PORTABLE)) }?;
        // SAFETY: the driver gave this many bytes.
        unsafe { ptr::write_bytes(pointer.cast::<u8>(), 0, bytes) };
        Ok(Self { pointer: Handle(pointer.cast()), bytes, event, pending: false.into(), order: Default::default() })
    }

    /// Queues one copy of the first `length` bytes behind every earlier one, so that one event stands for all.
    fn queue(
        &self,
        length: usize,
        stream: &Stream,
        copy: impl FnOnce(&Driver) -> Result<(), Error>,
    ) -> Result<(), Error> {
        use std::sync::atomic::Ordering::SeqCst;
        if length > self.bytes {
            return Err(Error::Length { what: "a pinned copy", expected: self.bytes, got: length });
        }
        if stream.is_capturing()? {
            return Err(Error::Capturing { call: "a copy between host and device" });
        }
        let _order = self.order.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.pending.swap(true, SeqCst) {
            stream.wait(&self.event)?;
        }
        let queued = copy(stream.context.bind()?);
        // Without its event a copy would run unguarded: wait for it here instead.
        let recorded = self.event.record(stream).or_else(|_| stream.synchronize());
        queued.and(recorded)
    }

    fn settle(&self) {
        use std::sync::atomic::Ordering::SeqCst;
        if self.pending.load(SeqCst) {
            let _order = self.order.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            // A failure here is a context that is lost: no copy runs any more, and the next call reports it.
            let _ = self.event.synchronize();
            self.pending.store(false, SeqCst);
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.settle();
        // SAFETY: allocated, initialised, and after `settle` no copy writes it; a new one that does needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.pointer.0, self.bytes) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.settle();
        // SAFETY: as above, and `&mut self` excludes new copies while the slice is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.0, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.settle();
        // SAFETY: freed once, and no copy is under way.
        let _ = self.event.context.bind().map(|driver| unsafe { (driver.table.cuMemFreeHost)(self.pointer.0.cast()) });
    }
}

/// Loaded device code. It stays loaded until the process ends: a launch or a graph may still run it.
#[derive(Clone, Copy)]
pub(crate) struct Module {
    pub(crate) context: &'static Context,
    handle: Handle<CUmod_st>,
}

#[derive(Clone, Copy)]
pub(crate) struct Function {
    pub(crate) context: &'static Context,
    handle: Handle<CUfunc_st>,
}

impl Module {
    /// `image` is a cubin or PTX text.
    pub(crate) fn load(context: &'static Context, image: &[u8]) -> Result<Self, Error> {
        let mut padded = Vec::with_capacity(image.len() + 64);
        padded.extend_from_slice(image);
        padded.resize(image.len() + 64, 0); // PTX must end in NUL; a cut-off ELF header must not be read past its end
        let mut handle = ptr::null_mut();
        // SAFETY: the image is in memory, its header whole; the driver copies what it keeps.
        unsafe { cu!(context.bind()?, cuModuleLoadData(&mut handle, padded.as_ptr().cast())) }?;
        Ok(Self { context, handle: Handle(handle) })
    }

    pub(crate) fn function(&self, name: &CStr) -> Result<Function, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: the module is loaded for good; the name ends in NUL.
        unsafe { cu!(self.context.bind()?, cuModuleGetFunction(&mut handle, self.handle.0, name.as_ptr())) }?;
        Ok(Function { context: self.context, handle: Handle(handle) })
    }
}

impl Function {
    pub(crate) fn attribute(&self, attribute: CUfunction_attribute) -> Result<i32, Error> {
        let mut value = 0;
        // SAFETY: the out pointer is valid.
        unsafe { cu!(self.context.bind()?, cuFuncGetAttribute(&mut value, attribute, self.handle.0)) }.map(|()| value)
    }

    pub(crate) fn set_attribute(&self, attribute: CUfunction_attribute, value: i32) -> Result<(), Error> {
        // SAFETY: the driver checks the value.
        unsafe { cu!(self.context.bind()?, cuFuncSetAttribute(self.handle.0, attribute, value)) }
    }

    pub(crate) fn blocks_per_multiprocessor(&self, threads: i32, shared_bytes: usize) -> Result<i32, Error> {
        let (mut blocks, driver) = (0, self.context.bind()?);
        let function = self.handle.0;
        // SAFETY: the out pointer is valid.
        unsafe {
            cu!(driver, cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads, shared_bytes))
        }?;
        Ok(blocks)
    }

    /// Bytes of the parameter with this index. `None`: this driver cannot tell. `Some(None)`: there is no such parameter.
    pub(crate) fn parameter_bytes(&self, index: usize) -> Result<Option<Option<usize>>, Error> {
        let (mut offset, mut bytes) = (0, 0);
        let driver = self.context.bind()?;
        let Some(read) = driver.parameter_info else { return Ok(None) };
        // SAFETY: the out pointers are valid; an index past the end is answered with an error.
        let found = unsafe { read(self.handle.0, index, &mut offset, &mut bytes) } == 0;
        Ok(Some(found.then_some(bytes)))
    }

    /// # Safety
    /// `block` must be the parameters that the kernel declares; what the kernel does with the addresses inside must be sound.
    #[inline]
    pub(crate) unsafe fn launch(&self, stream: &Stream, config: &LaunchConfig, block: &[u8]) -> Result<(), Error> {
        let driver = self.context.bind()?;
        // SAFETY: plain C data; zero is a valid value of each field (the attribute id 0 is IGNORE).
        let mut attributes: [CUlaunchAttribute; 2] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        if let Some([x, y, z]) = config.cluster {
            attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attributes[count].value.clusterDim = CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            count += 1;
        }
        if config.programmatic {
            attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            attributes[count].value.programmaticStreamSerializationAllowed = 1;
            count += 1;
        }
        let launch = CUlaunchConfig {
            gridDimX: config.grid[0],
            gridDimY: config.grid[1],
            gridDimZ: config.grid[2],
            blockDimX: config.block[0],
            blockDimY: config.block[1],
            blockDimZ: config.block[2],
            sharedMemBytes: config.shared_bytes,
            hStream: stream.handle.0,
            attrs: attributes.as_mut_ptr(),
            numAttrs: count as c_uint,
        };
        let mut parameters = [block.as_ptr().cast_mut().cast::<c_void>()];
        let (function, none) = (self.handle.0, ptr::null_mut());
        // SAFETY: everything pointed at lives until the call returns; the driver copies the parameters. The rest is the caller's.
        unsafe { cu!(driver, cuLaunchKernelEx(&launch, function, parameters.as_mut_ptr(), none)) }
    }
}

table!(NvrtcTable: cudarc::nvrtc::sys, nvrtcResult {
    nvrtcVersion(*mut c_int, *mut c_int);
    nvrtcGetNumSupportedArchs(*mut c_int);
    nvrtcGetSupportedArchs(*mut c_int);
    nvrtcCreateProgram(*mut nvrtcProgram, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
    nvrtcDestroyProgram(*mut nvrtcProgram);
    nvrtcCompileProgram(nvrtcProgram, c_int, *const *const c_char);
    nvrtcGetProgramLogSize(nvrtcProgram, *mut usize);
    nvrtcGetProgramLog(nvrtcProgram, *mut c_char);
    nvrtcGetCUBINSize(nvrtcProgram, *mut usize);
    nvrtcGetCUBIN(nvrtcProgram, *mut c_char);
    nvrtcGetPTXSize(nvrtcProgram, *mut usize);
    nvrtcGetPTX(nvrtcProgram, *mut c_char);
});

/// The compiler library.
pub(crate) struct Compiler {
    table: NvrtcTable,
}

/// Opens a library for good, its symbols visible to what is loaded later.
pub(crate) fn preload(file: &OsStr) -> Result<(), String> {
    open(file, RTLD_NOW | RTLD_GLOBAL).map(std::mem::forget)
}

fn compiler_check(call: &'static str, code: u32) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error::Nvrtc { call, code }) }
}

type Size = unsafe extern "C" fn(nvrtcProgram, *mut usize) -> u32;
type Read = unsafe extern "C" fn(nvrtcProgram, *mut c_char) -> u32;

impl Compiler {
    pub(crate) fn open(file: &OsStr) -> Result<Self, String> {
        let library = open(file, RTLD_NOW | RTLD_LOCAL)?;
        let table = NvrtcTable::resolve(&library).map_err(|symbol| format!("lacks `{symbol}`"))?;
        std::mem::forget(library); // the table lives as long as the process
        Ok(Self { table })
    }

    pub(crate) fn version(&self) -> Result<(i32, i32), Error> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the out pointers are valid.
        compiler_check("nvrtcVersion", unsafe { (self.table.nvrtcVersion)(&mut major, &mut minor) })?;
        Ok((major, minor))
    }

    /// Architectures as `10 * major + minor`.
    pub(crate) fn architectures(&self) -> Result<Vec<i32>, Error> {
        let mut count = 0;
        // SAFETY: the out pointer is valid.
        compiler_check("nvrtcGetNumSupportedArchs", unsafe { (self.table.nvrtcGetNumSupportedArchs)(&mut count) })?;
        let mut list = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the list has room for the number that the library named.
        compiler_check("nvrtcGetSupportedArchs", unsafe { (self.table.nvrtcGetSupportedArchs)(list.as_mut_ptr()) })?;
        Ok(list)
    }

    /// The log, and the image (a cubin, else PTX) or the error that the compilation ended with.
    pub(crate) fn compile(
        &self,
        [name, text]: [&CStr; 2],
        headers: &[[CString; 2]],
        options: &[CString],
        cubin: bool,
    ) -> Result<(String, Result<Vec<u8>, Error>), Error> {
        let names: Vec<_> = headers.iter().map(|[name, _]| name.as_ptr()).collect();
        let texts: Vec<_> = headers.iter().map(|[_, text]| text.as_ptr()).collect();
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let mut handle = ptr::null_mut();
        let (table, count) = (&self.table, headers.len() as c_int);
        // SAFETY: all strings end in NUL and outlive the call; the counts are those of the lists.
        let created = unsafe {
            (table.nvrtcCreateProgram)(&mut handle, text.as_ptr(), name.as_ptr(), count, texts.as_ptr(), names.as_ptr())
        };
        compiler_check("nvrtcCreateProgram", created)?;
        let program = Program { table, handle };
        // SAFETY: the program is alive; the options end in NUL.
        let code = unsafe { (table.nvrtcCompileProgram)(handle, options.len() as c_int, options.as_ptr()) };
        let log = program.read(table.nvrtcGetProgramLogSize, table.nvrtcGetProgramLog)?;
        let image = compiler_check("nvrtcCompileProgram", code).and_then(|()| match cubin {
            true => program.read(table.nvrtcGetCUBINSize, table.nvrtcGetCUBIN),
            false => program.read(table.nvrtcGetPTXSize, table.nvrtcGetPTX),
        });
        let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned();
        Ok((log, image))
    }
}

struct Program<'a> {
    table: &'a NvrtcTable,
    handle: nvrtcProgram,
}

impl Program<'_> {
    fn read(&self, size: Size, read: Read) -> Result<Vec<u8>, Error> {
        let mut bytes = 0;
        // SAFETY: the program is alive, the out pointer valid.
        compiler_check("nvrtcGet..Size", unsafe { size(self.handle, &mut bytes) })?;
        let mut buffer = vec![0; bytes];
        // SAFETY: the buffer has the size that the library named for it.
        compiler_check("nvrtcGet..", unsafe { read(self.handle, buffer.as_mut_ptr().cast()) })?;
        Ok(buffer)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        unsafe { (self.table.nvrtcDestroyProgram)(&mut self.handle) };
    }
}

// Here and not in module.rs, because it is unsafe.
impl crate::Function {
    /// Queues the kernel on `stream` with one parameter block. Allocates nothing; the block is copied before this returns.
    ///
    /// Errors: a block of another size than the kernel declares, a stream of another device, a launch that the driver refuses
    /// (with its numbers). What goes wrong on the device later comes out of [`Stream::synchronize`](crate::Stream::synchronize).
    ///
    /// # Safety
    /// The kernel runs with the addresses in `parameters`. They must be those of live memory that is large enough and of the
    /// right device, until the kernel is done (and, in a capture, while the graph is in use); no other work may write what the
    /// kernel reads, or read what it writes, unless a stream or an event puts the two in order.
    #[inline]
    pub unsafe fn launch(&self, stream: &crate::Stream, config: &LaunchConfig, parameters: &[u8]) -> Result<(), Error> {
        self.check_launch(stream, parameters)?;
        // SAFETY: the size of the block is checked where the driver tells it; the rest is this function's own contract.
        unsafe { self.raw.launch(&stream.raw, config, parameters) }.map_err(|cause| self.launch_error(config, cause))
    }
}
