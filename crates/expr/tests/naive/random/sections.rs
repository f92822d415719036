//! Random graphs whose outputs have worlds of their own: other sizes, other dimensions, parts of one result.

use super::{Builder, Case, DIMS, Operand, Rng};
use crate::tensor::Layout;
use tilewright_expr::DType;
use tilewright_expr::Reduction;
use tilewright_expr::graph::{Graph, NodeId, Output, Size};

/// A case of several results, each a graph of its own beside the others.
pub fn sections(seed: u64) -> Case {
    let mut rng = Rng::new(seed ^ 0x5ec7_1045);
    let mut graph = Graph::default();
    DIMS.iter().for_each(|(id, name)| graph.name_dim(*id, name));
    let known = rng.chance(0.8);
    let mut made = Made { graph, operands: Vec::new(), outputs: Vec::new(), known };
    for _ in 0..rng.range(2, 5) {
        if rng.chance(0.4) { made.joined(&mut rng) } else { made.alone(&mut rng) }
    }
    Case { graph: made.graph, operands: made.operands, outputs: made.outputs, known }
}

/// What there is of a case.
struct Made {
    graph: Graph,
    operands: Vec<Operand>,
    outputs: Vec<Layout>,
    known: bool,
}

/// Dimensions with sizes; one may be long.
fn world(rng: &mut Rng, rank: usize) -> Vec<(u64, i64)> {
    let mut dims: Vec<u64> = DIMS.iter().map(|(id, _)| *id).collect();
    rng.shuffle(&mut dims);
    let mut world: Vec<(u64, i64)> = dims[..rank].iter().map(|d| (*d, rng.pick(&[1, 2, 3, 4, 5, 7, 8]))).collect();
    if let Some(last) = world.last_mut().filter(|_| rng.chance(0.7)) {
        last.1 = rng.pick(&[13, 16, 32, 37, 300]);
    }
    world
}

impl Made {
    /// A node of a random graph over a world; perhaps reduced.
    fn node(&mut self, rng: &mut Rng, world: &[(u64, i64)], reduces: bool) -> NodeId {
        let mut builder = Builder {
            rng,
            graph: std::mem::take(&mut self.graph),
            operands: std::mem::take(&mut self.operands),
            world: world.to_vec(),
            pool: Vec::new(),
            known: self.known,
            outside: false,
            reduces: false,
            pixels: 16,
        };
        for _ in 0..builder.rng.range(1, 3) {
            builder.leaf();
        }
        // Of nothing but scalars there is little to make.
        for _ in 0..if world.is_empty() { 0 } else { builder.rng.range(1, 5) } {
            builder.grow();
        }
        let mut node = builder.any();
        node = builder.sized(node);
        if reduces && let Some((dim, _)) = builder.graph.node(node).shape.last().copied() {
            node = builder.graph.reduce(builder.rng.pick(&Reduction::ALL), node, dim);
        }
        (self.graph, self.operands) = (builder.graph, builder.operands);
        node
    }

    /// A result of one expression.
    fn alone(&mut self, rng: &mut Rng) {
        let rank = rng.range(0, 4) as usize;
        let world = world(rng, rank);
        let reduces = rng.chance(0.4);
        let node = self.node(rng, &world, reduces);
        let mut dims: Vec<u64> = self.graph.node(node).shape.iter().map(|(d, _)| *d).collect();
        rng.shuffle(&mut dims);
        self.outputs.push(Layout::random(rng, dims.len()));
        self.graph.outputs.push(Output { node, dims: dims.into() });
    }

    /// A result of several, over all dimensions of a world, of which the parts may lack the first.
    fn joined(&mut self, rng: &mut Rng) {
        let rank = rng.range(1, 4) as usize;
        let mut world = world(rng, rank);
        let (along, dtype) = (world[0].0, rng.pick(&[DType::F32, DType::U8, DType::I16]));
        let mut parts = Vec::new();
        for _ in 0..rng.range(1, 5) {
            world[0].1 = rng.range(1, 6);
            let from = usize::from(rng.chance(0.4));
            let mut node = self.node(rng, &world[from..], false);
            node = self.graph.cast(node, dtype);
            for (dim, n) in &world[from..] {
                if self.graph.size_of(node, *dim) == Size::Any {
                    node = self.graph.repeat(node, *dim, *n);
                }
            }
            parts.push(node);
        }
        let mut dims: Vec<u64> = world.iter().map(|(d, _)| *d).collect();
        rng.shuffle(&mut dims);
        self.outputs.push(Layout::random(rng, dims.len()));
        self.graph.join(along, &parts, &dims);
    }
}
