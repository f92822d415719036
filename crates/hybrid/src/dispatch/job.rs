//! What an operation asks of a machine: bytes to move, from where, and operations.

use super::{Gathered, Unit};
use crate::linear::Precision;
use crate::matrix::Element;
use crate::stream::ExpressionPlan;
use crate::stream::bits::BitPlan;
use crate::{Error, Side};
use std::fmt;

/// Operations of a product that says what others run at: all threads share it, for a third of a millisecond beside an H200.
const TELLING: f64 = 2e8;

/// Where an operand lies, or a result is wanted: the farther from the GPU, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// On the GPU.
    Gpu,
    /// In page-locked host memory.
    Pinned,
    /// In ordinary host memory.
    Pageable,
    /// In a file.
    Disk,
}

/// Bytes, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// How many.
    pub bytes: u64,
    /// Where they lie, or are wanted.
    pub at: At,
}

/// The extents of a product of matrices: `rows x columns`, of `depth` products each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProductExtents {
    /// Rows of the first factor.
    pub rows: usize,
    /// Columns of the second.
    pub columns: usize,
    /// Columns of the first factor, rows of the second.
    pub depth: usize,
}

/// The extents of products of matrices with vectors: so many matrices of `rows x columns`, one below another, and below one another the vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatvecExtents {
    /// Matrices, and vectors that they are multiplied with.
    pub count: usize,
    /// Rows of a matrix.
    pub rows: usize,
    /// Columns of a matrix.
    pub columns: usize,
}

impl MatvecExtents {
    /// Of matrices that stand one below another, all of so many rows and columns, with vectors that have so many rows together: one vector for all of
    /// them, or one for each. [`Error::Shape`] where rows are not as many for each.
    pub(crate) fn of(operation: &'static str, [all_rows, columns]: [usize; 2], of_x: usize) -> Result<Self, Error> {
        if of_x == columns {
            return Ok(MatvecExtents { count: 1, rows: all_rows, columns });
        }
        if columns == 0 || !of_x.is_multiple_of(columns) {
            return Err(Error::Shape { operation, what: "rows of each vector", expected: columns, got: of_x });
        }
        let count = of_x / columns;
        if count == 0 && all_rows > 0 || count > 0 && !all_rows.is_multiple_of(count) {
            let (what, expected) = ("rows of the matrices, as many for each vector", all_rows / count.max(1) * count);
            return Err(Error::Shape { operation, what, expected, got: all_rows });
        }
        Ok(MatvecExtents { count, rows: all_rows.checked_div(count).unwrap_or(0), columns })
    }

    /// The product that has as many operations: all matrices with one vector.
    pub(crate) fn stacked(self) -> ProductExtents {
        ProductExtents { rows: self.count.saturating_mul(self.rows), columns: 1, depth: self.columns }
    }
}

/// What can go through a GPU that has no room for all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Divisible {
    /// A product, in tiles of the result.
    Product(ProductExtents),
    /// Products of matrices with vectors, in panels of rows, or of whole matrices.
    Matvec(MatvecExtents),
    /// LU factors of a square matrix, in panels of columns.
    Lu {
        /// Rows and columns of the matrix.
        size: usize,
        /// Columns that are best read together from where it is stored.
        together: usize,
    },
    /// Cholesky's factor, in panels of columns.
    Cholesky {
        /// Rows and columns of the matrix.
        size: usize,
        /// Columns that are best read together from where it is stored.
        together: usize,
    },
    /// A solution by LU factors, in panels of columns.
    Solution {
        /// Rows and columns of the matrix.
        size: usize,
        /// Columns of the solution.
        columns: usize,
        /// Columns of the matrix that are best read together from where it is stored.
        together: usize,
    },
    /// A fused expression, in bands; here of one index each.
    Expression(ExpressionPlan),
    /// A product of bits, in tiles of the result; here one tile.
    Bits(BitPlan),
}

/// When a GPU takes in tiles what can be streamed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tiling {
    /// Where its memory does not hold all of it.
    #[default]
    AsNeeded,
    /// However small it is: operands come from where they are stored, and nobody gathers them first.
    Always,
    /// The same, the second factor of a product lying row by row in page-locked memory: in tiles of whole rows, if that is not much
    /// more to copy.
    ByRows,
}

/// An operation as the cost model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name, as `matmul`.
    pub operation: &'static str,
    /// The element type's name, as `f64`.
    pub element: &'static str,
    /// What it is computed in.
    pub unit: Unit,
    /// Operations: a multiplication and an addition are two.
    pub flops: f64,
    /// What is read, at most three operands.
    pub read: [Option<Operand>; 3],
    /// What is written.
    pub written: Operand,
    /// Bytes that pass through the processor's memory besides, where that binds and not arithmetic: a reduction to a band multiplies the
    /// whole rest of a matrix by a vector for each column.
    pub swept: f64,
    /// Steps that wait for one another, as the columns of a factorisation do: on a GPU each is a launch.
    pub steps: u64,
    /// How often a GPU does it, each time with what it made before: 1, but for closures by squares.
    pub rounds: u64,
    /// How often the CPU does it: 1, but for reductions of relations, which are a closure and a product.
    pub cpu_rounds: u64,
    /// Bytes of the GPU's memory that it takes there: what is not there yet, and workspace as far as that is known without asking.
    pub device_bytes: u64,
    /// Bytes of host memory that it takes on the CPU besides what is there.
    pub host_bytes: u64,
    /// Of factors, and of what follows from them, the host memory that they take on the CPU, with copies of what is stored.
    pub gathered: Option<Gathered>,
    /// Of a product its extents, and the bytes of the elements that it is computed in: threads of the CPU share it by these. Of one whose result lies row by row those of the transposed one.
    pub product: Option<(ProductExtents, usize)>,
    /// Whether the left and the right factor of that product lie row by row, its result lying column by column: by this too threads share it.
    pub turned: [bool; 2],
    /// Of what can be streamed its extents, and the bytes of an element.
    pub divisible: Option<(Divisible, usize)>,
    /// When that is streamed.
    pub tiling: Tiling,
    /// Whether all of it is in memory, page-locked or of the GPU, so that nobody gathers anything for a GPU that takes it whole: where that is expected to be faster than a stream it does.
    pub is_at_hand: bool,
    /// Where factors are that it goes by, if it does: it stays there while that processor can.
    pub kept_on: Option<Side>,
    /// Why the GPU cannot do it, if so.
    pub not_on_gpu: Option<&'static str>,
    /// How f64 is emulated, if it is: then the CPU cannot do it.
    pub emulation: Option<Emulation>,
}

/// f64 by integers of a fixed point ([`Precision::F64Emulated`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Emulation {
    /// Bits that factors keep.
    pub mantissa_bits: u32,
    /// What elements of the result are off by at most, in parts of `|alpha|` and of the largest elements of their row of `a` and their column of `b`
    /// ([`Precision::error_bound`]).
    pub error_bound: f64,
}

impl Emulation {
    /// Of sums of so many terms; nothing for other precisions.
    pub(crate) fn of<T: Element>(precision: Precision, depth: usize) -> Option<Emulation> {
        let Precision::F64Emulated { mantissa_bits } = precision else { return None };
        precision.error_bound::<T>(depth).map(|error_bound| Emulation { mantissa_bits, error_bound })
    }
}

impl fmt::Display for Emulation {
    /// As `emulated by 55 bits, off by 4.8e-13 of largest factors at most`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Emulation { mantissa_bits, error_bound } = self;
        write!(f, "emulated by {mantissa_bits} bits, off by {error_bound:.1e} of largest factors at most")
    }
}

impl Job {
    /// `c = a b`, or, where `reads_c`, `c = a b + beta c`, of elements of so many bytes. Refuses what an address cannot count.
    pub fn matmul(
        (element, bytes, unit): (&'static str, usize, Unit),
        extents: ProductExtents,
        [a, b, c]: [At; 3],
        reads_c: bool,
    ) -> Result<Job, Error> {
        let ProductExtents { rows, columns, depth } = extents;
        let written = Operand { bytes: matrix_bytes(rows, columns, bytes)?, at: c };
        let left = Operand { bytes: matrix_bytes(rows, depth, bytes)?, at: a };
        let right = Operand { bytes: matrix_bytes(depth, columns, bytes)?, at: b };
        let flops = 2.0 * real_operations(element) * rows as f64 * columns as f64 * depth as f64;
        let mut job = Job::of("matmul", (element, unit), flops, [Some(left), Some(right), None], written);
        // It is updated where it is.
        job.read[2] = reads_c.then_some(written);
        job.product = Some((extents, bytes));
        job.divisible = Some((Divisible::Product(extents), bytes));
        Ok(job)
    }

    /// `y = a x`, or, where `reads_y`, `y = a x + beta y`, for each matrix of a batch. Refuses what an address cannot count.
    pub fn matvec(
        (element, bytes, unit): (&'static str, usize, Unit),
        extents: MatvecExtents,
        [a, x, y]: [At; 3],
        reads_y: bool,
    ) -> Result<Job, Error> {
        let MatvecExtents { count, rows, columns } = extents;
        let below = |extent: usize| {
            let too_large = || Error::TooLarge { rows: count, columns: extent, element_bits: 8 * bytes };
            count.checked_mul(extent).ok_or_else(too_large)
        };
        let written = Operand { bytes: matrix_bytes(below(rows)?, 1, bytes)?, at: y };
        let left = Operand { bytes: matrix_bytes(below(rows)?, columns, bytes)?, at: a };
        let right = Operand { bytes: matrix_bytes(below(columns)?, 1, bytes)?, at: x };
        let flops = 2.0 * real_operations(element) * count as f64 * rows as f64 * columns as f64;
        let mut job = Job::of("matvec", (element, unit), flops, [Some(left), Some(right), None], written);
        job.read[2] = reads_y.then_some(written);
        job.product = Some((extents.stacked(), bytes));
        job.divisible = Some((Divisible::Matvec(extents), bytes));
        Ok(job)
    }

    /// An operation element by element, of so many operations an element.
    pub fn elementwise(
        operation: &'static str,
        (element, unit): (&'static str, Unit),
        (elements, flops): (u64, f64),
        read: [Option<Operand>; 3],
        written: Operand,
    ) -> Job {
        Job::of(operation, (element, unit), elements as f64 * flops, read, written)
    }

    /// One that reads and writes so much, and needs no more memory than that.
    pub(super) fn of(
        operation: &'static str,
        (element, unit): (&'static str, Unit),
        flops: f64,
        read: [Option<Operand>; 3],
        written: Operand,
    ) -> Job {
        let places = || read.iter().flatten().chain([&written]);
        let sum = |is_meant: fn(At) -> bool| places().filter(|it| is_meant(it.at)).map(|it| it.bytes).sum();
        Job {
            operation,
            element,
            unit,
            flops,
            read,
            written,
            swept: 0.0,
            steps: 0,
            rounds: 1,
            cpu_rounds: 1,
            device_bytes: sum(|at| at != At::Gpu),
            host_bytes: sum(|at| at == At::Gpu),
            gathered: None,
            product: None,
            turned: [false; 2],
            divisible: None,
            tiling: Tiling::AsNeeded,
            is_at_hand: false,
            kept_on: None,
            not_on_gpu: None,
            emulation: None,
        }
    }

    /// So many of it, one after the other or side by side; none of them is streamed.
    pub fn repeated(mut self, times: usize) -> Job {
        let count = times as u64;
        self.flops *= times as f64;
        self.swept *= times as f64;
        let operands = self.read.iter_mut().flatten().chain([&mut self.written]).map(|it| &mut it.bytes);
        for bytes in operands.chain([&mut self.steps, &mut self.device_bytes, &mut self.host_bytes]) {
            *bytes = bytes.saturating_mul(count);
        }
        (self.product, self.divisible) = (None, None);
        self
    }

    /// This one and then another of its operation: one takes memory after the other, and nothing is streamed. Operands are taken to lie where
    /// the one does that is farther from the GPU.
    pub(crate) fn then(mut self, next: Job) -> Job {
        let both = |own: Operand, other: Operand| Operand {
            bytes: own.bytes.saturating_add(other.bytes),
            at: own.at.max(other.at),
        };
        for (own, other) in self.read.iter_mut().zip(next.read) {
            *own = own.zip(other).map(|(own, other)| both(own, other)).or(*own).or(other);
        }
        Job {
            flops: self.flops + next.flops,
            written: both(self.written, next.written),
            swept: self.swept + next.swept,
            steps: self.steps.saturating_add(next.steps).saturating_add(1),
            device_bytes: self.device_bytes.max(next.device_bytes),
            host_bytes: self.host_bytes.max(next.host_bytes),
            product: None,
            turned: [false; 2],
            divisible: None,
            tiling: Tiling::AsNeeded,
            is_at_hand: false,
            not_on_gpu: self.not_on_gpu.or(next.not_on_gpu),
            ..self
        }
    }

    /// What a product of real numbers ran at that took so many seconds on the CPU, if it is long enough to say something of others, and nothing was copied for it.
    pub(crate) fn rate_on_cpu(&self, seconds: f64) -> Option<(Unit, f64)> {
        let is_real = matches!((self.element, self.unit), ("f64", Unit::F64) | ("f32", Unit::F32));
        let is_here = |it: &Operand| matches!(it.at, At::Pinned | At::Pageable);
        let stays = self.read.iter().flatten().chain([&self.written]).all(is_here);
        let says = is_real && stays && self.product.is_some() && self.flops >= TELLING && seconds > 0.0;
        says.then(|| (self.unit, self.flops / seconds))
    }

    /// How often what is streamed takes its bytes of the GPU's memory.
    pub(crate) fn times_in_memory(&self) -> u64 {
        let precision = self.emulation.map(|Emulation { mantissa_bits, .. }| Precision::F64Emulated { mantissa_bits });
        precision.unwrap_or_default().times_in_memory()
    }

    /// Bytes of all operands.
    pub fn bytes(&self) -> u64 {
        let read = self.read.iter().flatten().map(|it| it.bytes);
        read.fold(self.written.bytes, u64::saturating_add)
    }
}

/// Bytes of a matrix. Refuses what an address cannot count.
pub(super) fn matrix_bytes(rows: usize, columns: usize, element_bytes: usize) -> Result<u64, Error> {
    let elements = (rows as u64).checked_mul(columns as u64);
    elements
        .and_then(|count| count.checked_mul(element_bytes as u64))
        .filter(|count| *count <= i64::MAX as u64)
        .ok_or(Error::TooLarge { rows, columns, element_bits: 8 * element_bytes })
}

/// Real operations for one of an element: a complex product is four real ones, with two additions for its own.
pub(super) fn real_operations(element: &str) -> f64 {
    if element.starts_with('c') { 4.0 } else { 1.0 }
}
