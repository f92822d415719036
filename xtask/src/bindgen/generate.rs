//! The call of bindgen, and what becomes of its text.

use super::{MIRRORS, Mirror};
use crate::difference::Difference;
use crate::workspace;
use anyhow::{Context, Result, bail};
use bindgen::{Builder, EnumVariation, Formatter, RustEdition, RustTarget};

/// The mirrors hold on every 64-bit Linux alike, so they are made as for this one, wherever that is done.
const TARGET: &str = "x86_64-unknown-linux-gnu";

const ALLOWED: &str =
    "#![allow(dead_code, missing_docs, nonstandard_style, unreachable_pub, clippy::all, reason = \"generated\")]";

pub(super) fn run(check: bool) -> Result<()> {
    let mut stale = Vec::new();
    for mirror in MIRRORS {
        let text = text(mirror)?;
        let file = workspace::root().join(mirror.output);
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        if written == text {
            println!("{}: up to date", mirror.output);
        } else if check {
            if let Some(Difference { line, old, new }) = Difference::first(&written, &text) {
                let shown = |text: Option<String>| text.unwrap_or_else(|| "(end)".to_owned()).trim().to_owned();
                println!("{}: line {line}: `{}`, expected `{}`", mirror.output, shown(old), shown(new));
            }
            stale.push(mirror.output);
        } else {
            std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
            println!("{}: written", mirror.output);
        }
    }
    if !stale.is_empty() {
        bail!("not what the headers say: {}; run `cargo xtask bindgen`", stale.join(", "));
    }
    Ok(())
}

fn text(mirror: &Mirror) -> Result<String> {
    let include = workspace::root().join("crates/headers/include");
    let shim = if mirror.header.ends_with(".cuh") { "#include \"tilewright/host/shim.h\"\n" } else { "" };
    let target = format!("--target={TARGET}");
    let bindings = Builder::default()
        .header_contents("mirror.hpp", &format!("{shim}#include \"{}\"\n", mirror.header))
        .clang_args(["-std=c++17", "-DTILEWRIGHT_HOST", &target, "-I"])
        .clang_arg(include.to_string_lossy())
        .allowlist_item(mirror.items)
        .disable_name_namespacing()
        .default_enum_style(EnumVariation::NewType { is_bitfield: false, is_global: false })
        .derive_debug(false)
        .use_core()
        .ctypes_prefix("core::ffi")
        .rust_target(RustTarget::stable(85, 0).map_err(|error| anyhow::anyhow!("{error}"))?)
        .rust_edition(RustEdition::Edition2024)
        .disable_header_comment()
        .raw_line(format!("//! Generated from `{}` by `cargo xtask bindgen`. Do not edit.", mirror.header))
        .raw_line(ALLOWED)
        .formatter(Formatter::Rustfmt)
        .rustfmt_configuration_file(Some(workspace::root().join("rustfmt.toml")))
        .generate()
        .with_context(|| format!("{} cannot be read", mirror.header))?;
    Ok(bindings.to_string())
}
