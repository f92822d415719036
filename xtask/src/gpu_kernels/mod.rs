//! `cargo xtask gpu-kernels`: builds kernels written in Rust into PTX that is committed, and checks what is committed.
//!
//! Programs load the committed text, so that building them needs no compiler for GPUs. CI builds it again and compares it byte
//! for byte; ptxas then assembles it for each target, and what the kernels use is compared with committed budgets.

pub mod backend;
pub mod budgets;
pub mod cuda_builder;
pub mod nvptx64;
mod package;
pub mod probe;
pub mod ptx;
pub mod ptxas;
mod report;

use crate::machine::Machine;
use anyhow::{Result, bail};
use backend::Choice;
use package::Package;
use ptxas::Ptxas;
use std::path::PathBuf;
use tilewright_driver::Arch;

/// What the command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Writes nothing; what is committed has to be what would be written.
    #[arg(long, conflicts_with = "update_budgets")]
    pub check: bool,
    /// What compiles.
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Choice,
    /// The architectures to build PTX for, each a file; it runs on them and on everything newer.
    #[arg(long, value_delimiter = ',', default_values = ["80", "90"], value_parser = parse_arch)]
    pub arch: Vec<Arch>,
    /// Writes what the kernels use now as their budgets.
    #[arg(long)]
    pub update_budgets: bool,
    /// Another package than this workspace's own, with files of its own beside its Cargo.toml.
    #[arg(long, value_name = "DIR")]
    pub package: Option<PathBuf>,
}

/// Builds or compares, assembles, and compares with the budgets.
pub fn run(options: &Options) -> Result<()> {
    run_on(&Machine::this(), Ptxas::fetched, options)
}

/// The same on a given machine, with a given assembler.
pub fn run_on(machine: &Machine, ptxas: impl FnOnce() -> Result<Ptxas>, options: &Options) -> Result<()> {
    let package = Package::open(options.package.as_deref())?;
    let mut faults = build(machine, &package, options)?;
    let usage = package.usage(&ptxas()?, &options.arch)?;
    let budgets = if options.update_budgets { package.write_budgets(&usage)? } else { package.budgets()? };
    faults.extend(budgets.faults(&usage, &package.command(" --update-budgets")));
    report::print(&usage, &budgets);
    if faults.is_empty() {
        return Ok(());
    }
    bail!("{} has faults: {}\n{}", package.name(), faults.len(), faults.join("\n"));
}

/// Writes or compares the files where a back end can build them; what is wrong with them is returned.
fn build(machine: &Machine, package: &Package, options: &Options) -> Result<Vec<String>> {
    let backend = match backend::choose(machine, options.backend, package.made_by(&options.arch).as_deref())? {
        Ok(backend) => backend,
        Err(missing) => {
            missing.iter().for_each(|missing| println!("{missing}"));
            println!("nothing was built: the committed PTX serves");
            return Ok(package.absent(&options.arch));
        }
    };
    let mut faults = Vec::new();
    for (arch, built) in package.build(backend.as_ref(), &options.arch)? {
        if !built.log.is_empty() {
            println!("{}", built.log);
        }
        if options.check {
            faults.extend(package.compare(arch, &built));
        } else {
            package.write(arch, &built)?;
        }
    }
    Ok(faults)
}

/// `80` is 8.0, `120` is 12.0.
fn parse_arch(text: &str) -> Result<Arch, String> {
    match text.parse::<u32>() {
        Ok(number) if (70..1000).contains(&number) => Ok(Arch::new(number / 10, number % 10)),
        _ => Err("expected a compute capability without its point, such as 80, 90 or 100".to_owned()),
    }
}
