"""Prints src/power/fits.rs: logarithm and power in f32."""

import struct
from mpmath import mpf, log, exp, expm1
from fit import polynomial, rounded, head, literal, nearest, pair, SINGLE

head("Logarithm and power in f32", "power.py")
TINY = mpf(10) ** -12


def tail(f):
    return (log(1 + f) - f + f**2 / 2) / f**3 if abs(f) > TINY else mpf(1) / 3


polynomial("ln_tail", "`(ln(1 + f) - f + f^2 / 2) / f^3`, `f` from -0.293 to 0.415", tail, -0.2930, 0.4143, SINGLE, weight=lambda f: f**3 / log(1 + f))
polynomial("power_tail", "`(ln(1 + f) - f + f^2 / 2) / f^3`, `|f| <= 0.151`", tail, -0.151, 0.151, SINGLE, weight=lambda f: f**3, bits=36)
polynomial("exp2_tail", "`(2^r - 1) / r`, `|r| <= 1/2`", lambda r: expm1(r * log(2)) / r if abs(r) > TINY else log(2), -0.5001, 0.5001, SINGLE, weight=lambda r: r)
rounded("ln_1p_tail", "`(ln(1 + f) - f) / f^2`, `f` from -0.293 to 0.415", lambda f: (log(1 + f) - f) / f**2 if abs(f) > TINY else -mpf(1) / 2, -0.293, 0.4143, 8, weight=lambda f: f**2 / log(1 + f))
rounded("wide_tail", "`(ln(1 + f) - f + f^2 / 2) / f^3`, `f` from -0.293 to 0.415, relative to 1", tail, -0.293, 0.4143, 9, weight=lambda f: f**3)


def start():
    """What the bits of `x` are taken from, so that `y (c - x y)` of that float `y` is nearest to `1 / x`; `c`; the error left."""
    best = None
    places = [struct.unpack("i", struct.pack("f", 1 + k / 2048))[0] for k in range(2048)]
    for guess in range(0x7EE00000, 0x7F200000, 0x400):
        ts = [struct.unpack("f", struct.pack("i", guess - bits))[0] * (1 + k / 2048) for k, bits in enumerate(places)]
        c = min(ts) + max(ts)
        error = max(abs(t * (c - t) - 1) for t in (min(ts), max(ts), c / 2))
        if best is None or error < best[0]:
            best = error, guess, c
    return best


error, guess, c = start()
print(f"/// The bits of a float less those of `x` are near `1 / x`.\npub(crate) const RECIPROCAL_START: i32 = {guess:#x};")
print(f"/// `y (c - x y)` with the first is within 2^{float(log(error, 2)):.1f} of `1 / x`, with the second after that within 2^{float(log(error**2 / 2, 2)):.1f}.")
print(f"pub(crate) const RECIPROCAL_STEPS: [f64; 2] = [{literal(nearest(c, SINGLE), SINGLE)}, {literal(nearest(2 + error**2 / 2, SINGLE), SINGLE)}];")
for name, c in (("LOW", "1.25"), ("HIGH", "0.75")):
    v = -log(mpf(c), 2)
    h = mpf(int(v * 2**16)) / 2**16
    print(f"/// `-log2({c})` to 16 bits, and the rest.\npub(crate) const {name}_STEP: [f64; 2] = [{literal(nearest(h, SINGLE), SINGLE)}, {literal(nearest(v - h, SINGLE), SINGLE)}];")
high, low = pair(1 / log(2), SINGLE)
print(f"/// `log2(e)` and what that lacks.\npub(crate) const LOG2_E: [f64; 2] = [{high}, {low}];")
h = mpf(int(log(2) * 2**15)) / 2**15
print(f"/// `ln(2)` to 15 bits, and the rest.\npub(crate) const LN_2: [f64; 2] = [{literal(nearest(h, SINGLE), SINGLE)}, {literal(nearest(log(2) - h, SINGLE), SINGLE)}];")
print(f"/// `ln(2)` by 2^23, as one float.\npub(crate) const LN_2_STEP: f64 = {literal(nearest(log(2) / 2**23, SINGLE), SINGLE)};")
print(f"/// The same as two, the first of 15 bits.\npub(crate) const LN_2_STEPS: [f64; 2] = [{literal(nearest(h / 2**23, SINGLE), SINGLE)}, {literal(nearest((log(2) - h) / 2**23, SINGLE), SINGLE)}];")
