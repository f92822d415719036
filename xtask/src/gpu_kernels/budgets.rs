//! What kernels may use, as it is committed.
//!
//! ```toml
//! [saxpy]
//! sm_80 = { registers = 16, spill_bytes = 0 }
//! ```

use super::ptxas::Usage;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use tilewright_driver::KernelResources;

const HEAD: &str = "# What kernels written in Rust may use, by kernel and target: registers of a thread, and bytes that a thread stores and\n\
                    # loads because registers ran out. `cargo xtask gpu-kernels --update-budgets` writes what they use now.\n";

/// What one kernel may use on one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread stores and loads because registers ran out.
    pub spill_bytes: u32,
}

impl Budget {
    /// What a kernel uses now.
    pub fn of(used: &KernelResources) -> Self {
        Self { registers: used.registers, spill_bytes: spill_bytes(used) }
    }
}

/// Bytes that a thread of a kernel stores and loads because registers ran out.
pub fn spill_bytes(used: &KernelResources) -> u32 {
    used.spill_store_bytes + used.spill_load_bytes
}

/// By kernel, then by target (`sm_80`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Budgets(BTreeMap<String, BTreeMap<String, Budget>>);

impl Budgets {
    /// Reads a file; one that is not there has no rows.
    pub fn read(file: &Path) -> Result<Self> {
        match std::fs::read_to_string(file) {
            Ok(text) => toml::from_str(&text).with_context(|| format!("{} cannot be read", file.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
        }
    }

    /// What is used now, as rows.
    pub fn of(usage: &Usage) -> Self {
        let mut budgets = Self::default();
        for ((kernel, target), used) in usage {
            budgets.0.entry(kernel.clone()).or_default().insert(target.to_string(), Budget::of(used));
        }
        budgets
    }

    /// The row of a kernel for a target.
    pub fn get(&self, kernel: &str, target: &str) -> Option<Budget> {
        self.0.get(kernel)?.get(target).copied()
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (kernel, targets) in &self.0 {
            let _ = writeln!(text, "\n[{kernel}]");
            // In the order of targets: sm_100 comes after sm_90.
            let mut rows: Vec<_> = targets.iter().collect();
            rows.sort_by_key(|(target, _)| (target.len(), *target));
            for (target, Budget { registers, spill_bytes }) in rows {
                let _ = writeln!(text, "{target} = {{ registers = {registers}, spill_bytes = {spill_bytes} }}");
            }
        }
        text
    }

    /// What kernels use beyond their rows, kernels without one, and rows without a kernel. `update` is the command that writes
    /// the rows anew.
    pub fn faults(&self, usage: &Usage, update: &str) -> Vec<String> {
        let mut faults: Vec<String> = Vec::new();
        for ((kernel, target), used) in usage {
            let Budget { registers, spill_bytes } = Budget::of(used);
            let Some(budget) = self.get(kernel, &target.to_string()) else {
                let uses = format!("it uses {registers} registers and spills {spill_bytes} bytes");
                faults.push(format!("`{kernel}` has no budget for {target} ({uses}); `{update}` writes it"));
                continue;
            };
            for (what, got, most) in
                [("registers", registers, budget.registers), ("bytes spilled", spill_bytes, budget.spill_bytes)]
            {
                if got > most {
                    let meant = format!("if that is meant, `{update}` writes it");
                    faults.push(format!("`{kernel}` for {target}: {got} {what}, its budget is {most}; {meant}"));
                }
            }
        }
        let there: BTreeSet<(&str, String)> =
            usage.keys().map(|(name, arch)| (name.as_str(), arch.to_string())).collect();
        for (kernel, targets) in &self.0 {
            let left = targets.keys().filter(|target| !there.contains(&(kernel.as_str(), (*target).clone())));
            faults.extend(left.map(|target| {
                format!("there is a budget for `{kernel}` on {target}, but no such kernel; `{update}` removes it")
            }));
        }
        faults
    }
}
