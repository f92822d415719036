//! Each family of convolutions' kernels on little of everything, with operands that are finite: for tools that look for races, of which one is led astray
//! by what stands in docs/notes/conv.md.

use super::compare::{Operands, check};
use super::gpu::on_gpu;
use super::problems::{chosen, wide};
use super::rows::{Most, accuracy, warpgroups};
use super::{fused, read_face, weights};
use crate::support::{Random, gpu};
use tilewright_ops::Device;
use tilewright_ops::conv::{Config, Multiprocessor, Pass, Problem, RowConfig};

fn right(device: &Device, config: Config, problem: &Problem, pass: Pass) {
    let operands = Operands::random(problem, 3);
    check(&format!("GPU, {config:?}"), (pass, &operands), accuracy(problem.precision), |pass, operands, out| {
        on_gpu(device, config, pass, operands, out);
    });
}

/// Registers that are lent, rows that stand upon each other, rows that are sent whole and that warps store.
#[test]
fn lent_and_stacked() {
    let Some((device, _lock)) = gpu("conv::sanitized::lent_and_stacked") else { return };
    let (problem, configs) = warpgroups();
    for (pass, config) in configs {
        for whole_rows in [false, true] {
            right(&device, Config::rows(RowConfig { whole_rows, ..config }), &problem, pass);
        }
    }
}

/// Weights that rest in shared memory.
#[test]
fn resting() {
    let Some((device, _lock)) = gpu("conv::sanitized::resting") else { return };
    for pass in [Pass::Forward, Pass::GradInput] {
        right(&device, Config::auto(), &wide()[0], pass);
    }
}

/// The weights' gradient in parts, and by warps that share a strip.
#[test]
fn weight_gradients() {
    let Some((device, _lock)) = gpu("conv::sanitized::weight_gradients") else { return };
    let Some(sm) = device.as_gpu().map(Multiprocessor::of) else { return };
    let mut r = Random(17);
    for problem in &chosen() {
        let config = weights::drawn(&mut r, problem, sm, [None; 2], Most::LEGAL).0;
        right(&device, Config::weights(config), problem, Pass::GradWeight);
    }
}

/// Expressions behind and before, of all types: one of each, since tools that look for races take a minute for a few kernels.
#[test]
fn expressions() {
    let Some((device, _lock)) = gpu("conv::sanitized::expressions") else { return };
    for (i, problem) in chosen().iter().take(3).enumerate() {
        fused::both_types(&device, problem, i as u64);
        drop(read_face::right(&device, problem, i as u64, accuracy(problem.precision)));
    }
}
