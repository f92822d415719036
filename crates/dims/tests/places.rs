//! Slices, vectors, rebased cursors, plain subscripts, and what coordinates do beside adding.

use std::collections::HashSet;
use tilewright_dims::{SliceError, dims, folds, max, min, tensor};

dims! { I, J, K, N, H, W, C }
folds! { K8 = K / 8, I8 = I / 8, J4 = J / 4 }

tensor!(Plain: i32, [I: 10, J: 10]);
tensor!(Folded: i32, [K/8: 4, I: 4, K%8]);
tensor!(Strided: i32, [I: 16 => 40, J: 32]);
tensor!(Image: i32, [N: 3, H: 5 => 64, W: 7 => 8, C: 8]);
tensor!(Halves: i32, [K/3: 5 => 24, I: 3 => 8, K%3 => 2]);

fn numbers(len: usize) -> Vec<i32> {
    (0..len as i32).collect()
}

/// 43: a slice keeps the strides, has extents of its own, and slices of slices add up.
#[test]
fn slices() {
    let data = numbers(Strided::STORAGE);
    let part = Strided::view(&data).unwrap().slice::<I, 4>(I(3)).unwrap();
    assert_eq!((*part.at(I(0)), *part.at(I(3) + J(5))), (120, 6 * 40 + 5));
    assert!(part.at(I(3)).in_range() && !part.at(I(4)).in_range());
    let inner = part.slice::<J, 2>(J(30)).unwrap().slice::<I, 1>(I(2)).unwrap();
    assert_eq!(*inner.at(J(1)), 5 * 40 + 31);

    let data = numbers(Folded::STORAGE);
    let folded = Folded::view(&data).unwrap();
    let part = folded.slice::<K, 2>(K8(2)).unwrap();
    for (k, i) in (0..16).flat_map(|k| (0..4).map(move |i| (k, i))) {
        assert_eq!(*part.at(K(k) + I(i)), *folded.at(K(16 + k) + I(i)));
    }
    let mistake = SliceError { dim: "K", start: 12, len: 16, unit: 8, extent: 32 };
    assert_eq!(folded.slice::<K, 2>(K(12)).err(), Some(mistake));
    assert!(mistake.to_string().contains("multiple of 8 and lie within 0..32"), "{mistake}");
    assert!(folded.slice::<K, 2>(K8(3)).is_err() && folded.slice::<K, 2>(K(-8)).is_err());
    assert!(folded.slice::<I, 0>(I(1)).is_err() && folded.slice::<I, 1>(I(3)).is_ok());

    let mut data = numbers(Folded::STORAGE);
    *Folded::view_mut(&mut data).unwrap().slice::<I, 2>(I(2)).unwrap().at(I(1) + K(9)) = -1;
    assert_eq!(data.iter().position(|v| *v == -1), Some(Folded::offset(I(3) + K(9)) as usize));
}

/// 64: vectors of the contiguous axis, whatever is folded or padded.
#[test]
fn vectors() {
    let data = numbers(Image::STORAGE);
    let image = Image::view(&data).unwrap();
    let fours = image.vectors::<4>();
    for n in 0..3 {
        for (h, w, c) in [(0, 0, 0), (4, 6, 4), (2, 3, 7)] {
            let at = N(n) + H(h) + W(w) + C(c);
            let first = *image.at(N(n) + H(h) + W(w) + C(c / 4 * 4));
            assert_eq!(*fours.at(at), [first, first + 1, first + 2, first + 3]);
        }
    }
    assert!(fours.at(C(7)).in_range() && !fours.at(C(8)).in_range());
    let data = numbers(Folded::STORAGE);
    let folded = Folded::view(&data).unwrap();
    assert_eq!(*folded.vectors::<8>().at(K(13) + I(2)), [48, 49, 50, 51, 52, 53, 54, 55]);
    assert_eq!(folded.vectors::<4>().at(K(13)).at(K(7)).at(I(2)).offset(), (2 * 32 + 2 * 8 + 4) / 4);
    let mut data = vec![0u8; 12];
    tensor!(Pairs: u8, [I: 2, J: 6]);
    *Pairs::view_mut(&mut data).unwrap().vectors::<3>().at(I(1) + J(3)) = [7; 3];
    assert_eq!(data, [0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 7]);
}

/// A rebased cursor goes on as if nothing had happened; what carries is not lost.
#[test]
fn rebasing_loses_no_carry() {
    let data = numbers(Folded::STORAGE);
    let a = Folded::view(&data).unwrap();
    for (x, y, z) in (0..512).map(|i| (i / 64, i / 8 % 8, i % 8)) {
        let (direct, rebased) = (a.at(K(x + y + z) + I(1)), a.at(K(x)).rebase().at(K(y)).at(I(1)).rebase().at(K(z)));
        assert_eq!((*rebased, rebased.offset(), rebased.coords()), (*direct, direct.offset(), direct.coords()));
    }
    let mut cursor = a.at(K(7)).rebase().at(K(0));
    cursor.step(K(1));
    assert_eq!(*cursor, 32);
    assert!(cursor.in_range() && !cursor.at(K(24)).in_range());
}

/// `a[i][k]` in any order, on every layout without derived dimensions; each dimension once.
#[test]
fn plain_subscripts() {
    let data = numbers(Image::STORAGE.max(Halves::STORAGE));
    let image = Image::view(&data).unwrap();
    for (n, h, w, c) in [(0, 0, 0, 0), (2, 4, 6, 7), (1, 3, 2, 5)] {
        let sum = *image.at(N(n) + H(h) + W(w) + C(c));
        assert_eq!(image[N(n)][H(h)][W(w)][C(c)], sum);
        assert_eq!(image[C(c)][W(w)][N(n)][H(h)], sum);
        assert_eq!(image[C(c) + N(n)][W(w) + H(h)], sum);
        assert_eq!(image[C(c) + N(n) + W(w) + H(h) + K(99)], sum);
    }
    let halves = Halves::view(&data).unwrap();
    for (k, i) in (0..15).flat_map(|k| (0..3).map(move |i| (k, i))) {
        assert_eq!((halves[K(k)][I(i)], halves[I(i)][K(k)]), (*halves.at(K(k) + I(i)), halves[I(i) + K(k)]));
    }
    let folded = Folded::view(&data).unwrap();
    assert_eq!((folded[K(13)][I(2)], folded[K8(1) + K(5)][I(2)]), (53, 53));
    assert_eq!(folded.vectors::<8>()[I(2)][K8(1)][5], 53);

    let mut data = numbers(Plain::STORAGE);
    let mut plain = Plain::view_mut(&mut data).unwrap();
    plain[I(3)][J(4)] = -7;
    plain[J(9) + I(9)] = -8;
    assert_eq!((plain[J(4)][I(3)], data[34], data[99]), (-7, -7, -8));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "K(32) lies outside 0..32")]
fn debug_builds_name_the_subscript_that_lies_outside() {
    let data = numbers(Folded::STORAGE);
    let _ = Folded::view(&data).unwrap()[K(32)][I(0)];
}

/// 13, 29: minima and maxima in whatever units, and along shared dimensions; renaming.
#[test]
fn minima_maxima_and_casts() {
    assert_eq!(
        (min(K8(3), K(20)), max(K8(3), K(20)), min(K(20), K8(3)), min(I8(1), I8(2))),
        (K(20), K(24), K(20), I(8))
    );
    let (a, b) = (I(1) + J(9), J(5) + I(7) + K(3));
    assert!(a.min(b) == I(1) + J(5) && a.max(b) == I(7) + J(9) && b.max(J4(10)) == J(40) + I(7) + K(3));
    let moved = (I(1) + I8(1) + J(4)).cast::<I, K>();
    assert!(moved == K(9) + J(4) && moved.cast::<K, J>().get::<J>() == J(13));
}

/// Ranges over coordinates: each point once.
#[test]
fn ranges_over_coordinates() {
    let points: Vec<_> = (I(2) + J(-1)).until(I(5) + J(3)).collect();
    assert_eq!((points.len(), points.iter().collect::<HashSet<_>>().len()), (12, 12));
    assert!(points.iter().all(|p| p.all_ge(I(2) + J(-1)) && p.all_lt(I(5) + J(3))));
    assert_eq!((I(2) + J(3)).until(I(2) + J(9)).len() + (I(5) + J(3)).until(I(2) + J(9)).count(), 0);
}
