//! Norms of elements on a GPU: absolute values in f64, folded where they lie.

use tilewright_driver::blas::Layout;
use tilewright_driver::{DeviceBuffer, Stream, TargetKind};

use super::DeviceRef;
use crate::kernel::{Kernel, KernelText, Name};
use crate::linear::Scalar;
use crate::linear::norm::{Norm, largest};
use crate::{Error, dispatch};

/// What a kernel makes of the absolute values of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Folding {
    /// The largest.
    Largest,
    /// Their sum, and of all lines the largest.
    Sums,
    /// The sum of their squares, and of all lines the sum.
    Squares,
}

/// The kernel that folds absolute values of elements of `T`; a block has 256 threads.
pub fn norm_kernel<T: Scalar>(folding: Folding) -> KernelText {
    let (real, parts) = (if size_of::<T::Real>() == 4 { "float" } else { "double" }, 1 + usize::from(T::COMPLEX));
    let shape = format!(
        "namespace shape {{\nusing Real = {real};\nconstexpr int parts = {parts}, folding = {};\n}}\n",
        folding as u32
    );
    let text = [INCLUDES, &shape, include_str!("../kernels/norm.cu")].concat();
    let (entry, target) = ("fold_moduli", TargetKind::Plain);
    KernelText { entry, text, threads: THREADS as u32, shared_bytes: 64, target, tile: [1, 1], cluster: 1 }
}

const INCLUDES: &str = "#include \"tilewright/arch/vector.cuh\"\n#include \"tilewright/arch/warp.cuh\"\n\
                        #include \"tilewright/layout.cuh\"\n#include \"tilewright/scalar.cuh\"\n";
const THREADS: usize = 256;
/// Blocks at most: as many as a large GPU has at once. The host ends what they began.
const BLOCKS: usize = 1024;
const WARP: usize = 32;
/// Pieces of a line at most, which few lanes fold again.
const PIECES: usize = 2048;
/// Elements of a piece that a lane has at least, where a line has them.
const OF_LANE: usize = 16;

/// Lines of a matrix, in elements of what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lines {
    /// From one of a line to the next.
    along: usize,
    /// From line to line.
    across: usize,
    length: usize,
    lines: usize,
}

impl Lines {
    fn columns(Layout { rows, columns, leading, .. }: Layout) -> Lines {
        Lines { along: 1, across: leading, length: rows, lines: columns }
    }

    fn rows(Layout { rows, columns, leading, .. }: Layout) -> Lines {
        Lines { along: leading, across: 1, length: columns, lines: rows }
    }

    /// Where lines do not matter: one of all elements, if there are no gaps.
    fn any(layout: Layout) -> Lines {
        let Layout { rows, columns, leading, .. } = layout;
        match rows == leading || columns == 1 {
            true => Lines { along: 1, across: 1, length: rows * columns, lines: 1 },
            false => Lines::columns(layout),
        }
    }

    /// How lanes share them.
    fn cut(self, is_in_pieces: bool) -> Cut {
        let Lines { along, across, length, lines } = self;
        // Lanes that are adjacent read what is: of one line, or of as many as there are.
        let (lanes, step) = match across < along {
            true => (WARP / lines.next_power_of_two().min(WARP), lines.next_power_of_two().min(WARP)),
            false => (length.next_power_of_two().min(WARP), 1),
        };
        let at_once = BLOCKS * THREADS / lanes;
        let wanted = (at_once / lines).clamp(1, PIECES).min(length.div_ceil(lanes * OF_LANE));
        let piece = if is_in_pieces { length.div_ceil(wanted) } else { length };
        let pieces = length.div_ceil(piece) * lines;
        let blocks = pieces.div_ceil(THREADS / lanes).min(BLOCKS);
        Cut { lanes, step, piece, pieces, blocks }
    }
}

/// Pieces of lines, and what folds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// Of a piece.
    lanes: usize,
    /// From one lane of a piece to the next.
    step: usize,
    /// Elements of a piece.
    piece: usize,
    /// Of all lines.
    pieces: usize,
    blocks: usize,
}

/// What is made of elements before they are folded.
#[derive(Clone, Copy, Debug)]
struct Before {
    /// What they are multiplied by, in their own type.
    scale: Option<[f64; 2]>,
    /// What absolute values are multiplied by where they are squared.
    factor: f64,
}

impl Before {
    const NOTHING: Before = Before { scale: None, factor: 1.0 };
}

/// Queues a kernel: of each piece what it came to, where that is kept, or of each block.
fn fold<T: Scalar>(
    folding: Folding,
    (stream, address): (&Stream, u64),
    (lines, cut, is_kept): (Lines, Cut, bool),
    before: Before,
) -> Result<DeviceBuffer<f64>, Error> {
    let kernel = Kernel::get(stream, Name::Norm(T::NAME, folding), || norm_kernel::<T>(folding))?;
    let to = stream.alloc(if is_kept { cut.pieces } else { cut.blocks })?;
    // What no kernel writes is no number.
    to.fill_bytes(0xff)?;
    let Lines { along, across, length, lines } = lines;
    let sizes = [along, across, length, lines, cut.piece, cut.pieces].map(|size| size as u64);
    let numbers = [before.scale.unwrap_or_default().as_slice(), &[before.factor]].concat();
    let choices = [cut.lanes, cut.step, usize::from(before.scale.is_some()), usize::from(is_kept)];
    let mut block: Vec<u8> = [address, to.device_ptr()].into_iter().chain(sizes).flat_map(u64::to_ne_bytes).collect();
    block.extend(numbers.into_iter().flat_map(f64::to_ne_bytes));
    block.extend(choices.into_iter().flat_map(|choice| (choice as i32).to_ne_bytes()));
    kernel.launch(stream, cut.blocks as u32, &block)?;
    Ok(to)
}

impl<T: Scalar> DeviceRef<'_, T> {
    /// A norm that is a sum or a maximum of elements, as the host has it: NaN where an element is. Waits for what was queued before.
    pub(crate) fn norm(&self, norm: Norm) -> Result<f64, Error> {
        if self.shape().is_empty() {
            return Ok(0.0);
        }
        match norm {
            Norm::One | Norm::Infinity => self.largest_sum((norm == Norm::One) != self.is_transposed()),
            Norm::Frobenius => self.root_of_squares(),
            Norm::Max | Norm::Spectral | Norm::Nuclear => self.folded(Folding::Largest, 1.0).map(largest),
        }
    }

    /// Bytes of the GPU's memory that a norm takes at most.
    pub(crate) fn bytes_of_norm(&self) -> u64 {
        if self.shape().is_empty() {
            return 0;
        }
        let kept = [Lines::columns(self.layout), Lines::rows(self.layout)].map(|lines| {
            let cut = lines.cut(true);
            if cut.piece == lines.length { 0 } else { cut.pieces }
        });
        (size_of::<f64>() * (kept[0].max(kept[1]) + BLOCKS)) as u64
    }

    /// Of columns, or of rows, as they are stored.
    fn largest_sum(&self, is_of_columns: bool) -> Result<f64, Error> {
        let lines = if is_of_columns { Lines::columns(self.layout) } else { Lines::rows(self.layout) };
        let (at, cut) = (self.at(), lines.cut(true));
        let before = Before { factor: 1.0, ..self.before() };
        if cut.piece == lines.length {
            return came_to(fold::<T>(Folding::Sums, at, (lines, cut, false), before)?).map(largest);
        }
        let sums = fold::<T>(Folding::Sums, at, (lines, cut, true), before)?;
        // Pieces of a line stand as many elements apart as there are lines.
        let of_pieces = Lines { along: lines.lines, across: 1, length: cut.pieces / lines.lines, lines: lines.lines };
        let from = (at.0, sums.device_ptr());
        let ends = fold::<f64>(Folding::Sums, from, (of_pieces, of_pieces.cut(false), false), Before::NOTHING)?;
        came_to(ends).map(largest)
    }

    /// Squares of f32 neither overflow in f64 nor vanish; those of f64 are of numbers near 1, by a power of two.
    fn root_of_squares(&self) -> Result<f64, Error> {
        let root = |factor: f64| Ok(self.folded(Folding::Squares, factor)?.into_iter().sum::<f64>().sqrt() / factor);
        if size_of::<T::Real>() < size_of::<f64>() {
            return root(1.0);
        }
        let most = largest(self.folded(Folding::Largest, 1.0)?);
        if most == 0.0 || !most.is_finite() {
            return Ok(most);
        }
        let power = f64::from_bits(most.to_bits() & f64::INFINITY.to_bits());
        root(1.0 / power.clamp(f64::MIN_POSITIVE, 1.0 / f64::MIN_POSITIVE))
    }

    /// What blocks came to of all elements.
    fn folded(&self, folding: Folding, factor: f64) -> Result<Vec<f64>, Error> {
        let lines = Lines::any(self.layout);
        let before = Before { factor, ..self.before() };
        came_to(fold::<T>(folding, self.at(), (lines, lines.cut(true), false), before)?)
    }

    fn at(&self) -> (&Stream, u64) {
        let address = self.matrix.buffer.device_ptr() + (size_of::<T>() * self.layout.offset) as u64;
        (self.gpu().stream(), address)
    }

    fn before(&self) -> Before {
        // Of a conjugate, the conjugate of what it is multiplied by: the same absolute values, rounded alike.
        let scale = if self.conjugated { self.scale().conjugate() } else { self.scale() }.wide();
        Before { scale: (self.scale() != T::ONE).then_some([scale.re, scale.im]), factor: 1.0 }
    }
}

fn came_to(of_blocks: DeviceBuffer<f64>) -> Result<Vec<f64>, Error> {
    let values = of_blocks.to_vec()?;
    dispatch::to_host(size_of_val(&values[..]));
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each element is read, as the kernel reads them, and how many pieces each line has.
    fn reads(lines: Lines, cut: Cut) -> Vec<usize> {
        let Cut { lanes, step, piece, pieces, .. } = cut;
        let together = WARP / lanes;
        let mut times = vec![0; lines.lines * lines.length];
        for first in (0..pieces).step_by(together) {
            for lane in 0..WARP {
                let of_piece = lane / step % lanes;
                let number = first + if step == 1 { lane / lanes } else { lane % together };
                let (line, begin) = (number % lines.lines, number / lines.lines * piece);
                let end = if number < pieces { (begin + piece).min(lines.length) } else { 0 };
                (begin + of_piece..end).step_by(lanes).for_each(|at| times[line * lines.length + at] += 1);
            }
        }
        times
    }

    #[test]
    fn every_element_is_read_once() {
        let sizes = [(1, 1), (1, 4097), (4097, 1), (3, 50_000), (50_000, 3), (33, 65), (700, 1021), (31, 2), (2, 31)];
        for (rows, columns) in sizes {
            for leading in [rows, rows + 5] {
                let layout = Layout { offset: 3, rows, columns, leading };
                for lines in [Lines::columns(layout), Lines::rows(layout), Lines::any(layout)] {
                    for is_in_pieces in [true, false] {
                        let cut = lines.cut(is_in_pieces);
                        assert_eq!(lines.length * lines.lines, rows * columns, "{lines:?}");
                        assert!(reads(lines, cut).into_iter().all(|times| times == 1), "{lines:?} {cut:?}");
                        assert!(cut.pieces.is_multiple_of(lines.lines) && (1..=BLOCKS).contains(&cut.blocks));
                        assert!(is_in_pieces || cut.pieces == lines.lines, "{cut:?}");
                    }
                }
            }
        }
    }

    /// What is kept is little, however many lines there are.
    #[test]
    fn pieces_are_few() {
        for exponent in 0..36 {
            let (rows, columns) = (1usize << exponent, (1usize << 35) >> exponent.min(35));
            let layout = Layout { offset: 0, rows, columns, leading: rows };
            for lines in [Lines::columns(layout), Lines::rows(layout)] {
                let cut = lines.cut(true);
                assert!(cut.pieces <= (BLOCKS * THREADS).max(lines.lines), "{lines:?} {cut:?}");
                assert!(cut.pieces / lines.lines <= PIECES, "{cut:?}");
            }
        }
    }
}
