//! Scans in bands: what stands before a band is put before the scan of the band.
//!
//! What is read beside the point is scanned from as far before the band on: windows have more, which changes nothing.
//!
//! All values of a band, made one, are a total; what stands before a band is what the totals of those before it come to. So operands are read twice:
//! for the totals, and again for the results. Sums of `f32` are carried in `f64`. Totals of what is scanned already need what stands before bands
//! themselves, and so on inwards.

use super::walk::Found;
use super::{Cut, Share, Uncut, offset, walk};
use crate::dtype::DType;
use crate::graph::{DimId, Graph, NodeId, OperandSpec, Output};
use crate::reads::Border;
use crate::reduce::Reduction;

/// What is evaluated on bands, and what before that.
#[derive(Clone, Debug)]
pub struct Passes {
    /// What is evaluated. Its graph is always said. Behind the operands it has one for each scan along the dimension, before the
    /// [`numbers`](Cut::numbers): what stands before the band ([`Share::Before`]).
    pub cut: Cut,
    /// Which operands of the expression that has, by their numbers: one that is read around the point and anywhere too is there twice.
    pub kept: Vec<u16>,
    /// What that is made of, where scans go along the dimension: of some of these after others, where they are more than a launch has results.
    pub totals: Vec<Totals>,
}

/// What bands come to, and what stands before each.
#[derive(Clone, Debug)]
pub struct Totals {
    /// A result for each scan: all values of a band, made one, which lacks the dimension.
    pub parts: Passes,
    /// For each the expression of what stands before each band: of one operand, the totals of all bands, with [`bands`](Self::bands) before the
    /// dimensions of one, into a result of the same dimensions.
    pub before: Vec<Graph>,
    /// A dimension of its own, as long as there are bands.
    pub bands: DimId,
}

impl Graph {
    /// How results are computed in bands along `dim`, along which scans go, at most so many in one pass, of operands whose lengths are known. No border may repeat what is
    /// scanned, and no floats be multiplied by a scan: what bands come to may overflow where the whole does not.
    pub fn cut_scans(&self, dim: DimId, most: usize, length: impl Fn(u16, DimId) -> i64) -> Result<Passes, Uncut> {
        let found = walk::shares(self, dim, |_| 0)?;
        found.once()?;
        let passes = self.passes((dim, most), found, &length)?;
        if passes.totals.is_empty() { Err(Uncut::Scanned) } else { Ok(passes) }
    }

    /// The same, scans or none, of operands that are read around the point and anywhere too: these are there once more, whole.
    pub fn cut_twice(&self, dim: DimId, most: usize, length: impl Fn(u16, DimId) -> i64) -> Result<Passes, Uncut> {
        self.passes((dim, most), walk::shares(self, dim, |_| 0)?, &length)
    }

    fn passes(
        &self,
        (dim, most): (DimId, usize),
        mut found: Found,
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<Passes, Uncut> {
        let totals = self.totals((dim, most), &mut found, length)?;
        let graph = Some(offset::with_first_index(self, dim, &found).0);
        let kept = (0..self.operands.len() as u16).chain(found.twice.iter().copied()).collect();
        Ok(Passes { cut: found.into_cut(dim, graph), kept, totals })
    }

    /// What the bands of scans that were found come to; from here on they have operands.
    pub(super) fn totals(
        &self,
        (dim, most): (DimId, usize),
        found: &mut Found,
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<Vec<Totals>, Uncut> {
        let multiplies =
            |(scan, _): &(NodeId, i64)| self.reduced(*scan).is_some_and(|(of, ..)| of == Reduction::Product);
        if found.scans.iter().any(|scan| multiplies(scan) && self.node(scan.0).dtype.is_float()) {
            return Err(Uncut::Products);
        }
        found.shares.extend(found.scans.iter().map(|_| Share::Before));
        let totals = |scans: &[(NodeId, i64)]| {
            let (parts, bands) = (self.parts(dim, (scans, most), length)?, self.unused(!dim));
            let before = scans.iter().map(|(scan, _)| self.before(bands, dim, *scan)).collect::<Result<_, _>>()?;
            Ok(Totals { parts, before, bands })
        };
        found.scans.chunks(most.max(1)).map(totals).collect()
    }

    /// What stands before each band of a scan, of the totals of all of them.
    fn before(&self, bands: DimId, dim: DimId, scan: NodeId) -> Result<Graph, Uncut> {
        let (reduction, ..) = self.reduced(scan).ok_or(Uncut::Scanned)?;
        let dims: Box<[DimId]> = [bands].into_iter().chain(self.dims_without(dim, scan)).collect();
        let mut made = Graph::default();
        self.names().iter().for_each(|(dim, name)| made.name_dim(*dim, name));
        made.name_dim(bands, "bands");
        let dtype = self.node(scan).dtype;
        let operand = made.operand(OperandSpec { dtype, components: 1, dims: dims.clone() });
        let (total, of) = (made.input(operand, 0), wide(reduction, dtype));
        let total = made.cast(total, of);
        let prefix = made.scan(reduction, total, bands);
        let nothing = made.constant(reduction.identity(of));
        let node = made.shifted(prefix, &[(bands, -1)], Border::Constant(nothing));
        made.outputs.push(Output { node, dims });
        Ok(made)
    }

    /// What is scanned from so far away from the first index of a band on; before that, what changes nothing.
    pub(super) fn scanned_from(
        &mut self,
        (dim, begin, away): (DimId, NodeId, i64),
        reduction: Reduction,
        source: NodeId,
    ) -> NodeId {
        let (counts, none) =
            (self.is_from(dim, begin, away), self.constant(reduction.identity(self.node(source).dtype)));
        self.select(counts, source, none)
    }

    /// A scan of a band behind what stands before that.
    pub(super) fn behind(&mut self, before: NodeId, scan: NodeId, reduction: Reduction) -> NodeId {
        let (dtype, of) = (self.node(scan).dtype, self.node(before).dtype);
        let scan = self.cast(scan, of);
        let both = self.rounded(reduction.operation(), before, scan);
        self.cast(both, dtype)
    }
}

/// What parts of a reduction are made one in.
pub(super) fn wide(reduction: Reduction, dtype: DType) -> DType {
    if reduction == Reduction::Sum && dtype == DType::F32 { DType::F64 } else { dtype }
}
