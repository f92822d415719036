//! Seeded randomness: numbers, values that include the awkward ones, and whole graphs.

mod reads;
mod sections;

use crate::tensor::{Layout, Tensor};
pub use sections::sections;
use tilewright_expr::bind::Place;
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::{Binary, Graph, NodeId, OperandSpec, Output, Size, Unary};
use tilewright_expr::{DType, Rect, Reduction};

/// SplitMix64.
#[derive(Clone)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// 64 bits. As an iterator it would be unwrapped at each place.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `0..1`.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In `low..high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low) as u64) as i64
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.range(0, from.len() as i64) as usize]
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.range(0, i as i64 + 1) as usize);
        }
    }

    /// A value of any type: mostly ordinary, some at the ends of the range, some special.
    pub fn bits(&mut self, dtype: DType) -> u64 {
        let mask = u64::MAX >> (64 - 8 * dtype.size());
        let special = self.chance(0.1);
        match dtype {
            DType::Bool => self.next() & 1,
            DType::F16 | DType::BF16 if special => self.next() & mask,
            DType::F16 | DType::BF16 => crate::naive::round_to_half(dtype, self.float(special)).bits(dtype),
            DType::F32 => u64::from((self.float(special) as f32).to_bits()),
            DType::F64 => self.float(special).to_bits(),
            _ if special => {
                let top = 1u64 << (8 * dtype.size() - 1);
                self.pick(&[0, 1, mask, top, top - 1, 2]) & mask
            }
            _ if self.chance(0.5) => (self.range(-20, 20) as u64) & mask,
            _ => self.next() & mask,
        }
    }

    fn float(&mut self, special: bool) -> f64 {
        if special {
            let tiny = f64::from(f32::from_bits(self.range(1, 1 << 23) as u32));
            let edges = [
                0.0,
                -0.0,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                3e38,
                -3e38,
                tiny,
                -tiny,
                0.5,
                1.5,
                -2.5,
                255.5,
            ];
            return self.pick(&edges);
        }
        match self.range(0, 4) {
            0 => self.range(-300, 300) as f64,
            1 => self.range(-40, 40) as f64 / 2.0,
            2 => (self.unit() - 0.5) * 2.0,
            _ => (self.unit() - 0.5) * 10f64.powi(self.range(-3, 12) as i32),
        }
    }

    /// A tensor of these dimensions with random values.
    pub fn tensor(&mut self, dtype: DType, dims: &[u64], shape: &[i64]) -> Tensor {
        let count: i64 = shape.iter().product();
        let bits = (0..count).map(|_| self.bits(dtype)).collect();
        Tensor { dtype, components: 1, dims: dims.to_vec(), shape: shape.to_vec(), bits }
    }

    /// A box inside `height` x `width`.
    pub fn inside(&mut self, height: i64, width: i64) -> Rect {
        let (w, h) = (self.range(1, width + 1), self.range(1, height + 1));
        let (x, y) = (self.range(0, width - w + 1), self.range(0, height - h + 1));
        Rect::new(x as i32, y as i32, w as i32, h as i32)
    }
}

/// An operand of a random graph.
pub struct Operand {
    pub tensor: Tensor,
    pub layout: Layout,
    pub place: Place,
}

/// A random graph with everything that it is run on.
pub struct Case {
    pub graph: Graph,
    pub operands: Vec<Operand>,
    pub outputs: Vec<Layout>,
    /// Whether boxes are looked at on the host; else the kernel guards them.
    pub known: bool,
}

/// Ids whose order is not that of the names.
const DIMS: [(u64, &str); 6] = [(0x71, "N"), (0x13, "Y"), (0x55, "X"), (0x22, "C"), (0x90, "K"), (0x08, "two words")];

/// Builds a case: leaves first, each brought to the sizes that all nodes of the pool share, then operations on them.
struct Builder<'a> {
    rng: &'a mut Rng,
    graph: Graph,
    operands: Vec<Operand>,
    /// The world: dimensions with their sizes.
    world: Vec<(u64, i64)>,
    /// Nodes whose dimensions have the world's sizes.
    pool: Vec<NodeId>,
    known: bool,
    outside: bool,
    /// Whether there may be reductions: rows take nothing over from each other then.
    reduces: bool,
    /// How many pixels a read of a read of a read takes, at most.
    pixels: u32,
}

pub fn case(seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let rank = rng.pick(&[1, 2, 2, 3, 3, 3, 4]);
    let mut dims: Vec<u64> = DIMS.iter().map(|(id, _)| *id).collect();
    rng.shuffle(&mut dims);
    let mut world: Vec<(u64, i64)> = dims[..rank].iter().map(|d| (*d, rng.pick(&[1, 2, 3, 4, 5, 7, 8]))).collect();
    let long = rng.range(0, rank as i64) as usize;
    world[long].1 = rng.pick(&[11, 13, 16, 17, 32, 37, 41]);
    if rng.chance(0.3) {
        world.last_mut().expect("a dimension").1 = rng.range(2, 9);
    }
    let known = rng.chance(0.6);
    let outside = !known && rng.chance(0.7);
    let reduces = rng.chance(0.35);
    let mut graph = Graph::default();
    DIMS.iter().for_each(|(id, name)| graph.name_dim(*id, name));
    let mut b = Builder {
        rng: &mut rng,
        graph,
        operands: Vec::new(),
        world,
        pool: Vec::new(),
        known,
        outside,
        reduces,
        pixels: 1,
    };
    for _ in 0..b.rng.range(1, 4) {
        b.leaf();
    }
    for _ in 0..b.rng.range(2, 12) {
        b.grow();
    }
    b.finish()
}

impl Builder<'_> {
    fn extent(&self, dim: u64) -> i64 {
        self.world.iter().find(|(d, _)| *d == dim).expect("a dimension of the world").1
    }

    fn dtype(&mut self) -> DType {
        if self.rng.chance(0.4) { self.rng.pick(&[DType::F32, DType::U8]) } else { self.rng.pick(&DType::ALL) }
    }

    fn operand(&mut self, tensor: Tensor) -> u16 {
        let rank = tensor.dims.len();
        let bytes = tensor.bits.len() * tensor.dtype.size();
        // What travels with a launch is packed, in any order of its axes.
        let host = bytes <= 2000 && self.rng.chance(0.35);
        let mut layout = Layout::random(self.rng, rank);
        if host || tensor.components == 4 && self.rng.chance(0.7) {
            layout = Layout { order: layout.order, ..Layout::dense(rank) };
        }
        let spec =
            OperandSpec { dtype: tensor.dtype, components: tensor.components as u8, dims: tensor.dims.clone().into() };
        let place = if host { Place::Host } else { Place::Device };
        self.operands.push(Operand { tensor, layout, place });
        self.graph.operand(spec)
    }

    fn subset(&mut self) -> Vec<(u64, i64)> {
        let mut dims = self.world.clone();
        self.rng.shuffle(&mut dims);
        let keep = self.rng.range(0, dims.len() as i64 + 1) as usize;
        if self.rng.chance(0.5) { dims } else { dims[..keep].to_vec() }
    }

    fn plain(&mut self, dims: &[(u64, i64)]) -> NodeId {
        let dtype = self.dtype();
        let (ids, shape): (Vec<u64>, Vec<i64>) = dims.iter().copied().unzip();
        let tensor = self.rng.tensor(dtype, &ids, &shape);
        let number = self.operand(tensor);
        self.graph.input(number, 0)
    }

    fn leaf(&mut self) {
        let node = match self.rng.range(0, 10) {
            0..=3 => {
                let dims = self.subset();
                self.plain(&dims)
            }
            4..=7 => self.picture(),
            8 => self.renamed(),
            _ => self.reordered(),
        };
        self.pool.push(node);
    }

    /// A picture of other sizes, brought to the world's by crops and resizes.
    fn picture(&mut self) -> NodeId {
        let mut dims = self.subset();
        if dims.len() < 2 {
            return self.plain(&dims);
        }
        let (y, x) = (dims[0], dims[1]);
        let sizes = [2, 3, 5, 8, 9, 16, 19];
        let (mut height, mut width) = (self.rng.pick(&sizes), self.rng.pick(&sizes));
        (dims[0].1, dims[1].1) = (height, width);
        self.rng.shuffle(&mut dims);
        let mut node = self.plain(&dims);
        if self.graph.node(node).dtype == DType::Bool {
            node = self.graph.cast(node, DType::U8);
        }
        let mut cropped = false;
        let times = self.rng.pick(&[0, 1, 1, 1, 2]);
        for _ in 0..times {
            if !cropped && self.rng.chance(0.2) {
                (height, width) = (self.rng.range(1, 12), self.rng.range(1, 12));
                node = self.resize(node, (y.0, height), (x.0, width));
            }
            // After the first crop the boxes' sizes are values of the kernel's: boxes within it are of size 1 here or guarded.
            node = if cropped { self.crop(node, y.0, x.0, (1, 1)) } else { self.crop(node, y.0, x.0, (height, width)) };
            cropped = true;
        }
        node = match self.rng.range(0, 12) {
            0 => self.fitted(node, (y.0, y.1), (x.0, x.1)),
            1 => self.warped(node, (y.0, y.1), (x.0, x.1)),
            _ => self.resize(node, (y.0, y.1), (x.0, x.1)),
        };
        self.rounded(node)
    }

    fn resize(&mut self, node: NodeId, y: (u64, i64), x: (u64, i64)) -> NodeId {
        let sampling = self.sampling();
        let resized = self.graph.resize(node, y, x, sampling);
        self.rounded(resized)
    }

    /// Sometimes back to a narrow type, as pictures are.
    fn rounded(&mut self, node: NodeId) -> NodeId {
        if self.rng.chance(0.2) { self.graph.cast(node, DType::U8) } else { node }
    }

    fn crop(&mut self, node: NodeId, y: u64, x: u64, (height, width): (i64, i64)) -> NodeId {
        let others: Vec<(u64, i64)> = self.world.iter().filter(|(d, _)| *d != y && *d != x).copied().collect();
        let keep = self.rng.range(0, (others.len() as i64 + 1).min(3)) as usize;
        let (ids, shape): (Vec<u64>, Vec<i64>) = others[..keep].iter().copied().unzip();
        let count: i64 = shape.iter().product();
        let mut boxes: Vec<Rect> = (0..count).map(|_| self.rng.inside(height, width)).collect();
        if self.outside {
            let wild = [-3, 0, 2, 40, i32::MAX, i32::MIN];
            for b in &mut boxes {
                if self.rng.chance(0.3) {
                    let [x, y, w, h] = [(); 4].map(|()| self.rng.pick(&wild));
                    *b = Rect::new(x, y, w, h);
                }
            }
        }
        let number = self.operand(Tensor::boxes(&ids, &shape, &boxes));
        let rect = self.graph.input(number, 0);
        if self.rng.chance(0.2) {
            let border = self.border(self.graph.node(node).dtype);
            return self.graph.crop_border(node, y, x, rect, border);
        }
        self.graph.crop(node, y, x, rect)
    }

    /// An operand over a dimension that the world calls something else.
    fn renamed(&mut self) -> NodeId {
        let mut dims = self.subset();
        let free = DIMS.iter().map(|(d, _)| *d).find(|d| self.world.iter().all(|(w, _)| w != d));
        let (Some((name, _)), Some(free)) = (dims.first().copied(), free) else { return self.plain(&dims) };
        dims[0].0 = free;
        self.rng.shuffle(&mut dims);
        let node = self.plain(&dims);
        self.graph.rename(node, free, name)
    }

    /// An operand some of whose indices are read in an order of the world's length.
    fn reordered(&mut self) -> NodeId {
        let mut dims = self.subset();
        let Some(at) = dims.iter().position(|(_, n)| *n <= 8) else { return self.plain(&dims) };
        let (dim, n) = dims[at];
        let length = self.rng.range(1, 9);
        dims[at].1 = length;
        let node = self.plain(&dims);
        let order: Vec<i32> = (0..n).map(|_| self.rng.range(0, length) as i32).collect();
        self.graph.reorder(node, dim, &order)
    }

    fn any(&mut self) -> NodeId {
        self.rng.pick(&self.pool.clone())
    }

    fn like(&mut self, node: NodeId) -> NodeId {
        let dtype = self.graph.node(node).dtype;
        if self.rng.chance(0.25) {
            let bits = self.rng.bits(dtype);
            return self.graph.constant(Scalar { dtype, bits });
        }
        let other = self.any();
        self.graph.cast(other, dtype)
    }

    /// One more node.
    fn grow(&mut self) {
        let a = self.any();
        let dtype = self.graph.node(a).dtype;
        let node = match self.rng.range(0, 21) {
            0..=5 => {
                let b = self.like(a);
                let op = self.binary(dtype);
                if self.rng.chance(0.2) { self.graph.binary(op, b, a) } else { self.graph.binary(op, a, b) }
            }
            // A product that feeds a sum.
            6 | 7 if dtype.is_float() => {
                let (b, c) = (self.like(a), self.like(a));
                let p = self.graph.binary(Binary::Mul, a, b);
                let op = self.rng.pick(&[Binary::Add, Binary::Sub]);
                if self.rng.chance(0.5) { self.graph.binary(op, p, c) } else { self.graph.binary(op, c, p) }
            }
            // Quotients that share a divisor.
            8 if dtype == DType::F32 => {
                let (b, c) = (self.like(a), self.like(a));
                let (p, q) = (self.graph.binary(Binary::Div, a, c), self.graph.binary(Binary::Div, b, c));
                self.graph.binary(Binary::Max, p, q)
            }
            6..=8 => {
                let op = self.unary(dtype);
                self.graph.unary(op, a)
            }
            9 => {
                let to = self.dtype();
                self.graph.cast(a, to)
            }
            10 => {
                let (x, y) = (self.any(), self.like(a));
                let x = self.graph.cast(x, DType::F32);
                let y32 = self.like(x);
                let c = self.graph.binary(Binary::Lt, x, y32);
                self.graph.select(c, a, y)
            }
            11 if dtype.is_float() => {
                if self.rng.chance(0.3) {
                    self.graph.exp(a)
                } else {
                    let (b, c) = (self.like(a), self.like(a));
                    self.graph.fma(a, b, c)
                }
            }
            12 => self.moved(a, false),
            16 if self.reduces => self.reduced(a),
            17 if self.reduces => self.window(a),
            18 if self.reduces => self.again(a),
            13 => self.moved(a, true),
            14 => {
                let (dim, _) = self.rng.pick(&self.world.clone());
                let index = self.graph.index(dim);
                let index = self.sized(index);
                let to = self.dtype();
                self.graph.cast(index, to)
            }
            15 | 19 | 20 => self.read(a),
            _ => {
                let op = self.unary(dtype);
                self.graph.unary(op, a)
            }
        };
        self.pool.push(node);
    }

    /// A node read backwards, or at coordinates that are computed.
    fn moved(&mut self, a: NodeId, gather: bool) -> NodeId {
        let shape = self.graph.node(a).shape.clone();
        if shape.is_empty() {
            return a;
        }
        let (dim, _) = self.rng.pick(&shape);
        if !gather {
            return self.graph.reverse(a, dim);
        }
        let from = self.any();
        let from = self.graph.cast(from, DType::I32);
        let (zero, last) = (Scalar::of(0i32), Scalar::of(self.extent(dim) as i32 - 1));
        let (zero, last) = (self.graph.constant(zero), self.graph.constant(last));
        let from = self.graph.binary(Binary::Max, from, zero);
        let from = self.graph.binary(Binary::Min, from, last);
        self.graph.at(a, &[(dim, from)], &[])
    }

    /// A node without one of its dimensions, or scanned along one.
    fn reduced(&mut self, a: NodeId) -> NodeId {
        let shape = self.graph.node(a).shape.clone();
        if shape.is_empty() {
            return a;
        }
        let (dim, _) = self.rng.pick(&shape);
        let a = self.sized(a);
        let reduction = self.rng.pick(&Reduction::ALL);
        match self.rng.range(0, 4) {
            0 => self.graph.arg(Reduction::Max, a, dim),
            1 => {
                let b = self.like(a);
                let product = self.graph.binary(Binary::Mul, a, b);
                let product = self.sized(product);
                self.graph.reduce(Reduction::Sum, product, dim)
            }
            2 => self.graph.scan(reduction, a, dim),
            _ => self.graph.reduce(reduction, a, dim),
        }
    }

    /// The sum of as many values from the start of a dimension as another node says.
    fn window(&mut self, a: NodeId) -> NodeId {
        let shape = self.graph.node(a).shape.clone();
        if shape.is_empty() {
            return a;
        }
        let (dim, _) = self.rng.pick(&shape);
        let count = self.any();
        let count = self.graph.cast(count, DType::I32);
        // A box that no step of an empty loop needs may be reported all the same.
        let (least, last) = (Scalar::of(i32::from(self.outside)), Scalar::of(self.extent(dim) as i32));
        let (least, last) = (self.graph.constant(least), self.graph.constant(last));
        let count = self.graph.binary(Binary::Max, count, least);
        let count = self.graph.binary(Binary::Min, count, last);
        self.graph.reduce_to(Reduction::Sum, a, dim, Size::Node(count))
    }

    /// A step with another node, several times.
    fn again(&mut self, a: NodeId) -> NodeId {
        let a = self.sized(a);
        let dims: Vec<u64> = self.graph.node(a).shape.iter().map(|(d, _)| *d).collect();
        let within = |g: &Graph, n: NodeId| g.node(n).shape.iter().all(|(d, _)| dims.contains(d));
        let dtype = self.graph.node(a).dtype;
        let carry = self.graph.carry(a, self.rng.pick(&[1, 2, 5, 20]));
        let with = self.like(a);
        let with = if within(&self.graph, with) { with } else { a };
        let op = self.binary(dtype);
        let next = self.graph.binary(op, carry, with);
        let next = self.graph.cast(next, dtype);
        let op = self.unary(dtype);
        let next = if self.rng.chance(0.5) { self.graph.unary(op, next) } else { next };
        self.graph.iterated(a, carry, next)
    }

    fn binary(&mut self, dtype: DType) -> Binary {
        use Binary::*;
        let numbers = [Add, Sub, Mul, Div, Rem, Min, Max, Lt, Le, Gt, Ge, Eq, Ne];
        let integers = [Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr, Lt, Eq];
        if dtype.is_float() { self.rng.pick(&numbers) } else { self.rng.pick(&integers) }
    }

    fn unary(&mut self, dtype: DType) -> Unary {
        use Unary::*;
        if dtype.is_float() {
            self.rng.pick(&[Neg, Abs, Sqrt, Floor, Ceil, Trunc, Round])
        } else {
            self.rng.pick(&[Neg, Abs, Not, CountOnes, LeadingZeros])
        }
    }

    /// The node with every size known.
    fn sized(&mut self, node: NodeId) -> NodeId {
        let open: Vec<(u64, Size)> =
            self.graph.node(node).shape.iter().filter(|(_, s)| *s == Size::Any).copied().collect();
        let sizes: Vec<(u64, Size)> = open.iter().map(|(d, _)| (*d, Size::Const(self.extent(*d)))).collect();
        if sizes.is_empty() { node } else { self.graph.at(node, &[], &sizes) }
    }

    fn finish(mut self) -> Case {
        let count = self.rng.pick(&[1, 1, 1, 2, 2, 3]);
        let mut outputs = Vec::new();
        for i in 0..count {
            let node = if i == 0 { *self.pool.last().expect("leaves") } else { self.any() };
            let node = self.sized(node);
            let mut dims: Vec<u64> = self.graph.node(node).shape.iter().map(|(d, _)| *d).collect();
            self.rng.shuffle(&mut dims);
            outputs.push(Layout::random(self.rng, dims.len()));
            self.graph.outputs.push(Output { node, dims: dims.into() });
        }
        Case { graph: self.graph, operands: self.operands, outputs, known: self.known }
    }
}
