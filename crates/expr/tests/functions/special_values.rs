//! Zeros with their signs, infinities, NaN: what the C standard says, as the standard library's functions do it.

use super::table::{Of, TABLE};
use super::{X, values};
use tilewright_expr::graph::Graph;
use tilewright_expr::{In, constant, trace};

const SPECIAL: [f64; 20] = [
    0.0,
    1.0,
    0.5,
    2.0,
    3.0,
    1.5,
    0.25,
    7.0,
    20.0,
    0.9999999999999999,
    1.0000000000000002,
    4503599627370497.0,
    9007199254740992.0,
    1e300,
    1e-300,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    f64::INFINITY,
    f64::NAN,
];

fn same(got: f64, expected: f64) -> bool {
    if expected.is_nan() {
        return got.is_nan();
    }
    if expected == 0.0 || expected.is_infinite() {
        return got.to_bits() == expected.to_bits();
    }
    got.is_sign_negative() == expected.is_sign_negative() && (got / expected - 1.0).abs() < 1e-12
}

#[test]
fn as_the_standard_says() {
    let all: Vec<f64> = SPECIAL.iter().flat_map(|v| [*v, -*v]).collect();
    let (mut failures, mut count) = (Vec::new(), 0);
    for row in &TABLE {
        let (args, expected): (Vec<Vec<f64>>, Vec<f64>) = match row.of {
            Of::One(_, f) => (vec![all.clone()], all.iter().map(|x| f(*x)).collect()),
            Of::Two(_, f) => {
                let pairs: Vec<(f64, f64)> = all.iter().flat_map(|x| all.iter().map(|y| (*x, *y))).collect();
                let expected = pairs.iter().map(|(x, y)| f(*x, *y)).collect();
                let (x, y) = pairs.into_iter().unzip();
                (vec![x, y], expected)
            }
        };
        for (i, (got, expected)) in values(row.of, &args).iter().zip(expected).enumerate() {
            count += 1;
            if !same(*got, expected) {
                let args: Vec<f64> = args.iter().map(|a| a[i]).collect();
                failures.push(format!("{}{args:?}: {got:?} instead of {expected:?}", row.name));
            }
        }
    }
    assert!(count > 5000);
    assert!(failures.is_empty(), "{} of {count}\n{}", failures.len(), failures.join("\n"));
}

/// Each typed method is the graph's function of its name.
#[test]
fn methods_are_the_functions() {
    macro_rules! one {
        ($($name:ident)*) => { $(
            let t = trace(|x: In<f32, (X,)>| x.$name().store::<(X,)>());
            assert_eq!(t.graph.check().err(), None);
            let row = TABLE.iter().find(|row| row.name == stringify!($name)).expect("a row");
            assert!(t.graph.same(&super::graph_of(row.of, tilewright_expr::DType::F32)), "{}", row.name);
        )* };
    }
    one!(exp exp2 exp10 exp_m1 ln log2 log10 ln_1p cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh);
    one!(sigmoid softplus silu erf erfc gelu gelu_tanh);
    macro_rules! two {
        ($($name:ident)*) => { $(
            let t = trace(|x: In<f64, (X,)>, y: In<f64, (X,)>| x.$name(y).store::<(X,)>());
            let row = TABLE.iter().find(|row| row.name == stringify!($name).trim_end_matches('f')).expect("a row");
            // A trace declares all operands before it uses them; so does the table's graph.
            assert!(t.graph.same(&super::graph_of(row.of, tilewright_expr::DType::F64)), "{}", row.name);
        )* };
    }
    two!(powf hypot atan2);
    let both = trace(|x: In<f32, (X,)>| x.sin_cos().0.store::<(X,)>());
    let sine = trace(|x: In<f32, (X,)>| x.sin().store::<(X,)>());
    assert_eq!(both.graph.outputs[0].node, sine.graph.outputs[0].node);
    let literal = trace(|| constant(2.0f32).powf(10.0).repeat::<X>(3).store::<(X,)>());
    assert_eq!(literal.graph.check().err(), None);
}

/// The exponential of a softmax: as the standard's, but 0 instead of numbers below the normal ones.
#[test]
fn powers_of_what_is_not_positive() {
    let of = Of::One(Graph::exp_of_negative, f64::exp);
    let edges =
        [0.0, -0.0, -f32::MIN_POSITIVE, -87.3, -87.33, -87.6, -87.8, -88.0, -103.9, -1e9, f32::MIN, f32::NEG_INFINITY];
    let x: Vec<f32> = (0..400_000).map(|i| i as f32 * -2.3e-4).chain(edges).collect();
    for (x, got) in x.iter().zip(values(of, std::slice::from_ref(&x))) {
        let exact = f64::from(*x).exp();
        let unit = 2f64.powi((exact.log2().floor() as i32).max(-126) - 23);
        let vanishes = exact < 2f64.powi(-126) * 0.708 && got == 0.0;
        assert!(vanishes || (f64::from(got) - exact).abs() <= unit, "e^{x} = {exact}, not {got}");
        assert!(*x > -87.7 || got == 0.0, "e^{x} = {got}");
    }
    let x: Vec<f64> =
        (0..100_000).map(|i| f64::from(i) * -7.3e-3).chain([-708.3, -709.0, -1e300, f64::NEG_INFINITY]).collect();
    for (x, got) in x.iter().zip(values(of, std::slice::from_ref(&x))) {
        let exact = x.exp();
        assert!(*x < -708.3 || (got / exact - 1.0).abs() <= 2f64.powi(-52), "e^{x} = {exact}, not {got}");
        assert!(*x > -708.75 || got == 0.0, "e^{x} = {got}");
    }
    assert!(values(of, &[vec![f32::NAN]])[0].is_nan() && values(of, &[vec![f64::NAN]])[0].is_nan());
}
