//! What kernels with stages do in all; edges of a picture count as what lies inside.

use super::Programs;
use crate::emit::totals::Totals;
use crate::error::Error;
use crate::graph::Graph;
use crate::plan::Plan;
use crate::stage::Staging;

impl Totals {
    pub(in crate::emit) fn staged(mut self, graph: &Graph, plan: &Plan, staging: &Staging) -> Result<Totals, Error> {
        let programs = Programs::new(graph, plan, staging)?;
        let blocks = plan.blocks();
        for (stage, [inside, _]) in programs.fills.iter().enumerate() {
            let turns: i64 = staging.turns(stage).iter().product();
            self.program(plan, inside, u64::try_from(blocks * turns).unwrap_or(0));
            self.widths_read(plan, inside);
        }
        let points: i64 = staging.tile.iter().map(|t| i64::from(t.points)).product();
        let tile = programs.inner.as_ref().unwrap_or(&programs.tile);
        self.program(plan, tile, u64::try_from(plan.points() / points).unwrap_or(0));
        self.widths_read(plan, tile);
        self.widths_written(plan, &programs.tile);
        Ok(self)
    }
}
