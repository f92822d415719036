//! Manifests from TOML.

use super::Manifest;
use super::kernel::{OwnKernel, TARGETS};
use super::place::{File, Table, Text};
use super::write::SCHEMA;
use crate::ahead::Plan;
use crate::error::Error;
use crate::pointwise::Pointwise;
use std::io::Read;
use std::path::Path;
use tilewright_expr::collective::Sharing;
use tilewright_expr::manifest::{self, FunctionPart, FunctionText, Functions, PlanPart, PlanText};
use tilewright_expr::plan::Configuration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Longest manifest, in bytes.
const LONGEST: u64 = 256 << 20;

pub(super) fn file(path: &Path) -> Result<Manifest, Error> {
    let cannot = |cause| Error::ManifestFile { path: path.into(), cause };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    let name = path.display().to_string();
    if bytes.len() as u64 > LONGEST {
        return Err(File { name: &name, text: "" }.error(0, format!("a manifest has at most {LONGEST} bytes")));
    }
    match std::str::from_utf8(&bytes) {
        Ok(content) => text(content, &name),
        Err(error) => {
            let valid = error.valid_up_to();
            let before = String::from_utf8_lossy(&bytes[..valid]);
            let message = format!("byte 0x{:02x} is not UTF-8, which a manifest is", bytes[valid]);
            Err(File { name: &name, text: &before }.error(valid, message))
        }
    }
}

pub(super) fn text(text: &str, name: &str) -> Result<Manifest, Error> {
    let file = File { name, text };
    let table = DeTable::parse(text).map_err(|e| {
        let at = e.span().map_or(text.len(), |span| span.start);
        file.error(at, e.message().lines().collect::<Vec<_>>().join("; "))
    })?;
    let table = table.get_ref();
    check_schema(file, table)?;
    const KEYS: [&str; 4] = ["schema", "function", "plan", "kernel"];
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(&&**key.get_ref())) {
        let message = format!("a manifest has no `{}`; it has {}", key.get_ref(), KEYS.join(", "));
        return Err(file.error(key.span().start, message));
    }
    let mut functions = Functions::default();
    for function in tables(file, table, "function")? {
        add_function(file, function, &mut functions)?;
    }
    let mut manifest = Manifest::default();
    for plan in tables(file, table, "plan")? {
        manifest.add(read_plan(file, plan, &functions)?);
    }
    for kernel in tables(file, table, "kernel")? {
        manifest.add_kernel(read_kernel(file, kernel)?);
    }
    Ok(manifest)
}

fn check_schema(file: File<'_>, table: &DeTable<'_>) -> Result<(), Error> {
    let Some(value) = table.get("schema") else {
        return Err(file.error(0, format!("a manifest begins with `schema = {SCHEMA}`")));
    };
    let number = match value.get_ref() {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    let message = match number {
        Some(SCHEMA) => return Ok(()),
        Some(n) if n > SCHEMA => {
            format!(
                "this manifest was written by a newer tilewright (schema {n}, this one reads {SCHEMA}); update this one"
            )
        }
        Some(n) if n > 0 => {
            format!(
                "this manifest was written by an older tilewright (schema {n}, this one reads {SCHEMA}); record it again"
            )
        }
        _ => format!("`schema` is {SCHEMA}"),
    };
    Err(file.error(value.span().start, message))
}

/// The tables of one kind.
fn tables<'t, 'f>(file: File<'f>, table: &'t DeTable<'f>, kind: &str) -> Result<Vec<&'t Spanned<DeValue<'f>>>, Error> {
    match table.get(kind) {
        None => Ok(Vec::new()),
        Some(value) => match value.get_ref() {
            DeValue::Array(list) => Ok(list.iter().collect()),
            _ => Err(file.error(value.span().start, format!("each `{kind}` is a table of a list: `[[{kind}]]`"))),
        },
    }
}

fn add_function<'f>(file: File<'f>, value: &Spanned<DeValue<'f>>, functions: &mut Functions) -> Result<(), Error> {
    let keys = ["id", "name", "signature", "form", "callees", "constants", "text"];
    let table = Table::new(file, "function", value, &keys)?;
    let (id, name, form, text) = (table.text("id")?, table.text("name")?, table.text("form")?, table.text("text")?);
    let signature = table.optional("signature")?;
    let (callees, constants) = (table.texts("callees")?, table.texts("constants")?);
    let given = FunctionText {
        id: id.text.clone(),
        name: name.text.clone(),
        signature: signature.as_ref().map(|s| s.text.clone()),
        form: form.text.clone(),
        text: text.source(),
        callees: contents(&callees),
        constants: contents(&constants),
    };
    functions.add(&given).map_err(|(part, wrong)| {
        let place = match part {
            FunctionPart::Id => Some(&id),
            FunctionPart::Name => Some(&name),
            FunctionPart::Signature => signature.as_ref(),
            FunctionPart::Form => Some(&form),
            FunctionPart::Text => Some(&text),
            FunctionPart::Callee(number) => callees.get(number),
            FunctionPart::Constant(number) => constants.get(number),
        };
        file.error(place.map_or(table.start(), |text| text.at(wrong.at)), wrong.message)
    })
}

fn contents(texts: &[Text]) -> Vec<String> {
    texts.iter().map(|text| text.text.clone()).collect()
}

fn read_plan<'f>(file: File<'f>, value: &Spanned<DeValue<'f>>, functions: &Functions) -> Result<Plan, Error> {
    let table = Table::new(file, "plan", value, &["name", "dims", "operands", "results", "configuration", "graph"])?;
    let (name, graph) = (table.text("name")?, table.text("graph")?);
    let (dims, operands, results) = (table.texts("dims")?, table.texts("operands")?, table.texts("results")?);
    let text = PlanText {
        dims: contents(&dims),
        operands: contents(&operands),
        results: contents(&results),
        graph: graph.text.clone(),
    };
    let read = manifest::read(&text, functions).map_err(|(part, wrong)| {
        let place = match part {
            PlanPart::Dim(number) => dims.get(number),
            PlanPart::Operand(number) => operands.get(number),
            PlanPart::Result(number) => results.get(number),
            PlanPart::Graph => Some(&graph),
        };
        file.error(place.map_or(table.start(), |text| text.at(wrong.at)), wrong.message)
    })?;
    let configuration = table.optional("configuration")?.map(|text| read_configuration(file, &text)).transpose()?;
    Ok(Plan { name: name.text, graph: read.graph, operands: read.operands, results: read.results, configuration })
}

/// Lanes, words, and threads of a block, or threads and rows of one that reduces; whether the plan takes them is seen when its kernel is built.
fn read_configuration(file: File<'_>, text: &Text) -> Result<Configuration, Error> {
    let numbers: Option<Vec<u32>> = text.text.split(' ').map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[lanes, words, threads]) => Ok(Pointwise { lanes, words, threads }.into()),
        Some(&[threads, rows]) => Ok(Sharing { threads, rows }.into()),
        _ => Err(file.error(
            text.at(0),
            format!("`{}` is no lanes, words and threads (`4 1 256`), and no threads and rows (`32 8`)", text.text),
        )),
    }
}

fn read_kernel<'f>(file: File<'f>, value: &Spanned<DeValue<'f>>) -> Result<OwnKernel, Error> {
    let table = Table::new(file, "kernel", value, &["name", "entry", "options", "target", "text"])?;
    let target = table.optional("target")?;
    let found = |text: &Text| {
        let known = TARGETS.iter().find(|(name, _)| *name == text.text).map(|(_, target)| *target);
        let names = TARGETS.map(|(name, _)| name).join(", ");
        known.ok_or_else(|| file.error(text.at(0), format!("`{}` is no target; there is {names}", text.text)))
    };
    Ok(OwnKernel {
        name: table.optional("name")?.map(|text| text.text),
        entry: table.optional("entry")?.map(|text| text.text),
        text: table.text("text")?.source(),
        options: contents(&table.texts("options")?),
        target: target.as_ref().map(found).transpose()?.unwrap_or_default(),
    })
}
