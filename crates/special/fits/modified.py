"""Prints src/modified/fits.rs: the modified Bessel functions."""

from mpmath import mpf, besseli, besselk, exp, log, sqrt, pi
from fit import both, rounded, head

head("The modified Bessel functions", "modified.py")
TINY = mpf(10) ** -18
both("i0_near", "`I0(x)` of `x^2`, `x <= 4`", lambda z: besseli(0, sqrt(z)), TINY, 16, split=True)
both("i1_near", "`I1(x) / x` of `x^2`, `x <= 4`", lambda z: besseli(1, sqrt(z)) / sqrt(z), TINY, 16, split=True)
rounded("i0_wide", "`(I0(x) - 1) / x^2` of `x^2`, `x <= 10.5`", lambda z: besseli(0, sqrt(z)), TINY, mpf("10.5") ** 2, 11, first=[1])
rounded("i1_wide", "`(I1(x) / x - 1/2) / x^2` of `x^2`, `x <= 10.5`", lambda z: besseli(1, sqrt(z)) / sqrt(z), TINY, mpf("10.5") ** 2, 11, first=[mpf(1) / 2])
for n, of in ((0, "I0(x)"), (1, "I1(x) / x")):
    slope = lambda x: besseli(n + 1, x) / (2 * x * besseli(n, x))
    rounded(f"i{n}_slope", f"the derivative of `ln({of})` by `x^2`, error times `x^2`", slope, mpf(10) ** -9, mpf("10.5"), 1, weight=lambda x: x * x)
for n in (0, 1):
    both(f"i{n}_middle", f"`e^-x I{n}(x)` of `v = x - 7`, `4 <= x <= 10.5`", lambda v: besseli(n, 7 + v) * exp(-7 - v), -3, 3.5, split=True)
    both(f"i{n}_far", f"`sqrt(x) e^-x I{n}(x)` of `1 / x`, `x >= 10.5`", lambda r: besseli(n, 1 / r) * exp(-1 / r) / sqrt(r), mpf(10) ** -6, 1 / mpf("10.5"), split=True)
Z = mpf("0.25")
both("k0_near", "`K0(x) + ln(x / 2) I0(x)` of `x^2`, `x <= 1/2`", lambda z: besselk(0, sqrt(z)) + log(sqrt(z) / 2) * besseli(0, sqrt(z)), TINY, Z, weight=lambda z: 1)
both("k1_near", "`(K1(x) - ln(x / 2) I1(x) - 1 / x) / x` of `x^2`, `x <= 1/2`", lambda z: (besselk(1, sqrt(z)) - log(sqrt(z) / 2) * besseli(1, sqrt(z)) - 1 / sqrt(z)) / sqrt(z), TINY, Z, weight=lambda z: z)


def scaled(n):
    def f(t):
        x = 2 * (1 + t) / (1 - t)
        return besselk(n, x) * exp(x) * sqrt(x)
    return f


for n in (0, 1):
    both(f"k{n}_far", f"`sqrt(x) e^x K{n}(x)` of `t = (x - 2) / (x + 2)`, `x >= 1/2`", scaled(n), mpf("-0.6"), 1, split=True)
