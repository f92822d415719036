//! Reads at other coordinates against loops over the written formulas in f64: a module a kind of read.

mod aspect;
mod borders;
mod crop;
mod gather;
mod golden;
mod order;
mod resize;
mod stencils;
mod warp;

use super::{C, K, N, X, Y, array, check, tabulate};
use crate::random::Rng;
use crate::tensor::{Tensor, evaluate_every_way};
use ndarray::ArrayD;
use tilewright_dims::Dims;
use tilewright_expr::{Border, Centres, Filter, In, Number, Rect, Sampled, Value, bf16, f16, trace};

/// Neighbours and weight of index `i` of `to`, in `from` pixels.
fn tap(i: usize, from: i64, to: usize, centres: Centres) -> (usize, usize, f64) {
    let scale = from as f64 / to as f64;
    let s = match centres {
        Centres::Half => ((i as f64 + 0.5) * scale - 0.5).max(0.0),
        Centres::Corner => i as f64 * scale,
    };
    let last = from as usize - 1;
    let first = (s.floor() as usize).min(last);
    (first, (first + 1).min(last), s - s.floor())
}

/// The pixel (`y`, `x`) of the picture `at`, of `from` pixels, resampled to `to`.
fn bilinear(
    at: impl Fn(usize, usize) -> f64,
    (y, x): (usize, usize),
    from: (i64, i64),
    to: (usize, usize),
    centres: Centres,
) -> f64 {
    let ((y0, y1, fy), (x0, x1, fx)) = (tap(y, from.0, to.0, centres), tap(x, from.1, to.1, centres));
    let row = |y| at(y, x0) + fx * (at(y, x1) - at(y, x0));
    row(y0) + fy * (row(y1) - row(y0))
}

fn close<T: Value + Into<f64>>(result: &Tensor, expected: &ArrayD<f64>, tolerance: f64) {
    let got = result.array::<T>();
    assert_eq!(got.shape(), expected.shape());
    for (i, e) in expected.indexed_iter() {
        let g: f64 = got[&i].into();
        let limit = tolerance * (1.0 + e.abs());
        assert!((g - e).abs() <= limit, "{i:?}: got {g}, the formula gives {e}");
    }
}

/// A picture without special values, which make every neighbour of theirs special.
fn picture<T: Gray>(rng: &mut Rng, dims: &[u64], shape: &[i64], largest: i64) -> (ArrayD<T>, Tensor) {
    let count = shape.iter().map(|n| *n as usize).collect::<Vec<_>>();
    let values = ArrayD::from_shape_simple_fn(count, || T::pixel(rng.range(0, largest)));
    let tensor = Tensor::of(dims, &values);
    (values, tensor)
}

/// A type of pixels, from and to the numbers of the reference.
trait Gray: Value {
    fn pixel(v: i64) -> Self;
    /// The value nearest to an infinity.
    fn end(infinity: f64) -> Self;
    fn real(self) -> f64;
}
macro_rules! pixels {
    ($($t:ty),*) => { $(impl Gray for $t {
        fn pixel(v: i64) -> Self { v as $t }
        fn end(infinity: f64) -> Self { infinity as $t }
        fn real(self) -> f64 { self as f64 }
    })* };
}
pixels!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);
macro_rules! halves {
    ($($t:ty),*) => { $(impl Gray for $t {
        fn pixel(v: i64) -> Self { <$t>::from_f64(v as f64) }
        fn end(infinity: f64) -> Self { <$t>::from_f64(infinity) }
        fn real(self) -> f64 { self.to_f64() }
    })* };
}
halves!(f16, bf16);

fn rects(rng: &mut Rng, n: i64, (h, w): (i64, i64)) -> Vec<Rect> {
    let mut boxes: Vec<Rect> = (0..n).map(|_| rng.inside(h, w)).collect();
    if let Some(whole) = boxes.get_mut(0) {
        *whole = Rect::new(0, 0, w as i32, h as i32);
    }
    boxes
}

/// The pixel (`y`, `x`) of what a box shows, resampled.
fn crop_pixel(
    at: impl Fn(usize, usize) -> f64,
    r: Rect,
    i: (usize, usize),
    to: (usize, usize),
    centres: Centres,
) -> f64 {
    bilinear(|y, x| at(y + r.y as usize, x + r.x as usize), i, (r.height.into(), r.width.into()), to, centres)
}

/// Where a border takes the coordinate `c` of `n`, by the definition of its period; `None` for its constant.
fn brought<T>(c: i64, n: i64, border: Border<T>) -> Option<i64> {
    let folded = |period: i64, mirrored: i64| {
        let c = c.rem_euclid(period);
        if c < n { c } else { mirrored - c }
    };
    match border {
        Border::Constant(_) => (0..n).contains(&c).then_some(c),
        Border::Replicate => Some(c.clamp(0, n - 1)),
        Border::Reflect => Some(folded(2 * n, 2 * n - 1)),
        Border::Reflect101 if n == 1 => Some(0),
        Border::Reflect101 => Some(folded(2 * n - 2, 2 * n - 2)),
        Border::Wrap => Some(c.rem_euclid(n)),
    }
}

/// Every border, with `constant`.
fn borders<T: Copy>(constant: T) -> [Border<T>; 5] {
    [Border::Constant(constant), Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap]
}

/// Those that work at any place.
const FILTERS: [Filter; 4] = [Filter::Nearest, Filter::Linear, Filter::Cubic, Filter::Lanczos4];

/// How much a pixel at distance `t` weighs, by the textbook.
fn kernel(filter: Filter, t: f64) -> f64 {
    let t = t.abs();
    let sinc = |t: f64| if t == 0.0 { 1.0 } else { (std::f64::consts::PI * t).sin() / (std::f64::consts::PI * t) };
    let a = -0.75;
    match filter {
        Filter::Nearest | Filter::Area => panic!("there is nothing to weigh"),
        Filter::Linear => (1.0 - t).max(0.0),
        Filter::Cubic if t <= 1.0 => (a + 2.0) * t.powi(3) - (a + 3.0) * t.powi(2) + 1.0,
        Filter::Cubic if t < 2.0 => a * t.powi(3) - 5.0 * a * t.powi(2) + 8.0 * a * t - 4.0 * a,
        Filter::Cubic => 0.0,
        Filter::Lanczos4 if t < 4.0 => sinc(t) * sinc(t / 4.0),
        Filter::Lanczos4 => 0.0,
    }
}

/// The value at `s`, from pixels `at` any whole number.
fn between(at: impl Fn(i64) -> f64, s: f64, filter: Filter) -> f64 {
    if filter == Filter::Nearest {
        return at(crate::naive::nearest(s) as i64);
    }
    let first = s.floor() as i64;
    let (mut sum, mut weights) = (0.0, 0.0);
    for i in first - 3..=first + 4 {
        let w = kernel(filter, s - i as f64);
        if w != 0.0 {
            sum += w * at(i);
            weights += w;
        }
    }
    sum / weights
}

/// As [`close`], within `tolerance` itself.
fn near<T: Value + Into<f64>>(result: &Tensor, expected: &ArrayD<f64>, tolerance: f64, what: &str) {
    let got = result.array::<T>();
    assert_eq!(got.shape(), expected.shape(), "{what}");
    for (i, e) in expected.indexed_iter() {
        let g: f64 = got[&i].into();
        assert!((g - e).abs() <= tolerance, "{what}, {i:?}: got {g}, the formula gives {e}");
    }
}
