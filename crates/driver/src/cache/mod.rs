mod ahead;
mod entry;
mod eviction;
#[cfg(test)]
mod faults;
mod inspection;
mod on_disk;
mod pack;
mod pool;
mod slots;
mod statistics;

use std::{
    env, fmt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Instant,
};

use crate::{
    Arch, Compiled, Device, Error, Key, Module, Source, compile, ending,
    folder::cache_home,
    source::{OLDEST_COMPILER, environment_flags},
};
use entry::Miss;
use slots::Slots;
use statistics::Counters;

pub use ahead::Pending;
pub use inspection::CacheEntry;
pub use on_disk::CacheFolder;
pub use pack::{Pack, Packed};
pub use statistics::{FolderStatistics, Statistics};

/// Where compiled code came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// This process had it already.
    Memory,
    /// It was built ahead.
    Bundle,
    /// It was built ahead, and came in a [`Pack`].
    Pack,
    /// A file that an earlier process wrote.
    Disk,
    /// It was compiled now.
    Compiled {
        /// How long that took.
        ms: f64,
    },
}

/// Kernels built ahead.
pub trait Bundle: Send + Sync {
    /// The code with this content key.
    fn find(&self, key: &Key) -> Option<Compiled>;
}

/// Compiled kernels, kept in memory and in a folder. It can make a call slow, never wrong, and never fail it.
///
/// Code is looked for in memory, in the bundles, in the packs, in the folder, and compiled at last; by several threads at once,
/// only once. An entry of a folder or a pack is checked as a whole (BLAKE3) before it is used, and what is wrong with it only means
/// that the kernel is compiled again. What cannot be written is not kept, which [`statistics`](Self::statistics) counts.
///
/// A clone is the same cache.
#[derive(Clone)]
pub struct KernelCache(Arc<Layers>);

#[derive(Default)]
struct Layers {
    compiled: Slots<Key, Arc<Compiled>>,
    modules: Slots<(usize, Key), Module>,
    bundles: RwLock<Vec<Box<dyn Bundle>>>,
    packs: RwLock<Vec<Pack>>,
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

    /// The process's cache, in [`default_dir`](Self::default_dir), with the packs that `$TILEWRIGHT_CACHE_PACKS` names, separated
    /// by colons. A pack that cannot be used is passed over with a warning.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<KernelCache> = OnceLock::new();
        SHARED.get_or_init(|| {
            let cache = Self::default_dir().map_or_else(Self::in_memory, Self::open);
            for path in env::split_paths(&env::var_os("TILEWRIGHT_CACHE_PACKS").unwrap_or_default()) {
                let added = if path.as_os_str().is_empty() { Ok(()) } else { cache.add_pack(path) };
                if let Err(error) = added {
                    tracing::warn!(%error, "a pack of kernels is not used");
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
        self.bundles().is_empty() && self.packs().is_empty() && self.0.folder.as_ref().is_none_or(CacheFolder::is_empty)
    }

    /// Adds kernels built ahead, searched after earlier bundles. They are passed over while NVRTC flags are set in the
    /// environment, since they were made without.
    pub fn add_bundle(&self, bundle: impl Bundle + 'static) {
        self.0.bundles.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(bundle));
    }

    /// Adds a pack, searched after all bundles and earlier packs. One that cannot be used is an error, and changes nothing.
    pub fn add_pack(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let pack = Pack::open(path)?;
        self.0.packs.write().unwrap_or_else(PoisonError::into_inner).push(pack);
        Ok(())
    }

    /// What this cache did until now.
    pub fn statistics(&self) -> Statistics {
        self.0.counters.read()
    }

    /// The code for `source` on this architecture, compiled if no layer has it.
    pub fn get(&self, source: &Source, arch: Arch) -> Result<(Arc<Compiled>, Origin), Error> {
        ending::wait_for_compilations();
        let key = source.key(arch);
        let make = || self.stored(&key, source, arch).map_or_else(|| self.make(&key, source, arch), Ok);
        self.0.compiled.get_or_make(key, make).inspect(|(_, origin)| self.0.counters.found(*origin))
    }

    /// The code for `source`, if some layer has it. Nothing is compiled.
    pub fn find(&self, source: &Source, arch: Arch) -> Option<(Arc<Compiled>, Origin)> {
        let key = source.key(arch);
        let found = self.0.compiled.get(&key).map(|compiled| (compiled, Origin::Memory)).or_else(|| {
            let found = self.stored(&key, source, arch)?;
            self.0.compiled.set(key, found.0.clone());
            Some(found)
        })?;
        self.0.counters.found(found.1);
        Some(found)
    }

    /// The code for `source`, loaded on the device. What is stored and the driver does not take is compiled again, once.
    pub fn load(&self, device: &Device, source: &Source) -> Result<(Module, Origin), Error> {
        let key = source.key(device.arch());
        let mut had = true;
        let loaded = self.0.modules.get_or_make((device.ordinal(), key), || {
            had = false;
            let (compiled, origin) = self.get(source, device.arch())?;
            self.load_on(device, source, &key, compiled, origin)
        })?;
        if had {
            self.0.counters.found(Origin::Memory);
        }
        Ok(loaded)
    }

    /// Loads this code. What the driver refuses is replaced by what the folder has, if that is other code (a pack can be refused at each
    /// start, and is compiled once), and else compiled; that ends it.
    fn load_on(
        &self,
        device: &Device,
        source: &Source,
        key: &Key,
        compiled: Arc<Compiled>,
        origin: Origin,
    ) -> Result<(Module, Origin), Error> {
        match device.load(&compiled) {
            Err(Error::Refused { .. }) if !matches!(origin, Origin::Compiled { .. }) => {
                tracing::debug!(name = source.name, ?origin, "the driver refuses a stored kernel");
                self.0.counters.unusable.add(1);
                self.0.compiled.remove(key);
                let other = || {
                    let on_disk = self.on_disk(key, source, device.arch());
                    match on_disk.filter(|(found, _)| found.image != compiled.image) {
                        Some(found) => Ok(found),
                        None => self.make(key, source, device.arch()),
                    }
                };
                let (other, origin) = self.0.compiled.get_or_make(*key, other)?;
                self.0.counters.found(origin);
                self.load_on(device, source, key, other, origin)
            }
            loaded => Ok((loaded?, origin)),
        }
    }

    /// Adds code that was compiled elsewhere for this source and `compiled.arch`, in memory and in the folder: a cache filled
    /// ahead. It must be what compiling `source` would give.
    pub fn put(&self, source: &Source, compiled: Compiled) {
        let key = source.key(compiled.arch);
        self.store(&key, &compiled);
        self.0.compiled.set(key, Arc::new(compiled));
    }

    /// From the bundles, the packs or the folder.
    fn stored(&self, key: &Key, source: &Source, arch: Arch) -> Option<(Arc<Compiled>, Origin)> {
        let ahead = || {
            let fits = |found: &Compiled| fits(found, source, arch);
            let bundled = self.bundles().iter().find_map(|bundle| bundle.find(key).filter(fits));
            let packed = || self.packs().iter().find_map(|pack| self.usable(pack.get(key), source, arch));
            bundled.map(|found| (Arc::new(found), Origin::Bundle)).or_else(|| Some((Arc::new(packed()?), Origin::Pack)))
        };
        // Built ahead means built without NVRTC's flags from the environment.
        let found = environment_flags().is_none().then(ahead).flatten().or_else(|| self.on_disk(key, source, arch));
        self.0.counters.misses.add(u64::from(found.is_none()));
        found
    }

    fn on_disk(&self, key: &Key, source: &Source, arch: Arch) -> Option<(Arc<Compiled>, Origin)> {
        let found = self.0.folder.as_ref()?.get(key);
        Some((Arc::new(self.usable(found, source, arch)?), Origin::Disk))
    }

    /// Counts what was there and is of no use.
    fn usable(&self, found: Result<Compiled, Miss>, source: &Source, arch: Arch) -> Option<Compiled> {
        let reason = match found {
            Ok(found) if fits(&found, source, arch) => return Some(found),
            Ok(_) => "for another target, or of an old compiler".to_owned(),
            Err(Miss::Absent) => return None,
            Err(Miss::Unusable(reason)) => reason,
        };
        tracing::debug!(name = source.name, reason, "an unusable cache entry");
        self.0.counters.unusable.add(1);
        None
    }

    /// Compiles, and stores what came out as well as it can.
    fn make(&self, key: &Key, source: &Source, arch: Arch) -> Result<(Arc<Compiled>, Origin), Error> {
        let start = Instant::now();
        let compiled = compile(source, arch)?;
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

    fn bundles(&self) -> impl std::ops::Deref<Target = Vec<Box<dyn Bundle>>> {
        self.0.bundles.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn packs(&self) -> impl std::ops::Deref<Target = Vec<Pack>> {
        self.0.packs.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fits(found: &Compiled, source: &Source, arch: Arch) -> bool {
    found.arch == arch && found.target == source.target && found.compiler >= OLDEST_COMPILER
}

impl fmt::Debug for KernelCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bundles, packs) = (self.bundles().len(), self.packs().len());
        f.debug_struct("KernelCache")
            .field("folder", &self.folder())
            .field("bundles", &bundles)
            .field("packs", &packs)
            .finish()
    }
}
