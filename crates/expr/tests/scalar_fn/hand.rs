//! Texts by hand: several functions, errors, and functions without a twin.

use super::{X, case};
use crate::emitted::check_all;
use tilewright_dims::Dims;
use tilewright_expr::bind::{Place, View, dense};
use tilewright_expr::emit::emit;
use tilewright_expr::eval::HostKernel;
use tilewright_expr::extend::scalar_fn;
use tilewright_expr::plan::Plan;
use tilewright_expr::{Error, In, trace};

/// Several results are a struct of these.
#[scalar_fn(cuda = r#"
    #define TWICE(x) ((x) + (x))
    // Not an entry: float wrong(float x) { return 0; }
    template <class T> T twice(T x) { return TWICE(x); }
    tw::Two<float, int> several(float x, int n) { return {twice(x), tw::add(twice(n), 1)}; }
"#)]
fn several(x: f32, n: i32) -> (f32, i32) {
    (x + x, n.wrapping_add(n).wrapping_add(1))
}

#[scalar_fn(cuda = "float alone(float x) { return x * 0.5f; }")]
fn alone(x: f32) -> f32;

#[scalar_fn(cuda = "float no_entry;")]
fn no_entry(x: f32) -> f32 {
    x
}

/// A function of Rust calls one by hand.
#[scalar_fn]
fn caller(x: f32) -> f32 {
    let (y, n) = several(x, 3);
    y + n as f32
}

#[test]
fn by_hand_and_in_rust() {
    let t = trace(|x: In<f32, (X,)>, n: In<i32, (X,)>| {
        let (a, b) = several::of(x, n);
        (a.store::<(X,)>(), b.store::<(X,)>(), caller::of(x).store::<(X,)>())
    });
    check_all("scalar_fn::hand::by_hand_and_in_rust", [case("several", t.graph)].into_iter());
}

fn with_views<R>(f: impl FnOnce(&[View<'_>]) -> R) -> R {
    let axes = dense(<(X,)>::IDS, &[7]);
    f(&[View { axes: &axes, place: Place::Device, alignment: 16, boxes: None }])
}

#[test]
fn without_a_twin_the_cpu_answers_with_an_error() {
    let t = trace(|x: In<f32, (X,)>| alone::of(x).store::<(X,)>());
    with_views(|views| {
        let error = HostKernel::new(&t.graph, views, views).expect_err("there is no twin");
        assert_eq!(error, Error::NoTwin { function: "alone" });
        assert!(error.to_string().contains("`alone`") && error.to_string().contains("Rust body"), "{error}");
        let plan = Plan::new(&t.graph, views, views).unwrap_or_else(|e| panic!("{e}"));
        let text = emit(&t.graph, &plan).unwrap_or_else(|e| panic!("{e}")).source;
        assert!(text.contains("static TW_DEVICE float alone(float x)"), "{text}");
    });
}

#[test]
fn a_text_without_a_function_is_an_error() {
    let t = trace(|x: In<f32, (X,)>| no_entry::of(x).store::<(X,)>());
    with_views(|views| {
        let plan = Plan::new(&t.graph, views, views).unwrap_or_else(|e| panic!("{e}"));
        let error = emit(&t.graph, &plan).expect_err("there is no function");
        assert_eq!(error, Error::NoEntry { function: "no_entry" });
    });
}
