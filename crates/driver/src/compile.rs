use std::{
    ffi::CString,
    fs::OpenOptions,
    io::Write,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use serde::{Deserialize, Serialize};

use crate::{Arch, Error, KernelCache, Source, Target, TargetKind, ending::Running, folder::Folder, toolkit};

const INVALID_OPTION: u32 = 5;
const ERRORS_IN_SOURCE: u32 = 6;

/// From this version on NVRTC keeps what it compiled in the driver's cache, and gives no resources in the log of what it finds
/// there. The kernels are cached here, with their log.
const FIRST_WITH_CACHE: (i32, i32) = (13, 0);
const NO_CACHE: &str = "--no-cache";

/// Options that only save time, each with the first version that they were tried with: older compilers are not told.
const QUICK: [(&str, (i32, i32)); 1] = [("--minimal", (13, 0))];

/// Code for a device, with what the compiler said about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    /// The source's name.
    pub name: String,
    /// What it was compiled for.
    pub arch: Arch,
    /// In which form.
    pub target: TargetKind,
    /// NVRTC's version (major, minor).
    pub compiler: (i32, i32),
    /// What each kernel uses, in the compiler's order. Empty for PTX.
    pub kernels: Vec<KernelResources>,
    /// The compiler's log.
    pub log: String,
    /// The cubin, or PTX text that ends in NUL.
    #[serde(skip)]
    pub image: Vec<u8>,
}

impl Compiled {
    /// What it was compiled for.
    pub fn built_for(&self) -> Target {
        Target::new(self.target, self.arch)
    }
}

/// What one kernel uses, from the compiler's log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelResources {
    /// The kernel.
    pub name: String,
    /// Registers of one thread.
    pub registers: u32,
    /// Stack of one thread, bytes.
    pub stack_bytes: u32,
    /// Bytes that one thread stores because registers ran out.
    pub spill_store_bytes: u32,
    /// Bytes that one thread loads again.
    pub spill_load_bytes: u32,
    /// Static shared memory of a block, bytes.
    pub shared_bytes: u32,
}

/// Compiles with NVRTC, which is looked for on the first call. Needs neither driver nor GPU.
///
/// A source with errors is [`Error::Compile`]: the message names the op, then the log; the source is written to a file. The
/// ptxas warning C7510 (wgmma serialised) is an error too.
pub fn compile(source: &Source, arch: Arch) -> Result<Compiled, Error> {
    let (images, compiled) = images(source, arch, &[source.target != TargetKind::Portable])?;
    Ok(Compiled { image: images.into_iter().next().unwrap_or_default(), ..compiled })
}

/// The machine code of a [`TargetKind::Plain`] source, and the PTX that it is made from: what [`compile`] gives of both, in little more
/// than the time for one.
pub fn compile_with_ptx(source: &Source, arch: Arch) -> Result<[Compiled; 2], Error> {
    let source = Source { target: TargetKind::Plain, ..source.clone() };
    let (images, cubin) = images(&source, arch, &[true, false])?;
    let [image, text] = images.try_into().unwrap_or_default();
    let ptx = Compiled {
        target: TargetKind::Portable,
        kernels: Vec::new(),
        log: String::new(),
        image: text,
        ..cubin.clone()
    };
    Ok([Compiled { image, ..cubin }, ptx])
}

/// What was compiled, a cubin or PTX for each of `cubins`, and all else that is known of it.
fn images(source: &Source, arch: Arch, cubins: &[bool]) -> Result<(Vec<Vec<u8>>, Compiled), Error> {
    let _running = Running::begin().ok_or(Error::Ending)?;
    let nvrtc = toolkit::nvrtc()?;
    let options = source.all_options(arch);
    let known = nvrtc.raw.architectures()?;
    if !known.contains(&(arch.major as i32 * 10 + arch.minor as i32)) {
        let known = known.iter().map(|arch| format!("sm_{arch}")).collect::<Vec<_>>().join(" ");
        let (major, minor) = nvrtc.version;
        return Err(Error::UnknownArch { name: source.name.clone(), arch, known, version: format!("{major}.{minor}") });
    }

    let c = |what: &str, text: &str| {
        CString::new(text).map_err(|_| Error::NulByte { name: source.name.replace('\0', "?"), what: what.to_owned() })
    };
    // What begins with `-` would be an option.
    let folder = if source.name.starts_with('-') { "./" } else { "" };
    let (name, text) = (c("its name", &format!("{folder}{}", source.name))?, c("its text", &source.text)?);
    let headers = source.headers.iter().map(|(name, text)| Ok([c("a header's name", name)?, c(name, text)?]));
    let headers = headers.collect::<Result<Vec<_>, Error>>()?;
    let quiet = (nvrtc.version >= FIRST_WITH_CACHE).then_some(NO_CACHE);
    let unknown = |option: &str| QUICK.iter().any(|(quick, first)| option == *quick && nvrtc.version < *first);
    let told = options.iter().map(String::as_str).filter(|option| !unknown(option));
    let arguments = told.chain(quiet).map(|option| c("an option", option));
    let arguments = arguments.collect::<Result<Vec<_>, Error>>()?;

    let (log, images) = nvrtc.raw.compile([&name, &text], &headers, &arguments, cubins)?;
    let images = images.map_err(|error| match error {
        Error::Nvrtc { code: INVALID_OPTION | ERRORS_IN_SOURCE, .. } => {
            let source_path = write_failed(source, arch, &options, &log);
            Error::Compile { name: source.name.clone(), log: log.clone(), source_path }
        }
        other => other,
    })?;
    if log.contains("C7510") {
        return Err(Error::SerializedWgmma { name: source.name.clone(), log });
    }
    let kernels = KernelResources::from_log(&log);
    let (name, target, compiler) = (source.name.clone(), source.target, nvrtc.version);
    Ok((images, Compiled { name, arch, target, compiler, kernels, log, image: Vec::new() }))
}

/// Writes what did not compile where the user can look at it: the text first, so that the log's line numbers hold.
fn write_failed(source: &Source, arch: Arch, options: &[String], log: &str) -> Option<PathBuf> {
    let mut content = format!("{}\n\n/* ==== options: {} ==== */\n", source.text, options.join(" "));
    for (name, text) in &source.headers {
        content += &format!("\n/* ==== header {name} ==== */\n{text}\n");
    }
    content += &format!("\n/* ==== log ====\n{}\n*/\n", log.replace("*/", "* /"));

    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = source.name.chars().take(60).map(plain).collect();
    let name = format!("{}-{:.12}.cu", name.trim_start_matches('.'), source.key(arch).to_string());
    let in_cache = || {
        let folder = Folder::open(&KernelCache::default_dir()?.join("failed")).ok()?;
        folder.write(&name, content.as_bytes()).ok()?;
        Some(folder.path().join(&name))
    };
    in_cache().or_else(|| write_temporary(&name, &content))
}

/// In the folder for temporary files, which others may write: under a name that nobody has taken.
fn write_temporary(name: &str, content: &str) -> Option<PathBuf> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("tilewright-{}-{number}-{name}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).ok()?;
    file.write_all(content.as_bytes()).ok()?;
    Some(path)
}
