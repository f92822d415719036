//! The suites, a file each.

pub mod binary;
pub mod bundle;
pub mod chain;
pub mod config;
mod config_depthwise;
mod config_held_out;
pub mod conv2d;
mod conv2d_fused;
pub mod copy;
pub mod cpu;
pub mod cpu_crops;
pub mod cpu_digamma;
pub mod crops;
pub mod dims;
pub mod eager;
pub mod empty;
pub mod fuse;
pub mod hybrid;
pub mod jit;
pub mod reduce;
pub mod special;
pub mod stencil;

use crate::Result;
use crate::convolutions;
use crate::report::Report;
use crate::session::Session;

/// Every case, in the order of measuring: those of a suite that names its own come from there.
pub fn cases() -> Vec<(&'static str, &'static str)> {
    let of_fuse = fuse::CASES.into_iter().map(|case| ("fuse", case));
    let of_reduce = reduce::CASES.into_iter().map(|case| ("reduce", case));
    let of_special = special::CASES.into_iter().map(|case| ("special", case));
    let of_binary = binary::CASES.into_iter().map(|case| ("special", case));
    let of_conv2d = convolutions::names().map(|case| ("conv2d", case));
    let of_hybrid = hybrid::CASES.into_iter().chain(hybrid::cpu::CASES).map(|case| ("hybrid", case));
    let others = of_fuse.chain(of_reduce).chain(of_special).chain(of_binary).chain(of_conv2d).chain(of_hybrid);
    CASES.into_iter().chain(others).collect()
}

const CASES: [(&str, &str); 34] = [
    ("copy", "2^26"),
    ("copy", "2^29"),
    ("empty", "64"),
    ("empty", "1024"),
    ("empty", "4096"),
    ("empty", "32764"),
    ("crops", "10"),
    ("crops", "50"),
    ("crops", "100"),
    ("crops", "150"),
    ("crops", "10000"),
    ("crops", "10000-by-row"),
    ("chain", "20"),
    ("eager", "axpy"),
    ("jit", "cold"),
    ("jit", "disk"),
    ("jit", "functions"),
    ("jit", "phases"),
    ("bundle", "file"),
    ("bundle", "crops"),
    ("bundle", "functions"),
    ("cpu", "chain20"),
    ("cpu", "crops150"),
    ("cpu", "digamma"),
    ("dims", "kernels"),
    ("dims", "header"),
    ("dims", "offsets"),
    ("dims", "check"),
    ("config", "ranking"),
    ("config", "regret"),
    ("config", "cached"),
    ("config", "refined"),
    ("config", "refined-held-out"),
    ("config", "depthwise"),
];

/// What a machine lacks for a case, in a few words.
pub type Lacks = &'static str;

/// Whether a case measures a GPU.
pub fn needs_gpu(suite: &str, case: &str) -> bool {
    let on_host = matches!((suite, case), ("cpu" | "dims", _) | ("bundle", "file") | ("config", "ranking" | "regret"));
    !(on_host || suite == "hybrid" && hybrid::cpu::CASES.contains(&case))
}

/// Whether a case measures what compiling takes, in processes of its own or with kernels that nothing else has.
pub fn compiles(suite: &str, case: &str) -> bool {
    matches!(
        (suite, case),
        ("jit", _)
            | ("fuse", "compile")
            | ("bundle", "crops" | "functions")
            | ("dims", "kernels" | "header")
            // The refined choice compiles all that it times.
            | ("config", "cached" | "refined" | "refined-held-out" | "depthwise")
    )
}

/// Compiles, on all cores, what the cases of a run need; what cannot be compiled its case will tell.
pub fn compile_ahead(session: &Session, cases: &[(&str, &str)]) {
    let of_conv2d: Vec<&str> = cases.iter().filter(|(suite, _)| *suite == "conv2d").map(|(_, case)| *case).collect();
    conv2d::compile_ahead(session, &of_conv2d);
}

/// What a process does that a suite starts; the line that it prints when it is done.
pub fn child(name: &str) -> Result<String> {
    match name {
        "pipelines" => fuse::compile::child(),
        name => jit::child(name),
    }
}

/// Runs a case of a suite that needs no GPU; what the machine lacks for it when it cannot.
pub fn on_host(suite: &str, case: &str, quick: bool, report: &mut Report) -> Result<Option<Lacks>> {
    match suite {
        "cpu" if case == "crops150" => cpu_crops::run(quick, report).map(|()| None),
        "cpu" if case == "digamma" => cpu_digamma::run(quick, report).map(|()| None),
        "cpu" => cpu::run(quick, report).map(|()| None),
        "dims" => dims::run(case, report),
        "config" => config::on_host(case, quick, report),
        "bundle" => bundle::file(quick, report).map(|()| None),
        "hybrid" => hybrid::cpu::run(case, quick, report).map(|()| None),
        other => Err(format!("no suite `{other}`").into()),
    }
}

/// Runs a case of a suite that needs a GPU.
pub fn on_gpu(session: &Session, suite: &str, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    match suite {
        "empty" => empty::run(session, case, report),
        "copy" => copy::run(session, case, report),
        "crops" => crops::run(session, case, report),
        "conv2d" => conv2d::run(session, case, report),
        "config" => config::on_gpu(session, case, report),
        "reduce" if case == "gauss5/4k" => stencil::run(session, report),
        "reduce" => reduce::run(session, case, report),
        "chain" => chain::run(session, report),
        "eager" => eager::run(session, report),
        "jit" => jit::run(case, quick, report),
        "bundle" => bundle::run(case, quick, report),
        "hybrid" => hybrid::run(session, case, quick, report),
        "fuse" => fuse::run(session, case, report),
        "special" if case.starts_with("add/") => binary::run(session, case, report),
        "special" => special::run(session, case, report),
        other => Err(format!("no suite `{other}`").into()),
    }
}

/// Whether two results are the same bits; if not, where they differ first.
fn same_bits(got: &[f32], expected: &[f32]) -> Result<()> {
    if got.len() != expected.len() {
        return Err(format!("{} results, expected {}", got.len(), expected.len()).into());
    }
    match got.iter().zip(expected).position(|(got, expected)| got.to_bits() != expected.to_bits()) {
        None => Ok(()),
        Some(at) => {
            let count = got.iter().zip(expected).filter(|(got, expected)| got.to_bits() != expected.to_bits()).count();
            let (got, expected, len) = (got[at], expected[at], got.len());
            Err(format!("{count} of {len} results differ, first at {at}: {got:?}, expected {expected:?}").into())
        }
    }
}
