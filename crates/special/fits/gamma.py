"""Prints src/gamma_family/fits.rs: gamma and its logarithm."""

from mpmath import mp, mpf, loggamma, gamma, log, sqrt, pi, exp, euler
from fit import after_ln, both, polynomial, rounded, head, DOUBLE

head("The gamma function", "gamma.py")
TINY = mpf(10) ** -12


def log_gamma_one(u):
    return loggamma(1 + u) / u if abs(u) > TINY else -euler + u * pi**2 / 12


def log_gamma_two(v):
    return loggamma(2 + v) / v if abs(v) > TINY else 1 - euler + v * (pi**2 / 12 - mpf(1) / 2)


both("log_gamma_one", "`ln gamma(1 + u) / u`, `|u| <= 1/2`", log_gamma_one, -0.5, 0.5, split=True)


def below(d):
    x = 1 - d
    return (gamma(1 + x) - x) / d


def root_of_gamma(u):
    x = 3 * (1 + u) / (1 - u)
    return mp.expm1(loggamma(x) / (x - 1)) / (x - 2), x - 2


def root_counts(u):
    p, v = root_of_gamma(u)
    return after_ln(p * v) / p


rounded("log_gamma_below_single", "`(gamma(1 + x) - x) / d` of `d = 1 - x`, `0 <= x <= 1`", below, TINY, 1, 9, weight=lambda d: after_ln(d * below(d) / (1 - d)) / below(d))
rounded("log_gamma_above_single", "`(gamma(x)^(1 / (x - 1)) - 1) / (x - 2)` of `u = (x - 3) / (x + 3)`, `1 <= x <= 13`", lambda u: root_of_gamma(u)[0], -0.5, 0.625, 9, weight=root_counts)
polynomial("log_gamma_two", "`ln gamma(2 + v) / v`, `-1/2 <= v <= 1`", log_gamma_two, -0.5, 1, DOUBLE, split=True)
polynomial("log_gamma_middle", "`ln gamma(x) / (x - 2)` of `v = x - 5`, `3 <= x <= 8`", lambda v: loggamma(5 + v) / (3 + v), -2, 3, DOUBLE)


def stirling(z):
    x = 1 / sqrt(z)
    return (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2) * x


polynomial("stirling", "`x` times what `ln gamma(x)` has beyond `(x - 1/2) ln x - x + ln(2 pi) / 2`, of `z = 1 / x^2`, `x >= 8`", stirling, mpf(10) ** -9, mpf(1) / 64, DOUBLE, weight=lambda z: sqrt(z) / 8)
both("stirling_factor", "`gamma(x) e^x x^(1/2 - x) / sqrt(2 pi) - 1`, over `r = 1 / x`, `x >= 8`", lambda r: (exp(stirling(r * r) * r) - 1) / r, mpf(10) ** -5, mpf(1) / 8, weight=lambda r: r)
both("gamma_two", "`gamma(2 + u)`, `|u| <= 1/2`", lambda u: gamma(2 + u), -0.5, 0.5, split=True)
both("log_rest", "`(ln(1 - z) + z) / z^2`, `0 <= z <= 1/2`", lambda z: (log(1 - z) + z) / z**2 if z > TINY else -mpf(1) / 2, 0, 0.5, split=True)
