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
        // Long by what it inlines.
        a.hypot(x) + a.hypot(1.5)
    }
    #[scalar_fn]
    fn heavier(x: f32) -> f32 {
        let mut y = x;
        for i in 0..8 {
            y = match i {
                0 => x.mul_add(0.1, y) - x.mul_add(0.2, y) * x.mul_add(0.3, y) + x.mul_add(0.4, y) * x.mul_add(0.5, y),
                1 => x.mul_add(1.1, y) - x.mul_add(1.2, y) * x.mul_add(1.3, y) + x.mul_add(1.4, y) * x.mul_add(1.5, y),
                2 => x.mul_add(2.1, y) - x.mul_add(2.2, y) * x.mul_add(2.3, y) + x.mul_add(2.4, y) * x.mul_add(2.5, y),
                3 => x.mul_add(3.1, y) - x.mul_add(3.2, y) * x.mul_add(3.3, y) + x.mul_add(3.4, y) * x.mul_add(3.5, y),
                4 => x.mul_add(4.1, y) - x.mul_add(4.2, y) * x.mul_add(4.3, y) + x.mul_add(4.4, y) * x.mul_add(4.5, y),
                _ => y * 0.5,
            };
        }
        heavy(y) + heavy(-y)
    }
    let t = trace(|x: In<f32, (X,)>, y: In<f32, (X,)>| {
        let (size, angle) = polar::of(x, y);
        (size.store::<(X,)>(), angle.store::<(X,)>(), heavier::of(x).store::<(X,)>())
    });
    let (name, case) = cases("text", t.graph).next().expect("there are two");
    let text = crate::emitted::prepare(name, &case, 0).expect("one section").kernel.source;
    let lanes = text.matches("= own_polar_").count();
    assert_eq!(text.matches("const auto t").count(), lanes, "{text}");
    assert!(
        text.matches(".b;").count() >= lanes && text.contains("static TW_DEVICE tw::Two<float, float> own_polar_"),
        "{text}"
    );
    assert!(text.contains("static TW_NOINLINE float own_heavier_"), "{text}");
    assert_eq!(text.matches("float own_sin(").count() + text.matches("double own_sin(").count(), 1, "{text}");
}
