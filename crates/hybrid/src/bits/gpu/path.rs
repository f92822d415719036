use tilewright_driver::{Arch, TargetKind};

use crate::Error;

/// What counts common bits on a GPU. All give the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GpuPath {
    /// The population count, on any GPU.
    Popcount,
    /// Tensor cores, a warp at a time (`mma.sync` b1, compute capability 8.0 and up). From 10.0 on they have no such products, and the
    /// instruction is made of others.
    Mma,
    /// Tensor cores, four warps at a time, with operands that the copy engine brings (`wgmma` b1, compute capability 9.0 alone).
    Wgmma(WgmmaShape),
}

/// How warpgroups share out a tile of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WgmmaShape {
    /// Warpgroups that multiply: 1 or 2.
    pub groups: u32,
    /// Strips of 64 rows of each: with so many columns, they take strips x columns / 2 registers of a thread, at most 192.
    pub strips: u32,
    /// Columns of the tile: 64, 128, 192 or 256.
    pub columns: u32,
    /// Slots of the ring, each with 1024 bits of every row of both operands: 128 bytes of shared memory a row.
    pub slots: u32,
    /// Blocks of a cluster, 1 or 2: those have neighbouring tiles of the same rows, which are brought once for all of them.
    pub cluster: u32,
    /// Rows of tiles that blocks take before they go on to the next column of tiles.
    pub raster: u32,
}

/// Bytes of shared memory that a block of compute capability 9.0 has.
const SHARED_BYTES: u32 = 232_448;

impl WgmmaShape {
    /// 256 x 192: the most products for each byte that is brought to a multiprocessor.
    pub const LARGE: Self = Self { groups: 2, strips: 2, columns: 192, slots: 4, cluster: 1, raster: 8 };
    /// The same, two blocks a cluster: 29 % fewer bytes from the L2 cache.
    pub const PAIRED: Self = Self { cluster: 2, ..Self::LARGE };
    /// 128 x 256.
    pub const WIDE: Self = Self { groups: 2, strips: 1, columns: 256, slots: 4, cluster: 1, raster: 16 };
    /// 256 x 128.
    pub const TALL: Self = Self { groups: 2, strips: 2, columns: 128, slots: 4, cluster: 1, raster: 8 };

    /// Rows of the tile.
    pub fn rows(&self) -> u32 {
        64 * self.strips * self.groups
    }

    /// Bytes of shared memory of a block: the ring and two barriers a slot.
    pub fn shared_bytes(&self) -> u32 {
        self.slots * (128 * (self.rows() + self.columns) + 16)
    }

    /// Whether the kernel can be built like this.
    pub fn is_legal(&self) -> bool {
        let Self { groups, strips, columns, slots, cluster, raster } = *self;
        matches!(groups, 1 | 2)
            && matches!(strips, 1 | 2)
            && matches!(columns, 64 | 128 | 192 | 256)
            && strips * columns <= 384
            && (2..=16).contains(&slots)
            && matches!(cluster, 1 | 2)
            && (1..=1024).contains(&raster)
            && self.shared_bytes() <= SHARED_BYTES
    }
}

impl GpuPath {
    /// The fastest path of a GPU.
    pub fn best(arch: Arch) -> Self {
        match arch.major {
            9 => Self::Wgmma(WgmmaShape::LARGE),
            8 => Self::Mma,
            _ => Self::Popcount,
        }
    }

    /// What its kernels are compiled for.
    pub(super) fn target(self) -> TargetKind {
        match self {
            Self::Popcount | Self::Mma => TargetKind::Plain,
            Self::Wgmma(_) => TargetKind::ArchSpecific,
        }
    }

    pub(super) fn check(self, arch: Arch) -> Result<(), Error> {
        let why = match self {
            Self::Mma if arch < Arch::new(8, 0) => format!("{arch} has no b1 products, they begin with sm_80"),
            Self::Wgmma(_) if arch != Arch::new(9, 0) => format!("{arch} has no wgmma b1, sm_90 alone has"),
            Self::Wgmma(shape) if !shape.is_legal() => {
                format!("{shape:?} does not fit: at most 192 accumulators and {SHARED_BYTES} bytes of shared memory")
            }
            _ => return Ok(()),
        };
        Err(Error::Unsupported { operation: "bits::gpu::DeviceProduct", element: "bits", place: "GPU", why })
    }
}
