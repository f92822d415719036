//! The expressions of the problems, by their names in the lists: lines, rows, pixels; cheap and heavy ones.

use super::case::{Case, Sizes, case};
use crate::Result;
use crate::cases::{C, N, X, Y};
use crate::pipelines::pairs;
use tilewright_expr::{Expr, In, Rect, World, f16};
use tilewright_ops::fuse;
use tilewright_special as special;

/// The case of a body and sizes. Refuses names that no body has.
pub fn case(body: &str, sizes: Sizes) -> Result<Case> {
    match body.split_once('_') {
        Some(("line", _)) => line(body, sizes),
        Some(("heavy", _)) => heavy(body, sizes),
        Some(("rows", _)) => rows(body, sizes),
        _ => pixels(body, sizes),
    }
}

/// An activation of several elementary functions.
fn swish<S: World>(x: Expr<f32, S>) -> Expr<f32, S> {
    x * (1.0 / ((-x).exp() + 1.0))
}

/// Elements side by side, a few operations each.
fn line(body: &str, s: Sizes) -> Result<Case> {
    match body {
        "line_scale_f32" => case!(s, fuse(|a: In<f32, (X,)>| (a * 1.5).store::<(X,)>()), a: f32, (X,)),
        "line_axpy_f32" => {
            case!(s, fuse(|a: In<f32, (X,)>, b: In<f32, (X,)>| (a * 2.5 + b).store::<(X,)>()), a: f32, (X,); b: f32, (X,))
        }
        "line_sum6_f32" => case!(
            s,
            fuse(|a: In<f32, (X,)>, b: In<f32, (X,)>, c: In<f32, (X,)>, d: In<f32, (X,)>, e: In<f32, (X,)>, f: In<f32, (X,)>| {
                (a + b + c + d + e + f).store::<(X,)>()
            }),
            a: f32, (X,); b: f32, (X,); c: f32, (X,); d: f32, (X,); e: f32, (X,); f: f32, (X,)
        ),
        "line_split_f32" => case!(
            s,
            fuse(|a: In<f32, (X,)>| (a.store::<(X,)>(), (a * 2.0).store::<(X,)>(), (a * a).store::<(X,)>())),
            a: f32, (X,)
        ),
        "line_momentum_f32" => case!(
            s,
            fuse(|w: In<f32, (X,)>, g: In<f32, (X,)>, m: In<f32, (X,)>| {
                let m = m * 0.9 + g;
                ((w - m * 0.01).store::<(X,)>(), m.store::<(X,)>())
            }),
            w: f32, (X,); g: f32, (X,); m: f32, (X,)
        ),
        "line_add_f64" => {
            case!(s, fuse(|a: In<f64, (X,)>, b: In<f64, (X,)>| (a + b).store::<(X,)>()), a: f64, (X,); b: f64, (X,))
        }
        "line_add_f16" => {
            case!(s, fuse(|a: In<f16, (X,)>, b: In<f16, (X,)>| (a + b).store::<(X,)>()), a: f16, (X,); b: f16, (X,))
        }
        "line_add_u8" => {
            case!(s, fuse(|a: In<u8, (X,)>, b: In<u8, (X,)>| (a + b).store::<(X,)>()), a: u8, (X,); b: u8, (X,))
        }
        "line_u8_f32" => {
            case!(s, fuse(|a: In<u8, (X,)>| (a.to::<f32>() * (1.0 / 255.0)).store::<(X,)>()), a: u8, (X,))
        }
        "line_f32_u8" => {
            case!(s, fuse(|a: In<f32, (X,)>| (a * 255.0).round().to::<u8>().store::<(X,)>()), a: f32, (X,))
        }
        "line_f32_f16" => case!(s, fuse(|a: In<f32, (X,)>| (a * 0.5).to::<f16>().store::<(X,)>()), a: f32, (X,)),
        "line_mask_f32" => case!(
            s,
            fuse(|m: In<u8, (X,)>, a: In<f32, (X,)>, b: In<f32, (X,)>| m.gt(127).select(a, b).store::<(X,)>()),
            m: u8, (X,); a: f32, (X,); b: f32, (X,)
        ),
        "line_mixed" => case!(
            s,
            fuse(|a: In<u8, (X,)>, b: In<f64, (X,)>| (a.to::<f64>() * b).to::<f32>().store::<(X,)>()),
            a: u8, (X,); b: f64, (X,)
        ),
        "line_steps_f32" => case!(s, fuse(|a: In<f32, (X,)>| (a + 1.0).store::<(X,)>()), a: f32, (X,), every 2),
        "line_shift_i32" => case!(s, fuse(|a: In<i32, (X,)>| ((a * 3) ^ a).store::<(X,)>()), a: i32, (X,)),
        // Held out.
        "line_fma3_f32" => case!(
            s,
            fuse(|a: In<f32, (X,)>, b: In<f32, (X,)>, c: In<f32, (X,)>| (a * b + c).store::<(X,)>()),
            a: f32, (X,); b: f32, (X,); c: f32, (X,)
        ),
        "line_u8_f16" => {
            case!(s, fuse(|a: In<u8, (X,)>| (a.to::<f32>() / 127.5 - 1.0).to::<f16>().store::<(X,)>()), a: u8, (X,))
        }
        "line_two_f64" => case!(
            s,
            fuse(|a: In<f64, (X,)>| ((a * 3.0).store::<(X,)>(), (a + 0.5).store::<(X,)>())),
            a: f64, (X,)
        ),
        "line_blend_u8" => case!(
            s,
            fuse(|a: In<u8, (X,)>, b: In<u8, (X,)>| {
                (a.to::<f32>() * 0.25 + b.to::<f32>() * 0.75).round().to::<u8>().store::<(X,)>()
            }),
            a: u8, (X,); b: u8, (X,)
        ),
        "line_thirds_f32" => case!(s, fuse(|a: In<f32, (X,)>| (a - 1.0).store::<(X,)>()), a: f32, (X,), every 3),
        other => Err(format!("no body `{other}`").into()),
    }
}

/// Elements side by side, many operations each.
fn heavy(body: &str, s: Sizes) -> Result<Case> {
    macro_rules! unary {
        ($T:ty, $f:expr) => {
            case!(s, fuse(|a: In<$T, (X,)>| $f(a).store::<(X,)>()), a: $T, (X,))
        };
    }
    match body {
        "heavy_exp_f32" => unary!(f32, |a: Expr<f32, _>| a.exp()),
        "heavy_gelu_f32" => unary!(f32, |a: Expr<f32, _>| a.gelu()),
        "heavy_swish_f32" => unary!(f32, swish),
        "heavy_waves_f32" => unary!(f32, |a: Expr<f32, _>| a.sin() * a.ln() + a.sqrt()),
        "heavy_digamma_f32" => unary!(f32, special::digamma::of),
        "heavy_lgamma_f32" => unary!(f32, special::lgamma::of),
        "heavy_bessel_f32" => unary!(f32, special::bessel_j0::of),
        "heavy_digamma_f64" => unary!(f64, special::digamma::of),
        "heavy_exp_f64" => unary!(f64, |a: Expr<f64, _>| a.exp()),
        "heavy_tanh_f16" => unary!(f16, |a: Expr<f16, _>| a.to::<f32>().tanh().to::<f16>()),
        "heavy_pairs20_f32" => unary!(f32, |a: Expr<f32, _>| pairs(a, 20)),
        "heavy_pairs50_u8" => unary!(u8, |a: Expr<u8, _>| pairs(a.to::<f32>(), 50)),
        "heavy_pairs500_u8" => unary!(u8, |a: Expr<u8, _>| pairs(a.to::<f32>(), 500)),
        "heavy_gcd_i64" => case!(
            s,
            fuse(|a: In<i64, (X,)>, b: In<i64, (X,)>| special::gcd_i64::of(a, b).store::<(X,)>()),
            a: i64, (X,); b: i64, (X,)
        ),
        // Held out.
        "heavy_erf_f32" => unary!(f32, |a: Expr<f32, _>| a.erf()),
        "heavy_i0_f32" => unary!(f32, special::i0::of),
        "heavy_powers_f32" => case!(
            s,
            fuse(|a: In<f32, (X,)>, b: In<f32, (X,)>| a.powf(b).store::<(X,)>()),
            a: f32, (X,); b: f32, (X,)
        ),
        "heavy_sigmoid_f16" => unary!(f16, |a: Expr<f16, _>| a.to::<f32>().sigmoid().to::<f16>()),
        "heavy_pairs30_f32" => unary!(f32, |a: Expr<f32, _>| pairs(a, 30)),
        "heavy_pairs200_f32" => unary!(f32, |a: Expr<f32, _>| pairs(a, 200)),
        "heavy_ln_f64" => unary!(f64, |a: Expr<f64, _>| a.ln()),
        other => Err(format!("no body `{other}`").into()),
    }
}

/// Rows, and operands that vary along rows or columns alone.
fn rows(body: &str, s: Sizes) -> Result<Case> {
    match body {
        "rows_bias_f32" => case!(
            s,
            fuse(|a: In<f32, (Y, X)>, b: In<f32, (X,)>| (a + b).store::<(Y, X)>()),
            a: f32, (Y, X); b: f32, (X,)
        ),
        "rows_scale_f32" => case!(
            s,
            fuse(|a: In<f32, (Y, X)>, b: In<f32, (Y,)>| (a * b).store::<(Y, X)>()),
            a: f32, (Y, X); b: f32, (Y,)
        ),
        "rows_outer_f32" => case!(
            s,
            fuse(|a: In<f32, (Y,)>, b: In<f32, (X,)>| (a * b).store::<(Y, X)>()),
            a: f32, (Y,); b: f32, (X,)
        ),
        "rows_norm_f16" => case!(
            s,
            fuse(|a: In<f16, (N, Y, X)>, m: In<f32, (N,)>, g: In<f32, (X,)>| {
                ((a.to::<f32>() - m) * g).to::<f16>().store::<(N, Y, X)>()
            }),
            a: f16, (N, Y, X); m: f32, (N,); g: f32, (X,)
        ),
        "rows_batch_u8" => case!(
            s,
            fuse(|a: In<u8, (N, Y, X)>, m: In<f32, (N,)>, d: In<f32, (N,)>| {
                ((a.to::<f32>() - m) / d).store::<(N, Y, X)>()
            }),
            a: u8, (N, Y, X); m: f32, (N,); d: f32, (N,)
        ),
        "rows_gaps_f32" => case!(
            s,
            fuse(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| (a + b).store::<(Y, X)>()),
            a: f32, (Y, X), every 2; b: f32, (Y, X)
        ),
        "rows_bias_exp_f64" => case!(
            s,
            fuse(|a: In<f64, (Y, X)>, b: In<f64, (X,)>| (a + b).exp().store::<(Y, X)>()),
            a: f64, (Y, X); b: f64, (X,)
        ),
        // Held out.
        "rows_gate_f32" => case!(
            s,
            fuse(|a: In<f32, (Y, X)>, b: In<f32, (X,)>, g: In<f32, (Y,)>| ((a + b) * g.sigmoid()).store::<(Y, X)>()),
            a: f32, (Y, X); b: f32, (X,); g: f32, (Y,)
        ),
        "rows_bias_relu_f16" => case!(
            s,
            fuse(|a: In<f16, (Y, X)>, b: In<f16, (X,)>| (a + b).max(f16::from_f32(0.0)).store::<(Y, X)>()),
            a: f16, (Y, X); b: f16, (X,)
        ),
        "rows_distance_f32" => case!(
            s,
            fuse(|a: In<f32, (Y,)>, b: In<f32, (X,)>| ((a - b) * (a - b)).sqrt().store::<(Y, X)>()),
            a: f32, (Y,); b: f32, (X,)
        ),
        other => Err(format!("no body `{other}`").into()),
    }
}

/// Pictures with 3 or 4 channels in registers, and reads at other coordinates.
fn pixels(body: &str, s: Sizes) -> Result<Case> {
    let (rows, columns) = (s.rows / 2 + 1, s.columns / 2 + 1);
    match body {
        "pixels_planes_f32" => case!(
            s,
            fuse(|p: In<u8, (N, Y, X, C)>, m: In<f32, (C,)>, d: In<f32, (C,)>| {
                ((p.to::<f32>() - m) / d).store::<(N, C, Y, X)>()
            }),
            p: u8, (N, Y, X, C); m: f32, (C,); d: f32, (C,)
        ),
        "pixels_planes_f16" => case!(
            s,
            fuse(|p: In<u8, (N, Y, X, C)>, m: In<f32, (C,)>| (p.to::<f32>() * m).to::<f16>().store::<(N, C, Y, X)>()),
            p: u8, (N, Y, X, C); m: f32, (C,)
        ),
        "pixels_packed_u8" => case!(
            s,
            fuse(|p: In<u8, (Y, X, C)>, m: In<f32, (C,)>| (p.to::<f32>() * m).round().to::<u8>().store::<(Y, X, C)>()),
            p: u8, (Y, X, C); m: f32, (C,)
        ),
        "pixels_reverse_u8" => {
            case!(s, fuse(|p: In<u8, (Y, X, C)>| p.reverse::<C>().store::<(Y, X, C)>()), p: u8, (Y, X, C))
        }
        "pixels_pack_f32" => {
            case!(s, fuse(|p: In<f32, (N, C, Y, X)>| (p * 0.5).store::<(N, Y, X, C)>()), p: f32, (N, C, Y, X))
        }
        "pixels_resize_u8" => case!(
            s,
            fuse(move |p: In<u8, (Y, X, C)>| p.resize::<Y, X>(rows, columns).store::<(Y, X, C)>()),
            p: u8, (Y, X, C)
        ),
        "pixels_resize_f32" => case!(
            s,
            fuse(move |p: In<f32, (N, Y, X)>| p.resize::<Y, X>(rows, columns).store::<(N, Y, X)>()),
            p: f32, (N, Y, X)
        ),
        "pixels_crops_f32" => case!(
            s,
            fuse(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>, m: In<f32, (C,)>| {
                (p.crop::<Y, X, _>(b).resize::<Y, X>(128, 64) * m).store::<(N, C, Y, X)>()
            }),
            p: u8, (Y, X, C); b: Rect, (N,); m: f32, (C,)
        ),
        // Held out.
        "pixels_gamma_f32" => case!(
            s,
            fuse(|p: In<u8, (Y, X, C)>| (p.to::<f32>() * (1.0 / 255.0)).powf(2.2).store::<(C, Y, X)>()),
            p: u8, (Y, X, C)
        ),
        "pixels_over_f32" => case!(
            s,
            fuse(|p: In<f32, (Y, X, C)>, q: In<f32, (Y, X, C)>| (p * 0.3 + q).store::<(Y, X, C)>()),
            p: f32, (Y, X, C); q: f32, (Y, X, C)
        ),
        "pixels_crops_u8" => case!(
            s,
            fuse(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
                p.crop::<Y, X, _>(b).resize::<Y, X>(96, 112).round().to::<u8>().store::<(N, Y, X, C)>()
            }),
            p: u8, (Y, X, C); b: Rect, (N,)
        ),
        other => Err(format!("no body `{other}`").into()),
    }
}
