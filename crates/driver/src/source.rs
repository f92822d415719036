use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use crate::{Arch, digest, include};

/// What a kernel is compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TargetKind {
    /// A cubin for `sm_XY`; it runs on later devices of the same major version too.
    #[default]
    Plain,
    /// A cubin for `sm_XYa`: wgmma, setmaxnreg. It runs on exactly that architecture.
    ArchSpecific,
    /// PTX for `compute_XY`, which the driver compiles for its device when it is loaded.
    Portable,
}

impl TargetKind {
    /// The compiler's name of the target: `sm_90`, `sm_90a`, `compute_90`.
    pub fn target(self, arch: Arch) -> String {
        match self {
            Self::Plain => arch.to_string(),
            Self::ArchSpecific => format!("{arch}a"),
            Self::Portable => format!("compute_{}{}", arch.major, arch.minor),
        }
    }
}

/// What one piece of compiled code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// In which form.
    pub kind: TargetKind,
    /// For which devices, as the form says.
    pub arch: Arch,
}

impl Target {
    /// `Target::new(TargetKind::Plain, Arch::new(9, 0))` is `sm_90`.
    pub const fn new(kind: TargetKind, arch: Arch) -> Self {
        Self { kind, arch }
    }
}

/// The compiler's name of it: `sm_90`, `sm_90a`, `compute_90`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.target(self.arch))
    }
}

/// A CUDA C++ translation unit in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// What the user would call it, the op; it comes first in messages. Not part of the key.
    pub name: String,
    /// The text. Kernels are `extern "C" __global__`.
    pub text: String,
    /// What `#include` finds: name and text.
    pub headers: Vec<(String, Cow<'static, str>)>,
    /// Options of NVRTC, such as `--include-path=DIR`, beside the defaults (`--std=c++17 --fmad=false -DNDEBUG --ptxas-options=-v`). An option
    /// `--name=value` replaces the default of that name.
    pub options: Vec<String>,
    /// What it is compiled for.
    pub target: TargetKind,
}

/// The identity of compiled code: BLAKE3 over everything that decides it, except the compiler's version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub [u8; 32]);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// The keys of one source for all targets: its text is hashed once, and each key is cheap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Keys([u8; 32]);

impl Keys {
    /// The key of the code for this target.
    pub fn of(&self, target: Target) -> Key {
        let Target { kind, arch } = target;
        let numbers = [kind as u32, arch.major, arch.minor];
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0).update(numbers.map(u32::to_le_bytes).as_flattened());
        Key(*hasher.finalize().as_bytes())
    }
}

/// Raised when entries of an older layout, or of a compiler with a known fault, must not be used any more.
pub(crate) const SCHEMA: u32 = 2;

/// The oldest compiler whose entries this schema takes.
pub(crate) const OLDEST_COMPILER: (i32, i32) = (12, 0);

const FLAG_VARIABLES: [&str; 2] = ["NVRTC_PREPEND_FLAGS", "NVRTC_APPEND_FLAGS"];

/// NVRTC's flags from the environment. They change what it makes, so they join the key.
pub(crate) fn environment_flags() -> Option<String> {
    let set = FLAG_VARIABLES.iter().filter_map(|name| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some(format!("{name}={}\n", value.to_string_lossy()))
    });
    let flags: String = set.collect();
    (!flags.is_empty()).then_some(flags)
}

/// The same flags, one by one.
fn environment_words() -> Vec<String> {
    let words = |name| Some(std::env::var(name).ok()?.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    FLAG_VARIABLES.into_iter().filter_map(words).flatten().collect()
}

impl Source {
    /// All options that the compiler gets, defaults first.
    pub fn all_options(&self, arch: Arch) -> Vec<String> {
        let target = format!("--gpu-architecture={}", self.target.target(arch));
        std::iter::once(target).chain(self.options_but_target()).collect()
    }

    fn options_but_target(&self) -> impl Iterator<Item = String> {
        let defaults = ["--std=c++17", "--fmad=false", "-DNDEBUG", "--ptxas-options=-v"];
        let name = |option: &str| option.trim_start_matches('-').split('=').next().unwrap_or_default().to_owned();
        let replaced = move |default: &str| match name(default).as_str() {
            "ptxas-options" | "DNDEBUG" => false,
            default => self.options.iter().any(|option| name(option) == default),
        };
        let kept = defaults.into_iter().filter(move |default| !replaced(default)).map(str::to_owned);
        kept.chain(self.options.iter().cloned())
    }

    /// The content key for this architecture, see [`keys`](Self::keys).
    pub fn key(&self, arch: Arch) -> Key {
        self.keys().of(Target::new(self.target, arch))
    }

    /// The content keys for all targets, also for those of another form than [`target`](Self::target): everything but the target
    /// is hashed once, the target comes last. Each text is hashed with its length before it, so none runs into the next; headers
    /// are hashed alone first, those borrowed for the program's life only once.
    ///
    /// In it are the text, the headers, the options, NVRTC's flags from the environment, and the content of every file that the
    /// text reaches through `#include`: beside the source (the folder of `name`, as NVRTC does) and on the include path. So a
    /// header that changes on disk is a new key. What a macro names in an `#include` cannot be known here: then path, size and time
    /// of change of all files on the include path are in the key. The compiler's version and `name` itself are not.
    pub fn keys(&self) -> Keys {
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &dyn AsRef<[u8]>| {
            hasher.update(&(text.as_ref().len() as u64).to_le_bytes());
            hasher.update(text.as_ref());
        };
        add(&"tilewright kernel, target last");
        add(&SCHEMA.to_string());
        add(&self.text);
        add(&self.headers.len().to_string());
        for (name, text) in &self.headers {
            add(&name.as_str());
            add(&digest::of(text).hash);
        }
        for option in self.options_but_target() {
            add(&option);
        }
        if let Some(flags) = environment_flags() {
            add(&flags);
        }
        let files = include::reached(self, environment_words());
        if !files.is_empty() {
            add(&format!("{} pieces from disk", files.len()));
            files.iter().for_each(|piece| add(piece));
        }
        Keys(*hasher.finalize().as_bytes())
    }
}
