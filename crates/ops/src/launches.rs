//! What a piece of work launched: recorded for tests, told to whoever listens through `tracing`.
//!
//! Where nobody records or listens, a launch pays for two loads, and allocates nothing.

use std::cell::{Cell, RefCell};
use std::time::Instant;
use tilewright_driver::{Arch, Origin, Source, bytes_allocated};

/// What ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchKind {
    /// The evaluator, or a convolution, on the host.
    Host,
    /// A fused kernel, on a GPU.
    Fused,
    /// The kernel before a fused one that scatters, on a GPU: it gives the places of results their initial value.
    Fill,
    /// A kernel of the user's.
    Own,
    /// A convolution's kernel, on a GPU.
    Convolution,
}

/// What was there already when a call came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// The launch plan of an earlier call with operands like these.
    Call,
    /// The kernel, in the handle; the call was planned anew. A first evaluation on the host is one of these.
    Kernel,
    /// Neither: the kernel came from here.
    Nothing(Origin),
}

/// A launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchRecord {
    /// What ran.
    pub kind: LaunchKind,
    /// The expression's or the kernel's name.
    pub name: String,
    /// What was there already.
    pub known: Known,
    /// Blocks; one on the host.
    pub grid: [u32; 3],
    /// Threads of a block; one on the host.
    pub block: [u32; 3],
    /// Bytes of device memory that this thread allocated since the launch before, or since recording began: those of the results,
    /// rounded up to 16 each, if they are new, and of buffers that grew.
    pub device_bytes: u64,
}

thread_local! {
    static RECORDING: Cell<bool> = const { Cell::new(false) };
    static RECORDS: RefCell<Vec<LaunchRecord>> = const { RefCell::new(Vec::new()) };
    /// [`bytes_allocated`] at the launch before.
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Does `work` and says what this thread launched in it, in order. Inside another recording the launches count in both.
///
/// ```
/// use tilewright_dims::dims;
/// use tilewright_expr::In;
/// use tilewright_ops::{LaunchKind, Tensor, fuse, record};
/// dims! { Y, X }
/// let f = fuse(|x: In<f32, (Y, X)>| (x * 2.0 + 1.0).exp().store::<(X, Y)>());
/// let x = Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![0.5; 6])?;
/// let launches = record(|| drop(f.call(&x)));
/// assert_eq!(launches.len(), 1);
/// assert_eq!(launches[0].kind, LaunchKind::Host);
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
pub fn record(work: impl FnOnce()) -> Vec<LaunchRecord> {
    /// Ends the recording, also when `work` panics.
    struct Outer(bool, Vec<LaunchRecord>);
    impl Drop for Outer {
        fn drop(&mut self) {
            let inner = RECORDS.replace(std::mem::take(&mut self.1));
            RECORDING.set(self.0);
            if self.0 {
                RECORDS.with_borrow_mut(|records| records.extend(inner));
            }
        }
    }
    let outer = Outer(RECORDING.replace(true), RECORDS.take());
    BYTES.set(bytes_allocated());
    work();
    let records = RECORDS.with_borrow(Clone::clone);
    drop(outer);
    records
}

/// Called behind every launch.
#[inline]
pub(crate) fn launched(kind: LaunchKind, name: &str, known: Known, [grid, block]: [[u32; 3]; 2]) {
    tracing::trace!(name, ?kind, ?known, ?grid, ?block, "launched");
    if RECORDING.get() {
        keep(kind, name, known, [grid, block]);
    }
}

#[cold]
fn keep(kind: LaunchKind, name: &str, known: Known, [grid, block]: [[u32; 3]; 2]) {
    let now = bytes_allocated();
    let device_bytes = now - BYTES.replace(now);
    let launch = LaunchRecord { kind, name: name.to_string(), known, grid, block, device_bytes };
    RECORDS.with_borrow_mut(|records| records.push(launch));
}

/// Called when a kernel is there, whatever that took.
pub(crate) fn built(source: &Source, arch: Arch, origin: Origin, registers: u32, start: Instant) {
    // The key is a hash over the whole text.
    if tracing::enabled!(tracing::Level::DEBUG) {
        let (key, ms) = (source.key(arch), start.elapsed().as_secs_f64() * 1e3);
        tracing::debug!(name = source.name, %key, ?origin, ms, registers, "a kernel is there");
    }
}
