"""Polynomials for crates/special, printed as Rust tables. Needs mpmath.

Chebyshev series from samples in 45 digits, cut where the rest no longer matters, turned into powers: within a small factor of
minimax, and reproducible. Each script of this folder prints one file of src: `python3 fits/gamma.py > src/gamma_family/fits.rs`.
"""

import struct
from mpmath import mp, mpf, cos, pi

mp.dps = 45
SINGLE, DOUBLE = "single", "double"
BITS = {SINGLE: 27.5, DOUBLE: 56.5}


def nearest(value, format):
    """The float of the format that is nearest to `value`."""
    if format == DOUBLE:
        return float(value)
    return struct.unpack("f", struct.pack("f", float(value)))[0]


def literal(value, format):
    """The shortest decimal that reads back as the same float."""
    if format == DOUBLE:
        return repr(float(value))
    if value == 0:
        return "0.0"
    for digits in range(1, 10):
        text = repr(float(f"{value:.{digits}g}"))
        if nearest(float(text), SINGLE) == value:
            return text
    raise ValueError(value)


def series(f, low, high, count):
    """Chebyshev coefficients of `f` on [low, high] and their Clenshaw sum."""
    nodes = [cos(pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    values = [f((low + high) / 2 + (high - low) / 2 * t) for t in nodes]
    table = [cos(pi * k / (2 * count)) for k in range(4 * count)]
    c = []
    for j in range(count):
        total = sum(v * table[j * (2 * k + 1) % (4 * count)] for k, v in enumerate(values))
        c.append(total * (2 if j else 1) / count)
    return c


def clenshaw(c, t):
    b1 = b2 = mpf(0)
    for a in reversed(c[1:]):
        b1, b2 = 2 * t * b1 - b2 + a, b1
    return t * b1 - b2 + c[0]


def powers(c, low, high):
    """A Chebyshev series in powers of the variable itself."""
    n = len(c)
    t0, t1 = [mpf(1)], [mpf(0), mpf(1)]
    total = [mpf(0)] * n
    for j in range(n):
        for i, a in enumerate(t0):
            total[i] += c[j] * a
        t2 = [mpf(0)] + [2 * a for a in t1]
        for i, a in enumerate(t0):
            t2[i] -= a
        t0, t1 = t1, t2
    half, middle = (high - low) / 2, (high + low) / 2
    # p((v - middle) / half), by Horner over polynomials.
    out = [mpf(0)]
    for a in reversed(total):
        shifted = [mpf(0)] + [b / half for b in out]
        for i, b in enumerate(out):
            shifted[i] -= b * middle / half
        shifted[0] += a
        out = shifted
    return out[:n]


def value(p, x):
    total = mpf(0)
    for a in reversed(p):
        total = total * x + a
    return total


def polynomial(name, what, f, low, high, format, weight=None, bits=None, split=False, count=None):
    """Prints the table `name` of `f` on [low, high], the lowest power first.

    weight(v): what an error of the polynomial counts, relative to the whole function (1 / |f| if left out).
    split: the constant term as a sum of two floats, the larger apart, to be added last.
    """
    low, high = mpf(low), mpf(high)
    middle, half = (high + low) / 2, (high - low) / 2
    count = count or (48 if format == DOUBLE else 32)
    c = series(f, low, high, count)
    xs = [middle + half * cos(pi * (k + mpf("0.37")) / 96) for k in range(96)]
    exact = [clenshaw(c, (x - middle) / half) for x in xs]
    scale = [abs(weight(x)) if weight else 1 / abs(y) for x, y in zip(xs, exact)]
    bound = mpf(2) ** -(bits or BITS[format])
    worst = None
    for degree in range(1, count):
        # The first terms left out say enough before the whole is looked at.
        if abs(c[degree]) * min(scale) > bound and degree < count - 1:
            continue
        p = powers(c[: degree + 1], low, high)
        worst = max(abs(value(p, x) - y) * s for x, y, s in zip(xs, exact, scale))
        if worst < bound:
            break
    else:
        raise ValueError(f"{name}: {float(worst):.1e} is the best of {count} terms")
    rounded = [nearest(a, format) for a in p]
    tail = nearest(p[0] - mpf(rounded[0]), format)
    exactly = [mpf(a) for a in rounded]
    if split:
        exactly[0] += mpf(tail)
    worst = max(abs(value(exactly, x) - y) * s for x, y, s in zip(xs, exact, scale))
    texts = [literal(a, format) for a in rounded]
    name = name.upper()
    print(f"/// {what}; error 2^{float(mp.log(worst, 2)):.1f}.")
    if split:
        high, texts[0] = texts[0], literal(tail, format)
    print(f"pub(crate) const {name}: [f64; {len(texts)}] = [{', '.join(texts)}];")
    if split:
        print(f"/// To be added last.\npub(crate) const {name}_HIGH: f64 = {high};")


def rounded(name, what, f, low, high, degree, weight=None, first=()):
    """Prints the f32 table `name` of `f` on [low, high], the lowest power first, less the coefficients `first`, which are given.

    Least squares of the error times weight(v) (1 / |f| if left out). Each coefficient is rounded in turn, and those above it are
    fitted anew, so that they make up for what it lost.
    """
    low, high = mpf(low), mpf(high)
    nodes = 80
    xs = [(high + low) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * nodes)) for k in range(nodes)]
    ys = [f(x) for x in xs]
    scale = [abs(weight(x)) if weight else 1 / abs(y) for x, y in zip(xs, ys)]
    unit = max(abs(low), abs(high))
    p = [mpf(a) for a in first]
    while len(p) <= degree:
        k, n = len(p), degree + 1 - len(p)
        rows = [[s * (x / unit) ** j for j in range(k, degree + 1)] for x, s in zip(xs, scale)]
        rest = [s * (y - value(p, x)) for x, y, s in zip(xs, ys, scale)]
        normal, right = mp.matrix(n, n), mp.matrix(n, 1)
        for i in range(n):
            right[i] = mp.fsum(r[i] * b for r, b in zip(rows, rest))
            for j in range(n):
                normal[i, j] = mp.fsum(r[i] * r[j] for r in rows)
        p.append(mpf(nearest(mp.lu_solve(normal, right)[0] / unit**k, SINGLE)))
    worst = max(abs(value(p, x) - y) * s for x, y, s in zip(xs, ys, scale))
    texts = [literal(float(a), SINGLE) for a in p[len(first):]]
    print(f"/// {what}; error 2^{float(mp.log(worst, 2)):.1f}.")
    print(f"pub(crate) const {name.upper()}: [f64; {len(texts)}] = [{', '.join(texts)}];")


def after_ln(f):
    """What a relative error of `f` counts in `ln(1 + f)`."""
    return abs(f / ((1 + f) * mp.log(1 + f))) if abs(f) > mpf(10) ** -20 else mpf(1)


def both(name, what, f, low, high, **options):
    """The polynomial in either format."""
    for format in (SINGLE, DOUBLE):
        chosen = {k: (v[format] if isinstance(v, dict) else v) for k, v in options.items()}
        polynomial(f"{name}_{format}", what, f, low, high, format, **chosen)


def head(what, script):
    print(f"//! {what}: coefficients, the lowest power first, printed by fits/{script}. Errors are relative to the function.\n")
    print("#![allow(clippy::approx_constant, reason = \"a coefficient is what its format has\")]\n")


def pair(x, format):
    """`x` as a sum of two floats."""
    high = nearest(x, format)
    return literal(high, format), literal(nearest(x - mpf(high), format), format)


def around(f, root):
    """`f(root + u) / u`."""
    h = mpf(10) ** -15

    def g(u):
        if abs(u) < h:
            return (f(root + h) - f(root - h)) / (2 * h)
        return f(root + u) / u
    return g


def root(name, r):
    """A root as sums of two floats of either format."""
    for format in (SINGLE, DOUBLE):
        print(f"/// A root, and what it lacks.\npub(crate) const {name.upper()}_AT_{format.upper()}: [f64; 2] = [{', '.join(pair(r, format))}];")
