//! Where a band reads an operand that is as long as something else, or read elsewhere: the image of the band.
//!
//! A slice is read so many indices away, a pad too, something reversed from its end. For index `i` of the results that is a place from
//! `i + low` to `i + high`, or from `-i + low` to `-i + high`; so a band has an *image* in the operand, as long as the band and a margin. An operand
//! that is read at several places that are far from one another has several images, each an operand of its own.
//!
//! What a border repeats has an image too, whose windows go on at the other end of the operand: a place is as many indices behind the first one as it takes
//! to get there on the way around. They serve what else is read there as well, by a border that repeats nothing.
//!
//! The expression stays that of the whole: coordinates, lengths and borders are the whole's. Only the indices of the results are counted from the begin of
//! the band, and what is read of an operand from that of its window, which may stand anywhere as long as the image is in it. So windows are equally long,
//! and none ends where something else does.

use super::offset::{arguments, with_arguments};
use super::reach::{Context, Reach, Reaches};
use super::{Cut, Numbers, Passes, Share, Uncut};
use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, NodeId, Op, OperandSpec, Output, Size};
use crate::stage::Margin;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A margin up to this part of the dimension is brought rather than an image of its own.
const PART: i64 = 16;

/// What a band reads of an operand along one of its dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The dimension of the operand. In [`Cut::graph`] it has the name of the one that is cut, and that one, if the operand has it, has its name.
    pub along: DimId,
    /// How many indices farther the next index of the results is read: 1, -1 where the operand is read backwards, 0 where it is always read there.
    pub step: i64,
    /// The first place that index 0 of the results is read from; it may lie outside.
    pub low: i64,
    /// The last one.
    pub high: i64,
    /// Whether what lies outside is the other end: windows go on there.
    pub wraps: bool,
}

impl Image {
    /// Where a window of an operand of this length begins that a band reads. Those that go on begin inside.
    pub fn begin(&self, band: Range<i64>, window: i64, length: i64) -> i64 {
        let first = match self.step {
            1 => band.start + self.low,
            -1 => self.low - (band.end - 1),
            _ => self.low,
        };
        if self.wraps { first.rem_euclid(length.max(1)) } else { first.clamp(0, (length - window).max(0)) }
    }

    /// Another name for a dimension of the operand where this one is cut.
    pub fn renamed(&self, cut: DimId, dim: DimId) -> DimId {
        match dim {
            dim if dim == self.along => cut,
            dim if dim == cut => self.along,
            dim => dim,
        }
    }

    fn width(&self) -> i64 {
        self.high - self.low
    }
}

/// Which operands there are: of the expression's ones, all of each or an image.
struct Chosen {
    kept: Vec<u16>,
    shares: Vec<Share>,
}

struct Building<'a> {
    graph: &'a Graph,
    dim: DimId,
    reaches: &'a Reaches<'a>,
    chosen: &'a Chosen,
    made: Graph,
    /// As long as a band.
    ruler: Size,
    /// Where the band begins.
    begin: NodeId,
    /// For each operand that is an image, where its window begins and how long all of it is.
    told: BTreeMap<u16, [NodeId; 2]>,
}

impl Graph {
    /// How results are computed in bands along `dim`, of operands whose lengths are known, each read where it is needed: sliced, padded, reversed, under
    /// another name. What is read at computed places, or needed all at once, is there whole, and so is what a border repeats, unless windows of it may go on at
    /// its other end.
    pub fn cut_images(
        &self,
        dim: DimId,
        length: impl Fn(u16, DimId) -> i64,
        goes_on: impl Fn(u16, DimId) -> bool,
    ) -> Result<Passes, Uncut> {
        let scattered = self.is_scattered(dim)?;
        let extent = self.length_of_results(dim, &length)?;
        let nodes = self.all_roots();
        let reaches = Reaches { goes_on: &goes_on, ..Reaches::new(self, extent, &length) };
        let (mut made, mut passes, band) = self.images(dim, &nodes, &reaches)?;
        let of_band: BTreeMap<NodeId, NodeId> = nodes.into_iter().zip(band).collect();
        (0..self.outputs.len()).for_each(|output| made.store_moved(self, output, |node| of_band[&node]));
        made.joins = self.joins.clone();
        (passes.cut.scattered, passes.cut.graph) = (scattered, Some(made));
        Ok(passes)
    }

    /// What a band of operands comes to for each of some reductions along `dim` of equally many values: a result, which lacks the dimension.
    pub(super) fn parts_of_images(&self, dim: DimId, found: &[NodeId], reaches: &Reaches<'_>) -> Result<Passes, Uncut> {
        let reduced = |node: &NodeId| self.reduced(*node).ok_or(Uncut::Length);
        let of = found.iter().map(reduced).collect::<Result<Vec<_>, _>>()?;
        let sources: Vec<NodeId> = of.iter().map(|(_, source, _)| *source).collect();
        let (mut made, mut passes, band) = self.images(dim, &sources, reaches)?;
        for ((node, (reduction, ..)), source) in found.iter().zip(of).zip(band) {
            let size = made.size_of(source, dim);
            let node_of_band = made.push(Op::Reduce { reduction, source, dim, size }, self.node(*node).dtype);
            made.outputs.push(Output { node: node_of_band, dims: self.dims_without(dim, *node).into() });
        }
        passes.cut.graph = Some(made);
        Ok(passes)
    }

    /// How many values a node reduces.
    pub(super) fn reduced_length(&self, node: NodeId, length: &dyn Fn(u16, DimId) -> i64) -> Option<i64> {
        let (.., size) = self.reduced(node)?;
        Reaches::new(self, 0, length).size(size)
    }

    /// How long results are, or what is scattered into them, all of which are equally long.
    fn length_of_results(&self, dim: DimId, length: &dyn Fn(u16, DimId) -> i64) -> Result<i64, Uncut> {
        let mut extent = None;
        for output in 0..self.outputs.len() {
            let here = Reaches::new(self, 0, length).size(self.output_size(output, dim)).ok_or(Uncut::Length)?;
            if *extent.get_or_insert(here) != here {
                return Err(Uncut::Length);
            }
        }
        extent.ok_or(Uncut::Length)
    }

    /// Some nodes at the indices of a band along `dim`; without results yet.
    fn images(
        &self,
        dim: DimId,
        nodes: &[NodeId],
        reaches: &Reaches<'_>,
    ) -> Result<(Graph, Passes, Vec<NodeId>), Uncut> {
        let root: Context = [(dim, Reach::OWN)].into();
        let needed = reaches.needed(nodes.iter().map(|node| (*node, root.clone())));
        let chosen = Chosen::of(reaches, &needed)?;
        let mut made = Graph::default();
        self.names().iter().for_each(|(dim, name)| made.name_dim(*dim, name));
        for (operand, share) in chosen.kept.iter().zip(&chosen.shares) {
            let spec = &self.operands[usize::from(*operand)];
            let dims = match share {
                Share::Image(image) => spec.dims.iter().map(|of| image.renamed(dim, *of)).collect(),
                _ => spec.dims.clone(),
            };
            made.operand(OperandSpec { dims, ..spec.clone() });
        }
        let ruler = made.operand(OperandSpec { dtype: DType::U8, components: 1, dims: [dim].into() });
        let (ruler, begin) = (Size::Operand(ruler, dim), made.told_one());
        let told = chosen.images().map(|(number, _)| (number, made.told())).collect();
        let mut building = Building { graph: self, dim, reaches, chosen: &chosen, made, ruler, begin, told };
        let band = building.run(&needed, nodes, &root);
        let mut made = building.made;
        // Lengths agree as those of the whole do.
        made.equations.clear();
        let images = chosen.images().count();
        let widest = chosen.images().map(|(_, image)| image.width()).max().unwrap_or(0);
        let Chosen { kept, shares } = chosen;
        let (margin, numbers) = (Margin { before: 0, after: widest }, Numbers::Places { images });
        let (length, wraps, scattered) = (Some(reaches.extent), false, false);
        let cut = Cut { dim, length, shares, margin, wraps, scattered, graph: None, numbers };
        Ok((made, Passes { cut, kept, totals: Vec::new() }, band))
    }

    /// A number more that an expression is told.
    fn told_one(&mut self) -> NodeId {
        let number = self.operand(OperandSpec { dtype: DType::I32, components: 1, dims: [].into() });
        self.input(number, 0)
    }
}

impl Chosen {
    /// All of an operand where some of its reads may be anywhere, or it is short; else its images.
    fn of(reaches: &Reaches<'_>, needed: &BTreeSet<(NodeId, Context)>) -> Result<Chosen, Uncut> {
        let mut reads: BTreeMap<u16, BTreeMap<(DimId, i64), Vec<Reach>>> = BTreeMap::new();
        let mut whole = BTreeSet::new();
        for (node, context) in needed {
            let Op::Input { operand, .. } = reaches.graph.node(*node).op else { continue };
            match reaches.read(operand, context) {
                Some((along, reach)) => {
                    reads.entry(operand).or_default().entry((along, reach.step)).or_default().push(reach);
                }
                None => _ = whole.insert(operand),
            }
        }
        let images = |reads: &BTreeMap<(DimId, i64), Vec<Reach>>| -> Vec<Image> {
            let merged = reads.iter().flat_map(|((along, _), reads)| merged(*along, reads.clone(), reaches.extent));
            merged.collect()
        };
        let mut images: BTreeMap<u16, Vec<Image>> = reads
            .iter()
            .filter(|(operand, _)| !whole.contains(operand))
            .map(|(of, reads)| (*of, images(reads)))
            .collect();
        loop {
            let widest = images.values().flatten().map(Image::width).max().ok_or(Uncut::Length)?;
            let is_short = |(operand, images): (&u16, &Vec<Image>)| {
                let shortest = images.iter().map(|image| (reaches.length)(*operand, image.along)).min();
                shortest.filter(|length| *length <= widest || *length < reaches.extent / PART).map(|_| *operand)
            };
            let Some(short) = images.iter().find_map(is_short) else { break };
            images.remove(&short);
            whole.insert(short);
        }
        let (mut kept, mut shares) = (Vec::new(), Vec::new());
        for operand in 0..reaches.graph.operands.len() as u16 {
            let of = images.get(&operand).into_iter().flatten().map(|image| Share::Image(*image));
            let of: Vec<Share> = of.chain(whole.contains(&operand).then_some(Share::Whole)).collect();
            kept.extend(of.iter().map(|_| operand));
            shares.extend(of);
        }
        Ok(Chosen { kept, shares })
    }

    fn images(&self) -> impl Iterator<Item = (u16, &Image)> {
        (0..).zip(&self.shares).filter_map(|(number, share)| match share {
            Share::Image(image) => Some((number, image)),
            _ => None,
        })
    }

    fn of_operand(&self, operand: u16) -> impl Iterator<Item = (u16, &Share)> {
        (0..).zip(&self.shares).filter(move |(number, _)| self.kept[usize::from(*number)] == operand)
    }

    /// The operand in which a read is.
    fn read_in(&self, operand: u16, read: Option<(DimId, Reach)>, extent: i64) -> Option<(u16, &Share)> {
        self.of_operand(operand).find(|(_, share)| match (share, read) {
            (Share::Image(image), Some((along, reach))) => {
                let reach = if image.wraps { reach.settled(extent) } else { reach };
                (image.along, image.step) == (along, reach.step) && image.low <= reach.low && reach.high <= image.high
            }
            (Share::Image(_), None) => false,
            _ => true,
        })
    }
}

/// Images of reads along the same dimension in the same direction.
fn merged(along: DimId, mut reads: Vec<Reach>, extent: i64) -> Vec<Image> {
    let wraps = reads.iter().any(|reach| reach.repeated.is_some());
    if wraps {
        // Windows that go on do not end where limits are.
        reads.iter_mut().for_each(|reach| *reach = reach.settled(extent));
    }
    reads.sort_unstable_by_key(|reach| (reach.low, reach.high));
    let mut images: Vec<Image> = Vec::new();
    for Reach { step, low, high, .. } in reads {
        match images.last_mut() {
            Some(last) if low <= last.high + 1 || high - last.low <= extent / PART => last.high = last.high.max(high),
            _ => images.push(Image { along, step, low, high, wraps }),
        }
    }
    images
}

impl Building<'_> {
    /// All that is needed; then some nodes of it, as long as a band.
    fn run(&mut self, needed: &BTreeSet<(NodeId, Context)>, nodes: &[NodeId], root: &Context) -> Vec<NodeId> {
        let mut moved: BTreeMap<(NodeId, Context), NodeId> = BTreeMap::new();
        // What a node is made from has a lower number.
        for (node, context) in needed {
            let here = self.graph.node(*node);
            let is_own = context.get(&self.dim).is_some_and(|reach| reach.is_own);
            let there = match &here.op {
                Op::Input { operand, component } => self.read((*operand, *component), context, is_own),
                Op::Index(dim) => self.place(*dim, is_own && *dim == self.dim),
                Op::Extent(Size::Operand(operand, of)) => self.extent(*operand, *of),
                op => {
                    let inside = self.reaches.contexts(*node, context);
                    let numbers: Vec<NodeId> =
                        arguments(op).zip(inside).map(|(argument, inside)| moved[&(argument, inside)]).collect();
                    let op = self.sized(with_arguments(op, &numbers), is_own);
                    self.made.push(op, here.dtype)
                }
            };
            moved.insert((*node, context.clone()), there);
        }
        let mut of_band = Vec::new();
        for node in nodes {
            let there = moved[&(*node, self.reaches.seen_by(*node, root))];
            let is_sized = self.made.size_of(there, self.dim) == self.ruler;
            of_band.push(if is_sized { there } else { self.made.at(there, &[], &[(self.dim, self.ruler)]) });
        }
        of_band
    }

    /// A coordinate of the whole; the results' own ones are counted from the begin of the band.
    fn place(&mut self, dim: DimId, is_own: bool) -> NodeId {
        let index = self.made.index(dim);
        if is_own { self.made.binary(Binary::Add, index, self.begin) } else { index }
    }

    /// An operand at a place of the whole.
    fn read(&mut self, (operand, component): (u16, u8), context: &Context, is_own: bool) -> NodeId {
        let found = self.chosen.read_in(operand, self.reaches.read(operand, context), self.reaches.extent);
        let (number, share) = found.unwrap_or((0, &Share::Whole));
        let input = self.made.input(number, component);
        let sizes = [(self.dim, self.ruler)];
        let sizes = if is_own { &sizes[..] } else { &[] };
        let Share::Image(image) = share else {
            let place = self.place(self.dim, is_own);
            return if is_own { self.made.at(input, &[(self.dim, place)], sizes) } else { input };
        };
        let place = self.place(image.along, is_own && image.along == self.dim);
        let (window, [begin, length]) = (self.made.extent(Size::Operand(number, self.dim)), self.told[&number]);
        let within = self.made.binary(Binary::Sub, place, begin);
        let within = if image.wraps { self.made.periods(within, length).1 } else { within };
        // What nobody wants may be read anywhere in the window.
        let mut coords = vec![(self.dim, self.made.inside_of(within, window))];
        if image.along != self.dim && self.graph.operands[usize::from(operand)].dims.contains(&self.dim) {
            coords.push((image.along, self.place(self.dim, is_own)));
        }
        self.made.at(input, &coords, sizes)
    }

    /// The length of all of an operand along a dimension.
    fn extent(&mut self, operand: u16, of: DimId) -> NodeId {
        if let Some(size) = self.size(operand, of) {
            return self.made.extent(size);
        }
        match self.chosen.of_operand(operand).find_map(|(number, _)| self.told.get(&number)) {
            Some([_, length]) => *length,
            None => self.made.extent(Size::Const((self.reaches.length)(operand, of))),
        }
    }

    /// The length of a dimension that an operand has all of.
    fn size(&self, operand: u16, of: DimId) -> Option<Size> {
        self.chosen.of_operand(operand).find_map(|(number, share)| match share {
            Share::Image(image) if image.along == of => None,
            Share::Image(image) => Some(Size::Operand(number, image.renamed(self.dim, of))),
            _ => Some(Size::Operand(number, of)),
        })
    }

    /// An operation of lengths that are there. What is read for the results' own indices is as long as a band.
    fn sized(&self, mut op: Op, is_own: bool) -> Op {
        let known = |size: &mut Size| {
            if let Size::Operand(operand, of) = *size {
                let length = || Size::Const((self.reaches.length)(operand, of));
                *size = self.size(operand, of).unwrap_or_else(length);
            }
        };
        match &mut op {
            Op::Reduce { size, .. } => known(size),
            Op::At { sizes, .. } => {
                for (of, size) in sizes.iter_mut() {
                    match is_own && *of == self.dim {
                        true => *size = self.ruler,
                        false => known(size),
                    }
                }
            }
            _ => {}
        }
        op
    }
}
