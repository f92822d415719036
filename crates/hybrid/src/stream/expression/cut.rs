//! Which dimension an expression is cut along, or folded along.

use super::evaluation::{Evaluation, Fed, On};
use super::folded::Fold;
use super::plan::ExpressionPlan;
use crate::Error;
use tilewright_expr::cut::{Cut, Share};
use tilewright_expr::graph::DimId;
use tilewright_ops::Launcher;

/// Bytes from which on it is better to begin before all of them are there.
const LONG: u64 = 256 << 20;

impl<'a> Evaluation<'a> {
    /// How it is folded, unless all of it is one band, and a short one.
    pub(super) fn folding(&self, on: On, budget: u64) -> Option<&Fold<'a>> {
        let ExpressionPlan { bytes_in, bytes_out, bytes_once, .. } = ExpressionPlan::of_indices(self, on);
        let is_short = bytes_in + bytes_out + bytes_once <= u128::from(budget.min(LONG));
        self.fold.as_ref().filter(|_| !is_short)
    }

    /// Cut along the first of these dimensions that can be; otherwise it is known why not along the first one.
    pub(super) fn cut_along(mut self, dims: &[DimId]) -> Self {
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

    /// Folded along the first dimension, of the largest operand first, that it can be folded along.
    pub(super) fn folded(mut self) -> Self {
        let mut fed: Vec<&Fed<'_>> = self.fed.iter().collect();
        fed.sort_by_key(|fed| std::cmp::Reverse(fed.shape.bytes()));
        let dims: Vec<DimId> = fed.iter().flat_map(|fed| fed.shape.dims().iter().copied()).collect();
        self.fold = dims.into_iter().find_map(|dim| Fold::of(&self, dim).ok());
        self
    }

    pub(super) fn names_of_operands(&self, dim: DimId) -> Vec<(DimId, &'static str)> {
        vec![(dim, self.graph().dim_name(dim))]
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
