use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use crate::{Device, Error, Graph, raw};

/// A queue of work on a device. Clones are the same queue.
#[derive(Clone)]
pub struct Stream {
    pub(crate) raw: Arc<raw::Stream>,
    pub(crate) device: Device,
}

impl Stream {
    /// The device that the stream works on.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Waits until everything queued so far is done. Errors of that work come out here.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.raw.synchronize()
    }

    /// Why a library failed here: where the context is lost it says no more than that it failed, and the driver knows.
    pub(crate) fn explained(&self, error: Error) -> Error {
        if !matches!(error, Error::Library { .. }) || self.raw.is_captured() {
            return error;
        }
        self.synchronize().err().filter(Error::is_sticky).unwrap_or(error)
    }

    /// Gives memory that the stream keeps for its next allocations to the device, and what the device then has to spare to the
    /// system; so too page-locked memory that is kept ([`Device::pinned_scratch`]). Waits for everything queued so far.
    ///
    /// A stream keeps what its buffers give back, up to 64 MiB in blocks of at most 16 MiB, because the driver's own allocation costs
    /// more than a launch's other work. It does so by itself where an allocation finds no memory.
    pub fn trim(&self) -> Result<(), Error> {
        self.raw.empty_pool();
        self.raw.context.empty_spare();
        self.raw.synchronize()?;
        self.raw.context.trim_pool()
    }

    /// A mark behind everything queued so far, with a time.
    pub fn record(&self) -> Result<Event, Error> {
        self.marked(true)
    }

    /// A mark without a time, for what only waits for it: it costs the device less.
    pub fn mark(&self) -> Result<Event, Error> {
        self.marked(false)
    }

    fn marked(&self, timing: bool) -> Result<Event, Error> {
        let event = raw::Event::create(*self.raw.context, timing)?;
        event.record(&self.raw)?;
        Ok(Event { raw: event })
    }

    /// Moves a mark of any stream of this device behind everything queued on this one so far.
    pub fn record_again(&self, event: &mut Event) -> Result<(), Error> {
        event.raw.record(&self.raw)
    }

    /// Lets later work on this stream begin only when `event` has come to pass. The host does not wait.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        self.raw.wait(&event.raw)
    }

    /// Runs `work` with everything that it queues on this stream captured into a graph instead of executed, and gives the
    /// graph with what `work` returned. Allocation and copies between host and device are refused meanwhile
    /// (`Error::Capturing`). Buffers that the captured work uses must outlive the graph's launches.
    pub fn capture<R>(&self, work: impl FnOnce() -> R) -> Result<(Graph, R), Error> {
        self.raw.begin_capture()?;
        let result = catch_unwind(AssertUnwindSafe(work));
        let graph = self.raw.end_capture();
        match result {
            Ok(result) => Ok((Graph { raw: graph?, device: self.device }, result)),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// The driver's `CUstream`, for other libraries. It is valid as long as this stream. Of a capture that is begun through it this
    /// stream learns only when it asks the driver for memory: memory that it keeps ([`Stream::trim`]) may be given out meanwhile.
    pub fn handle(&self) -> *mut std::ffi::c_void {
        self.raw.handle()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream {:?} of {:?}", self.raw.handle(), self.device)
    }
}

/// A mark in a stream.
pub struct Event {
    raw: raw::Event,
}

impl Event {
    /// Milliseconds from `start` to this event. Both must have a time ([`Stream::record`]), and have come to pass.
    pub fn elapsed_ms_since(&self, start: &Event) -> Result<f32, Error> {
        self.raw.elapsed_ms_since(&start.raw)
    }

    /// Waits until the event has come to pass.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.raw.synchronize()
    }

    /// Whether the event has come to pass.
    pub fn is_done(&self) -> Result<bool, Error> {
        self.raw.is_done()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event of device {}", self.raw.context.ordinal)
    }
}
