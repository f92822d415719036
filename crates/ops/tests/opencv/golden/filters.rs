//! Filters and morphology.

use super::{Golden, agree};
use tilewright_expr::Border;
use tilewright_expr::stencils::Mask;
use tilewright_ops::Error;
use tilewright_ops::opencv::*;

const MIDDLE: Point = Point(-1, -1);

/// Lines for pictures of bytes and of floats: the most is that of bytes.
macro_rules! of_both {
    ($golden:ident: $($name:expr, $most:expr, |$a:ident| $f:expr;)*) => { $(
        agree! { $golden:
            format!("{}.bytes", $name), $most, |$a: u8[Y X C] = "bytes"| ($f) => [Y X C];
            format!("{}.floats", $name), 2e-6, |$a: f32[Y X C] = "floats"| ($f) => [Y X C];
        }
    )* };
}

/// Floats are added in another order there; sums of bytes, of type `f32`, are exact.
#[test]
fn windows() -> Result<(), Error> {
    let golden = Golden::read();
    let weights = golden.array("kernel").1;
    let kernel: [[f64; 5]; 3] = std::array::from_fn(|y| std::array::from_fn(|x| weights[y * 5 + x]));
    let (row, column) = ([1.0, -2.0, 4.0, 0.125, 3.0], [0.25, -1.0, 0.5]);
    // In fixed point there.
    let fixed = 1.0;
    of_both! { golden:
        "gaussian_blur", fixed, |a| gaussian_blur(a, Size(5, 3), 1.25, 0.75, BORDER_DEFAULT);
        "gaussian_blur.size", fixed, |a| gaussian_blur(a, Size(7, 5), 0.0, 0.0, BORDER_DEFAULT);
        "gaussian_blur.sigma", fixed, |a| gaussian_blur(a, Size(0, 0), 0.875, 0.0, BORDER_DEFAULT);
        "box_filter", 0.0, |a| box_filter::<f32, _, _>(a, Size(4, 3), Point(1, 0), false, BORDER_DEFAULT);
        "filter_2d.anchored", 0.0, |a| filter_2d::<f32, _, _>(a, kernel, Point(4, 0), 2.5, BORDER_DEFAULT);
        "sep_filter_2d", 0.0, |a| sep_filter_2d::<f32, _, _>(a, row, column, Point(1, 2), -7.0, BORDER_DEFAULT);
        "sobel.scaled", 0.0, |a| sobel::<f32, _, _>(a, 1, 1, 3, 0.25, 10.0, BORDER_DEFAULT);
        "scharr", 0.0, |a| scharr::<f32, _, _>(a, 0, 1, 0.5, -1.0, BORDER_DEFAULT);
    }
    for border in [BORDER_CONSTANT, BORDER_REPLICATE, BORDER_REFLECT, BORDER_REFLECT_101] {
        of_both! { golden:
            format!("blur.{border:?}"), fixed, |a| blur(a, Size(3, 4), MIDDLE, border);
            format!("blur.anchored.{border:?}"), fixed, |a| blur(a, Size(5, 3), Point(0, 2), border);
        }
    }
    for size in [1, 3, 5, 7] {
        of_both! { golden:
            format!("sobel.{size}"), 0.0, |a| sobel::<f32, _, _>(a, 1, 0, size, 1.0, 0.0, BORDER_DEFAULT);
            format!("laplacian.{size}"), 0.0,
                |a| laplacian::<f32, _, _>(a, size as usize, 1.0, 0.0, BORDER_DEFAULT);
        }
    }
    agree! { golden:
        "filter_2d.bytes", 0.0, |a: u8[Y X C] = "bytes"|
            filter_2d::<u8, _, _>(a, kernel, MIDDLE, 0.0, BORDER_DEFAULT) => [Y X C];
        "filter_2d.floats", 2e-6, |a: f32[Y X C] = "floats"|
            filter_2d::<f32, _, _>(a, kernel, MIDDLE, 0.0, BORDER_DEFAULT) => [Y X C];
        "sobel.narrow", 0.0, |a: u8[Y X C] = "bytes"| sobel::<i16, _, _>(a, 0, 2, 3, 1.0, 0.0, BORDER_DEFAULT) => [Y X C];
        "sobel.scharr", 0.0, |a: u8[Y X C] = "bytes"| sobel::<i16, _, _>(a, 1, 0, FILTER_SCHARR, 1.0, 0.0, BORDER_DEFAULT) => [Y X C];
        "median_blur.floats", 0.0, |a: f32[Y X C] = "floats"| median_blur(a, 5) => [Y X C];
    }
    for size in [3, 5, 7] {
        agree! { golden:
            format!("median_blur.{size}"), 0.0, |a: u8[Y X C] = "bytes"| median_blur(a, size) => [Y X C];
        }
    }
    golden.finish()
}

#[test]
fn masks() {
    let golden = Golden::read();
    let anchors = [(3, 3, MIDDLE), (5, 4, Point(1, 3)), (4, 5, Point(3, -1)), (9, 1, MIDDLE), (7, 5, MIDDLE)];
    for shape in [MORPH_RECT, MORPH_CROSS, MORPH_ELLIPSE, MORPH_DIAMOND] {
        for (width, height, anchor) in anchors.into_iter().chain([(5, 9, Point(0, 0))]) {
            let name = format!("element.{shape:?}.{width}x{height}");
            let drawn = golden.array(&name).1;
            let expected = Mask::from_fn(height, width, |y, x| drawn[y * width + x] != 0.0);
            assert_eq!(get_structuring_element(shape, Size(width, height), anchor), expected, "{name}");
        }
    }
}

#[test]
fn extremes() -> Result<(), Error> {
    let golden = Golden::read();
    let mask = &get_structuring_element(MORPH_CROSS, Size(4, 3), Point(0, 2));
    let small = &get_structuring_element(MORPH_DIAMOND, Size(3, 2), MIDDLE);
    let rectangle = &get_structuring_element(MORPH_RECT, Size(3, 2), MIDDLE);
    let ops = [MORPH_ERODE, MORPH_DILATE, MORPH_OPEN, MORPH_CLOSE, MORPH_GRADIENT, MORPH_TOPHAT, MORPH_BLACKHAT];
    for op in ops {
        let name = format!("{op:?}").replace("MORPH_", "");
        for border in [BORDER_CONSTANT, BORDER_REPLICATE] {
            agree! { golden:
                format!("morphology.{name}.{border:?}.bytes"), 0.0, |a: u8[Y X C] = "bytes"| morphology_ex(a, op, mask, MIDDLE, 1, border) => [Y X C];
                format!("morphology.{name}.{border:?}.floats"), 0.0, |a: f32[Y X C] = "floats"| morphology_ex(a, op, small, Point(1, 0), 1, border) => [Y X C];
            }
        }
        agree! { golden:
            format!("morphology.rectangle.{name}"), 0.0, |a: u8[Y X C] = "bytes"| morphology_ex(a, op, rectangle, MIDDLE, 2, BORDER_CONSTANT) => [Y X C];
        }
    }
    agree! { golden:
        "morphology.twice.ERODE", 0.0, |a: u8[Y X C] = "bytes"| erode(a, small, MIDDLE, 2, BORDER_CONSTANT) => [Y X C];
        "morphology.twice.DILATE", 0.0, |a: u8[Y X C] = "bytes"| dilate(a, small, MIDDLE, 2, BORDER_CONSTANT) => [Y X C];
    }
    let both = [[0, 1, 0], [-1, 1, 1], [-1, -1, 0]];
    let (hit, miss) = ([[1, 1, 0], [0, 0, 0], [0, 0, 1]], [[-1, 0, 0], [0, 0, 0], [0, 0, -1]]);
    agree! { golden:
        "erode.valued", 0.0, |a: u8[Y X C] = "bytes"| erode(a, mask, MIDDLE, 1, Border::Constant(90)) => [Y X C];
        "hit_or_miss.both", 0.0, |a: u8[Y X] = "spots"| hit_or_miss(a, both, MIDDLE, 1, BORDER_CONSTANT) => [Y X];
        "hit_or_miss.hit", 0.0, |a: u8[Y X] = "spots"| hit_or_miss(a, hit, MIDDLE, 1, BORDER_CONSTANT) => [Y X];
        "hit_or_miss.miss", 0.0, |a: u8[Y X] = "spots"| hit_or_miss(a, miss, MIDDLE, 1, BORDER_CONSTANT) => [Y X];
    }
    golden.finish()
}
