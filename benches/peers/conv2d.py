#!/usr/bin/env python3
"""Times cuDNN, through PyTorch, on the convolutions of the suite `conv2d`, which conv2d.csv beside it lists.

Writes peers-conv2d.json to $TILEWRIGHT_OUT (default: here), as pytorch.py beside it writes its own. Channels last, f32
through tf32, cudnn.benchmark on: the first call of a pass looks for the fastest kernel. A time is the median of runs between two events around one
pass; before each run, outside of them, 128 MB of other memory are read, so that the level-2 cache has none of the operands, and nothing that
still has to be written. Cases of the set `batch` are timed once more with the input written right before, as the layer before leaves it; those of
the set `table` back to back, with operands that rotate over more than that cache holds. Texts, if any are given, choose cases whose names contain one
of them.
"""

import csv
import itertools
import statistics
import sys
from pathlib import Path

import pytorch
from pytorch import add, attempt, check, write

import torch

PASSES = ("forward", "grad_input", "grad_weight")
PEER = "PyTorch, cuDNN"
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32}
FLUSH_BYTES = 128 << 20
# Long enough for the host to queue a run: about 0.15 ms at 1.98 GHz.
SPIN_CYCLES = 300_000
MOST_RUNS, LEAST_RUNS = 15, 5
# Device time that the runs of one figure may take.
RUNS_US = 30_000
# Calls back to back between two events, how often, and what rotates among them.
CALLS, TURNS, SETS = 24, 5, 3


class Convolution:
    """Operands of a case, and its passes."""

    def __init__(self, row):
        n, h, w, c = (int(row[name]) for name in ("images", "height", "width", "channels"))
        width = int(row["group_width"])
        kernel = (int(row["kernel_rows"]), int(row["kernel_columns"]))
        self.padding, self.groups = [int(row["padding"])] * 2, c // width
        self.stride, self.dilation = [int(row["stride"])] * 2, [int(row["dilation"])] * 2
        dtype = DTYPES[row["precision"]]
        self.x = uniform(dtype, n, c, h, w)
        self.w = uniform(dtype, c, width, *kernel)
        self.bias = torch.rand(c, device="cuda", dtype=dtype) if row["bias"] == "1" else None
        # A first run says how large the result is.
        self.dy = None
        self.dy = uniform(dtype, *self.run("forward").shape)

    def run(self, name, x=None, w=None, dy=None):
        """A pass, of other operands where they are given."""
        x, w, dy = (self.x if x is None else x, self.w if w is None else w, self.dy if dy is None else dy)
        place = (self.stride, self.padding, self.dilation, False, [0, 0], self.groups)
        if name == "forward":
            bias = None if self.bias is None else self.bias.to(x.dtype)
            return torch.ops.aten.convolution(x, w, bias, *place)
        mask = [name == "grad_input", name == "grad_weight", False]
        grads = torch.ops.aten.convolution_backward(dy, x, w, None, *place, mask)
        return grads[mask.index(True)]

    def check(self, name):
        """The pass of one image against the same in f32."""
        x, dy = self.x[:1], self.dy[:1]
        with torch.backends.cudnn.flags(enabled=True, benchmark=False, allow_tf32=False):
            got = self.run(name, x=x, dy=dy)
            expected = self.run(name, x=x.float(), w=self.w.float(), dy=dy.float())
        check(name, got, expected, 3e-2 if x.dtype == torch.bfloat16 else 1e-2)


def uniform(dtype, *sizes):
    values = torch.rand(*sizes, device="cuda", dtype=dtype) - 0.5
    return values.contiguous(memory_format=torch.channels_last)


def device_us(call, before):
    """Median device time of one call, each after `before`, which is not timed."""
    call()
    torch.cuda.synchronize()
    times, total = [], 0.0
    while len(times) < LEAST_RUNS or (len(times) < MOST_RUNS and total < RUNS_US):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(SPIN_CYCLES)
        before()
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
        total += times[-1]
    return statistics.median(times)


def rotating_us(convolution, name):
    """Median device time of calls back to back, each with the operands that were used longest ago."""
    names = ("x", "w", "dy")
    copies = [{of: getattr(convolution, of).clone(memory_format=torch.preserve_format) for of in names} for _ in range(SETS)]
    operands = itertools.cycle(copies)
    for _ in copies:
        convolution.run(name, **next(operands))
    times = []
    for _ in range(TURNS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(10 * SPIN_CYCLES)
        begin.record()
        for _ in range(CALLS):
            convolution.run(name, **next(operands))
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / CALLS)
    return statistics.median(times)


def measure(row, flushed, failed):
    case, sets = row["case"], row["sets"].split()
    convolution = attempt(f"conv2d/{case}", lambda: Convolution(row), failed)
    if convolution is None:
        return

    def one(name):
        convolution.check(name)
        call = lambda: convolution.run(name)
        add("conv2d", case, f"{name}_device_us", device_us(call, flushed.sum), PEER)
        if "table" in sets:
            add("conv2d", case, f"{name}_device_us_rotating", rotating_us(convolution, name), PEER)
        if name == "forward" and "batch" in sets:
            source = convolution.x.clone(memory_format=torch.preserve_format)

            def left_by_the_layer_before():
                flushed.sum()
                convolution.x.copy_(source)

            add("conv2d", case, "forward_left_device_us", device_us(call, left_by_the_layer_before), PEER)

    for name in PASSES:
        attempt(f"conv2d/{case} {name}", lambda: one(name), failed)


def main():
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 0
    torch.manual_seed(11)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = True
    pytorch.BUDGET_S = 110.0
    print(f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, {torch.cuda.get_device_name()}")
    lines = Path(__file__).with_name("conv2d.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    flushed, failed = torch.zeros(FLUSH_BYTES // 4, dtype=torch.float32, device="cuda"), []
    for row in rows:
        if any(text in row["case"] for text in sys.argv[1:] or [""]):
            measure(row, flushed, failed)
    return write("peers-conv2d.json", failed)


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
