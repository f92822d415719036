use tilewright_dims::dims;
use tilewright_expr::extend::{Float, scalar_fn};
use tilewright_expr::{In, trace};

dims! { X }

fn ordinary(x: f32) -> f32 {
    x
}

#[scalar_fn]
fn calls_an_ordinary_function(x: f32) -> f32 {
    ordinary(x)
}

#[scalar_fn]
fn with_types_that_differ(x: f32, n: i32) -> f32 {
    x * n
}

#[scalar_fn]
fn with_another_width(n: u64, m: u32) -> u64 {
    n + m
}

#[scalar_fn]
fn half<T: Float>(x: T) -> T {
    x * 0.5
}

fn main() {
    let _ = trace(|x: In<i32, (X,)>| half::of(x).store::<(X,)>());
    let _ = trace(|x: In<f32, (X,)>, y: In<f64, (X,)>| with_types_that_differ::of(x, y).store::<(X,)>());
    let _ = trace(|x: In<f32, (X,)>| with_types_that_differ::of(x).store::<(X,)>());
}
