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
/// `(ln(1 + f) - f) / f^2`, `f` from -0.293 to 0.415; error 2^-27.7.
pub(crate) const LN_1P_TAIL: [f64; 9] =
    [-0.49999988, 0.33333337, -0.25001603, 0.20001243, -0.16608086, 0.14195159, -0.13264216, 0.12829593, -0.07480559];
/// `(ln(1 + f) - f + f^2 / 2) / f^3`, `f` from -0.293 to 0.415, relative to 1; error 2^-34.4.
pub(crate) const WIDE_TAIL: [f64; 10] = [
    0.33333328,
    -0.24999954,
    0.20000368,
    -0.16670164,
    0.14278768,
    -0.12408618,
    0.110945866,
    -0.109589145,
    0.1044766,
    -0.055429164,
];
/// The bits of a float less those of `x` are near `1 / x`.
pub(crate) const RECIPROCAL_START: i32 = 0x7ef33400;
/// `y (c - x y)` with the first is within 2^-9.6 of `1 / x`, with the second after that within 2^-20.2.
pub(crate) const RECIPROCAL_STEPS: [f64; 2] = [2.0012798, 2.0000007];
/// `-log2(1.25)` to 16 bits, and the rest.
pub(crate) const LOW_STEP: [f64; 2] = [-0.32191467, -1.3422035e-05];
/// `-log2(0.75)` to 16 bits, and the rest.
pub(crate) const HIGH_STEP: [f64; 2] = [0.4150238, 1.3695568e-05];
/// `log2(e)` and what that lacks.
pub(crate) const LOG2_E: [f64; 2] = [1.442695, 1.925963e-08];
/// `ln(2)` to 15 bits, and the rest.
pub(crate) const LN_2: [f64; 2] = [0.69314575, 1.4286068e-06];
/// `ln(2)` by 2^23, as one float.
pub(crate) const LN_2_STEP: f64 = 8.262958e-08;
/// The same as two, the first of 15 bits.
pub(crate) const LN_2_STEPS: [f64; 2] = [8.262941e-08, 1.703032e-13];
