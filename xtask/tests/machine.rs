//! Machines made of folders and scripts.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xtask::machine::Machine;

/// A machine whose programs are scripts.
pub(crate) struct Fake {
    root: tempfile::TempDir,
    variables: Vec<(OsString, OsString)>,
}

impl Fake {
    /// One with empty folders: programs go to `bin`, the user's home is `home`.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| root.path().join(name).into_os_string();
        let variables = vec![("PATH".into(), folder("bin")), ("HOME".into(), folder("home"))];
        Self { root, variables }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(crate) fn machine(&self) -> Machine {
        Machine::new(self.root.path(), self.variables.clone())
    }

    pub(crate) fn path(&self, place: &str) -> PathBuf {
        self.root.path().join(place)
    }

    pub(crate) fn file(&self, place: &str, text: &str) -> PathBuf {
        let path = self.path(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn remove(&self, place: &str) {
        let path = self.path(place);
        if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }

    pub(crate) fn script(&self, place: &str, text: &str) -> PathBuf {
        let path = self.path(place);
        script(&path, text);
        path
    }

    /// A compiler with this version; `sources` says whether its library's sources are there, below `<place>-sysroot`.
    pub(crate) fn rustc(&self, place: &str, release: &str, sources: bool) -> PathBuf {
        let sysroot = self.path(&format!("{place}-sysroot"));
        if sources {
            self.file(&format!("{place}-sysroot/lib/rustlib/src/rust/library/Cargo.lock"), "");
        }
        let text = format!(
            "case \"$*\" in\n\
             -vV) echo 'rustc {release}'; echo 'release: {release}'; echo 'LLVM version: 22.1.8' ;;\n\
             '--print sysroot') echo {} ;;\n\
             '--print target-cpus --target nvptx64-nvidia-cuda') echo '  sm_80'; echo '  sm_90' ;;\n\
             *) exit 1 ;;\nesac\n",
            sysroot.display()
        );
        self.script(place, &text)
    }
}

/// Writes a program. Another process does: a program that this one holds open for writing, in any thread, cannot be run.
pub(crate) fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut shell = Command::new("sh")
        .args(["-c", "cat >\"$0\" && chmod +x \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(format!("#!/bin/sh\n{text}").as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success());
}

/// The arguments of a command, as text.
pub(crate) fn arguments(command: &Command) -> Vec<String> {
    command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// What a command sets a variable to; nothing when it removes it or leaves it alone.
pub(crate) fn variable(command: &Command, name: &str) -> Option<String> {
    let set = command.get_envs().find(|(other, _)| *other == name)?;
    set.1.map(|value| value.to_string_lossy().into_owned())
}
