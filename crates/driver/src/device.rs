use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use cudarc::driver::sys::CUdevice_attribute as Attribute;

use crate::{Arch, Compiled, Error, Module, Stream, libcuda, raw};

/// A GPU, with its primary context. Cheap to copy; the same device is the same object wherever it was asked for.
#[derive(Clone, Copy)]
pub struct Device {
    properties: &'static Properties,
}

/// Those that were asked for.
static OPEN: Mutex<Vec<Device>> = Mutex::new(Vec::new());

struct Properties {
    context: &'static raw::Context,
    name: String,
    arch: Arch,
    multiprocessors: u32,
    l2_bytes: usize,
    memory_bytes: usize,
    shared_bytes_per_block: u32,
    resident: [u32; 2],
    /// The memory's clock in kHz, and its width in bits.
    memory: [u32; 2],
    /// The multiprocessors' clock in kHz.
    clock: u32,
    driver_version: (i32, i32),
    uuid: [u8; 16],
}

impl Device {
    /// How many devices the driver sees. A machine without any is `Error::NoDevice`.
    pub fn count() -> Result<usize, Error> {
        let count = libcuda::driver()?.device_count().map_err(libcuda::no_device)?;
        if count > 0 { Ok(count as usize) } else { Err(Error::NoDevice) }
    }

    /// The device with this number, counted from 0. Opening it the first time takes about 0.1 s.
    pub fn new(ordinal: usize) -> Result<Self, Error> {
        let count = Self::count()?;
        if ordinal >= count {
            return Err(Error::BadOrdinal { ordinal, count });
        }
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = open.iter().find(|device| device.ordinal() == ordinal) {
            return Ok(*device);
        }
        let device = Self::open(ordinal)?;
        open.push(device);
        Ok(device)
    }

    /// Leaks on purpose, once per context: that lasts as long as the process, if it is not lost.
    fn open(ordinal: usize) -> Result<Self, Error> {
        Ok(Self { properties: Box::leak(Box::new(Properties::read(ordinal as i32)?)) })
    }

    /// The device with a new context, if it lost the one that it had ([`Error::ContextLost`]); otherwise as it is. Kernels have to be loaded again,
    /// and what [`Device::new`] gave before stays lost.
    ///
    /// [`Error::ContextInUse`] while streams, events, buffers or graphs of the old one are there. Where the driver makes no other, it is
    /// [`Error::ContextLost`] again: only a new process uses the device then. After an exception of a kernel no driver has made another so far
    /// (an illegal address and a trap on an H100, driver 580, 2026-11-26), nor does it while a library such as cuBLAS keeps the old one; after a
    /// reset of the device by somebody else in the process (`cudaDeviceReset`) it does.
    pub fn renew(ordinal: usize) -> Result<Self, Error> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(device) = open.iter_mut().find(|device| device.ordinal() == ordinal) else {
            drop(open);
            return Self::new(ordinal);
        };
        if device.is_lost() {
            device.context().release()?;
            let lost = |cause| Error::ContextLost { ordinal, cause: Box::new(cause) };
            let renewed = Self::open(ordinal).map_err(lost)?;
            renewed.stream().and_then(|stream| stream.synchronize()).map_err(lost)?;
            *device = renewed;
        }
        Ok(*device)
    }

    /// Whether its context is lost, with all that was made on it.
    pub fn is_lost(&self) -> bool {
        self.properties.context.is_lost()
    }

    /// The number of its context among those of this process: another one knows no kernel that was loaded before.
    pub fn context_number(&self) -> u64 {
        self.properties.context.number
    }

    /// The device's number.
    pub fn ordinal(&self) -> usize {
        self.properties.context.ordinal as usize
    }

    /// The product name, such as "NVIDIA H200".
    pub fn name(&self) -> &'static str {
        &self.properties.name
    }

    /// The compute capability.
    pub fn arch(&self) -> Arch {
        self.properties.arch
    }

    /// Number of streaming multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.properties.multiprocessors
    }

    /// Size of the level-2 cache.
    pub fn l2_bytes(&self) -> usize {
        self.properties.l2_bytes
    }

    /// Size of the device memory.
    pub fn memory_bytes(&self) -> usize {
        self.properties.memory_bytes
    }

    /// The most shared memory that one block can have, when the kernel asks for it.
    pub fn shared_bytes_per_block(&self) -> u32 {
        self.properties.shared_bytes_per_block
    }

    /// The most threads, and the most blocks, that a multiprocessor has at a time.
    pub fn resident(&self) -> [u32; 2] {
        self.properties.resident
    }

    /// Bytes a second that the memory's clock and width make, at best; `None` where the driver does not tell them.
    pub fn memory_bandwidth(&self) -> Option<f64> {
        let [kilohertz, bits] = self.properties.memory.map(f64::from);
        // Twice a clock.
        Some(2.0 * kilohertz * 1e3 * bits / 8.0).filter(|bytes| *bytes > 0.0)
    }

    /// The highest clock of the multiprocessors, in Hz; `None` where the driver does not tell it.
    pub fn clock(&self) -> Option<f64> {
        Some(f64::from(self.properties.clock) * 1e3).filter(|hertz| *hertz > 0.0)
    }

    /// Most bytes of parameters that a kernel can have: 32,764, or 4096 before CUDA 12.1 and compute capability 7.0.
    pub fn parameter_bytes(&self) -> usize {
        let large = self.driver_version() >= (12, 1) && self.arch() >= Arch::new(7, 0);
        if large { raw::MOST_PARAMETER_BYTES } else { 4096 }
    }

    /// The newest CUDA version that the driver serves, (major, minor).
    pub fn driver_version(&self) -> (i32, i32) {
        self.properties.driver_version
    }

    /// The device's lasting identity.
    pub fn uuid(&self) -> [u8; 16] {
        self.properties.uuid
    }

    /// Where the device is on the machine's PCI bus, as the system names it: `0000:3b:00.0`.
    pub fn pci_address(&self) -> Result<String, Error> {
        use cudarc::driver::sys::CUdevice_attribute::*;
        let part = |attribute| self.properties.context.attribute(attribute);
        let [domain, bus, device] = [
            part(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?,
            part(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?,
            part(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?,
        ];
        Ok(format!("{domain:04x}:{bus:02x}:{device:02x}.0"))
    }

    /// Free and total bytes of device memory at this moment.
    pub fn memory_info(&self) -> Result<(usize, usize), Error> {
        self.properties.context.memory_info()
    }

    /// A new stream. It does not wait for CUDA's legacy default stream, nor that for it.
    pub fn stream(&self) -> Result<Stream, Error> {
        Ok(Stream { raw: Arc::new(raw::Stream::create(self.context())?), device: *self })
    }

    /// Makes the device's context current on this thread. Needed only after another CUDA library changed it there: every
    /// call of this crate makes it current by itself, and remembers that per thread.
    pub fn bind(&self) -> Result<(), Error> {
        self.context().bind_anew()
    }

    /// Loads compiled code. What the driver does not take is `Error::Refused`.
    pub fn load(&self, compiled: &Compiled) -> Result<Module, Error> {
        Module::load(*self, compiled)
    }

    pub(crate) fn context(&self) -> &'static raw::Context {
        self.properties.context
    }

    /// Whether `other` is this device, with the same context; if not, an error that names `what`.
    #[inline]
    pub(crate) fn expect(&self, other: &Device, what: &'static str) -> Result<(), Error> {
        let (own, others) = (self.context(), other.context());
        if own.number == others.number {
            return Ok(());
        }
        // Of two contexts of one device one is lost.
        own.check().and(others.check())?;
        Err(Error::OtherDevice { what, expected: own.ordinal, got: others.ordinal })
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device {}: {} ({})", self.ordinal(), self.name(), self.arch())
    }
}

impl Properties {
    fn read(ordinal: i32) -> Result<Self, Error> {
        let driver = libcuda::driver()?;
        let context = raw::Context::retain(driver, ordinal)?;
        let read = |attribute| context.attribute(attribute).map(|value| value.max(0) as u32);
        let properties = Self {
            name: context.name()?,
            arch: Arch::new(
                read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: read(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            l2_bytes: read(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
            memory_bytes: context.total_memory()?,
            shared_bytes_per_block: read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            resident: [
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
                read(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            ],
            memory: [
                Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE,
                Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH,
            ]
            // What a driver leaves out is no reason to refuse its device.
            .map(|attribute| read(attribute).unwrap_or(0)),
            clock: read(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).unwrap_or(0),
            driver_version: libcuda::driver_version()?,
            uuid: context.uuid()?,
            context,
        };
        properties.context.keep_pool()?;
        Ok(properties)
    }
}
