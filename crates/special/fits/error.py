"""Prints src/error/fits.rs: the error function's family."""

from mpmath import mp, mpf, erfc, exp, log, sqrt, pi
from fit import both, polynomial, head, SINGLE, DOUBLE

head("The error function's family", "error.py")


def scaled(x):
    if x > 40:
        total = term = mpf(1)
        for k in range(1, 30):
            term *= -mpf(2 * k - 1) / (2 * x * x)
            total += term
        return total / (x * sqrt(pi))
    return exp(x * x) * erfc(x)


def erfcx(k):
    def f(t):
        x = k * (1 + t) / (1 - t)
        return (1 + 2 * x) * scaled(x)
    return f


for format, k in ((SINGLE, 2), (DOUBLE, 3)):
    polynomial(f"erfcx_{format}", f"`(1 + 2 x) erfcx(x)` of `t = (x - {k}) / (x + {k})`, `x >= 0`", erfcx(k), -1, 1, format, count=64, split=True)


def inverse(w):
    """y with `1 - erf(y)^2 = e^-w`, and erf(y)."""
    x = sqrt(-mp.expm1(-w))
    small = exp(-w) / (1 + x)
    y = mp.sqrt(w) * mpf("0.886") if w < 1 else mp.sqrt(w - log(sqrt(pi * w)) + log(mpf(2)) if w > 5 else w * mpf("0.8"))
    for _ in range(60):
        tail = erfc(y)
        step = (log(tail) - log(small)) * tail * sqrt(pi) / 2 * exp(y * y)
        y += step
        if abs(step) < mpf(10) ** -38:
            break
    return y, x


def central(v, middle):
    y, x = inverse(middle + v)
    return y / x


for format, limit, middle in ((SINGLE, 5, 2.5), (DOUBLE, 6.25, 3.125)):
    polynomial(f"erfinv_near_{format}", f"`erfinv(x) / x` of `v = w - {middle}`, `w = -ln(1 - x^2)`, `w < {limit}`", lambda v: central(v, mpf(middle)), -middle + mpf(10) ** -15, middle, format, split=True)
tail = lambda middle: lambda v: inverse((middle + v) ** 2)[0]
polynomial("erfinv_tail_single", "`erfinv(x)` of `v = sqrt(w) - 3.125`, `5 <= w < 18`", tail(mpf("3.125")), -0.89, 1.125, SINGLE, split=True)
polynomial("erfinv_far_single", "`erfinv(x) / s` of `v = 1 / s - 0.17`, `s = sqrt(w)`, `18 <= w < 105`", lambda v: inverse(1 / (v + mpf("0.17")) ** 2)[0] * (v + mpf("0.17")), -0.0725, 0.066, SINGLE, split=True)
polynomial("erfinv_tail_double", "`erfinv(x)` of `v = sqrt(w) - 4.25`, `6.25 <= w < 36`", tail(mpf("4.25")), -1.75, 1.76, DOUBLE, split=True)
polynomial("erfinv_far_double", "`erfinv(x) / s` of `v = 1 / s - 0.1`, `s = sqrt(w)`, `36 <= w < 745`", lambda v: inverse(1 / (v + mpf("0.1")) ** 2)[0] * (v + mpf("0.1")), -0.0634, 0.067, DOUBLE, split=True)
