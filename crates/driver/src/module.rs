use std::{ffi::CString, fmt, sync::Arc};

use cudarc::driver::sys::CUfunction_attribute as Attribute;

use crate::{Compiled, Device, Error, Stream, Target, raw};

/// Results with which the driver says that it does not take an image: invalid image, no binary for this GPU, invalid PTX,
/// JIT compiler missing, PTX too new, invalid source, unsupported architecture or feature, JIT switched off.
const REFUSALS: [u32; 9] = [200, 209, 218, 221, 222, 223, 300, 224, 801];
const NOT_FOUND: u32 = 500;

/// Code loaded on a device. It stays loaded until the process ends, since launches and graphs may still run it.
#[derive(Clone)]
pub struct Module {
    raw: raw::Module,
    device: Device,
    name: Arc<str>,
    target: Target,
}

impl Module {
    pub(crate) fn load(device: Device, compiled: &Compiled) -> Result<Self, Error> {
        let raw = raw::Module::load(device.context(), &compiled.image).map_err(|error| {
            let (name, bytes) = (compiled.name.clone(), compiled.image.len());
            if error.is_code(&REFUSALS) { Error::Refused { name, bytes, cause: Box::new(error) } } else { error }
        })?;
        let target = Target::new(compiled.target, compiled.arch);
        Ok(Self { raw, device, name: compiled.name.as_str().into(), target })
    }

    /// The device that the code is on.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The kernel of this name, loaded completely, so that its first launch costs no more than later ones.
    pub fn function(&self, kernel: &str) -> Result<Function, Error> {
        let c = CString::new(kernel)
            .map_err(|_| Error::NulByte { name: self.name.to_string(), what: "a kernel's name".into() })?;
        let raw = self.raw.function(&c).map_err(|error| match error.is_code(&[NOT_FOUND]) {
            true => Error::NoKernel { module: self.name.to_string(), kernel: kernel.into() },
            false => error,
        })?;
        let parameters = raw.parameters()?.map(Arc::from);
        let read = |attribute| raw.attribute(attribute).map(|value| value.max(0) as u32);
        Ok(Function {
            registers: read(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            shared_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            max_threads_per_block: read(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            raw,
            device: self.device,
            name: kernel.into(),
            target: self.target,
            parameters,
        })
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module {} on {:?}", self.name, self.device)
    }
}

/// A kernel on a device.
#[derive(Clone)]
pub struct Function {
    pub(crate) raw: raw::Function,
    pub(crate) device: Device,
    name: Arc<str>,
    target: Target,
    parameters: Option<Arc<[usize]>>,
    registers: u32,
    local_bytes: u32,
    shared_bytes: u32,
    max_threads_per_block: u32,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, bytes. Above 48 KB call [`Function::set_max_shared_bytes`] once before.
    pub shared_bytes: u32,
    /// Blocks of a cluster, when the kernel uses clusters whose size is not fixed in its source.
    pub cluster: Option<[u32; 3]>,
    /// Programmatic dependent launch: the kernel may start before the one ahead of it in the stream has ended. Its source
    /// must wait (`griddepcontrol.wait`) before it reads what that one writes.
    pub programmatic: bool,
    /// Cooperative launch: all blocks are resident at once, so that they may wait for each other; a grid that does not fit on the
    /// device ([`Function::blocks_per_multiprocessor`]) is refused.
    pub cooperative: bool,
}

impl LaunchConfig {
    /// A one-dimensional launch.
    pub const fn linear(blocks: u32, threads: u32) -> Self {
        let (grid, block) = ([blocks, 1, 1], [threads, 1, 1]);
        Self { grid, block, shared_bytes: 0, cluster: None, programmatic: false, cooperative: false }
    }
}

impl Function {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its code was compiled for: the device's own architecture, or an older one that it serves too. Code for an older one
    /// lacks what its source does on newer ones, such as the wait of [`LaunchConfig::programmatic`].
    pub fn target(&self) -> Target {
        self.target
    }

    /// The device that the kernel is on.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Bytes of each declared parameter; `None` when the driver (before CUDA 12.4) cannot tell.
    pub fn parameters(&self) -> Option<&[usize]> {
        self.parameters.as_deref()
    }

    /// Bytes of the declared parameter block, 0 for a kernel without parameters; `None` when the driver (before CUDA 12.4) cannot
    /// tell, and for a kernel of several parameters.
    pub fn parameter_bytes(&self) -> Option<usize> {
        match self.parameters()? {
            [] => Some(0),
            [bytes] => Some(*bytes),
            _ => None,
        }
    }

    /// Registers of one thread.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// Local memory of one thread (stack and spills), bytes.
    pub fn local_bytes(&self) -> u32 {
        self.local_bytes
    }

    /// Static shared memory of one block, bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// The most threads that a block of this kernel can have.
    pub fn max_threads_per_block(&self) -> u32 {
        self.max_threads_per_block
    }

    /// Allows launches with up to `bytes` of dynamic shared memory. Once per kernel, not per launch.
    pub fn set_max_shared_bytes(&self, bytes: u32) -> Result<(), Error> {
        let limit = self.device.shared_bytes_per_block().saturating_sub(self.shared_bytes);
        if bytes > limit {
            let what = "bytes of dynamic shared memory (expected is the limit)";
            return Err(Error::Length { what, expected: limit as usize, got: bytes as usize });
        }
        self.raw.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes as i32)
    }

    /// Lets launches use clusters of more than 8 blocks, where the device can.
    pub fn allow_large_clusters(&self) -> Result<(), Error> {
        self.raw.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
    }

    /// How many blocks of this many threads and dynamic shared bytes one multiprocessor holds at a time.
    pub fn blocks_per_multiprocessor(&self, threads: u32, shared_bytes: u32) -> Result<u32, Error> {
        let threads = i32::try_from(threads).unwrap_or(i32::MAX);
        self.raw.blocks_per_multiprocessor(threads, shared_bytes as usize).map(|blocks| blocks.max(0) as u32)
    }

    /// One parameter block; an empty one is none.
    #[inline]
    pub(crate) fn check_block(&self, stream: &Stream, block: &[u8]) -> Result<(), Error> {
        match self.parameters() {
            Some([]) if block.is_empty() => self.device.expect(&stream.device, "the stream"),
            _ => self.check_launch(stream, &[block]),
        }
    }

    #[inline]
    pub(crate) fn check_launch(&self, stream: &Stream, parameters: &[&[u8]]) -> Result<(), Error> {
        if let Some(declared) = self.parameters() {
            if declared.len() != parameters.len() {
                return Err(self.wrong_count(declared.len(), parameters.len()));
            }
            let differs = |(declared, given): (&usize, &&[u8])| *declared != given.len();
            if let Some(index) = declared.iter().zip(parameters).position(differs) {
                return Err(self.wrong_bytes(index, declared[index], parameters[index].len()));
            }
        }
        self.device.expect(&stream.device, "the stream")
    }

    #[cold]
    pub(crate) fn wrong_count(&self, expected: usize, got: usize) -> Error {
        Error::ParameterCount { kernel: self.name.to_string(), expected, got }
    }

    #[cold]
    fn wrong_bytes(&self, index: usize, expected: usize, got: usize) -> Error {
        Error::ParameterBytes { kernel: self.name.to_string(), index, expected, got }
    }

    #[cold]
    pub(crate) fn launch_error(&self, config: &LaunchConfig, cause: Error) -> Error {
        if matches!(cause, Error::ContextLost { .. }) {
            return cause;
        }
        let LaunchConfig { grid, block, shared_bytes, .. } = *config;
        Error::Launch { kernel: self.name.to_string(), grid, block, shared_bytes, cause: Box::new(cause) }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function {} on {:?}", self.name, self.device)
    }
}
