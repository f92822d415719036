"""Prints src/gamma_family/psi_fits.rs: digamma and trigamma."""

from mpmath import mpf, digamma, psi, log, sqrt, findroot
from fit import both, polynomial, head, root, SINGLE, DOUBLE

head("Digamma and trigamma", "digamma.py")
ROOT = findroot(digamma, mpf("1.4616321449683623"))
root("digamma", ROOT - 1)
TINY = mpf(10) ** -12


def over_root(x):
    d = x - ROOT
    return digamma(x) / d if abs(d) > TINY else psi(1, ROOT)


both("digamma_near", "`psi(x) / (x - root)` of `v = x - 2`, `1 <= x <= 3`", lambda v: over_root(2 + v), -1, 1, split=True, bits={SINGLE: 26, DOUBLE: 56.5})
polynomial("digamma_middle", "`psi(x)` of `v = x - 5`, `3 <= x <= 8`", lambda v: digamma(5 + v), -2, 3, DOUBLE)
DIGAMMA_FAR = lambda z: (digamma(1 / sqrt(z) + mpf(1) / 2) + log(z) / 2) / z
WEIGHT = lambda z: z / digamma(1 / sqrt(z) + mpf(1) / 2)
for format, start in ((SINGLE, 3), (DOUBLE, 8)):
    h = start - mpf(1) / 2
    polynomial(f"digamma_far_{format}", f"`(psi(x) - ln h) / z` of `z = 1 / h^2`, `h = x - 1/2`, `x >= {start}`", DIGAMMA_FAR, mpf(10) ** -9, 1 / h**2, format, weight=WEIGHT)
both("trigamma_near", "`psi'(x)` of `v = x - 2`, `1 <= x <= 3`", lambda v: psi(1, 2 + v), -1, 1, bits={SINGLE: 26, DOUBLE: 56.5})
polynomial("trigamma_middle", "`psi'(x)` of `v = x - 5`, `3 <= x <= 8`", lambda v: psi(1, 5 + v), -2, 3, DOUBLE)
for format, start in ((SINGLE, 3), (DOUBLE, 8)):
    h = start - mpf(1) / 2
    polynomial(f"trigamma_far_{format}", f"`(psi'(x) - 1 / h) h^3` of `z = 1 / h^2`, `h = x - 1/2`, `x >= {start}`", lambda z: (psi(1, 1 / sqrt(z) + mpf(1) / 2) - sqrt(z)) / (z * sqrt(z)), mpf(10) ** -9, 1 / h**2, format, weight=lambda z: z)
