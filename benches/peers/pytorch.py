#!/usr/bin/env python3
"""Times PyTorch, eager and compiled, on the cases of the device benchmark.

Writes peers.json to $TILEWRIGHT_OUT (default: here): rows {suite, case, metric, value, peer, device}. Each way of writing a
case is checked against another before it is timed; a case that fails is named, and the others go on.
"""

import json
import os
import random
import statistics
import sys
import time
from pathlib import Path

# A cache of earlier runs would make the first call look cheaper than it is. Read when torch is imported.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

FRAME = (2160, 3840, 3)
BOX_WIDTH, BOX_HEIGHT = 60, 120
CROP_HEIGHT, CROP_WIDTH = 128, 64
CHAIN = [(1.25, 0.5), (0.75, -0.25), (1.5, 0.125), (0.625, 0.75), (1.125, -0.5)]
CHAIN += [(0.875, 0.375), (1.375, -0.625), (0.8125, 0.25), (1.0625, -0.375), (0.9375, 0.875)]
BUDGET_S = 50.0
BURST = 64
SETS = 16

BEGIN = time.perf_counter()
ROWS = []


# The clock: medians, device time between events, host time in bursts that do not fill the launch queue.


def once_us(call):
    """About how long one call takes, host and device together."""
    for i in range(3):
        call(i)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for i in range(3):
        call(i)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / 3 * 1e6


def device_us(call, repeats=15):
    """Device time of a call among many back to back."""
    count = max(2, min(256, int(20_000 / once_us(call))))
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for i in range(count):
            call(i)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / count)
    return statistics.median(times)


def graph_us(call):
    """Device time of a call whose work was captured into a graph, the graph replayed."""
    count = max(1, min(16, int(5_000 / once_us(call))))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call(0)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(count):
            call(i)
    return device_us(lambda _: graph.replay()) / count


def host_us(call):
    """Host time of a call."""
    burst = max(2, min(BURST, int(20_000 / once_us(call))))
    times = []
    begin_all = time.perf_counter()
    while len(times) < 9 or (len(times) < 101 and time.perf_counter() - begin_all < 0.5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for i in range(burst):
            call(i)
        times.append((time.perf_counter() - begin) / burst * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times)


def add(suite, case, metric, value, peer):
    row = {"suite": suite, "case": case, "metric": metric, "value": value, "peer": peer}
    ROWS.append(row | {"device": torch.cuda.get_device_name()})
    print(f"{suite + '/' + case:24} {metric:18} {value:12.2f}  {peer}", flush=True)


def attempt(name, work, failed):
    """Runs a case; what goes wrong in it does not cost the others."""
    if time.perf_counter() - BEGIN > BUDGET_S:
        failed.append(f"{name}: left out, {BUDGET_S:.0f} s are over")
        return None
    try:
        return work()
    except Exception as error:  # whatever it is, it goes into the list
        failed.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
        torch.cuda.synchronize()
        return None


def check(name, got, expected, tolerance):
    """Relative error in the norm; NaN never passes."""
    error = (torch.linalg.vector_norm(got.double() - expected.double()) / torch.linalg.vector_norm(expected.double())).item()
    if not error <= tolerance:
        raise AssertionError(f"{name} differs: relative error {error:.2e}, at most {tolerance:.0e}")


# The main job, in two ways.


def crops_loop(frame, boxes, mul, sub, div):
    """One crop after another, as one writes it first. `boxes` is a list of (x, y) on the host."""
    crops = []
    for x, y in boxes:
        crop = frame[y : y + BOX_HEIGHT, x : x + BOX_WIDTH].permute(2, 0, 1).unsqueeze(0).float()
        crops.append(F.interpolate(crop, size=(CROP_HEIGHT, CROP_WIDTH), mode="bilinear", align_corners=False))
    return (torch.cat(crops).flip(1) * mul - sub) / div


def taps(size, out, device):
    """Both neighbours of each output, and the second one's weight; pixel centres at halves."""
    at = ((torch.arange(out, device=device, dtype=torch.float32) + 0.5) * (size / out) - 0.5).clamp(min=0.0)
    low = at.floor().long().clamp(max=size - 1)
    return low, (low + 1).clamp(max=size - 1), at - low


def crops_gather(frame, x, y, rows, columns, mul, sub, div):
    """All crops at once: four gathers of pixels and their weights. `x`, `y` are (N,) on the device."""
    (top, bottom, down), (left, right, along) = rows, columns
    top, bottom = (y[:, None] + top)[:, :, None], (y[:, None] + bottom)[:, :, None]
    left, right = (x[:, None] + left)[:, None, :], (x[:, None] + right)[:, None, :]
    along, down = along[None, None, :, None], down[None, :, None, None]
    upper = frame[top, left].float() * (1 - along) + frame[top, right].float() * along
    lower = frame[bottom, left].float() * (1 - along) + frame[bottom, right].float() * along
    pixels = (upper * (1 - down) + lower * down).flip(3).permute(0, 3, 1, 2).contiguous()
    return (pixels * mul - sub) / div


class Crops:
    """Data of the main job, the same for every number of boxes."""

    def __init__(self):
        self.frame = torch.randint(0, 256, FRAME, dtype=torch.uint8, device="cuda")
        colours = lambda *values: torch.tensor(values, device="cuda").view(1, 3, 1, 1)
        self.constants = (colours(*[1 / 255] * 3), colours(0.485, 0.456, 0.406), colours(0.229, 0.224, 0.225))
        self.rows = taps(BOX_HEIGHT, CROP_HEIGHT, "cuda")
        self.columns = taps(BOX_WIDTH, CROP_WIDTH, "cuda")
        # Marked dynamic once, so that one compilation serves every number of boxes.
        self.compiled = torch.compile(crops_gather, dynamic=True)

    def boxes(self, count, sets):
        """Sets of distinct places: on the host as a list, on the host as a tensor, on the device."""
        places = range((FRAME[0] - BOX_HEIGHT + 1) * (FRAME[1] - BOX_WIDTH + 1))
        width = FRAME[1] - BOX_WIDTH + 1
        lists = [[(p % width, p // width) for p in random.sample(places, count)] for _ in range(sets)]
        tensors = [torch.tensor(boxes).t().contiguous().pin_memory() for boxes in lists]
        return lists, tensors, [tensor.cuda() for tensor in tensors]

    def gather(self, function, boxes):
        return function(self.frame, boxes[0], boxes[1], self.rows, self.columns, *self.constants)

    def run(self, count, failed):
        case = str(count)
        sets = SETS if count <= 150 else 2
        lists, host, device = self.boxes(count, sets)

        def loop(i):
            return crops_loop(self.frame, lists[i % sets], *self.constants)

        def eager(i):
            return self.gather(crops_gather, device[i % sets])

        def compiled(i):
            return self.gather(self.compiled, device[i % sets])

        expected = eager(0)

        def one_by_one():
            check("one crop at a time", loop(0), expected, 1e-5)
            add("crops", case, "device_us", device_us(loop, 9), "PyTorch eager, one crop at a time")
            add("crops", case, "host_us", host_us(loop), "PyTorch eager, one crop at a time")

        def timed(name, call, function):
            check(name, call(0), expected, 1e-5)
            add("crops", case, "device_us", device_us(call), name)
            add("crops", case, "device_us_graph", graph_us(call), name)

            def changed(i):
                # Boxes that change on every call come from page-locked host memory.
                return self.gather(function, host[i % sets].cuda(non_blocking=True))

            add("crops", case, "host_us", host_us(changed), name)

        if count <= 150:
            attempt(f"crops/{case} one by one", one_by_one, failed)
        attempt(f"crops/{case} eager", lambda: timed("PyTorch eager, gathers", eager, crops_gather), failed)
        attempt(f"crops/{case} compiled", lambda: timed("torch.compile, gathers", compiled, self.compiled), failed)

    def first_call(self):
        """The first call of the compiled pipeline: what jit/cold is about."""
        _, _, device = self.boxes(50, 1)
        x = self.gather(crops_gather, device[0])
        torch.cuda.synchronize()
        begin = time.perf_counter()
        y = self.gather(self.compiled, device[0])
        torch.cuda.synchronize()
        add("jit", "cold", "ms", (time.perf_counter() - begin) * 1e3, "torch.compile, first call")
        check("the compiled pipeline", y, x, 1e-5)


# The chain, a small call.


def chain(x):
    for a, b in CHAIN:
        x = x * a + b
    return x


def chains(failed):
    x = torch.rand(1 << 26, device="cuda") * 2 - 1
    compiled = torch.compile(chain)

    def measure(name, function):
        # Compiled for this size and no other: a second size would make it compile for any.
        check(name, function(x)[: 1 << 20], chain(x[: 1 << 20].double()), 1e-5)
        add("chain", "20", "device_us", device_us(lambda _: function(x)), name)

    attempt("chain/20 eager", lambda: measure("PyTorch eager", chain), failed)
    attempt("chain/20 compiled", lambda: measure("torch.compile", compiled), failed)


def small(failed):
    x, y = torch.rand(1024, device="cuda"), torch.rand(1024, device="cuda")
    compiled = torch.compile(lambda x, y: x * 2.5 + y)

    def eager():
        add("eager", "axpy", "eager_host_us", host_us(lambda _: x * 2.5 + y), "PyTorch eager, two operations")
        add("empty", "64", "host_us", host_us(lambda _: torch.neg(x, out=y)), "PyTorch eager, one operation")

    def fused():
        check("the compiled axpy", compiled(x, y), x * 2.5 + y, 1e-6)
        add("eager", "axpy", "call_host_us", host_us(lambda _: compiled(x, y)), "torch.compile")

    attempt("eager/axpy eager", eager, failed)
    attempt("eager/axpy compiled", fused, failed)


def copies():
    for exponent in (26, 29):
        source = torch.rand(1 << exponent, device="cuda")
        target = torch.empty_like(source)
        add("copy", f"2^{exponent}", "device_us", device_us(lambda _: target.copy_(source), 9), "PyTorch copy_")


def write(name, failed):
    """Writes the rows, names what failed, and gives the exit code: the other cases stand."""
    file = Path(os.environ.get("TILEWRIGHT_OUT") or ".") / name
    file.write_text("[\n" + ",\n".join(json.dumps(row) for row in ROWS) + "\n]\n")
    for failure in failed:
        print(f"failed: {failure}")
    print(f"{len(ROWS)} rows in {time.perf_counter() - BEGIN:.0f} s, {file}")
    return 0 if ROWS else 1


def main():
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 0
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    random.seed(7)
    torch.manual_seed(7)
    failed = []
    crops = attempt("crops", Crops, failed)
    if crops is not None:
        # First, while nothing has been compiled yet in this process.
        attempt("jit/cold", crops.first_call, failed)
    attempt("copy", copies, failed)
    attempt("chain/20", lambda: chains(failed), failed)
    attempt("eager/axpy", lambda: small(failed), failed)
    if crops is not None:
        for count in (50, 150, 10, 100, 10000):
            attempt(f"crops/{count}", lambda: crops.run(count, failed), failed)
    return write("peers.json", failed)


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
