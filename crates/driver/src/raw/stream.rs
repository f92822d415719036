//! Streams, the events that put them in order, and the graphs captured from them.
//!
//! Each owner holds its context; its handle was given by the driver and is destroyed once, in `drop`.

use std::{
    ffi::{c_uint, c_void},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

use cudarc::driver::sys::*;

use super::{Context, Handle, Held, pool::Pool};
use crate::Error;

pub(crate) struct Stream {
    pub(crate) context: Held,
    pub(super) handle: Handle<CUstream_st>,
    pub(super) pool: Pool,
    /// Whether a capture was begun here.
    captured: AtomicBool,
}

impl Stream {
    pub(crate) fn create(context: &'static Context) -> Result<Self, Error> {
        let (context, mut handle) = (Held::new(context), ptr::null_mut());
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
        // SAFETY: the out pointer is valid, the context current.
        unsafe { cu!(context.bind()?, cuStreamCreate(&mut handle, flags)) }?;
        Ok(Self { context, handle: Handle(handle), pool: Pool::default(), captured: AtomicBool::new(false) })
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
        unsafe { cu!(self.context.bind()?, cuStreamBeginCapture_v2(self.handle.0, mode)) }?;
        self.captured.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether a capture was begun with [`begin_capture`](Self::begin_capture) and goes on. Costs no call of the driver.
    pub(crate) fn is_captured(&self) -> bool {
        self.captured.load(Ordering::Relaxed)
    }

    /// Ends the capture; the template graph is instantiated and destroyed at once.
    pub(crate) fn end_capture(&self) -> Result<Graph, Error> {
        let (mut graph, mut exec) = (ptr::null_mut(), ptr::null_mut());
        let driver = self.context.bind()?;
        self.captured.store(false, Ordering::Relaxed);
        // SAFETY: the stream is alive, the out pointer valid.
        unsafe { cu!(driver, cuStreamEndCapture(self.handle.0, &mut graph)) }?;
        // SAFETY: the graph was given just now.
        let made = unsafe { cu!(driver, cuGraphInstantiateWithFlags(&mut exec, graph, 0)) };
        // SAFETY: the graph is destroyed once and not used after.
        unsafe { (driver.table.cuGraphDestroy)(graph) };
        made.map(|()| Graph { context: Held::new(*self.context), exec: Handle(exec) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.empty_pool();
        // SAFETY: destroyed once. The driver finishes work already queued.
        let _ = self.context.bind().map(|driver| unsafe { (driver.table.cuStreamDestroy_v2)(self.handle.0) });
    }
}

pub(crate) struct Event {
    pub(crate) context: Held,
    handle: Handle<CUevent_st>,
}

impl Event {
    pub(crate) fn create(context: &'static Context, timing: bool) -> Result<Self, Error> {
        let (context, mut handle) = (Held::new(context), ptr::null_mut());
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
    pub(crate) context: Held,
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
