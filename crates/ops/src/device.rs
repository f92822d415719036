//! Where tensors live and expressions run.

use crate::error::Error;
use crate::pointwise;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tilewright_driver as driver;

/// The CPU, or one GPU. Cheap to clone.
#[derive(Clone, Default)]
pub enum Device {
    /// Host memory, all cores.
    #[default]
    Cpu,
    /// A GPU.
    Gpu(Gpu),
}

impl Device {
    /// The first GPU if there is a usable one, else the CPU.
    pub fn auto() -> Device {
        Device::gpu(0).unwrap_or(Device::Cpu)
    }

    /// GPU number `ordinal`, or why it cannot be used.
    pub fn gpu(ordinal: usize) -> Result<Device, Error> {
        Ok(Device::Gpu(Gpu::open(ordinal)?))
    }

    /// GPU number `ordinal` with a new context, if it lost the one that it had: see [`driver::Device::renew`]. All tensors on it have to be
    /// dropped before.
    pub fn renew(ordinal: usize) -> Result<Device, Error> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        // What everybody shares is in nobody's way.
        open.retain(|(number, gpu)| *number != ordinal || !gpu.0.device.is_lost());
        drop(open);
        driver::Device::renew(ordinal)?;
        Device::gpu(ordinal)
    }

    /// The GPU, if this is one.
    pub fn as_gpu(&self) -> Option<&Gpu> {
        match self {
            Device::Cpu => None,
            Device::Gpu(gpu) => Some(gpu),
        }
    }

    /// Waits for everything queued on the device. A box that reached outside its picture comes out here.
    pub fn synchronize(&self) -> Result<(), Error> {
        match self {
            Device::Cpu => Ok(()),
            Device::Gpu(gpu) => gpu.synchronize(),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => write!(f, "CPU"),
            Device::Gpu(gpu) => write!(f, "{} ({})", gpu.0.device.name(), gpu.0.device.ordinal()),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A GPU with the stream that tilewright works on.
#[derive(Clone)]
pub struct Gpu(Arc<Inner>);

struct Inner {
    device: driver::Device,
    stream: driver::Stream,
    /// Host operands are sent on a stream of their own, while earlier kernels run.
    sending: driver::Stream,
    /// One word that kernels set to 1 + the index of a box that reached outside.
    error: driver::DeviceBuffer<u32>,
    guarded: AtomicBool,
    staging: Mutex<Staging>,
    /// What the blocks of each section of a launch leave for each other; launches on the stream take turns with it.
    workspaces: Mutex<Vec<driver::DeviceBuffer<u8>>>,
}

/// A ring of page-locked buffers, each with its twin on the device, through which host operands that exceed the parameter
/// block reach a kernel without making the host wait.
#[derive(Default)]
struct Staging {
    stages: Vec<Stage>,
    next: usize,
}

struct Stage {
    host: driver::PinnedBuffer<u8>,
    device: driver::DeviceBuffer<u8>,
    /// Behind the copy to the device.
    sent: driver::Event,
    /// Behind the kernel that read it.
    read: driver::Event,
}

/// Stages of the ring: launches that can be under way before the host waits for the first.
const STAGES: usize = 4;
/// Bytes of the smallest stage.
const STAGE_BYTES: usize = 64 << 10;

/// Where compiled kernels are kept.
pub(crate) fn kernels() -> &'static driver::KernelCache {
    driver::KernelCache::shared()
}

static OPEN: Mutex<Vec<(usize, Gpu)>> = Mutex::new(Vec::new());

impl Gpu {
    fn open(ordinal: usize) -> Result<Gpu, Error> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, gpu)) = open.iter().find(|(o, _)| *o == ordinal) {
            return Ok(gpu.clone());
        }
        driver::Device::count()?;
        if kernels().is_empty() {
            // Whoever compiles for the first time has the compiler loaded while the device opens.
            driver::toolkit::load_ahead();
        }
        // The first call is not to wait for it.
        pointwise::load();
        let gpu = Gpu::with_streams(driver::Device::new(ordinal)?)?;
        open.push((ordinal, gpu.clone()));
        Ok(gpu)
    }

    /// The same device with streams and workspaces of its own, for work that is nobody's call. What is planned for one holds nothing of the
    /// other, so an expression is not given both.
    pub(crate) fn beside(&self) -> Result<Gpu, Error> {
        Gpu::with_streams(self.0.device)
    }

    fn with_streams(device: driver::Device) -> Result<Gpu, Error> {
        let stream = device.stream()?;
        Ok(Gpu(Arc::new(Inner {
            sending: device.stream()?,
            error: stream.alloc_zeroed(1)?,
            device,
            stream,
            guarded: AtomicBool::new(false),
            staging: Mutex::default(),
            workspaces: Mutex::default(),
        })))
    }

    /// The device.
    pub fn device(&self) -> &driver::Device {
        &self.0.device
    }

    /// The stream that calls are queued on.
    pub fn stream(&self) -> &driver::Stream {
        &self.0.stream
    }

    /// Gives device memory that is kept for later calls to the system. Waits for everything queued.
    ///
    /// What results give back when they are dropped is kept for the next ones: up to 32 MiB, see [`driver::Stream::trim`].
    pub fn trim(&self) -> Result<(), Error> {
        self.0.sending.trim()?;
        Ok(self.0.stream.trim()?)
    }

    /// Waits for everything queued. A box or a coordinate that reached outside since the last time comes out here.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.0.stream.synchronize()?;
        if self.0.guarded.swap(false, Ordering::Relaxed) {
            let word = self.0.error.to_vec()?;
            if let Some(word) = word.first().copied().filter(|w| *w != 0) {
                self.0.error.fill_bytes(0)?;
                return Err(tilewright_expr::Error::of_word(word).into());
            }
        }
        Ok(())
    }

    /// The address of the error word; the next synchronisation will read it.
    pub(crate) fn error_word(&self) -> u64 {
        self.0.guarded.store(true, Ordering::Relaxed);
        self.0.error.device_ptr()
    }

    /// The address of workspace `number`, of at least `bytes` bytes, whose counters are 0. Each only grows.
    pub(crate) fn workspace(&self, number: usize, bytes: usize) -> Result<u64, Error> {
        let mut workspaces = self.0.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workspace) = workspaces.get(number).filter(|w| w.len() >= bytes) {
            return Ok(workspace.device_ptr());
        }
        let new = self.0.stream.alloc_zeroed(bytes.next_power_of_two())?;
        let address = new.device_ptr();
        match workspaces.get_mut(number) {
            Some(old) => *old = new,
            // Numbers are asked for in order.
            None => workspaces.push(new),
        }
        Ok(address)
    }

    /// Sends `bytes` bytes, written by `fill`, to the device, and launches what reads them: `launch` gets their address. The
    /// copy overlaps kernels that are under way; the stage is used again only behind the kernel that read it.
    pub(crate) fn stage(
        &self,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]),
        launch: impl FnOnce(u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut staging = self.0.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let number = staging.next % STAGES;
        staging.next = number + 1;
        if staging.stages.get(number).is_none_or(|s| s.host.len() < bytes) {
            let stage = self.new_stage(bytes.next_power_of_two().max(STAGE_BYTES))?;
            match staging.stages.get_mut(number) {
                Some(old) => *old = stage,
                None => staging.stages.push(stage),
            }
        }
        let Some(stage) = staging.stages.get_mut(number) else { return Ok(()) };
        let (computing, sending) = (&self.0.stream, &self.0.sending);
        // Writing waits for the copy that this stage was last used for.
        fill(&mut stage.host[..bytes]);
        sending.wait(&stage.read)?;
        stage.device.copy_from_pinned_start(sending, &stage.host, bytes)?;
        sending.record_again(&mut stage.sent)?;
        computing.wait(&stage.sent)?;
        let launched = launch(stage.device.device_ptr());
        computing.record_again(&mut stage.read)?;
        launched
    }

    fn new_stage(&self, capacity: usize) -> Result<Stage, Error> {
        let (computing, sending) = (&self.0.stream, &self.0.sending);
        Ok(Stage {
            host: self.0.device.pinned(capacity)?,
            device: computing.alloc(capacity)?,
            sent: sending.mark()?,
            read: computing.mark()?,
        })
    }

    pub(crate) fn same(&self, other: &Gpu) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn ordinal(&self) -> usize {
        self.0.device.ordinal()
    }

    /// What loaded kernels are known by.
    #[inline]
    pub(crate) fn context_number(&self) -> u64 {
        self.0.device.context_number()
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu {}", self.ordinal())
    }
}
