//! From kernel sources to translation units: each source in a namespace of its own, many to a unit.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::Path;

use tempfile::TempDir;

use super::{Error, KernelSource};

/// Few enough that several cores have work, enough that the headers' cost is shared.
const SOURCES_PER_UNIT: usize = 64;
/// Of large sources fewer: g++ takes a third longer for each kernel of a convolution, of 64 KiB, in a unit of 64 than in one of 8.
const BYTES_PER_UNIT: usize = 512 << 10;

/// A source, ready to stand inside a namespace.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) kernels: Vec<String>,
    file: String,
    includes: Vec<String>,
    macros: Vec<String>,
    text: String,
}

impl Source {
    pub(super) fn read(index: usize, source: &KernelSource<'_>) -> Result<Source, Error> {
        let kernels = kernel_names(&without_comments(source.text));
        if kernels.is_empty() {
            return Err(Error::NoKernel { source_index: index, name: source.name.to_owned() });
        }
        let name: String = source.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let file = format!("{index}_{}.cu", &name[..name.len().min(80)]);
        let (mut includes, mut macros, mut text) = (Vec::new(), Vec::new(), String::with_capacity(source.text.len()));
        for line in source.text.lines() {
            let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
            if let Some(header) = directive.and_then(|d| d.strip_prefix("include")) {
                // Outside the namespace; the line stays, empty, so that line numbers hold.
                includes.push(header.trim().to_owned());
                text.push('\n');
                continue;
            }
            if let Some(definition) = directive.and_then(|d| d.strip_prefix("define ")) {
                macros.push(first_word(definition.trim_start()).to_owned());
            }
            text.push_str(line);
            text.push('\n');
        }
        // Two functions of one name with C linkage are one function, whatever their namespaces.
        let text = text.replace("extern \"C\"", "extern \"C++\"");
        Ok(Source { kernels, file, includes, macros, text })
    }
}

/// Which sources stand in each translation unit.
fn batches(sources: &[Source]) -> Vec<Range<usize>> {
    let (mut batches, mut bytes) = (Vec::<Range<usize>>::new(), 0);
    for (i, source) in sources.iter().enumerate() {
        bytes += source.text.len();
        match batches.last_mut() {
            Some(last) if last.len() < SOURCES_PER_UNIT && bytes <= BYTES_PER_UNIT => last.end = i + 1,
            _ => {
                batches.push(i..i + 1);
                bytes = source.text.len();
            }
        }
    }
    batches
}

/// Writes headers, sources, units `unit_<i>.cpp` and `runtime.cpp` to a new temporary folder; and how many units there are.
pub(super) fn write(sources: &[Source]) -> Result<(TempDir, usize), Error> {
    let folder = tempfile::Builder::new().prefix("tilewright-host-").tempdir().map_err(|error| Error::Io {
        action: "create a folder in",
        path: std::env::temp_dir(),
        error,
    })?;
    for (path, text) in crate::device_headers().iter().chain(crate::host_headers()) {
        write_file(folder.path(), path, text)?;
    }
    for source in sources {
        write_file(folder.path(), &source.file, &source.text)?;
    }
    let batches = batches(sources);
    for (i, batch) in batches.iter().enumerate() {
        write_file(folder.path(), &format!("unit_{i}.cpp"), &unit(batch.start, &sources[batch.clone()]))?;
    }
    write_file(folder.path(), "runtime.cpp", "#include \"tilewright/host/runtime.h\"\n")?;
    Ok((folder, batches.len()))
}

/// The name under which the library exports a kernel's entry.
pub(super) fn symbol(source: usize, kernel: &str) -> String {
    format!("tilewright_kernel_{source}_{kernel}")
}

fn unit(first: usize, sources: &[Source]) -> String {
    let mut text = String::from("#include \"tilewright/host/shim.h\"\n");
    let includes: BTreeSet<&String> = sources.iter().flat_map(|source| &source.includes).collect();
    for include in includes {
        let _ = writeln!(text, "#include {include}");
    }
    for (i, source) in (first..).zip(sources) {
        let _ = writeln!(text, "namespace source_{i} {{\n#include \"{}\"\n}}", source.file);
        for name in &source.macros {
            let _ = writeln!(text, "#undef {name}");
        }
        for kernel in &source.kernels {
            let _ = writeln!(text, "TW_HOST_EXPORT({}, source_{i}::{kernel})", symbol(i, kernel));
        }
    }
    text
}

fn write_file(folder: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = folder.join(name);
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
    written.map_err(|error| Error::Io { action: "write", path, error })
}

/// The identifier at the start of `text`; empty if there is none.
fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The names of all `__global__ void NAME(`, attributes such as `__launch_bounds__(256)` aside.
fn kernel_names(text: &str) -> Vec<String> {
    text.split("__global__").skip(1).filter_map(|rest| kernel_name(rest).map(str::to_owned)).collect()
}

fn kernel_name(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start();
        let word = first_word(text);
        if word.is_empty() {
            return None;
        }
        text = text[word.len()..].trim_start();
        if !text.starts_with('(') {
            continue;
        }
        if !word.starts_with("__") {
            return Some(word);
        }
        text = after_parenthesis(text)?;
    }
}

/// What follows the parenthesis that closes the one at the start of `text`.
fn after_parenthesis(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return Some(&text[i + 1..]);
        }
    }
    None
}

fn without_comments(mut text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    while let Some(start) = text.find('/') {
        let (before, rest) = text.split_at(start);
        code.push_str(before);
        if rest.starts_with("//") {
            text = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            code.push(' ');
            text = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else {
            code.push('/');
            text = &rest[1..];
        }
    }
    code.push_str(text);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_full_by_number_or_by_bytes() {
        let of = |bytes: usize| Source {
            kernels: Vec::new(),
            file: String::new(),
            includes: Vec::new(),
            macros: Vec::new(),
            text: "x".repeat(bytes),
        };
        let lengths = |bytes: &[usize]| -> Vec<usize> {
            let sources: Vec<Source> = bytes.iter().map(|bytes| of(*bytes)).collect();
            let batches = batches(&sources);
            let in_order = batches.iter().cloned().flatten().eq(0..sources.len());
            assert!(in_order, "{batches:?}");
            batches.iter().map(ExactSizeIterator::len).collect()
        };
        assert_eq!(lengths(&[]), [0; 0]);
        assert_eq!(lengths(&[10; 129]), [64, 64, 1]);
        assert_eq!(lengths(&[BYTES_PER_UNIT / 8; 20]), [8, 8, 4]);
        assert_eq!(lengths(&[1, 2 * BYTES_PER_UNIT, BYTES_PER_UNIT, 1, 1]), [1, 1, 1, 2]);
    }

    #[test]
    fn kernels_are_found_behind_attributes_and_not_in_comments() {
        let text = r#"
            // a __global__ function (this is none)
            extern "C" __global__ void first(const __grid_constant__ Params p) { int x = 1 / 2; }
            /* __global__ void neither( */
            extern "C" __global__ __launch_bounds__(32 * (4 + 4), 2) void
            second (const __grid_constant__ Params p);
            extern "C" __global__ void __launch_bounds__(256) third(Params p) {}"#;
        assert_eq!(kernel_names(&without_comments(text)), ["first", "second", "third"]);
    }
}
