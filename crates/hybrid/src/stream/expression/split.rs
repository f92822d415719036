//! An expression in two: what cannot be cut together, one after the other, with what lies between in host memory.

use super::array::{Held, Operand};
use super::evaluation::{Evaluation, Fed, Made, On};
use super::parts::{Nowhere, Parts};
use super::passes::{Under, results_of};
use super::plan::ExpressionPlan;
use super::section::Goal;
use super::shape::{Shape, stored};
use super::steps::{Evaluate, Planned};
use crate::Error;
use crate::store::{Extents, Sink};
use crate::stream::matmul::Traffic;
use std::sync::Arc;
use tilewright_expr::cut::{self, Numbers};
use tilewright_expr::graph::{DimId, Graph, NodeId};
use tilewright_ops::Launcher;

/// An expression in two.
pub(super) struct Split<'a> {
    first: Graph,
    of: Vec<Operand<'a>>,
    rest: Graph,
    kept: Vec<Operand<'a>>,
    /// What lies between.
    between: Shape,
    /// Dimensions of what bands were reduced to before, and those that were chosen.
    folded: Vec<DimId>,
    chosen: Vec<DimId>,
    /// How often the rest may be in two again.
    splits: usize,
    name: String,
}

impl<'a> Split<'a> {
    /// An evaluation in two, split at a node of its expression.
    pub(super) fn of(whole: &Evaluation<'a>, node: NodeId) -> Option<Split<'a>> {
        let splits = whole.splits.checked_sub(1)?;
        let cut::Split { first, of, rest, kept } = whole.expression.graph().split(node, whole.lengths()).ok()?;
        let fed = |operands: Vec<u16>| operands.into_iter().map(|operand| whole.fed[usize::from(operand)].clone());
        let of: Vec<Fed<'a>> = fed(of).collect();
        let extents = results_of(&first, &of, Numbers::None).ok()?.remove(0);
        let extents: Vec<usize> = extents.iter().map(|extent| *extent as usize).collect();
        let output = &first.outputs[0];
        let (dtype, matrix) = (first.node(output.node).dtype, Extents::new(1, extents.iter().product()));
        let between = Shape::new("elements between", (&output.dims, extents), dtype, (matrix, stored(dtype))).ok()?;
        Some(Split {
            of: of.iter().map(Fed::operand).collect(),
            kept: fed(kept).map(|fed| fed.operand()).collect(),
            first,
            rest,
            between,
            folded: whole.folded.clone(),
            chosen: if whole.is_by_choice { whole.dims.clone() } else { Vec::new() },
            splits,
            name: whole.expression.name().to_string(),
        })
    }

    /// Computes the first part into host memory, and the rest of that.
    pub(super) fn run(
        &self,
        (under, made): (Under<'_>, &[Made<'_>]),
        evaluate: &mut Evaluate<'_>,
    ) -> Result<Traffic, Error> {
        let _between = under.host.try_acquire(self.between.bytes() as u64)?;
        let between = Arc::new(Parts::new(1, &self.between)?);
        let first = evaluate(&self.first(&*between)?, under.control)?;
        Ok(first.and(evaluate(&self.rest(made, Held::Here(between))?, under.control)?))
    }

    /// The plan of the part that copies most, and those of all passes.
    pub(super) fn plan(&self, made: &[Made<'_>], on: On, budget: u64) -> Result<Planned, Error> {
        let left = if on == On::HOST { budget.saturating_sub(self.between.bytes() as u64) } else { budget };
        let nowhere = Nowhere { extents: Extents::new(1, self.elements()), element: self.between.element() };
        let first = self.first(&nowhere)?.planned(on, left)?;
        let between = Nowhere { extents: nowhere.extents, element: nowhere.element };
        let rest = self.rest(made, Held::Here(Arc::new(between)))?.planned(on, left)?;
        let bytes = |plan: &ExpressionPlan| plan.bytes_to_gpu() + plan.bytes_to_host();
        let plan = if bytes(&first.plan) > bytes(&rest.plan) { first.plan } else { rest.plan };
        Ok(Planned { plan, passes: [first.passes, rest.passes].concat() })
    }

    fn elements(&self) -> usize {
        self.between.bytes() / self.between.element_bytes()
    }

    fn first<'b>(&self, sink: &'b dyn Sink) -> Result<Evaluation<'b>, Error>
    where
        'a: 'b,
    {
        let launcher = Launcher::new(self.first.clone(), &format!("{}, the first part", self.name));
        let first = Evaluation::left(launcher, self.of.clone(), &[Goal::Whole(sink)], &self.folded)?;
        Ok(Evaluation { splits: 0, ..self.by_choice(first) })
    }

    fn rest<'b>(&self, made: &[Made<'b>], between: Held<'b>) -> Result<Evaluation<'b>, Error>
    where
        'a: 'b,
    {
        let launcher = Launcher::new(self.rest.clone(), &format!("{}, the rest", self.name));
        let between =
            Operand { source: between, dims: self.between.dims().into(), extents: self.between.extents().into() };
        let operands = self.kept.iter().cloned().chain([between]).collect();
        let goals: Vec<Goal<'b>> = made.iter().map(|made| made.goal.clone()).collect();
        let rest = self.by_choice(Evaluation::left(launcher, operands, &goals, &self.folded)?);
        Ok(Evaluation { splits: self.splits, ..rest })
    }

    /// Along the dimensions that were chosen, if it has any of them.
    fn by_choice<'b>(&self, part: Evaluation<'b>) -> Evaluation<'b> {
        let is_there = |dim: &DimId| part.made[0].shape.extent(*dim).is_some();
        let chosen: Vec<DimId> = self.chosen.iter().copied().filter(is_there).collect();
        if chosen.is_empty() { part } else { part.by_choice(chosen) }
    }
}
