//! Several threads read and write one file.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use tilewright_hybrid::{
    Error,
    store::{
        Element, Extents, MemorySink, MemorySource, NpySink, NpySource, Order, Sink, Source, Stored, Tile, read_staged,
        write_staged,
    },
};

use super::truth::matrix;

#[test]
fn m8_bands_make_the_whole() {
    let root = tempfile::tempdir().unwrap();
    let truth = matrix::<u32>(1031, 1021, 1);
    for order in [Order::C, Order::Fortran] {
        let path = root.path().join("a.npy");
        let sink = NpySink::create(&path, &[1031, 1021], Element::U32, order).unwrap();
        for (index, tile) in sink.extents().tiles(Extents::new(700, 900)).enumerate() {
            let part = super::truth::part(&truth.view(), &tile);
            write_staged(&sink, &tile, u32::bytes(&part), index + 1).unwrap();
        }
        Box::new(sink).commit().unwrap();
        let source = NpySource::open(&path).unwrap();
        for threads in [0, 1, 2, 3, 7, 1000] {
            let tile = Tile { rows: 5..1030, columns: 3..1021 };
            let mut got = vec![u32::MAX; tile.rows.len() * tile.columns.len()];
            read_staged(&source, &tile, bytemuck::cast_slice_mut(&mut got), threads).unwrap();
            assert!(got == super::truth::part(&truth.view(), &tile), "{order:?} {threads}");
        }
    }
    let source = MemorySource::new(truth.view());
    let mut target = ndarray::Array2::<u32>::zeros((1031, 1021));
    let sink = MemorySink::new(target.view_mut());
    let whole = source.extents().whole();
    let mut bytes = vec![0; 1031 * 1021 * 4];
    read_staged(&source, &whole, &mut bytes, 4).unwrap();
    write_staged(&sink, &whole, &bytes, 4).unwrap();
    Box::new(sink).commit().unwrap();
    assert!(target == truth);
    assert!(read_staged(&source, &whole, &mut bytes[1..], 4).is_err());
}

/// A source that fails at one row.
struct Failing(AtomicUsize);

impl Source for Failing {
    fn extents(&self) -> Extents {
        Extents::new(1024, 1024)
    }
    fn element(&self) -> Element {
        Element::F64
    }
    fn read_tile(&self, tile: &Tile, _: &mut [u8]) -> Result<(), Error> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match tile.rows.contains(&600) {
            true => Err(Error::Cancelled { done: 600, steps: 1024 }),
            false => Ok(()),
        }
    }
}

#[test]
fn an_error_of_one_thread_is_the_error() {
    let source = Failing(AtomicUsize::new(0));
    let error = read_staged(&source, &source.extents().whole(), &mut vec![0; 8 << 20], 4).unwrap_err();
    assert!(matches!(error, Error::Cancelled { done: 600, .. }));
    assert_eq!(source.0.load(Ordering::SeqCst), 4);
}

#[test]
fn m8_hints_are_taken_and_drop_what_was_read() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    let extents = Extents::new(2048, 4096);
    let sink = NpySink::create(&path, &[extents.rows, extents.columns], Element::F32, Order::C).unwrap();
    write_staged(&sink, &extents.whole(), &vec![1; 32 << 20], 2).unwrap();
    Box::new(sink).commit().unwrap();
    let source = NpySource::open(&path).unwrap();
    let mut bytes = vec![0; 32 << 20];
    for threads in [1, 2, 4] {
        source.release(&extents.whole()).unwrap();
        let begin = Instant::now();
        source.prefetch(&extents.whole()).unwrap();
        read_staged(&source, &extents.whole(), &mut bytes, threads).unwrap();
        eprintln!("{threads} threads, cold: {:.2} GB/s", bytes.len() as f64 / begin.elapsed().as_nanos() as f64);
    }
    assert!(bytes.iter().all(|byte| *byte == 1));
    // Odd ranges are taken too: no hint needs an alignment.
    for tile in extents.tiles(Extents::new(777, 1111)) {
        source.prefetch(&tile).unwrap();
        source.release(&tile).unwrap();
    }
    let outside = Tile { rows: 0..1, columns: 0..5000 };
    assert!(source.prefetch(&outside).is_err() && source.release(&outside).is_err());
}
