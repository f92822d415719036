//! How many blocks a multiprocessor holds at a time, and what limits them.

use super::Scales;
use crate::work::Work;

/// Threads of a warp.
const WARP: u32 = 32;
/// Registers are given to a warp in units of so many, and each of a multiprocessor's schedulers has its share of them and of whole warps.
const REGISTER_UNIT: u32 = 256;
const SCHEDULERS: f32 = 4.0;
/// Shared memory is given to a block in units of so many bytes.
const SHARED_UNIT: u32 = 128;

/// Blocks of a multiprocessor, by what there is room for; each is at least 1, since the work fits.
pub(super) struct Occupancy {
    pub(super) by_threads: f32,
    pub(super) by_registers: f32,
    pub(super) by_shared: f32,
    /// The least of these, and of the blocks that the device allows.
    pub(super) blocks: f32,
}

impl Occupancy {
    #[inline(always)]
    pub(super) fn of(work: &Work, scales: &Scales) -> Self {
        let warps = work.threads.div_ceil(WARP);
        let room = |all: f32, each: f32| ((all / each) as i32 as f32).max(1.0).min(scales.blocks.max(1.0));
        let registers = (work.registers * WARP).next_multiple_of(REGISTER_UNIT).max(REGISTER_UNIT) as f32;
        let warps_by_registers = SCHEDULERS * (scales.registers / SCHEDULERS / registers) as i32 as f32;
        let shared = work.shared_bytes.next_multiple_of(SHARED_UNIT) as f32 + scales.shared_reserved;
        let by_threads = room(scales.threads, (warps * WARP) as f32);
        let by_registers = room(warps_by_registers, warps as f32);
        let by_shared = room(scales.shared, shared.max(1.0));
        Self { by_threads, by_registers, by_shared, blocks: by_threads.min(by_registers).min(by_shared) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Occupancy, Scales};
    use crate::{DeviceFacts, Work};

    #[test]
    fn the_scarcest_resource_limits() {
        let of = |threads, registers, shared_bytes| {
            let work = Work { threads, registers, shared_bytes, ..Work::default() };
            let it = Occupancy::of(&work, &Scales::of(&DeviceFacts::h200()));
            (it.by_threads, it.by_registers, it.by_shared, it.blocks)
        };
        assert_eq!(of(256, 32, 0), (8.0, 8.0, 32.0, 8.0));
        assert_eq!(of(256, 128, 0), (8.0, 2.0, 32.0, 2.0));
        assert_eq!(of(128, 64, 100_000), (16.0, 8.0, 2.0, 2.0));
        assert_eq!(of(33, 32, 0).0, 32.0);
        // 96 registers of 160 threads: five warps of a scheduler, twenty in all. Of 104 four, and sixteen.
        assert_eq!(of(160, 96, 0).1, 4.0);
        assert_eq!(of(160, 104, 0).1, 3.0);
        // 168 registers of 384 threads: one block, with 1,024 registers to spare.
        assert_eq!(of(384, 168, 200_000), (5.0, 1.0, 1.0, 1.0));
    }
}
