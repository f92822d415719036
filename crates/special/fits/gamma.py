"""Prints src/gamma_family/fits.rs: gamma and its logarithm."""

from mpmath import mpf, loggamma, gamma, log, sqrt, pi, exp, euler
from fit import both, polynomial, head, SINGLE, DOUBLE

head("The gamma function", "gamma.py")
TINY = mpf(10) ** -12


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
both("log_rest", "`(ln(1 - z) + z) / z^2`, `0 <= z <= 1/2`", lambda z: (log(1 - z) + z) / z**2 if z > TINY else -mpf(1) / 2, 0, 0.5, split=True)
