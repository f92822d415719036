mod ahead;
mod bundle;
mod entry;
mod eviction;
#[cfg(test)]
mod faults;
mod inspection;
mod on_disk;
mod pool;
mod search;
mod slots;
mod statistics;

use std::{
    env, fmt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Instant,
};

use crate::{Arch, Compiled, Device, Error, Key, Module, Source, compile, ending, folder::cache_home};
use entry::Miss;
use search::{Refused, Wanted};
use slots::Slots;
use statistics::Counters;

pub use ahead::Pending;
pub use bundle::{Bundle, BundleEntry, BundleStatistics};
pub use inspection::CacheEntry;
pub use on_disk::{CacheFolder, Packed};
pub use statistics::{FolderStatistics, Statistics};

/// Where compiled code came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// This process had it already.
    Memory,
    /// It was built ahead, and came in a [`Bundle`].
    Bundle,
    /// A file that an earlier process wrote.
    Disk,
    /// It was compiled now.
    Compiled {
        /// How long that took.
        ms: f64,
    },
}

/// Compiled kernels, kept in memory and in a folder. It can make a call slow, never wrong, and never fail it.
///
/// Code is looked for in this order, by several threads at once only once:
///
/// 1. in memory;
/// 2. in the bundles, compiled for the device's compute capability, then for a lower one of the same major version, the highest
///    first (`sm_86` serves 8.9): whichever bundle has the better one, and among equals the earlier bundle;
/// 3. in the folder, compiled for exactly this device;
/// 4. in the bundles as PTX, for the highest compute capability that the device has, which the driver compiles when it is loaded;
/// 5. and it is compiled at last.
///
/// A source for [`ArchSpecific`](crate::TargetKind::ArchSpecific) is served by exactly its target alone, one for
/// [`Portable`](crate::TargetKind::Portable) by PTX alone.
///
/// An entry of a folder or a bundle is checked as a whole (BLAKE3) before it is used, and what is wrong with it only means
/// that the next is looked for; so does what the driver refuses, once. What cannot be written is not kept, which
/// [`statistics`](Self::statistics) counts.
///
/// A clone is the same cache.
#[derive(Clone)]
pub struct KernelCache(Arc<Layers>);

#[derive(Default)]
struct Layers {
    compiled: Slots<Key, Arc<Compiled>>,
    /// By the number of a context.
    modules: Slots<(u64, Key), Module>,
    bundles: RwLock<Vec<Bundle>>,
    refused: Refused,
    folder: Option<CacheFolder>,
    counters: Counters,
}

impl KernelCache {
    /// A cache in this folder, which is made if it is missing, for this user alone. A folder that others could have written
    /// (a symlink, another's, writable by group or world) is not used: the cache then works in memory, and warns.
    pub fn open(folder: impl AsRef<Path>) -> Self {
        match CacheFolder::open(&folder) {
            Ok(folder) => Self::in_folder(folder),
            Err(error) => {
                tracing::warn!(%error, "kernels are not cached on disk");
                Self::in_memory()
            }
        }
    }

    /// A cache in a folder that is open already, with a limit of its own.
    pub fn in_folder(folder: CacheFolder) -> Self {
        Self::of(Layers { folder: Some(folder), ..Layers::default() })
    }

    /// A cache without a folder.
    pub fn in_memory() -> Self {
        Self::of(Layers::default())
    }

    fn of(layers: Layers) -> Self {
        // Whoever has a cache can have it compile in the background.
        ending::wait_for_compilations();
        Self(Arc::new(layers))
    }

    /// The process's cache, in [`default_dir`](Self::default_dir), with the bundles that `$TILEWRIGHT_BUNDLES` names, separated
    /// by colons. One that cannot be used is passed over with a warning.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<KernelCache> = OnceLock::new();
        SHARED.get_or_init(|| {
            let cache = Self::default_dir().map_or_else(Self::in_memory, Self::open);
            let paths = env::var_os("TILEWRIGHT_BUNDLES").unwrap_or_default();
            for path in env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()) {
                match Bundle::open(path) {
                    Ok(bundle) => cache.add_bundle(bundle),
                    Err(error) => tracing::warn!(%error, "a bundle of kernels is not used"),
                }
            }
            cache
        })
    }

    /// `$TILEWRIGHT_CACHE`, else `tilewright/kernels` in the user's cache folder; `None` when neither it nor HOME is set.
    pub fn default_dir() -> Option<PathBuf> {
        let named = env::var_os("TILEWRIGHT_CACHE").filter(|value| !value.is_empty()).map(PathBuf::from);
        named.or_else(|| Some(cache_home()?.join("kernels")))
    }

    /// The folder in use; `None` when the cache works in memory only.
    pub fn folder(&self) -> Option<&Path> {
        self.0.folder.as_ref().map(CacheFolder::path)
    }

    /// Whether nothing is stored: the first kernel of this process will be compiled.
    pub fn is_empty(&self) -> bool {
        self.usable_bundles().iter().all(Bundle::is_empty) && self.0.folder.as_ref().is_none_or(CacheFolder::is_empty)
    }

    /// Adds kernels built ahead, behind the bundles that are there: of two that have code for one key the earlier serves, and if it
    /// is other code that is told as a warning. Bundles are passed over while NVRTC flags are set in the environment, since
    /// they were made without.
    pub fn add_bundle(&self, bundle: Bundle) {
        let mut bundles = self.0.bundles.write().unwrap_or_else(PoisonError::into_inner);
        for earlier in bundles.iter() {
            let differ = earlier.conflicts(&bundle);
            if let Some(first) = differ.first() {
                let name = earlier.get(first).map_or_else(String::new, |compiled| compiled.name);
                let kernels = differ.len();
                tracing::warn!(?bundle, ?earlier, kernels, name, "two bundles have different code; the earlier serves");
            }
        }
        bundles.push(bundle);
    }

    /// What this cache did until now.
    pub fn statistics(&self) -> Statistics {
        self.0.counters.read()
    }

    /// The code for `source` on this architecture, compiled if no layer has it. What bundles have can be for a lesser one, which
    /// [`Compiled::built_for`] tells.
    pub fn get(&self, source: &Source, arch: Arch) -> Result<(Arc<Compiled>, Origin), Error> {
        self.get_wanted(&Wanted::of(source, arch))
    }

    fn get_wanted(&self, wanted: &Wanted<'_>) -> Result<(Arc<Compiled>, Origin), Error> {
        ending::wait_for_compilations();
        let make = || self.stored(wanted).map_or_else(|| self.make(wanted), Ok);
        self.0.compiled.get_or_make(wanted.key, make).inspect(|(_, origin)| self.0.counters.found(*origin))
    }

    /// The code for `source`, if some layer has it. Nothing is compiled.
    pub fn find(&self, source: &Source, arch: Arch) -> Option<(Arc<Compiled>, Origin)> {
        let wanted = Wanted::of(source, arch);
        let in_memory = self.0.compiled.get(&wanted.key).map(|compiled| (compiled, Origin::Memory));
        let found = in_memory.or_else(|| {
            let found = self.stored(&wanted)?;
            self.0.compiled.set(wanted.key, found.0.clone());
            Some(found)
        })?;
        self.0.counters.found(found.1);
        Some(found)
    }

    /// Whether some layer has the code for `source`. It is not kept: whoever wants it then is told where it came from.
    pub fn has(&self, source: &Source, arch: Arch) -> bool {
        let wanted = Wanted::of(source, arch);
        self.0.compiled.get(&wanted.key).is_some() || self.stored(&wanted).is_some()
    }

    /// The code for `source`, loaded on the device. What is stored and the driver does not take is a miss.
    pub fn load(&self, device: &Device, source: &Source) -> Result<(Module, Origin), Error> {
        let wanted = Wanted::of(source, device.arch());
        let mut had = true;
        let loaded = self.0.modules.get_or_make((device.context_number(), wanted.key), || {
            had = false;
            self.load_wanted(device, &wanted)
        })?;
        if had {
            self.0.counters.found(Origin::Memory);
        }
        Ok(loaded)
    }

    /// Loads the first code that the driver takes. What it refuses is not offered again, so this ends: at last with what is compiled.
    fn load_wanted(&self, device: &Device, wanted: &Wanted<'_>) -> Result<(Module, Origin), Error> {
        loop {
            let (compiled, origin) = self.get_wanted(wanted)?;
            match device.load(&compiled) {
                Err(Error::Refused { .. }) if !matches!(origin, Origin::Compiled { .. }) => {
                    tracing::debug!(name = wanted.source.name, ?origin, "the driver refuses a stored kernel");
                    self.0.counters.unusable.add(1);
                    self.0.refused.add(wanted.key, &compiled);
                    self.0.compiled.remove(&wanted.key);
                }
                loaded => return Ok((loaded?, origin)),
            }
        }
    }

    /// Adds code that was compiled elsewhere for this source and `compiled.arch`, in memory and in the folder: a cache filled
    /// ahead. It must be what compiling `source` would give.
    pub fn put(&self, source: &Source, compiled: Compiled) {
        let key = source.key(compiled.arch);
        self.store(&key, &compiled);
        self.0.compiled.set(key, Arc::new(compiled));
    }

    /// Compiles, and stores what came out as well as it can.
    fn make(&self, wanted: &Wanted<'_>) -> Result<(Arc<Compiled>, Origin), Error> {
        let (start, Wanted { source, arch, key, .. }) = (Instant::now(), wanted);
        let compiled = compile(source, *arch)?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        tracing::debug!(name = source.name, %arch, ms, "compiled");
        self.store(key, &compiled);
        Ok((Arc::new(compiled), Origin::Compiled { ms }))
    }

    fn store(&self, key: &Key, compiled: &Compiled) {
        let Some(folder) = &self.0.folder else { return };
        match folder.put(key, compiled) {
            Ok(evicted) => self.0.counters.evictions.add(evicted),
            Err(error) => {
                tracing::debug!(folder = %folder.path().display(), %error, "a kernel could not be cached");
                self.0.counters.dropped_writes.add(1);
            }
        }
    }
}

impl fmt::Debug for KernelCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bundles = self.0.bundles.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("KernelCache").field("folder", &self.folder()).field("bundles", &*bundles).finish()
    }
}
