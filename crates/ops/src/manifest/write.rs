//! Manifests as TOML.

use super::kernel::{OwnKernel, TARGETS};
use crate::pointwise::Pointwise;
use std::fmt::Write as _;
use tilewright_expr::collective::Sharing;
use tilewright_expr::manifest::{FunctionText, PlanText};
use tilewright_expr::plan::Configuration;

/// What the tables of this version are. Raised when an older tool could misread them.
pub(super) const SCHEMA: i64 = 1;

/// The lines before all tables.
pub(super) fn head() -> String {
    format!("# Kernels of tilewright, to be built ahead: docs/build-ptx.md\nschema = {SCHEMA}\n")
}

pub(super) fn plan(name: &str, plan: &PlanText, configuration: Option<Configuration>) -> String {
    let mut text = format!("\n[[plan]]\nname = {}\n", string(name));
    for (key, list) in [("dims", &plan.dims), ("operands", &plan.operands), ("results", &plan.results)] {
        let _ = writeln!(text, "{key} = {}", strings(list));
    }
    let numbers = configuration.map(|config| match config {
        Configuration::Pointwise(Pointwise { lanes, words, threads }) => format!("{lanes} {words} {threads}"),
        Configuration::Shared(Sharing { threads, rows }) => format!("{threads} {rows}"),
    });
    if let Some(numbers) = numbers {
        let _ = writeln!(text, "configuration = {}", string(&numbers));
    }
    let _ = writeln!(text, "graph = {}", lines(&plan.graph));
    text
}

pub(super) fn function(function: &FunctionText) -> String {
    let FunctionText { id, name, signature, form, text: source, callees, constants } = function;
    let mut text = format!("\n[[function]]\nid = {}\nname = {}\n", string(id), string(name));
    if let Some(signature) = signature {
        let _ = writeln!(text, "signature = {}", string(signature));
    }
    let _ = writeln!(text, "form = {}", string(form));
    for (key, list) in [("callees", callees), ("constants", constants)] {
        if !list.is_empty() {
            let _ = writeln!(text, "{key} = {}", strings(list));
        }
    }
    let _ = writeln!(text, "text = {}", lines(source));
    text
}

pub(super) fn kernel(kernel: &OwnKernel) -> String {
    let mut text = String::from("\n[[kernel]]\n");
    for (key, value) in [("name", &kernel.name), ("entry", &kernel.entry)] {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = {}", string(value));
        }
    }
    if !kernel.options.is_empty() {
        let _ = writeln!(text, "options = {}", strings(&kernel.options));
    }
    let target = TARGETS.iter().find(|(_, target)| *target == kernel.target).map_or("plain", |(name, _)| name);
    let _ = writeln!(text, "target = {}\ntext = {}", string(target), lines(&kernel.text));
    text
}

/// Characters that TOML has no other form for than an escape.
fn is_odd(c: char) -> bool {
    c.is_control() && c != '\t'
}

fn string(text: &str) -> String {
    if !text.contains(|c| c == '\'' || is_odd(c)) {
        return format!("'{text}'");
    }
    format!("\"{}\"", escaped(text, false))
}

fn strings(list: &[String]) -> String {
    match list {
        [] => "[]".into(),
        list => {
            let lines: String = list.iter().map(|text| format!("    {},\n", string(text))).collect();
            format!("[\n{lines}]")
        }
    }
}

/// A text of several lines. The first line end, behind the quotes, is none of the text's.
fn lines(text: &str) -> String {
    let plain = !text.contains("'''") && !text.ends_with('\'') && !text.contains(|c| c != '\n' && is_odd(c));
    if plain { format!("'''\n{text}'''") } else { format!("\"\"\"\n{}\"\"\"", escaped(text, true)) }
}

fn escaped(text: &str, several: bool) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' if several => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_odd(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}
