//! Sines and cosines of half turns: coefficients, the lowest power first, printed by fits/circle.py. Errors are relative to the function.

#![allow(clippy::approx_constant, reason = "a coefficient is what its format has")]

/// `sin(pi r) / r` of `r^2`, `|r| <= 1/4`; error 2^-29.2.
pub(crate) const SIN_PI_SINGLE: [f64; 5] = [-8.743636e-08, -5.1677127, 2.5501626, -0.5992021, 0.08100174];
/// To be added last.
pub(crate) const SIN_PI_SINGLE_HIGH: f64 = 3.1415927;
/// `sin(pi r) / r` of `r^2`, `|r| <= 1/4`; error 2^-57.4.
pub(crate) const SIN_PI_DOUBLE: [f64; 8] = [
    1.2245907279332818e-16,
    -5.16771278004997,
    2.5501640398773415,
    -0.599264529320298,
    0.08214588658006067,
    -0.007370429884817227,
    0.00046628273072875267,
    -2.1717406961736065e-05,
];
/// To be added last.
pub(crate) const SIN_PI_DOUBLE_HIGH: f64 = 3.141592653589793;
/// `(cos(pi r) - 1) / r^2` of `r^2`, `|r| <= 1/4`; error 2^-26.7.
pub(crate) const COS_PI_SINGLE: [f64; 4] = [-4.934802, 4.0587106, -1.3351378, 0.23212588];
/// `(cos(pi r) - 1) / r^2` of `r^2`, `|r| <= 1/4`; error 2^-55.6.
pub(crate) const COS_PI_DOUBLE: [f64; 7] = [
    -4.934802200544679,
    4.058712126416765,
    -1.3352627688538097,
    0.2353306302840066,
    -0.025806887965145374,
    0.0019294938812021883,
    -0.00010370086335346046,
];
