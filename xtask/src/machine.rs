//! What commands look at to find compilers: programs in `PATH`, variables, folders. A value, so that tests make their own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A machine as a process sees it.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
    variables: BTreeMap<OsString, OsString>,
}

impl Machine {
    /// The one that this process runs on.
    pub fn this() -> Self {
        Self { root: "/".into(), variables: std::env::vars_os().collect() }
    }

    /// One whose file system begins at `root`, with these variables alone.
    pub fn new(root: impl Into<PathBuf>, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { root: root.into(), variables: variables.into_iter().collect() }
    }

    /// The value of a variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        self.variables.get(std::ffi::OsStr::new(name)).filter(|value| !value.is_empty()).cloned()
    }

    /// Where an absolute path lies in this machine's file system.
    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Where cargo keeps what it fetched.
    pub fn cargo_home(&self) -> PathBuf {
        let home = || self.variable("HOME").map(|home| Path::new(&home).join(".cargo"));
        self.variable("CARGO_HOME").map(PathBuf::from).or_else(home).unwrap_or_else(|| self.at("/.cargo"))
    }

    /// The file that a name, or a path, stands for in `PATH`.
    pub fn program(&self, name: impl AsRef<Path>) -> Option<PathBuf> {
        let name = name.as_ref();
        if name.components().count() > 1 {
            return is_program(name).then(|| name.to_owned());
        }
        let path = self.variable("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))
    }

    /// A command that sees this machine's variables and has nothing on its standard input.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().envs(&self.variables).stdin(Stdio::null());
        command
    }

    /// What a program prints when it succeeds; otherwise why not, in one line.
    pub fn output(&self, program: &Path, arguments: &[&str]) -> Result<String, String> {
        let output = self.command(program).args(arguments).output().map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Err(if first.is_empty() { output.status.to_string() } else { first.trim().to_owned() })
    }
}

fn is_program(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
