//! Scalar functions in expressions: broadcasting by names, captured scalars, literals, several results, heavy bodies.

use crate::emitted::check_all;
use crate::random::{Case, Operand, Rng};
use crate::tensor::Layout;
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::extend::{Float, scalar_fn};
use tilewright_expr::graph::Graph;
use tilewright_expr::{Border, In, bf16, coordinate, f16, trace};

dims! { Y, X, K }

/// A threshold with a knee: `limit` is captured.
#[scalar_fn]
fn knee<T: Float>(x: T, limit: T, hardness: i32) -> T {
    let mut above = x - limit;
    for _ in 0..hardness {
        above *= 0.5;
    }
    if x < limit { x } else { limit + above }
}

/// Magnitude and angle, computed once.
#[scalar_fn]
fn polar(x: f32, y: f32) -> (f32, f32) {
    (x.hypot(y), y.atan2(x))
}

#[scalar_fn]
fn six(a: f32, b: u8, c: bool, d: i64, e: f32, f: f64) -> (f64, bool, i64, u8) {
    let sum = a as f64 + f;
    (if c { sum } else { e as f64 }, c ^ (b > 3), d + b as i64, b / 2)
}

const SHAPE: [i64; 3] = [5, 37, 3];

fn cases(name: &str, graph: Graph) -> impl Iterator<Item = (String, Case)> {
    graph.check().unwrap_or_else(|e| panic!("{name}: {e}"));
    (0..2).map(move |seed| {
        let mut rng = Rng::new(seed + 17);
        let mut operand = |spec: &tilewright_expr::graph::OperandSpec| {
            let size = |d: &u64| SHAPE[<(Y, X, K)>::IDS.iter().position(|id| id == d).expect("declared above")];
            let shape: Vec<i64> = spec.dims.iter().map(size).collect();
            let layout = if seed == 0 { Layout::dense(shape.len()) } else { Layout::random(&mut rng, shape.len()) };
            Operand { tensor: rng.tensor(spec.dtype, &spec.dims, &shape), layout, place: Place::Device }
        };
        let operands = graph.operands.iter().map(&mut operand).collect();
        let outputs = graph.outputs.iter().map(|o| Layout::dense(o.dims.len())).collect();
        (format!("{name}, {seed}"), Case { outputs, graph: graph.clone(), operands, known: seed == 0 })
    })
}

/// Arguments of any dimensions, literals, a scalar that is captured; halves by way of `f32`.
#[test]
fn in_expressions() {
    let captured = trace(|x: In<f32, (Y, X, K)>, limit: In<f32, ()>, per: In<f32, (K,)>, h: In<f16, (X,)>| {
        let bent = knee::of(knee::of(x, limit, 2), per, coordinate::<K>());
        let half = knee::of(h.to::<f32>(), 0.25, 1).to::<bf16>();
        (bent.store::<(Y, X, K)>(), half.store::<(X,)>())
    });
    let several = trace(|x: In<f32, (Y, X)>, y: In<f32, (X, K)>, n: In<i64, (Y,)>| {
        let (size, angle) = polar::of(x, y);
        let (a, b, c, d) = six::of(size, 7, x.lt(0.0), n, 1.5, angle.to::<f64>());
        let found = (a.store::<(Y, X, K)>(), b.store::<(Y, X, K)>(), c.store::<(Y, X, K)>(), d.store::<(Y, X, K)>());
        ((found.0, found.1), (found.2, found.3), size.store::<(Y, X, K)>())
    });
    let reduced = trace(|x: In<f32, (Y, X)>, y: In<f32, (X, K)>| {
        let (size, angle) = polar::of(x, y);
        let beside = size.at_border::<X, _>(coordinate::<X>() + 1, Border::Replicate);
        let shared = knee::of(angle, 0.5, 3).maximum::<X>();
        (shared.store::<(Y, K)>(), (size - beside).store::<(Y, X, K)>(), angle.sum::<K>().store::<(Y, X)>())
    });
    let all =
        cases("captured", captured.graph).chain(cases("several", several.graph)).chain(cases("reduced", reduced.graph));
    check_all("scalar_fn::face::in_expressions", all);
}

/// A call with several results stands once in a text, and a heavy body out of line.
#[test]
fn calls_stand_once() {
    #[scalar_fn]
    fn heavy(x: f32) -> f32 {
        let a = x.sin() + x.cos() * x.tan();
        let b = a.sinh() + a.cosh() * a.tanh() - a.mul_add(a, 0.1) * a.mul_add(a, 0.2) * a.mul_add(a, 0.3);
        let c = b.polynomial(&[0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.001953125]);
        let d = c.polynomial(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8]);
        let e = if d > 1.0 {
            d - 1.0
        } else if d > 0.5 {
            d - 0.5
        } else if d > 0.25 {
            d - 0.25
        } else {
            d
        };
        let f = if e > 1.0 {
            e * a
        } else if e > 0.5 {
            e * b
        } else if e > 0.25 {
            e * c
        } else {
            e * d
        };
        let g = if f > 1.0 {
            f * a
        } else if f > 0.5 {
            f * b
        } else if f > 0.25 {
            f * c
        } else {
            f * d
        };
        let h = if g > 1.0 {
            g * a
        } else if g > 0.5 {
            g * b
        } else if g > 0.25 {
            g * c
        } else {
            g * d
        };
        let i = if h > 1.0 {
            h * a
        } else if h > 0.5 {
            h * b
        } else if h > 0.25 {
            h * c
        } else {
            h * d
        };
        let j = if i > 1.0 {
            i * a
        } else if i > 0.5 {
            i * b
        } else if i > 0.25 {
            i * c
        } else {
            i * d
        };
        let k = if j > 1.0 {
            j * a
        } else if j > 0.5 {
            j * b
        } else if j > 0.25 {
            j * c
        } else {
            j * d
        };
        let l = if k > 1.0 {
            k * a
        } else if k > 0.5 {
            k * b
        } else if k > 0.25 {
            k * c
        } else {
            k * d
        };
        let m = if l > 1.0 {
            l * a
        } else if l > 0.5 {
            l * b
        } else if l > 0.25 {
            l * c
        } else {
            l * d
        };
        if m > 1.0 {
            m * a
        } else if m > 0.5 {
            m * b
        } else if m > 0.25 {
            m * c
        } else {
            m * d
        }
    }
    let t = trace(|x: In<f32, (X,)>, y: In<f32, (X,)>| {
        let (size, angle) = polar::of(x, y);
        (size.store::<(X,)>(), angle.store::<(X,)>(), heavy::of(x).store::<(X,)>())
    });
    let (name, case) = cases("text", t.graph).next().expect("there are two");
    let text = crate::emitted::prepare(name, &case, 0).expect("one section").kernel.source;
    let lanes = text.matches("= own_polar_").count();
    assert_eq!(text.matches("const auto t").count(), lanes, "{text}");
    assert!(
        text.matches(".b;").count() >= lanes && text.contains("static TW_DEVICE tw::Two<float, float> own_polar_"),
        "{text}"
    );
    assert!(text.contains("static TW_NOINLINE float own_heavy_"), "{text}");
    assert_eq!(text.matches("float own_sin(").count() + text.matches("double own_sin(").count(), 1, "{text}");
}
