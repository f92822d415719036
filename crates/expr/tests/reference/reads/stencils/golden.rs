//! What OpenCV makes of the same pictures: `golden/opencv.py` says how.

use super::super::golden::{Golden, NAMES};
use super::*;
use tilewright_expr::Expr;
use tilewright_expr::stencils::{Kernel, Mask, Outside, Taps};

type Plane<T> = In<T, (Y, X)>;
type Floats = Expr<f32, <(Y, X) as Dims>::Set>;
type Octets = Expr<u8, <(Y, X) as Dims>::Set>;

fn octets(golden: &Golden) -> Tensor {
    Tensor::of(<(Y, X)>::IDS, &golden.all("octets")[0].mapv(|v| v as u8))
}

/// Those that OpenCV filters with.
fn named_borders<T: Copy>(constant: T) -> impl Iterator<Item = (&'static str, Border<T>)> {
    NAMES.into_iter().zip(borders(constant)).take(4)
}

fn rows<const H: usize, const W: usize>(array: &ArrayD<f64>) -> [[f64; W]; H] {
    std::array::from_fn(|y| std::array::from_fn(|x| array[[y, x].as_slice()]))
}

/// Within `1e-6` of the largest value: OpenCV adds up in another order.
fn same_as(golden: &Golden, name: &str, result: &Tensor) {
    let expected = &golden.all(name)[0];
    let largest = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    near::<f32>(result, expected, 1e-6 * largest, name);
}

#[test]
fn weighted_windows() {
    let golden = Golden::read();
    let picture = golden.floats("picture");
    let kernel: [[f64; 5]; 3] = rows(&golden.all("kernel")[0]);
    let even: [[f64; 2]; 4] = rows(&golden.all("even_kernel")[0]);
    let (column, row) = ([0.25, -1.0, 0.5], [1.0, -2.0, 4.0, 0.125, 3.0]);
    for (name, border) in named_borders(0.0f32) {
        let check = |kind: &str, f: &dyn Fn(Plane<f32>) -> Floats| {
            let t = trace(|p: Plane<f32>| f(p).store::<(Y, X)>());
            same_as(&golden, &format!("{kind}.{name}"), &evaluate_every_way(&t.graph, &[&picture])[0]);
        };
        check("filter", &|p| p.correlate::<Y, X>(kernel, border));
        check("filter_even", &|p| p.correlate::<Y, X>(even, border));
        check("filter_anchor", &|p| p.correlate::<Y, X>(Kernel::from(kernel).anchored(0, 4), border));
        check("separable", &|p| p.separable::<Y, X>(column, row, border));
        check("blur", &|p| p.box_filter::<Y, X>(3, 5, border));
        check("gaussian", &|p| p.gaussian_blur::<Y, X>((3, 5), (0.7, 1.2), border));
        check("gaussian_sizes", &|p| p.gaussian_blur::<Y, X>((7, 11), (0.0, 0.0), border));
        for size in [1, 3, 5, 7] {
            for orders in [(0, 1), (1, 0), (1, 1), (2, 0)] {
                let kind = format!("sobel.{size}.{}{}", orders.0, orders.1);
                check(&kind, &|p| p.sobel::<Y, X>(orders, size, border));
            }
            check(&format!("laplacian.{size}"), &|p| p.laplacian::<Y, X>(size, border));
        }
        check("scharr.01", &|p| p.scharr::<Y, X>((0, 1), border));
        check("scharr.10", &|p| p.scharr::<Y, X>((1, 0), border));
    }
}

#[test]
fn windows_of_octets() {
    let golden = Golden::read();
    let picture = octets(&golden);
    let kernel: [[f64; 5]; 3] = rows(&golden.all("kernel")[0]);
    for (name, border) in named_borders(0u8) {
        let check = |kind: &str, most: f64, f: &dyn Fn(Plane<u8>) -> Octets| {
            let (t, name) = (trace(|p: Plane<u8>| f(p).store::<(Y, X)>()), format!("{kind}.{name}"));
            near::<u8>(&evaluate_every_way(&t.graph, &[&picture])[0], &golden.all(&name)[0], most, &name);
        };
        check("filter_octets", 0.0, &|p| p.correlate::<Y, X>(kernel, border).to::<u8>());
        check("blur_octets", 0.0, &|p| p.box_filter::<Y, X>(5, 3, border).to::<u8>());
        // In fixed point there.
        check("gaussian_octets", 1.0, &|p| p.gaussian_blur::<Y, X>((5, 5), (1.5, 1.5), border).to::<u8>());
        let t = trace(|p: Plane<u8>| {
            (
                p.box_sum::<Y, X>(3, 4, border).store::<(Y, X)>(),
                p.sobel::<Y, X>((0, 1), 3, border).to::<i16>().store::<(Y, X)>(),
            )
        });
        let results = evaluate_every_way(&t.graph, &[&picture]);
        near::<f32>(&results[0], &golden.all(&format!("box_sum.{name}"))[0], 0.0, "box_sum");
        near::<i16>(&results[1], &golden.all(&format!("sobel_octets.{name}"))[0], 0.0, "sobel");
    }
    for (name, border) in named_borders(90u8) {
        let t = trace(|p: Plane<u8>| p.erode::<Y, X>(&Mask::cross(5, 3), border).store::<(Y, X)>());
        let expected = &golden.all(&format!("erode.{name}"))[0];
        near::<u8>(&evaluate_every_way(&t.graph, &[&picture])[0], expected, 0.0, name);
    }
}

#[test]
fn medians() {
    let golden = Golden::read();
    let picture = octets(&golden);
    for size in [3, 5, 7] {
        let t = trace(|p: Plane<u8>| p.median::<Y, X>(size, Border::Replicate).store::<(Y, X)>());
        let expected = &golden.all(&format!("median.{size}"))[0];
        near::<u8>(&evaluate_every_way(&t.graph, &[&picture])[0], expected, 0.0, "median");
    }
    let t = trace(|p: Plane<f32>| p.median::<Y, X>(5, Border::Replicate).store::<(Y, X)>());
    let result = &evaluate_every_way(&t.graph, &[&golden.floats("picture")])[0];
    near::<f32>(result, &golden.all("median_floats")[0], 1e-5, "median of floats");
}

#[test]
fn masks_and_what_is_made_with_them() {
    let golden = Golden::read();
    let picture = octets(&golden);
    type Drawn = fn(usize, usize) -> Mask;
    let shapes = [("rectangle", Mask::rectangle as Drawn), ("cross", Mask::cross), ("ellipse", Mask::ellipse)];
    for (shape, mask) in shapes {
        for expected in golden.all(shape) {
            let (h, w) = (expected.shape()[0], expected.shape()[1]);
            let drawn = Mask::from_fn(h, w, |y, x| expected[[y, x].as_slice()] != 0.0);
            assert_eq!(mask(h, w), drawn, "{shape} of {h} x {w}");
        }
        let m = &mask(4, 3);
        let t = trace(|p: Plane<u8>| {
            let open = p.open::<Y, X>(m, Outside::Ignored).store::<(Y, X)>();
            let close = p.close::<Y, X>(m, Outside::Ignored).store::<(Y, X)>();
            let gradient = p.morphological_gradient::<Y, X>(m, Outside::Ignored).store::<(Y, X)>();
            let top_hat = p.top_hat::<Y, X>(m, Outside::Ignored).store::<(Y, X)>();
            let black_hat = p.black_hat::<Y, X>(m, Outside::Ignored).store::<(Y, X)>();
            let erode = p.erode::<Y, X>(m, Outside::Ignored).store::<(Y, X)>();
            let dilate = p.dilate::<Y, X>(m, Outside::Ignored).store::<(Y, X)>();
            ((erode, dilate, open, close), (gradient, top_hat, black_hat))
        });
        let results = evaluate_every_way(&t.graph, &[&picture]);
        for (name, result) in
            ["erode", "dilate", "open", "close", "gradient", "top_hat", "black_hat"].iter().zip(&results)
        {
            let name = format!("{name}.{shape}");
            near::<u8>(result, &golden.all(&name)[0], 0.0, &name);
        }
    }
}

/// OpenCV's fixed kernels of small sizes without a deviation.
#[test]
fn gaussians_without_a_width() {
    assert_eq!(Taps::gaussian(3, 0.0).weights(), [0.25, 0.5, 0.25]);
    assert_eq!(Taps::gaussian(5, 0.0).weights(), [0.0625, 0.25, 0.375, 0.25, 0.0625]);
    for size in [1, 3, 5, 7, 9, 11, 31] {
        let taps = Taps::gaussian(size, 0.0);
        assert_eq!((taps.weights().len(), taps.anchor()), (size, size / 2));
        assert!((taps.weights().iter().sum::<f64>() - 1.0).abs() < 1e-15, "{size}");
    }
}
