"""Prints points of the functions that the other file lacks, correctly rounded: `python3 own.py [count [all]] > own.txt`. Needs mpmath.

Half of the arguments are f32. With `all`, points of all functions: a wider test than the tree holds.
"""

import math
import random
import struct
import sys
from mpmath import mp, mpf
import mpmath as m

mp.dps = 60
count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
everything = len(sys.argv) > 2
rng = random.Random(20261122)


def single(v):
    return struct.unpack("f", struct.pack("f", v))[0]


def spread(low, high, sign=0):
    """Even in the logarithm, from `low` to `high`; sign: 1 for both signs."""
    v = low * (high / low) ** rng.random()
    return -v if sign and rng.random() < 0.5 else v


def even(low, high):
    return low + (high - low) * rng.random()


def beta(a, b):
    return m.exp(m.loggamma(a) + m.loggamma(b) - m.loggamma(a + b)) if a > 0 and b > 0 else m.beta(a, b)


def hurwitz(s, q):
    # Its errors are relative to 1, and the values may be tiny.
    with mp.workdps(400):
        return m.zeta(s, q)


def ndtri(p):
    def tail(q):
        y = m.sqrt(-2 * m.log(q)) if q < 0.1 else mpf(1)
        for _ in range(200):
            f = m.erfc(y / m.sqrt(2)) / 2
            step = (m.log(f) - m.log(q)) * f * m.sqrt(2 * m.pi) * m.exp(y * y / 2)
            y += step
            if abs(step) < mpf(10) ** -45 * max(1, abs(y)):
                break
        return y
    return -tail(p) if p < 0.5 else tail(1 - p) if p > 0.5 else mpf(0)


def kaiser(x, b):
    return m.besseli(0, b * m.sqrt(1 - mpf(x) ** 2)) / m.besseli(0, b)


FRESH = {
    "gamma": (m.gamma, [lambda: (even(0, 36),), lambda: (even(-40, 0),), lambda: (even(0, 171),), lambda: (spread(1e-30, 1, 1),)]),
    "beta": (beta, [lambda: (spread(1e-3, 60), spread(1e-3, 60)), lambda: (even(0, 12), even(0, 12)), lambda: (spread(0.01, 100), spread(0.01, 1e6)), lambda: (spread(1, 500), spread(1, 500))]),
    "log_beta": (lambda a, b: m.loggamma(a) + m.loggamma(b) - m.loggamma(a + b), [lambda: (spread(1e-3, 1e6), spread(1e-3, 1e6)), lambda: (even(0, 12), even(0, 12)), lambda: (spread(1e-20, 1e9), spread(1, 1e9))]),
    "erf": (m.erf, [lambda: (even(-6, 6),), lambda: (spread(1e-30, 1, 1),)]),
    "xlogy": (lambda x, y: x * m.log(y), [lambda: (spread(1e-6, 1e6, 1), spread(1e-30, 1e30)), lambda: (even(-3, 3), even(0.5, 2))]),
    "xlog1py": (lambda x, y: x * m.log(1 + mpf(y)), [lambda: (spread(1e-6, 1e6, 1), spread(1e-30, 1e30)), lambda: (even(-3, 3), even(-0.9, 2))]),
    "logit": (lambda p: m.log(p / (1 - mpf(p))), [lambda: (even(0, 1),), lambda: (spread(1e-30, 1),), lambda: (even(0.49, 0.51),)]),
    "kaiser": (kaiser, [lambda: (even(-1, 1), even(0, 20)), lambda: (1 - spread(1e-6, 1), spread(0.01, 60))]),
    "sin_pi": (m.sinpi, [lambda: (even(-3, 3),), lambda: (spread(1e-10, 1e6, 1),)]),
    "cos_pi": (m.cospi, [lambda: (even(-3, 3),), lambda: (spread(1e-10, 1e6, 1),)]),
}


def plane():
    """Anywhere, near the real and imaginary unit, near the circle."""
    kind = rng.randrange(5)
    if kind == 0:
        return even(-3, 3), even(-3, 3)
    if kind == 1:
        return spread(1e-6, 1e6, 1), spread(1e-6, 1e6, 1)
    angle = even(-3.14, 3.14)
    radius = spread(1e-7, 0.3)
    near = (radius * math.cos(angle), radius * math.sin(angle))
    if kind == 2:
        return rng.choice((-1, 1)) + near[0], near[1]
    if kind == 3:
        return near[0], rng.choice((-1, 1)) + near[1]
    return (1 + near[0]) * math.cos(angle), (1 + near[0]) * math.sin(angle)


def strip():
    """Where the exponential stays a float."""
    return spread(1e-6, 80, 1) if rng.random() < 0.5 else even(-5, 5), spread(1e-6, 1e4, 1) if rng.random() < 0.5 else even(-7, 7)


def turned():
    return strip()[::-1]


COMPLEX = {
    "ln": (m.log, plane), "sqrt": (m.sqrt, plane), "exp": (m.exp, strip),
    "sinh": (m.sinh, strip), "cosh": (m.cosh, strip), "tanh": (m.tanh, strip),
    "sin": (m.sin, turned), "cos": (m.cos, turned), "tan": (m.tan, turned),
    "asin": (m.asin, plane), "acos": (m.acos, plane), "atan": (m.atan, plane),
    "asinh": (m.asinh, plane), "acosh": (m.acosh, plane), "atanh": (m.atanh, plane),
}
for title, (f, sampler) in COMPLEX.items():
    for part in (m.re, m.im):
        FRESH[f"complex_{title}.{part.__name__}"] = (lambda x, y, f=f, part=part: part(f(m.mpc(x, y))), [sampler])
FRESH["complex_abs"] = (lambda x, y: abs(m.mpc(x, y)), [plane])
FRESH["complex_angle"] = (lambda x, y: m.arg(m.mpc(x, y)), [plane])
WIDE = {
    "digamma": (m.digamma, [lambda: (even(0, 12),), lambda: (even(-12, 0),), lambda: (spread(1e-10, 1e10),), lambda: (even(1.4, 1.5),)]),
    "trigamma": (lambda x: m.psi(1, x), [lambda: (even(0, 12),), lambda: (even(-12, 0),), lambda: (spread(1e-8, 1e8),)]),
    "polygamma": (lambda n, x: m.psi(int(n), x), [lambda: (rng.randint(2, 9), even(0, 12)), lambda: (rng.randint(2, 9), even(-12, 0)), lambda: (rng.randint(2, 30), spread(1, 1e4))]),
    "lgamma": (lambda x: m.log(abs(m.gamma(x))), [lambda: (even(0, 12),), lambda: (even(-12, 0),), lambda: (spread(1e-10, 1e3),)]),
    "zeta": (hurwitz, [lambda: (even(1, 10), even(0, 10)), lambda: (spread(1.0001, 60), spread(0.01, 1e3)), lambda: (1 + spread(1e-4, 100), spread(1e-3, 1e6))]),
    "erfc": (m.erfc, [lambda: (even(-3, 9),), lambda: (even(9, 26),)]),
    "erfcx": (lambda x: m.exp(mpf(x) ** 2) * m.erfc(x), [lambda: (even(-9, 10),), lambda: (spread(1, 50),)]),
    "ndtr": (m.ncdf, [lambda: (even(-12, 8),), lambda: (even(-37, 0),)]),
    "log_ndtr": (lambda x: m.log(m.erfc(-x / m.sqrt(mpf(2))) / 2) if x < 5 else m.log1p(-m.erfc(x / m.sqrt(mpf(2))) / 2), [lambda: (even(-12, 12),), lambda: (even(-30, 30),)]),
    "ndtri": (ndtri, [lambda: (even(0, 1),), lambda: (spread(1e-30, 1),), lambda: (1 - spread(1e-7, 1),)]),
    "bessel_j0": (lambda x: m.besselj(0, x), [lambda: (even(-12, 12),), lambda: (even(10, 100),), lambda: (spread(1e-5, 1e5),)]),
    "bessel_j1": (lambda x: m.besselj(1, x), [lambda: (even(-12, 12),), lambda: (even(10, 100),), lambda: (spread(1e-5, 1e5),)]),
    "bessel_y0": (lambda x: m.bessely(0, x), [lambda: (even(0, 12),), lambda: (even(10, 100),), lambda: (spread(1e-5, 1e5),)]),
    "bessel_y1": (lambda x: m.bessely(1, x), [lambda: (even(0, 12),), lambda: (even(10, 100),), lambda: (spread(1e-5, 1e5),)]),
    "i0": (lambda x: m.besseli(0, x), [lambda: (even(-12, 12),), lambda: (even(-88, 88),), lambda: (even(500, 710),)]),
    "i1": (lambda x: m.besseli(1, x), [lambda: (even(-12, 12),), lambda: (even(-88, 88),), lambda: (even(500, 710),)]),
    "i0e": (lambda x: m.besseli(0, x) * m.exp(-abs(x)), [lambda: (even(-12, 12),), lambda: (spread(1, 1e4),)]),
    "i1e": (lambda x: m.besseli(1, x) * m.exp(-abs(x)), [lambda: (even(-12, 12),), lambda: (spread(1, 1e4),)]),
    "modified_bessel_k0": (lambda x: m.besselk(0, x), [lambda: (even(0, 3),), lambda: (even(0, 80),), lambda: (spread(1e-10, 1),)]),
    "modified_bessel_k1": (lambda x: m.besselk(1, x), [lambda: (even(0, 3),), lambda: (even(0, 80),), lambda: (spread(1e-10, 1),)]),
    "scaled_modified_bessel_k0": (lambda x: m.besselk(0, x) * m.exp(x), [lambda: (even(0, 3),), lambda: (spread(1, 1e4),)]),
    "scaled_modified_bessel_k1": (lambda x: m.besselk(1, x) * m.exp(x), [lambda: (even(0, 3),), lambda: (spread(1, 1e4),)]),
    "airy_ai": (m.airyai, [lambda: (even(-12, 8),), lambda: (even(1, 20),), lambda: (even(-1000, -4),)]),
    "spherical_bessel_j0": (lambda x: m.sin(x) / x, [lambda: (even(-12, 12),), lambda: (spread(1e-5, 1e5),)]),
    "sinc": (lambda x: m.sinpi(x) / (m.pi * x), [lambda: (even(-4, 4),), lambda: (spread(1e-5, 1e5),)]),
}


def bits(v):
    return struct.pack(">d", v).hex().rstrip("0") or "0"


print("# Correctly rounded values, printed by own.py, in the format of grid.txt.")
for name, (f, samplers) in (FRESH | (WIDE if everything else {})).items():
    print(f"= {name}")
    for k in range(count):
        x = tuple(float(v) for v in samplers[k % len(samplers)]())
        if k // len(samplers) % 2 == 0:
            x = tuple(single(v) for v in x)
        try:
            value = f(*(mpf(v) for v in x))
        except (ZeroDivisionError, ValueError):
            continue
        if abs(m.re(value)) < mpf(10) ** -300:
            continue
        value = float(m.re(value))
        exact = all(abs(v) < 3e38 and single(v) == v for v in x)
        print(("" if exact else "-") + " ".join(bits(v) for v in x + (value,)))
