//! Results that several expressions make, each a part: one after the other along a dimension.

use crate::bind::Binding;
use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId, Output};
use std::ops::Range;

/// Most parts of a result.
pub const MAX_PARTS: usize = 64;

/// A result that consists of several outputs. An output that lacks the dimension `along` is one index of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Join {
    /// The outputs, in order.
    pub outputs: Range<usize>,
    /// The dimension along which they follow each other.
    pub along: DimId,
    /// The result's dimensions, outermost first.
    pub dims: Box<[DimId]>,
}

/// What a call binds as one result: an output, or those of a [`Join`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined<'a> {
    /// The outputs.
    pub outputs: Range<usize>,
    /// The dimension along which several follow each other.
    pub along: Option<DimId>,
    /// Its dimensions, outermost first.
    pub dims: &'a [DimId],
}

impl Graph {
    /// Stores `parts` as one result over `dims`, one after the other along `along`.
    pub fn join(&mut self, along: DimId, parts: &[NodeId], dims: &[DimId]) {
        if parts.is_empty() || parts.len() > MAX_PARTS {
            let dim = self.dim_name(along);
            return self.fail(Error::PartCount { dim, parts: parts.len(), limit: MAX_PARTS });
        }
        let first = self.outputs.len();
        for part in parts {
            let whole = self.node(*part).shape.iter().any(|(d, _)| *d == along);
            let dims = dims.iter().copied().filter(|d| whole || *d != along).collect();
            self.outputs.push(Output { node: *part, dims });
        }
        self.joins.push(Join { outputs: first..self.outputs.len(), along, dims: dims.into() });
    }

    /// The results, in order.
    pub fn results(&self) -> Vec<Joined<'_>> {
        let mut results = Vec::new();
        let mut output = 0;
        while let Some(alone) = self.outputs.get(output) {
            let join = self.joins.iter().find(|j| j.outputs.start == output);
            results.push(match join {
                Some(j) => Joined { outputs: j.outputs.clone(), along: Some(j.along), dims: &j.dims },
                None => {
                    let dims = self.partial(output).map_or(&alone.dims, |p| &p.shown);
                    Joined { outputs: output..output + 1, along: None, dims }
                }
            });
            output = join.map_or(output + 1, |j| j.outputs.end);
        }
        results
    }
}

impl Binding<'_> {
    /// The sizes of a result, in its layout's order. Along the dimension of a join they are the parts' together.
    pub fn result(&self, result: &Joined<'_>) -> Result<Vec<i64>, Error> {
        let mut sizes: Vec<Option<i64>> = vec![None; result.dims.len()];
        for output in result.outputs.clone() {
            let part = self.part(result, output)?;
            for ((dim, size), n) in result.dims.iter().zip(&mut sizes).zip(part) {
                let (part, dim_name) = (output - result.outputs.start, self.graph.dim_name(*dim));
                *size = Some(match *size {
                    Some(sum) if result.along == Some(*dim) => sum + n,
                    Some(first) if first != n => {
                        return Err(Error::Parts { dim: dim_name, first, part, other: n });
                    }
                    _ => n,
                });
            }
        }
        Ok(sizes.into_iter().flatten().collect())
    }

    /// The sizes of one output of a result, in the result's order.
    pub(crate) fn part(&self, result: &Joined<'_>, output: usize) -> Result<Vec<i64>, Error> {
        let (dims, sizes) = (&self.graph.outputs[output].dims, self.output(output)?);
        if result.along.is_none() {
            return Ok(sizes);
        }
        let size = |dim: &DimId| dims.iter().position(|d| d == dim).map_or(1, |i| sizes[i]);
        Ok(result.dims.iter().map(size).collect())
    }

    /// The sizes of every result.
    pub fn results(&self) -> Result<Vec<Vec<i64>>, Error> {
        self.graph.results().iter().map(|r| self.result(r)).collect()
    }
}
