use tilewright_expr::extend::scalar_fn;

#[scalar_fn]
fn with_a_label(x: f32) -> f32 {
    'outer: loop {
        break 'outer;
    }
    x
}

#[scalar_fn]
fn with_the_value_of_a_loop(x: f32) -> f32 {
    loop {
        break x;
    }
}

#[scalar_fn]
fn with_steps(x: f32) -> f32 {
    let mut sum = x;
    for i in (0..9).step_by(2) {
        sum += i as f32;
    }
    sum
}

#[scalar_fn]
fn with_elements(x: f32) -> f32 {
    let mut sum = x;
    for y in [1.0, 2.0] {
        sum += y;
    }
    sum
}

#[scalar_fn]
fn with_an_item(x: f32) -> f32 {
    fn half(x: f32) -> f32 {
        x * 0.5
    }
    half(x)
}

#[scalar_fn]
fn with_a_message(x: f32) -> f32 {
    assert!(x > 0.0);
    x
}

#[scalar_fn]
fn with_a_value_that_nobody_uses(x: f32) -> f32 {
    x.sqrt();
    x
}

#[scalar_fn]
fn with_a_branch_alone(x: f32) -> f32 {
    let y = if x > 0.0 { let z = x; z * 2.0 };
    y
}

#[scalar_fn]
fn matched(x: f32) -> f32 {
    match x {
        0.0 => 1.0,
        _ => x,
    }
}

#[scalar_fn]
fn matched_by_name(n: i32) -> i32 {
    match n {
        0 => 1,
        other => other,
    }
}

#[scalar_fn]
fn with_an_unknown_type(x: f32) -> f32 {
    let y = if x > 0.0 {
        let z = known(x);
        z
    } else {
        known(-x)
    };
    y
}

#[scalar_fn]
fn known(x: f32) -> f32 {
    x
}

#[scalar_fn]
fn with_a_pattern(x: f32) -> f32 {
    if let 1 = x as i32 { 0.0 } else { x }
}

#[scalar_fn]
fn recursive(n: u32) -> u32 {
    if n == 0 { 0 } else { recursive(n - 1) }
}

fn main() {}
