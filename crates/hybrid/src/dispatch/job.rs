//! What an operation asks of a machine: bytes to move, from where, and operations.

use super::Unit;
use crate::Error;

/// Where an operand lies, or a result is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
pub struct Extents {
    /// Rows of the first factor.
    pub rows: usize,
    /// Columns of the second.
    pub columns: usize,
    /// Columns of the first factor, rows of the second.
    pub depth: usize,
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
    /// Of a product of matrices its extents, and the bytes of an element: what is larger than a GPU can be streamed.
    pub product: Option<(Extents, usize)>,
    /// Why the GPU cannot do it, if so.
    pub not_on_gpu: Option<&'static str>,
}

impl Job {
    /// `c = a b`, or, where `reads_c`, `c = a b + beta c`, of elements of so many bytes. Refuses what an address cannot count.
    pub fn matmul(
        (element, bytes, unit): (&'static str, usize, Unit),
        extents: Extents,
        [a, b, c]: [At; 3],
        reads_c: bool,
    ) -> Result<Job, Error> {
        let Extents { rows, columns, depth } = extents;
        let of = |rows: usize, columns: usize| {
            let elements = (rows as u64).checked_mul(columns as u64);
            elements
                .and_then(|count| count.checked_mul(bytes as u64))
                .filter(|count| *count <= i64::MAX as u64)
                .ok_or(Error::TooLarge { rows, columns, element_bits: 8 * bytes })
        };
        let written = Operand { bytes: of(rows, columns)?, at: c };
        let read = [
            Some(Operand { bytes: of(rows, depth)?, at: a }),
            Some(Operand { bytes: of(depth, columns)?, at: b }),
            reads_c.then_some(written),
        ];
        // A complex product is four real ones.
        let times = if element.starts_with('c') { 4.0 } else { 1.0 };
        let flops = 2.0 * times * rows as f64 * columns as f64 * depth as f64;
        let product = Some((extents, bytes));
        Ok(Job { operation: "matmul", element, unit, flops, read, written, product, not_on_gpu: None })
    }

    /// An operation element by element, of so many operations an element.
    pub fn elementwise(
        operation: &'static str,
        (element, unit): (&'static str, Unit),
        (elements, flops): (u64, f64),
        read: [Option<Operand>; 3],
        written: Operand,
    ) -> Job {
        let flops = elements as f64 * flops;
        Job { operation, element, unit, flops, read, written, product: None, not_on_gpu: None }
    }

    /// Bytes of all operands.
    pub fn bytes(&self) -> u64 {
        self.read.iter().flatten().map(|it| it.bytes).sum::<u64>() + self.written.bytes
    }
}
