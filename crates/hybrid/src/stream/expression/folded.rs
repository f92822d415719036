//! Expressions that need all of an operand before any of their results: reductions of its bands first, and what is left of the expression over those.

use super::array::Operand;
use super::evaluation::{Evaluation, Made};
use super::passes::{Came, Compute, Passes, Under, of_all_bands};
use crate::Error;
use crate::budget::Permit;
use crate::store::Sink;
use crate::stream::matmul::Traffic;
use tilewright_expr::cut::Folded;
use tilewright_expr::graph::{DimId, Graph};
use tilewright_ops::Launcher;

/// Results of one launch.
pub(super) const MOST: usize = 4;

/// What is left to compute, and leave to have the memory of what it reads.
pub(super) type Rest<'b> = (Evaluation<'b>, Option<Permit>);

/// How an expression is folded.
pub(super) struct Fold<'a> {
    /// What bands are reduced to.
    pub(super) parts: Passes<'a>,
    rest: Graph,
    /// A dimension of what bands are reduced to, behind those of folds before.
    bands: Vec<DimId>,
    /// The operands that are left.
    kept: Vec<Operand<'a>>,
}

impl<'a> Fold<'a> {
    /// How an evaluation that cannot be cut is folded along a dimension after folds before, or why not.
    pub(super) fn of(whole: &Evaluation<'a>, dim: DimId, before: &[DimId]) -> Result<Fold<'a>, String> {
        let folded = whole.graph().fold(dim, MOST, whole.lengths()).map_err(|why| why.to_string())?;
        let Folded { parts, rest, bands, kept } = folded;
        let kept = kept.into_iter().map(|operand| whole.fed[usize::from(operand)].operand()).collect();
        let bands = before.iter().copied().chain([bands]).collect();
        Ok(Fold { parts: Passes::of_parts((whole, &whole.fed), parts)?, rest, bands, kept })
    }

    /// Has the bands of a plan computed, and gives what was copied for that and what is left to compute: an evaluation of all that they were reduced to,
    /// and leave to have the memory for that.
    pub(super) fn run<'b>(
        &self,
        (under, sinks): (Under<'_>, &[Made<'b>]),
        compute: &mut Compute<'_>,
    ) -> Result<(Traffic, Rest<'b>), Error>
    where
        'a: 'b,
    {
        let Came { parts, traffic, memory } = self.parts.run_to_parts(under, compute)?;
        let whole = &self.parts.bands;
        let (count, dim) = (under.plan.count(), self.bands.last().copied().unwrap_or_default());
        let parts = parts.into_iter().zip(&whole.made);
        let parts = parts.map(|(parts, made)| of_all_bands((parts, &made.shape), (dim, count)));
        let operands = self.kept.iter().cloned().chain(parts).collect();
        let name = format!("{} of all bands", whole.expression.name());
        let sinks: Vec<&'b dyn Sink> = sinks.iter().map(|made| made.sink).collect();
        let rest = Evaluation::left(Launcher::new(self.rest.clone(), &name), operands, &sinks, &self.bands)?;
        Ok((traffic, (rest, memory)))
    }
}
