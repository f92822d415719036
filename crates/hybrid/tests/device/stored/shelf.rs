//! Where matrices of the tests lie, and how they get there.

use crate::device::small;
use bytemuck::Pod;
use ndarray::{Array2, LinalgScalar};
use std::path::PathBuf;
use tempfile::TempDir;
use tilewright_driver::PinnedBuffer;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{At, Choice, last_decision, last_outcome};
use tilewright_hybrid::linear::{DeviceMat, Gpu};
use tilewright_hybrid::store::{
    Element, Extents, NpySink, NpySource, Order, PinnedSource, ReadTyped, Sink, Source, WriteTyped, Written,
};
use tilewright_hybrid::stream::Factor;
use tilewright_hybrid::{Complex32, Complex64, Device, Error, Multiplicand, Operand, Side, Streamed};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Lies {
    Host,
    Npy,
    Fortran,
    #[cfg(feature = "zarr")]
    Zarr,
    Locked,
    Gpu,
}

#[cfg(feature = "zarr")]
pub(super) const STORES: [Lies; 3] = [Lies::Npy, Lies::Fortran, Lies::Zarr];
#[cfg(not(feature = "zarr"))]
pub(super) const STORES: [Lies; 2] = [Lies::Npy, Lies::Fortran];

pub(super) trait Number: Multiplicand<Factor = Self> + Streamed + LinalgScalar {
    fn of(real: f64, imaginary: f64) -> Self;
}

macro_rules! numbers {
    ($($type:ty, |$real:ident, $imaginary:ident| $value:expr;)*) => { $(
        impl Number for $type {
            fn of($real: f64, $imaginary: f64) -> Self {
                $value
            }
        }
    )* };
}

numbers! {
    f32, |x, y| (x + 0.0 * y) as f32;
    f64, |x, y| x + 0.0 * y;
    Complex32, |x, y| Complex32::new(x as f32, y as f32);
    Complex64, |x, y| Complex64::new(x, y);
}

/// Whole numbers: sums of their products are exact in any order.
pub(super) fn values<T: Number>([rows, columns]: [usize; 2], seed: usize) -> Array2<T> {
    let of = |i: usize, j: usize, by: usize| ((i * 7 + j * by + seed) % 11) as f64 - 5.0;
    Array2::from_shape_fn((rows, columns), |(i, j)| T::of(of(i, j, 3), of(j, i, 5)))
}

/// A matrix somewhere.
pub(super) struct Stored<T: Number> {
    pub(super) array: Array2<T>,
    pub(super) source: Option<Box<dyn Source>>,
    pub(super) locked: Option<PinnedBuffer<T>>,
    pub(super) there: Option<DeviceMat<T>>,
}

pub(super) struct Shelf<'a> {
    pub(super) folder: TempDir,
    pub(super) gpu: Option<&'a Gpu>,
}

impl<'a> Shelf<'a> {
    /// An empty one, beside a GPU or none.
    pub(super) fn new(gpu: Option<&'a Gpu>) -> Self {
        Shelf { folder: tempfile::tempdir().unwrap(), gpu }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn sink(&self, lies: Lies, name: &str, element: Element, [rows, columns]: [usize; 2]) -> Box<dyn Sink> {
        let path = self.path(name);
        // Of an earlier product.
        let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
        let order = if lies == Lies::Fortran { Order::Fortran } else { Order::C };
        #[cfg(feature = "zarr")]
        if lies == Lies::Zarr {
            use tilewright_hybrid::store::{Shards, ZarrSink};
            let shards = Shards { shard: Extents::new(8, 6), chunk: Extents::new(4, 3) };
            return Box::new(ZarrSink::create(&path, Extents::new(rows, columns), element, shards).unwrap());
        }
        Box::new(NpySink::create(&path, &[rows, columns], element, order).unwrap())
    }

    pub(super) fn source(&self, lies: Lies, name: &str) -> Box<dyn Source> {
        #[cfg(feature = "zarr")]
        if lies == Lies::Zarr {
            return Box::new(tilewright_hybrid::store::ZarrSource::open(self.path(name)).unwrap());
        }
        assert!(STORES.contains(&lies));
        Box::new(NpySource::open(self.path(name)).unwrap())
    }

    pub(super) fn put<T: Number + Pod>(&self, lies: Lies, name: &str, array: &Array2<T>) -> Stored<T> {
        let mut stored = Stored { array: array.clone(), source: None, locked: None, there: None };
        match lies {
            Lies::Host => {}
            Lies::Locked => stored.locked = Some(self.locked(array)),
            Lies::Gpu => stored.there = Some(DeviceMat::upload(self.gpu.unwrap(), array.into()).unwrap()),
            _ => {
                let sink = self.sink(lies, name, T::ELEMENT, [array.nrows(), array.ncols()]);
                let all = sink.extents().whole();
                sink.write(&all, &array.iter().copied().collect::<Vec<T>>()).unwrap();
                sink.commit().unwrap();
                stored.source = Some(self.source(lies, name));
            }
        }
        stored
    }

    pub(super) fn locked<T: Number + Pod>(&self, array: &Array2<T>) -> PinnedBuffer<T> {
        let mut buffer = self.gpu.unwrap().stream().device().pinned(array.len()).unwrap();
        buffer.iter_mut().zip(array).for_each(|(to, from)| *to = *from);
        buffer
    }
}

impl<T: Number + Pod> Stored<T> {
    /// Calls with the matrix as an operand.
    pub(super) fn operand<R>(&self, use_it: impl FnOnce(Operand<'_, T>) -> R) -> R {
        let extents = Extents::new(self.array.nrows(), self.array.ncols());
        match (&self.source, &self.locked, &self.there) {
            (Some(source), ..) => use_it(Factor::plain(&**source).into()),
            (_, Some(buffer), _) => use_it((&PinnedSource::new(buffer, extents).unwrap()).into()),
            (.., Some(there)) => use_it(there.into()),
            _ => use_it((&self.array).into()),
        }
    }
}

pub(super) fn read<T: Number>(source: &dyn Source) -> Array2<T> {
    let Extents { rows, columns } = source.extents();
    let mut values = vec![T::of(f64::NAN, 0.0); rows * columns];
    source.read(&source.extents().whole(), &mut values).unwrap();
    Array2::from_shape_vec((rows, columns), values).unwrap()
}

/// The CPU, which reads what is stored within a budget, and the places that it can read and write.
pub(super) struct OnCpu {
    pub(super) shelf: Shelf<'static>,
    pub(super) host: Budget,
    pub(super) device: Device,
    pub(super) places: Vec<Lies>,
}

impl OnCpu {
    pub(super) fn new() -> Self {
        let host = Budget::new(Memory::Host, 1 << 20);
        let device = Device::cpu().falling_back_within(host.clone());
        OnCpu { shelf: Shelf::new(None), host, device, places: [&[Lies::Host], &STORES[..]].concat() }
    }

    /// That it did the last operation, which was this one.
    pub(super) fn was_asked(what: &str) {
        let decision = last_decision().unwrap();
        assert_eq!((decision.operation, decision.side), (what, Side::Cpu));
    }
}

/// Runs a scenario on a GPU that has room for all, and on one through which everything is streamed. It gets a function by which it tells its last operation, which
/// is held against the record.
pub(super) fn whole_and_streamed(gpu: &Gpu, scenario: impl Fn(&Shelf<'_>, &Device, &[Lies], &dyn Fn(&str))) {
    let shelf = Shelf::new(Some(gpu));
    for (bytes, is_streamed) in [(1 << 30, false), (9 << 10, true)] {
        let was_asked = |what: &str| {
            let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
            assert_eq!((decision.operation, decision.side, outcome.side), (what, Side::Gpu, Side::Gpu));
            assert_eq!(decision.gpu.unwrap().tiles.is_some(), is_streamed, "{what} {bytes}");
        };
        let device = small(gpu, bytes).choosing(Choice::Gpu);
        scenario(&shelf, &device, &[&[Lies::Host, Lies::Locked, Lies::Npy], &STORES[2..]].concat(), &was_asked);
    }
}

/// A sink of somebody else's.
pub(super) struct Whole(pub(super) Box<dyn Sink>);

impl Sink for Whole {
    fn extents(&self) -> Extents {
        self.0.extents()
    }

    fn element(&self) -> Element {
        self.0.element()
    }

    fn grain(&self) -> Extents {
        self.0.grain()
    }

    fn gather_within(&self, host: &Budget) -> Result<(), Error> {
        self.0.gather_within(host)
    }

    fn at(&self) -> At {
        self.0.at()
    }

    fn write_tile(&self, tile: &tilewright_hybrid::store::Tile, data: &[u8]) -> Result<(), Error> {
        self.0.write_tile(tile, data)
    }

    fn written(&self) -> Option<&dyn Written> {
        self.0.written()
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        self.0.commit()
    }
}
