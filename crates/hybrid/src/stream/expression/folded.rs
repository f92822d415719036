//! Expressions that need all of an operand before any of their results: reductions of its bands first, and what is left of the expression over those.

use super::array::{Held, Operand};
use super::evaluation::{Evaluation, Made};
use super::parts::Nowhere;
use super::passes::{Came, Compute, Passes, Under, of_all_bands};
use super::plan::ExpressionPlan;
use super::section::Goal;
use crate::Error;
use crate::budget::Permit;
use crate::store::Extents;
use crate::stream::matmul::Traffic;
use std::sync::Arc;
use tilewright_expr::cut::{Folded, Uncut};
use tilewright_expr::graph::{DimId, Graph};
use tilewright_ops::Launcher;

/// Results of one launch.
pub(super) const MOST: usize = 4;

/// What is left to compute, and leave to have the memory of what it reads.
pub(super) type Rest<'b> = (Evaluation<'b>, Vec<Permit>);

/// How an expression is folded.
pub(super) struct Fold<'a> {
    /// What bands are reduced to.
    pub(super) parts: Passes<'a>,
    left: Graph,
    /// A dimension of what bands are reduced to, behind those of folds before.
    bands: Vec<DimId>,
    /// The operands that are left.
    kept: Vec<Operand<'a>>,
}

impl<'a> Fold<'a> {
    /// How an evaluation is folded along a dimension after the folds before it, or why not.
    pub(super) fn of(whole: &Evaluation<'a>, dim: DimId) -> Result<Fold<'a>, String> {
        Self::folded(whole, whole.expression.graph().fold(dim, MOST, whole.lengths()))
    }

    /// The same of operands that bands read elsewhere than around the point.
    pub(super) fn of_images(whole: &Evaluation<'a>, dim: DimId) -> Result<Fold<'a>, String> {
        Self::folded(whole, whole.expression.graph().fold_images(dim, MOST, whole.lengths(), whole.goes_on()))
    }

    fn folded(whole: &Evaluation<'a>, folded: Result<Folded, Uncut>) -> Result<Fold<'a>, String> {
        let folded = folded.map_err(|why| why.to_string())?;
        let Folded { parts, rest, bands, kept } = folded;
        let kept = kept.into_iter().map(|operand| whole.fed[usize::from(operand)].operand()).collect();
        let bands = whole.folded.iter().copied().chain([bands]).collect();
        Ok(Fold { parts: Passes::of_parts((whole, &whole.fed), parts)?, left: rest, bands, kept })
    }

    /// Has the bands of a plan computed, and gives what was copied for that and what is left to compute: an evaluation of all that they were reduced to,
    /// and leave to have the memory for that.
    pub(super) fn run<'b>(
        &self,
        (under, made): (Under<'_>, &[Made<'b>]),
        compute: &mut Compute<'_>,
    ) -> Result<(Traffic, Rest<'b>), Error>
    where
        'a: 'b,
    {
        let Came { parts, traffic, memory } = self.parts.run_to_parts(under, compute)?;
        let rest = self.rest(made, under.plan, parts.into_iter().map(|parts| Held::Here(parts)))?;
        Ok((traffic, (rest, memory)))
    }

    /// What is left to compute once the bands of a plan were, of parts that are not there yet, and the bytes of these.
    pub(super) fn left_to_plan<'b>(
        &self,
        made: &[Made<'b>],
        plan: &ExpressionPlan,
    ) -> Result<(Evaluation<'b>, u64), Error>
    where
        'a: 'b,
    {
        let parts = self.parts.bands.made.iter().map(|part| {
            let extents = Extents::new(plan.count(), part.shape.bytes() / part.shape.element_bytes());
            Held::Here(Arc::new(Nowhere { extents, element: part.shape.element() }))
        });
        let bytes = plan.count() as u128 * self.parts.bands.bytes_of_parts();
        Ok((self.rest(made, plan, parts)?, u64::try_from(bytes).unwrap_or(u64::MAX)))
    }

    /// What is left of all parts of a plan's bands.
    fn rest<'b>(
        &self,
        made: &[Made<'b>],
        plan: &ExpressionPlan,
        parts: impl Iterator<Item = Held<'b>>,
    ) -> Result<Evaluation<'b>, Error>
    where
        'a: 'b,
    {
        let whole = &self.parts.bands;
        let (count, dim) = (plan.count(), self.bands.last().copied().unwrap_or_default());
        let parts = parts.zip(&whole.made).map(|(parts, made)| of_all_bands((parts, &made.shape), (dim, count)));
        let operands = self.kept.iter().cloned().chain(parts).collect();
        let name = format!("{} of all bands", whole.expression.name());
        let goals: Vec<Goal<'b>> = made.iter().map(|made| made.goal.clone()).collect();
        Evaluation::left(Launcher::new(self.left.clone(), &name), operands, &goals, &self.bands)
    }
}
