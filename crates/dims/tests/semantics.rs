//! What dimensions and coordinates do, by example.

use core::any::TypeId;
use std::collections::HashSet;
use tilewright_dims::{Coords, Dim, Term, dims, fnv1a};

dims! {
    /// A documented dimension.
    N,
    pub Y,
    pub(crate) X,
    C,
}

/// Names that meet the generic parameters of the crate's own impls and macros, and names that look like folds.
mod awkward {
    tilewright_dims::dims! { R, T, H, L, D, S, F, Rhs, Self_, X2, C2D, Dim, Term }
}

fn type_of<T: 'static>(_: T) -> TypeId {
    TypeId::of::<T>()
}

#[test]
fn a_dimension_is_an_integer_of_its_own_kind() {
    assert_eq!(N(7) + N(8), N(15));
    assert_eq!(N(7) - N(8), N(-1));
    assert_eq!(-N(3) * 4, N(-12));
    assert_eq!(N(3).min(N(5)), N(3));
    assert_eq!(N(3).max(N(5)), N(5));
    assert!(N(-1) < N(0) && N(2) >= N(2) && N(2) != N(3));
    let mut n = N::default();
    n += N(5);
    n -= N(2);
    assert_eq!((n, n.get(), N::new(3)), (N(3), 3, N(3)));
    assert_eq!(N(i32::MIN) - N(i32::MIN), N(0));
    assert_eq!([N(2), N(1), N(2)].into_iter().collect::<HashSet<_>>().len(), 2);
    assert_eq!(size_of::<N>(), 4);
}

#[test]
fn names_and_ids() {
    assert_eq!(N::NAME, "N");
    assert_eq!(N::ID, fnv1a(concat!(module_path!(), "::N")));
    assert_eq!(format!("{:?} {:?}", N(3), awkward::C2D(-1)), "N(3) C2D(-1)");
}

#[test]
fn fnv1a_agrees_with_its_published_vectors() {
    assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn sums_have_one_type_whatever_the_order() {
    assert_eq!(type_of(N(1) + Y(2)), type_of(Y(2) + N(1)));
    assert_eq!(type_of(N(1) + Y(2) + X(3)), type_of(X(3) + (Y(2) + N(1))));
    assert_eq!(type_of(N(1) + Y(2) + N(3)), type_of(N(1) + Y(2)));
    assert_eq!(type_of(N(1) + N(2)), TypeId::of::<N>());
    assert_eq!(N(1) + Y(2) + N(3), Y(2) + N(4));
    assert_eq!(size_of_val(&(N(1) + Y(2) + X(3))), 12);
}

#[test]
fn differences_negate_what_is_only_on_the_right() {
    assert_eq!(N(1) - Y(2), N(1) + Y(-2));
    assert_eq!((N(10) + Y(5)) - X(3), N(10) + Y(5) + X(-3));
    assert_eq!(N(10) - (N(4) + Y(5)), N(6) + Y(-5));
    assert_eq!((N(i32::MIN) + Y(0)) - N(i32::MIN), N(0) + Y(0));
    assert_eq!(-(N(1) + Y(-2)), N(-1) + Y(2));
    assert_eq!((N(1) + Y(-2)) * 3, N(3) + Y(-6));
}

#[test]
fn projection_reads_absent_dimensions_as_zero() {
    let at = N(1) + Y(2) + X(3);
    assert_eq!((at.get::<N>(), at.get::<Y>(), at.get::<X>(), at.get::<C>()), (N(1), Y(2), X(3), C(0)));
}

#[test]
fn coordinates_change_in_place_without_changing_type() {
    let mut at = N(1) + Y(2);
    at += Y(3);
    at -= Y(1) + N(5);
    assert_eq!(at, N(-4) + Y(4));
}

#[test]
fn coordinates_print_as_they_are_written() {
    let text = format!("{:?}", N(1) + Y(-2));
    assert!(text == "N(1) + Y(-2)" || text == "Y(-2) + N(1)", "{text}");
    assert_eq!(format!("{:?}", Coords::<()>::default()), "Coords()");
    assert_eq!(Coords::<()>::default() + N(3), N(3));
    assert_eq!(type_of(Coords::<()>::default() + Coords::<()>::default()), TypeId::of::<Coords<()>>());
}

#[test]
fn any_name_will_do() {
    use awkward::*;
    let at = R(1) + T(2) + H(3) + L(4) + D(5) + S(6) + F(7) + Rhs(8) + X2(9) + C2D(10);
    assert_eq!(at.get::<R>() + R(1), R(2));
    assert_eq!(at.get::<C2D>(), C2D(10));
    assert!(R(1) < R(2) && awkward::Dim(1) == awkward::Dim(1));
}

#[test]
fn generic_code_adds_dimensions() {
    fn far<A: Dim, T: Term>(at: Coords<T::Parts>, _: T) -> i32 {
        at.get::<A>().get()
    }
    assert_eq!(far::<Y, _>(N(1) + Y(9), N(1) + Y(9)), 9);
}

#[test]
fn many_dimensions_stay_within_the_recursion_limit() {
    tilewright_dims::dims! { D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, Da, Db, Dc, Dd, De, Df }
    let up = D0(0) + D1(1) + D2(2) + D3(3) + D4(4) + D5(5) + D6(6) + D7(7);
    let up = up + D8(8) + D9(9) + Da(10) + Db(11) + Dc(12) + Dd(13) + De(14) + Df(15);
    let down = Df(15) + De(14) + Dd(13) + Dc(12) + Db(11) + Da(10) + D9(9) + D8(8);
    let down = down + (D7(7) + D6(6) + D5(5) + D4(4) + D3(3) + D2(2) + D1(1) + D0(0));
    assert_eq!(up, down);
    assert_eq!(up + down, up * 2);
}
