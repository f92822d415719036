//! Windows weighted: full and separable kernels, means, Gaussians, derivatives. Pixels are small whole numbers and weights
//! multiples of 1/8, so that sums are exact in any order; one test holds the order.

use super::*;
use tilewright_expr::Pixel;
use tilewright_expr::stencils::{Kernel, Taps};

/// The sum of the weights times the window's pixels.
fn weigh<T: Gray>(weights: &[f64], pixels: Vec<T>) -> f64 {
    weights.iter().zip(pixels).map(|(w, p)| w * p.real()).sum()
}

fn eighths(rng: &mut Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.range(-8, 9) as f64 / 8.0).collect()
}

fn full_kernels<T: Gray + Sampled + tilewright_expr::Element>()
where
    <T as Pixel>::Real: Into<f64> + tilewright_expr::Element,
{
    let mut rng = Rng::new(<T as Value>::DTYPE as u64);
    let kernel = [[0.5, -1.0], [0.0, 2.0], [0.125, 0.75f32]];
    let weights: Vec<f64> = kernel.iter().flatten().map(|w| f64::from(*w)).collect();
    for (i, border) in borders(T::pixel(11)).into_iter().enumerate() {
        let shape = SIZES[i % SIZES.len()];
        let (p, tensor) = picture::<T>(&mut rng, <(Y, X)>::IDS, &shape, 100);
        let t = trace(|p: In<T, (Y, X)>| {
            let around = Kernel::from(kernel).anchored(2, 0);
            (
                p.correlate::<Y, X>(kernel, border).store::<(Y, X)>(),
                p.correlate::<Y, X>(around.clone(), border).store::<(X, Y)>(),
                p.convolve::<Y, X>(around, border).store::<(Y, X)>(),
            )
        });
        let results = evaluate_every_way(&t.graph, &[&tensor]);
        let at = |anchor| tabulate(&shape, |i| weigh(&weights, window(&p, (3, 2), anchor, i, border)));
        close::<<T as Pixel>::Real>(&results[0], &at((1, 1)), 0.0);
        close::<<T as Pixel>::Real>(&results[1], &at((2, 0)).reversed_axes(), 0.0);
        // A convolution reads behind where a correlation reads ahead.
        let turned: Vec<f64> = weights.iter().rev().copied().collect();
        let expected = tabulate(&shape, |i| weigh(&turned, window(&p, (3, 2), (0, 1), i, border)));
        close::<<T as Pixel>::Real>(&results[2], &expected, 0.0);
    }
}

#[test]
fn full_kernels_of_every_type() {
    every_number!(full_kernels);
}

/// Rows and columns in turn: the same as the products of their weights, whatever lies outside.
#[test]
fn two_passes() {
    let mut rng = Rng::new(30);
    for shape in SIZES {
        for (i, border) in borders(-3i16).into_iter().enumerate() {
            let (column, row) = (eighths(&mut rng, 1 + i), eighths(&mut rng, 7 - i));
            let (column, row) = (Taps::from(column), Taps::from(row.as_slice()).anchored(6 - i));
            let (p, tensor) = picture::<i16>(&mut rng, <(Y, X)>::IDS, &shape, 50);
            let t = trace(|p: In<i16, (Y, X)>| {
                let kernel = Kernel::outer(&column, &row);
                (
                    p.separable::<Y, X>(column.clone(), row.clone(), border).store::<(Y, X)>(),
                    p.correlate::<Y, X>(kernel, border).store::<(Y, X)>(),
                )
            });
            let products: Vec<f64> =
                column.weights().iter().flat_map(|c| row.weights().iter().map(move |r| c * r)).collect();
            let size = (column.weights().len(), row.weights().len());
            let expected =
                tabulate(&shape, |i| weigh(&products, window(&p, size, (column.anchor(), row.anchor()), i, border)));
            for result in evaluate_every_way(&t.graph, &[&tensor]) {
                close::<f32>(&result, &expected, 0.0);
            }
        }
    }
}

/// Weights of an operand, known at no time before the call: one kernel for each of three pictures.
#[test]
fn weights_at_run_time() {
    let mut rng = Rng::new(31);
    let dims = <(N, K, C)>::IDS;
    for (size, anchor) in [((3, 5), None), ((2, 4), None), ((7, 9), None), ((1, 1), None), ((4, 3), Some((3, 0)))] {
        for border in borders(9u8) {
            let (p, tensor) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[4, 6], 100);
            let shape = [3, size.0 as i64, size.1 as i64];
            let list = eighths(&mut rng, (shape[0] * shape[1] * shape[2]) as usize);
            let weights = ArrayD::from_shape_vec(vec![3, size.0, size.1], list.clone()).expect("as many");
            let weights = Tensor::of(dims, &weights.mapv(|w| w as f32));
            let t = trace(|p: In<u8, (Y, X)>, w: In<f32, (N, K, C)>| match anchor {
                None => p.correlate_by::<Y, X, K, C, _>(w, border).store::<(N, Y, X)>(),
                Some(at) => p.correlate_by_around::<Y, X, K, C, _>(w, at, border).store::<(N, Y, X)>(),
            });
            let expected = tabulate(&[3, 4, 6], |i| {
                let own = &list[i[0] * size.0 * size.1..][..size.0 * size.1];
                weigh(own, window(&p, size, anchor.unwrap_or((size.0 / 2, size.1 / 2)), &i[1..], border))
            });
            close::<f32>(&evaluate_every_way(&t.graph, &[&tensor, &weights])[0], &expected, 0.0);
        }
    }
}

/// Short windows and long ones, which are loops.
#[test]
fn sums_and_means() {
    let mut rng = Rng::new(32);
    for (size, shape) in [((3, 3), [5, 9]), ((1, 4), [2, 3]), ((6, 1), [1, 1]), ((40, 3), [3, 4]), ((2, 33), [4, 5])] {
        for border in borders(7u8) {
            let (p, tensor) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &shape, 256);
            let t = trace(|p: In<u8, (Y, X)>| {
                (
                    p.box_sum::<Y, X>(size.0, size.1, border).store::<(Y, X)>(),
                    p.box_filter::<Y, X>(size.0, size.1, border).store::<(Y, X)>(),
                )
            });
            let results = evaluate_every_way(&t.graph, &[&tensor]);
            let ones = vec![1.0; size.0 * size.1];
            let sums = tabulate(&shape, |i| weigh(&ones, window(&p, size, (size.0 / 2, size.1 / 2), i, border)));
            close::<f32>(&results[0], &sums, 0.0);
            let means = sums.mapv(|s| f64::from((s / ones.len() as f64) as f32));
            close::<f32>(&results[1], &means, 0.0);
        }
    }
}

/// The order of additions, bit for bit: rows from the first, within a row from the left, each product fused with the sum.
#[test]
fn the_order_of_additions() {
    let mut rng = Rng::new(33);
    let values = ArrayD::from_shape_simple_fn(vec![6, 7], || (rng.unit() * 100.0 - 50.0) as f32);
    let weights: Vec<f32> = (0..9).map(|_| (rng.unit() - 0.5) as f32).collect();
    let kernel = [0, 3, 6].map(|r| [weights[r], weights[r + 1], weights[r + 2]]);
    let tensor = Tensor::of(<(Y, X)>::IDS, &values);
    let border = Border::Reflect101;
    let chain = |weights: &[f32], pixels: &[f32]| {
        let first = weights[0] * pixels[0];
        weights[1..].iter().zip(&pixels[1..]).fold(first, |sum, (w, p)| p.mul_add(*w, sum))
    };
    let t = trace(|p: In<f32, (Y, X)>| p.correlate::<Y, X>(kernel, border).store::<(Y, X)>());
    let expected = tabulate(&[6, 7], |i| chain(&weights, &window(&values, (3, 3), (1, 1), i, border)));
    check(&t.graph, &[&tensor], &expected);

    let (column, row) = (&weights[..3], &weights[3..8]);
    let t = trace(|p: In<f32, (Y, X)>| p.separable::<Y, X>(column, row, border).store::<(Y, X)>());
    let expected = tabulate(&[6, 7], |i| {
        let pixels = window(&values, (3, 5), (1, 2), i, border);
        let rows: Vec<f32> = pixels.chunks(5).map(|pixels| chain(row, pixels)).collect();
        chain(column, &rows)
    });
    check(&t.graph, &[&tensor], &expected);
}

/// A kernel whose weights are all 0 reads nothing, and has the picture's shape.
#[test]
fn nothing_at_all() {
    let (_, tensor) = picture::<u8>(&mut Rng::new(34), <(Y, X)>::IDS, &[3, 4], 256);
    let t = trace(|p: In<u8, (Y, X)>| {
        let none = [[0.0; 3]; 3];
        let half = p.separable::<Y, X>([0.0, 0.0], [1.0, 1.0], Border::Wrap);
        let other = p.separable::<Y, X>([1.0, 1.0], [0.0, 0.0], Border::Constant(3));
        (p.correlate::<Y, X>(none, Border::Wrap) + half + other).store::<(Y, X)>()
    });
    check(&t.graph, &[&tensor], &tabulate(&[3, 4], |_| 0.0f32));
}

/// Stencils of stencils, of crops and of resized pictures, over channels.
#[test]
fn of_what_others_make() {
    let mut rng = Rng::new(35);
    let (p, tensor) = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[11, 13, 3], 64);
    let boxes =
        rects(&mut rng, 3, (11, 13)).into_iter().map(|b| Rect::new(b.x.min(7), b.y.min(6), 6, 5)).collect::<Vec<_>>();
    let t = trace(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
        let sharp = p.crop::<Y, X, _>(b).correlate::<Y, X>([[1.0, 0.0, -2.0]], Border::Reflect);
        sharp.box_sum::<Y, X>(3, 2, Border::Wrap).store::<(N, C, Y, X)>()
    });
    let expected = tabulate(&[3, 3, 5, 6], |i| {
        let r = boxes[i[0]];
        let crop = tabulate(&[5, 6], |k| p[[k[0] + r.y as usize, k[1] + r.x as usize, i[1]].as_slice()]);
        let sharp = tabulate(&[5, 6], |k| weigh(&[1.0, 0.0, -2.0], window(&crop, (1, 3), (0, 1), k, Border::Reflect)));
        window(&sharp, (3, 2), (1, 1), &i[2..], Border::Wrap).into_iter().sum()
    });
    let boxes = Tensor::boxes(<(N,)>::IDS, &[3], &boxes);
    close::<f32>(&evaluate_every_way(&t.graph, &[&tensor, &boxes])[0], &expected, 0.0);
}

/// Gaussians by the formula, in `f64`.
#[test]
fn gaussians() {
    let mut rng = Rng::new(36);
    for ((h, w), sigma) in [((5, 3), (1.1, 0.4)), ((1, 7), (0.0, 2.5)), ((31, 11), (4.0, 0.0))] {
        let (p, tensor) = picture::<f64>(&mut rng, <(Y, X)>::IDS, &[6, 8], 1000);
        let weights = |n: usize, sigma: f64| {
            let sigma = if sigma > 0.0 { sigma } else { 0.3 * ((n as f64 - 1.0) / 2.0 - 1.0) + 0.8 };
            let all = (0..n).map(|i| (-(i as f64 - (n / 2) as f64).powi(2) / (2.0 * sigma * sigma)).exp());
            let sum: f64 = all.clone().sum();
            all.map(|v| v / sum).collect::<Vec<f64>>()
        };
        let (column, row) = (weights(h, sigma.0), weights(w, sigma.1));
        let products: Vec<f64> = column.iter().flat_map(|c| row.iter().map(move |r| c * r)).collect();
        for border in borders(100.0f64) {
            let t = trace(|p: In<f64, (Y, X)>| p.gaussian_blur::<Y, X>((h, w), sigma, border).store::<(Y, X)>());
            let expected = tabulate(&[6, 8], |i| weigh(&products, window(&p, (h, w), (h / 2, w / 2), i, border)));
            close::<f64>(&evaluate_every_way(&t.graph, &[&tensor])[0], &expected, 1e-12);
        }
    }
}
