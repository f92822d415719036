//! Derived dimensions: swizzles, compound indices, and chains of them.

use std::collections::HashSet;
use tilewright_dims::{Layout, TensorType, dims, folds, tensor};

dims! { I, K, J, CELL, LANE, WARP, OFFSET, X2, C2D }
folds! { K8 = K / 8, I16 = I / 16, OFFSET8 = OFFSET / 8 }

tensor!(Swizzled: u16, [K/16: 4, I/16: 8, CELL: 32] via checkerboard(8: I%16, K/8%2 -> CELL));
tensor!(Coarse: u16, [CELL: 32, I/16: 4, K/16: 2] via checkerboard(8: I%16, K/8%2 -> CELL));

/// The formula: pair and colour to cell.
fn cell(pair: i32, colour: i32) -> i32 {
    (2 * pair + colour) ^ (pair / 4 % 2)
}

/// 45, 46, 47: the cells of the acceptance cases, their inverse, and the banks.
#[test]
fn the_checkerboard() {
    tensor!(Cells: u8, [CELL: 32] via checkerboard(8: I%16, K%2 -> CELL));
    let row = |colour| (0..16).map(|pair| Cells::offset(I(pair) + K(colour))).collect::<Vec<_>>();
    assert_eq!(row(0), [0, 2, 4, 6, 9, 11, 13, 15, 16, 18, 20, 22, 25, 27, 29, 31]);
    assert_eq!(row(1), [1, 3, 5, 7, 8, 10, 12, 14, 17, 19, 21, 23, 24, 26, 28, 30]);
    assert_eq!(Cells::coords().map(Cells::offset).collect::<Vec<_>>(), (0..32).collect::<Vec<_>>());
    for colour in 0..2 {
        for first in [0, 8] {
            let banks: HashSet<i32> = (first..first + 8).map(|pair| Cells::offset(I(pair) + K(colour)) % 8).collect();
            assert_eq!(banks.len(), 8);
        }
    }
    assert_eq!((Swizzled::offset(I(37) + K8(3)), Swizzled::offset(I(37) + K(24))), (330, 330));
}

/// 36: repeated subscripts equal their sum, on swizzled layouts too, and before a rebase as behind it.
#[test]
fn a_swizzle_forgets_nothing() {
    let data: Vec<u16> = (0..1024).collect();
    let s = Swizzled::view(&data).unwrap();
    for (i, k, more) in (0..40).flat_map(|i| (0..64).step_by(4).map(move |k| (3 * i, k, i % 7))) {
        let sum = Swizzled::offset(I(i + more) + K(k));
        assert_eq!(sum, k / 16 * 256 + (i + more) / 16 * 32 + cell((i + more) % 16, k / 8 % 2));
        assert_eq!(s.at(I(i)).at(K(k)).at(I(more)).offset(), sum);
        assert_eq!(s.at(I(i)).rebase().at(K(k)).rebase().at(I(more)).offset(), sum);
        assert_eq!(i32::from(*s.at(K(k)).at(I(more)).at(I(i))), sum);
    }
}

/// Every element once, by the coordinates that one writes.
#[test]
fn elements_of_a_swizzled_tensor() {
    assert_eq!((Swizzled::extent::<I>(), Swizzled::extent::<K>(), Coarse::extent::<I>()), (I(128), K(64), I(64)));
    let all: HashSet<i32> = Swizzled::coords().map(Swizzled::offset).collect();
    assert_eq!((all.len(), Swizzled::LEN), (1024, 1024));
    assert!(Swizzled::coords().all(Swizzled::contains) && !Swizzled::contains(I(128)) && !Swizzled::contains(K(-1)));
    let mut data = vec![0u16; Swizzled::STORAGE];
    let mut s = Swizzled::view_mut(&mut data).unwrap();
    for (i, at) in (1..).zip(Swizzled::coords()) {
        *s.at(at) = i;
    }
    assert!(data.iter().enumerate().all(|(place, i)| place as u16 + 1 == *i));
    const { assert!(!<Swizzled as TensorType>::Layout::OVERLAPS) };
}

/// The elements of a cell: finer than what the map reads, and spoken for from there on.
#[test]
fn cells_of_several_elements() {
    tensor!(Tiles: u16, [K/16: 2, I/16: 2, CELL: 32, K%8] via checkerboard(8: I%16, K/8%2 -> CELL));
    assert_eq!((Tiles::LEN, Tiles::extent::<I>(), Tiles::extent::<K>()), (1024, I(32), K(32)));
    for (i, k) in (0..32).flat_map(|i| (0..32).map(move |k| (i, k))) {
        let expected = k / 16 * 512 + i / 16 * 256 + 8 * cell(i % 16, k / 8 % 2) + k % 8;
        assert_eq!(Tiles::offset(I(i) + K(k)), expected);
    }
    assert_eq!(Tiles::coords().map(Tiles::offset).collect::<HashSet<_>>().len(), 1024);
}

/// 48, 49: inputs are reduced, a missing one is zero, as everywhere.
#[test]
fn inputs_are_reduced() {
    for (i, k) in (0..64).flat_map(|i| (0..32).map(move |k| (i, k))) {
        let expected = cell(i % 16, k / 8 % 2) * 8 + i / 16 * 2 + k / 16;
        assert_eq!(Coarse::offset(I(i) + K(k)), expected);
    }
    assert_eq!(Swizzled::offset(I(5)), cell(5, 0));
    assert_eq!(Swizzled::offset(I(-1)), -32 + cell(15, 0));
}

// Sixteen rows, then the same rows eight columns further: what the lanes of an 8 x 8 matrix load address.
tensor!(Loaded: u16, [K/16: 4, I/16: 8, CELL: 32]
    via index(LANE -> [K/8: 2, I: 16])
    via checkerboard(8: I%16, K/8%2 -> CELL));

/// 50: a lane becomes a row and a column, and those a cell; what coarser indices add comes on top.
#[test]
fn maps_compose() {
    for thread in 0..128 {
        let (lane, warp) = (thread % 32, thread / 32);
        let (i, k) = (lane & 15, lane >> 4);
        let expected = 3 * 256 + warp * 32 + cell(i, k);
        assert_eq!(Loaded::offset(LANE(lane) + I16(warp) + K(48)), expected);
    }
    assert_eq!(Loaded::offset(LANE(33)), Loaded::offset(LANE(1)));
    assert_eq!(Loaded::coords().map(Loaded::offset).collect::<HashSet<_>>().len(), 1024);
    let mut text = String::new();
    <Loaded as TensorType>::Layout::write_maps(&mut text).unwrap();
    assert_eq!(text, " via index(LANE -> [K/8: 2, I: 16]) via checkerboard(8: I%16, K/8%2 -> CELL)");
}

/// 55, 68: an offset taken apart, from whatever parts it comes; names with digits are names.
#[test]
fn compound_indices_as_derived_dimensions() {
    tensor!(Of: u8, [X2: 4, C2D: 8] via index(OFFSET -> [X2: 4, C2D: 8]));
    assert_eq!(Of::offset(OFFSET(5) + OFFSET8(2) + J(100)), 21);
    assert_eq!(Of::offset(OFFSET(21)), Of::offset(X2(2) + C2D(5)));
}
