//! What a bulk copy of boxes needs to know of a tensor in device memory: CUDA's tensor map, described and validated.

use thiserror::Error;

/// CUDA's limits for a tensor map.
const MOST_DIMENSIONS: usize = 5;
const LARGEST_SIZE: u64 = 1 << 32;
const STRIDE_END: u64 = 1 << 40;
const LARGEST_BOX: u64 = 256;
const GRAIN: u64 = 16;
/// Bytes of shared memory that a block of sm_90 can have. The driver takes boxes a little larger, below 256 KB.
const LARGEST_SHARED: u64 = 232_448;

/// What the host model looks for at the start of its encoding: "twtensor", little-endian.
#[cfg(feature = "host-model")]
const MARK: u64 = u64::from_le_bytes(*b"twtensor");

/// The type of a tensor map's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Element {
    /// 1 byte, unsigned.
    U8,
    /// 2 bytes, unsigned.
    U16,
    /// 4 bytes, unsigned.
    U32,
    /// 4 bytes, signed.
    I32,
    /// 8 bytes, unsigned.
    U64,
    /// 8 bytes, signed.
    I64,
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl Element {
    /// Size of one element in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Element::U8 => 1,
            Element::U16 | Element::F16 | Element::Bf16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }
}

/// How rows of a box lie in shared memory, so that a column of them meets all banks.
///
/// The 16-byte parts of a row change places: bits 4, 5 and 6 of their address (the lowest one, two or three of these) are
/// XORed with bits 7, 8 and 9.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// One row after the other.
    #[default]
    None,
    /// Rows of 32 bytes; the pattern repeats every 256.
    Bytes32,
    /// Rows of 64 bytes; the pattern repeats every 512.
    Bytes64,
    /// Rows of 128 bytes; the pattern repeats every 1024.
    Bytes128,
}

impl Swizzle {
    /// Bytes of a row; 0 without a swizzle.
    pub const fn span(self) -> u64 {
        match self {
            Swizzle::None => 0,
            Swizzle::Bytes32 => 32,
            Swizzle::Bytes64 => 64,
            Swizzle::Bytes128 => 128,
        }
    }
}

/// What CUDA refuses of a tensor map. Dimension 0 is the innermost one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TensorMapError {
    /// Too few or too many dimensions.
    #[error("a tensor map has 1 to 5 dimensions, got {got}")]
    Rank {
        /// How many there are.
        got: usize,
    },
    /// Lists that do not belong together.
    #[error("{what}: expected {expected} numbers for {rank} dimensions, got {got}")]
    Count {
        /// Which list.
        what: &'static str,
        /// Dimensions, by the sizes.
        rank: usize,
        /// How many numbers it must have.
        expected: usize,
        /// How many it has.
        got: usize,
    },
    /// A size or a box outside its range.
    #[error("dimension {dimension}: its {what} is {got}, allowed is 1 to {limit}")]
    Range {
        /// Which dimension.
        dimension: usize,
        /// Size or box.
        what: &'static str,
        /// What it is.
        got: u64,
        /// The largest allowed.
        limit: u64,
    },
    /// A stride that is no multiple of 16 bytes, or too large.
    #[error("dimension {dimension}: its stride is {got} bytes, allowed are multiples of 16 below 2^40")]
    Stride {
        /// Which dimension.
        dimension: usize,
        /// The stride in bytes.
        got: u64,
    },
    /// A row of the box that is no multiple of 16 bytes.
    #[error("dimension 0: a row of the box has {got} bytes, allowed are multiples of 16")]
    Row {
        /// Box times size of the element.
        got: u64,
    },
    /// A row of the box that is not as long as the swizzle's.
    #[error("dimension 0: a row of the box has {got} bytes, the swizzle is of rows of {span}")]
    Span {
        /// Box times size of the element.
        got: u64,
        /// The swizzle's row.
        span: u64,
    },
    /// A box that no shared memory holds.
    #[error("the box has {got} bytes, a block has at most {limit} of shared memory: make it smaller along a dimension")]
    BoxBytes {
        /// Bytes of a box.
        got: u64,
        /// Bytes of shared memory that a block can have.
        limit: u64,
    },
    /// A tensor that does not start at a multiple of 16 bytes.
    #[error("the tensor starts at {got:#x}, a multiple of 16 is needed")]
    Base {
        /// Its address.
        got: u64,
    },
}

/// A tensor in device memory, and the box of it that one bulk copy moves.
///
/// Dimension 0 is the innermost one, whose elements lie side by side. The kernel's twin is `tw::TensorMap`, a field of the
/// parameter struct: 128 bytes, aligned to 64. The driver makes it from this description and an address.
///
/// ```
/// use tilewright_headers::tensor_map::{Element, Swizzle, TensorMap};
///
/// // A matrix of 100 rows of 72 bf16, each row 160 bytes from the last, read in boxes of 16 rows of 64.
/// let map = TensorMap::new(Element::Bf16, &[72, 100], &[160], &[64, 16], Swizzle::Bytes128)?;
/// assert_eq!(map.box_bytes(), 2048);
/// let refused = TensorMap::new(Element::Bf16, &[72, 100], &[144 + 2], &[64, 16], Swizzle::Bytes128).unwrap_err();
/// assert_eq!(refused.to_string(), "dimension 1: its stride is 146 bytes, allowed are multiples of 16 below 2^40");
/// # Ok::<(), tilewright_headers::tensor_map::TensorMapError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMap {
    element: Element,
    sizes: Vec<u64>,
    strides: Vec<u64>,
    box_sizes: Vec<u32>,
    element_strides: Vec<u32>,
    swizzle: Swizzle,
}

impl TensorMap {
    /// `sizes` and `box_sizes` in elements, innermost first; `strides` in bytes, one for each dimension but the innermost.
    ///
    /// A box may reach over the tensor's end: what lies outside reads as zeros and is not written.
    ///
    /// # Errors
    /// [`TensorMapError`] for what CUDA refuses: other than 1 to 5 dimensions, a size beyond 2^32, a box beyond 256, a
    /// stride that is no multiple of 16 or not below 2^40, a row of the box that is no multiple of 16 bytes, a box that no shared
    /// memory holds; and for a row that is shorter than the swizzle's, which CUDA allows.
    pub fn new(
        element: Element,
        sizes: &[u64],
        strides: &[u64],
        box_sizes: &[u32],
        swizzle: Swizzle,
    ) -> Result<TensorMap, TensorMapError> {
        let rank = sizes.len();
        if !(1..=MOST_DIMENSIONS).contains(&rank) {
            return Err(TensorMapError::Rank { got: rank });
        }
        expect_count("strides", rank, rank - 1, strides.len())?;
        expect_count("box sizes", rank, rank, box_sizes.len())?;
        for (dimension, &size) in sizes.iter().enumerate() {
            expect_range(dimension, "size", size, LARGEST_SIZE)?;
        }
        for (dimension, &size) in box_sizes.iter().enumerate() {
            expect_range(dimension, "box", size.into(), LARGEST_BOX)?;
        }
        for (dimension, &got) in (1..).zip(strides) {
            if !got.is_multiple_of(GRAIN) || got >= STRIDE_END {
                return Err(TensorMapError::Stride { dimension, got });
            }
        }
        let row = u64::from(box_sizes[0]) * element.bytes();
        if !row.is_multiple_of(GRAIN) {
            return Err(TensorMapError::Row { got: row });
        }
        if swizzle != Swizzle::None && row != swizzle.span() {
            return Err(TensorMapError::Span { got: row, span: swizzle.span() });
        }
        let bytes = box_sizes.iter().map(|&size| u64::from(size)).product::<u64>() * element.bytes();
        if bytes > LARGEST_SHARED {
            return Err(TensorMapError::BoxBytes { got: bytes, limit: LARGEST_SHARED });
        }
        Ok(TensorMap {
            element,
            sizes: sizes.to_vec(),
            strides: strides.to_vec(),
            box_sizes: box_sizes.to_vec(),
            element_strides: vec![1; rank],
            swizzle,
        })
    }

    /// The elements' type.
    pub fn element(&self) -> Element {
        self.element
    }

    /// How many dimensions there are: 1 to 5.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The tensor's sizes in elements, innermost first.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The strides in bytes of dimensions 1 and up.
    pub fn strides(&self) -> &[u64] {
        &self.strides
    }

    /// The box's sizes in elements, innermost first.
    pub fn box_sizes(&self) -> &[u32] {
        &self.box_sizes
    }

    /// Steps from one element of the box to the next, in each dimension: all 1.
    pub fn element_strides(&self) -> &[u32] {
        &self.element_strides
    }

    /// How the box's rows lie in shared memory.
    pub fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// Bytes that one box takes in shared memory, and that its copy reports to an mbarrier, whatever lies outside the tensor.
    pub fn box_bytes(&self) -> u64 {
        self.box_sizes.iter().map(|&size| u64::from(size)).product::<u64>() * self.element.bytes()
    }

    /// Demands that a tensor may start at this address.
    ///
    /// # Errors
    /// [`TensorMapError::Base`] unless it is a multiple of 16.
    pub fn check_base(&self, base: u64) -> Result<(), TensorMapError> {
        if base.is_multiple_of(GRAIN) { Ok(()) } else { Err(TensorMapError::Base { got: base }) }
    }

    /// The 128 bytes that the host model's `tw::TensorMap` holds for a tensor at this address. A GPU cannot read them.
    #[cfg(feature = "host-model")]
    pub fn host_bytes(&self, base: u64) -> [u8; 128] {
        fn padded<T: Copy, const COUNT: usize>(numbers: &[T], fill: T) -> [T; COUNT] {
            std::array::from_fn(|d| numbers.get(d).copied().unwrap_or(fill))
        }
        crate::host_model::bytes_of(crate::host_model::BoxFields {
            mark: MARK,
            base,
            sizes: padded(&self.sizes, 1),
            strides: padded(&self.strides, 1),
            box_: padded(&self.box_sizes, 1),
            rank: self.rank() as u32,
            element: self.element.bytes() as u32,
            span: self.swizzle.span() as u32,
            unused: 0,
        })
    }
}

fn expect_count(what: &'static str, rank: usize, expected: usize, got: usize) -> Result<(), TensorMapError> {
    if got == expected { Ok(()) } else { Err(TensorMapError::Count { what, rank, expected, got }) }
}

fn expect_range(dimension: usize, what: &'static str, got: u64, limit: u64) -> Result<(), TensorMapError> {
    if (1..=limit).contains(&got) { Ok(()) } else { Err(TensorMapError::Range { dimension, what, got, limit }) }
}
