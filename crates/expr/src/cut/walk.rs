//! From the results down to the operands, with how far away from the point each node is read.

use super::{Cut, Numbers, Share, Uncut};
use crate::graph::{Binary, DimId, Graph, NodeId, Op, Size};
use crate::stage::Margin;
use std::collections::{BTreeMap, HashSet};

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
    /// Scans along the dimension, which need what stands before a band; and from how far before a band on each is needed: 0 or less.
    pub(super) scans: Vec<(NodeId, i64)>,
    /// The operands that are read around the point, and anywhere too: for that they are there once more, whole.
    pub(super) twice: Vec<u16>,
    /// Whether values go to computed places of results that are whole.
    scattered: bool,
    /// How far away from the point coordinates are computed with.
    reach: Margin,
}

impl Found {
    /// How results are computed in bands of what was found, by a graph if that is not the expression itself.
    pub(super) fn into_cut(self, dim: DimId, graph: Option<Graph>) -> Cut {
        let (margin, numbers) = (self.margin(), self.numbers(self.knows_band()));
        let Found { shares, wraps, scattered, .. } = self;
        Cut { dim, length: None, shares, margin, wraps, scattered, graph, numbers }
    }

    /// What an expression is told of windows, if it has to know of its band.
    pub(super) fn numbers(&self, of_band: bool) -> Numbers {
        match (self.counted, of_band) {
            (false, false) => Numbers::None,
            (true, false) => Numbers::Window,
            (false, true) => Numbers::Within,
            (true, true) => Numbers::Band,
        }
    }

    /// That no operand is read both ways.
    pub(super) fn once(&self) -> Result<(), Uncut> {
        self.twice.first().map_or(Ok(()), |operand| Err(Uncut::Both { operand: usize::from(*operand) }))
    }

    /// Whether scans have to know where their band begins.
    fn scans_beside(&self) -> bool {
        !self.scans.is_empty() && self.margin() != Margin::NONE
    }

    /// Whether what is scattered has to know which values are the band's: windows have more.
    pub(super) fn scatters_beside(&self) -> bool {
        self.scattered && self.margin() != Margin::NONE
    }

    /// Whether the expression is told where the band is in its window.
    pub(super) fn knows_band(&self) -> bool {
        self.scans_beside() || self.scatters_beside()
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
    /// How far around the point operands are read that are.
    around: Vec<Option<Margin>>,
    /// Which operands are read anywhere, or lack the dimension.
    whole: Vec<bool>,
    /// Operands whose length along the dimension decides how long a node is that is read around the point.
    windows: Vec<u16>,
    /// Operands whose length along the dimension is computed with.
    lengths: Vec<u16>,
    counted: bool,
    /// Whether a border repeats what is read, and whether there are reads beyond an end that is one.
    wraps: bool,
    ends: bool,
    /// Scans, from how far before the point to how far behind it each is read.
    scans: BTreeMap<NodeId, Margin>,
    scattered: bool,
    reach: Margin,
    open: Vec<(NodeId, Place)>,
}

/// What a band of the results reads of each operand, where each output is wanted so far before the band, which is 0 or less.
pub(super) fn shares(graph: &Graph, dim: DimId, from: impl Fn(usize) -> i64) -> Result<Found, Uncut> {
    let (around, whole) = (vec![None; graph.operands.len()], vec![false; graph.operands.len()]);
    let (windows, lengths) = (Vec::new(), Vec::new());
    let (counted, wraps, ends, reach) = (false, false, false, Margin::NONE);
    let (scans, open, scattered) = (BTreeMap::new(), Vec::new(), graph.is_scattered(dim)?);
    let mut walk =
        Walk { graph, dim, around, whole, windows, lengths, counted, wraps, ends, scans, scattered, reach, open };
    walk.start(from)?;
    let mut seen = HashSet::new();
    while let Some((node, place)) = walk.open.pop() {
        if seen.insert((node, place)) {
            walk.visit(node, place)?;
        }
    }
    walk.end()
}

impl Walk<'_> {
    /// The results, at the point or so far before it.
    fn start(&mut self, from: impl Fn(usize) -> i64) -> Result<(), Uncut> {
        for output in 0..self.graph.outputs.len() {
            self.windowed(self.graph.output_size(output, self.dim))?;
            self.beside(Margin { before: from(output), after: from(output) });
            let place = Place::Around { before: from(output), after: from(output) };
            self.open.extend(self.graph.roots(output).into_iter().map(|node| (node, place)));
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
            Op::Input { operand, .. } => {
                self.read(*operand, place);
                Ok(())
            }
            Op::Index(dim) if *dim == self.dim => {
                if let Place::Around { before, after } = place {
                    self.counted = true;
                    self.beside(Margin { before, after });
                }
                Ok(())
            }
            Op::Extent(size) => self.length(*size, place),
            Op::At { source, coords, sizes } => self.visit_read(*source, coords, sizes, place),
            Op::Reduce { source, dim, size, .. } => {
                let inside = if *dim == self.dim { Place::Anywhere } else { place };
                self.open.push((*source, inside));
                match size {
                    Size::Operand(operand, along) if *along == self.dim => {
                        self.read(*operand, Place::Anywhere);
                        Ok(())
                    }
                    Size::Node(node) => {
                        self.open.push((*node, place));
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
            Op::Scan { source, dim, .. } if *dim == self.dim && place != Place::Anywhere => {
                let Place::Around { before, after } = place else { return Ok(()) };
                // All from there on is scanned.
                let read = Margin { before, after }.and(Margin::NONE);
                self.scans.entry(node).and_modify(|known| *known = known.and(read)).or_insert(read);
                self.beside(read);
                self.open.push((*source, Place::Around { before: read.before, after: read.after }));
                Ok(())
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
                Size::Operand(operand, along) if *dim != self.dim && *along == self.dim => {
                    self.read(*operand, Place::Anywhere);
                }
                _ if *dim == self.dim && place != Place::Anywhere => self.windowed(*size)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Windows reach so far.
    fn beside(&mut self, margin: Margin) {
        self.reach = self.reach.and(margin);
    }

    /// Something is read so far away from the point.
    fn shifted(&mut self, source: NodeId, by: i64) {
        let repeats = self.graph.padded.get(&source).is_some_and(|padded| !padded.near);
        self.wraps |= by != 0 && repeats;
        self.ends |= by != 0 && !repeats;
    }

    fn read(&mut self, operand: u16, place: Place) {
        let number = usize::from(operand);
        match place {
            Place::Around { before, after } if self.graph.operands[number].dims.contains(&self.dim) => {
                let margin = Margin { before, after }.and(Margin::NONE);
                self.around[number] = Some(self.around[number].map_or(margin, |known: Margin| known.and(margin)));
            }
            _ => self.whole[number] = true,
        }
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
        // As long as the results, though its length alone is looked at.
        std::mem::take(&mut self.windows).into_iter().for_each(|operand| self.read(operand, POINT));
        self.agree();
        let is_window = |operand: &u16| self.around[usize::from(*operand)].is_some();
        self.counted |= self.lengths.iter().any(is_window);
        if self.wraps && self.ends {
            return Err(Uncut::Wrapped);
        }
        // Behind the last value of a scan stands its first one, which is not what comes next.
        if self.wraps && self.scans.values().any(|read| *read != Margin::NONE) {
            return Err(Uncut::Scanned);
        }
        let twice: Vec<u16> = (0..self.whole.len() as u16)
            .filter(|operand| is_window(operand) && self.whole[usize::from(*operand)])
            .collect();
        // What nothing reads is there all the same.
        let shares = self.around.into_iter().map(|margin| margin.map_or(Share::Whole, Share::Band));
        let shares = shares.chain(twice.iter().map(|_| Share::Whole)).collect();
        let scans = self.scans.into_iter().map(|(scan, read)| (scan, read.before)).collect();
        let Walk { counted, wraps, scattered, reach, .. } = self;
        Ok(Found { shares, counted, wraps, scans, twice, scattered, reach })
    }

    /// Of operands that are equally long either all are as long as a window, or none; or all are there in both ways.
    fn agree(&mut self) {
        let of_dim = self.graph.equations.iter().filter(|equation| equation.dim == self.dim);
        let pairs: Vec<[u16; 2]> = of_dim
            .filter_map(|equation| match (equation.a, equation.b) {
                (Size::Operand(a, _), Size::Operand(b, _)) => Some([a, b]),
                _ => None,
            })
            .collect();
        let differs = |walk: &Self, [a, b]: [u16; 2]| {
            walk.around[usize::from(a)].is_some() != walk.around[usize::from(b)].is_some()
        };
        while let Some(pair) = pairs.iter().find(|pair| differs(self, **pair)) {
            for operand in *pair {
                self.read(operand, POINT);
                self.read(operand, Place::Anywhere);
            }
        }
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
