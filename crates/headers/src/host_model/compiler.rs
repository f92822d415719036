//! The system's C++ compiler: found, called on several units at a time, its errors brought into few lines.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::Error;

/// The result's bits are the plan's: no contraction, no reassociation. Hidden symbols and no exceptions save time.
const FLAGS: &[&str] = &[
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    // GCC makes `-fma(a, b, c)` one instruction that computes `-(a * b) - c`: another zero, where the two cancel.
    "-fno-builtin-fma",
    "-fno-builtin-fmaf",
    "-DTILEWRIGHT_HOST",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-w",
    "-fmax-errors=5",
    "-fdiagnostics-color=never",
    "-I.",
];
const SANITIZERS: &[&str] = &[
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize=vptr",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
];

/// Errors shown in a message, and the lines of each.
const ERRORS_SHOWN: usize = 5;
const LINES_PER_ERROR: usize = 3;

/// The runtime is the same for all kernels, and takes longer to compile than most of them.
static RUNTIMES: Mutex<Vec<(Compiler, Vec<u8>)>> = Mutex::new(Vec::new());

/// A C++ compiler that answers on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    program: String,
    arguments: Vec<String>,
    sanitize: bool,
}

impl Compiler {
    pub(super) fn find() -> Option<Compiler> {
        let asked = env::var("CXX").ok();
        let candidates = asked.as_deref().into_iter().chain(["c++", "g++", "clang++"]);
        candidates.filter_map(Compiler::from_command).find(Compiler::answers)
    }

    /// `command`: a program, and arguments separated by blanks (`ccache g++`).
    fn from_command(command: &str) -> Option<Compiler> {
        let mut words = command.split_whitespace().map(str::to_owned);
        Some(Compiler { program: words.next()?, arguments: words.collect(), sanitize: false })
    }

    /// The same compiler with `-fsanitize=address,undefined`: the first violation prints a report and ends the process.
    ///
    /// The process must carry the address sanitizer's runtime already: start it with
    /// `LD_PRELOAD=$(c++ -print-file-name=libasan.so)`, and `ASAN_OPTIONS=detect_leaks=0`.
    #[must_use]
    pub fn with_sanitizers(mut self) -> Compiler {
        self.sanitize = true;
        self
    }

    pub(super) fn sanitizes(&self) -> bool {
        self.sanitize
    }

    /// Compiles `unit_<0..units>.cpp` and `runtime.cpp` in `folder`; the path of the library made from them.
    pub(super) fn build(&self, folder: &Path, units: usize) -> Result<PathBuf, Error> {
        let stems: Vec<String> =
            std::iter::once("runtime".to_owned()).chain((0..units).map(|i| format!("unit_{i}"))).collect();
        let runtime = folder.join("runtime.o");
        let kept = self.kept_runtime().filter(|object| fs::write(&runtime, object).is_ok());
        let next = AtomicUsize::new(usize::from(kept.is_some()));
        let failures = Mutex::new(Vec::new());
        let processes = thread::available_parallelism().map_or(1, usize::from).min(stems.len());
        thread::scope(|scope| {
            for _ in 0..processes {
                scope.spawn(|| {
                    while let Some(stem) = stems.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let (object, unit) = (format!("{stem}.o"), format!("{stem}.cpp"));
                        if let Err(error) = self.call(folder, &["-c", "-o", &object, &unit]) {
                            failures.lock().unwrap_or_else(|e| e.into_inner()).push(error);
                        }
                    }
                });
            }
        });
        if let Some(first) = failures.into_inner().unwrap_or_else(|e| e.into_inner()).into_iter().next() {
            return Err(first);
        }
        if let (None, Ok(object)) = (kept, fs::read(&runtime)) {
            self.keep_runtime(object);
        }
        let objects: Vec<String> = stems.iter().map(|stem| format!("{stem}.o")).collect();
        let mut arguments = vec!["-shared", "-o", "kernels.so"];
        arguments.extend(objects.iter().map(String::as_str));
        arguments.push("-lm");
        self.call(folder, &arguments)?;
        Ok(folder.join("kernels.so"))
    }

    /// The runtime's object, compiled by this process before.
    fn kept_runtime(&self) -> Option<Vec<u8>> {
        let kept = RUNTIMES.lock().unwrap_or_else(|e| e.into_inner());
        kept.iter().find(|(compiler, _)| compiler == self).map(|(_, object)| object.clone())
    }

    fn keep_runtime(&self, object: Vec<u8>) {
        RUNTIMES.lock().unwrap_or_else(|e| e.into_inner()).push((self.clone(), object));
    }

    fn answers(&self) -> bool {
        let mut command = self.command();
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn call(&self, folder: &Path, arguments: &[&str]) -> Result<(), Error> {
        let mut command = self.command();
        command.args(FLAGS).args(if self.sanitize { SANITIZERS } else { &[] }).args(arguments);
        command.current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
        let output = command.output().map_err(|error| Error::Io {
            action: "start the C++ compiler",
            path: PathBuf::from(&self.program),
            error,
        })?;
        if output.status.success() {
            return Ok(());
        }
        let log = String::from_utf8_lossy(&output.stderr);
        let (folder, file) = (folder.to_owned(), refused_source(&log).to_owned());
        Err(Error::Compile { compiler: self.to_string(), errors: first_errors(&log), folder, file })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)
    }
}

fn is_error(line: &str) -> bool {
    line.contains("error: ") || line.contains("undefined reference")
}

/// The first errors of a compiler's log, each with the source line shown below it.
fn first_errors(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|&i| is_error(lines[i])).take(ERRORS_SHOWN).collect();
    let mut text = String::new();
    if starts.is_empty() {
        lines.iter().take(ERRORS_SHOWN * LINES_PER_ERROR).for_each(|line| push_line(&mut text, line));
    }
    for start in starts {
        push_line(&mut text, lines[start]);
        let shown_below = lines[start + 1..].iter().take_while(|line| line.starts_with(' ')).take(LINES_PER_ERROR - 1);
        shown_below.for_each(|line| push_line(&mut text, line));
    }
    text
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// The `.cu` file that the log names first; empty if it names none.
fn refused_source(log: &str) -> &str {
    let Some(end) = log.find(".cu:").map(|at| at + ".cu".len()) else { return "" };
    let start = log[..end].rfind([' ', '\n']).map_or(0, |at| at + 1);
    &log[start..end]
}
