//! The zeta function: coefficients, the lowest power first, printed by fits/zeta.py. Errors are relative to the function.

#![allow(clippy::approx_constant, reason = "a coefficient is what its format has")]

/// `B(2 j) / (2 j)!` from j = 1 on.
pub(crate) const BERNOULLI: [f64; 12] = [
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
    5.5090028283602295e-18,
    -1.3954464685812522e-19,
];
