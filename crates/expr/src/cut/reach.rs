//! How far away from an index of the results things are read: of coordinates, as far as they follow from that index.

use super::offset::arguments;
use crate::graph::{Binary, DimId, Graph, NodeId, Op, Size, Unary};
use std::collections::{BTreeMap, BTreeSet};

/// What coordinates are where a node is read; those that are not named may be anything.
pub(super) type Context = BTreeMap<DimId, Reach>;

/// Coordinates of one that is computed from another one are looked through so far.
const DEEP: usize = 64;

/// Where a whole number lies for index `i` of the results, or for one that a border repeats: from `step * i + low` to `step * i + high`, and then brought
/// inside of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reach {
    pub(super) step: i64,
    pub(super) low: i64,
    pub(super) high: i64,
    /// What is less is raised to this.
    floor: Option<i64>,
    /// What is more then is lowered to this.
    ceiling: Option<i64>,
    /// Whether it is the index itself, which is counted from the begin of the band.
    pub(super) is_own: bool,
    /// What it follows from instead of the index, where a border repeats that.
    pub(super) repeated: Option<Repeated>,
}

/// An index in `0..length` that is, for index `i` of the results, from `step * i + low` to `step * i + high`, and whole lengths more or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Repeated {
    length: i64,
    step: i64,
    low: i64,
    high: i64,
}

impl Reach {
    /// The index itself.
    pub(super) const OWN: Reach =
        Reach { step: 1, low: 0, high: 0, floor: None, ceiling: None, is_own: true, repeated: None };

    fn of(step: i64, [low, high]: [i64; 2]) -> Reach {
        Reach { step, low, high, is_own: false, ..Reach::OWN }
    }

    /// The same of what something else follows from too; a number follows from nothing.
    fn following(self, repeated: Option<Repeated>) -> Reach {
        Reach { repeated: repeated.filter(|_| self.step != 0), ..self }
    }

    fn number(n: i64) -> Reach {
        Reach::of(0, [n, n])
    }

    fn exact(self) -> Option<i64> {
        (self.step == 0 && self.low == self.high && self.floor.is_none() && self.ceiling.is_none()).then_some(self.low)
    }

    /// The least and the most of `step * i`, of so many indices of the results.
    fn steps(self, extent: i64) -> [i64; 2] {
        let extent = self.repeated.map_or(extent, |index| index.length);
        let last = self.step * (extent - 1).max(0);
        [last.min(0), last.max(0)]
    }

    /// The same without limits: it reaches as far as what they bring there.
    pub(super) fn settled(self, extent: i64) -> Reach {
        let [least, most] = self.steps(extent);
        let mut reach = Reach { floor: None, ceiling: None, ..self };
        if let Some(floor) = self.floor.filter(|floor| least + self.low < *floor) {
            reach.high = reach.high.max(floor - least);
        }
        if let Some(ceiling) = self.ceiling.filter(|ceiling| most + self.high > *ceiling) {
            reach.low = reach.low.min(ceiling - most);
        }
        reach
    }

    /// Counted backwards from `start` in the periods beside `0..period`, farther than which it does not reach.
    fn mirrored(self, [period, start]: [i64; 2], extent: i64) -> Option<Reach> {
        let [least, most] = self.steps(extent);
        let (first, last) = (least + self.low, most + self.high);
        if first < -period || last >= 2 * period {
            return None;
        }
        let mut reach = self;
        if first < 0 {
            reach.high = reach.high.max(start - period - self.low - 2 * least);
        }
        if last >= period {
            reach.low = reach.low.min(start + period - self.high - 2 * most);
        }
        Some(reach)
    }

    /// Repeated with a period: itself where it is inside all the same, else an index that others follow from.
    fn repeated(self, period: i64, extent: i64) -> Option<Reach> {
        let [least, most] = self.steps(extent);
        if least + self.low >= 0 && most + self.high < period {
            return Some(self);
        }
        let Reach { step, low, high, .. } = self.unrolled(period).filter(|index| index.step != 0)?;
        Some(Reach::of(1, [0, 0]).following(Some(Repeated { length: period, step, low, high })))
    }

    /// The same for index `i` of the results, whole lengths of what a border repeats more or less: `None` where another length is repeated.
    fn unrolled(self, length: i64) -> Option<Reach> {
        let Some(index) = self.repeated else { return Some(self) };
        let ends = [self.step * index.low, self.step * index.high];
        let (low, high) = (self.low + ends[0].min(ends[1]), self.high + ends[0].max(ends[1]));
        (index.length == length).then_some(Reach { step: self.step * index.step, low, high, ..self })
    }
}

/// What is known of coordinates in an expression, where results are so long and lengths of operands are known.
pub(super) struct Reaches<'a> {
    pub(super) graph: &'a Graph,
    pub(super) extent: i64,
    pub(super) length: &'a dyn Fn(u16, DimId) -> i64,
    /// Whether windows of an operand along a dimension may go on at the other end.
    pub(super) goes_on: &'a dyn Fn(u16, DimId) -> bool,
}

impl<'a> Reaches<'a> {
    /// Of windows that end where operands do.
    pub(super) fn new(graph: &'a Graph, extent: i64, length: &'a dyn Fn(u16, DimId) -> i64) -> Reaches<'a> {
        Reaches { graph, extent, length, goes_on: &|_, _| false }
    }

    /// All that some nodes are made from, and how each is read.
    pub(super) fn needed(&self, nodes: impl Iterator<Item = (NodeId, Context)>) -> BTreeSet<(NodeId, Context)> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<_> = nodes.map(|(node, context)| (node, self.seen_by(node, &context))).collect();
        while let Some((node, context)) = open.pop() {
            if needed.contains(&(node, context.clone())) {
                continue;
            }
            open.extend(arguments(&self.graph.node(node).op).zip(self.contexts(node, &context)));
            needed.insert((node, context));
        }
        needed
    }

    /// How the arguments of a node are read, in the order of [`Op::for_each_arg`].
    pub(super) fn contexts(&self, node: NodeId, context: &Context) -> Vec<Context> {
        let op = &self.graph.node(node).op;
        let mut source = context.clone();
        match op {
            Op::At { coords, .. } => {
                for (dim, coord) in coords {
                    match self.of(*coord, context, DEEP) {
                        Some(reach) => _ = source.insert(*dim, Reach { is_own: false, ..reach }),
                        None => _ = source.remove(dim),
                    }
                }
            }
            Op::Reduce { dim, .. } | Op::Scan { dim, .. } => _ = source.remove(dim),
            _ => {}
        }
        let first = arguments(op).next().map(|argument| self.seen_by(argument, &source));
        let others = arguments(op).skip(1).map(|argument| self.seen_by(argument, context));
        first.into_iter().chain(others).collect()
    }

    /// What a node can see of a context.
    pub(super) fn seen_by(&self, node: NodeId, context: &Context) -> Context {
        let shape = &self.graph.node(node).shape;
        context.iter().filter(|(dim, _)| shape.iter().any(|(of, _)| of == *dim)).map(|(dim, it)| (*dim, *it)).collect()
    }

    /// Where an operand is read along the dimension along which that follows from the index, by a window that may end where the operand does, or by one that
    /// goes on at the other end.
    pub(super) fn read(&self, operand: u16, context: &Context) -> Option<(DimId, Reach)> {
        let dims = &self.graph.operands[usize::from(operand)].dims;
        let length = |dim: DimId| (self.length)(operand, dim);
        let reaches = || dims.iter().filter_map(|dim| Some((*dim, *context.get(dim)?)));
        let ends = || reaches().filter(|(_, reach)| reach.repeated.is_none());
        let goes_on = |(dim, reach): (DimId, Reach)| {
            let unrolled = reach.settled(self.extent).unrolled(length(dim))?;
            (reach.repeated.is_some() && (self.goes_on)(operand, dim)).then_some((dim, unrolled))
        };
        let followed = ends().find(|(_, reach)| reach.step != 0).or_else(|| reaches().find_map(goes_on));
        let (dim, reach) = followed.or_else(|| ends().next())?;
        // A window has what is inside.
        let last = length(dim) - 1;
        let is_inside = reach.floor.is_none_or(|floor| floor == 0) && reach.ceiling.is_none_or(|end| end == last);
        Some((dim, if is_inside { reach } else { reach.settled(self.extent) }))
    }

    /// A length, where it is known.
    pub(super) fn size(&self, size: Size) -> Option<i64> {
        match size {
            Size::Any => None,
            Size::Const(n) => Some(n),
            Size::Operand(operand, dim) => Some((self.length)(operand, dim)),
            Size::Node(node) => self.of(node, &Context::new(), DEEP)?.exact(),
        }
    }

    /// Where the value of a node lies.
    fn of(&self, node: NodeId, context: &Context, deep: usize) -> Option<Reach> {
        let deep = deep.checked_sub(1)?;
        let of = |node: NodeId| Some(self.of(node, context, deep)?.settled(self.extent));
        let number = |node: NodeId| of(node)?.exact();
        if let Some([coord, period]) = self.repeated(node) {
            return of(coord)?.repeated(number(period)?, self.extent);
        }
        if let Some([coord, period, start]) = self.mirrored(node) {
            return of(coord)?.mirrored([number(period)?, number(start)?], self.extent);
        }
        let reach = match self.graph.node(node).op {
            Op::Const(value) => Reach::number(value.as_i64()?),
            Op::Index(dim) => *context.get(&dim)?,
            Op::Extent(size) => Reach::number(self.size(size)?),
            Op::Guard { value, .. } => self.of(value, context, deep)?,
            Op::Unary(Unary::Neg, a) => times(of(a)?, -1)?,
            Op::Binary(Binary::Add, a, b) => sum(of(a)?, of(b)?)?,
            Op::Binary(Binary::Sub, a, b) => sum(of(a)?, times(of(b)?, -1)?)?,
            Op::Binary(Binary::Mul, a, b) => match number(b) {
                Some(by) => times(of(a)?, by)?,
                None => times(of(b)?, number(a)?)?,
            },
            Op::Binary(Binary::Div, a, b) => Reach::number(number(a)?.checked_div(number(b)?)?),
            Op::Binary(Binary::Max, a, b) => {
                let (coord, floor) = if let Some(n) = number(b) { (a, n) } else { (b, number(a)?) };
                let reach = self.of(coord, context, deep)?;
                let reach =
                    if reach.floor.is_some() || reach.ceiling.is_some() { reach.settled(self.extent) } else { reach };
                Reach { floor: Some(floor), ..reach }
            }
            Op::Binary(Binary::Min, a, b) => {
                let (coord, ceiling) = if let Some(n) = number(b) { (a, n) } else { (b, number(a)?) };
                let reach = self.of(coord, context, deep)?;
                let reach = if reach.ceiling.is_some() { reach.settled(self.extent) } else { reach };
                Reach { ceiling: Some(ceiling), ..reach }
            }
            Op::Select(_, a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                let both = Reach::of(a.step, [a.low.min(b.low), a.high.max(b.high)]).following(a.repeated);
                (a.step == b.step && a.repeated == b.repeated).then_some(both)?
            }
            _ => return None,
        };
        // Numbers of 32 bits wrap where these do not.
        let [least, most] = reach.steps(self.extent);
        let fits = |n: i64| i32::try_from(n).is_ok();
        (fits(least.saturating_add(reach.low)) && fits(most.saturating_add(reach.high))).then_some(reach)
    }

    /// The coordinate and the period of what is left of a division rounded down, as a border that repeats has it.
    fn repeated(&self, node: NodeId) -> Option<[NodeId; 2]> {
        let op = |node: NodeId| &self.graph.node(node).op;
        let &Op::Select(below, above, rest) = op(node) else { return None };
        let &Op::Binary(Binary::Sub, coord, whole) = op(rest) else { return None };
        let &Op::Binary(Binary::Mul, runs, period) = op(whole) else { return None };
        let is_rest = *op(runs) == Op::Binary(Binary::Div, coord, period)
            && *op(above) == Op::Binary(Binary::Add, rest, period)
            && matches!(*op(below), Op::Binary(Binary::Lt, of, _) if of == rest);
        is_rest.then_some([coord, period])
    }

    /// The coordinate, the period and where the other direction starts of what runs forwards and backwards in turns, as a border that mirrors has it.
    fn mirrored(&self, node: NodeId) -> Option<[NodeId; 3]> {
        let op = |node: NodeId| &self.graph.node(node).op;
        let &Op::Select(_, back, rest) = op(node) else { return None };
        let &Op::Binary(Binary::Sub, start, of) = op(back) else { return None };
        let [coord, period] = self.repeated(rest).filter(|_| of == rest)?;
        Some([coord, period, start])
    }
}

fn sum(a: Reach, b: Reach) -> Option<Reach> {
    let step = a.step + b.step;
    // Two that follow from different indices follow from none.
    let is_one = a.step == 0 || b.step == 0 || a.repeated == b.repeated;
    let both = Reach::of(step, [a.low.saturating_add(b.low), a.high.saturating_add(b.high)]);
    (is_one && (-1..=1).contains(&step)).then_some(both.following(a.repeated.or(b.repeated)))
}

fn times(a: Reach, by: i64) -> Option<Reach> {
    let step = a.step.checked_mul(by).filter(|step| (-1..=1).contains(step))?;
    let (low, high) = (a.low.checked_mul(by)?, a.high.checked_mul(by)?);
    Some(Reach::of(step, [low.min(high), low.max(high)]).following(a.repeated))
}
