//! What a product of bits asks of a machine.

use super::{Becomes, BitPlan, BitProduct};
use crate::bits::gpu::{UNCOUNTED, is_counted};
use crate::dispatch::{At, Divisible, Job, Operand, ProductExtents, Tiling, Unit};

impl BitProduct<'_> {
    /// What decisions about it go by, the result being wanted in ordinary memory. AND and addition of a pair count as two operations. On a GPU it
    /// goes in tiles, however small it is.
    pub fn job(&self, becomes: Becomes) -> Job {
        asked(BitPlan::of_one_tile(self, becomes), [self.left.source.at(), self.right.source.at()])
    }
}

/// The same of operands that are known by where they lie.
pub(crate) fn job_of(extents: ProductExtents, becomes: Becomes, transposes: bool, places: [At; 2]) -> Job {
    asked(BitPlan::of_extents(extents, becomes, transposes), places)
}

fn asked(plan: BitPlan, [left, right]: [At; 2]) -> Job {
    let ProductExtents { rows, columns, depth } = plan.extents;
    let of =
        |[rows, bits]: [usize; 2], at: At| Operand { bytes: (rows as u64).saturating_mul(bits.div_ceil(8) as u64), at };
    let as_stored = if plan.transposes { [depth, columns] } else { [columns, depth] };
    let read = [Some(of([rows, depth], left)), Some(of(as_stored, right)), None];
    let written = of([rows, columns.saturating_mul(plan.element_bits)], At::Pageable);
    let elements = (rows as u64).saturating_mul(columns as u64);
    let mut job = Job::elementwise("bit_product", ("bit", Unit::Bits), (elements, 2.0 * depth as f64), read, written);
    job.divisible = Some((Divisible::Bits(plan), 1));
    job.tiling = Tiling::Always;
    // Tiles are of the whole depth.
    if !is_counted(depth) {
        job.not_on_gpu = Some(UNCOUNTED);
    }
    job
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More bits a row than kernels count stay on the CPU, whatever is asked of them.
    #[test]
    fn rows_that_kernels_do_not_count_are_not_for_a_gpu() {
        for (depth, is_there) in
            [(1 << 20, true), (i32::MAX as usize - 1024, true), (i32::MAX as usize, false), (1 << 33, false)]
        {
            let extents = ProductExtents { rows: 2, columns: 3, depth };
            for (becomes, transposes) in [(Becomes::Parities, false), (Becomes::MoreThan(5), true)] {
                let job = job_of(extents, becomes, transposes, [At::Pageable; 2]);
                assert_eq!(job.not_on_gpu.is_none(), is_there, "{depth}");
            }
        }
    }
}
