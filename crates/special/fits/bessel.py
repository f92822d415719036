"""Prints src/bessel/{first,second,hankel}_fits.rs, as its argument says: the Bessel functions of integer order."""

import sys
from mpmath import mpf, besselj, bessely, besseljzero, besselyzero, sin, cos, log, sqrt, pi
from fit import both, head, around, root

TINY = mpf(10) ** -18
one = lambda z: 1
ENDS = {
    "j0": (lambda x: besselj(0, x), lambda k: besseljzero(0, k), ("1.4", "3.95", "7.1", "10.25")),
    "j1": (lambda x: besselj(1, x), lambda k: besseljzero(1, k), ("2", "5.4", "8.6", "10.25")),
    "y0": (lambda x: bessely(0, x), lambda k: besselyzero(0, k + 1), ("2.5", "5.5", "8.65", "10.25")),
    "y1": (lambda x: bessely(1, x), lambda k: besselyzero(1, k), ("1.5", "3.7", "7", "10.25")),
}


def pieces(kind):
    for name, (f, zero, ends) in ENDS.items():
        if name[0] != kind:
            continue
        for k in (1, 2, 3):
            r, low, high = zero(k), ends[k - 1], ends[k]
            root(f"{name}_root{k}", r)
            both(f"{name}_root{k}", f"`{name.upper()}(x) / u` of `u = x - root`, `{low} <= x <= {high}`", around(f, r), mpf(low) - r, mpf(high) - r, split=True)


def first():
    head("The Bessel functions of the first kind", "bessel.py first")
    both("j0_near", "`J0(x)` of `x^2`, `x <= 2.5`", lambda z: besselj(0, sqrt(z)), TINY, 6.25, weight=one, split=True)
    both("j1_near", "`J1(x) / x` of `x^2`, `x <= 2`", lambda z: besselj(1, sqrt(z)) / sqrt(z), TINY, 4, split=True)
    pieces("j")


def second():
    head("The Bessel functions of the second kind", "bessel.py second")
    r = besselyzero(0, 1)
    root("y0_root0", r)
    both("y0_root0", "`Y0(x) / u` of `u = x - root`, `0.6 <= x <= 1.3`", around(lambda x: bessely(0, x), r), mpf("0.6") - r, mpf("1.3") - r, split=True)
    both("y0_near", "`Y0(x) - 2 / pi ln(x) J0(x)` of `x^2`, `x <= 2.5`", lambda z: bessely(0, sqrt(z)) - 2 / pi * log(sqrt(z)) * besselj(0, sqrt(z)), TINY, 6.25, weight=one)
    both("y1_near", "`(Y1(x) - 2 / pi (ln(x) J1(x) - 1 / x)) / x` of `x^2`, `x <= 1.5`", lambda z: (bessely(1, sqrt(z)) - 2 / pi * (log(sqrt(z)) * besselj(1, sqrt(z)) - 1 / sqrt(z))) / sqrt(z), TINY, 2.25, weight=one)
    pieces("y")


def far(n, part):
    def f(s):
        x = 1 / sqrt(s)
        a = x - pi / 4 - n * pi / 2
        j, y, scale = besselj(n, x), bessely(n, x), sqrt(pi * x / 2)
        if part == "p":
            return scale * (j * cos(a) + y * sin(a))
        return scale * (y * cos(a) - j * sin(a)) * x
    return f


def hankel():
    head("Hankel's asymptotic series", "bessel.py hankel")
    s = 1 / mpf("10.25") ** 2
    for n in (0, 1):
        both(f"p{n}", f"Hankel's P of order {n} less 1, of `1 / x^2`, `x >= 10.25`", lambda z: far(n, "p")(z) - 1, mpf(10) ** -8, s, weight=one)
        both(f"q{n}", f"Hankel's Q of order {n} times `x`, of `1 / x^2`, `x >= 10.25`", far(n, "q"), mpf(10) ** -8, s, weight=lambda s: sqrt(s))


{"first": first, "second": second, "hankel": hankel}[sys.argv[1]]()
