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

/// What a text may have beside functions, and what looks like one.
#[scalar_fn(cuda = r#"
    #define N 3 { (
    // float not_this(float x) { }
    static const float table[2] = {1.0f, 2.0f};
    template <class T, class U = Pair<T, T>> T first(T x) { if (x) { return "}"[0]; } return x; }
    using F = float;
    F  second ( F x ) { return first(x); /* } */ }
"#)]
fn second(x: f32) -> f32;

macro_rules! without_a_function {
    ($($name:ident: $text:tt,)*) => { $(
        #[scalar_fn(cuda = $text)]
        fn $name(x: f32) -> f32 {
            x
        }
    )* };
}

without_a_function! {
    nothing: "",
    no_entry: "float x;",
    declared: "float f(float x);",
    of_data: "struct S { int x; };",
    open_ended: "int f(int x) { if (x) { return 1; }",
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
fn functions_are_found_and_qualified() {
    let t = trace(|x: In<f32, (X,)>| second::of(x).store::<(X,)>());
    with_views(|views| {
        let plan = Plan::new(&t.graph, views, views).unwrap_or_else(|e| panic!("{e}"));
        let text = emit(&t.graph, &plan).unwrap_or_else(|e| panic!("{e}")).source;
        for line in [
            "#define N 3 { (\n",
            "// float not_this(float x) { }\n",
            " static const float table[2] = {1.0f, 2.0f};\n",
            "U = Pair<T, T>> static TW_DEVICE T first(T x) { if (x) { return \"}\"[0]; } return x; }\n",
            " using F = float;\n",
            " static TW_DEVICE F  second ( F x ) { return first(x); /* } */ }\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(text.contains("::second(") && !text.contains("::first("), "{text}");
    });
}

#[test]
fn a_text_without_a_function_is_an_error() {
    macro_rules! errors {
        ($($name:ident),*) => { [$((stringify!($name), trace(|x: In<f32, (X,)>| $name::of(x).store::<(X,)>()))),*] };
    }
    for (function, t) in errors!(nothing, no_entry, declared, of_data, open_ended) {
        with_views(|views| {
            let plan = Plan::new(&t.graph, views, views).unwrap_or_else(|e| panic!("{e}"));
            let error = emit(&t.graph, &plan).expect_err("there is no function");
            assert_eq!(error, Error::NoEntry { function });
        });
    }
}
