//! Results that are not stored place by place: scatters, histograms, and stores under a condition.
//!
//! A *partial* output goes along the loops of what it stores, its *world*, and not along the result. Where a value goes is
//! computed: along the dimensions of [`Partial::places`] by expressions, along the others by the value's own coordinates. Values
//! that meet in a place become one by the [`Collision`]; each of those gives the same bits in whichever order they come, and
//! with what a place held before. What goes outside of the result, or has a false condition, is dropped.
//!
//! Dimensions of a result along which places are computed have a name of their own in plans and kernels ([`inner`]), since the
//! values may vary along one of the same name.

mod fill;
mod private;
mod resolve;

use crate::dtype::{DType, Scalar};
use crate::error::Error;
use crate::fold;
use crate::graph::{Binary, DimId, Graph, NodeId, Output, Size, Unary};
use crate::reduce::Reduction;
pub(crate) use fill::fills;
pub use private::Private;
pub(crate) use private::{SHORT, range};
pub(crate) use resolve::resolve;

/// What values that meet in one place of a result become, with each other and with what the place held before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collision {
    /// Their sum; integers wrap. Of integers alone: bits of floats would depend on the order.
    Sum,
    /// The smallest; NaN if one is, and `-0 < +0`.
    Min,
    /// The largest; NaN if one is, and `-0 < +0`.
    Max,
    /// The bits that all have.
    And,
    /// The bits that any has.
    Or,
    /// The bits that an odd number of them has.
    Xor,
    /// No two meet, and the value replaces what the place held: the caller vouches for it. The host finds out if it is not so.
    Unique,
}

impl Collision {
    /// Every collision.
    pub const ALL: [Collision; 7] = [
        Collision::Sum,
        Collision::Min,
        Collision::Max,
        Collision::And,
        Collision::Or,
        Collision::Xor,
        Collision::Unique,
    ];

    /// The operation on two values; `None` where a value replaces what is there.
    pub fn operation(self) -> Option<Binary> {
        Some(match self {
            Collision::Sum => Binary::Add,
            Collision::Min => Binary::Min,
            Collision::Max => Binary::Max,
            Collision::And => Binary::And,
            Collision::Or => Binary::Or,
            Collision::Xor => Binary::Xor,
            Collision::Unique => return None,
        })
    }

    /// Whether values of a type can meet like this: no sums of floats or conditions, no bits of floats.
    pub fn takes(self, dtype: DType) -> bool {
        match self {
            Collision::Sum => !dtype.is_float() && dtype != DType::Bool,
            Collision::Min | Collision::Max => dtype != DType::Bool,
            Collision::And | Collision::Or | Collision::Xor => !dtype.is_float(),
            Collision::Unique => true,
        }
    }

    /// The value that changes no other.
    pub(crate) fn identity(self, dtype: DType) -> Scalar {
        let zero = fold::cast(Scalar::of(0u8), dtype);
        match self {
            Collision::Min => Reduction::Min.identity(dtype),
            Collision::Max => Reduction::Max.identity(dtype),
            Collision::And => fold::unary(Unary::Not, zero),
            _ => zero,
        }
    }

    /// How it is written, in explanations and kernels.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Collision::Sum => "Sum",
            Collision::Min => "Min",
            Collision::Max => "Max",
            Collision::And => "And",
            Collision::Or => "Or",
            Collision::Xor => "Xor",
            Collision::Unique => "Unique",
        }
    }
}

/// What places of a result hold before anything is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Initial<T = Scalar> {
    /// This value.
    Filled(T),
    /// What the tensor that is given for the result holds; this value where the tensor is new.
    Held(T),
}

impl<T: Copy> Initial<T> {
    /// The value of a new tensor's places.
    pub fn value(self) -> T {
        match self {
            Initial::Filled(value) | Initial::Held(value) => value,
        }
    }

    /// The same of another type.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Initial<U> {
        match self {
            Initial::Filled(value) => Initial::Filled(f(value)),
            Initial::Held(value) => Initial::Held(f(value)),
        }
    }
}

/// A coordinate of a result that is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The dimension, as [`inner`] calls it.
    pub dim: DimId,
    /// The coordinate along it, `i32`.
    pub coord: NodeId,
    /// How long the result is along it.
    pub extent: i64,
}

/// How an output is stored whose places are not each stored once.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// The result's dimensions as its layout names them, outermost first.
    pub shown: Box<[DimId]>,
    /// The coordinates that are computed.
    pub places: Box<[Place]>,
    /// Where this is false nothing is stored.
    pub condition: Option<NodeId>,
    /// What values that meet become.
    pub collision: Collision,
    /// What is there before.
    pub initial: Initial,
    /// What values vary along: the loops.
    pub world: Box<[(DimId, Size)]>,
    /// A node that is the whole result, for sizes that no loop can have: boxes that differ.
    pub general: Option<NodeId>,
}

/// What is to be scattered where.
#[derive(Clone, Debug)]
pub struct Scattering {
    /// The values.
    pub value: NodeId,
    /// For each dimension of the result along which places are computed, the coordinate (`i32`) and its length.
    pub places: Vec<(DimId, NodeId, i64)>,
    /// What values that meet become.
    pub collision: Collision,
    /// What places hold before.
    pub initial: Initial,
}

/// A dimension of a result along which places are computed, as plans and kernels call it.
pub fn inner(dim: DimId) -> DimId {
    // Any one-to-one map that leads away from the hashes of names would do.
    dim.rotate_left(29) ^ 0x9e37_79b9_7f4a_7c15
}

impl Graph {
    /// Stores the values of a scattering as a result over `dims`: those along which places are computed, and those of the
    /// values' own that are kept. Along their other dimensions values meet.
    pub fn scatter(&mut self, scattering: &Scattering, dims: &[DimId]) {
        self.scattered(scattering, dims, None);
    }

    fn scattered(&mut self, scattering: &Scattering, dims: &[DimId], general: Option<NodeId>) {
        let Scattering { value, collision, initial, .. } = *scattering;
        for (dim, _, extent) in &scattering.places {
            self.legal(*dim, *extent, 1);
            self.name_dim(inner(*dim), self.dim_name(*dim));
        }
        let dtype = self.node(value).dtype;
        if !collision.takes(dtype) {
            self.fail(Error::Collision { collision: collision.name(), dtype });
        }
        let place =
            |(dim, coord, extent): &(DimId, NodeId, i64)| Place { dim: inner(*dim), coord: *coord, extent: *extent };
        let partial = Partial {
            shown: dims.into(),
            places: scattering.places.iter().map(place).collect(),
            condition: None,
            collision,
            initial,
            world: Box::default(),
            general,
        };
        self.store_partial(value, partial);
    }

    /// Stores `value` over `dims` where `condition` holds. Elsewhere the result keeps what it held, and is `initial` where it is
    /// new.
    pub fn store_where(&mut self, value: NodeId, condition: NodeId, initial: Scalar, dims: &[DimId]) {
        let partial = Partial {
            shown: dims.into(),
            places: Box::default(),
            condition: Some(condition),
            collision: Collision::Unique,
            initial: Initial::Held(initial),
            world: Box::default(),
            general: None,
        };
        self.store_partial(value, partial);
    }

    pub(crate) fn store_partial(&mut self, value: NodeId, mut partial: Partial) {
        let dim = |d: &DimId| if partial.places.iter().any(|p| p.dim == inner(*d)) { inner(*d) } else { *d };
        let dims: Box<[DimId]> = partial.shown.iter().map(dim).collect();
        let roots: Vec<NodeId> = partial.roots(value).collect();
        partial.world = self.union(&roots).into();
        self.outputs.push(Output { node: value, dims });
        self.partials.insert(self.outputs.len() - 1, partial);
    }

    /// Stores a node as a result over `dims`. A histogram is scattered, unless it reads boxes whose sizes may differ.
    pub(crate) fn store(&mut self, node: NodeId, dims: &[DimId]) {
        match self.histograms.get(&node).cloned() {
            Some(scattering) => self.scattered(&scattering, dims, Some(node)),
            None => self.outputs.push(Output { node, dims: dims.into() }),
        }
    }

    /// How an output is stored, if its places are not each stored once.
    pub fn partial(&self, output: usize) -> Option<&Partial> {
        self.partials.get(&output)
    }

    /// The nodes that an output is computed from.
    pub(crate) fn roots(&self, output: usize) -> Vec<NodeId> {
        let node = self.outputs[output].node;
        match self.partial(output) {
            Some(partial) => partial.roots(node).collect(),
            None => vec![node],
        }
    }

    /// The nodes that all outputs are computed from.
    pub(crate) fn all_roots(&self) -> Vec<NodeId> {
        (0..self.outputs.len()).flat_map(|output| self.roots(output)).collect()
    }

    /// The dimensions along which an output is computed: those of its result, or of its world.
    pub fn loops_of(&self, output: usize) -> Vec<DimId> {
        match self.partial(output) {
            Some(partial) => partial.world.iter().map(|(dim, _)| *dim).collect(),
            None => self.outputs[output].dims.to_vec(),
        }
    }

    /// The size of an output's result along one of its dimensions, or that of its world.
    pub(crate) fn output_size(&self, output: usize, dim: DimId) -> Size {
        let Some(partial) = self.partial(output) else { return self.size_of(self.outputs[output].node, dim) };
        match partial.places.iter().find(|p| p.dim == dim) {
            Some(place) => Size::Const(place.extent),
            None => partial.world.iter().find(|(d, _)| *d == dim).map_or(Size::Any, |(_, size)| *size),
        }
    }

    /// Stores an output of another graph, of nodes that are here.
    pub(crate) fn store_moved(&mut self, of: &Graph, output: usize, to: impl Fn(NodeId) -> NodeId) {
        let (number, Output { node, dims }) = (self.outputs.len(), of.outputs[output].clone());
        self.outputs.push(Output { node: to(node), dims });
        let Some(partial) = of.partial(output) else { return };
        let mut partial = partial.moved(to);
        let roots: Vec<NodeId> = partial.roots(self.outputs[number].node).collect();
        partial.world = self.union(&roots).into();
        self.partials.insert(number, partial);
    }

    /// The same graph for results that have their first values already, as an evaluation before left them: those of all calls meet.
    pub fn held(&self) -> Graph {
        let mut held = self.clone();
        held.partials.values_mut().for_each(|partial| partial.initial = Initial::Held(partial.initial.value()));
        held
    }

    /// The same graph for new tensors, if that is another one: nothing is held before.
    pub fn fresh(&self) -> Option<Graph> {
        if !self.partials.values().any(|p| matches!(p.initial, Initial::Held(_))) {
            return None;
        }
        let mut fresh = self.clone();
        for (output, partial) in &self.partials {
            let Initial::Held(initial) = partial.initial else { continue };
            match partial.condition {
                // A place that nothing is stored in is stored all the same.
                Some(condition) if partial.places.is_empty() => {
                    let initial = fresh.constant(initial);
                    let node = self.outputs[*output].node;
                    fresh.outputs[*output].node = fresh.select(condition, node, initial);
                    fresh.partials.remove(output);
                }
                _ => {
                    fresh.partials.insert(*output, Partial { initial: Initial::Filled(initial), ..partial.clone() });
                }
            }
        }
        Some(fresh)
    }
}

impl Partial {
    fn roots(&self, value: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        [value].into_iter().chain(self.places.iter().map(|p| p.coord)).chain(self.condition)
    }

    /// A dimension of the result's layout as plans call it.
    pub(crate) fn inner_dim(&self, dim: DimId) -> DimId {
        if self.places.iter().any(|p| p.dim == inner(dim)) { inner(dim) } else { dim }
    }

    /// The node that the coordinate along a dimension is computed by, with the length, if it is computed.
    pub(crate) fn place(&self, dim: DimId) -> Option<Place> {
        self.places.iter().find(|p| p.dim == dim).copied()
    }

    /// The same with other nodes.
    pub(crate) fn moved(&self, f: impl Fn(NodeId) -> NodeId) -> Partial {
        let place = |p: &Place| Place { coord: f(p.coord), ..*p };
        Partial {
            places: self.places.iter().map(place).collect(),
            condition: self.condition.map(&f),
            general: None,
            ..self.clone()
        }
    }

    /// The values' own dimensions that the result has.
    pub(crate) fn keeps(&self, dim: DimId) -> bool {
        self.shown.contains(&dim) && self.places.iter().all(|p| p.dim != inner(dim))
    }
}
