"""Prints src/power/fits.rs: logarithm and power in f32."""

from mpmath import mpf, log, exp, expm1
from fit import polynomial, head, literal, nearest, pair, SINGLE

head("Logarithm and power in f32", "power.py")
TINY = mpf(10) ** -12


def tail(f):
    return (log(1 + f) - f + f**2 / 2) / f**3 if abs(f) > TINY else mpf(1) / 3


polynomial("ln_tail", "`(ln(1 + f) - f + f^2 / 2) / f^3`, `f` from -0.293 to 0.415", tail, -0.2930, 0.4143, SINGLE, weight=lambda f: f**3 / log(1 + f))
polynomial("power_tail", "`(ln(1 + f) - f + f^2 / 2) / f^3`, `|f| <= 0.151`", tail, -0.151, 0.151, SINGLE, weight=lambda f: f**3, bits=36)
polynomial("exp2_tail", "`(2^r - 1) / r`, `|r| <= 1/2`", lambda r: expm1(r * log(2)) / r if abs(r) > TINY else log(2), -0.5001, 0.5001, SINGLE, weight=lambda r: r)
for name, c in (("LOW", "1.25"), ("HIGH", "0.75")):
    v = -log(mpf(c), 2)
    h = mpf(int(v * 2**16)) / 2**16
    print(f"/// `-log2({c})` to 16 bits, and the rest.\npub(crate) const {name}_STEP: [f64; 2] = [{literal(nearest(h, SINGLE), SINGLE)}, {literal(nearest(v - h, SINGLE), SINGLE)}];")
high, low = pair(1 / log(2), SINGLE)
print(f"/// `log2(e)` and what that lacks.\npub(crate) const LOG2_E: [f64; 2] = [{high}, {low}];")
h = mpf(int(log(2) * 2**15)) / 2**15
print(f"/// `ln(2)` to 15 bits, and the rest.\npub(crate) const LN_2: [f64; 2] = [{literal(nearest(h, SINGLE), SINGLE)}, {literal(nearest(log(2) - h, SINGLE), SINGLE)}];")
