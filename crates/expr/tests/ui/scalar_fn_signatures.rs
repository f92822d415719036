use tilewright_expr::extend::{Float, scalar_fn};

#[scalar_fn]
fn of_a_size(x: usize) -> f32 {
    x as f32
}

#[scalar_fn]
fn of_a_reference(x: &f32) -> f32 {
    *x
}

#[scalar_fn]
fn of_a_half(x: f16) -> f32 {
    x as f32
}

#[scalar_fn]
fn of_a_slice(x: [f32; 3]) -> f32 {
    x[0]
}

#[scalar_fn]
fn of_nothing() -> f32 {
    1.0
}

#[scalar_fn]
fn of_many(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32) -> f32 {
    a + b + c + d + e + f + g
}

#[scalar_fn]
fn without_a_result(x: f32) {
    let _y = x;
}

#[scalar_fn]
fn of_many_results(x: f32) -> (f32, f32, f32, f32, f32) {
    (x, x, x, x, x)
}

#[scalar_fn]
fn of_anything<T: Copy>(x: T) -> T {
    x
}

#[scalar_fn]
fn of_two_types<T: Float, U: Float>(x: T, y: U) -> T {
    x + y as T
}

#[scalar_fn]
unsafe fn without_care(x: f32) -> f32 {
    x
}

#[scalar_fn]
fn of_a_pattern((a, b): (f32, f32)) -> f32 {
    a + b
}

#[scalar_fn]
fn without_a_body(x: f32) -> f32;

#[scalar_fn(host = "x")]
fn with_another_word(x: f32) -> f32 {
    x
}

fn main() {}
