//! Laws of coordinates on random values, against a map from names to sums.

use proptest::prelude::*;
use std::collections::BTreeMap;
use tilewright_dims::{Coords, Dim, Point, Term, dims};

dims! { N, Y, X, C }

const RANGE: core::ops::Range<i32> = -1_000_000..1_000_000;

/// The slow truth: a sum is a map from names to numbers, absent ones zero.
fn truth(terms: &[(&'static str, i32)]) -> BTreeMap<&'static str, i32> {
    let mut map = BTreeMap::from(["N", "Y", "X", "C"].map(|name| (name, 0)));
    for &(name, value) in terms {
        *map.get_mut(name).expect("one of the four") += value;
    }
    map
}

fn seen<T: Term>(sum: T) -> BTreeMap<&'static str, i32> {
    let parts = sum.parts();
    let values = [(N::NAME, parts.value::<N>()), (Y::NAME, parts.value::<Y>()), (X::NAME, parts.value::<X>())];
    BTreeMap::from_iter(values.into_iter().chain([(C::NAME, parts.value::<C>())]))
}

proptest! {
    #[test]
    fn addition_commutes_and_associates([a, b, c, d] in [RANGE, RANGE, RANGE, RANGE]) {
        prop_assert_eq!(N(a) + Y(b), Y(b) + N(a));
        prop_assert_eq!((N(a) + Y(b)) + X(c), N(a) + (Y(b) + X(c)));
        prop_assert_eq!((N(a) + X(b)) + (X(c) + N(d)), (X(c) + N(d)) + (N(a) + X(b)));
        prop_assert_eq!(((C(a) + X(b)) + C(c)) + Y(d), C(a) + (X(b) + (C(c) + Y(d))));
    }

    #[test]
    fn sums_agree_with_the_map([a, b, c, d] in [RANGE, RANGE, RANGE, RANGE]) {
        prop_assert_eq!(seen(N(a)), truth(&[("N", a)]));
        prop_assert_eq!(seen(X(a) + C(b)), truth(&[("X", a), ("C", b)]));
        prop_assert_eq!(seen((N(a) + Y(b)) + (Y(c) + C(d))), truth(&[("N", a), ("Y", b), ("Y", c), ("C", d)]));
        prop_assert_eq!(seen(C(a) + (X(b) + Y(c) + N(d))), truth(&[("C", a), ("X", b), ("Y", c), ("N", d)]));
        prop_assert_eq!(seen((N(a) + Y(b)) - (Y(c) + C(d))), truth(&[("N", a), ("Y", b), ("Y", -c), ("C", -d)]));
        prop_assert_eq!(seen(X(a) - (N(b) + X(c)) - Y(d)), truth(&[("X", a), ("N", -b), ("X", -c), ("Y", -d)]));
    }

    #[test]
    fn subtraction_undoes_addition([a, b, c, d] in [RANGE, RANGE, RANGE, RANGE]) {
        let (p, q) = (N(a) + Y(b), Y(c) + X(d));
        prop_assert_eq!((p + q) - q, p + X(0));
        prop_assert_eq!(p - q, p + -q);
        prop_assert_eq!(p * 3, p + p + p);
        prop_assert_eq!(p - p, Coords::default());
    }

    #[test]
    fn projection_is_linear([a, b, c, d] in [RANGE, RANGE, RANGE, RANGE]) {
        let (p, q) = (N(a) + Y(b), Y(c) + X(d));
        prop_assert_eq!((p + q).get::<Y>(), p.get::<Y>() + q.get::<Y>());
        prop_assert_eq!((p - q).get::<X>(), p.get::<X>() - q.get::<X>());
        prop_assert_eq!((p * 5).get::<N>(), p.get::<N>() * 5);
    }

    #[test]
    fn comparison_is_that_of_the_integers(a: i32, b: i32) {
        prop_assert_eq!(N(a) == N(b), a == b);
        prop_assert_eq!(N(a) < N(b), a < b);
        prop_assert_eq!(N(a).cmp(&N(b)), a.cmp(&b));
        prop_assert_eq!(N(a).max(N(b)).get(), a.max(b));
    }

    #[test]
    fn assignment_is_addition([a, b, c, d] in [RANGE, RANGE, RANGE, RANGE]) {
        let mut p = N(a) + Y(b);
        p += N(c);
        p -= Y(d) + N(c);
        prop_assert_eq!(p, N(a) + Y(b) - Y(d));
    }
}
