//! Products whose operands go through a GPU as numbers of a larger type: halves as f32, whose products are exact and are added in f32, and f32 as f64.

use super::multiplicand::Streamed;
use crate::Error;
use crate::budget::Budget;
use crate::dispatch::At;
use crate::linear::{Gpu, Precision};
use crate::matrix::Element;
use crate::store::{self, Extents, Sink, Source, Stored, Tile};
use crate::stream::{self, Budgets, Control, Factor, Product};

/// How numbers are widened, and rounded again.
pub(super) struct Widening<T, W> {
    pub(super) widen: fn(T) -> W,
    pub(super) round: fn(W) -> T,
}

/// `sink = alpha * a * b + beta * c`, in the larger type; the result is rounded once.
pub(super) fn stream<T: Element + Stored, W: Streamed>(
    (gpu, budgets, precision): (&Gpu, &Budgets, Precision),
    widening: &Widening<T, W>,
    (alpha, a, b): (W, Factor<'_>, Factor<'_>),
    (beta, c): (W, Option<&dyn Source>),
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<(), Error> {
    if control.verify.is_some() {
        // Results are read back to be checked, and those that were rounded are off by more than a check allows.
        return Err(Error::Unsupported {
            operation: "the check of a product",
            element: T::NAME,
            place: "GPU",
            why: "results that are rounded on their way are not checked; use the CPU".into(),
        });
    }
    let widened = |source| Widened { source, widen: widening.widen };
    let (of_a, of_b, of_c) = (widened(a.source), widened(b.source), c.map(widened));
    let product = Product {
        a: Factor { source: &of_a, ..a },
        b: Factor { source: &of_b, ..b },
        c: of_c.as_ref().map(|c| c as &dyn Source),
        alpha,
        beta,
    };
    let rounded = Rounded { sink, round: widening.round };
    stream::multiply(gpu, budgets, precision, &product, &rounded, control).map(drop)
}

/// A source whose elements are read as numbers of a larger type.
struct Widened<'a, T, W> {
    source: &'a dyn Source,
    widen: fn(T) -> W,
}

impl<T: Element + Stored, W: Element + Stored> Source for Widened<'_, T, W> {
    fn extents(&self) -> Extents {
        self.source.extents()
    }

    fn element(&self) -> store::Element {
        W::ELEMENT
    }

    fn grain(&self) -> Extents {
        self.source.grain()
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents(), W::ELEMENT, out.len())?;
        let mut values = vec![T::ZERO; tile.count()];
        self.source.read_tile(tile, bytemuck::cast_slice_mut(&mut values))?;
        for (value, bytes) in values.into_iter().zip(out.chunks_exact_mut(size_of::<W>())) {
            bytes.copy_from_slice(bytemuck::bytes_of(&(self.widen)(value)));
        }
        Ok(())
    }

    /// What is widened is not where it lies.
    fn at(&self) -> At {
        if self.source.at() == At::Disk { At::Disk } else { At::Pageable }
    }

    fn prefetch(&self, tile: &Tile) -> Result<(), Error> {
        self.source.prefetch(tile)
    }

    fn release(&self, tile: &Tile) -> Result<(), Error> {
        self.source.release(tile)
    }
}

/// A sink of numbers that are rounded on their way. Whoever has the sink commits it.
struct Rounded<'a, T, W> {
    sink: &'a dyn Sink,
    round: fn(W) -> T,
}

impl<T: Element + Stored, W: Element + Stored> Sink for Rounded<'_, T, W> {
    fn extents(&self) -> Extents {
        self.sink.extents()
    }

    fn element(&self) -> store::Element {
        W::ELEMENT
    }

    fn grain(&self) -> Extents {
        self.sink.grain()
    }

    fn gather_within(&self, host: &Budget) -> Result<(), Error> {
        self.sink.gather_within(host)
    }

    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        tile.check("write", self.extents(), W::ELEMENT, data.len())?;
        let wide = data.chunks_exact(size_of::<W>()).map(bytemuck::pod_read_unaligned);
        let values: Vec<T> = wide.map(self.round).collect();
        self.sink.write_tile(tile, T::bytes(&values))
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MemorySink, MemorySource, ReadTyped, WriteTyped};
    use half::f16;
    use ndarray::Array2;

    #[test]
    fn numbers_are_widened_and_rounded_in_their_places() {
        let values = Array2::from_shape_fn((5, 4), |(i, j)| f16::from_f32((i * 4 + j) as f32));
        let source = MemorySource::new(values.view());
        let widened = Widened { source: &source, widen: f16::to_f32 };
        let tile = Tile { rows: 1..4, columns: 2..4 };
        let mut wide = [0.0f32; 6];
        widened.read(&tile, &mut wide).unwrap();
        assert_eq!(wide, [6.0, 7.0, 10.0, 11.0, 14.0, 15.0]);
        assert!(widened.read(&Tile { rows: 1..6, columns: 2..4 }, &mut [0.0f32; 10]).is_err());
        let mut rounded = Array2::from_elem((5, 4), f16::NAN);
        let sink = MemorySink::new(rounded.view_mut());
        let narrow = Rounded { sink: &sink, round: f16::from_f32 };
        // 2049 lies between two halves: the even one is next.
        narrow.write(&tile, &[6.0f32, 7.0, 10.0, 11.0, 14.0, 2049.0]).unwrap();
        assert!(narrow.write(&tile, &[0.0f32; 5]).is_err());
        drop(sink);
        assert_eq!([rounded[[1, 2]], rounded[[3, 3]]].map(f16::to_f32), [6.0, 2048.0]);
        assert!(rounded[[0, 0]].is_nan());
    }
}
