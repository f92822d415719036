use tilewright_expr::extend::{Float, scalar_fn};

#[scalar_fn]
fn with_a_closure(x: f32) -> f32 {
    let twice = |y: f32| y + y;
    twice(x)
}

#[scalar_fn]
fn with_a_macro(x: f32) -> f32 {
    x + debug!(x)
}

#[scalar_fn]
fn with_a_capture(x: f32) -> f32 {
    x * scale
}

#[scalar_fn]
fn with_an_array(x: f32, n: i32) -> f32 {
    let table = [x, 1.0];
    table[n]
}

#[scalar_fn]
fn by_a_power(x: f32) -> f32 {
    x.powi(3)
}

#[scalar_fn]
fn by_a_method_of_its_own(x: f32) -> f32 {
    x.double()
}

#[scalar_fn]
fn by_a_method_of_integers(x: f32) -> u32 {
    x.count_ones()
}

#[scalar_fn]
fn by_a_method_of_floats(n: i32) -> i32 {
    n.mul_add(2, 1)
}

#[scalar_fn]
fn with_bits_of_a_float(x: f32) -> f32 {
    x & 1.0
}

#[scalar_fn]
fn with_bits_of_any_float<T: Float>(x: T) -> u32 {
    x.to_bits()
}

#[scalar_fn]
fn with_a_sum_of_conditions(x: bool) -> bool {
    x + x
}

#[scalar_fn]
fn with_an_integer_for_a_float(x: f32) -> f32 {
    x + 1
}

#[scalar_fn]
fn with_a_float_of_no_type(n: i32) -> i32 {
    if n > 3 { (0.5 * 2.0) as i32 } else { n }
}

#[scalar_fn]
fn with_a_wide_integer(n: u64) -> u64 {
    n as u128 as u64
}

#[scalar_fn]
fn to_a_condition(n: u64) -> bool {
    n as bool
}

#[scalar_fn]
fn with_text(n: u64) -> u64 {
    "n"
}

#[scalar_fn]
fn with_statements_inside(x: f32) -> f32 {
    1.0 + if x > 0.0 { let y = x; y } else { 0.0 }
}

#[scalar_fn]
fn with_a_constant_that_is_not_there(x: f32) -> f32 {
    x * f32::PHI
}

#[scalar_fn]
fn with_terms_by_value(x: f32) -> f32 {
    x.polynomial([1.0, 2.0])
}

fn main() {}
