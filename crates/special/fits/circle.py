"""Prints src/circle/fits.rs: sine and cosine of angles in half turns."""

from mpmath import mpf, sin, cos, pi, sqrt, sinpi, cospi
from fit import both, head

head("Sines and cosines of half turns", "circle.py")
TINY = mpf(10) ** -30
Z = mpf(1) / 16
both("sin_pi", "`sin(pi r) / r` of `r^2`, `|r| <= 1/4`", lambda z: sinpi(sqrt(z)) / sqrt(z), TINY, Z, split=True)
both("cos_pi", "`(cos(pi r) - 1) / r^2` of `r^2`, `|r| <= 1/4`", lambda z: (cospi(sqrt(z)) - 1) / z, TINY, Z, weight=lambda z: z)
