//! Which dimension an expression is cut along.

use super::evaluation::{Evaluation, behind};
use super::folded::MOST;
use crate::Error;
use tilewright_expr::cut::{Cut, Share, Uncut};
use tilewright_expr::graph::DimId;
use tilewright_ops::Launcher;

impl Evaluation<'_> {
    /// Cut along the first of these dimensions that can be; otherwise it is known why not along the first one.
    pub(super) fn cut_along(mut self, dims: Vec<DimId>) -> Self {
        // What was cut before is not cut again.
        self.launcher = self.expression.clone();
        let mut first = None;
        let found = dims.iter().find_map(|dim| match self.cut_of(*dim) {
            Ok(cut) => Some(cut),
            Err(why) => {
                first.get_or_insert(Error::Uncut { dimension: self.name(*dim), why });
                None
            }
        });
        if let Some(graph) = found.as_ref().and_then(|cut| cut.graph.as_ref()) {
            self.launcher = Launcher::new(graph.clone(), self.expression.name());
        }
        self.behind = found.as_ref().filter(|cut| cut.scattered).map(|_| behind(&self.launcher));
        let why = || "its results have no dimension; reduce parts of its operands in calls of their own".to_string();
        self.cut = found.ok_or_else(|| first.unwrap_or_else(|| Error::Uncut { dimension: "?", why: why() }));
        Evaluation { dims, ..self }
    }

    /// The lengths of operands.
    pub(super) fn lengths(&self) -> impl Fn(u16, DimId) -> i64 {
        |operand, dim| self.fed[usize::from(operand)].shape.extent(dim).map_or(0, |extent| extent as i64)
    }

    /// Of which operands windows can be brought that go on at the other end: their indices follow one another in memory. What lies on a GPU is read there, where
    /// none do.
    pub(super) fn goes_on(&self) -> impl Fn(u16, DimId) -> bool {
        |operand, dim| {
            let fed = &self.fed[usize::from(operand)];
            fed.shape.is_outermost(dim) && fed.source().resident().is_none()
        }
    }

    /// How it is cut along a dimension, or why not.
    fn cut_of(&self, dim: DimId) -> Result<Cut, String> {
        let graph = self.expression.graph();
        let cut = graph.cut(dim).map_err(|why| match why {
            // What is wrong with the scans says more than that there are some.
            Uncut::Scanned => match graph.cut_scans(dim, MOST, self.lengths()) {
                Err(why @ Uncut::Products) => why.to_string(),
                _ => why.to_string(),
            },
            why => why.to_string(),
        })?;
        // No band would give results their first values.
        if cut.scattered && self.fed.iter().any(|fed| fed.shape.extent(dim) == Some(0)) {
            return Err("it has no indices".into());
        }
        self.check(&cut)?;
        Ok(cut)
    }

    /// That bands are tiles of what is stored, without margins where results are, or why not.
    pub(super) fn check(&self, cut: &Cut) -> Result<(), String> {
        let dim = cut.dim;
        self.check_tiles(cut)?;
        let is_inner = |shape: &super::shape::Shape| shape.extent(dim).is_some() && !shape.is_outermost(dim);
        let inner = self.made.iter().position(|made| is_inner(&made.shape));
        // Those of bands that are read elsewhere have the band alone.
        match inner.filter(|_| cut.margin.places() > 0 && cut.length.is_none() && !cut.scattered) {
            Some(number) => Err(format!(
                "operands are read at shifted coordinates along it, and it is not the outermost dimension of result {number}"
            )),
            None => Ok(()),
        }
    }

    fn check_tiles(&self, cut: &Cut) -> Result<(), String> {
        let dim = cut.dim;
        let banded = |(number, share): (usize, &Share)| matches!(share, Share::Band(_)).then_some(number);
        let operands = cut.shares.iter().enumerate().filter_map(banded).map(|i| ("operand", i, &self.fed[i].shape));
        let inner = operands.clone().find(|(.., shape)| !shape.is_outermost(dim));
        if let Some((_, number, _)) = inner.filter(|_| cut.wraps) {
            return Err(format!(
                "a border repeats what is read along it, and it is not the outermost dimension of operand {number}"
            ));
        }
        let results = self.made.iter().enumerate().filter(|_| !cut.scattered);
        let results = results.map(|(i, made)| ("result", i, &made.shape));
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
