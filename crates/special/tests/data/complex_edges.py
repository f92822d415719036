"""Prints what NumPy's complex functions are at zeros, ones, infinities and NaN, less the rows whose signs C leaves open."""

import itertools
import struct
import numpy as np

np.seterr(all="ignore")
INF, NAN = float("inf"), float("nan")
ENDS = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]
FUNCTIONS = {
    "exp": np.exp, "ln": np.log, "sqrt": np.sqrt, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}
OPEN = {"exp": lambda x, y: x == -INF, "sinh": lambda x, y: abs(x) == INF, "sin": lambda x, y: abs(y) == INF,
        "tanh": lambda x, y: abs(x) == INF, "tan": lambda x, y: abs(y) == INF, "cosh": lambda x, y: x == 0 or y == 0,
        "cos": lambda x, y: x == 0 or y == 0, "atan": lambda x, y: abs(x) == INF}


def bits(v):
    return struct.pack(">d", v).hex().rstrip("0") or "0"


print("# Real and imaginary part, of the argument and of the value, in the format of grid.txt; printed by complex_edges.py.")
for name, f in FUNCTIONS.items():
    print(f"= complex_{name}")
    for x, y in itertools.product(ENDS, ENDS):
        unbounded = not (np.isfinite(x) and np.isfinite(y)) and not (abs(x) == 1 or abs(y) == 1)
        if unbounded and name in OPEN and OPEN[name](x, y):
            continue
        w = f(np.array([complex(x, y)]))[0]
        print(bits(x), bits(y), bits(w.real), bits(w.imag))
