//! Type-level sets: union, difference, and the tuples that layouts are written as.

use core::any::TypeId;
use std::collections::BTreeSet;
use tilewright_dims::{Absent, Dim, Dims, First, Found, LeftOver, Minus, NoDim, Set, Union, Without, dims};

dims! { N, Y, X, C }

type SetOf<L> = <L as Dims>::Set;

fn names<S: Set>() -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    S::for_each(&mut |_, name| assert!(names.insert(name), "{name} is listed twice"));
    assert_eq!(names.len(), S::LEN);
    names
}

fn same<A: 'static, B: 'static>() -> bool {
    TypeId::of::<A>() == TypeId::of::<B>()
}

#[test]
fn tuples_list_outermost_first() {
    assert_eq!(<(N, C, Y, X)>::NAMES, ["N", "C", "Y", "X"]);
    assert_eq!(<(N, C, Y, X)>::IDS, [N::ID, C::ID, Y::ID, X::ID]);
    assert_eq!((<()>::RANK, <(N,)>::RANK, <(N, C, Y, X)>::RANK), (0, 1, 4));
    assert_eq!((SetOf::<()>::LEN, SetOf::<(N,)>::LEN, SetOf::<(N, C, Y, X)>::LEN), (0, 1, 4));
}

#[test]
fn tuples_go_up_to_eight() {
    dims! { K, P, Q, W }
    assert_eq!(<(N, Y, X, C, K, P, Q, W)>::RANK, 8);
    assert_eq!(names::<SetOf<(N, Y, X, C, K, P, Q, W)>>().len(), 8);
}

#[test]
fn the_set_of_a_tuple_forgets_the_order() {
    assert!(same::<SetOf<(N, C, Y, X)>, SetOf<(N, Y, X, C)>>());
    assert!(same::<SetOf<(N, C, Y, X)>, SetOf<(X, Y, C, N)>>());
    assert!(!same::<SetOf<(N, C)>, SetOf<(N, Y)>>());
    assert!(same::<SetOf<(N,)>, (N, ())>() && same::<SetOf<()>, ()>());
}

#[test]
fn a_set_is_sorted_by_the_digits_of_its_ids() {
    let mut keys = Vec::new();
    SetOf::<(N, C, Y, X)>::for_each(&mut |id, _| keys.push((0..32).map(|k| (id >> (2 * k)) & 3).collect::<Vec<_>>()));
    assert!(keys.is_sorted(), "{keys:?}");
}

#[test]
fn union_takes_from_both() {
    type Picture = SetOf<(Y, X, C)>;
    type Boxes = SetOf<(N, Y)>;
    assert_eq!(names::<Union<Picture, Boxes>>(), BTreeSet::from(["N", "Y", "X", "C"]));
    assert!(same::<Union<Picture, Boxes>, Union<Boxes, Picture>>());
    assert!(same::<Union<Picture, Picture>, Picture>() && same::<Union<(), Picture>, Picture>());
    assert!(Picture::contains::<C>() && !Picture::contains::<N>());
}

#[test]
fn without_tells_whether_it_was_there() {
    type Picture = SetOf<(Y, X, C)>;
    assert!(same::<<Picture as Without<C>>::Rest, SetOf<(Y, X)>>());
    assert!(same::<<Picture as Without<C>>::Was, Found>());
    assert!(same::<<Picture as Without<N>>::Rest, Picture>());
    assert!(same::<<Picture as Without<N>>::Was, Absent>());
    assert!(same::<<() as Without<N>>::Was, Absent>());
}

#[test]
fn minus_keeps_what_the_other_lacks() {
    type Picture = SetOf<(Y, X, C)>;
    assert!(same::<<Picture as Minus<SetOf<(X, N, Y)>>>::Out, (C, ())>());
    assert!(same::<LeftOver<Picture, SetOf<(X, N, Y)>>, C>());
    assert!(same::<LeftOver<Picture, SetOf<(C, X, N, Y)>>, NoDim>());
    assert!(same::<LeftOver<(), Picture>, NoDim>());
    assert!(same::<<() as First>::Out, NoDim>());
}
