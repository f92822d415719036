//! Sizes, turns, borders, warps.

use super::{Golden, agree};
use tilewright_expr::{Affine, In};
use tilewright_ops::opencv::*;
use tilewright_ops::{Error, Tensor, fuse};

const BORDERS: [BorderType; 5] = [BORDER_CONSTANT, BORDER_REPLICATE, BORDER_REFLECT, BORDER_REFLECT_101, BORDER_WRAP];

#[test]
fn sizes() -> Result<(), Error> {
    let golden = Golden::read();
    for how in [INTER_NEAREST, INTER_LINEAR, INTER_CUBIC, INTER_LANCZOS4, INTER_AREA] {
        for (width, height) in [(9, 4), (4, 3), (10, 9)] {
            if how == INTER_AREA && (width, height) == (9, 4) {
                // Larger along one dimension, smaller along the other: OpenCV takes linear interpolation.
                continue;
            }
            let name = format!("{how:?}.{width}x{height}").replace("INTER_", "resize.");
            let size = Size(width, height);
            // In fixed point there.
            let most = if how == INTER_NEAREST { 0.0 } else { 1.0 };
            agree! { golden:
                format!("{name}.bytes"), most, |a: u8[Y X C] = "bytes"| resize(a, size, how) => [Y X C];
                format!("{name}.floats"), 1e-6, |a: f32[Y X C] = "floats"| resize(a, size, how) => [Y X C];
            }
        }
    }
    golden.finish()
}

#[test]
fn turns_and_borders() -> Result<(), Error> {
    let golden = Golden::read();
    for code in [-1, 0, 1] {
        agree! { golden:
            format!("flip.{code}"), 0.0, |a: u8[Y X C] = "bytes"| flip(a, code) => [Y X C];
        }
    }
    for code in [ROTATE_90_CLOCKWISE, ROTATE_180, ROTATE_90_COUNTERCLOCKWISE] {
        agree! { golden:
            format!("rotate.{code:?}"), 0.0, |a: u8[Y X C] = "bytes"| rotate(a, code) => [Y X C];
        }
    }
    agree! { golden:
        "transpose", 0.0, |a: u8[Y X C] = "bytes"| transpose(a) => [Y X C];
    }
    for border in BORDERS {
        agree! { golden:
            format!("copy_make_border.{border:?}"), 0.0, |a: u8[Y X] = "gray"| copy_make_border(a, 3, 9, 12, 2, border) => [Y X];
        }
    }
    golden.finish()
}

#[test]
fn warps() -> Result<(), Error> {
    let golden = Golden::read();
    let coefficients = golden.array("affine").1;
    let affine = Affine(std::array::from_fn(|i| coefficients[i] as f32));
    let affine = Tensor::<Affine, ()>::from_vec([], vec![affine])?;
    let floats: Tensor<f32, (Y, X, C)> = golden.tensor("floats")?;
    for border in BORDERS {
        for how in [INTER_NEAREST, INTER_LINEAR, INTER_CUBIC, INTER_LANCZOS4] {
            if border != BORDER_CONSTANT && how != INTER_LINEAR {
                continue;
            }
            let name = format!("{how:?}.{border:?}").replace("INTER_", "");
            let warp = fuse(move |a: Mat<f32>, m: In<Affine, ()>| {
                warp_affine(a, m, Size(8, 6), how, border).store::<(Y, X, C)>()
            });
            golden.compare(&format!("warp_affine.{name}"), 2e-6, &warp.call(&floats, &affine)?)?;
            agree! { golden:
                format!("remap.{name}"), 2e-6, |a: f32[Y X C] = "floats", u: f32[Y X] = "columns", v: f32[Y X] = "rows"| remap(a, u, v, how, border) => [Y X C];
            }
        }
    }
    golden.finish()
}
