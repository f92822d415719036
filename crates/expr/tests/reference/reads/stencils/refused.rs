//! What is refused, and what the message says.

use super::*;
use tilewright_expr::stencils::{Kernel, Mask, Outside, Taps};
use tilewright_expr::{Error, Expr};

type Plane<T> = In<T, (Y, X)>;

fn error<U: Value + tilewright_expr::Element>(f: impl Fn(Plane<u8>) -> U2<U>) -> String {
    let t = trace(|p: Plane<u8>| f(p).store::<(Y, X)>());
    t.graph.check().expect_err("it is refused").to_string()
}
type U2<U> = Expr<U, <(Y, X) as Dims>::Set>;

#[test]
fn windows_name_the_dimension_and_the_sizes() {
    let border = Border::Replicate;
    let none = "a window of 0 along `";
    assert!(error(|p| p.correlate::<Y, X>(Kernel::from_fn(0, 3, |_, _| 1.0), border)).contains(none));
    assert!(error(|p| p.separable::<Y, X>(Vec::new(), [1.0], border)).contains("0 along `Y`"));
    assert!(error(|p| p.separable::<Y, X>([1.0], [0.5; 32], border)).contains("a window of 32 along `X`"));
    assert!(error(|p| p.box_filter::<Y, X>(3, 0, border)).contains("0 along `X`"));
    assert!(error(|p| p.gaussian_blur::<Y, X>((3, 4), (0.0, 0.0), border)).contains("a window of 4 along `X`"));
    assert!(error(|p| p.gaussian_blur::<Y, X>((33, 3), (1.0, 1.0), border)).contains("a window of 33 along `Y`"));
    assert!(error(|p| p.median::<Y, X>(4, border)).contains("a window of 4 along `Y`"));
    assert!(error(|p| p.median::<Y, X>(9, border)).contains("1, 3, 5 or 7"));
    assert!(error(|p| p.laplacian::<Y, X>(2, border)).contains("odd"));
    assert!(error(|p| p.erode::<Y, X>(&Mask::cross(3, 33), Outside::Ignored)).contains("a window of 33 along `X`"));
    assert!(error(|p| p.dilate::<Y, X>(&Mask::rectangle(0, 3), Outside::Ignored)).contains("0 along `Y`"));
}

#[test]
fn anchors_lie_inside() {
    let border = Border::Replicate;
    let outside = "anchor 3 lies outside of a window of 3 along `X`";
    assert!(error(|p| p.correlate::<Y, X>(Kernel::from([[1.0; 3]]).anchored(0, 3), border)).contains(outside));
    assert!(error(|p| p.convolve::<Y, X>(Kernel::from([[1.0; 3]]).anchored(0, 3), border)).contains("along `X`"));
    assert!(error(|p| p.separable::<Y, X>([1.0], Taps::from([1.0; 3]).anchored(3), border)).contains(outside));
    assert!(error(|p| p.erode::<Y, X>(&Mask::rectangle(2, 3).anchored(2, 0), border)).contains("anchor 2"));
    let t = trace(|p: Plane<u8>, w: In<f32, (K, C)>| {
        p.correlate_by_around::<Y, X, K, C, _>(w, (3, 0), border).store::<(Y, X)>()
    });
    let (p, w) = (picture::<u8>(&mut Rng::new(1), <(Y, X)>::IDS, &[4, 4], 9).1, rng_weights());
    let views = [&p, &w].map(|t| crate::tensor::Stored::new(t, &crate::tensor::Layout::dense(2)));
    let layout = crate::tensor::Layout::dense(2);
    let error = crate::tensor::evaluate(&t.graph, &views, &[layout], true, 0).expect_err("the anchor is outside");
    assert!(matches!(error, Error::Order { dim: "K", index: 3, extent: 3 }), "{error}");
}

fn rng_weights() -> Tensor {
    Tensor::of(<(K, C)>::IDS, &tabulate(&[3, 3], |_| 1.0f32))
}

#[test]
fn derivatives_widths_and_masks() {
    let border = Border::Wrap;
    for (orders, size) in [((0, 0), 3), ((3, 0), 3), ((0, 1), 4), ((1, 0), 33), ((5, 0), 5), ((3, 0), 1)] {
        let text = error(|p| p.sobel::<Y, X>(orders, size, border));
        assert!(text.contains(&format!("({}, {}) has a window of {size}", orders.0, orders.1)), "{text}");
    }
    assert!(error(|p| p.scharr::<Y, X>((1, 1), border)).contains("Scharr"));
    for sigma in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(error(|p| p.gaussian_blur::<Y, X>((3, 3), (sigma, 0.0), border)).contains("along `Y`"));
    }
    let empty = Mask::from_fn(2, 3, |_, _| false);
    assert!(error(|p| p.erode::<Y, X>(&empty, border)).contains("a mask of 2 x 3 has no pixel"));
}
