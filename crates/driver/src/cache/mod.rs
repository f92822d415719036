mod entry;

use std::{
    collections::HashMap,
    env, fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Instant,
};

use crate::{
    Arch, Compiled, Device, Error, Key, Module, Source, compile,
    folder::{Folder, cache_home},
    source::{OLDEST_COMPILER, environment_flags},
};

/// Where compiled code came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// This process had it already.
    Memory,
    /// It was built ahead.
    Bundle,
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
/// Code is looked for in memory, in the bundles, in the folder, and compiled at last; by several threads at once, only once.
/// An entry of the folder is checked as a whole (BLAKE3) before it is used, and what is wrong with it only means that the
/// kernel is compiled again.
pub struct KernelCache {
    folder: Option<Folder>,
    bundles: Vec<Box<dyn Bundle>>,
    compiled: Slots<Key, Arc<Compiled>>,
    modules: Slots<(usize, Key), Module>,
}

impl KernelCache {
    /// A cache in this folder, which is made if it is missing, for this user alone. A folder that others could have written
    /// (a symlink, another's, writable by group or world) is not used: the cache then works in memory, and warns.
    pub fn open(folder: impl AsRef<Path>) -> Self {
        let path = folder.as_ref();
        let folder = Folder::open(path);
        if let Err(reason) = &folder {
            tracing::warn!(folder = %path.display(), reason, "kernels are not cached on disk");
        }
        Self { folder: folder.ok(), ..Self::in_memory() }
    }

    /// A cache without a folder.
    pub fn in_memory() -> Self {
        Self { folder: None, bundles: Vec::new(), compiled: Slots::default(), modules: Slots::default() }
    }

    /// The process's cache, in [`default_dir`](Self::default_dir).
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<KernelCache> = OnceLock::new();
        SHARED.get_or_init(|| Self::default_dir().map_or_else(Self::in_memory, Self::open))
    }

    /// `$TILEWRIGHT_CACHE`, else `tilewright/kernels` in the user's cache folder; `None` when neither it nor HOME is set.
    pub fn default_dir() -> Option<PathBuf> {
        let named = env::var_os("TILEWRIGHT_CACHE").filter(|value| !value.is_empty()).map(PathBuf::from);
        named.or_else(|| Some(cache_home()?.join("kernels")))
    }

    /// The folder in use; `None` when the cache works in memory only.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(Folder::path)
    }

    /// Whether nothing is stored: the first kernel of this process will be compiled.
    pub fn is_empty(&self) -> bool {
        self.bundles.is_empty() && self.folder.as_ref().is_none_or(Folder::is_empty)
    }

    /// Adds kernels built ahead, searched after earlier bundles. They are passed over while NVRTC flags are set in the
    /// environment, since they were made without.
    pub fn add_bundle(&mut self, bundle: impl Bundle + 'static) {
        self.bundles.push(Box::new(bundle));
    }

    /// The code for `source` on this architecture, compiled if no layer has it.
    pub fn get(&self, source: &Source, arch: Arch) -> Result<(Arc<Compiled>, Origin), Error> {
        let key = source.key(arch);
        self.compiled
            .get_or_make(key, || self.stored(&key, source, arch).map_or_else(|| self.make(&key, source, arch), Ok))
    }

    /// The code for `source`, loaded on the device. What is stored and the driver does not take is compiled again, once.
    pub fn load(&self, device: &Device, source: &Source) -> Result<(Module, Origin), Error> {
        let key = source.key(device.arch());
        self.modules.get_or_make((device.ordinal(), key), || {
            let (compiled, origin) = self.get(source, device.arch())?;
            match device.load(&compiled) {
                Ok(module) => Ok((module, origin)),
                Err(Error::Refused { .. }) if !matches!(origin, Origin::Compiled { .. }) => {
                    tracing::debug!(
                        name = source.name,
                        ?origin,
                        "the driver refuses a stored kernel; compiling it again"
                    );
                    self.evict(&key);
                    let (compiled, origin) =
                        self.compiled.get_or_make(key, || self.make(&key, source, device.arch()))?;
                    Ok((device.load(&compiled)?, origin))
                }
                Err(error) => Err(error),
            }
        })
    }

    /// Adds code that was compiled elsewhere for this source and `compiled.arch`, in memory and in the folder: a cache filled
    /// ahead. It must be what compiling `source` would give.
    pub fn put(&self, source: &Source, compiled: Compiled) {
        let key = source.key(compiled.arch);
        self.store(&key, &compiled);
        self.compiled.set(key, Arc::new(compiled));
    }

    fn evict(&self, key: &Key) {
        self.compiled.remove(key);
        if let Some(folder) = &self.folder {
            folder.remove(&entry::file_name(key));
        }
    }

    /// From the bundles or the folder.
    fn stored(&self, key: &Key, source: &Source, arch: Arch) -> Option<(Arc<Compiled>, Origin)> {
        let fits =
            |found: &Compiled| found.arch == arch && found.target == source.target && found.compiler >= OLDEST_COMPILER;
        let bundles = if environment_flags().is_none() { &self.bundles[..] } else { &[] };
        if let Some(found) = bundles.iter().find_map(|bundle| bundle.find(key).filter(fits)) {
            return Some((Arc::new(found), Origin::Bundle));
        }
        let content = self.folder.as_ref()?.read(&entry::file_name(key), entry::LIMIT)?;
        let found = entry::decode(key, &content).filter(fits);
        if found.is_none() {
            tracing::debug!(%key, name = source.name, "an unusable cache entry; compiling again");
        }
        Some((Arc::new(found?), Origin::Disk))
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
        let Some(folder) = &self.folder else { return };
        let Some(content) = entry::encode(key, compiled) else { return };
        if let Err(error) = folder.write(&entry::file_name(key), &content) {
            tracing::debug!(folder = %folder.path().display(), %error, "a kernel could not be cached");
        }
    }
}

impl fmt::Debug for KernelCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelCache").field("folder", &self.folder()).field("bundles", &self.bundles.len()).finish()
    }
}

/// A map whose values are made once: who comes second waits for the first. A failure is not kept.
struct Slots<K, V>(Mutex<HashMap<K, Slot<V>>>);

type Slot<V> = Arc<Mutex<Option<V>>>;

impl<K, V> Default for Slots<K, V> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: std::hash::Hash + Eq, V: Clone> Slots<K, V> {
    fn get_or_make(&self, key: K, make: impl FnOnce() -> Result<(V, Origin), Error>) -> Result<(V, Origin), Error> {
        let slot = locked(&self.0).entry(key).or_default().clone();
        let mut value = locked(&slot);
        if let Some(value) = &*value {
            return Ok((value.clone(), Origin::Memory));
        }
        let (made, origin) = make()?;
        *value = Some(made.clone());
        Ok((made, origin))
    }

    fn set(&self, key: K, value: V) {
        let slot = locked(&self.0).entry(key).or_default().clone();
        *locked(&slot) = Some(value);
    }

    fn remove(&self, key: &K) {
        locked(&self.0).remove(key);
    }
}

/// A panic elsewhere leaves a slot empty or whole, so a poisoned lock is as good as any.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
