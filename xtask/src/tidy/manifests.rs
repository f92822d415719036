//! Rules about manifests: which way dependencies point, what each crate carries, that each dependency is explained.

use super::Violation;
use super::tree::{File, Tree};
use toml::{Table, Value};

/// The crates, each with those that it may depend on. A crate that is not here may not exist.
const ORDER: [(&str, &[&str]); 12] = [
    ("dims", &[]),
    ("headers", &["dims"]),
    ("driver", &["dims", "gpu-kernels", "headers"]),
    ("macros", &[]),
    ("scalar", &[]),
    ("expr", &["dims", "headers", "macros", "scalar"]),
    ("special", &["dims", "expr"]),
    ("perf", &[]),
    ("ops", &["dims", "gpu-kernels", "headers", "driver", "expr", "special", "perf"]),
    ("hybrid", &["dims", "headers", "driver", "expr", "ops"]),
    ("tilewright", &["dims", "headers", "driver", "macros", "expr", "special", "ops", "hybrid"]),
    ("build-ptx", &["dims", "driver", "expr", "special", "ops"]),
];

/// What tests alone may name although it stands above: the host model runs special functions with expr's cases.
const TESTED: [(&str, &str); 1] = [("crates/expr/tests/Cargo.toml", "special")];

/// Dependencies that a crate must not have, and why.
const REFUSED: [(&str, &str, &str); 1] =
    [("expr", "libloading", "expr knows no device library: it emits text and a plan")];

pub(super) fn check(tree: &Tree, found: &mut Vec<Violation>) {
    for file in tree.files.iter().filter(|file| file.name() == "Cargo.toml") {
        match file.text.parse::<Table>() {
            Ok(manifest) => check_manifest(tree, file, &manifest, found),
            Err(error) => found.push(file.violation(0, "manifest", format!("not TOML: {}", error.message()))),
        }
    }
}

fn check_manifest(tree: &Tree, file: &File, manifest: &Table, found: &mut Vec<Violation>) {
    explained(tree, file, manifest, found);
    if file.path == "Cargo.toml" {
        return;
    }
    let lints = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(Value::as_bool);
    if lints != Some(true) {
        found.push(file.violation(0, "lints", "write `[lints]` and `workspace = true`"));
    }
    one_test_executable(tree, file, manifest, found);
    let dependencies = dependencies(manifest);
    if file.package() != "crates/driver" {
        for (_, name) in dependencies.iter().filter(|(_, name)| name == "cudarc") {
            let advice = "only crates/driver names cudarc; depend on tilewright-driver";
            found.push(file.violation(line_of(file, name), "device-library", advice));
        }
    }
    if let Some(name) = file.package().strip_prefix("crates/") {
        check_crate(tree, file, name, manifest, found);
        directions(file, name, &dependencies, found);
    }
}

/// Cargo builds an executable of each file in `tests/`, unless it is told not to.
fn one_test_executable(tree: &Tree, file: &File, manifest: &Table, found: &mut Vec<Violation>) {
    let folder = file.path.replace("Cargo.toml", "tests/");
    let is_loose = |path: &str| {
        path.strip_prefix(&folder).is_some_and(|name| name.ends_with(".rs") && name != "main.rs" && !name.contains('/'))
    };
    let automatic = manifest.get("package").and_then(|package| package.get("autotests")).and_then(Value::as_bool);
    if automatic != Some(false) && tree.rust().any(|source| is_loose(&source.path)) {
        let advice = "tests are one executable: write `autotests = false`, and a `[[test]]` with path `tests/main.rs`";
        found.push(file.violation(0, "one-test-executable", advice));
    }
}

fn check_crate(tree: &Tree, file: &File, name: &str, manifest: &Table, found: &mut Vec<Violation>) {
    if tree.get(&format!("crates/{name}/README.md")).is_none() {
        found.push(file.violation(0, "readme", format!("write crates/{name}/README.md: what it is, a first example")));
    }
    let description = manifest.get("package").and_then(|package| package.get("description")).and_then(Value::as_str);
    if description.is_none_or(|text| text.split_whitespace().count() < 3) {
        let advice = "say in `description` what the crate is, in a few words";
        found.push(file.violation(line_of(file, "description"), "description", advice));
    }
}

fn directions(file: &File, name: &str, dependencies: &[(&str, String)], found: &mut Vec<Violation>) {
    let Some((_, allowed)) = ORDER.iter().find(|(ours, _)| *ours == name) else {
        let advice = "this crate has no place in the order of crates: add it in ARCHITECTURE.md and in tidy's ORDER";
        return found.push(file.violation(0, "direction", advice));
    };
    for (section, dependency) in dependencies {
        let line = line_of(file, dependency);
        if name == "dims" && *section != "dev-dependencies" {
            found.push(file.violation(line, "dims-alone", format!("dims has no dependencies; remove `{dependency}`")));
        }
        let ours = dependency.strip_prefix("tilewright-").or((dependency == "tilewright").then_some("tilewright"));
        // Packages of its own tests are named after the crate.
        let own = |ours: &str| ours.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        if let Some(ours) = ours
            && !own(ours)
            && !allowed.contains(&ours)
            && !(*section == "dev-dependencies" && TESTED.contains(&(file.path.as_str(), ours)))
        {
            let advice =
                format!("{name} must not depend on {ours} (ARCHITECTURE.md, order of crates); move what it needs down");
            found.push(file.violation(line, "direction", advice));
        }
        if let Some((.., why)) = REFUSED.iter().find(|(refuser, refused, _)| *refuser == name && refused == dependency)
        {
            found.push(file.violation(line, "refused-dependency", format!("remove `{dependency}`: {why}")));
        }
    }
}

/// Every library of others has a row in the table of ARCHITECTURE.md.
fn explained(tree: &Tree, file: &File, manifest: &Table, found: &mut Vec<Violation>) {
    let rows = tree.get("ARCHITECTURE.md").map_or("", |page| page.text.as_str());
    let shared =
        manifest.get("workspace").and_then(|workspace| workspace.get("dependencies")).and_then(Value::as_table);
    let tables = shared.into_iter().chain(sections(manifest).map(|(_, table)| table));
    for (key, value) in tables.flatten() {
        let inherits = value.get("workspace").is_some() || value.get("path").is_some();
        let name = value.get("package").and_then(Value::as_str).unwrap_or(key);
        let cell = format!("`{name}`");
        if !inherits && !rows.lines().any(|row| row.starts_with('|') && row.contains(&cell)) {
            let advice =
                format!("give {cell} a row in ARCHITECTURE.md's table of dependencies: why, and what was considered");
            found.push(file.violation(line_of(file, key), "unexplained-dependency", advice));
        }
    }
}

const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// The manifest's tables of dependencies, those for single targets included.
fn sections(manifest: &Table) -> impl Iterator<Item = (&'static str, &Table)> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = std::iter::once(manifest).chain(targets.filter_map(|(_, target)| target.as_table()));
    tables.flat_map(|table| KINDS.iter().filter_map(|kind| Some((*kind, table.get(*kind)?.as_table()?))))
}

/// Each dependency's kind and the package that it names.
fn dependencies(manifest: &Table) -> Vec<(&'static str, String)> {
    let name = |key: &String, value: &Value| value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned();
    let of_table = |(kind, table)| Table::iter(table).map(move |(key, value)| (kind, name(key, value)));
    sections(manifest).flat_map(of_table).collect()
}

/// The first line that begins with `key`, or 0.
fn line_of(file: &File, key: &str) -> usize {
    let is_key = |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
    file.text.lines().position(is_key).map_or(0, |index| index + 1)
}
