//! Where a band reads an operand that is as long as something else, or read elsewhere: the image of the band.
//!
//! A slice is read so many indices away, a pad too, something reversed from its end. For index `i` of the results that is a place from
//! `i + low` to `i + high`, or from `-i + low` to `-i + high`; so a band has an *image* in the operand, as long as the band and a margin. An operand
//! that is read at several places that are far from one another has several images, each an operand of its own.
//!
//! The expression stays that of the whole: coordinates, lengths and borders are the whole's, and only what is read of an operand is counted from the
//! begin of its window, which may stand anywhere as long as the image is in it. So windows are equally long, and none ends where something else does.

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
}

impl Image {
    /// Where a window of an operand of this length begins that a band reads.
    pub fn begin(&self, band: Range<i64>, window: i64, length: i64) -> i64 {
        let first = match self.step {
            1 => band.start + self.low,
            -1 => self.low - (band.end - 1),
            _ => self.low,
        };
        first.clamp(0, (length - window).max(0))
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
    reaches: &'a Reaches<'a>,
    chosen: &'a Chosen,
    made: Graph,
    /// For each operand that is an image, where its window begins and how long all of it is.
    told: BTreeMap<u16, [NodeId; 2]>,
}

impl Graph {
    /// How results are computed in bands along `dim`, of operands whose lengths are known, each read where it is needed: sliced, padded, reversed, under
    /// another name. What is read at computed places, or needed all at once, is there whole.
    pub fn cut_images(&self, dim: DimId, length: impl Fn(u16, DimId) -> i64) -> Result<Passes, Uncut> {
        let extent = self.length_of_results(dim, &length)?;
        let nodes: Vec<NodeId> = self.outputs.iter().map(|output| output.node).collect();
        let (mut made, mut passes, band) = self.images((dim, extent), &nodes, &length)?;
        for (output, node) in self.outputs.iter().zip(band) {
            made.outputs.push(Output { node, ..output.clone() });
        }
        made.joins = self.joins.clone();
        passes.cut.graph = Some(made);
        Ok(passes)
    }

    /// How long results are, all of which are equally long.
    fn length_of_results(&self, dim: DimId, length: &dyn Fn(u16, DimId) -> i64) -> Result<i64, Uncut> {
        let mut extent = None;
        for (result, joined) in self.results().iter().enumerate() {
            if joined.outputs.clone().any(|output| self.partial(output).is_some()) {
                return Err(Uncut::Scattered { result });
            }
            if joined.along == Some(dim) {
                return Err(Uncut::Joined { result });
            }
            if !joined.dims.contains(&dim) {
                return Err(Uncut::Lacking { result });
            }
            for output in joined.outputs.clone() {
                let here = Reaches::new(self, 0, length).size(self.output_size(output, dim)).ok_or(Uncut::Length)?;
                if *extent.get_or_insert(here) != here {
                    return Err(Uncut::Length);
                }
            }
        }
        extent.ok_or(Uncut::Length)
    }

    /// Some nodes at the indices of a band along `dim`, which is so long; without results yet.
    pub(super) fn images(
        &self,
        (dim, extent): (DimId, i64),
        nodes: &[NodeId],
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<(Graph, Passes, Vec<NodeId>), Uncut> {
        let reaches = Reaches::new(self, extent, length);
        let root: Context = [(dim, Reach::POINT)].into();
        let needed = reaches.needed(nodes.iter().map(|node| (*node, root.clone())));
        let chosen = Chosen::of(&reaches, &needed)?;
        let mut building =
            Building { graph: self, reaches: &reaches, chosen: &chosen, made: Graph::default(), told: BTreeMap::new() };
        let made = &mut building.made;
        self.names().iter().for_each(|(dim, name)| made.name_dim(*dim, name));
        for (operand, share) in chosen.kept.iter().zip(&chosen.shares) {
            let spec = &self.operands[usize::from(*operand)];
            let dims = match share {
                Share::Image(image) => spec.dims.iter().map(|of| image.renamed(dim, *of)).collect(),
                _ => spec.dims.clone(),
            };
            made.operand(OperandSpec { dims, ..spec.clone() });
        }
        // As long as a band.
        let ruler = made.operand(OperandSpec { dtype: DType::U8, components: 1, dims: [dim].into() });
        let begin = made.told_one();
        for (number, _) in chosen.images() {
            building.told.insert(number, building.made.told());
        }
        let band = building.run(dim, (&needed, nodes, &root), (ruler, begin));
        let mut made = building.made;
        // Lengths agree as those of the whole do.
        made.equations.clear();
        let images = chosen.images().count();
        let widest = chosen.images().map(|(_, image)| image.width()).max().unwrap_or(0);
        let Chosen { kept, shares } = chosen;
        let (margin, numbers) = (Margin { before: 0, after: widest }, Numbers::Places { images });
        let cut = Cut { dim, length: Some(extent), shares, margin, wraps: false, graph: None, numbers };
        Ok((made, Passes { cut, kept, totals: None }, band))
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
    fn read_in(&self, operand: u16, read: Option<(DimId, Reach)>) -> Option<(u16, &Share)> {
        self.of_operand(operand).find(|(_, share)| match (share, read) {
            (Share::Image(image), Some((along, reach))) => {
                (image.along, image.step) == (along, reach.step) && image.low <= reach.low && reach.high <= image.high
            }
            (Share::Image(_), None) => false,
            _ => true,
        })
    }
}

/// Images of reads along the same dimension in the same direction.
fn merged(along: DimId, mut reads: Vec<Reach>, extent: i64) -> Vec<Image> {
    reads.sort_unstable_by_key(|reach| (reach.low, reach.high));
    let mut images: Vec<Image> = Vec::new();
    for Reach { step, low, high, .. } in reads {
        match images.last_mut() {
            Some(last) if low <= last.high + 1 || high - last.low <= extent / PART => last.high = last.high.max(high),
            _ => images.push(Image { along, step, low, high }),
        }
    }
    images
}

impl Building<'_> {
    /// All that is needed, and then some nodes of it at the indices of a band.
    fn run(
        &mut self,
        dim: DimId,
        (needed, nodes, root): (&BTreeSet<(NodeId, Context)>, &[NodeId], &Context),
        (ruler, begin): (u16, NodeId),
    ) -> Vec<NodeId> {
        let mut moved: BTreeMap<(NodeId, Context), NodeId> = BTreeMap::new();
        // What a node is made from has a lower number.
        for (node, context) in needed {
            let here = self.graph.node(*node);
            let there = match &here.op {
                Op::Input { operand, component } => self.read(dim, (*operand, *component), context),
                Op::Extent(Size::Operand(operand, of)) => self.extent(dim, *operand, *of),
                op => {
                    let inside = self.reaches.contexts(*node, context);
                    let numbers: Vec<NodeId> =
                        arguments(op).zip(inside).map(|(argument, inside)| moved[&(argument, inside)]).collect();
                    let op = self.sized(dim, with_arguments(op, &numbers));
                    self.made.push(op, here.dtype)
                }
            };
            moved.insert((*node, context.clone()), there);
        }
        let made = &mut self.made;
        let index = made.index(dim);
        let place = made.binary(Binary::Add, index, begin);
        let sizes = [(dim, Size::Operand(ruler, dim))];
        let at_band = |node: &NodeId| {
            let there = moved[&(*node, self.reaches.seen_by(*node, root))];
            made.at(there, &[(dim, place)], &sizes)
        };
        nodes.iter().map(at_band).collect()
    }

    /// An operand, at a place of the whole.
    fn read(&mut self, dim: DimId, (operand, component): (u16, u8), context: &Context) -> NodeId {
        let found = self.chosen.read_in(operand, self.reaches.read(operand, context));
        let (number, share) = found.unwrap_or((0, &Share::Whole));
        let made = &mut self.made;
        let input = made.input(number, component);
        let Share::Image(image) = share else { return input };
        let [begin, _] = self.told[&number];
        let (index, window) = (made.index(image.along), made.extent(Size::Operand(number, dim)));
        let within = made.binary(Binary::Sub, index, begin);
        // What nobody wants may be read anywhere in the window.
        let within = made.inside_of(within, window);
        let mut coords = vec![(dim, within)];
        if image.along != dim && self.graph.operands[usize::from(operand)].dims.contains(&dim) {
            coords.push((image.along, made.index(dim)));
        }
        made.at(input, &coords, &[])
    }

    /// The length of all of an operand along a dimension.
    fn extent(&mut self, dim: DimId, operand: u16, of: DimId) -> NodeId {
        if let Some(size) = self.size(dim, operand, of) {
            return self.made.extent(size);
        }
        match self.chosen.of_operand(operand).find_map(|(number, _)| self.told.get(&number)) {
            Some([_, length]) => *length,
            None => self.made.extent(Size::Const((self.reaches.length)(operand, of))),
        }
    }

    /// A dimension that an operand has all of.
    fn size(&self, dim: DimId, operand: u16, of: DimId) -> Option<Size> {
        self.chosen.of_operand(operand).find_map(|(number, share)| match share {
            Share::Image(image) if image.along == of => None,
            Share::Image(image) => Some(Size::Operand(number, image.renamed(dim, of))),
            _ => Some(Size::Operand(number, of)),
        })
    }

    /// An operation of lengths that are there. That of the dimension that is cut is said for the results.
    fn sized(&self, dim: DimId, mut op: Op) -> Op {
        let sized = |size: &mut Size, of: DimId| {
            if let Size::Operand(operand, along) = *size {
                let here = self.size(dim, operand, along);
                let known = || if of == dim { Size::Any } else { Size::Const((self.reaches.length)(operand, along)) };
                *size = here.unwrap_or_else(known);
            }
        };
        match &mut op {
            Op::Reduce { size, .. } => sized(size, 0),
            Op::At { sizes, .. } => sizes.iter_mut().for_each(|(of, size)| sized(size, *of)),
            _ => {}
        }
        op
    }
}
