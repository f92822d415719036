//! Arithmetic, bits, comparisons, thresholds, tables, colours, statistics.

use super::{Golden, agree};
use tilewright_expr::colour::Space;
use tilewright_ops::opencv::*;
use tilewright_ops::{Error, fuse};

/// Lines for pictures of bytes and of floats.
macro_rules! of_both {
    ($golden:ident: $($name:literal, |$a:ident, $b:ident| $value:expr;)*) => { $(
        agree! { $golden:
            format!("{}.bytes", $name), 0.0, |$a: u8[Y X C] = "bytes", $b: u8[Y X C] = "others"| $value => [Y X C];
            format!("{}.floats", $name), 0.0, |$a: f32[Y X C] = "floats", $b: f32[Y X C] = "divisors"| $value => [Y X C];
        }
    )* };
}

#[test]
fn pairs_and_scalars() -> Result<(), Error> {
    let golden = Golden::read();
    of_both! { golden:
        "add", |a, b| add(a, b);
        "subtract", |a, b| subtract(a, b);
        "absdiff", |a, b| absdiff(a, b);
        "multiply", |a, b| multiply(a, b);
        "divide", |a, b| divide(a, b);
        "min", |a, b| min(a, b);
        "max", |a, b| max(a, b);
        "add_scalar", |a, _b| add(a, [10.5, -3.0, 300.0]);
        "subtract_scalar", |a, _b| subtract(a, [10.5, -3.0, 300.0]);
        "add_weighted", |a, b| add_weighted(a, 0.7, b, 0.4, -5.5);
    }
    // Scalars of f64 there.
    agree! { golden:
        "multiply_scalar.bytes", 1.0, |a: u8[Y X C] = "bytes"| multiply(a, [1.7, 0.3, -1.0]) => [Y X C];
        "multiply_scalar.floats", 1e-7, |a: f32[Y X C] = "floats"| multiply(a, [1.7, 0.3, -1.0]) => [Y X C];
        "divide_scalar.bytes", 1.0, |a: u8[Y X C] = "bytes"| divide(a, [1.7, 0.3, -1.0]) => [Y X C];
        "divide_scalar.floats", 1e-7, |a: f32[Y X C] = "floats"| divide(a, [1.7, 0.3, -1.0]) => [Y X C];
    }
    agree! { golden:
        "convert_to.u8", 0.0, |a: u8[Y X C] = "bytes"| convert_to::<u8, _, _>(a, 1.5, 2.0) => [Y X C];
        "convert_to.f32", 0.0, |a: u8[Y X C] = "bytes"| convert_to::<f32, _, _>(a, 1.0 / 255.0, 0.0) => [Y X C];
        "sqrt", 0.0, |a: f32[Y X C] = "unit"| sqrt(a) => [Y X C];
        "bitwise_and", 0.0, |a: u8[Y X C] = "bytes", b: u8[Y X C] = "others"| bitwise_and(a, b) => [Y X C];
        "bitwise_or", 0.0, |a: u8[Y X C] = "bytes", b: u8[Y X C] = "others"| bitwise_or(a, b) => [Y X C];
        "bitwise_xor", 0.0, |a: u8[Y X C] = "bytes", b: u8[Y X C] = "others"| bitwise_xor(a, b) => [Y X C];
        "bitwise_not", 0.0, |a: u8[Y X C] = "bytes"| bitwise_not(a) => [Y X C];
        "lut", 0.0, |a: u8[Y X C] = "bytes", table: u8[L] = "table"| lut(a, table) => [Y X C];
    }
    golden.finish()
}

#[test]
fn comparisons_and_thresholds() -> Result<(), Error> {
    let golden = Golden::read();
    let ways = [("eq", CMP_EQ), ("gt", CMP_GT), ("ge", CMP_GE), ("lt", CMP_LT), ("le", CMP_LE), ("ne", CMP_NE)];
    for (name, how) in ways {
        agree! { golden:
            format!("compare.{name}.bytes"), 0.0, |a: u8[Y X C] = "bytes", b: u8[Y X C] = "others"| compare(a, b, how) => [Y X C];
            format!("compare.{name}.floats"), 0.0, |a: f32[Y X C] = "floats", b: f32[Y X C] = "divisors"| compare(a, b, how) => [Y X C];
        }
    }
    for how in [THRESH_BINARY, THRESH_BINARY_INV, THRESH_TRUNC, THRESH_TOZERO, THRESH_TOZERO_INV] {
        let name = format!("{how:?}").replace("THRESH_", "threshold.");
        agree! { golden:
            format!("{name}.bytes"), 0.0, |a: u8[Y X C] = "bytes"| threshold(a, 99.7, 200.6, how) => [Y X C];
            format!("{name}.floats"), 0.0, |a: f32[Y X C] = "floats"| threshold(a, 99.7, 200.6, how) => [Y X C];
        }
    }
    agree! { golden:
        "in_range.bytes", 0.0, |a: u8[Y X C] = "bytes"| in_range(a, [10.0, 0.0, 99.5], 200.0) => [Y X];
        "in_range.floats", 0.0, |a: f32[Y X C] = "floats"| in_range(a, [10.0, 0.0, 99.5], 200.0) => [Y X];
    }
    golden.finish()
}

#[test]
fn colours() -> Result<(), Error> {
    let golden = Golden::read();
    let orders = [("BGR2RGB", COLOR_BGR2RGB), ("BGR2BGRA", COLOR_BGR2BGRA), ("RGB2BGRA", COLOR_RGB2BGRA)];
    let mixed = [("BGR2XYZ", COLOR_BGR2XYZ), ("BGR2YCrCb", COLOR_BGR2YCrCb)];
    let back = [("XYZ2BGR", COLOR_XYZ2BGR), ("YCrCb2BGR", COLOR_YCrCb2BGR)];
    let hues = [("BGR2HSV", COLOR_BGR2HSV), ("BGR2HLS", COLOR_BGR2HLS)];
    // In fixed point there, coefficients of XYZ being multiples of 1/4096, where orders change nothing.
    let codes = orders.map(|c| (c, 0.0)).into_iter().chain(mixed.into_iter().zip([24.0, 1.0]));
    for ((name, code), most) in codes {
        agree! { golden:
            format!("{name}.deep"), most, |a: u16[Y X C] = "deep"| cvt_color(a, code) => [Y X C];
        }
    }
    let codes = orders.map(|c| (c, 0.0)).into_iter().chain(mixed.into_iter().chain(back).chain(hues).map(|c| (c, 1.0)));
    for ((name, code), most) in codes {
        agree! { golden:
            format!("{name}.bytes"), most, |a: u8[Y X C] = "bytes"| cvt_color(a, code) => [Y X C];
        }
    }
    for (name, code) in orders.into_iter().chain(mixed).chain(back).chain(hues) {
        agree! { golden:
            format!("{name}.unit"), 1e-6, |a: f32[Y X C] = "unit"| cvt_color(a, code) => [Y X C];
        }
    }
    for (name, code) in [("HSV2BGR", COLOR_HSV2BGR), ("HLS2BGR", COLOR_HLS2BGR)] {
        agree! { golden:
            format!("{name}.unit"), 1e-6, |a: f32[Y X C] = "unit"| cvt_color(multiply(a, [360.0, 1.0, 1.0]), code) => [Y X C];
        }
    }
    agree! { golden:
        "BGR2GRAY.bytes", 1.0, |a: u8[Y X C] = "bytes"| cvt_color_to_gray(a, Space::Bgr) => [Y X];
        "BGR2GRAY.deep", 1.0, |a: u16[Y X C] = "deep"| cvt_color_to_gray(a, Space::Bgr) => [Y X];
        "BGR2GRAY.unit", 1e-6, |a: f32[Y X C] = "unit"| cvt_color_to_gray(a, Space::Bgr) => [Y X];
        "GRAY2BGRA", 0.0, |a: u8[Y X] = "gray"| cvt_color_from_gray(a, Space::Bgra) => [Y X C];
    }
    golden.finish()
}

/// OpenCV computes bytes in fixed point, and floats by tables: L*a*b* with few entries.
#[test]
fn opponent_colours() -> Result<(), Error> {
    let golden = Golden::read();
    agree! { golden:
        "BGR2Lab.bytes", 3.0, |a: u8[Y X C] = "bytes"| cvt_color(a, COLOR_BGR2Lab) => [Y X C];
        "BGR2Luv.bytes", 1.0, |a: u8[Y X C] = "bytes"| cvt_color(a, COLOR_BGR2Luv) => [Y X C];
        "BGR2Lab.unit", 6e-3, |a: f32[Y X C] = "unit"| cvt_color(a, COLOR_BGR2Lab) => [Y X C];
        "BGR2Luv.unit", 6e-5, |a: f32[Y X C] = "unit"| cvt_color(a, COLOR_BGR2Luv) => [Y X C];
        "Lab2BGR.bytes", 2.0, |a: u8[Y X C] = "BGR2Lab.bytes"| cvt_color(a, COLOR_Lab2BGR) => [Y X C];
        "Luv2BGR.bytes", 2.0, |a: u8[Y X C] = "BGR2Luv.bytes"| cvt_color(a, COLOR_Luv2BGR) => [Y X C];
        "Lab2BGR.unit", 1e-4, |a: f32[Y X C] = "BGR2Lab.unit"| cvt_color(a, COLOR_Lab2BGR) => [Y X C];
        "Luv2BGR.unit", 1e-4, |a: f32[Y X C] = "BGR2Luv.unit"| cvt_color(a, COLOR_Luv2BGR) => [Y X C];
    }
    golden.finish()
}

#[test]
fn statistics() -> Result<(), Error> {
    let golden = Golden::read();
    // OpenCV adds floats up in another order; deviations come from sums of squares.
    agree! { golden:
        "sum.bytes", 0.0, |a: u8[Y X C] = "bytes"| sum(a) => [C];
        "sum.floats", 1e-12, |a: f32[Y X C] = "floats"| sum(a) => [C];
        "mean.bytes", 1e-15, |a: u8[Y X C] = "bytes"| mean(a) => [C];
        "mean.floats", 1e-12, |a: f32[Y X C] = "floats"| mean(a) => [C];
        "deviation.bytes", 1e-12, |a: u8[Y X C] = "bytes"| mean_std_dev(a).1 => [C];
        "deviation.floats", 1e-12, |a: f32[Y X C] = "floats"| mean_std_dev(a).1 => [C];
        "normalize.gray", 0.0, |a: u8[Y X] = "gray"| normalize(a, 10.0, 200.0) => [Y X];
        "normalize.plane", 1e-6, |a: f32[Y X] = "plane"| normalize(a, 10.0, 200.0) => [Y X];
    }
    for how in [REDUCE_SUM, REDUCE_AVG, REDUCE_MAX, REDUCE_MIN] {
        let name = format!("{how:?}").replace("REDUCE_", "reduce.");
        agree! { golden:
            format!("{name}.row.gray"), 1e-7, |a: u8[Y X] = "gray"| reduce_to_row::<f32, _>(a, how) => [X];
            format!("{name}.column.gray"), 1e-7, |a: u8[Y X] = "gray"| reduce_to_column::<f32, _>(a, how) => [Y];
            format!("{name}.row.plane"), 1e-6, |a: f32[Y X] = "plane"| reduce_to_row::<f32, _>(a, how) => [X];
            format!("{name}.column.plane"), 1e-6, |a: f32[Y X] = "plane"| reduce_to_column::<f32, _>(a, how) => [Y];
        }
    }
    for kind in ["gray", "plane"] {
        let (extents, expected) = golden.array(&format!("min_max_loc.{kind}"));
        assert_eq!(extents, [6]);
        for (end, of) in [(0, [0, 2, 3]), (1, [1, 4, 5])] {
            let lines = fuse(move |a: MatC1<f32>| {
                let (value, [x, y]) = min_max_loc(a)[end];
                (value.store::<()>(), x.store::<()>(), y.store::<()>())
            });
            let (value, x, y) = lines.call(&golden.tensor::<_, (Y, X)>(kind)?)?;
            assert_eq!(
                (f64::from(value.to_vec()?[0]), x.to_vec()?[0] as f64, y.to_vec()?[0] as f64),
                of.map(|i| expected[i]).into()
            );
        }
    }
    golden.finish()
}
