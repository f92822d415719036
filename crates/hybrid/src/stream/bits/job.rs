//! What a product of bits asks of a machine.

use super::{Becomes, BitPlan, BitProduct};
use crate::dispatch::{At, Divisible, Job, Operand, ProductExtents, Tiling, Unit};

impl BitProduct<'_> {
    /// What decisions about it go by, the result being wanted in ordinary memory. AND and addition of a pair count as two operations. On a GPU it
    /// goes in tiles, however small it is.
    pub fn job(&self, becomes: Becomes) -> Job {
        let ProductExtents { rows, columns, depth } = self.extents();
        let bytes = |rows: usize, bits: usize| (rows as u64).saturating_mul(bits.div_ceil(8) as u64);
        let of = |stored: &super::Bits<'_>| {
            let [rows, columns] = stored.extents();
            Some(Operand { bytes: bytes(rows, columns), at: stored.source.at() })
        };
        let written = Operand { bytes: bytes(rows, columns.saturating_mul(becomes.element_bits())), at: At::Pageable };
        let elements = (rows as u64).saturating_mul(columns as u64);
        let read = [of(&self.left), of(&self.right), None];
        let mut job =
            Job::elementwise("bit_product", ("bit", Unit::Bits), (elements, 2.0 * depth as f64), read, written);
        job.divisible = Some((Divisible::Bits(BitPlan::of_one_tile(self, becomes)), 1));
        job.tiling = Tiling::Always;
        job
    }
}
