//! The workspace as cargo describes it, and the cargo commands that run in it.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of the workspace's `Cargo.toml`.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// A command that runs in the workspace's root, with nothing on its standard input.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// `cargo`, the one that started this program where there is one.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command to its end and fails when it does.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}

/// What cargo says that it built, one JSON object each. The command is one of cargo's that builds.
pub fn artifacts(command: &mut Command) -> Result<Vec<Value>> {
    let output = command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", output.status);
    }
    let lines = String::from_utf8(output.stdout).context("cargo printed what is not text")?;
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(messages.filter(|message| message["reason"] == "compiler-artifact").collect())
}

/// The first line of what a command prints, or nothing when it fails.
pub fn first_line(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
}

/// Whether this machine shows an NVIDIA device: the driver's device file, or the one that Windows lends to Linux.
pub fn has_gpu() -> bool {
    ["/dev/nvidiactl", "/dev/dxg"].iter().any(|file| Path::new(file).exists())
}

/// One thing that cargo builds.
pub struct Target {
    /// Its name within the package.
    pub name: String,
    /// What it is: `lib`, `bin`, `example`, `test`, `bench`, ..
    pub kind: String,
}

/// One package of the workspace.
pub struct Package {
    /// The package's name.
    pub name: String,
    /// The folder of its `Cargo.toml`.
    pub folder: PathBuf,
    /// What cargo builds from it.
    pub targets: Vec<Target>,
    /// The names of the workspace packages that it depends on, also for its tests.
    dependencies: BTreeSet<String>,
}

impl Package {
    /// The names of its targets of one kind, in order.
    pub fn targets_of(&self, kind: &str) -> Vec<&str> {
        let mut names: Vec<&str> = self.targets.iter().filter(|t| t.kind == kind).map(|t| t.name.as_str()).collect();
        names.sort_unstable();
        names
    }
}

/// All packages of the workspace.
pub struct Packages(BTreeMap<String, Package>);

impl Packages {
    /// Asks cargo.
    pub fn load() -> Result<Self> {
        let output = cargo()
            .args(["metadata", "--no-deps", "--format-version=1"])
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start cargo metadata")?;
        if !output.status.success() {
            bail!("cargo metadata failed: {}", output.status);
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
        let packages = array(&metadata["packages"]).map(package).collect::<Result<Vec<_>>>()?;
        let names: BTreeSet<String> = packages.iter().map(|package| package.name.clone()).collect();
        let keep_ours = |mut package: Package| {
            package.dependencies.retain(|name| names.contains(name));
            (package.name.clone(), package)
        };
        Ok(Self(packages.into_iter().map(keep_ours).collect()))
    }

    /// The packages in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Package> {
        self.0.values()
    }

    /// The package of that name, if there is one.
    pub fn get(&self, name: &str) -> Option<&Package> {
        self.0.get(name)
    }

    /// The packages under `crates/`: those that users depend on.
    pub fn libraries(&self) -> impl Iterator<Item = &Package> {
        self.iter().filter(|package| package.folder.parent() == Some(&root().join("crates")))
    }

    /// An artifact's package, name, kind and executable; nothing for one that cannot be run.
    pub fn described<'a>(&'a self, artifact: &'a Value) -> Option<(&'a Package, &'a str, &'a str, PathBuf)> {
        let file = PathBuf::from(artifact["executable"].as_str()?);
        let folder = Path::new(artifact["manifest_path"].as_str()?).parent()?;
        let package = self.iter().find(|package| package.folder == folder)?;
        let target = &artifact["target"];
        Some((package, target["name"].as_str()?, target["kind"][0].as_str()?, file))
    }

    /// Whether `package` reaches `other` through dependencies of any kind, or is it.
    pub fn reaches(&self, package: &str, other: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![package];
        while let Some(name) = open.pop() {
            if name == other {
                return true;
            }
            if seen.insert(name)
                && let Some(package) = self.get(name)
            {
                open.extend(package.dependencies.iter().map(String::as_str));
            }
        }
        false
    }
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).context("cargo metadata lacks a text where one belongs")
}

fn package(value: &Value) -> Result<Package> {
    let manifest = PathBuf::from(text(&value["manifest_path"])?);
    let target = |value: &Value| Ok(Target { name: text(&value["name"])?, kind: text(&value["kind"][0])? });
    Ok(Package {
        name: text(&value["name"])?,
        folder: manifest.parent().context("a manifest lies in a folder")?.to_owned(),
        targets: array(&value["targets"]).map(target).collect::<Result<_>>()?,
        dependencies: array(&value["dependencies"]).map(|d| text(&d["name"])).collect::<Result<_>>()?,
    })
}
