//! `cargo xtask bundle`: one folder with what a machine with a GPU and a driver, but without Rust, needs to test and
//! measure this workspace.
//!
//! ```text
//! .bundle/run.sh              runs the stages that its arguments name
//! .bundle/COMMIT              what was built
//! .bundle/programs.tar.xz     what run.sh unpacks beside itself:
//!   tests/                    test executables, those that reach the driver crate
//!   bin/                      the device benchmark
//!   examples/                 the facade's examples
//! .bundle/peers/              the scripts that time other libraries, and the programs of `cargo xtask peers`, if it ran
//! .bundle/assets/             what the examples read
//! .bundle/nvrtc/              the run-time compiler, with `--nvrtc`
//! ```

use crate::bench::{DEVICE_BENCH, PACKAGE};
use crate::peers;
use crate::workspace::{self, Packages};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The script that a bundle runs.
pub const RUN_SCRIPT: &str = include_str!("bundle/run.sh");

/// The most bytes that a bundle may have, NVRTC left aside.
const MOST_BYTES: u64 = 40_000_000;

/// Executables, packed: they are some 190 MB, a fifth of it so.
const PROGRAMS: &str = "programs.tar.xz";
const PACKED: [&str; 3] = ["tests", "bin", "examples"];

/// A peer that is built on the machine with the GPU.
const BUILT_THERE: &str = "npp.cu";

/// What the command takes.
#[derive(clap::Args)]
pub struct Options {
    /// Puts the NVRTC libraries of this folder into the bundle, for a machine that has none.
    #[arg(long, value_name = "DIR")]
    nvrtc: Option<PathBuf>,
}

/// Builds, gathers, and prints a table of sizes.
pub fn run(options: &Options) -> Result<()> {
    let packages = Packages::load()?;
    let executables = build(&packages)?;
    let mut bundle = Bundle::create(workspace::root().join(".bundle"))?;
    bundle.write("run.sh", RUN_SCRIPT.as_bytes())?;
    bundle.write("COMMIT", commit().as_bytes())?;
    for executable in &executables {
        bundle.copy(&executable.file, &executable.place)?;
    }
    for folder in ["benches/peers", "crates/tilewright/assets", "crates/tilewright/examples/assets"] {
        let place = if folder.ends_with("assets") { "assets" } else { "peers" };
        bundle.copy_folder(&workspace::root().join(folder), place, |name| {
            place == "assets" || name.ends_with(".py") || name.ends_with(".csv") || name == BUILT_THERE
        })?;
    }
    bundle.copy_folder(&peers::folder(), "peers", |_| true)?;
    bundle.print_table();
    let total = bundle.pack()?;
    if let Some(folder) = &options.nvrtc {
        bundle.copy_folder(folder, "nvrtc", |name| name.starts_with("libnvrtc") && name.contains(".so"))?;
    }
    if total > MOST_BYTES {
        bail!("the bundle has {total} bytes, at most {MOST_BYTES}: build less into the largest executables above");
    }
    Ok(())
}

/// An executable and its place in the bundle.
struct Executable {
    file: PathBuf,
    place: String,
}

/// Builds tests, examples and the device benchmark with the profile `bundle`.
fn build(packages: &Packages) -> Result<Vec<Executable>> {
    let everything = ["--workspace", "--exclude", "xtask", "--profile", "bundle"];
    let mut executables = Vec::new();
    for artifact in workspace::artifacts(workspace::cargo().args(["test", "--no-run"]).args(everything))? {
        let Some((package, name, kind, file)) = packages.described(&artifact) else { continue };
        // What does not reach the driver has nothing to learn from a GPU.
        let reaches = packages.reaches(&package.name, "tilewright-driver");
        if reaches && artifact["profile"]["test"] == true && has_tests(&file) {
            let name = if kind == "lib" { "unit" } else { name };
            executables.push(Executable { file, place: format!("tests/{}-{name}", package.name) });
        }
    }
    for artifact in workspace::artifacts(workspace::cargo().args(["build", "--examples", "--bins"]).args(everything))? {
        let Some((package, name, kind, file)) = packages.described(&artifact) else { continue };
        match (package.name.as_str(), kind, name) {
            ("tilewright", "example", name) => executables.push(Executable { file, place: format!("examples/{name}") }),
            (PACKAGE, "bin", DEVICE_BENCH) => executables.push(Executable { file, place: format!("bin/{name}") }),
            _ => {}
        }
    }
    Ok(executables)
}

/// Whether a test executable lists a test; one that cannot list them is kept.
fn has_tests(file: &Path) -> bool {
    let output = Command::new(file).args(["--list", "--format", "terse"]).stdin(Stdio::null()).output();
    output.is_ok_and(|output| !output.status.success() || !output.stdout.is_empty())
}

/// The commit, marked when the tree differs from it.
fn commit() -> String {
    let described = workspace::command("git").args(["describe", "--always", "--dirty", "--exclude=*"]).output();
    let text = described.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    text.and_then(|text| String::from_utf8(text).ok()).unwrap_or_else(|| "unknown\n".into())
}

/// The folder and what was put into it.
struct Bundle {
    folder: PathBuf,
    files: Vec<(String, u64)>,
}

impl Bundle {
    /// An empty one, in the place of an older one.
    fn create(folder: PathBuf) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        std::fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { folder, files: Vec::new() })
    }

    fn write(&mut self, place: &str, bytes: &[u8]) -> Result<()> {
        let file = self.folder.join(place);
        std::fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
        if place.ends_with(".sh") {
            make_executable(&file)?;
        }
        self.files.push((place.to_owned(), bytes.len() as u64));
        Ok(())
    }

    fn copy(&mut self, file: &Path, place: &str) -> Result<()> {
        let target = self.folder.join(place);
        std::fs::create_dir_all(target.parent().context("a place lies in a folder")?)?;
        let size = std::fs::copy(file, &target).with_context(|| format!("cannot copy {}", file.display()))?;
        self.files.push((place.to_owned(), size));
        Ok(())
    }

    /// Copies the files that lie directly in a folder, if there is such a folder.
    fn copy_folder(&mut self, folder: &Path, place: &str, wanted: impl Fn(&str) -> bool) -> Result<()> {
        if !folder.is_dir() {
            return Ok(());
        }
        for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let file = entry?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.is_file() && wanted(&name) {
                self.copy(&file, &format!("{place}/{name}"))?;
            }
        }
        Ok(())
    }

    /// Prints each file with its size, largest first.
    fn print_table(&mut self) {
        self.files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        self.files.iter().for_each(|(place, size)| print_size(place, *size));
    }

    /// Packs the programs, prints what the bundle has then, and returns it.
    fn pack(&mut self) -> Result<u64> {
        let packed = |place: &str| PACKED.iter().any(|folder| place.starts_with(&format!("{folder}/")));
        let folders: Vec<_> = PACKED.into_iter().filter(|folder| self.folder.join(folder).is_dir()).collect();
        let mut tar = Command::new("tar");
        tar.current_dir(&self.folder).args(["--create", "--use-compress-program=xz -6 -T0", "--file", PROGRAMS]);
        let status = tar.args(&folders).status().context("cannot run tar, which packs the programs")?;
        if !status.success() {
            bail!("tar could not pack the programs ({status}); it needs xz beside it");
        }
        for folder in &folders {
            let folder = self.folder.join(folder);
            std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        let size = std::fs::metadata(self.folder.join(PROGRAMS)).context("the packed programs are gone")?.len();
        self.files.retain(|(place, _)| !packed(place));
        self.files.push((PROGRAMS.to_owned(), size));
        let total = self.files.iter().map(|(_, size)| size).sum();
        print_size(PROGRAMS, size);
        print_size(&format!("total, in {}", self.folder.display()), total);
        Ok(total)
    }
}

fn print_size(place: &str, bytes: u64) {
    println!("{:>9.3} MB  {place}", bytes as f64 / 1e6);
}

#[cfg(unix)]
fn make_executable(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", file.display()))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<()> {
    Ok(())
}
