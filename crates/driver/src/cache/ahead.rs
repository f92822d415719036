//! Compiling in the background.

use std::{fmt, sync::Arc};

use super::{KernelCache, Origin, pool, slots::Flight};
use crate::{Arch, Compiled, Error, Source, ending};

type Found = (Arc<Compiled>, Origin);

/// A kernel that is compiled in the background, see [`KernelCache::prefetch`]. It is compiled also when this is dropped.
#[must_use = "the kernel is compiled either way; `drop` it if nobody waits"]
pub struct Pending(Arc<Work>);

struct Work {
    cache: KernelCache,
    source: Source,
    arch: Arch,
    flight: Flight<Found>,
}

impl Work {
    fn get(&self) -> Result<Found, Error> {
        self.cache.get(&self.source, self.arch)
    }
}

impl KernelCache {
    /// Begins to look for this code in all layers, and to compile it if none has it, on a thread in the background: as many as the
    /// machine has cores, for the whole process. Its end waits for what is being compiled in that moment, and for nothing more;
    /// for that the main thread must have made a cache or called this or `get`, else the compiler may crash a process that ends.
    ///
    /// A [`get`](Self::get) of the same source meanwhile waits for that thread, or compiles by itself if the thread has
    /// not come to it yet; nothing is compiled twice. A failure is not kept: a later `get` tries again and reports its own.
    pub fn prefetch(&self, source: Source, arch: Arch) -> Pending {
        ending::wait_for_compilations();
        let work = Arc::new(Work { cache: self.clone(), source, arch, flight: Flight::default() });
        let job = LandsAnyway(work.clone());
        pool::run(Box::new(move || job.0.flight.land(Some(job.0.get()))));
        Pending(work)
    }
}

/// A job that panics lands empty, so that nobody waits for ever.
struct LandsAnyway(Arc<Work>);

impl Drop for LandsAnyway {
    fn drop(&mut self) {
        if !self.0.flight.has_landed() {
            self.0.flight.land(None);
        }
    }
}

impl Pending {
    /// Whether [`wait`](Self::wait) returns at once.
    pub fn is_done(&self) -> bool {
        self.0.flight.has_landed()
    }

    /// The code, or why there is none.
    pub fn wait(self) -> Result<(Arc<Compiled>, Origin), Error> {
        self.0.flight.wait().unwrap_or_else(|| self.0.get())
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("name", &self.0.source.name).field("done", &self.is_done()).finish()
    }
}
