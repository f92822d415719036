#!/usr/bin/env python3
"""Times PyTorch's special functions on the cases of the suite `special`.

Writes peers-pytorch-special.json to $TILEWRIGHT_OUT (default: here), as pytorch.py beside it writes its own, with the same clock.
Operands rotate over more memory than the level-2 cache holds.
"""

import statistics
import sys
import time

import pytorch
from pytorch import add, attempt, device_us, graph_us, write

import torch

COUNT = 1 << 24
L2_BYTES = 64 << 20
PATTERNS = {
    "none": range(10, 29, 2),
    "row": (20, 26),
    "column": (20, 26),
    "scalar": (20, 26),
    "transposed": (20, 26),
}
UNARY = {
    "digamma": torch.special.digamma,
    "lgamma": torch.special.gammaln,
    "i0": torch.special.i0,
    "i1": torch.special.i1,
    "ndtri": lambda x: torch.special.ndtri(x),
    "erfcx": torch.special.erfcx,
    "bessel_j0": torch.special.bessel_j0,
}


def uniform(count):
    return torch.rand(count, device="cuda") * 9.9 + 0.1


def timed(case, call, sets):
    add("special", case, "device_us", device_us(lambda i: call(*sets[i % len(sets)]), 9), "PyTorch eager")


def binary(pattern, exponent):
    columns = 1 << exponent // 2
    rows = (1 << exponent) // columns
    right = {"none": (rows, columns), "row": (columns,), "column": (rows, 1), "scalar": (), "transposed": (columns, rows)}[pattern]

    def operands():
        b = torch.rand(right, device="cuda")
        b = b.t() if pattern == "transposed" else b
        a = torch.rand(rows, columns, device="cuda")
        return a, b, torch.empty_like(a)

    sets = [operands() for _ in range(min(16, 2 + L2_BYTES // (12 << exponent)))]

    def call(i):
        a, b, result = sets[i % len(sets)]
        torch.add(a, b, out=result)

    case = f"add/{pattern}/2^{exponent}"
    add("special", case, "device_us", device_us(call, 9), "PyTorch eager")
    add("special", case, "device_us_graph", graph_us(call), "PyTorch eager")


def scipy_digamma():
    """On one core of the CPU, as everything of SciPy's that is no linear algebra."""
    try:
        import numpy
        from scipy import special
    except ImportError:
        print("SKIP cpu/digamma: no SciPy")
        return
    x = (numpy.random.default_rng(9).random(COUNT) * 9.9 + 0.1).astype(numpy.float32)
    y = numpy.empty_like(x)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        special.digamma(x, out=y)
        times.append((time.perf_counter() - begin) * 1e3)
    add("cpu", "digamma", "one_core_ms", statistics.median(times), "SciPy")


def main():
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 0
    torch.manual_seed(9)
    pytorch.BUDGET_S = 60.0
    failed = []
    several = 2 + L2_BYTES // (8 * COUNT)
    for name, call in UNARY.items():
        sets = [(uniform(COUNT) / (11 if name == "ndtri" else 1),) for _ in range(several)]
        attempt(f"special/{name}", lambda: timed(f"{name}/2^24", call, sets), failed)
    sets = [(x + 1.5, x) for x in (uniform(COUNT) for _ in range(several))]
    attempt("special/zeta", lambda: timed("zeta/2^24", torch.special.zeta, sets), failed)
    for exponent in (24, 16):
        many = 2 + L2_BYTES // (24 << exponent)
        whole = lambda: torch.randint(0, 1 << 40, (1 << exponent,), dtype=torch.int64, device="cuda")
        sets = [(whole(), whole()) for _ in range(many)]
        attempt("special/gcd", lambda: timed(f"gcd/2^{exponent}", torch.gcd, sets), failed)
    for pattern, exponents in PATTERNS.items():
        for exponent in exponents:
            attempt(f"special/add/{pattern}", lambda: binary(pattern, exponent), failed)
    attempt("cpu/digamma", scipy_digamma, failed)
    return write("peers-pytorch-special.json", failed)


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
