//! `exp` within one unit in the last place, over the whole range: f32 against f64, f64 against double-double arithmetic.

use super::X;
use crate::random::Rng;
use crate::tensor::{Layout, Stored, Tensor, evaluate};
use ndarray::Array1;
use tilewright_dims::Dims;
use tilewright_expr::{In, Value, trace};

fn of(tensor: &Tensor, graph: &tilewright_expr::graph::Graph) -> Tensor {
    let stored = [Stored::new(tensor, &Layout::dense(1))];
    let (mut results, _) = evaluate(graph, &stored, &[Layout::dense(1)], true, 1).unwrap_or_else(|e| panic!("{e}"));
    results.remove(0)
}

fn tensor<T: Value>(values: Vec<T>) -> Tensor {
    Tensor::of(<(X,)>::IDS, &Array1::from(values).into_dyn())
}

#[test]
fn single() {
    let mut rng = Rng::new(1);
    // Bits at even steps through all floats, and many where results are subnormal or overflow.
    let mut x: Vec<f32> = (0..u32::MAX / 30_011).map(|i| f32::from_bits(i * 30_011)).collect();
    x.extend((0..60_000).map(|_| (rng.unit() * 22.0 - 106.0) as f32));
    x.extend((0..60_000).map(|_| (rng.unit() * 200.0 - 104.0) as f32));
    x.extend([88.72283, 88.72284, 88.8, 89.0, 1e9, -103.97208, -103.97209, -104.0, -150.0].map(|v: f64| v as f32));
    x.extend([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, -1e-45, 1.0]);
    let t = trace(|x: In<f32, (X,)>| x.exp().store::<(X,)>());
    let got = of(&tensor(x.clone()), &t.graph).array::<f32>();
    let mut worst = (0.0f64, 0.0f32);
    for (x, got) in x.iter().zip(&got) {
        if x.is_nan() {
            assert!(got.is_nan());
            continue;
        }
        let truth = f64::from(*x).exp();
        // Half a unit above the largest float, the nearest one is infinity.
        if truth >= f64::from(f32::MAX) * (1.0 + 2f64.powi(-25)) {
            assert_eq!(*got, f32::INFINITY, "exp({x})");
            continue;
        }
        let unit = 2f64.powi((truth.log2().floor() as i32).clamp(-126, 127) - 23);
        let error = (f64::from(*got) - truth).abs() / unit;
        if error > worst.0 {
            worst = (error, *x);
        }
        assert!(error <= 1.0, "exp({x}) is {truth:e}, got {got:e}: {error} units");
    }
    assert!(worst.0 > 0.4, "the comparison sees roundings: {worst:?}");
    assert_eq!(of(&tensor(vec![0.0f32, -0.0]), &t.graph).array::<f32>(), Array1::from(vec![1.0, 1.0]).into_dyn());
}

/// A sum of two f64, about 106 bits.
type Double = (f64, f64);

fn two_sum(a: f64, b: f64) -> Double {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

fn add(a: Double, b: Double) -> Double {
    let (s, e) = two_sum(a.0, b.0);
    two_sum(s, e + a.1 + b.1)
}

fn mul(a: Double, b: Double) -> Double {
    let p = a.0 * b.0;
    let e = a.0.mul_add(b.0, -p);
    two_sum(p, e + a.0 * b.1 + a.1 * b.0)
}

/// `(m, k)` with `e^x = m 2^k`.
fn exp_double(x: f64) -> (Double, i32) {
    // ln 2 in three pieces, the first short enough that its product with k is exact.
    let pieces = [
        f64::from_bits(0x3fe6_2e42_fee0_0000),
        f64::from_bits(0x3dea_39ef_3579_3c76),
        f64::from_bits(0x3a8c_c01f_97b5_7a08),
    ];
    let k = (x / std::f64::consts::LN_2).round();
    let mut r: Double = (x, 0.0);
    for piece in pieces {
        let p = -k * piece;
        r = add(r, (p, (-k).mul_add(piece, -p)));
    }
    // A Taylor series of r / 256, squared eight times.
    let small = (r.0 / 256.0, r.1 / 256.0);
    let mut sum: Double = (1.0, 0.0);
    for n in (1..=12).rev() {
        let n = f64::from(n);
        let inverse = 1.0 / n;
        let over = mul(small, (inverse, (-inverse).mul_add(n, 1.0) / n));
        sum = add((1.0, 0.0), mul(over, sum));
    }
    for _ in 0..8 {
        sum = mul(sum, sum);
    }
    (sum, k as i32)
}

#[test]
fn the_reference_knows_e() {
    let ((high, low), k) = exp_double(1.0);
    assert_eq!(high * 2f64.powi(k), std::f64::consts::E);
    assert!((low * 2f64.powi(k) - 1.4456468917292502e-16).abs() < 1e-30);
}

#[test]
fn double() {
    let mut rng = Rng::new(2);
    let mut x: Vec<f64> = (0..20_000).map(|_| rng.unit() * 1456.0 - 745.5).collect();
    x.extend((0..10_000).map(|_| rng.unit() * 38.0 - 745.5));
    x.extend((0..10_000).map(|_| (rng.unit() - 0.5) * 2f64.powi(rng.range(-60, 8) as i32)));
    x.extend((0..4_000).map(|_| f64::from_bits(rng.next())));
    x.extend([
        0.0,
        -0.0,
        1.0,
        709.782712893384,
        709.7827128933841,
        710.0,
        -745.1332191019411,
        -745.1332191019412,
        -746.0,
        -800.0,
    ]);
    x.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN]);
    let t = trace(|x: In<f64, (X,)>| x.exp().store::<(X,)>());
    let got = of(&tensor(x.clone()), &t.graph).array::<f64>();
    let mut worst = (0.0f64, 0.0f64);
    for (x, got) in x.iter().zip(&got) {
        match *x {
            x if x.is_nan() => assert!(got.is_nan()),
            x if x > 709.782712893384 => assert_eq!(*got, f64::INFINITY, "exp({x})"),
            x if x < -745.2 => assert_eq!(got.to_bits(), 0, "exp({x})"),
            x => {
                let ((high, low), k) = exp_double(x);
                let scale = |e: i32| 2f64.powi(e / 2) * 2f64.powi(e - e / 2);
                // In units of the last place of the truth, or of the smallest subnormal.
                let last = (k + high.log2().floor() as i32 - 52).max(-1074);
                let units = |v: f64| v * scale(k - last);
                let error = (got * scale(-last / 2) * scale(-last - -last / 2) - units(high) - units(low)).abs();
                if error > worst.0 {
                    worst = (error, x);
                }
                assert!(error <= 1.0, "exp({x}): got {got:e}, {error} units");
            }
        }
    }
    assert!(worst.0 > 0.4, "the comparison sees roundings: {worst:?}");
}

#[test]
fn of_a_literal() {
    let t = trace(|| tilewright_expr::constant(1.0f32).exp().repeat::<X>(3).store::<(X,)>());
    assert!(t.graph.check().is_ok());
    let (results, _) = evaluate(&t.graph, &[], &[Layout::dense(1)], true, 0).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(results[0].array::<f32>(), Array1::from(vec![std::f32::consts::E; 3]).into_dyn());
}
