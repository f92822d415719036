"""Golden values of the f64 functions, by mpmath: `python3 functions.py [arguments a function] > functions.txt`.

A section per function: `name`, then a line per argument: the bits of the argument (two for functions of two), the bits of
the nearest f64 of the value, and what the value is above that, in units of that f64's last place.
"""

import random
import struct
import sys

from mpmath import mp, mpf
import mpmath as m

mp.prec = 1400
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 120
random.seed(5)
INF = float("inf")
MAX = sys.float_info.max
MIN = sys.float_info.min


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def of_bits(b):
    return struct.unpack("<d", struct.pack("<Q", b))[0]


def near(x, n=2):
    """Neighbours of x."""
    return [of_bits(bits(x) + k) for k in range(-n, n + 1)]


def any_bits():
    while True:
        x = of_bits(random.getrandbits(64))
        if x == x and abs(x) != INF:
            return x


def uniform(a, b):
    return lambda: random.uniform(a, b)


def powers(a, b, sign=True):
    return lambda: random.uniform(1, 2) * 2.0 ** random.randint(a, b) * (random.choice([1, -1]) if sign else 1)


def quarter_turns():
    """Close to a multiple of pi/2: its nearest f64, or a numerator of a continued fraction, which is closest of its size."""
    if random.random() < 0.3:
        return float(random.randint(1, 2 ** random.randint(1, 50)) * m.pi / 2)
    e = random.randint(-30, 970)
    rest, before, now = mpf(2) ** e * 2 / m.pi, 0, 1
    while True:
        whole = int(m.floor(rest))
        if before and before * whole + now >= 2**53:
            return before * 2.0**e
        before, now = (before * whole + now, before) if before else (1, 0)
        rest = 1 / (rest - whole)


def around_one():
    return 1 + random.uniform(-1, 1) * 2.0 ** random.randint(-50, -1)


def logistic(x):
    return 1 / (1 + m.exp(-x))


def softplus(x):
    return m.log1p(m.exp(x)) if x > -3000 else m.exp(x)


def gelu_tanh(x):
    return x * logistic(2 * m.sqrt(2 / m.pi) * (x + mpf("0.044715") * x**3))


EDGES = [MIN, MIN / 2, 5e-324, -5e-324, 0.5, 1.0, -1.0, 2.0, 10.0, 1e-20, -1e-20, 3.0, -0.75]
# The worst known case of a double near a multiple of pi/2, and large arguments.
CIRCLE = [6381956970095103.0 * 2.0**797, 1e22, MAX, 2.0**22, 4194303.9999999995, 4194304.000000001, 1e300, 3.141592653589793,
          1.5707963267948966, 355.0, 4.71238898038469]
ONE = {
    "exp": (m.exp, [uniform(-745, 710), powers(-60, 8)], near(709.782712893384)[:3] + [-745.13, -708.4, -744.4]),
    "exp2": (lambda x: mpf(2) ** x, [uniform(-1075, 1024), powers(-60, 8)], [1023.9999999999999, -1074.0, -1074.4, -1022.5, 512.0]),
    "exp10": (lambda x: mpf(10) ** x, [uniform(-324, 308.2), powers(-60, 7)], [308.25471555991669, 22.0, -22.0, 5.0, -323.0, -310.3]),
    "exp_m1": (m.expm1, [uniform(-45, 709), uniform(-2, 2), powers(-70, 5)], [0.34657359027997264, -0.34657359027997264, 709.78]),
    "ln": (m.log, [lambda: abs(any_bits()), around_one, powers(-5, 5, False)], near(1.0) + near(0.7071067811865476) + [MAX]),
    "log2": (lambda x: m.log(x) / m.log(2), [lambda: abs(any_bits()), around_one, powers(-5, 5, False)], near(1.0) + [MAX, 8.0]),
    "log10": (m.log10, [lambda: abs(any_bits()), around_one, powers(-5, 5, False)], near(1.0) + [MAX, 1000.0, 1e22]),
    "ln_1p": (m.log1p, [uniform(-1, 3), powers(-70, 1023, False), lambda: around_one() - 1], [-0.9999999999999999, MAX, -0.5]),
    "cbrt": (lambda x: m.cbrt(x) if x >= 0 else -m.cbrt(-x), [any_bits, powers(-4, 4)], [8.0, -27.0, 1e-300, MAX]),
    "sin": (m.sin, [uniform(-10, 10), powers(-40, 24), any_bits, quarter_turns], CIRCLE),
    "cos": (m.cos, [uniform(-10, 10), powers(-40, 24), any_bits, quarter_turns], CIRCLE),
    "tan": (m.tan, [uniform(-10, 10), powers(-40, 24), any_bits, quarter_turns], CIRCLE),
    "asin": (m.asin, [uniform(-1, 1), powers(-40, -1), lambda: 1 - 2.0 ** random.uniform(-52, -1)], [0.9999999999999999]),
    "acos": (m.acos, [uniform(-1, 1), powers(-40, -1), lambda: 1 - 2.0 ** random.uniform(-52, -1)], [0.9999999999999999]),
    "atan": (m.atan, [uniform(-5, 5), powers(-60, 60), any_bits], [0.41421356237309503, 2.414213562373095, MAX]),
    "sinh": (m.sinh, [uniform(-710, 710), powers(-40, 4)], [710.4758600739439, -0.34657359027997264, 0.3465735902799727]),
    "cosh": (m.cosh, [uniform(-710, 710), powers(-40, 4)], [710.4758600739439, -0.34657359027997264, 0.3465735902799727]),
    "tanh": (m.tanh, [uniform(-25, 25), powers(-40, 4)], [19.06, 22.0, 30.0, 700.0, 0.3465735902799727]),
    "asinh": (m.asinh, [uniform(-5, 5), powers(-60, 60), any_bits], [MAX, 2.0**-28, 2.0**30]),
    "acosh": (m.acosh, [uniform(1, 5), powers(1, 1023, False), lambda: 1 + 2.0 ** random.uniform(-50, 1)], [MAX, 1.0000000000000002]),
    "atanh": (m.atanh, [uniform(-1, 1), powers(-60, -1), lambda: 1 - 2.0 ** random.uniform(-52, -1)], [0.9999999999999999]),
    "sigmoid": (logistic, [uniform(-745, 40), powers(-40, 5)], [-708.3, -744.0, 37.0]),
    "softplus": (softplus, [uniform(-744, 800), powers(-40, 5), uniform(-60, 60)], [-36.7, 36.7, -744.0]),
    "silu": (lambda x: x * logistic(x), [uniform(-745, 40), powers(-40, 5)], [-708.3, -744.0, 37.0]),
    "erf": (m.erf, [uniform(-6, 6), powers(-40, 2), uniform(-1, 1)], [0.4999999999999999, 5.93]),
    "erfc": (m.erfc, [uniform(-6, 27), powers(-40, 4), uniform(-1, 1)], [0.4999999999999999, 26.5, 27.2, -5.9]),
    "gelu": (lambda x: x * m.erfc(-x / m.sqrt(2)) / 2, [uniform(-38, 9), powers(-40, 3), uniform(-2, 2)], [0.7071067811865475, -37.5]),
    "gelu_tanh": (gelu_tanh, [uniform(-21, 9), powers(-40, 3), uniform(-2, 2)], [-21.4]),
}


def power_case():
    kind = random.randrange(5)
    if kind == 0:
        return random.uniform(0, 100), random.uniform(-150, 150)
    if kind == 1:  # near the ends of the range
        x = abs(any_bits())
        y = random.uniform(-1075, 1024) / float(m.log(x) / m.log(2)) if x != 1 else 3.0
        return x, y
    if kind == 2:  # a base near 1 and a large exponent
        x = around_one()
        return x, random.uniform(-740, 709) / float(m.log(x)) if x != 1 else 1e10
    if kind == 3:
        return -float(random.randint(1, 50)), float(random.randint(-100, 100))
    return powers(-40, 40, False)(), random.choice([0.5, 2.0, 3.0, -1.0, 1 / 3, -0.5, 10.0, 7.25])


def side():
    e = random.randint(-1074, 1022)
    a = random.uniform(1, 2) * 2.0 ** max(e, -1022) * 2.0 ** min(0, e + 1022)
    return a, a * random.uniform(0.5, 2) * 2.0 ** random.choice([0, 0, random.randint(-30, 0), random.randint(-60, 0)])


def point():
    a, b = side()
    a, b = random.choice([(a, b), (b, a)])
    return random.choice([-1, 1]) * a, random.choice([-1, 1]) * b


def angle(y, x):
    return m.atan2(y, x)


TWO = {
    "pow": (lambda x, y: mpf(x) ** mpf(y), power_case, [(2.0, -1074.0), (2.0, 1023.5), (10.0, 308.0), (0.5, 1074.0), (5e-324, 0.25)]),
    "hypot": (lambda x, y: m.sqrt(mpf(x) ** 2 + mpf(y) ** 2), point, [(3.0, 4.0), (5e-324, 5e-324), (MAX, 1.0), (1e-310, 3e-312)]),
    "atan2": (angle, point, [(1.0, -1.0), (MIN, -MAX), (MAX, MAX), (5e-324, 1e-323), (-1.0, MAX), (1e308, 3e-308)]),
}


def line(args, value):
    if not isinstance(value, mpf):
        return None
    nearest = float(value)
    if abs(nearest) == INF:
        return None
    last = mpf(2) ** max(int(m.floor(m.log(abs(value), 2))) - 52, -1074) if value != 0 else mpf(2) ** -1074
    above = (value - mpf(nearest)) / last
    text = " ".join(f"{bits(a):016x}" for a in args)
    return f"{text} {bits(nearest):016x} {float(above):.3f}"


def legal(name, x):
    if name in ("ln", "log2", "log10"):
        return x > 0
    if name == "ln_1p":
        return x > -1
    if name in ("asin", "acos"):
        return abs(x) <= 1
    if name == "atanh":
        return abs(x) < 1
    if name == "acosh":
        return x >= 1
    return x != 0


for name, (f, draws, edges) in ONE.items():
    print(name)
    args = [x for x in EDGES + edges if legal(name, x)]
    while len(args) < COUNT:
        x = random.choice(draws)()
        if legal(name, x):
            args.append(x)
    for x in args:
        if name in ("exp", "exp2", "exp10", "exp_m1", "sinh", "cosh") and x > 1100:
            continue
        text = line([x], f(mpf(x)))
        if text:
            print(text)
for name, (f, draw, edges) in TWO.items():
    print(name)
    for i in range(COUNT):
        x, y = edges[i] if i < len(edges) else draw()
        # mpmath has no negative zero.
        text = line([x, y], f(mpf(x), mpf(y))) if x != 0 and y != 0 else None
        if text:
            print(text)
