//! Reductions: all values along a dimension become one.
//!
//! A reduction is one node for each dimension. In which order values are taken is the plan's to say, the same on every machine:
//! one after the other where a thread reduces by itself, in the tree of [`crate::collective::Tree`] where threads share the work.

use crate::dtype::{DType, Scalar};
use crate::fold;
use crate::graph::{Binary, DimId, Graph, NodeId, Op, Output, Size};

/// How values become one. Every reduction of floats that meets a NaN gives NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum; 0 of nothing. Products that are summed are not rounded before: each is one fused multiply-add.
    Sum,
    /// The product; 1 of nothing.
    Product,
    /// The smallest; the largest value of the type (infinity) of nothing.
    Min,
    /// The largest; the smallest value of the type (-infinity) of nothing.
    Max,
}

impl Reduction {
    /// Every reduction.
    pub const ALL: [Reduction; 4] = [Reduction::Sum, Reduction::Product, Reduction::Min, Reduction::Max];

    /// The operation on two values. On `bool` a sum and a maximum are "any", a product and a minimum "all".
    pub fn operation(self) -> Binary {
        match self {
            Reduction::Sum => Binary::Add,
            Reduction::Product => Binary::Mul,
            Reduction::Min => Binary::Min,
            Reduction::Max => Binary::Max,
        }
    }

    /// The value that changes no other, with which every reduction starts.
    pub fn identity(self, dtype: DType) -> Scalar {
        if dtype == DType::Bool {
            return Scalar::of(matches!(self, Reduction::Product | Reduction::Min));
        }
        let number = |v: f64| fold::cast(Scalar::of(v), dtype);
        match self {
            Reduction::Sum => number(0.0),
            Reduction::Product => number(1.0),
            Reduction::Min => number(f64::INFINITY),
            Reduction::Max => number(f64::NEG_INFINITY),
        }
    }
}

impl Graph {
    /// All values of `source` along `dim`.
    pub fn reduce(&mut self, reduction: Reduction, source: NodeId, dim: DimId) -> NodeId {
        self.reduce_all(reduction, source, &[dim])
    }

    fn reduce_one(&mut self, reduction: Reduction, source: NodeId, dim: DimId) -> NodeId {
        let least = i64::from(matches!(reduction, Reduction::Min | Reduction::Max));
        let size = self.needed(source, dim, least);
        let dtype = self.node(source).dtype;
        self.push(Op::Reduce { reduction, source, dim, size }, dtype)
    }

    /// Halves are reduced in `f32`, and rounded when all is done.
    pub(crate) fn widened(&mut self, source: NodeId, f: impl FnOnce(&mut Graph, NodeId) -> NodeId) -> NodeId {
        let dtype = self.node(source).dtype;
        if !dtype.is_half() {
            return f(self, source);
        }
        let wide = self.cast(source, DType::F32);
        let result = f(self, wide);
        self.cast(result, dtype)
    }

    /// The values of `source` at indices `0..size` along `dim`. A size that is computed may be 0 or less: then there is nothing.
    pub fn reduce_to(&mut self, reduction: Reduction, source: NodeId, dim: DimId, size: Size) -> NodeId {
        self.widened(source, |g, wide| {
            let dtype = g.node(wide).dtype;
            g.push(Op::Reduce { reduction, source: wide, dim, size }, dtype)
        })
    }

    /// The graph of f32 sums of the only result, over all of its dimensions but the last, in the order that its tensor's sums have: what lies
    /// between need not be stored. Nothing where there are several results or places that are not each stored once, and where something
    /// is reduced or scanned already, which would share the threads.
    pub fn summed(&self) -> Option<Graph> {
        let shares = |op: &Op| matches!(op, Op::Reduce { .. } | Op::Scan { .. });
        let [output] = self.outputs.as_slice() else { return None };
        let (last, dims) = output.dims.split_last()?;
        if !self.partials.is_empty() || !self.joins.is_empty() || self.nodes().any(|node| shares(&node.op)) {
            return None;
        }
        let mut graph = self.clone();
        let wide = graph.cast(output.node, DType::F32);
        let node = graph.reduce_all(Reduction::Sum, wide, dims);
        graph.outputs = vec![Output { node, dims: [*last].into() }];
        graph.check().ok()?;
        Some(graph)
    }

    /// What a reduction of `source` takes at each step: a sum of products of floats takes both factors, and rounds once.
    pub(crate) fn terms(&self, reduction: Reduction, source: NodeId) -> (NodeId, Option<NodeId>) {
        match self.node(source).op {
            Op::Binary(Binary::Mul, a, b) if reduction == Reduction::Sum && self.node(source).dtype.is_float() => {
                (a, Some(b))
            }
            _ => (source, None),
        }
    }

    /// The number of values along `dims`, in the type `dtype`.
    pub(crate) fn count(&mut self, source: NodeId, dims: &[DimId], dtype: DType) -> NodeId {
        let mut count = self.constant(fold::cast(Scalar::of(1i32), dtype));
        for dim in dims {
            let size = self.needed(source, *dim, 0);
            let extent = self.extent(size);
            let extent = self.cast(extent, dtype);
            count = self.rounded(Binary::Mul, count, extent);
        }
        count
    }

    /// The index of the smallest (`reduction` is [`Reduction::Min`]) or largest value along `dim`, the first of equals; a NaN is
    /// smaller and larger than everything.
    ///
    /// Value and index travel as one integer whose order is that of the values, then that of the indices.
    pub fn arg(&mut self, reduction: Reduction, source: NodeId, dim: DimId) -> NodeId {
        let dtype = self.node(source).dtype;
        let index = self.index(dim);
        if dtype.size() == 8 {
            return self.arg_of_wide(reduction, source, dim);
        }
        let order = self.order_key(source);
        let largest = self.constant(Scalar::of(u32::MAX));
        let not_a_number = dtype.is_float().then(|| self.rounded(Binary::Ne, source, source));
        let order = match (reduction, not_a_number) {
            // The largest first: the order turned around.
            (Reduction::Max, None) => self.binary(Binary::Xor, order, largest),
            (Reduction::Max, Some(nan)) => {
                let turned = self.binary(Binary::Xor, order, largest);
                let first = self.constant(Scalar::of(0u32));
                self.select(nan, first, turned)
            }
            (_, Some(nan)) => {
                let first = self.constant(Scalar::of(0u32));
                self.select(nan, first, order)
            }
            (_, None) => order,
        };
        let (high, low) = (self.cast(order, DType::U64), self.cast(index, DType::U64));
        let shift = self.constant(Scalar::of(32u64));
        let high = self.binary(Binary::Shl, high, shift);
        let key = self.binary(Binary::Or, high, low);
        let first = self.reduce(Reduction::Min, key, dim);
        let mask = self.constant(Scalar::of(u64::from(u32::MAX)));
        let index = self.binary(Binary::And, first, mask);
        let index = self.cast(index, DType::I64);
        self.called("index of the extreme value", &[source], index)
    }

    /// Values of 8 bytes leave no room for the index: the extreme value first, then the first index that has it.
    fn arg_of_wide(&mut self, reduction: Reduction, source: NodeId, dim: DimId) -> NodeId {
        let extreme = self.reduce(reduction, source, dim);
        let mut found = self.rounded(Binary::Eq, source, extreme);
        if self.node(source).dtype.is_float() {
            let nan = self.rounded(Binary::Ne, source, source);
            found = self.binary(Binary::Or, found, nan);
        }
        let index = self.index(dim);
        let none = self.constant(Scalar::of(i32::MAX));
        let index = self.select(found, index, none);
        let first = self.reduce(Reduction::Min, index, dim);
        let index = self.cast(first, DType::I64);
        self.called("index of the extreme value", &[source], index)
    }

    /// A `u32` in the order of a value of up to 4 bytes: for floats as `total_cmp`, the two zeros being one.
    fn order_key(&mut self, value: NodeId) -> NodeId {
        let dtype = self.node(value).dtype;
        if !dtype.is_float() {
            let wide = self.cast(value, DType::I64);
            let bias = self.constant(Scalar::of(if dtype.is_signed() { 1i64 << 31 } else { 0 }));
            let shifted = self.binary(Binary::Add, wide, bias);
            return self.cast(shifted, DType::U32);
        }
        let single = self.cast(value, DType::F32);
        let zero = self.constant(Scalar::of(0.0f32));
        // -0 + 0 is 0.
        let single = self.rounded(Binary::Add, single, zero);
        let bits = self.push(Op::Bits(single), DType::I32);
        let shift = self.constant(Scalar::of(31i32));
        let sign = self.binary(Binary::Shr, bits, shift);
        let most = self.constant(Scalar::of(i32::MAX));
        let flip = self.binary(Binary::And, sign, most);
        let ordered = self.binary(Binary::Xor, bits, flip);
        self.order_key(ordered)
    }

    /// All values along several dimensions, the last of them innermost.
    pub fn reduce_all(&mut self, reduction: Reduction, source: NodeId, dims: &[DimId]) -> NodeId {
        self.widened(source, |g, wide| dims.iter().rev().fold(wide, |value, dim| g.reduce_one(reduction, value, *dim)))
    }
}
