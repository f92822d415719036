//! What an expression asks of a machine.

use super::evaluation::Evaluation;
use crate::dispatch::{At, Divisible, Job, Operand, Tiling, Unit};
use tilewright_expr::DType;

impl Evaluation<'_> {
    /// What decisions about it go by: bytes from and to where they lie, as often as passes bring them, and an operation for each node of the expression and element of a result.
    /// On a GPU it goes in bands, however small it is, unless all of it lies there.
    pub fn job(&self) -> Job {
        let (graph, plan) = (self.graph(), self.of_indices(self.home()));
        let of = |at: At| {
            let lying = self.fed.iter().filter(|fed| fed.source().at() == at);
            let bytes: u64 = lying.map(|fed| fed.shape.bytes() as u64).sum();
            let bytes = (bytes as f64 * plan.times()) as u64;
            (bytes > 0).then_some(Operand { bytes, at })
        };
        let at = self.made.iter().map(|made| made.sink().at()).max().unwrap_or(At::Pageable);
        let written = Operand { bytes: self.made.iter().map(|made| made.shape.bytes() as u64).sum(), at };
        let dtype = graph.outputs.first().map_or(DType::F32, |output| graph.node(output.node).dtype);
        let unit = if dtype == DType::F64 { Unit::F64 } else { Unit::F32 };
        let elements =
            self.made.iter().map(|made| (made.shape.bytes() / made.shape.element_bytes().max(1)) as u64).sum();
        let (there, on_host) = (of(At::Gpu), [of(At::Pageable), of(At::Pinned)]);
        // There is room for three: of what lies there, and in both kinds of host memory, the latter are one.
        let read = match (there, on_host) {
            (Some(_), [Some(ordinary), Some(locked)]) => {
                [there, Some(Operand { bytes: ordinary.bytes + locked.bytes, ..ordinary }), of(At::Disk)]
            }
            (Some(_), [ordinary, locked]) => [there, ordinary.or(locked), of(At::Disk)],
            (None, [ordinary, locked]) => [ordinary, locked, of(At::Disk)],
        };
        let is_there = |it: &Operand| it.at == At::Gpu;
        let stays = read.iter().flatten().all(is_there) && is_there(&written);
        let mut job = Job::elementwise("evaluate", (dtype.name(), unit), (elements, graph.len() as f64), read, written);
        // What comes to the CPU comes in bands.
        job.host_bytes = 0;
        if !stays {
            // How much fits is not known yet: a short one that does is one band in the end, which is no longer than these.
            job.divisible = Some((Divisible::Expression(plan), 1));
            job.tiling = Tiling::Always;
        }
        job
    }
}
