//! Arithmetic, comparison, selection: integers exactly, floats through f64.

use super::{C, N, X, Y, array, check, same, tabulate};
use crate::naive::{nearest, round_to_half};
use crate::random::Rng;
use crate::tensor::{Tensor, evaluate_every_way};
use ndarray::{Array1, ArrayD};
use tilewright_dims::Dims;
use tilewright_expr::{Element, Float, In, Number, Value, bf16, constant, f16, trace};

/// One point, odd and prime sizes, rows that cross the evaluator's blocks.
const SIZES: [[i64; 2]; 6] = [[1, 1], [1, 7], [3, 5], [13, 37], [1, 1025], [3, 2053]];

/// An integer type as exact integers.
trait Exact: Number {
    fn exact(self) -> i128;
    /// The value congruent to `v`.
    fn wrapped(v: i128) -> Self;
}
macro_rules! exact {
    ($($t:ty),*) => { $(impl Exact for $t {
        fn exact(self) -> i128 { self as i128 }
        fn wrapped(v: i128) -> Self { v as $t }
    })* };
}
exact!(u8, i8, u16, i16, u32, i32, u64, i64);

/// `f` over (Y, X) and (X) against `reference` of each pair.
fn binary<T: Number, U: Element + Value>(
    f: impl Fn(In<T, (Y, X)>, In<T, (X,)>) -> In<U, (Y, X)>,
    reference: impl Fn(T, T) -> U,
) {
    let t = trace(|a: In<T, (Y, X)>, b: In<T, (X,)>| f(a, b).store::<(Y, X)>());
    for (i, shape) in SIZES.into_iter().enumerate() {
        let mut rng = Rng::new(i as u64);
        let (a, a_tensor) = array::<T>(&mut rng, <(Y, X)>::IDS, &shape);
        let (b, b_tensor) = array::<T>(&mut rng, <(X,)>::IDS, &shape[1..]);
        let rows = b.broadcast(a.shape()).expect("rows");
        let expected = ndarray::Zip::from(&a).and(&rows).map_collect(|a, b| reference(*a, *b));
        check(&t.graph, &[&a_tensor, &b_tensor], &expected);
    }
}

fn unary<T: Number, U: Element + Value>(f: impl Fn(In<T, (Y, X)>) -> In<U, (Y, X)>, reference: impl Fn(T) -> U) {
    let t = trace(|a: In<T, (Y, X)>| f(a).store::<(Y, X)>());
    for (i, shape) in SIZES.into_iter().enumerate() {
        let (a, tensor) = array::<T>(&mut Rng::new(i as u64), <(Y, X)>::IDS, &shape);
        check(&t.graph, &[&tensor], &a.mapv(&reference));
    }
}

fn integer<T: Exact>() {
    let wrap = T::wrapped;
    binary::<T, T>(|a, b| a + b, |a, b| wrap(a.exact() + b.exact()));
    binary::<T, T>(|a, b| a - b, |a, b| wrap(a.exact() - b.exact()));
    // In halves of 32 bits: the product of two u64 does not fit into i128.
    let product = |a: i128, b: i128| a * (b & 0xffff_ffff) + (((a * (b >> 32)) & 0xffff_ffff) << 32);
    binary::<T, T>(|a, b| a * b, |a, b| wrap(product(a.exact(), b.exact())));
    binary::<T, T>(|a, b| a / b, |a, b| if b.exact() == 0 { wrap(0) } else { wrap(a.exact() / b.exact()) });
    binary::<T, T>(|a, b| a.min(b), |a, b| wrap(a.exact().min(b.exact())));
    binary::<T, T>(|a, b| a.max(b), |a, b| wrap(a.exact().max(b.exact())));
    binary::<T, bool>(|a, b| a.lt(b), |a, b| a.exact() < b.exact());
    binary::<T, bool>(|a, b| a.ge(b), |a, b| a.exact() >= b.exact());
    binary::<T, bool>(|a, b| a.eq(b), |a, b| a.exact() == b.exact());
    unary::<T, T>(|a| -a, |a| wrap(-a.exact()));
    unary::<T, T>(|a| a.abs(), |a| wrap(a.exact().abs()));
}

#[test]
fn integers_wrap() {
    integer::<u8>();
    integer::<i8>();
    integer::<u16>();
    integer::<i16>();
    integer::<u32>();
    integer::<i32>();
    integer::<u64>();
    integer::<i64>();
}

/// Every pair of 8-bit values, so no edge is left out.
#[test]
fn every_pair_of_bytes() {
    let all = tabulate(&[256, 256], |i| i[0] as u8 as i8);
    let other = tabulate(&[256, 256], |i| i[1] as u8 as i8);
    let dims = <(Y, X)>::IDS;
    let t = trace(|a: In<i8, (Y, X)>, b: In<i8, (Y, X)>| {
        ((a / b).store::<(Y, X)>(), (a * b).store::<(Y, X)>(), (a - b).store::<(Y, X)>(), a.ne(b).store::<(Y, X)>())
    });
    let results = evaluate_every_way(&t.graph, &[&Tensor::of(dims, &all), &Tensor::of(dims, &other)]);
    let each = |f: &dyn Fn(i32, i32) -> i32| {
        ndarray::Zip::from(&all).and(&other).map_collect(|a, b| f(i32::from(*a), i32::from(*b)) as i8)
    };
    same(&results[0], &each(&|a, b| if b == 0 { 0 } else { a / b }));
    same(&results[1], &each(&|a, b| a * b));
    same(&results[2], &each(&|a, b| a - b));
    same(&results[3], &ndarray::Zip::from(&all).and(&other).map_collect(|a, b| a != b));
}

#[test]
fn division_edges() {
    let t = trace(|a: In<i32, (X,)>, b: In<i32, (X,)>| (a / b).store::<(X,)>());
    let values = |v: &[i32]| Tensor::of(<(X,)>::IDS, &Array1::from(v.to_vec()).into_dyn());
    let (a, b) = ([i32::MIN, i32::MIN, 7, -7, 7, 0], [-1, 0, 0, 2, -2, 0]);
    let expected = Array1::from(vec![i32::MIN, 0, 0, -3, -3, 0]).into_dyn();
    check(&t.graph, &[&values(&a), &values(&b)], &expected);
}

/// A float type seen from f64.
trait Through64: Float {
    fn wide(self) -> f64;
    /// Rounds once; sums, products, quotients and roots of two f32, made in f64, come out as if made in one step.
    fn narrow(v: f64) -> Self;
}
impl Through64 for f32 {
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn narrow(v: f64) -> f32 {
        v as f32
    }
}
macro_rules! halves {
    ($($t:ty),*) => { $(impl Through64 for $t {
        fn wide(self) -> f64 {
            self.to_f64()
        }
        /// To `f32`, where a sum, a product, a quotient or a root of two halves is exact or as good as that, and to the half.
        fn narrow(v: f64) -> Self {
            let bits = round_to_half(<$t as Value>::DTYPE, f64::from(v as f32)).bits(<$t as Value>::DTYPE);
            Self::from_bits64(bits)
        }
    })* };
}
halves!(f16, bf16);
impl Through64 for f64 {
    fn wide(self) -> f64 {
        self
    }
    fn narrow(v: f64) -> f64 {
        v
    }
}

/// NaN if either is; `-0 < +0`.
fn smaller(a: f64, b: f64) -> f64 {
    match (a.is_nan() || b.is_nan(), a == b) {
        (true, _) => f64::NAN,
        (_, true) => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

fn float<T: Through64>() {
    let narrow = T::narrow;
    binary::<T, T>(|a, b| a + b, |a, b| narrow(a.wide() + b.wide()));
    binary::<T, T>(|a, b| a - b, |a, b| narrow(a.wide() - b.wide()));
    binary::<T, T>(|a, b| a * b, |a, b| narrow(a.wide() * b.wide()));
    binary::<T, T>(|a, b| a / b, |a, b| narrow(a.wide() / b.wide()));
    binary::<T, T>(|a, b| a.min(b), |a, b| narrow(smaller(a.wide(), b.wide())));
    binary::<T, T>(|a, b| a.max(b), |a, b| narrow(-smaller(-a.wide(), -b.wide())));
    binary::<T, bool>(|a, b| a.lt(b), |a, b| a.wide() < b.wide());
    binary::<T, bool>(|a, b| a.le(b), |a, b| a.wide() <= b.wide());
    binary::<T, bool>(|a, b| a.gt(b), |a, b| a.wide() > b.wide());
    binary::<T, bool>(|a, b| a.ge(b), |a, b| a.wide() >= b.wide());
    binary::<T, bool>(|a, b| a.eq(b), |a, b| a.wide() == b.wide());
    binary::<T, bool>(|a, b| a.ne(b), |a, b| a.wide() != b.wide());
    unary::<T, T>(|a| -a, |a| narrow(-a.wide()));
    unary::<T, T>(|a| a.abs(), |a| narrow(a.wide().abs()));
    unary::<T, T>(|a| a.sqrt(), |a| narrow(a.wide().sqrt()));
    unary::<T, T>(|a| a.floor(), |a| narrow(a.wide().floor()));
    unary::<T, T>(|a| a.ceil(), |a| narrow(a.wide().ceil()));
    unary::<T, T>(|a| a.trunc(), |a| narrow(a.wide().trunc()));
    unary::<T, T>(|a| a.round(), |a| narrow(nearest(a.wide())));
}

#[test]
fn floats_are_ieee() {
    float::<f16>();
    float::<bf16>();
    float::<f32>();
    float::<f64>();
}

/// All pairs of special values, signed zeros included.
#[test]
fn minimum_and_maximum_of_special_values() {
    let special = [0.0f32, -0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE, 1e-45];
    let values = ArrayD::from_shape_vec(vec![9], special.to_vec()).expect("nine");
    let t = trace(|a: In<f32, (Y,)>, b: In<f32, (X,)>| {
        (a.min(b).store::<(Y, X)>(), a.max(b).store::<(Y, X)>(), a.clamp(b, 0.5).store::<(Y, X)>())
    });
    let inputs = [&Tensor::of(<(Y,)>::IDS, &values), &Tensor::of(<(X,)>::IDS, &values)];
    let results = evaluate_every_way(&t.graph, &inputs);
    let low = |a: f32, b: f32| smaller(a.into(), b.into()) as f32;
    let high = |a: f32, b: f32| -smaller(-f64::from(a), -f64::from(b)) as f32;
    same(&results[0], &tabulate(&[9, 9], |i| low(special[i[0]], special[i[1]])));
    same(&results[1], &tabulate(&[9, 9], |i| high(special[i[0]], special[i[1]])));
    same(&results[2], &tabulate(&[9, 9], |i| low(high(special[i[0]], special[i[1]]), 0.5)));
}

/// `a*b + c` and its kin round once, each way it can be written; a product that is stored or cast is rounded.
#[test]
fn contraction() {
    let e = f32::EPSILON;
    let one = |v: f32| Tensor::of(<(X,)>::IDS, &Array1::from(vec![v]).into_dyn());
    let (a, b, c) = (one(1.0 + e), one(1.0 - e), one(-1.0));
    // (1 + e)(1 - e) is 1 - e^2, which rounds to 1.
    let square = e * e;
    let t = trace(|a: In<f32, (X,)>, b: In<f32, (X,)>, c: In<f32, (X,)>| {
        let p = a * b;
        ((p + c).store::<(X,)>(), (c + p).store::<(X,)>(), (p - (-c)).store::<(X,)>(), ((-c) - p).store::<(X,)>())
    });
    let results = evaluate_every_way(&t.graph, &[&a, &b, &c]);
    for (result, expected) in results.iter().zip([-square, -square, -square, square]) {
        same(result, &Array1::from(vec![expected]).into_dyn());
    }
    let t = trace(|a: In<f32, (X,)>, b: In<f32, (X,)>, c: In<f32, (X,)>| {
        let p = a * b;
        // Of two products the left one is fused, the right one rounded: to 1 here.
        (
            (p - p).store::<(X,)>(),
            p.store::<(X,)>(),
            (p.reverse::<X>() + c).store::<(X,)>(),
            p.mul_add(1.0, c).store::<(X,)>(),
        )
    });
    let results = evaluate_every_way(&t.graph, &[&a, &b, &c]);
    for (result, expected) in results.iter().zip([-square, 1.0, 0.0, 0.0]) {
        same(result, &Array1::from(vec![expected]).into_dyn());
    }
    // What is a literal does not matter, nor what is in registers.
    let t = trace(|c: In<f32, (X,)>| {
        let p = constant(1.0 + e) * (1.0 - e);
        ((c + p).store::<(X,)>(), (p - 1.0).repeat::<X>(1).store::<(X,)>())
    });
    for result in evaluate_every_way(&t.graph, &[&c]) {
        same(&result, &Array1::from(vec![-square]).into_dyn());
    }
}

#[test]
fn fused_multiply_add_rounds_once() {
    let mut rng = Rng::new(5);
    let shape = [11, 97];
    let value = |rng: &mut Rng| (rng.unit() * 2.0 - 1.0) * 2f64.powi(rng.range(-20, 20) as i32);
    let dims = <(Y, X)>::IDS;
    let arrays: Vec<ArrayD<f64>> =
        (0..3).map(|_| ArrayD::from_shape_simple_fn(vec![11, 97], || value(&mut rng))).collect();
    let wide: Vec<Tensor> = arrays.iter().map(|a| Tensor::of(dims, a)).collect();
    let narrow: Vec<ArrayD<f32>> = arrays.iter().map(|a| a.mapv(|v| v as f32)).collect();
    let narrow_tensors: Vec<Tensor> = narrow.iter().map(|a| Tensor::of(dims, a)).collect();
    let t = trace(|a: In<f64, (Y, X)>, b: In<f64, (Y, X)>, c: In<f64, (Y, X)>| (a * b + c).store::<(Y, X)>());
    let at = |i: &[usize]| {
        use crate::naive::{Number, fma};
        match fma(Number::F64(arrays[0][i]), Number::F64(arrays[1][i]), Number::F64(arrays[2][i])) {
            Number::F64(v) => v,
            other => panic!("{other:?}"),
        }
    };
    check(&t.graph, &wide.iter().collect::<Vec<_>>(), &tabulate(&shape, at));
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>, c: In<f32, (Y, X)>| (c - a * b).store::<(Y, X)>());
    let at = |i: &[usize]| {
        use crate::naive::{Number, fma};
        match fma(Number::F32(-narrow[0][i]), Number::F32(narrow[1][i]), Number::F32(narrow[2][i])) {
            Number::F32(v) => v,
            other => panic!("{other:?}"),
        }
    };
    check(&t.graph, &narrow_tensors.iter().collect::<Vec<_>>(), &tabulate(&shape, at));
}

#[test]
fn selection_and_logic() {
    let mut rng = Rng::new(8);
    let shape = [5, 1031];
    let (p, p_tensor) = array::<bool>(&mut rng, <(Y, X)>::IDS, &shape);
    let (q, q_tensor) = array::<bool>(&mut rng, <(X,)>::IDS, &shape[1..]);
    let (a, a_tensor) = array::<i16>(&mut rng, <(Y, X)>::IDS, &shape);
    let t = trace(|p: In<bool, (Y, X)>, q: In<bool, (X,)>, a: In<i16, (Y, X)>| {
        (
            (p & !q).select(a, -7i16).store::<(Y, X)>(),
            (p | q).store::<(Y, X)>(),
            (p ^ q).select(p, q).store::<(Y, X)>(),
            q.select(a, a.abs()).store::<(X, Y)>(),
        )
    });
    let results = evaluate_every_way(&t.graph, &[&p_tensor, &q_tensor, &a_tensor]);
    same(&results[0], &tabulate(&shape, |i| if p[i] && !q[&i[1..]] { a[i] } else { -7 }));
    same(&results[1], &tabulate(&shape, |i| p[i] || q[&i[1..]]));
    same(&results[2], &tabulate(&shape, |i| if p[i] != q[&i[1..]] { p[i] } else { q[&i[1..]] }));
    let abs = a.mapv(|v| v.wrapping_abs());
    same(
        &results[3],
        &tabulate(&[shape[1], shape[0]], |i| {
            if q[&i[..1]] { a[[i[1], i[0]].as_slice()] } else { abs[[i[1], i[0]].as_slice()] }
        }),
    );
}

/// Literals on either side, scalar operands, operands over different dimensions.
#[test]
fn literals_scalars_and_projection() {
    let mut rng = Rng::new(2);
    let (n, y, x, c) = (3, 5, 29, 3);
    let (pic, pic_tensor) = array::<f32>(&mut rng, <(N, Y, X, C)>::IDS, &[n, y, x, c]);
    let (gain, gain_tensor) = array::<f32>(&mut rng, <(N,)>::IDS, &[n]);
    let (mean, mean_tensor) = array::<f32>(&mut rng, <(C,)>::IDS, &[c]);
    let (bias, bias_tensor) = array::<f32>(&mut rng, &[], &[]);
    let t = trace(|p: In<f32, (N, Y, X, C)>, g: In<f32, (N,)>, m: In<f32, (C,)>, b: In<f32, ()>| {
        ((2.0 / (p - m)).max(b) / g).store::<(N, C, Y, X)>()
    });
    let inputs = [&pic_tensor, &gain_tensor, &mean_tensor, &bias_tensor];
    let expected = tabulate(&[n, c, y, x], |i| {
        let (p, m, g) = (pic[[i[0], i[2], i[3], i[1]].as_slice()], mean[&i[1..2]], gain[&i[..1]]);
        let quotient = (2.0 / f64::from((f64::from(p) - f64::from(m)) as f32)) as f32;
        let high = -smaller(-f64::from(quotient), -f64::from(bias[[].as_slice()]));
        (high / f64::from(g)) as f32
    });
    check(&t.graph, &inputs, &expected);
}
