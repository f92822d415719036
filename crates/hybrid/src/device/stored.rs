//! Matrices that are read from where they are stored, and results that are written there.

use super::multiplicand::Multiplicand;
use crate::budget::Budget;
use crate::cores::cores;
use crate::matrix::{Columns, Element, Rows, Shape};
use crate::store::{self, Extents, Sink, Source, Tile, read_staged, write_staged};
use crate::stream::{Factor, Form};
use crate::{Error, MatRef};
use ndarray::{Array2, ArrayViewMut2};
use std::fmt;
use std::ops::Range;

/// A stored matrix, and how it enters.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) transposed: bool,
    pub(super) conjugated: bool,
}

impl<'a> Stored<'a> {
    pub(super) fn of(Factor { source, form }: Factor<'a>) -> Self {
        Stored { source, transposed: form != Form::Plain, conjugated: form == Form::Adjoint }
    }

    pub(super) fn t(self) -> Self {
        Stored { transposed: !self.transposed, ..self }
    }

    pub(super) fn shape(&self) -> Shape {
        let shape = shape(self.source.extents());
        if self.transposed { shape.transposed() } else { shape }
    }

    /// It as it enters, where it lies in page-locked memory: nobody has to read it first.
    pub(super) fn lying<T: Element + store::Stored>(&self) -> Option<MatRef<'a, T>> {
        let Extents { rows, columns } = self.source.extents();
        let values = self.source.locked()?.elements(rows)?;
        let stored = MatRef::row_major(values, Rows(rows), Columns(columns)).ok()?;
        let turned = if self.transposed { stored.t() } else { stored };
        Some(if self.conjugated { turned.conj() } else { turned })
    }

    /// Reads a part, as it enters.
    pub(super) fn read<T: Element>(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Read<T>, Error> {
        let tile = if self.transposed { Tile { rows: columns, columns: rows } } else { Tile { rows, columns } };
        let mut values = Array2::from_elem((tile.rows.len(), tile.columns.len()), T::ZERO);
        if let Some(values) = values.as_slice_mut() {
            read_staged(self.source, &tile, bytemuck::cast_slice_mut(values), cores())?;
        }
        Ok(Read { values, transposed: self.transposed, conjugated: self.conjugated })
    }
}

impl fmt::Debug for Stored<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Extents { rows, columns }, element) = (self.source.extents(), self.source.element().name());
        write!(f, "{rows} x {columns} of {element} {:?}", self.source.at())
    }
}

/// A part of a stored matrix, in memory.
pub(super) struct Read<T> {
    values: Array2<T>,
    transposed: bool,
    conjugated: bool,
}

impl<T: Element> Read<T> {
    /// A copy of what enters as it is.
    pub(super) fn lying(values: Array2<T>) -> Self {
        Read { values, transposed: false, conjugated: false }
    }

    pub(super) fn view(&self) -> MatRef<'_, T> {
        let stored = MatRef::from(&self.values);
        let turned = if self.transposed { stored.t() } else { stored };
        if self.conjugated { turned.conj() } else { turned }
    }
}

/// A stored matrix, its elements conjugated: what streams have no form for.
pub(super) struct Conjugated<'a, T>(&'a dyn Source, std::marker::PhantomData<fn() -> T>);

impl<'a, T> Conjugated<'a, T> {
    pub(super) fn of(source: &'a dyn Source) -> Self {
        Conjugated(source, std::marker::PhantomData)
    }
}

impl<T: Element> Source for Conjugated<'_, T> {
    fn extents(&self) -> Extents {
        self.0.extents()
    }

    fn element(&self) -> store::Element {
        self.0.element()
    }

    fn grain(&self) -> Extents {
        self.0.grain()
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        self.0.read_tile(tile, out)?;
        for bytes in out.chunks_exact_mut(size_of::<T>()) {
            let value: T = bytemuck::pod_read_unaligned(bytes);
            bytes.copy_from_slice(bytemuck::bytes_of(&value.conjugate()));
        }
        Ok(())
    }
}

/// A result that is stored, and what is added to it.
pub(super) struct Kept<'a> {
    /// Nothing once it is committed.
    pub(super) sink: Option<Box<dyn Sink + 'a>>,
    pub(super) added: Option<&'a dyn Source>,
}

impl Kept<'_> {
    pub(super) fn shape(&self) -> Shape {
        self.sink.as_ref().map_or(Shape::new(Rows(0), Columns(0)), |sink| shape(sink.extents()))
    }

    /// What is written at once.
    pub(super) fn grain(&self) -> Extents {
        self.sink.as_ref().map_or(Extents::new(1, 1), |sink| sink.grain())
    }

    /// What is added, in memory; zeros where it is multiplied by 0.
    pub(super) fn added<T: Multiplicand>(&self, tile: &Tile, beta: T::Factor) -> Result<Array2<T>, Error> {
        match self.added.filter(|_| beta != T::Factor::ZERO) {
            Some(source) => {
                let added = Stored { source, transposed: false, conjugated: false };
                Ok(added.read(tile.rows.clone(), tile.columns.clone())?.values)
            }
            None => Ok(Array2::from_elem((tile.rows.len(), tile.columns.len()), T::ZERO)),
        }
    }

    /// Whether it is computed where it is wanted, in page-locked memory ([`Kept::computed`]).
    pub(super) fn lies(&self) -> bool {
        self.sink.as_ref().is_some_and(|sink| sink.locked().is_some())
    }

    /// Has it computed there, on what is added.
    pub(super) fn computed<T: Multiplicand>(
        &self,
        beta: T::Factor,
        compute: impl FnOnce(ArrayViewMut2<'_, T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(sink) = self.sink.as_deref().and_then(|sink| sink.locked()) else { return Ok(()) };
        let Shape { rows: Rows(rows), columns: Columns(columns) } = self.shape();
        let whole = Extents::new(rows, columns).whole();
        let mut compute = Some(compute);
        sink.land(&whole, &mut |memory, lies| {
            let Some(compute) = compute.take() else { return Ok(()) };
            let bytes = &mut memory.as_slice()[lies.begin..][..rows * columns * size_of::<T>()];
            if let Some(source) = self.added.filter(|_| beta != T::Factor::ZERO) {
                read_staged(source, &whole, bytes, cores())?;
            }
            let values = bytemuck::cast_slice_mut(bytes);
            let too_large = |_| Shape::new(Rows(rows), Columns(columns)).too_large::<T>();
            compute(ArrayViewMut2::from_shape((rows, columns), values).map_err(too_large)?)
        })?;
        sink.landed(&whole);
        Ok(())
    }

    /// Writes a tile of it.
    pub(super) fn write<T: Element + store::Stored>(&self, tile: &Tile, values: &Array2<T>) -> Result<(), Error> {
        let (Some(sink), values) = (&self.sink, values.as_standard_layout()) else { return Ok(()) };
        write_staged(&**sink, tile, values.as_slice().map_or(&[], T::bytes), cores())
    }

    /// Has what is gathered of parts of grains counted in a budget of host memory: as [`Sink::gather_within`].
    pub(super) fn gather_within(&self, host: &Budget) -> Result<(), Error> {
        self.sink.as_ref().map_or(Ok(()), |sink| sink.gather_within(host))
    }

    /// Lets somebody write tiles of any size to it.
    pub(super) fn filled(
        &self,
        host: &Budget,
        write: impl FnOnce(&dyn Sink) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.gather_within(host)?;
        self.sink.as_deref().map_or(Ok(()), write)
    }

    /// Makes what was written the result.
    pub(super) fn commit(&mut self) -> Result<(), Error> {
        self.sink.take().map_or(Ok(()), |sink| sink.commit())
    }
}

impl fmt::Debug for Kept<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { rows, columns } = self.shape();
        write!(f, "{} x {} {:?}", rows.0, columns.0, self.sink.as_ref().map(|sink| sink.at()))
    }
}

fn shape(Extents { rows, columns }: Extents) -> Shape {
    Shape::new(Rows(rows), Columns(columns))
}
