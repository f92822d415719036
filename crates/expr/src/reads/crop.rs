//! Parts of a picture.

use super::borders::Border;
use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, Inside, NodeId, Note, Op, Size};

impl Graph {
    /// Component `component` of an expression of structs, which reads an operand, perhaps at other coordinates.
    pub(super) fn component(&mut self, of: NodeId, component: u8) -> NodeId {
        match self.node(of).op.clone() {
            Op::Input { operand, .. } => self.input(operand, component),
            Op::At { source, coords, sizes } => {
                let source = self.component(source, component);
                self.at(source, &coords, &sizes)
            }
            _ => of,
        }
    }

    fn operand_of(&self, node: NodeId) -> Option<u16> {
        match &self.node(node).op {
            Op::Input { operand, .. } => Some(*operand),
            Op::At { source, .. } => self.operand_of(*source),
            _ => None,
        }
    }

    /// `source` seen through boxes: the point (`y`, `x`) of a box is the point (`y + box.y`, `x + box.x`) of `source`.
    /// The result gains the boxes' dimensions; along `dim_y` and `dim_x` it is as long as each box.
    pub fn crop(&mut self, source: NodeId, dim_y: DimId, dim_x: DimId, rect: NodeId) -> NodeId {
        let (size_y, size_x) = (self.needed(source, dim_y, 1), self.needed(source, dim_x, 1));
        let Some(operand) = self.operand_of(rect) else { return source };
        self.note(Note::Inside(Inside { boxes: operand, picture: Some((size_y, size_x)) }));
        let (x, width) = self.span(rect, operand, 0, 2, size_x);
        let (y, height) = self.span(rect, operand, 1, 3, size_y);
        let (from_y, from_x) = (self.from(dim_y, y), self.from(dim_x, x));
        let sizes = [(dim_y, Size::Node(height)), (dim_x, Size::Node(width))];
        let crop = self.at(source, &[(dim_y, from_y), (dim_x, from_x)], &sizes);
        self.called("crop", &[source], crop)
    }

    /// As [`Graph::crop`], for boxes that may reach outside, where a border stands.
    pub fn crop_border(
        &mut self,
        source: NodeId,
        dim_y: DimId,
        dim_x: DimId,
        rect: NodeId,
        border: Border<NodeId>,
    ) -> NodeId {
        let Some(operand) = self.operand_of(rect) else { return source };
        self.note(Note::Inside(Inside { boxes: operand, picture: None }));
        let (one, most) = (self.int(1), self.int(i32::MAX));
        let length = |g: &mut Self, component: u8| {
            let value = g.component(rect, component);
            g.push(Op::Guard { value, low: one, high: most, operand: Some(operand) }, DType::I32)
        };
        let (width, height) = (length(self, 2), length(self, 3));
        let (x, y) = (self.component(rect, 0), self.component(rect, 1));
        let (from_y, from_x) = (self.from(dim_y, y), self.from(dim_x, x));
        let sizes = [(dim_y, Size::Node(height)), (dim_x, Size::Node(width))];
        self.at_border(source, &[(dim_y, from_y), (dim_x, from_x)], &sizes, border)
    }

    /// `length` indices of `dim` from `first` on. They have to lie inside.
    pub fn slice(&mut self, source: NodeId, dim: DimId, first: i64, length: i64) -> NodeId {
        if !self.legal(dim, length, 1)
            || !self.legal(dim, first, 0)
            || !self.legal(dim, first.saturating_add(length), 1)
        {
            return source;
        }
        let start = self.int(first as i32);
        let from = self.from(dim, start);
        let sizes = [(dim, Size::Const(length))];
        match self.needed(source, dim, 1) {
            Size::Node(_) => self.gather(source, &[(dim, from)], &sizes),
            size => {
                self.note(Note::Order(dim, size, first as i32, (first + length - 1) as i32));
                self.at(source, &[(dim, from)], &sizes)
            }
        }
    }

    /// The coordinate along `dim`, counted from `first`.
    fn from(&mut self, dim: DimId, first: NodeId) -> NodeId {
        let at = self.index(dim);
        self.binary(Binary::Add, at, first)
    }

    /// First coordinate and length of a box along one dimension, guarded to lie in `0..size`.
    fn span(&mut self, rect: NodeId, operand: u16, first: u8, length: u8, size: Size) -> (NodeId, NodeId) {
        let (first, length) = (self.component(rect, first), self.component(rect, length));
        let (zero, one, extent) = (self.int(0), self.int(1), self.extent(size));
        let last = self.last(extent);
        let operand = Some(operand);
        let first = self.push(Op::Guard { value: first, low: zero, high: last, operand }, DType::I32);
        let room = self.binary(Binary::Sub, extent, first);
        let length = self.push(Op::Guard { value: length, low: one, high: room, operand }, DType::I32);
        (first, length)
    }
}
