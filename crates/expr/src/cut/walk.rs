//! From the results down to the operands, with how far away from the point each node is read.

use super::{Numbers, Share, Uncut};
use crate::graph::{Binary, DimId, Graph, NodeId, Op, Size};
use crate::stage::Margin;
use std::collections::{BTreeSet, HashSet};

/// Where a node is read along the dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// From so many indices before the point to so many behind it.
    Around { before: i64, after: i64 },
    /// Anywhere.
    Anywhere,
}

/// At the point itself.
const POINT: Place = Place::Around { before: 0, after: 0 };

/// What is known when all nodes have been seen.
pub(super) struct Found {
    pub(super) shares: Vec<Share>,
    /// Whether something is computed from a coordinate along the dimension, or from its length.
    pub(super) counted: bool,
    /// Whether a border repeats what is read along the dimension.
    pub(super) wraps: bool,
    /// Scans along the dimension, which need what stands before a band.
    pub(super) scans: Vec<NodeId>,
    /// How far away from the point coordinates are computed with.
    reach: Margin,
}

impl Found {
    /// What an expression is told of windows, if it has to know of its band.
    pub(super) fn numbers(&self, of_band: bool) -> Numbers {
        match (self.counted, of_band) {
            (false, false) => Numbers::None,
            (true, false) => Numbers::Window,
            (false, true) => Numbers::Within,
            (true, true) => Numbers::Band,
        }
    }

    /// As far as the farthest read of any operand, and of a coordinate.
    pub(super) fn margin(&self) -> Margin {
        let margin = |share: &Share| if let Share::Band(margin) = share { *margin } else { Margin::NONE };
        self.shares.iter().map(margin).fold(self.reach, Margin::and)
    }
}

struct Walk<'a> {
    graph: &'a Graph,
    dim: DimId,
    shares: Vec<Option<Share>>,
    /// Operands whose length along the dimension decides how long a node is that is read around the point.
    windows: Vec<u16>,
    /// Operands whose length along the dimension is computed with.
    lengths: Vec<u16>,
    counted: bool,
    /// Whether a border repeats what is read, and whether there are reads beyond an end that is one.
    wraps: bool,
    ends: bool,
    scans: BTreeSet<NodeId>,
    reach: Margin,
    open: Vec<(NodeId, Place)>,
}

/// What a band of the results reads of each operand.
pub(super) fn shares(graph: &Graph, dim: DimId) -> Result<Found, Uncut> {
    let none = vec![None; graph.operands.len()];
    let (windows, lengths) = (Vec::new(), Vec::new());
    let (counted, wraps, ends, reach) = (false, false, false, Margin::NONE);
    let (scans, open) = (BTreeSet::new(), Vec::new());
    let mut walk = Walk { graph, dim, shares: none, windows, lengths, counted, wraps, ends, scans, reach, open };
    walk.start()?;
    let mut seen = HashSet::new();
    while let Some((node, place)) = walk.open.pop() {
        if seen.insert((node, place)) {
            walk.visit(node, place)?;
        }
    }
    walk.end()
}

impl Walk<'_> {
    /// The results, at the point itself.
    fn start(&mut self) -> Result<(), Uncut> {
        for (result, joined) in self.graph.results().iter().enumerate() {
            if joined.outputs.clone().any(|output| self.graph.partial(output).is_some()) {
                return Err(Uncut::Scattered { result });
            }
            if joined.along == Some(self.dim) {
                return Err(Uncut::Joined { result });
            }
            if !joined.dims.contains(&self.dim) {
                return Err(Uncut::Lacking { result });
            }
            for output in joined.outputs.clone() {
                self.windowed(self.graph.output_size(output, self.dim))?;
                self.open.push((self.graph.outputs[output].node, POINT));
            }
        }
        Ok(())
    }

    fn visit(&mut self, node: NodeId, place: Place) -> Result<(), Uncut> {
        let graph = self.graph;
        if let (Some(padded), Place::Around { before, after }) = (graph.padded.get(&node), place) {
            let mut inside = place;
            if padded.near && padded.coords.iter().any(|(d, _)| *d == self.dim) {
                let Margin { before, after } = Margin { before, after }.even();
                inside = Place::Around { before, after };
            }
            self.open.push((padded.source, inside));
            if let Op::Select(_, _, outside) = graph.node(node).op {
                self.open.push((outside, place));
            }
            return Ok(());
        }
        match &graph.node(node).op {
            Op::Input { operand, .. } => self.read(*operand, place),
            Op::Index(dim) if *dim == self.dim => {
                if let Place::Around { before, after } = place {
                    self.counted = true;
                    self.reach = self.reach.and(Margin { before, after });
                }
                Ok(())
            }
            Op::Extent(size) => self.length(*size, place),
            Op::At { source, coords, sizes } => self.visit_read(*source, coords, sizes, place),
            Op::Reduce { source, dim, size, .. } => {
                let inside = if *dim == self.dim { Place::Anywhere } else { place };
                self.open.push((*source, inside));
                match size {
                    Size::Operand(operand, along) if *dim == self.dim && *along == self.dim => self.whole(*operand),
                    Size::Node(node) => {
                        self.open.push((*node, place));
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
            Op::Scan { source, dim, .. } if *dim == self.dim && place != Place::Anywhere => {
                self.scans.insert(node);
                self.open.push((*source, place));
                if place == POINT { Ok(()) } else { Err(Uncut::Scanned) }
            }
            op => {
                op.for_each_arg(|argument| self.open.push((argument, place)));
                Ok(())
            }
        }
    }

    /// A read at other coordinates.
    fn visit_read(
        &mut self,
        source: NodeId,
        coords: &[(DimId, NodeId)],
        sizes: &[(DimId, Size)],
        place: Place,
    ) -> Result<(), Uncut> {
        let mut there = place;
        for (dim, coord) in coords {
            match (place, shift(self.graph, self.dim, *coord)) {
                (Place::Around { before, after }, Some(by)) if *dim == self.dim => {
                    there = Place::Around { before: before + by, after: after + by };
                    self.shifted(source, by);
                }
                _ => {
                    if *dim == self.dim {
                        there = Place::Anywhere;
                    }
                    self.open.push((*coord, place));
                }
            }
        }
        self.open.push((source, there));
        for (dim, size) in sizes {
            match size {
                Size::Node(node) if *dim != self.dim => self.open.push((*node, place)),
                _ if *dim == self.dim && place != Place::Anywhere => self.windowed(*size)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Something is read so far away from the point.
    fn shifted(&mut self, source: NodeId, by: i64) {
        let repeats = self.graph.padded.get(&source).is_some_and(|padded| !padded.near);
        self.wraps |= by != 0 && repeats;
        self.ends |= by != 0 && !repeats;
    }

    fn read(&mut self, operand: u16, place: Place) -> Result<(), Uncut> {
        if !self.graph.operands[usize::from(operand)].dims.contains(&self.dim) {
            self.shares[usize::from(operand)] = Some(Share::Whole);
            return Ok(());
        }
        let (share, known) = match place {
            Place::Anywhere => (Share::Whole, self.shares[usize::from(operand)]),
            Place::Around { before, after } => {
                (Share::Band(Margin { before, after }.and(Margin::NONE)), self.shares[usize::from(operand)])
            }
        };
        self.shares[usize::from(operand)] = Some(match (known, share) {
            (None, share) | (Some(Share::Whole), share @ Share::Whole) => share,
            (Some(Share::Band(known)), Share::Band(margin)) => Share::Band(known.and(margin)),
            _ => return Err(Uncut::Both { operand: usize::from(operand) }),
        });
        Ok(())
    }

    fn whole(&mut self, operand: u16) -> Result<(), Uncut> {
        self.read(operand, Place::Anywhere)
    }

    /// A node that is read around the point is as long as a window.
    fn windowed(&mut self, size: Size) -> Result<(), Uncut> {
        match size {
            Size::Any => Ok(()),
            Size::Operand(operand, dim) if dim == self.dim => {
                self.windows.push(operand);
                Ok(())
            }
            _ => Err(Uncut::Length),
        }
    }

    /// A length that is computed with.
    fn length(&mut self, size: Size, place: Place) -> Result<(), Uncut> {
        match size {
            Size::Operand(operand, dim) if dim == self.dim => self.lengths.push(operand),
            Size::Node(node) => self.open.push((node, place)),
            _ => {}
        }
        Ok(())
    }

    fn end(mut self) -> Result<Found, Uncut> {
        let is_window = |walk: &Self, operand: u16| matches!(walk.shares[usize::from(operand)], Some(Share::Band(_)));
        for operand in std::mem::take(&mut self.windows) {
            match self.shares[usize::from(operand)] {
                Some(Share::Band(_)) => {}
                // As long as the results, though only its length is looked at.
                None => self.read(operand, POINT)?,
                Some(Share::Whole | Share::Before) => return Err(Uncut::Both { operand: usize::from(operand) }),
            }
        }
        for equation in self.graph.equations.iter().filter(|equation| equation.dim == self.dim) {
            let (Size::Operand(a, _), Size::Operand(b, _)) = (equation.a, equation.b) else { continue };
            if is_window(&self, a) != is_window(&self, b) {
                let whole = if is_window(&self, a) { b } else { a };
                return Err(Uncut::Both { operand: usize::from(whole) });
            }
        }
        let lengths = std::mem::take(&mut self.lengths);
        self.counted |= lengths.iter().any(|operand| is_window(&self, *operand));
        if self.wraps && self.ends {
            return Err(Uncut::Wrapped);
        }
        // What nothing reads is there all the same.
        let shares = self.shares.into_iter().map(|share| share.unwrap_or(Share::Whole)).collect();
        let scans = self.scans.into_iter().collect();
        Ok(Found { shares, counted: self.counted, wraps: self.wraps, scans, reach: self.reach })
    }
}

/// How far a coordinate along `dim` is from that of the point, if it is so for every point.
pub(super) fn shift(graph: &Graph, dim: DimId, coord: NodeId) -> Option<i64> {
    let is_index = |node: NodeId| matches!(graph.node(node).op, Op::Index(d) if d == dim);
    match graph.node(coord).op {
        Op::Index(_) if is_index(coord) => Some(0),
        Op::Binary(Binary::Add, a, b) if is_index(a) => match graph.node(b).op {
            Op::Const(by) => by.as_i64(),
            _ => None,
        },
        _ => None,
    }
}
