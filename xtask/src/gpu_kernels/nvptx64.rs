//! The compiler's own target for NVIDIA GPUs.
//!
//! The target comes as sources only, so this needs a compiler that has them. With whole-program optimisation the compiler merges
//! all crates itself, and the assembly that it prints is finished PTX: nothing is left for a linker, which is `true`.
//!
//! The same sources give the same text in every folder: paths are cut off, and a crate's hash, which stands in its symbols and
//! decides their order, comes from its name and version instead of where it lies.

use super::backend::{Ptx, PtxBackend, Ready, Request};
use super::probe::{Missing, Need};
use crate::compiler::{self, Compiler};
use crate::machine::Machine;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tilewright_driver::Arch;

/// The target's name.
pub const TARGET: &str = "nvptx64-nvidia-cuda";

/// What the compiler's own target is called here.
pub const NAME: &str = "nvptx64";

/// Stands between cargo and the compiler, and makes the hashes of crates alike on all machines.
const WRAPPER: &str = include_str!("rustc_wrapper.sh");

/// Whatever the package's manifest says, code for a GPU is built like this.
const PROFILE: [&str; 6] = [
    "profile.release.codegen-units=1",
    "profile.release.debug=false",
    "profile.release.incremental=false",
    "profile.release.lto=\"fat\"",
    "profile.release.opt-level=3",
    "profile.release.panic=\"abort\"",
];

/// The back end.
pub struct Nvptx64 {
    machine: Machine,
    made_by: Option<String>,
}

impl Nvptx64 {
    /// On this machine.
    pub fn new(machine: &Machine) -> Self {
        Self { machine: machine.clone(), made_by: None }
    }

    /// With the compiler whose version is this, if it is among those that would do.
    pub fn like(self, made_by: Option<&str>) -> Self {
        Self { made_by: made_by.map(str::to_owned), ..self }
    }

    /// The compiler that a build would use.
    pub fn compiler(&self) -> Result<Compiler, Missing> {
        let (mut usable, mut tried) = (Vec::new(), Vec::new());
        for place in compiler::with_sources(&self.machine) {
            match place.and_then(|compiler| self.with_cpus(compiler)) {
                Ok(compiler) => usable.push(compiler),
                Err(reason) => tried.push(reason),
            }
        }
        let same = usable.iter().position(|compiler| Some(&compiler.version) == self.made_by.as_ref());
        if !usable.is_empty() {
            return Ok(usable.swap_remove(same.unwrap_or(0)));
        }
        let least = env!("CARGO_PKG_RUST_VERSION");
        let what = format!("a rustc of {least} or newer with the sources of its standard library");
        let mends = compiler::MENDS.map(str::to_owned).to_vec();
        Err(Missing { backend: NAME, needs: vec![Need { what, tried, mends }] })
    }

    /// A compiler whose LLVM can make code for the target.
    fn with_cpus(&self, compiler: Compiler) -> Result<Compiler, String> {
        match self.machine.output(&compiler.rustc, &["--print", "target-cpus", "--target", TARGET]) {
            Ok(text) if text.contains("sm_80") => Ok(compiler),
            Ok(_) => Err(format!("{compiler}: its LLVM makes no code for {TARGET}")),
            Err(reason) => Err(format!("{compiler}: {reason}")),
        }
    }
}

impl PtxBackend for Nvptx64 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn probe(&self) -> Result<Ready, Missing> {
        self.compiler().map(|compiler| Ready { compiler: compiler.to_string() })
    }

    fn build(&self, request: &Request) -> Result<Ptx> {
        let compiler = self.compiler()?;
        let folder = &folder(request);
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let wrapper = write_wrapper(folder)?;
        let output = folder.join("kernels.ptx");
        let built = command(&compiler, request, &wrapper, &output).output().context("cannot start cargo")?;
        let log = String::from_utf8_lossy(&built.stderr).trim().to_owned();
        if !built.status.success() {
            bail!("{} does not compile for {} ({compiler}):\n{log}", request.package.display(), request.arch);
        }
        let text = std::fs::read_to_string(&output)
            .with_context(|| format!("cannot read {}; remove {} and try again", output.display(), folder.display()))?;
        Ok(Ptx { text, compiler: compiler.version, log })
    }
}

/// The command that writes the PTX of a request to `output`.
pub fn command(compiler: &Compiler, request: &Request, wrapper: &Path, output: &Path) -> Command {
    let mut cargo = workspace::cargo();
    cargo.current_dir(&request.package).args(["rustc", "--quiet", "--release", "--lib", "--target", TARGET]);
    cargo.args(["-Zbuild-std=core", "--crate-type", "cdylib"]);
    if request.package.join("Cargo.lock").is_file() {
        cargo.arg("--locked");
    }
    for line in PROFILE {
        cargo.args(["--config", line]);
    }
    cargo.arg("--").arg(format!("--emit=asm={}", output.display()));
    // Unstable features of a released compiler, in this process alone.
    cargo.env("RUSTC", &compiler.rustc).env("RUSTC_BOOTSTRAP", "1").env("RUSTC_WRAPPER", wrapper);
    cargo.env("CARGO_TARGET_DIR", folder(request)).env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", "true");
    // What stands in symbols instead of the compiler's version, so that another version changes code alone.
    cargo.env("RUSTC_FORCE_RUSTC_VERSION", "tilewright");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags(request.arch).join("\x1f"));
    for others in ["RUSTFLAGS", "CARGO_INCREMENTAL", "RUSTC_WORKSPACE_WRAPPER"] {
        cargo.env_remove(others);
    }
    cargo
}

/// For every crate, core included: they have to agree on the processor.
fn flags(arch: Arch) -> [String; 4] {
    [
        format!("-Ctarget-cpu={arch}"),
        "-Csymbol-mangling-version=v0".to_owned(),
        // The compiler runs in the folder of each crate; what build scripts write lies elsewhere.
        format!("--remap-path-prefix={}=.", workspace::root().display()),
        "-Zremap-cwd-prefix=.".to_owned(),
    ]
}

/// For each architecture one of its own: cargo would build core again for the other flags.
fn folder(request: &Request) -> PathBuf {
    request.target_folder.join(request.arch.to_string())
}

/// Writes [`WRAPPER`] where it can be run, and leaves it alone when it is there.
fn write_wrapper(folder: &Path) -> Result<PathBuf> {
    let file = folder.join("rustc_wrapper.sh");
    if std::fs::read_to_string(&file).is_ok_and(|text| text == WRAPPER) {
        return Ok(file);
    }
    let write = || {
        let new = tempfile::NamedTempFile::new_in(folder)?;
        std::fs::write(new.path(), WRAPPER)?;
        std::fs::set_permissions(new.path(), std::fs::Permissions::from_mode(0o755))?;
        new.into_temp_path().persist(&file).map_err(std::io::Error::from)
    };
    write().with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}
