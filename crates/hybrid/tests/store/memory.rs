//! Views of every layout.

use ndarray::{Array2, s};
use tilewright_hybrid::{
    Class, Error,
    store::{Element, Extents, MemorySink, MemorySource, ReadTyped, Sink, Source, Stored, Tile, WriteTyped},
};

use super::truth::{Random, check_source, fill, matrix};

fn layouts<T: Random>() {
    let base = matrix::<T>(67, 93, 1);
    let view = base.view();
    for view in [
        view,
        view.reversed_axes(),
        view.slice_move(s![3..50, 5..80]),
        view.slice_move(s![3..50, 5..80]).reversed_axes(),
        view.slice_move(s![..;2, ..;3]),
        view.slice_move(s![..;-1, ..;-2]),
        view.slice_move(s![.., 7..8]),
        view.slice_move(s![7..8, ..]),
        view.slice_move(s![0..0, ..]),
        view.slice_move(s![..;-1, 3..4]).reversed_axes(),
    ] {
        check_source(&MemorySource::new(view), &view);
    }
    let row = base.row(5);
    let broadcast = row.broadcast((40, 93)).unwrap();
    check_source(&MemorySource::new(broadcast), &broadcast);
    let flat = base.as_slice().unwrap();
    check_source(&MemorySource::from_slice(flat, Extents::new(67, 93)).unwrap(), &base.view());

    for size in [Extents::new(1, 1000), Extents::new(13, 17), Extents::new(200, 200)] {
        let mut target = matrix::<T>(150, 93, 9);
        let truth = matrix::<T>(75, 93, 4);
        let sink = MemorySink::new(target.slice_mut(s![..;-2, ..]));
        fill(&sink, &truth.view(), size);
        Box::new(sink).commit().unwrap();
        assert!(target.slice(s![..;-2, ..]) == truth);
        let untouched = matrix::<T>(150, 93, 9);
        assert!(target.slice(s![..;2, ..]) == untouched.slice(s![..;2, ..]));
    }
}

#[test]
fn all_layouts_of_all_elements() {
    layouts::<half::f16>();
    layouts::<half::bf16>();
    layouts::<f32>();
    layouts::<f64>();
    layouts::<num_complex::Complex<f32>>();
    layouts::<num_complex::Complex<f64>>();
    layouts::<i8>();
    layouts::<i16>();
    layouts::<i32>();
    layouts::<i64>();
    layouts::<u8>();
    layouts::<u16>();
    layouts::<u32>();
    layouts::<u64>();
    layouts::<bool>();
}

#[test]
fn what_does_not_fit_is_refused() {
    let values = Array2::<f32>::zeros((4, 5));
    let source = MemorySource::new(values.view());
    let mut target = Array2::<f32>::zeros((4, 5));
    let sink = MemorySink::new(target.view_mut());
    let backwards = std::ops::Range { start: 3, end: 2 };
    for (tile, length) in [
        (Tile { rows: 0..5, columns: 0..5 }, 25),
        (Tile { rows: 0..4, columns: 1..6 }, 20),
        (Tile { rows: backwards, columns: 0..5 }, 0),
        (Tile { rows: 0..2, columns: 0..2 }, 5),
        (Tile { rows: 0..usize::MAX, columns: 0..usize::MAX }, 1),
        (Tile { rows: 9..9, columns: 0..2 }, 0),
    ] {
        let read = source.read(&tile, &mut vec![0f32; length]).unwrap_err();
        let written = sink.write(&tile, &vec![0f32; length]).unwrap_err();
        assert!(matches!(read, Error::Shape { operation: "read", .. }), "{read}");
        assert!(matches!(written, Error::Shape { operation: "write", .. }), "{written}");
        assert_eq!((read.class(), written.class()), (Class::User, Class::User));
    }
    let whole = source.extents().whole();
    let error = source.read(&whole, &mut [0i32; 20]).unwrap_err();
    assert_eq!(error.to_string(), "read: the array's elements are f32, not i32");
    assert!(sink.write(&whole, &[0f64; 20]).is_err());
    assert!(MemorySource::from_slice(&[0u8; 5], Extents::new(2, 3)).is_err());
    assert!(MemorySource::from_slice(&[0u8; 5], Extents::new(usize::MAX, 3)).is_err());

    sink.write(&Tile { rows: 0..4, columns: 0..4 }, &[1f32; 16]).unwrap();
    let error = Box::new(sink).commit().unwrap_err();
    assert!(matches!(error, Error::Incomplete { row: 0, column: 4, .. }), "{error}");
}

#[test]
fn tiles_cover_a_matrix_once() {
    for (rows, columns) in [(0, 5), (1, 1), (7, 13), (16, 16)] {
        for (height, width) in [(0, 0), (1, 1), (3, 5), (16, 4), (usize::MAX, usize::MAX)] {
            let mut seen = Array2::<u32>::zeros((rows, columns));
            for tile in Extents::new(rows, columns).tiles(Extents::new(height, width)) {
                assert!(!tile.is_empty());
                seen.slice_mut(s![tile.rows, tile.columns]).iter_mut().for_each(|count| *count += 1);
            }
            assert!(seen.iter().all(|count| *count == 1));
        }
    }
    assert_eq!((Element::ALL.len(), <bool as Stored>::ELEMENT), (15, Element::Bool));
}
