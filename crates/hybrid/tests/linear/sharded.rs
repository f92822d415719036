//! Results that are streamed into sharded arrays, where tiles end within shards.

use super::numbers::{positive, random};
use ndarray::Array2;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::ProductExtents;
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::store::{
    Element, Extents, MemoryScratch, MemorySink, MemorySource, ReadTyped, Shards, Sink, Source, ZarrSink, ZarrSource,
};
use tilewright_hybrid::stream::{self, Budgets, Cancel, Control, Factor, MatmulPlan, Product, Verify};
use tilewright_hybrid::{Class, Error};

const SHARDS: Shards = Shards { shard: Extents::new(32, 24), chunk: Extents::new(8, 8) };
const SHARD_BYTES: u64 = 32 * 24 * 8;

/// Room in which a device has some tiles, beside what cuSOLVER wants.
fn budgets(gpu: &Gpu) -> Budgets {
    let least = gpu.solver().unwrap().getrf_bytes::<f64>(90, 1).unwrap() as u64;
    let device = Budget::new(Memory::Device, least + 20_000);
    Budgets { device, pinned: Budget::new(Memory::Pinned, 20_000) }
}

/// What a stream puts into a sharded array, with room for so many shards; and the peak of that room.
fn sharded(
    [rows, columns]: [usize; 2],
    shards: u64,
    stream: impl FnOnce(&dyn Sink) -> Result<(), Error>,
) -> (Result<Array2<f64>, Error>, u64) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("result.zarr");
    let (extents, host) = (Extents::new(rows, columns), Budget::new(Memory::Host, shards * SHARD_BYTES));
    let sink = ZarrSink::create(&path, extents, Element::F64, SHARDS).unwrap();
    sink.gather_within(&host).unwrap();
    let streamed = stream(&sink).and_then(|()| {
        assert!(!path.exists(), "nothing is there before the commit");
        Box::new(sink).commit()
    });
    assert_eq!(host.used(), 0);
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), usize::from(streamed.is_ok()));
    let read = || {
        let mut values = vec![f64::NAN; rows * columns];
        ZarrSource::open(&path)?.read(&extents.whole(), &mut values)?;
        Ok(Array2::from_shape_vec((rows, columns), values).unwrap())
    };
    (streamed.and_then(|()| read()), host.peak())
}

fn whole_numbers(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 7 + j * 3 + seed) % 11) as f64 - 5.0)
}

#[test]
fn products_are_streamed_into_shards_that_do_not_divide_their_tiles() {
    let test = "linear::sharded::products_are_streamed_into_shards_that_do_not_divide_their_tiles";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, b) = (whole_numbers(70, 90, 1), whole_numbers(90, 50, 2));
    let (left, right) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    let product = Product { a: Factor::plain(&left), b: Factor::plain(&right), c: None, alpha: 1.0, beta: 0.0 };
    let extents = ProductExtents { rows: 70, columns: 50, depth: 90 };
    let whole = MatmulPlan::new(extents, 8, 1 << 20, 3).unwrap();
    let control = Control { verify: Some(Verify::default()), ..Control::default() };
    for tile in [[25, 19], [9, 50], [70, 7], [33, 25], [32, 24], [70, 50]] {
        let plan = MatmulPlan { tile, panel: 40, ..whole };
        for shards in [1, 2, 9] {
            // Slots that have room for a tile, and for some elements of one.
            for pinned in [64 << 10, 3000] {
                let budgets = Budgets {
                    device: Budget::new(Memory::Device, 1 << 20),
                    pinned: Budget::new(Memory::Pinned, pinned),
                };
                let (result, peak) = sharded([70, 50], shards, |sink| {
                    stream::matmul_by(&plan, &gpu, &budgets, Precision::Auto, &product, sink, control).map(drop)
                });
                assert_eq!(result.unwrap(), a.dot(&b), "{tile:?} {shards} {pinned}");
                assert!(peak <= shards * SHARD_BYTES);
            }
        }
    }
    // By a plan of its own, and of vectors.
    let (result, _) = sharded([70, 50], 2, |sink| {
        stream::matmul(&gpu, &budgets(&gpu), Precision::Auto, &product, sink, control).map(drop)
    });
    assert_eq!(result.unwrap(), a.dot(&b));
    let x = whole_numbers(90, 1, 3);
    let vector = MemorySource::new(x.view());
    let product = Product { b: Factor::plain(&vector), ..product };
    let small = Budgets { device: Budget::new(Memory::Device, 12_000), pinned: Budget::new(Memory::Pinned, 4000) };
    let (result, _) =
        sharded([70, 1], 1, |sink| stream::matvec(&gpu, &small, Precision::Auto, &product, sink, control).map(drop));
    assert_eq!(result.unwrap(), a.dot(&x));
}

#[test]
fn solutions_are_streamed_into_shards_that_do_not_divide_their_panels() {
    let test = "linear::sharded::solutions_are_streamed_into_shards_that_do_not_divide_their_panels";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, b) = (positive::<f64>(1, 90), random::<f64>(2, 90, 37));
    let (of_a, of_b) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    let scratch = || MemoryScratch::new(Extents::new(90, 90), Element::F64).unwrap();
    let solve = |sink: &dyn Sink| {
        let factors = [Factor::plain(&of_a), Factor::plain(&of_b)];
        stream::solve::<f64>((&gpu, &budgets(&gpu)), factors, &scratch(), sink, Control::default()).map(drop)
    };
    let invert = |sink: &dyn Sink| {
        let a = Factor::plain(&of_a as &dyn Source);
        stream::inverse::<f64>((&gpu, &budgets(&gpu)), a, &scratch(), sink, Control::default()).map(drop)
    };
    let by_cholesky = |sink: &dyn Sink| {
        let (budgets, scratch) = (budgets(&gpu), scratch());
        let control = Control::default();
        let factors = stream::cholesky::<f64>((&gpu, &budgets), Factor::plain(&of_a), &scratch, control)?;
        factors.solve((&gpu, &budgets), Factor::plain(&of_b), sink, control).map(drop)
    };
    type Streamed<'a> = &'a dyn Fn(&dyn Sink) -> Result<(), Error>;
    for (what, columns, stream) in
        [("solve", 37, &solve as Streamed<'_>), ("inverse", 90, &invert), ("Cholesky", 37, &by_cholesky)]
    {
        let mut expected = Array2::from_elem((90, columns), f64::NAN);
        stream(&MemorySink::new(expected.view_mut())).unwrap();
        for shards in [1, 3, 20] {
            let (result, peak) = sharded([90, columns], shards, stream);
            assert_eq!(result.unwrap(), expected, "{what} {shards}");
            assert!(peak <= shards * SHARD_BYTES, "{what} {shards}");
        }
    }
}

/// What is stopped on its way leaves nothing.
#[test]
fn a_sharded_result_that_is_not_whole_is_not_there() {
    let test = "linear::sharded::a_sharded_result_that_is_not_whole_is_not_there";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, b) = (whole_numbers(70, 90, 1), whole_numbers(90, 50, 2));
    let (left, right) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    let product = Product { a: Factor::plain(&left), b: Factor::plain(&right), c: None, alpha: 1.0, beta: 0.0 };
    let extents = ProductExtents { rows: 70, columns: 50, depth: 90 };
    let plan = MatmulPlan { tile: [25, 19], ..MatmulPlan::new(extents, 8, 1 << 20, 3).unwrap() };
    let budgets =
        Budgets { device: Budget::new(Memory::Device, 1 << 20), pinned: Budget::new(Memory::Pinned, 64 << 10) };
    let cancel = Cancel::new();
    let tell = |done: u64, _: u64| {
        if done == 6 {
            cancel.cancel()
        }
    };
    let control = Control { cancel: Some(&cancel), progress: Some(&tell), ..Control::default() };
    let (result, _) = sharded([70, 50], 3, |sink| {
        stream::matmul_by(&plan, &gpu, &budgets, Precision::Auto, &product, sink, control).map(drop)
    });
    assert_eq!(result.unwrap_err().class(), Class::Cancelled);
    // A stream of another size leaves a hole.
    let (result, _) = sharded([70, 50], 3, |sink| sink.write_tile(&Extents::new(69, 50).whole(), &[0; 8 * 69 * 50]));
    assert!(matches!(result, Err(Error::Incomplete { row: 69, column: 0, .. })), "{result:?}");
}
