//! What an expression asks of a machine.

use super::evaluation::Evaluation;
use super::plan::ExpressionPlan;
use crate::dispatch::{At, Divisible, Job, Operand, Tiling, Unit};
use tilewright_expr::DType;

impl Evaluation<'_> {
    /// What decisions about it go by: bytes from and to where they lie, and an operation for each node of the expression and element of a result.
    /// On a GPU it goes in bands, however small it is.
    pub fn job(&self) -> Job {
        let graph = self.graph();
        let of = |at: At| {
            let lying = self.fed.iter().filter(|fed| fed.source().at() == at);
            let bytes: u64 = lying.map(|fed| fed.shape.bytes() as u64).sum();
            (bytes > 0).then_some(Operand { bytes, at })
        };
        let slowest = |at: At| [At::Pinned, At::Pageable, At::Disk].iter().position(|it| *it == at);
        let at = self.made.iter().map(|made| made.sink.at()).max_by_key(|at| slowest(*at)).unwrap_or(At::Pageable);
        let written = Operand { bytes: self.made.iter().map(|made| made.shape.bytes() as u64).sum(), at };
        let dtype = graph.outputs.first().map_or(DType::F32, |output| graph.node(output.node).dtype);
        let unit = if dtype == DType::F64 { Unit::F64 } else { Unit::F32 };
        let elements =
            self.made.iter().map(|made| (made.shape.bytes() / made.shape.element_bytes().max(1)) as u64).sum();
        let read = [At::Pageable, At::Pinned, At::Disk].map(of);
        let mut job = Job::elementwise("evaluate", (dtype.name(), unit), (elements, graph.len() as f64), read, written);
        job.divisible = Some((Divisible::Expression(ExpressionPlan::of_indices(self)), 1));
        job.tiling = Tiling::Always;
        job
    }
}
