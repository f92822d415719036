//! Offsets on the host: the assembly of typed ones beside that of offsets by hand, and the time that many sites take to check.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use tempfile::TempDir;

const TYPED: &str = include_str!("offsets/typed.rs");
const BY_HAND: &str = include_str!("offsets/by_hand.rs");
const DIMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dims/src/lib.rs");
const LIBRARY: &str = "libtilewright_dims.rlib";

/// A folder where `tilewright-dims` is compiled, optimised.
#[derive(Debug)]
pub struct Compiled(TempDir);

impl Compiled {
    /// Compiles the crate. `None` on a machine without rustc, or without the source.
    pub fn new() -> Option<io::Result<Self>> {
        let answers = rustc().arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !answers.is_ok_and(|status| status.success()) || !Path::new(DIMS).is_file() {
            return None;
        }
        let make = || {
            let folder = tempfile::tempdir()?;
            run(rustc().args(["--crate-type=rlib", "--crate-name=tilewright_dims", "-O", DIMS]), folder.path())?;
            Ok(Self(folder))
        };
        Some(make())
    }

    /// The instructions of each typed function, by its name.
    pub fn typed(&self) -> io::Result<BTreeMap<String, Vec<String>>> {
        self.assembly(TYPED)
    }

    /// The instructions of each function by hand.
    pub fn by_hand(&self) -> io::Result<BTreeMap<String, Vec<String>>> {
        self.assembly(BY_HAND)
    }

    /// Seconds that `rustc` takes to check so many places where a tensor of rank 6 is subscripted, dimension by dimension.
    pub fn check_seconds(&self, sites: usize) -> io::Result<f64> {
        let text = subscripts(sites);
        let begin = Instant::now();
        self.compile("sites", &text, "--emit=metadata")?;
        Ok(begin.elapsed().as_secs_f64())
    }

    // Each text is a crate of its own: within one, LLVM makes equal functions one.
    fn assembly(&self, text: &str) -> io::Result<BTreeMap<String, Vec<String>>> {
        self.compile("offsets", text, "--emit=asm")?;
        Ok(functions(&std::fs::read_to_string(self.0.path().join("offsets.s"))?))
    }

    fn compile(&self, name: &str, text: &str, emit: &str) -> io::Result<()> {
        let folder = self.0.path();
        let (file, library) = (folder.join(format!("{name}.rs")), folder.join(LIBRARY));
        std::fs::write(&file, text)?;
        let mut command = rustc();
        command.args(["--crate-type=lib", "-O", "-Ccodegen-units=1", "-Cdebuginfo=0", emit]).arg(&file);
        run(command.arg(format!("--extern=tilewright_dims={}", library.display())), folder)
    }
}

fn rustc() -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition=2024", "--cap-lints=allow"]).stdin(Stdio::null());
    command
}

fn run(command: &mut Command, folder: &Path) -> io::Result<()> {
    let output = command.arg("--out-dir").arg(folder).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))))
}

/// The instructions of each function of an assembly, without directives and comments, local labels numbered as in no file.
pub fn functions(assembly: &str) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut name = None;
    for line in assembly.lines() {
        let is_instruction = line.starts_with(char::is_whitespace) && !line.trim_start().starts_with(['.', '#']);
        if is_instruction && let Some(name) = &name {
            all.entry(String::clone(name)).or_default().push(without_function_number(line.trim()));
        } else if let Some(label) = line.strip_suffix(':').filter(|label| !label.starts_with(['.', '#'])) {
            name = Some(label.to_owned());
        } else if line.starts_with(".LBB")
            && let Some(name) = &name
        {
            all.entry(String::clone(name)).or_default().push(without_function_number(line));
        }
    }
    all
}

/// `.LBB3_1` as `.LBB_1`: the number of the function depends on those before it.
fn without_function_number(line: &str) -> String {
    match line.split_once(".LBB") {
        Some((before, after)) => format!("{before}.LBB{}", after.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => line.to_owned(),
    }
}

fn subscripts(sites: usize) -> String {
    const SITES_PER_FUNCTION: usize = 10;
    let mut text = String::from(
        "use tilewright_dims::{dims, tensor};\n\
         dims! { A, B, C, D, E, F }\n\
         tensor!(T: f32, [A: 2, B: 3, C: 4, D: 5, E: 6, F: 7]);\n",
    );
    for first in (0..sites).step_by(SITES_PER_FUNCTION) {
        let _ = writeln!(text, "pub fn f{first}(t: &[f32], i: i32) -> f32 {{");
        text += "    let t = T::view(t).unwrap();\n    let mut sum = 0.0;\n";
        for site in first..sites.min(first + SITES_PER_FUNCTION) {
            let (b, d, f) = (site % 3, site % 5, site % 7);
            let _ = writeln!(text, "    sum += *t.at(A(i)).at(B({b})).at(C(i)).at(D({d})).at(E(i)).at(F({f}));");
        }
        text += "    sum\n}\n";
    }
    text
}
