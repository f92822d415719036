//! Folds, layouts that are types, views and cursors. The numbers are those of the acceptance cases of typed dimensions.

use std::collections::HashSet;
use tilewright_dims::{Fold, Layout, TooShort, dims, folds, layout, tensor};

dims! { I, J, K, M, N, H, W, C }

folds! {
    I8 = I / 8,
    I16 = I / 16,
    I4 = I / 4,
    J4 = J / 4,
    J8 = J / 8,
    K8 = K / 8,
    K16 = K / 16,
    K4 = K / 4,
    K32 = K8 / 4,
}

/// 3 to 9: conversion rounds down, also below zero; sums and comparisons are exact whatever the units.
#[test]
fn folds_convert_add_and_compare() {
    assert_eq!((I(32).fold::<8>(), I(32).fold::<1>(), I8(32).unfold()), (I8(4), Fold::new(32), I(256)));
    assert_eq!((I8(32).fold::<16>(), I16(16).fold::<8>()), (I16(16), I8(32)));
    assert_eq!((I8(8) + I16(4), I16(4) + I8(8)), (I(128), I(128)));
    assert!(I8(8) + I16(4) == I8(16) && I16(4) - I8(8) == I8(0));
    assert_eq!((I8(8) + I(32), I(96) - I8(8), I8(2) - I(20)), (I(96), I(32), I(-4)));
    assert!(I8(8) == I16(4) && I8(8) < I(65) && I8(8) != I(65) && I16(2) < I8(8) && I(64) == I8(8) && I(63) < I8(8));
    assert!(K(23).fold::<8>() == K8(2) && K16(5).fold::<8>() == K8(10));
    assert_eq!([-1, -8, -9].map(|k| K(k).fold::<8>().get()), [-1, -1, -2]);
    assert_eq!(K32(1).unfold(), K(32));
    assert_eq!(I8(8).max(I16(5).fold()), I8(10));
}

/// 10 to 12 and 15: a remainder is in `0..modulus`; what is added to it unfolds and does not wrap.
#[test]
fn remainders() {
    assert_eq!((I(8) % 3, I(-1) % 4, I8(10) % 4), (I(2), I(3), I8(2)));
    assert_eq!((I16(10) % 4, (I16(3) + I16(2)).fold::<16>() % 4), (I16(2), I16(1)));
    assert_eq!((I16(1) - I16(2)).fold::<16>() % 4, I16(3));
    assert_eq!((I16(2) % 4 + I(8), I16(3) % 4 + I(16)), (I(40), I(64)));
}

#[test]
fn folds_in_place_and_in_print() {
    let mut k = K8(3);
    k += K8(2);
    k -= K8(1);
    assert_eq!((k, -k * 2), (K8(4), K8(-8)));
    assert_eq!(format!("{k:?} {:?}", K8::default()), "K/8(4) K/8(0)");
    assert_eq!((I(8).cast::<J>(), I8(3).cast::<J>().unfold()), (J(8), J(24)));
    assert_eq!(HashSet::from([K8(1), K8(1), K8(2)]).len(), 2);
}

/// 19 to 23: sums of folds of several dimensions.
#[test]
fn coordinates_of_folds() {
    assert_eq!(I(2) + I8(3) + J(1) + J4(2), J(9) + I(26));
    assert_eq!(I8(1) + I4(2), I4(4).unfold());
    assert_eq!((I(2) + J4(1)) + (I8(1) + J(3)), I(10) + J(7));
    assert_eq!((I(10) + J(5) - K(3)).get::<K>(), K(-3));
}

/// 24 to 26 and 28 to 30: only shared dimensions count; dropping, signs.
#[test]
fn comparisons_over_shared_dimensions() {
    assert!(!(I(1) + J(200)).all_lt(J(20) + K(30)) && (I(1) + J(2)).all_lt(J(20) + K(30)));
    let (a, b) = (I(1) + J(9), I(5) + J(5));
    assert!(!a.all_lt(b) && !a.all_ge(b) && !a.all_eq(b) && a != b);
    assert!(a.all_le(a) && a.all_eq(a) && !a.all_gt(a) && a.all_ge(J(9)) && a.all_lt(J8(2)));
    assert_eq!((I(1) + I8(1) + J(4)).without::<I>(), (J(4) + K(0)).without::<K>());
    assert!((I(0) + J(4)).all_non_negative() && !(I(3) + J8(-1)).all_non_negative());
}

tensor!(Plain: f32, [I: 10, J: 10]);
tensor!(Folded: f32, [K/8: 4, I: 4, K%8]);
tensor!(Blocks: u8, [K/4: 4]);
tensor!(Padded: u16, [N: 7, H: 16 => 1496, W: 33 => 44, C: 42]);
tensor!(Propagated: u8, [I: 4, J: 8 => 6, K: 4]);
tensor!(Three: u8, [K/32: 2, I: 3, K/8%4, K%8]);
tensor!(Gapped: u32, [I: 8 => 64, J: 32]);

/// 31 and 34: subscripts in any order, one by one or summed.
#[test]
fn order_and_grouping_do_not_matter() {
    assert_eq!(Plain::offset(I(2) + J(2)), 22);
    let data: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let a = Plain::view(&data).unwrap();
    assert_eq!((*a.at(I(2)).at(J(2)), *a.at(J(2)).at(I(2)), *a.at(I(2) + J(2))), (22.0, 22.0, 22.0));
    let mut cursor = a.at(I(2) + J(2));
    cursor.step(I(1));
    cursor.step(J(1));
    assert_eq!((*cursor, cursor.coords()), (33.0, I(3) + J(3)));

    let f = Folded::view(&data).unwrap();
    for (x, y, z) in (0..512).map(|i| (i / 64, i / 8 % 8, i % 8)) {
        let sum = *f.at(K(x + y + z));
        assert_eq!((*f.at(K(x)).at(K(y)).at(K(z)), *f.at(K(x) + K(y)).at(K(z))), (sum, sum));
    }
}

/// 32: what carries from one fold into the next is not lost.
#[test]
fn carries() {
    let data: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let a = Folded::view(&data).unwrap();
    assert_eq!(Folded::offset(I(2) + K(13)), 53);
    assert_eq!((*a.at(K8(1)).at(I(2)).at(K(5)), *a.at(I(2)).at(K(7)).at(K(6))), (53.0, 53.0));
    let mut cursor = a.at(I(1) + K(0));
    cursor.step(K(7));
    cursor.step(K(5));
    assert_eq!(cursor.offset(), 44);
    // 35: also where the tensor has no fold as fine as the steps.
    assert_eq!(Blocks::offset(K(4) + K(4)), 2);
    let bytes = [0, 1, 2, 3];
    assert_eq!(*Blocks::view(&bytes).unwrap().at(K(2)).at(K(2)), 1);
}

/// 33, 41 and 42: extents, and what lies inside.
#[test]
fn extents_and_bounds() {
    assert_eq!((Folded::extent::<K>(), Folded::extent::<I>(), Folded::LEN, Folded::BYTES), (K(32), I(4), 128, 512));
    assert!(Folded::contains(K(31)) && !Folded::contains(K(32)) && !Folded::contains(K(-1)) && !Folded::contains(I(4)));
    assert_eq!((Folded::checked_offset(I(3) + K(31)), Folded::checked_offset(I(4) + K(31))), (Some(127), None));
    let data = vec![1.0f32; 128];
    let a = Folded::view(&data).unwrap();
    assert!(a.at(K(31)).in_range() && !a.at(K(31)).at(K(1)).in_range());
    assert_eq!((a.at(K(32)).get(), a.at(I(3)).get()), (None, Some(&1.0)));
    assert_eq!(Folded::view(&data[1..]).err(), Some(TooShort { expected: 128, got: 127 }));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "K(32) lies outside 0..32")]
fn debug_builds_name_what_lies_outside() {
    let data = vec![0.0f32; 128];
    let _ = *Folded::view(&data).unwrap().at(K(32));
}

/// 37 and 38: projection, and coarse coordinates on fine axes.
#[test]
fn projection() {
    assert_eq!(Plain::offset(I(3) + K(42) + J(10)), Plain::offset(I(3) + J(10)));
    tensor!(Fine: u8, [J: 4, I: 32]);
    assert_eq!(Fine::offset(I8(2) + J(1)), 48);
}

/// 39, 40: sizes and strides.
#[test]
fn storage() {
    assert_eq!((Padded::LEN, Padded::STORAGE), (155_232, 1 + 6 * 16 * 1496 + 15 * 1496 + 32 * 44 + 41));
    let strides = |axes: Vec<(&'static str, i32)>| axes;
    type L = layout!(I: 4, J: 8 => 6, K: 4);
    assert_eq!(strides(L::axes().map(|a| (a.name, a.stride)).collect()), [("I", 48), ("J", 6), ("K", 1)]);
    assert_eq!(Propagated::offset(I(1) + J(1) + K(1)), 55);
}

/// 68: every coordinate once, padded or not; each has an element of its own.
#[test]
fn coordinates_of_a_tensor() {
    fn distinct<T>(offsets: impl Iterator<Item = T>) -> usize
    where
        T: std::hash::Hash + Eq,
    {
        offsets.collect::<HashSet<T>>().len()
    }
    assert_eq!((Gapped::LEN, distinct(Gapped::coords().map(Gapped::offset))), (256, 256));
    assert_eq!(Gapped::coords().map(|at| at.get::<I>()).max(), Some(I(7)));
    assert_eq!((Three::coords().len(), distinct(Three::coords().map(Three::offset))), (192, 192));
    assert!(Three::coords().all(Three::contains));
    assert_eq!(Three::coords().map(Three::offset).collect::<Vec<_>>(), (0..192).collect::<Vec<_>>());
    assert_eq!(Three::offset(K(32 + 8 * 3 + 5) + I(2)), 96 + 2 * 32 + 3 * 8 + 5);
}

/// 16 to 18: ranges along a dimension and a fold.
#[test]
fn ranges() {
    let numbers = |range: &mut dyn Iterator<Item = I>| range.map(|i| i.0).collect::<Vec<_>>();
    assert_eq!(numbers(&mut I(0).until(I(9)).step_by(2)), [0, 2, 4, 6, 8]);
    assert_eq!(numbers(&mut I(1).until(I(8)).step_by(2)), [1, 3, 5, 7]);
    assert_eq!(numbers(&mut I(0).until(I(8)).rev()), [7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!((I(0).until(I(0)).len(), I(5).until(I(2)).count()), (0, 0));
    assert_eq!(I16(0).until(I(33).fold()).collect::<Vec<_>>(), [I16(0), I16(1)]);
}

/// 52, 53 and 56: numbers taken apart, and shares of workers.
#[test]
fn compound_indices() {
    tensor!(Index: (), [I: 32, J: 8]);
    for index in 0..256 {
        assert!(
            Index::coords_of(index) == I(index / 8) + J(index % 8)
                && Index::coords_of(index + 256) == Index::coords_of(index)
        );
    }
    tensor!(Four: (), [I: 4, J: 32, K: 64, N: 128]);
    let index = 532_523;
    let expected = I(index / 262_144) + J(index / 8192 % 32) + K(index / 128 % 64) + N(index % 128);
    assert!(Four::coords_of(index) == expected);
    tensor!(Uneven: u8, [N: 5, K/8: 2, K%8]);
    for workers in [1, 7, 32, 100] {
        let shares: Vec<i32> = (0..workers).flat_map(|w| Uneven::partition(w, workers)).map(Uneven::offset).collect();
        assert_eq!((shares.len(), shares.iter().collect::<HashSet<_>>().len()), (80, 80));
    }
    assert_eq!((Uneven::partition(3, 32).count(), Uneven::partition(31, 32).count()), (3, 2));
    assert_eq!((Uneven::partition(90, 100).count(), Uneven::partition(0, 0).count()), (0, 80));
}

#[test]
fn writing() {
    let mut data = vec![0u32; Gapped::STORAGE];
    let mut t = Gapped::view_mut(&mut data).unwrap();
    for (number, at) in Gapped::coords().enumerate() {
        *t.at(at) = number as u32 + 1;
    }
    assert_eq!(*t.as_view().at(I(7) + J(31)), 256);
    let gaps = data.iter().filter(|v| **v == 0).count();
    assert_eq!(gaps, Gapped::STORAGE - Gapped::LEN);
    const { assert!(!<layout!(I: 8 => 64, J: 32)>::OVERLAPS && <layout!(I: 8 => 31, J: 32)>::OVERLAPS) };
    const { assert!(<layout!(I: 2 => 0, J: 2)>::OVERLAPS && <layout!(I: 4 => 1, J: 4)>::OVERLAPS) };
    const { assert!(!<layout!(I: 1 => 0, J: 2)>::OVERLAPS && !<layout!()>::OVERLAPS) };
}

/// 44: folds of one dimension from two indices accumulate; 41: modest sizes from expressions.
#[test]
fn several_folds() {
    type Tile = layout!(I/16: 4 => 64, K/8: 2 => 4, I%16 => 4);
    assert_eq!(<Tile as Layout>::RANK, 3);
    const ROWS: i32 = 4;
    tensor!(Sized: u8, [I/16: ROWS * 2, I%16]);
    assert_eq!((Sized::extent::<I>(), Sized::offset(I16(2) + I(5))), (I(128), 37));
}

/// 9: halo coordinates below zero go to the block below.
#[test]
fn negative_coordinates() {
    assert_eq!(Folded::offset(K(-1)), -32 + 7);
    assert_eq!(Folded::offset(K(-8) + I(1)), -32 + 8);
    assert_eq!(Folded::checked_offset(K(-1)), None);
}

use proptest::prelude::*;

tensor!(Swept: u8, [I/4: 3, K/8: 5 => 40, I%4 => 9, K/4%2, K%4]);

proptest! {
    /// Subscripts one by one give the offset of their sum, below zero too; and the offset is that of the definition.
    #[test]
    fn repeated_subscripts_are_their_sum(i in -9i32..30, x in -50i32..90, y in -50i32..90, z in -9i32..9) {
        let data = vec![0u8; Swept::STORAGE];
        let a = Swept::view(&data).unwrap();
        let sum = Swept::offset(I(i) + K(x + y + 8 * z));
        prop_assert_eq!(a.at(K(x)).at(I(i)).at(K8(z)).at(K(y)).offset(), sum);
        prop_assert_eq!(a.at(K(y) + K8(z) + I(i)).at(K(x)).offset(), sum);
        let k = x + y + 8 * z;
        let by_hand = i.div_euclid(4) * 200 + k.div_euclid(8) * 40 + i.rem_euclid(4) * 9
            + k.div_euclid(4).rem_euclid(2) * 4 + k.rem_euclid(4);
        prop_assert_eq!(sum, by_hand);
        let inside = (0..12).contains(&i) && (0..40).contains(&k);
        prop_assert_eq!(Swept::checked_offset(I(i) + K(k)), inside.then_some(sum));
    }

    /// Folds add and compare as the integers that they stand for.
    #[test]
    fn folds_are_integers(a in -9000i32..9000, b in -9000i32..9000) {
        prop_assert_eq!((K8(a) + K16(b)).0, 8 * a + 16 * b);
        prop_assert_eq!((K8(a) - K(b)).0, 8 * a - b);
        prop_assert_eq!(K8(a).partial_cmp(&K16(b)), (8 * a).partial_cmp(&(16 * b)));
        prop_assert_eq!(K(a).partial_cmp(&K8(b)), a.partial_cmp(&(8 * b)));
        prop_assert_eq!(K(a).fold::<8>().get(), (f64::from(a) / 8.0).floor() as i32);
        prop_assert_eq!(K(a).fold::<4>().fold::<16>(), K(a).fold::<16>());
    }
}
