//! Logarithm and power in f32: coefficients, the lowest power first, printed by fits/power.py. Errors are relative to the function.

#![allow(clippy::approx_constant, reason = "a coefficient is what its format has")]

/// `(ln(1 + f) - f + f^2 / 2) / f^3`, `f` from -0.293 to 0.415; error 2^-28.0.
pub(crate) const LN_TAIL: [f64; 9] =
    [0.3333333, -0.2499999, 0.2000071, -0.16668488, 0.14249891, -0.12410829, 0.11661761, -0.11573008, 0.07151359];
/// `(ln(1 + f) - f + f^2 / 2) / f^3`, `|f| <= 0.151`; error 2^-34.5.
pub(crate) const POWER_TAIL: [f64; 7] =
    [0.33333334, -0.25000015, 0.20000029, -0.16661966, 0.14279588, -0.12908989, 0.115372];
/// `(2^r - 1) / r`, `|r| <= 1/2`; error 2^-27.0.
pub(crate) const EXP2_TAIL: [f64; 6] = [0.6931472, 0.2402265, 0.05550357, 0.009618057, 0.001339089, 0.00015461471];
/// `-log2(1.25)` to 16 bits, and the rest.
pub(crate) const LOW_STEP: [f64; 2] = [-0.32191467, -1.3422035e-05];
/// `-log2(0.75)` to 16 bits, and the rest.
pub(crate) const HIGH_STEP: [f64; 2] = [0.4150238, 1.3695568e-05];
/// `log2(e)` and what that lacks.
pub(crate) const LOG2_E: [f64; 2] = [1.442695, 1.925963e-08];
/// `ln(2)` to 15 bits, and the rest.
pub(crate) const LN_2: [f64; 2] = [0.69314575, 1.4286068e-06];
