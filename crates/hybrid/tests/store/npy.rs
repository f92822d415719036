//! NPY files, against the crate `ndarray-npy`.

use std::{fs, path::Path};

use ndarray::{Array, Array2, ArrayD, IxDyn, ShapeBuilder};
use ndarray_npy::{ReadNpyExt, ReadableElement, WritableElement, WriteNpyExt};
use num_complex::Complex;
use tilewright_hybrid::{
    Class, Error,
    store::{Element, Extents, NpySink, NpySource, Order, ReadTyped, Sink, Source, Stored, Tile},
};

use super::truth::{Random, check_source, fill, matrix};

fn write_by_library<T: WritableElement>(path: &Path, array: &Array2<T>) {
    array.write_npy(fs::File::create(path).unwrap()).unwrap();
}

fn read_by_library<T: ReadableElement>(path: &Path) -> ArrayD<T> {
    ArrayD::read_npy(fs::File::open(path).unwrap()).unwrap()
}

fn both_ways<T: Random + WritableElement + ReadableElement>() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    for (rows, columns) in [(1, 1), (67, 93), (3, 2000), (2000, 3), (0, 7), (7, 0)] {
        let truth = matrix::<T>(rows, columns, 5);
        write_by_library(&path, &truth);
        check_source(&NpySource::open(&path).unwrap(), &truth.view());
        let mut fortran = Array::from_elem((rows, columns).f(), T::default());
        fortran.assign(&truth);
        write_by_library(&path, &fortran);
        let source = NpySource::open(&path).unwrap();
        check_source(&source, &truth.view());
        for order in [Order::C, Order::Fortran] {
            for size in [Extents::new(10, 30), Extents::new(1, 5000), Extents::new(5000, 1)] {
                let sink = NpySink::create(&path, &[rows, columns], T::ELEMENT, order).unwrap();
                fill(&sink, &truth.view(), size);
                Box::new(sink).commit().unwrap();
                assert!(read_by_library::<T>(&path) == truth.clone().into_dyn(), "{order:?} {size:?}");
                assert_eq!(NpySource::open(&path).unwrap().order(), order);
            }
        }
    }
}

#[test]
fn floats() {
    both_ways::<f32>();
    both_ways::<f64>();
}

#[test]
fn complex_numbers() {
    both_ways_complex::<f32>();
    both_ways_complex::<f64>();
}

/// `ndarray-npy` knows these too, behind a feature that nothing else needs: here the parts are compared as floats.
fn both_ways_complex<T>()
where
    Complex<T>: Random,
{
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    let truth = matrix::<Complex<T>>(31, 45, 5);
    for order in [Order::C, Order::Fortran] {
        let sink = NpySink::create(&path, &[31, 45], Complex::<T>::ELEMENT, order).unwrap();
        fill(&sink, &truth.view(), Extents::new(8, 7));
        Box::new(sink).commit().unwrap();
        check_source(&NpySource::open(&path).unwrap(), &truth.view());
        let bytes = fs::read(&path).unwrap();
        let name = format!("'<c{}'", 2 * size_of::<T>());
        assert!(bytes[..128].windows(name.len()).any(|window| window == name.as_bytes()), "{name}");
    }
}

#[test]
fn integers_and_bools() {
    both_ways::<i8>();
    both_ways::<i16>();
    both_ways::<i32>();
    both_ways::<i64>();
    both_ways::<u8>();
    both_ways::<u16>();
    both_ways::<u32>();
    both_ways::<u64>();
    both_ways::<bool>();
}

#[test]
fn halves() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    let truth = matrix::<half::f16>(31, 45, 5);
    let sink = NpySink::create(&path, &[31, 45], Element::F16, Order::C).unwrap();
    fill(&sink, &truth.view(), Extents::new(8, 7));
    Box::new(sink).commit().unwrap();
    check_source(&NpySource::open(&path).unwrap(), &truth.view());
    // The other half of a float is there as bits.
    let truth = matrix::<half::bf16>(31, 45, 6);
    let sink = NpySink::create(&path, &[31, 45], Element::Bf16, Order::C).unwrap();
    fill(&sink, &truth.view(), Extents::new(8, 7));
    Box::new(sink).commit().unwrap();
    assert!(read_by_library::<u16>(&path) == truth.mapv(half::bf16::to_bits).into_dyn());
    let source = NpySource::open(&path).unwrap();
    assert_eq!(source.element(), Element::U16);
    check_source(&source.reinterpret(Element::Bf16).unwrap(), &truth.view());
    for other in [Element::F32, Element::U8, Element::Bool] {
        assert!(matches!(NpySource::open(&path).unwrap().reinterpret(other), Err(Error::ElementType { .. })));
    }
}

#[test]
fn the_other_order_of_bytes() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    fn check<T: Random>(path: &Path, descr: &str) {
        let truth = matrix::<T>(5, 7, 8);
        let word = if matches!(T::ELEMENT, Element::C64 | Element::C128) { size_of::<T>() / 2 } else { size_of::<T>() };
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (5, 7)}}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((text.len() as u16).to_le_bytes());
        file.extend(text.bytes());
        for value in &truth {
            T::bytes(&[*value]).chunks(word).for_each(|word| file.extend(word.iter().rev()));
        }
        fs::write(path, file).unwrap();
        check_source(&NpySource::open(path).unwrap(), &truth.view());
    }
    check::<u16>(&path, ">u2");
    check::<f32>(&path, ">f4");
    check::<i64>(&path, ">i8");
    check::<Complex<f32>>(&path, ">c8");
    check::<Complex<f64>>(&path, ">c16");
    check::<u8>(&path, ">u1");
}

#[test]
fn arrays_of_any_dimensions_are_matrices() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    for (shape, c, fortran) in [
        (vec![], (1, 1), (1, 1)),
        (vec![6], (1, 6), (1, 6)),
        (vec![2, 3, 4], (6, 4), (2, 12)),
        (vec![5, 1, 2, 3], (10, 3), (5, 6)),
        (vec![2, 0, 3], (0, 3), (2, 0)),
    ] {
        let mut next = super::truth::numbers(3);
        let truth = Array::from_shape_simple_fn(IxDyn(&shape), || next() as i32);
        for (order, (rows, columns)) in [(Order::C, c), (Order::Fortran, fortran)] {
            let sink = NpySink::create(&path, &shape, Element::I32, order).unwrap();
            assert_eq!((sink.extents(), sink.shape()), (Extents::new(rows, columns), &shape[..]));
            // Lines in the file's order are lines of the array in that order.
            let values: Vec<i32> = match order {
                Order::C => truth.iter().copied().collect(),
                Order::Fortran => truth.t().iter().copied().collect(),
            };
            let flat = match order {
                Order::C => Array2::from_shape_vec((rows, columns), values).unwrap(),
                Order::Fortran => Array2::from_shape_vec((rows, columns).f(), values).unwrap(),
            };
            fill(&sink, &flat.view(), Extents::new(2, 2));
            Box::new(sink).commit().unwrap();
            assert!(read_by_library::<i32>(&path) == truth, "{shape:?} {order:?}");
            let source = NpySource::open(&path).unwrap();
            assert_eq!(source.shape(), shape);
            check_source(&source, &flat.view());
        }
    }
}

#[test]
fn m5_files_that_are_not_what_they_say() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    write_by_library(&path, &matrix::<f64>(9, 11, 2));
    let whole = fs::read(&path).unwrap();
    let corrupt = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        match NpySource::open(&path) {
            Err(error @ Error::Corrupt { .. }) => {
                assert_eq!(error.class(), Class::Io);
                assert!(error.to_string().contains("a.npy"), "{error}");
                error.to_string()
            }
            other => panic!("{other:?}"),
        }
    };
    for length in 0..whole.len() {
        corrupt(&whole[..length]);
    }
    assert!(corrupt(&whole[..whole.len() - 1]).contains("[9, 11] of f64 makes a file of 920 bytes, and it has 919"));
    corrupt(&[&whole[..], &[0]].concat());
    // A flipped bit of the header is noticed, or makes another element type or order of the same size.
    for bit in 0..128 * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &flipped).unwrap();
        if let Ok(source) = NpySource::open(&path) {
            let extents = source.extents();
            assert_eq!(extents.rows * extents.columns * source.element().bytes(), 9 * 11 * 8, "bit {bit}");
        }
    }
    // Huge shapes are refused before anything is read.
    let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}";
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.bytes());
    assert!(corrupt(&file).contains("more than addresses reach"));
}

#[test]
fn bools_that_are_none() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a.npy");
    write_by_library(&path, &matrix::<bool>(5, 6, 2));
    let mut bytes = fs::read(&path).unwrap();
    bytes[128 + 6 * 2 + 3] = 7;
    fs::write(&path, bytes).unwrap();
    let source = NpySource::open(&path).unwrap();
    let error = source.read(&Tile { rows: 1..5, columns: 2..6 }, &mut [false; 16]).unwrap_err();
    assert!(error.to_string().contains("the bool at row 2, column 3 is 7"), "{error}");
    source.read(&Tile { rows: 0..2, columns: 0..6 }, &mut [false; 12]).unwrap();
}

#[test]
fn things_that_are_no_files() {
    let root = tempfile::tempdir().unwrap();
    for path in [root.path().join("absent.npy"), root.path().into(), "/dev/zero".into(), "".into()] {
        let error = NpySource::open(&path).unwrap_err();
        assert!(matches!(&error, Error::Io { path: named, .. } if *named == path), "{error}");
    }
    for path in [root.path().join("no/such/folder.npy"), "/".into(), "..".into(), "".into()] {
        let error = NpySink::create(&path, &[2, 2], Element::F32, Order::C).unwrap_err();
        assert_eq!(error.class(), Class::Io, "{error}");
    }
    let huge = NpySink::create(root.path().join("a.npy"), &[usize::MAX, 8], Element::F32, Order::C).unwrap_err();
    assert!(matches!(huge, Error::TooLarge { columns: 8, element_bits: 32, .. }), "{huge}");
}
