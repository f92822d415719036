"""Prints src/gamma/fits.rs: digamma, trigamma, gamma and its logarithm."""

from mpmath import mp, mpf, digamma, psi, loggamma, gamma, log, sqrt, findroot, pi, exp, euler
from fit import both, polynomial, head, pair, SINGLE, DOUBLE

head("The gamma family", "gamma.py")
ROOT = findroot(digamma, mpf("1.4616321449683623"))
print(f"// The root of digamma less 1: f32 {pair(ROOT - 1, SINGLE)}, f64 {pair(ROOT - 1, DOUBLE)}")
print(f"// ln(2 pi) / 2 - 1/2: f32 {pair(log(2 * pi) / 2 - mpf(1) / 2, SINGLE)}, f64 {pair(log(2 * pi) / 2 - mpf(1) / 2, DOUBLE)}")
print(f"// sqrt(2 pi): {pair(sqrt(2 * pi), DOUBLE)}\n")
TINY = mpf(10) ** -12


def over_root(x):
    d = x - ROOT
    return digamma(x) / d if abs(d) > TINY else psi(1, ROOT)


both("digamma_near", "`psi(x) / (x - root)` of `v = x - 2`, `1 <= x <= 3`", lambda v: over_root(2 + v), -1, 1, split=True)
polynomial("digamma_middle", "`psi(x)` of `v = x - 5`, `3 <= x <= 8`", lambda v: digamma(5 + v), -2, 3, DOUBLE)
DIGAMMA_FAR = lambda z: (digamma(1 / sqrt(z) + mpf(1) / 2) + log(z) / 2) / z
WEIGHT = lambda z: z / digamma(1 / sqrt(z) + mpf(1) / 2)
for format, start in ((SINGLE, 3), (DOUBLE, 8)):
    h = start - mpf(1) / 2
    polynomial(f"digamma_far_{format}", f"`(psi(x) - ln h) / z` of `z = 1 / h^2`, `h = x - 1/2`, `x >= {start}`", DIGAMMA_FAR, mpf(10) ** -9, 1 / h**2, format, weight=WEIGHT)
both("trigamma_near", "`psi'(x)` of `v = x - 2`, `1 <= x <= 3`", lambda v: psi(1, 2 + v), -1, 1)
polynomial("trigamma_middle", "`psi'(x)` of `v = x - 5`, `3 <= x <= 8`", lambda v: psi(1, 5 + v), -2, 3, DOUBLE)
for format, start in ((SINGLE, 3), (DOUBLE, 8)):
    h = start - mpf(1) / 2
    polynomial(f"trigamma_far_{format}", f"`(psi'(x) - 1 / h) h^3` of `z = 1 / h^2`, `h = x - 1/2`, `x >= {start}`", lambda z: (psi(1, 1 / sqrt(z) + mpf(1) / 2) - sqrt(z)) / (z * sqrt(z)), mpf(10) ** -9, 1 / h**2, format, weight=lambda z: z)


def log_gamma_one(u):
    return loggamma(1 + u) / u if abs(u) > TINY else -euler + u * pi**2 / 12


def log_gamma_two(v):
    return loggamma(2 + v) / v if abs(v) > TINY else 1 - euler + v * (pi**2 / 12 - mpf(1) / 2)


both("log_gamma_one", "`ln gamma(1 + u) / u`, `|u| <= 1/2`", log_gamma_one, -0.5, 0.5, split=True)
both("log_gamma_two", "`ln gamma(2 + v) / v`, `-1/2 <= v <= 1`", log_gamma_two, -0.5, 1, split=True)
polynomial("log_gamma_middle_single", "`ln gamma(x) / (x - 2)` of `v = x - 6.5`, `3 <= x <= 10.5`", lambda v: loggamma(6.5 + v) / (4.5 + v), -3.5, 4, SINGLE)
polynomial("log_gamma_middle_double", "`ln gamma(x) / (x - 2)` of `v = x - 5`, `3 <= x <= 8`", lambda v: loggamma(5 + v) / (3 + v), -2, 3, DOUBLE)


def stirling(z):
    x = 1 / sqrt(z)
    return (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2) * x


both("stirling", "`x` times what `ln gamma(x)` has beyond `(x - 1/2) ln x - x + ln(2 pi) / 2`, of `z = 1 / x^2`, `x >= 8`", stirling, mpf(10) ** -9, mpf(1) / 64, weight=lambda z: sqrt(z) / 8)
both("stirling_factor", "`gamma(x) e^x x^(1/2 - x) / sqrt(2 pi) - 1`, over `r = 1 / x`, `x >= 8`", lambda r: (exp(stirling(r * r) * r) - 1) / r, mpf(10) ** -5, mpf(1) / 8, weight=lambda r: r)
both("gamma_two", "`gamma(2 + u)`, `|u| <= 1/2`", lambda u: gamma(2 + u), -0.5, 0.5, split=True)
