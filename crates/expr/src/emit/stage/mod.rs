//! Kernels whose blocks keep values in shared memory: each stage is filled by all threads, behind it stands a barrier, and at
//! last every thread computes its points of the tile.

mod kernel;
mod totals;
mod values;

use super::body::{Body, function, head};
use super::run::Role;
use super::{Names, Params, Written, describe, names_halves, points};
use crate::error::Error;
use crate::graph::{DimId, Graph};
use crate::lower::lower_stages;
use crate::plan::{Plan, Slot};
use crate::program::{Inst, Program};
use crate::stage::{Around, Stages, Staging};

/// The programs of a kernel.
pub(super) struct Programs {
    /// For each stage, what fills it in blocks that no border touches, and in others.
    pub(super) fills: Vec<[Program; 2]>,
    /// All points of a thread that no border touches, where there are no stages.
    pub(super) inner: Option<Program>,
    /// All points of a thread.
    pub(super) tile: Program,
    /// One point.
    pub(super) point: Program,
}

impl Programs {
    pub(super) fn new(graph: &Graph, plan: &Plan, staging: &Staging) -> Result<Programs, Error> {
        let world: Vec<DimId> = plan.world.iter().map(|w| w.dim).collect();
        let outputs: Vec<Vec<DimId>> = plan.outputs.iter().map(Slot::dims).collect();
        let operands = plan.operands(false);
        let lower = |around: Around, along: &[(usize, u32)]| {
            let list = if around == Around::Inner { &staging.windows } else { &staging.stages };
            let stages = Stages { tile: &staging.tile, list, world: &world, around };
            lower_stages(graph, &operands, &outputs, stages, |program| points(program, plan, along))
        };
        let all: Vec<(usize, u32)> = staging.tile.iter().rev().map(|t| (t.number, t.points)).collect();
        let fill = |stage: usize| {
            let vector = if staging.stages[stage].across { &[] } else { &all[..1] };
            Ok([lower(Around::Inside(stage), vector)?, lower(Around::Edge(stage), &[])?])
        };
        Ok(Programs {
            fills: (0..staging.stages.len()).map(fill).collect::<Result<_, Error>>()?,
            inner: (!staging.windows.is_empty()).then(|| lower(Around::Inner, &all)).transpose()?,
            tile: lower(Around::Results, &all)?,
            point: lower(Around::Results, &[])?,
        })
    }

    fn all(&self) -> Vec<Option<&Program>> {
        self.fills.iter().flatten().chain(&self.inner).chain([&self.tile, &self.point]).map(Some).collect()
    }
}

/// Writes a plan with stages.
pub(super) fn write(graph: &Graph, plan: &Plan, staging: &Staging, role: Role) -> Result<Written, Error> {
    let programs = Programs::new(graph, plan, staging)?;
    let all = programs.all();
    let any = |test: &dyn Fn(&Program) -> bool| all.iter().flatten().any(|p| test(p));
    let guards = any(&|p| p.values().any(|v| matches!(p.inst(v), Inst::Guard { .. })));
    let names = Names::new(plan);
    let params = Params::new(plan, &all, guards, (&names, role));
    let mut head_text = String::new();
    describe(&mut head_text, graph, plan, &names);
    let mut headers = vec!["prelude", "arch/warp"];
    if any(&|p| p.values().any(|v| p.dtype(v).is_half())) || names_halves(plan) {
        headers.push("half_value");
    }
    let mut functions = String::new();
    let single = Plan { lanes: 1, ..plan.clone() };
    let places = kernel::places(staging, &names);
    for (stage, [inside, edge]) in programs.fills.iter().enumerate() {
        for (name, plan, program) in [("fill", plan, inside), ("fill_edge", &single, edge)] {
            head(&mut functions, &format!("{name}{stage}"), plan, &names, Some(&places));
            let mut body = Body::new(plan, &names, &params, program);
            body.compute();
            body.store_stage(stage);
            functions.push_str(&body.text);
            functions.push_str("}\n\n");
        }
    }
    if let Some(inner) = &programs.inner {
        function(&mut functions, "inner", plan, &names, &params, inner, Some(&places));
    }
    function(&mut functions, "tile", plan, &names, &params, &programs.tile, Some(&places));
    function(&mut functions, "point", &single, &names, &params, &programs.point, Some(&places));
    kernel::write(&mut functions, (plan, staging), (&names, role), &params, &programs);
    let shared_bytes = staging.bytes() as u32;
    Ok(Written { head: head_text, headers, functions, params, guards, shared_bytes, shared: 0 })
}
