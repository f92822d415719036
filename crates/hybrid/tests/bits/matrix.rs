use ndarray::Axis;
use proptest::prelude::*;
use tilewright_hybrid::{
    Class, Error,
    bits::{BitMatrix, read_npy, write_npy},
};

use super::truth::{array, hostile};

fn matrix(rows: usize, columns: usize, seed: u64) -> BitMatrix {
    hostile(array(rows, columns, 3, seed).view())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn elements_come_back(rows in 0usize..150, columns in 0usize..150, seed: u64) {
        let elements = array(rows, columns, 4, seed);
        let bits = hostile(elements.view());
        prop_assert_eq!(&bits.to_array(), &elements);
        prop_assert_eq!(&BitMatrix::from_bytes(rows, columns, &bits.to_bytes()).unwrap(), &bits);
        let flat: Vec<bool> = elements.iter().copied().collect();
        prop_assert_eq!(&BitMatrix::from_bools(rows, columns, &flat).unwrap(), &bits);
        for row in 0..rows {
            let ones: Vec<usize> = (0..columns).filter(|&column| elements[[row, column]]).collect();
            prop_assert_eq!(bits.ones_of_row(row).collect::<Vec<_>>(), ones);
        }
    }

    #[test]
    fn counts_are_those_of_elements(rows in 0usize..200, columns in 0usize..200, seed: u64) {
        let elements = array(rows, columns, 5, seed);
        let bits = hostile(elements.view());
        let along = |axis| -> Vec<u64> {
            elements.lanes(Axis(axis)).into_iter().map(|lane| lane.iter().filter(|&&one| one).count() as u64).collect()
        };
        prop_assert_eq!(bits.row_counts(), along(1));
        prop_assert_eq!(bits.column_counts(), along(0));
        prop_assert_eq!(bits.count_ones(), along(0).iter().sum::<u64>());
        prop_assert_eq!((!&bits).count_ones(), (rows * columns) as u64 - bits.count_ones());
        prop_assert_eq!(bits.any(), elements.iter().any(|&one| one));
    }

    #[test]
    fn transposition_exchanges_rows_and_columns(rows in 0usize..300, columns in 0usize..300, seed: u64) {
        let elements = array(rows, columns, 4, seed);
        let transposed = hostile(elements.view()).transposed().unwrap();
        prop_assert_eq!(&transposed.to_array(), &elements.t());
        prop_assert_eq!(&transposed, &hostile(elements.t()));
    }

    #[test]
    fn elementwise_operations_are_those_of_elements(rows in 1usize..90, columns in 1usize..200, seed: u64) {
        let (a, b) = (array(rows, columns, 3, seed), array(rows, columns, 5, !seed));
        let (x, y) = (hostile(a.view()), hostile(b.view()));
        let each = |f: fn(bool, bool) -> bool| {
            BitMatrix::from_fn(rows, columns, |row, column| f(a[[row, column]], b[[row, column]])).unwrap()
        };
        prop_assert_eq!(x.and(&y).unwrap(), each(|a, b| a && b));
        prop_assert_eq!(x.or(&y).unwrap(), each(|a, b| a || b));
        prop_assert_eq!(x.xor(&y).unwrap(), each(|a, b| a != b));
        prop_assert_eq!(x.and_not(&y).unwrap(), each(|a, b| a && !b));
        prop_assert_eq!(!&x, each(|a, _| !a));
    }
}

#[test]
fn padding_stays_zero_whatever_comes_in() {
    for columns in [1, 63, 64, 65, 127, 128, 129] {
        let ones = BitMatrix::from_words(3, columns, vec![u64::MAX; 3 * columns.div_ceil(128) * 2]).unwrap();
        assert_eq!(ones.count_ones(), 3 * columns as u64, "{columns} columns");
        assert_eq!(ones, BitMatrix::ones(3, columns).unwrap());
        let bytes = BitMatrix::from_bytes(3, columns, &vec![0xff; 3 * columns.div_ceil(8)]).unwrap();
        assert_eq!(bytes, ones);
        assert_eq!((!ones).count_ones(), 0);
        assert_eq!(BitMatrix::random(3, columns, 1.0, 7).unwrap(), BitMatrix::ones(3, columns).unwrap());
    }
}

#[test]
fn random_bits_have_their_density() {
    for density in [0.0, 0.1, 0.5, 0.77, 1.0] {
        let bits = BitMatrix::random(300, 1000, density, 9).unwrap();
        let got = bits.count_ones() as f64 / 300_000.0;
        assert!((got - density).abs() < 0.005, "{got} of {density}");
        assert_eq!(bits, BitMatrix::random(300, 1000, density, 9).unwrap());
    }
    assert!(!BitMatrix::random(9, 9, f64::NAN, 1).unwrap().any());
}

#[test]
fn elements_outside_are_refused() {
    let mut bits = matrix(5, 70, 1);
    assert_eq!(bits.get(5, 0), None);
    assert_eq!(bits.get(0, 70), None);
    assert!(!bits.set(0, 70, true) && !bits.set(5, 0, true));
    assert!(bits.set(4, 69, true) && bits.get(4, 69) == Some(true));
    assert!(bits.set(4, 69, false) && bits.get(4, 69) == Some(false));
    assert!(bits.row_words(5).is_empty() && bits.row_words(usize::MAX).is_empty());
}

#[test]
fn wrong_shapes_are_the_users() {
    let errors = [
        BitMatrix::from_words(2, 3, vec![0; 3]).unwrap_err(),
        BitMatrix::from_bytes(2, 9, &[0; 3]).unwrap_err(),
        BitMatrix::from_bools(2, 3, &[true; 5]).unwrap_err(),
        BitMatrix::from_bools(usize::MAX, 0, &[true; 5]).unwrap_err(),
        BitMatrix::zeros(usize::MAX, 129).unwrap_err(),
        BitMatrix::zeros(1 << 60, 1 << 60).unwrap_err(),
        BitMatrix::zeros(1, usize::MAX).and_then(|_| BitMatrix::zeros(1 << 30, usize::MAX)).unwrap_err(),
        matrix(2, 3, 1).and(&matrix(2, 4, 1)).unwrap_err(),
        matrix(2, 3, 1).xor(&matrix(3, 3, 1)).unwrap_err(),
        matrix(4, 3, 1).row_range(3, 2).unwrap_err(),
        matrix(4, 3, 1).row_range(usize::MAX, 2).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.class(), Class::User, "{error}");
    }
    assert_eq!(matrix(4, 70, 1).row_range(1, 2).unwrap().rows(), 2);
}

#[test]
fn a_picture_shows_rows_as_lines() {
    let step = BitMatrix::from_fn(3, 4, |row, column| column == row + 1).unwrap();
    assert_eq!(step.to_string(), ".#..\n..#.\n...#\n");
    assert!(BitMatrix::zeros(70, 70).unwrap().to_string().ends_with(" ..\n.. 70 x 70\n"));
    assert_eq!(BitMatrix::zeros(0, 0).unwrap().to_string(), "");
}

#[test]
fn files_hold_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for (rows, columns) in [(0, 0), (1, 1), (5, 64), (37, 203)] {
        let path = folder.path().join(format!("{rows}x{columns}.npy"));
        let bits = matrix(rows, columns, 3);
        write_npy(&path, &bits).unwrap();
        assert_eq!(read_npy(&path).unwrap(), bits);
    }
}

#[test]
fn a_file_of_another_writer_has_whole_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let bits = matrix(7, 24, 3);
    write_npy(&path, &bits).unwrap();
    ndarray_npy::write_npy(&path, &ndarray::Array2::from_shape_vec((7, 3), bits.to_bytes()).unwrap()).unwrap();
    assert_eq!(read_npy(&path).unwrap(), bits);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn files_that_do_not_fit_are_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let bits = matrix(7, 30, 3);
    write_npy(&path, &bits).unwrap();
    // Others read the bytes, and see nothing else.
    let bytes: ndarray::Array2<u8> = ndarray_npy::read_npy(&path).unwrap();
    assert_eq!((bytes.dim(), bytes.into_raw_vec_and_offset().0), ((7, 4), bits.to_bytes()));
    let mut file = std::fs::read(&path).unwrap();
    let end = file.iter().position(|byte| *byte == b'\n').unwrap();
    assert_eq!(&file[end - 8..end], b"      \t ");
    // More bits that are not used than there are.
    file[end - 6] = b'\t';
    std::fs::write(&path, &file).unwrap();
    assert!(matches!(read_npy(&path), Err(Error::Corrupt { .. })));
    for array in [ndarray::Array2::<u16>::zeros((7, 4)).into_dyn(), ndarray::Array3::<u16>::zeros((7, 4, 1)).into_dyn()]
    {
        ndarray_npy::write_npy(&path, &array).unwrap();
        assert!(matches!(read_npy(&path), Err(Error::Corrupt { .. })));
    }
    std::fs::write(&path, b"not an array").unwrap();
    assert_eq!(read_npy(&path).unwrap_err().class(), Class::Io);
    assert_eq!(read_npy(folder.path().join("absent")).unwrap_err().class(), Class::Io);
}
