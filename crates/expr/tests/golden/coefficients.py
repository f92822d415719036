"""Coefficients of the polynomials in crates/expr/src/functions, printed as Rust arrays, lowest power first.

Interpolation at Chebyshev nodes of the error's own weight, in 80 digits: within a small factor of minimax, and reproducible.
Needs mpmath. For each polynomial the largest error is printed relative to the whole function that it is a part of.
"""

from mpmath import mp, mpf, cos, pi, exp, log, atanh, atan, sin, sinh, cosh, sqrt, erf, erfc, matrix, lu_solve, cbrt

mp.dps = 80


def fit(f, low, high, degree):
    n = degree + 1
    low, high = mpf(low), mpf(high)
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    a = matrix(n, n)
    for i, x in enumerate(nodes):
        for j in range(n):
            a[i, j] = x**j
    return list(lu_solve(a, matrix([f(x) for x in nodes])))


def value(c, x):
    p = mpf(0)
    for k in reversed(c):
        p = p * x + k
    return p


def report(name, f, low, high, degree, weight):
    """weight(x): what an error of the polynomial at x counts, relative to the function."""
    c = fit(f, low, high, degree)
    low, high = mpf(low), mpf(high)
    xs = [low + (high - low) * k / 400 + mpf(10) ** -12 for k in range(400)]
    worst = max(abs(value([mpf(float(k)) for k in c], x) - f(x)) * abs(weight(x)) for x in xs)
    print(f"/// Relative error {float(worst):.1e}.")
    print(f"const {name}: [f64; {len(c)}] = [{', '.join(repr(float(k)) for k in c)}];")
    if name == "TAIL_DOUBLE":
        print("/// What the first of these lacks.")
        print(f"const {name}_LOW: f64 = {float(c[0] - mpf(float(c[0])))!r};")


def pair(name, x):
    """A constant as sums of two f64 and of two f32."""
    h = float(x)
    print(f"// {name}: f64 {h!r} + {float(x - mpf(h))!r}")
    import struct

    def f32(v):
        return struct.unpack("f", struct.pack("f", float(v)))[0]

    h = f32(x)
    print(f"//   f32 {h!r} + {f32(x - mpf(h))!r}")


LN2 = log(2)
R = LN2 / 2 * mpf("1.0001")
for single, degree in ((1, 5), (0, 10)):
    name = "SINGLE" if single else "DOUBLE"
    tail = lambda r: (exp(r) - 1 - r) / r**2 if abs(r) > mpf(10) ** -25 else mpf(1) / 2
    report(f"EXP_{name}", tail, -R, R, degree, lambda r: r**2 / exp(r))
Z = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.0001")
for name, degree in (("SINGLE", 2), ("DOUBLE", 6)):
    f = lambda z: (atanh(sqrt(z)) / sqrt(z) - 1 - z / 3) * 2 / z**2 if z > mpf(10)**-30 else mpf(2) / 5
    report(f"LOG_{name}", f, mpf(10)**-20, Z, degree, lambda z: z**2 / 2)
Z = (pi / 4) ** 2 * mpf("1.0001")
for name, ds, dc in (("SINGLE", 3, 2), ("DOUBLE", 5, 5)):
    report(f"SIN_{name}", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, mpf(10)**-20, Z, ds, lambda z: z)
    report(f"COS_{name}", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, mpf(10)**-20, Z, dc, lambda z: z**2 / cos(sqrt(z)))
Z = R**2
for name, ds, dc in (("SINGLE", 2, 1), ("DOUBLE", 5, 4)):
    report(f"SINH_{name}", lambda z: (sinh(sqrt(z)) / sqrt(z) - 1) / z, mpf(10)**-20, Z, ds, lambda z: z)
    report(f"COSH_{name}", lambda z: (cosh(sqrt(z)) - 1 - z / 2) / z**2, mpf(10)**-20, Z, dc, lambda z: z**2)
Z = (sqrt(2) - 1) ** 2 * mpf("1.0001")
for name, d in (("SINGLE", 4), ("DOUBLE", 11)):
    report(f"ATAN_{name}", lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, mpf(10)**-20, Z, d, lambda z: z)
for name, d in (("SINGLE", 5), ("DOUBLE", 9)):
    f = lambda z: (erf(sqrt(z)) / sqrt(z) - 1)
    report(f"ERF_{name}", f, mpf(10)**-20, mpf("0.251"), d, lambda z: 1)
for name, d, top, k in (("SINGLE", 9, "11.1", 2), ("DOUBLE", 21, "28.1", 3)):
    t = lambda x: (x - k) / (x + k)
    f = lambda s: (1 + 2 * (k * (1 + s) / (1 - s))) * exp((k * (1 + s) / (1 - s)) ** 2) * erfc(k * (1 + s) / (1 - s))
    report(f"TAIL_{name}", f, t(mpf("0.499")), t(mpf(top)), d, lambda s: 1)
report("CBRT", lambda x: 1 / cbrt(x), 1, 8, 6, lambda x: cbrt(x))
pair("ln 2", LN2)
pair("1 / ln 2", 1 / LN2)
pair("1 / ln 10", 1 / log(10))
pair("ln 10", log(10))
pair("log10 2", log(2) / log(10))
pair("2/3", mpf(2) / 3)
pair("pi/2", pi / 2)
pair("2/sqrt pi", 2 / sqrt(pi))
pair("1/sqrt 2", 1 / sqrt(2))
pair("2 sqrt(2/pi)", 2 * sqrt(2 / pi))
pair("0.044715 * that", mpf("0.044715") * 2 * sqrt(2 / pi))
mp.dps = 420
words = int(2 / pi * mpf(2) ** (64 * 20))
print("// 2 / pi:", ", ".join(f"{(words >> (64 * (19 - i))) & (2**64 - 1):#018x}" for i in range(20)))
