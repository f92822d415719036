//! X1 to X4: products against their definitions, their laws, and one path against the other.

use proptest::prelude::*;
use tilewright_hybrid::{
    Class, Device, Error,
    bits::{BitMatrix, Path, Product},
    store::{Element, Extents, Source, Tile},
    stream::bits::Bits,
};

use super::truth::{array, count, distance, hostile};

fn paths() -> impl Iterator<Item = Path> {
    Path::ALL.into_iter().filter(|path| path.is_supported())
}

/// Compares all products of m x k by k x n, on every path; at most `looked_at` elements, spread over the result.
fn check(m: usize, k: usize, n: usize, looked_at: usize, seed: u64) {
    let (a, b) = (array(m, k, 4, seed), array(k, n, 5, seed + 1));
    let (x, y) = (hostile(a.view()), hostile(b.view()));
    let transposed = y.transposed().unwrap();
    let stride = (m * n / looked_at.max(1)).max(1);
    for path in paths() {
        let product = Product::of(&x, &y).unwrap().on(path).unwrap();
        let rows = Product::of_rows(&x, &transposed).unwrap().on(path).unwrap();
        let (counts, distances) = (product.counts().unwrap(), product.distances().unwrap());
        let (any, odd, many) =
            (product.paths().unwrap(), product.parities().unwrap(), product.more_than(k as u64 / 4).unwrap());
        assert_eq!(rows.counts().unwrap(), counts, "{path:?} {m} x {k} x {n}");
        assert_eq!(rows.parities().unwrap(), odd);
        assert_eq!(rows.counts_i64().unwrap(), counts.mapv(i64::from));
        assert_eq!(product.counts_u16().unwrap(), counts.mapv(|count| count.min(65535) as u16));
        assert_eq!(rows.row_counts().unwrap(), product.row_counts().unwrap());
        let sums: Vec<u64> = counts.rows().into_iter().map(|row| row.iter().map(|&count| count as u64).sum()).collect();
        assert_eq!(product.row_counts().unwrap(), sums);
        for at in (0..m * n).step_by(stride) {
            let (i, j) = (at / n, at % n);
            let expected = count(&a, &b, i, j);
            assert_eq!(counts[[i, j]] as u64, expected, "{path:?} {m} x {k} x {n} at {i}, {j}");
            assert_eq!(distances[[i, j]] as u64, distance(&a, &b, i, j));
            assert_eq!(any.get(i, j), Some(expected > 0));
            assert_eq!(odd.get(i, j), Some(expected % 2 == 1));
            assert_eq!(many.get(i, j), Some(expected > k as u64 / 4));
        }
        for (bits, truth) in [(any, 0), (many, k as i32 / 4)] {
            assert_eq!(bits.count_ones(), counts.iter().filter(|&&count| count > truth).count() as u64);
        }
    }
}

#[test]
fn x1_counts_are_exact_at_every_edge() {
    const SIZES: [usize; 10] = [1, 31, 32, 33, 63, 64, 65, 127, 128, 129];
    for (index, &m) in SIZES.iter().enumerate() {
        for (other, &k) in SIZES.iter().enumerate() {
            check(m, k, SIZES[(index + 3 * other) % SIZES.len()], 400, 17 * k as u64);
        }
    }
}

#[test]
fn x1_counts_are_exact_at_larger_sizes() {
    for (m, k, n) in
        [(1000, 130, 257), (65, 1000, 1000), (66, 4097, 65), (3, 8200, 1000), (4097, 65, 5), (4, 70_000, 5)]
    {
        check(m, k, n, 300, 5);
    }
}

#[test]
fn x1_counts_of_squares() {
    // The largest one takes minutes without optimisation.
    for &size in if cfg!(debug_assertions) { &[1000][..] } else { &[1000, 4097] } {
        let (a, b) = (array(size, size, 4, 7), array(size, size, 5, 8));
        let (x, y) = (hostile(a.view()), hostile(b.view()));
        let counts = Product::of(&x, &y).unwrap().counts().unwrap();
        for at in (0..size * size).step_by(size * size / 500) {
            assert_eq!(counts[[at / size, at % size]] as u64, count(&a, &b, at / size, at % size), "{size}");
        }
    }
}

#[test]
fn x1_products_without_elements() {
    for (m, k, n) in [(0, 5, 3), (3, 0, 4), (3, 5, 0), (0, 0, 0)] {
        check(m, k, n, 100, 5);
    }
}

#[test]
fn x2_the_identity_changes_nothing() {
    for size in [1, 64, 200, 321] {
        let bits = hostile(array(size, size, 4, 3).view());
        let one = BitMatrix::identity(size).unwrap();
        for product in [Product::of(&bits, &one).unwrap(), Product::of(&one, &bits).unwrap()] {
            assert_eq!(product.paths().unwrap(), bits);
            assert_eq!(product.parities().unwrap(), bits);
            assert_eq!(product.counts().unwrap(), bits.to_array().mapv(i32::from));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn x2_laws_of_both_algebras(m in 1usize..260, k in 1usize..140, l in 1usize..140, n in 1usize..140, seed: u64) {
        let a = hostile(array(m, k, 2, seed).view());
        let [b, d] = [1, 2].map(|more| hostile(array(k, l, 2, seed ^ more).view()));
        let c = hostile(array(l, n, 2, seed ^ 3).view());
        let xor = |a: &BitMatrix, b: &BitMatrix| Product::of(a, b).unwrap().parities().unwrap();
        let or = |a: &BitMatrix, b: &BitMatrix| Product::of(a, b).unwrap().paths().unwrap();
        prop_assert_eq!(xor(&xor(&a, &b), &c), xor(&a, &xor(&b, &c)));
        prop_assert_eq!(or(&or(&a, &b), &c), or(&a, &or(&b, &c)));
        prop_assert_eq!(xor(&a, &b.xor(&d).unwrap()), xor(&a, &b).xor(&xor(&a, &d)).unwrap());
        prop_assert_eq!(or(&a, &b.or(&d).unwrap()), or(&a, &b).or(&or(&a, &d)).unwrap());
        let counts = |b: &BitMatrix| Product::of(&a, b).unwrap().counts().unwrap();
        let whole = counts(&b.or(&d).unwrap()) + counts(&b.and(&d).unwrap());
        prop_assert_eq!(whole, counts(&b) + counts(&d));
    }

    /// Hamming's distance of rows is a metric, which a sum modulo 2 on both sides does not change, and follows from counts.
    #[test]
    fn x2_laws_of_distances(m in 1usize..70, k in 1usize..300, n in 1usize..70, seed: u64) {
        let [a, b, c] = [(m, 1), (n, 2), (m, 3)].map(|(rows, more)| hostile(array(rows, k, 3, seed ^ more).view()));
        let of = |a: &BitMatrix, b: &BitMatrix| Product::of_rows(a, b).unwrap().distances().unwrap();
        let (ab, own, rows) = (of(&a, &b), of(&a, &a), a.to_array());
        prop_assert!((0..m).all(|i| (0..m).all(|j| (own[[i, j]] == 0) == (rows.row(i) == rows.row(j)))));
        prop_assert_eq!(&of(&b, &a), &ab.t());
        let (ac, cb) = (of(&a, &c), of(&c, &b));
        for ((i, j), &direct) in ab.indexed_iter() {
            prop_assert!((0..m).all(|l| direct <= ac[[i, l]] + cb[[l, j]]));
        }
        let shift = hostile(array(1, k, 4, seed ^ 4).view());
        let shifted = |a: &BitMatrix| {
            let by = BitMatrix::from_fn(a.rows(), k, |_, j| shift.get(0, j) == Some(true)).unwrap();
            a.xor(&by).unwrap()
        };
        prop_assert_eq!(&of(&shifted(&a), &shifted(&b)), &ab);
        let counts = Product::of_rows(&a, &b).unwrap().counts().unwrap();
        let (of_a, of_b) = (a.row_counts(), b.row_counts());
        prop_assert!(ab.indexed_iter().all(|((i, j), &it)| it as u64 + 2 * counts[[i, j]] as u64 == of_a[i] + of_b[j]));
    }
}

#[test]
fn x3_all_paths_agree_on_every_element() {
    let a = BitMatrix::random(233, 2500, 0.4, 1).unwrap();
    let b = BitMatrix::random(2500, 170, 0.6, 2).unwrap();
    let truth = Product::of(&a, &b).unwrap().on(Path::Scalar).unwrap();
    for path in paths() {
        let product = Product::of(&a, &b).unwrap().on(path).unwrap();
        assert_eq!(product.counts().unwrap(), truth.counts().unwrap(), "{path:?}");
        assert_eq!(product.distances().unwrap(), truth.distances().unwrap());
        assert_eq!(product.more_than(600).unwrap(), truth.more_than(600).unwrap());
        assert_eq!(product.paths().unwrap(), truth.paths().unwrap());
        assert_eq!(product.parities().unwrap(), truth.parities().unwrap());
    }
}

#[test]
fn x3_results_do_not_depend_on_threads() {
    let a = BitMatrix::random(700, 300, 0.4, 1).unwrap();
    let b = BitMatrix::random(300, 500, 0.6, 2).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let product = Product::of(&a, &b).unwrap();
            (product.counts().unwrap(), product.paths().unwrap(), product.parities().unwrap())
        })
    };
    assert_eq!(run(1), run(5));
}

#[test]
fn counts_of_16_bits_stay_at_their_largest() {
    let ones = BitMatrix::ones(2, 70_000).unwrap();
    let product = Product::of_rows(&ones, &ones).unwrap();
    assert_eq!(product.counts_u16().unwrap()[[1, 0]], u16::MAX);
    assert_eq!(product.more_than(69_999).unwrap().count_ones(), 4);
    assert!(!product.more_than(70_000).unwrap().any());
}

/// A column of words that nobody reads.
struct Unread(usize);

impl Source for Unread {
    fn extents(&self) -> Extents {
        Extents::new(self.0, 1)
    }

    fn element(&self) -> Element {
        Element::U64
    }

    fn read_tile(&self, _: &Tile, _: &mut [u8]) -> Result<(), Error> {
        panic!("it is refused before it is read")
    }
}

#[test]
fn x4_counts_beyond_i32_are_refused_and_counted_in_i64() {
    let k = 1usize << 31;
    let ones = BitMatrix::ones(1, k).unwrap();
    let product = Product::of_rows(&ones, &ones).unwrap();
    for error in [product.counts().unwrap_err(), product.distances().unwrap_err()] {
        assert_eq!(error.class(), Class::User);
        assert!(error.to_string().contains("2147483648") && error.to_string().contains("counts_i64"), "{error}");
    }
    // All other results count the same way. That takes minutes without optimisation.
    if !cfg!(debug_assertions) {
        assert_eq!(product.counts_i64().unwrap()[[0, 0]], 1 << 31);
    }
    // By the face as well, for either processor.
    let unread = Unread(k);
    let column = Bits::new(&unread, 1).unwrap();
    for device in [Device::cpu(), Device::auto()] {
        let error = device.bit_distances(&ones, column).unwrap_err();
        assert!(matches!(error, Error::Unsupported { operation: "bit_distances", .. }), "{error}");
        assert!(error.to_string().contains("2147483648"), "{error}");
    }
}

#[test]
fn inner_extents_must_agree() {
    let (a, b) = (BitMatrix::ones(3, 5).unwrap(), BitMatrix::ones(4, 6).unwrap());
    assert_eq!(Product::of(&a, &b).unwrap_err().class(), Class::User);
    assert_eq!(Product::of_rows(&a, &b).unwrap_err().class(), Class::User);
}
