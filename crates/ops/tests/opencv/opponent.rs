//! L*a*b* and L*u*v* against the formulas in `f64`, for which OpenCV's own tables are too coarse.

use crate::support::Random;
use tilewright_ops::opencv::*;
use tilewright_ops::{Error, Tensor, fuse};

const WHITE: [f64; 3] = [0.950456, 1.0, 1.088754];
const XYZ: [[f64; 3]; 3] =
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]];
const RGB: [[f64; 3]; 3] =
    [[3.240479, -1.53715, -0.498535], [-0.969256, 1.875991, 0.041556], [0.055648, -0.204043, 1.057311]];

fn times(matrix: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

fn white_places() -> (f64, f64) {
    let sum = WHITE[0] + 15.0 + 3.0 * WHITE[2];
    (4.0 * WHITE[0] / sum, 9.0 / sum)
}

/// L*a*b* and L*u*v* of red, green and blue from 0 to 1.
fn formulas(rgb: [f64; 3]) -> [[f64; 3]; 2] {
    let linear = rgb.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
    let [x, y, z] = times(XYZ, linear);
    let root = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let l = if y > 0.008856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y };
    let (p, q, r) = (root(x / WHITE[0]), root(y), root(z / WHITE[2]));
    let (sum, (u, v)) = (x + 15.0 * y + 3.0 * z, white_places());
    let share = |part: f64| if sum == 0.0 { 0.0 } else { part / sum };
    [[l, 500.0 * (p - q), 200.0 * (q - r)], [l, 13.0 * l * (share(4.0 * x) - u), 13.0 * l * (share(9.0 * y) - v)]]
}

fn encoded(xyz: [f64; 3]) -> [f64; 3] {
    let code = |c: f64| if c <= 0.0031308 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    times(RGB, xyz).map(|c| code(c.clamp(0.0, 1.0)))
}

fn of_lab([l, a, b]: [f64; 3]) -> [f64; 3] {
    let (y, q) = if l <= 903.3 * 0.008856 {
        (l / 903.3, 7.787 * l / 903.3 + 16.0 / 116.0)
    } else {
        (((l + 16.0) / 116.0).powi(3), (l + 16.0) / 116.0)
    };
    let part = |t: f64| if t <= 7.787 * 0.008856 + 16.0 / 116.0 { (t - 16.0 / 116.0) / 7.787 } else { t.powi(3) };
    encoded([part(q + a / 500.0) * WHITE[0], y, part(q - b / 200.0) * WHITE[2]])
}

fn of_luv([l, u, v]: [f64; 3]) -> [f64; 3] {
    let y = if l <= 903.3 * 0.008856 { l / 903.3 } else { ((l + 16.0) / 116.0).powi(3) };
    if l == 0.0 {
        return [0.0; 3];
    }
    let (u, v) = (u / (13.0 * l) + white_places().0, v / (13.0 * l) + white_places().1);
    encoded([y * 9.0 * u / (4.0 * v), y, y * (12.0 - 3.0 * u - 20.0 * v) / (4.0 * v)])
}

/// Pixels from 0 to 1, black, white and dark ones among them.
fn pixels() -> Vec<[f64; 3]> {
    let mut random = Random(41);
    let fixed = [[0.0; 3], [1.0; 3], [0.01, 0.02, 0.005], [0.0, 0.0, 1.0], [0.04045; 3], [0.1, 0.0, 0.0]];
    let any = (0..60).map(|_| [0; 3].map(|_| random.unit()));
    fixed.into_iter().chain(any).collect()
}

type Code = ([(f64, f64); 3], [(f64, f64); 3]);

/// Factors and terms of integers' codes: L*a*b*, whose differences have 256 steps, and L*u*v*.
fn codes(white: f64) -> Code {
    let (lightness, difference) = ((white / 100.0, 0.0), (white / 255.0, 128.0 * white / 255.0));
    let range = |low: f64, high: f64| (white / (high - low), -low * white / (high - low));
    ([lightness, difference, difference], [lightness, range(-134.0, 220.0), range(-140.0, 122.0)])
}

/// There and back, for a type whose channels are `value * factor + term`, of white `white`.
macro_rules! both_ways {
    ($($test:ident $T:ty, $white:expr, $most:expr, $codes:expr;)*) => { $(
        #[test]
        fn $test() -> Result<(), Error> {
            let (lab, luv): Code = $codes;
            let pixels: Vec<[$T; 3]> = pixels().iter().map(|p| p.map(|c| if $white > 1.0 { (c * $white).round() as $T } else { c as $T })).collect();
            let x = Tensor::<$T, (Y, X, C)>::from_vec([1, pixels.len(), 3], pixels.concat())?;
            for (space, codes, to, from) in [
                (0, lab, COLOR_RGB2Lab, COLOR_Lab2RGB),
                (1, luv, COLOR_RGB2Luv, COLOR_Luv2RGB),
            ] {
                let there = fuse(move |x: Mat<$T>| cvt_color(x, to).store::<(Y, X, C)>()).call(&x)?;
                let back = fuse(move |x: Mat<$T>| cvt_color(x, from).store::<(Y, X, C)>()).call(&there)?;
                let (there, back) = (there.to_vec()?, back.to_vec()?);
                for (i, pixel) in pixels.iter().enumerate() {
                    let [got, returned] = [&there, &back].map(|v| [0, 1, 2].map(|c| v[i * 3 + c] as f64));
                    let values = formulas(pixel.map(|c| c as f64 / $white))[space];
                    let inverse: [f64; 3] = std::array::from_fn(|c| (got[c] - codes[c].1) / codes[c].0);
                    let rgb = if space == 0 { of_lab(inverse) } else { of_luv(inverse) };
                    for c in 0..3 {
                        let expected = values[c] * codes[c].0 + codes[c].1;
                        assert!((got[c] - expected).abs() <= $most[0], "{to:?} of {pixel:?}: {got:?}, {values:?}");
                        let expected = rgb[c] * $white;
                        assert!((returned[c] - expected).abs() <= $most[1], "{from:?}: {returned:?}, {rgb:?} of {pixel:?}");
                    }
                }
            }
            Ok(())
        }
    )* };
}
both_ways! {
    floats f32, 1.0, [2e-4, 2e-6], ([(1.0, 0.0); 3], [(1.0, 0.0); 3]);
    bytes u8, 255.0, [0.501, 0.51], codes(255.0);
    words u16, 65535.0, [0.6, 2.0], codes(65535.0);
}
