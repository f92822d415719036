"""Prints src/gamma_family/psi_fits.rs: digamma and trigamma."""

from mpmath import mp, mpf, digamma, psi, log, sqrt, findroot
from fit import after_ln, both, polynomial, rounded, head, root, SINGLE, DOUBLE

head("Digamma and trigamma", "digamma.py")
ROOT = findroot(digamma, mpf("1.4616321449683623"))
root("digamma", ROOT - 1)
TINY = mpf(10) ** -12


def over_root(x):
    d = x - ROOT
    return digamma(x) / d if abs(d) > TINY else psi(1, ROOT)


def slope(x):
    d = x - ROOT
    return mp.expm1(digamma(x)) / d if abs(d) > TINY else psi(1, ROOT)


def counts(x):
    return after_ln((x - ROOT) * slope(x)) / slope(x)


rounded("digamma_below_single", "`(e^psi(1 + x) - 1) / (1 + x - root)`, `x <= 1`", lambda x: slope(1 + x), 0, 1, 7)
rounded("digamma_above_single", "`(e^psi(x) - 1) / (x - root)` of `1 / x`, `x >= 1`", lambda r: slope(1 / r), mpf(10) ** -6, 1, 6, weight=lambda r: counts(1 / r))
polynomial("digamma_near", "`psi(x) / (x - root)` of `v = x - 2`, `1 <= x <= 3`", lambda v: over_root(2 + v), -1, 1, DOUBLE, split=True)
polynomial("digamma_middle", "`psi(x)` of `v = x - 5`, `3 <= x <= 8`", lambda v: digamma(5 + v), -2, 3, DOUBLE)
DIGAMMA_FAR = lambda z: (digamma(1 / sqrt(z) + mpf(1) / 2) + log(z) / 2) / z
WEIGHT = lambda z: z / digamma(1 / sqrt(z) + mpf(1) / 2)
polynomial("digamma_far", "`(psi(x) - ln h) / z` of `z = 1 / h^2`, `h = x - 1/2`, `x >= 8`", DIGAMMA_FAR, mpf(10) ** -9, 1 / mpf("7.5") ** 2, DOUBLE, weight=WEIGHT)
both("trigamma_near", "`psi'(x)` of `v = x - 2`, `1 <= x <= 3`", lambda v: psi(1, 2 + v), -1, 1, bits={SINGLE: 26, DOUBLE: 56.5})
polynomial("trigamma_middle", "`psi'(x)` of `v = x - 5`, `3 <= x <= 8`", lambda v: psi(1, 5 + v), -2, 3, DOUBLE)
for format, start in ((SINGLE, 3), (DOUBLE, 8)):
    h = start - mpf(1) / 2
    polynomial(f"trigamma_far_{format}", f"`(psi'(x) - 1 / h) h^3` of `z = 1 / h^2`, `h = x - 1/2`, `x >= {start}`", lambda z: (psi(1, 1 / sqrt(z) + mpf(1) / 2) - sqrt(z)) / (z * sqrt(z)), mpf(10) ** -9, 1 / h**2, format, weight=lambda z: z)
