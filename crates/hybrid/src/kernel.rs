//! Kernels of this crate: their texts, those that have been loaded, and launches.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, LazyLock, PoisonError, RwLock},
};

use tilewright_driver::{Function, LaunchConfig, Stream, TargetKind};
use tilewright_ops::KernelSource;

use crate::bits::gpu::{Combine, Finish, GpuPath};
use crate::linear::Folding;
use crate::{Error, raw};

/// A kernel's source and what a launch needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelText {
    /// The kernel's name.
    pub entry: &'static str,
    /// The source.
    pub text: String,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// What it is compiled for.
    pub target: TargetKind,
    /// Rows and columns of the result that a block computes at a time.
    pub tile: [u32; 2],
    /// Blocks of a cluster, which have neighbouring columns; a grid has a multiple of them.
    pub cluster: u32,
}

impl KernelText {
    /// The source as a user's kernel, so that it is recorded and built ahead like one.
    pub fn source(&self) -> KernelSource<'_> {
        let source = KernelSource::new(&self.text).entry(self.entry).name(self.entry);
        if self.target == TargetKind::ArchSpecific { source.arch_specific() } else { source }
    }
}

/// What a kernel is found by, with its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Name {
    Product(GpuPath, Finish),
    Transpose,
    RowOnes,
    Combine(Combine),
    /// Of bytes.
    Turn,
    /// Of elements of this type.
    Norm(&'static str, Folding),
}

/// A kernel on a device.
#[derive(Debug)]
pub(crate) struct Kernel {
    function: Function,
    threads: u32,
    shared_bytes: u32,
    tile: [u32; 2],
    cluster: u32,
}

/// By the number of a context.
type Loaded = HashMap<(u64, Name), Arc<Kernel>>;
static LOADED: LazyLock<RwLock<Loaded>> = LazyLock::new(RwLock::default);

impl Kernel {
    /// The kernel of this name on the stream's device: it is made from `text` the first time.
    pub(crate) fn get(stream: &Stream, name: Name, text: impl FnOnce() -> KernelText) -> Result<Arc<Self>, Error> {
        let device = stream.device();
        let key = (device.context_number(), name);
        if let Some(kernel) = LOADED.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(kernel.clone());
        }
        let text = text();
        let module = text.source().load(&device)?;
        let function = module.function(text.entry)?;
        function.set_max_shared_bytes(text.shared_bytes)?;
        let KernelText { threads, shared_bytes, tile, cluster, .. } = text;
        let kernel = Arc::new(Self { function, threads, shared_bytes, tile, cluster });
        LOADED.write().unwrap_or_else(PoisonError::into_inner).insert(key, kernel.clone());
        Ok(kernel)
    }

    /// How many tiles cover so many rows and columns.
    pub(crate) fn tiles(&self, rows: usize, columns: usize) -> Result<u32, Error> {
        let tiles = rows
            .div_ceil(self.tile[0] as usize)
            .checked_mul(columns.div_ceil(self.tile[1] as usize).next_multiple_of(self.cluster as usize));
        let tiles = tiles.and_then(|tiles| i32::try_from(tiles).ok());
        tiles.map(|tiles| tiles as u32).ok_or(Error::TooLarge { rows, columns, element_bits: 1 })
    }

    /// Launches `blocks` blocks on `stream`. Addresses in `parameters` are those of `memory`, all of which belongs to the stream.
    pub(crate) fn launch(&self, stream: &Stream, blocks: u32, parameters: &[u8]) -> Result<(), Error> {
        let config = LaunchConfig {
            grid: [blocks, 1, 1],
            block: [self.threads, 1, 1],
            shared_bytes: self.shared_bytes,
            cluster: (self.cluster > 1).then_some([self.cluster, 1, 1]),
            programmatic: false,
            cooperative: false,
        };
        raw::gpu::launch(&self.function, stream, &config, parameters)
    }
}

/// Whether a kernel was not made, or not for this GPU.
pub(crate) fn is_of_compiler(error: &tilewright_driver::Error) -> bool {
    use tilewright_driver::Error as Driver;
    matches!(error, Driver::NoNvrtc { .. } | Driver::Nvrtc { .. } | Driver::UnknownArch { .. } | Driver::Compile { .. })
}

/// Runs `work` on `stream`, which waits before for what is queued on `home`, the stream of what it works with, and the other way round behind it.
pub(crate) fn in_order(stream: &Stream, home: &Stream, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    if home.handle() == stream.handle() {
        return work();
    }
    let [own, others] = [stream, home].map(Stream::device);
    if own.context_number() != others.context_number() {
        let (what, expected, got) = ("a matrix", own.ordinal() as i32, others.ordinal() as i32);
        return Err(tilewright_driver::Error::OtherDevice { what, expected, got }.into());
    }
    stream.wait(&home.mark()?)?;
    work()?;
    // Without the order nothing may go on before the work has ended.
    let ordered = stream.mark().and_then(|done| home.wait(&done));
    ordered.or_else(|_| stream.synchronize()).map_err(Error::from)
}
