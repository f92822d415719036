//! How large a parameter block is.

use crate::bind::Place;
use crate::sections::Sections;

/// The largest parameter block that a kernel can have, from CUDA 12.1 and compute capability 7.0 on.
pub const MOST_PARAMETER_BYTES: usize = 32_764;

/// The room of a parameter block for operands of any size. The driver copies a block as a whole, 4 KB in 0.2 to 0.3 us, so calls that
/// send little have a kernel with little room. The kernels of both rooms take any operands: what finds no room goes through a device buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Room {
    /// What every driver takes.
    Small,
    /// For more, where the driver takes it.
    Large,
}

impl Room {
    /// The room for these operands, on a device that takes blocks of `most` bytes.
    pub fn of(sections: &Sections<'_>, most: usize) -> Room {
        let slots = sections.list.iter().flat_map(|s| &s.plan.inputs);
        let bytes: usize =
            slots.filter(|s| s.place == Place::Host).map(|s| super::sent::bytes_of(s).next_multiple_of(16)).sum();
        let fits = |room: Room| HEAD_BYTES + bytes <= room.bytes();
        let large = most >= Room::Large.bytes() && !fits(Room::Small) && fits(Room::Large);
        if large { Room::Large } else { Room::Small }
    }

    /// The other one.
    pub fn other(self) -> Room {
        if self == Room::Small { Room::Large } else { Room::Small }
    }

    /// Bytes of the block.
    pub(super) fn bytes(self) -> usize {
        if self == Room::Small { 4096 } else { 8192 }
    }
}

/// What sizes, strides and addresses take at most, but for that of few kernels.
const HEAD_BYTES: usize = 384;
