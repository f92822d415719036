//! Reads at other coordinates in random graphs.

use super::Builder;
use crate::tensor::Tensor;
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::NodeId;
use tilewright_expr::{Aspect, Border, Centres, DType, Deinterlace, Edge, Filter, PlaneOrder, Sampling};

impl Builder<'_> {
    fn filter(&mut self) -> Filter {
        let others = [Filter::Nearest, Filter::Cubic, Filter::Area, Filter::Lanczos4];
        let filter = if self.rng.chance(0.75) { Filter::Linear } else { self.rng.pick(&others) };
        let pixels = match filter {
            Filter::Nearest => 1,
            Filter::Linear => 4,
            // Loops, of which a kernel has a hundred.
            Filter::Area => 128,
            Filter::Cubic => 16,
            Filter::Lanczos4 => 64,
        };
        if self.affordable(pixels) { filter } else { Filter::Nearest }
    }

    /// Whether one more read of as many pixels leaves a kernel of bearable length: reads of reads multiply.
    fn affordable(&mut self, pixels: u32) -> bool {
        let affordable = self.pixels * pixels <= 128;
        if affordable {
            self.pixels *= pixels;
        }
        affordable
    }

    pub(super) fn sampling(&mut self) -> Sampling {
        let centres = self.rng.pick(&[Centres::Half, Centres::Corner]);
        self.filter().at(centres)
    }

    fn literal(&mut self, dtype: DType) -> NodeId {
        let bits = self.rng.bits(dtype);
        self.graph.constant(Scalar { dtype, bits })
    }

    pub(super) fn border(&mut self, dtype: DType) -> Border<NodeId> {
        let constant = self.literal(dtype);
        self.rng.pick(&[
            Border::Constant(constant),
            Border::Replicate,
            Border::Reflect,
            Border::Reflect101,
            Border::Wrap,
        ])
    }

    fn edge(&mut self, dtype: DType) -> Edge<NodeId> {
        if self.rng.chance(0.3) { Edge::Cut(self.literal(dtype)) } else { Edge::Border(self.border(dtype)) }
    }

    pub(super) fn fitted(&mut self, node: NodeId, y: (u64, i64), x: (u64, i64)) -> NodeId {
        let (aspects, sampling) =
            ([Aspect::Preserve, Aspect::PreserveRnEven, Aspect::PreserveLeft, Aspect::Ignore], self.sampling());
        let aspect = self.rng.pick(&aspects);
        let background = self.literal(tilewright_expr::reads::sampled(self.graph.node(node).dtype));
        self.graph.resize_fit(node, y, x, sampling, aspect, background)
    }

    /// A map a plane, or one for all.
    pub(super) fn warped(&mut self, node: NodeId, y: (u64, i64), x: (u64, i64)) -> NodeId {
        let others: Vec<(u64, i64)> = self.world.iter().filter(|(d, _)| *d != y.0 && *d != x.0).copied().collect();
        let keep = self.rng.range(0, (others.len() as i64 + 1).min(2)) as usize;
        let (ids, shape): (Vec<u64>, Vec<i64>) = others[..keep].iter().copied().unzip();
        let components = self.rng.pick(&[6, 9]);
        let count = components as i64 * shape.iter().product::<i64>();
        let values: Vec<f32> = (0..count).map(|_| (self.rng.unit() * 6.0 - 3.0) as f32).collect();
        let number = self.operand(Tensor::maps(&ids, &shape, components, &values));
        let maps = self.graph.input(number, 0);
        let (filter, edge) = (self.filter(), self.edge(self.graph.node(node).dtype));
        match components {
            6 => self.graph.warp_affine(node, y, x, maps, filter, edge),
            _ => self.graph.warp_perspective(node, y, x, maps, filter, edge),
        }
    }

    /// A node read in one of the ways that keep the world's sizes.
    pub(super) fn read(&mut self, a: NodeId) -> NodeId {
        let (shape, dtype) = (self.graph.node(a).shape.clone(), self.graph.node(a).dtype);
        if shape.is_empty() {
            return a;
        }
        let (dim, _) = self.rng.pick(&shape);
        let n = self.extent(dim);
        let whole = self.any();
        let whole = self.graph.cast(whole, DType::I32);
        // Each pixel of what is reduced is a loop of its own.
        let alone = self.graph.node(a).depth == 0;
        match self.rng.range(0, 8) {
            7 if alone && self.affordable(5) => self.stencil(a),
            0 | 1 => {
                let border = self.border(dtype);
                self.graph.at_border(a, &[(dim, whole)], &[], border)
            }
            2 => {
                // Mostly inside, and just outside where the case is one of failures.
                let more = i32::from(self.outside && self.rng.chance(0.3));
                let low = self.graph.constant(Scalar::of(-more));
                let high = self.graph.constant(Scalar::of(n as i32 - 1 + more));
                let at = self.graph.binary(tilewright_expr::graph::Binary::Max, whole, low);
                let at = self.graph.binary(tilewright_expr::graph::Binary::Min, at, high);
                self.graph.gather(a, &[(dim, at)], &[])
            }
            3 => {
                let order = self.rng.pick(&[PlaneOrder::NewestFirst, PlaneOrder::OldestFirst]);
                self.graph.rotate_planes(a, dim, whole, order)
            }
            4 if alone && self.affordable(3) => {
                let mode = self.rng.pick(&[Deinterlace::Blend, Deinterlace::KeepEven, Deinterlace::KeepOdd]);
                self.graph.deinterlace(a, dim, mode)
            }
            5 => {
                let first = self.rng.range(0, n);
                let length = self.rng.range(1, n - first + 1);
                let before = self.rng.range(0, n - length + 1);
                let border = self.border(dtype);
                let part = self.graph.slice(a, dim, first, length);
                self.graph.pad(part, dim, (before, n - length - before), border)
            }
            _ => {
                let (other, _) = self.rng.pick(&shape);
                if other == dim || !alone || !self.affordable(2) {
                    return self.graph.reverse(a, dim);
                }
                let (u, v) = (self.any(), self.any());
                let [u, v] = [u, v].map(|n| self.graph.cast(n, DType::F32));
                let (filter, edge) = (self.filter(), self.edge(dtype));
                self.graph.remap(a, (dim, v), (other, u), &[], filter, edge)
            }
        }
    }

    /// A few taps around each point, along one dimension or two.
    fn stencil(&mut self, a: NodeId) -> NodeId {
        let (shape, dtype) = (self.graph.node(a).shape.clone(), self.graph.node(a).dtype);
        let border = self.border(dtype);
        let mut dims: Vec<u64> = shape.iter().map(|(d, _)| *d).collect();
        self.rng.shuffle(&mut dims);
        dims.truncate(2);
        let a = self.sized(a);
        let mut value = a;
        for _ in 0..self.rng.range(2, 5) {
            let by: Vec<(u64, i32)> = dims.iter().map(|d| (*d, self.rng.range(-2, 3) as i32)).collect();
            let tap = self.graph.shifted(a, &by, border);
            value = self.graph.binary(tilewright_expr::graph::Binary::Max, value, tap);
        }
        value
    }
}
