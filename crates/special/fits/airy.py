"""Prints src/airy/fits.rs: the Airy function Ai."""

from mpmath import mpf, airyai, airybi, airyaizero, exp, sqrt, pi, sin, cos, cbrt
from fit import both, head, around, root

head("The Airy function", "airy.py")
both("near", "`Ai(x)`, `-1.2 <= x <= 1`", airyai, -1.2, 1, split=True)
for k, (low, high) in enumerate((("-3.2", "-1.2"), ("-4.8", "-3.2")), 1):
    r = airyaizero(k)
    root(f"root{k}", r)
    both(f"root{k}", f"`Ai(x) / u` of `u = x - root`, `{low} <= x <= {high}`", around(airyai, r), mpf(low) - r, mpf(high) - r, split=True)


def decay(t):
    zeta = 2 * (1 + t) / (1 - t)
    x = cbrt(zeta * 3 / 2) ** 2
    return airyai(x) * 2 * sqrt(pi) * sqrt(sqrt(x)) * exp(zeta)


both("right", "`2 sqrt(pi) x^(1/4) e^zeta Ai(x)` of `t = (zeta - 2) / (zeta + 2)`, `x >= 1`", decay, mpf("-0.5001"), 1, split=True)


def hankel(part):
    def f(s):
        zeta = 1 / sqrt(s)
        x = cbrt(zeta * 3 / 2) ** 2
        a, b, phi, scale = airyai(-x), airybi(-x), zeta + pi / 4, sqrt(pi * sqrt(x))
        if part == "p":
            return scale * (a * sin(phi) + b * cos(phi))
        return scale * (b * sin(phi) - a * cos(phi)) * zeta
    return f


zeta = mpf(2) / 3 * mpf("4.8") * sqrt(mpf("4.8"))
both("p", "the part with the sine less 1, of `1 / zeta^2`, `x <= -4.8`", lambda s: hankel("p")(s) - 1, mpf(10) ** -8, 1 / zeta**2, weight=lambda s: 1)
both("q", "the part with the cosine times `zeta`, of `1 / zeta^2`, `x <= -4.8`", hankel("q"), mpf(10) ** -8, 1 / zeta**2, weight=lambda s: sqrt(s))
