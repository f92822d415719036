//! Which dimension an expression is cut along, or folded along.

use super::evaluation::{Evaluation, Fed, Made, On};
use super::folded::{Fold, MOST, Rest};
use super::passes::{Compute, Passes, Under};
use super::plan::ExpressionPlan;
use crate::Error;
use crate::stream::matmul::Traffic;
use tilewright_expr::cut::{Cut, Share, Uncut};
use tilewright_expr::graph::DimId;
use tilewright_ops::Launcher;

/// Bytes from which on it is better to begin before all of them are there.
const LONG: u64 = 256 << 20;

/// How an expression is computed that cannot be cut as it is.
pub(super) enum Steps<'a> {
    /// Bands are reduced, and what is left is evaluated.
    Folded(Box<Fold<'a>>),
    /// What stands before bands is found, then they are evaluated.
    Scanned(Passes<'a>),
}

impl<'a> Steps<'a> {
    /// Computes the bands into these results, or what they are reduced to, and gives what is left to compute then.
    pub(super) fn run<'b>(
        &self,
        (under, made): (Under<'_>, &[Made<'b>]),
        compute: &mut Compute<'_>,
    ) -> Result<(Traffic, Option<Rest<'b>>), Error>
    where
        'a: 'b,
    {
        match self {
            Steps::Folded(fold) => fold.run((under, made), compute).map(|(done, rest)| (done, Some(rest))),
            Steps::Scanned(passes) => {
                passes.run(under, made.iter().map(Made::same).collect(), compute).map(|done| (done, None))
            }
        }
    }

    /// Those over bands.
    pub(super) fn passes(&self) -> &Passes<'a> {
        match self {
            Steps::Folded(fold) => &fold.parts,
            Steps::Scanned(passes) => passes,
        }
    }
}

impl<'a> Evaluation<'a> {
    /// How it is computed in steps where there are so many bytes, and in which bands, unless all of it is one band: a short one, or the only one that fits.
    pub(super) fn planned_steps(&self, on: On, budget: u64) -> Result<Option<(&Steps<'a>, ExpressionPlan)>, Error> {
        let Some(steps) = self.steps(on, budget) else { return Ok(None) };
        match steps.passes().plan(on, budget) {
            Err(Error::Budget { .. }) if ExpressionPlan::new(self, on, budget).is_ok() => Ok(None),
            plan => Ok(Some((steps, plan?))),
        }
    }

    /// How it is computed in steps, unless all of it is one band, and a short one.
    pub(super) fn steps(&self, on: On, budget: u64) -> Option<&Steps<'a>> {
        let ExpressionPlan { bytes_in, bytes_out, bytes_once, .. } = ExpressionPlan::of_indices(self, on);
        let is_short = bytes_in + bytes_out + bytes_once <= u128::from(budget.min(LONG));
        self.steps.as_ref().filter(|_| !is_short)
    }

    /// Cut along the first of these dimensions that can be; otherwise it is known why not along the first one.
    pub(super) fn cut_along(mut self, dims: &[DimId]) -> Self {
        // What was cut before is not cut again.
        self.launcher = self.expression.clone();
        let mut first = None;
        for dim in dims {
            match self.cut_of(*dim) {
                Ok(cut) => {
                    self.launcher = match &cut.graph {
                        Some(graph) => Launcher::new(graph.clone(), self.expression.name()),
                        None => self.expression.clone(),
                    };
                    self.cut = Ok(cut);
                    return self;
                }
                Err(why) => {
                    first.get_or_insert(Error::Uncut { dimension: self.name(*dim), why });
                }
            }
        }
        let why = || "its results have no dimension; reduce parts of its operands in calls of their own".to_string();
        self.cut = Err(first.unwrap_or_else(|| Error::Uncut { dimension: "?", why: why() }));
        self
    }

    /// Computed in steps: cut along the first of these dimensions, scans and all, or folded along the first dimension, of the largest operand first, that it
    /// can be folded along. What bands were reduced to `before` is not folded again: so each fold leaves fewer reductions, and the last one none.
    pub(super) fn in_steps(self, dims: &[DimId], before: &[DimId]) -> Self {
        let scanned = self.scanned(dims);
        if scanned.steps.is_some() { scanned } else { scanned.folded(before) }
    }

    fn folded(mut self, before: &[DimId]) -> Self {
        let mut fed: Vec<&Fed<'_>> = self.fed.iter().collect();
        fed.sort_by_key(|fed| std::cmp::Reverse(fed.shape.bytes()));
        let dims = fed.iter().flat_map(|fed| fed.shape.dims().iter().copied());
        let mut dims = dims.filter(|dim| !before.contains(dim));
        self.steps = dims.find_map(|dim| Fold::of(&self, dim, before).ok()).map(Box::new).map(Steps::Folded);
        self
    }

    /// Cut along the first of these dimensions that scans go along, where it is not cut otherwise.
    pub(super) fn scanned(mut self, dims: &[DimId]) -> Self {
        self.steps = None;
        if self.cut.is_ok() {
            return self;
        }
        let mut refused = None;
        for dim in dims {
            let passes = self.graph().cut_scans(*dim, MOST, self.lengths());
            if let Err(why @ (Uncut::Scans { .. } | Uncut::Products)) = &passes {
                refused.get_or_insert(Error::Uncut { dimension: self.name(*dim), why: why.to_string() });
            }
            let Some(passes) = passes.ok().and_then(|passes| Passes::of_results(&self, passes).ok()) else { continue };
            self.steps = Some(Steps::Scanned(passes));
            return self;
        }
        // What is wrong with the scans says more than that there are some.
        self.cut = refused.map_or(self.cut, Err);
        self
    }

    /// The lengths of operands.
    pub(super) fn lengths(&self) -> impl Fn(u16, DimId) -> i64 {
        |operand, dim| self.fed[usize::from(operand)].shape.extent(dim).map_or(0, |extent| extent as i64)
    }

    /// How it is cut along a dimension, or why not.
    fn cut_of(&self, dim: DimId) -> Result<Cut, String> {
        let cut = self.expression.graph().cut(dim).map_err(|why| why.to_string())?;
        self.check_tiles_of(&cut)?;
        let inner = self.made.iter().position(|made| !made.shape.is_outermost(dim));
        match inner.filter(|_| cut.margin.places() > 0) {
            Some(number) => Err(format!(
                "operands are read at shifted coordinates along it, and it is not the outermost dimension of result {number}"
            )),
            None => Ok(cut),
        }
    }

    /// That bands are tiles of what is stored, or why not.
    pub(super) fn check_tiles(&self) -> Result<(), String> {
        self.cut.as_ref().map_or(Ok(()), |cut| self.check_tiles_of(cut))
    }

    fn check_tiles_of(&self, cut: &Cut) -> Result<(), String> {
        let dim = cut.dim;
        let banded = |(number, share): (usize, &Share)| matches!(share, Share::Band(_)).then_some(number);
        let operands = cut.shares.iter().enumerate().filter_map(banded).map(|i| ("operand", i, &self.fed[i].shape));
        let inner = operands.clone().find(|(.., shape)| !shape.is_outermost(dim));
        if let Some((_, number, _)) = inner.filter(|_| cut.wraps) {
            return Err(format!(
                "a border repeats what is read along it, and it is not the outermost dimension of operand {number}"
            ));
        }
        let results = self.made.iter().enumerate().map(|(i, made)| ("result", i, &made.shape));
        for (what, number, shape) in operands.chain(results) {
            if shape.extent(dim).is_some() && shape.tile(dim, 0..1).is_none() {
                return Err(format!(
                    "its indices are no tiles of {what} {number} as it is stored; store it with this dimension outermost"
                ));
            }
        }
        Ok(())
    }
}
