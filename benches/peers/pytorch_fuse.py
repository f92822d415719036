#!/usr/bin/env python3
"""Times PyTorch, eager and compiled, on the cases of the suites `fuse` and `reduce`.

Writes peers-pytorch-fuse.json to $TILEWRIGHT_OUT (default: here), as pytorch.py beside it writes its own, with the same clock.
Operands rotate over more memory than the level-2 cache holds where the suite's do.
"""

import sys

import pytorch
from pytorch import add, attempt, check, device_us, graph_us, host_us, write

import torch
import torch.nn.functional as F

PAIRS = [(0.54, 0.54), (1 / 0.54, -1.0)]
L2_BYTES = 64 << 20
EAGER, COMPILED = "PyTorch eager", "torch.compile"


def pixels(*shape):
    return torch.randint(0, 256, shape, dtype=torch.uint8, device="cuda")


def pairs(x, n):
    x = x.float()
    for i in range(n):
        a, b = PAIRS[i % 2]
        x = x * a + b
    return x


def pairs_in_place(x, n):
    """As one writes it who knows about memory."""
    x = x.float()
    for i in range(n):
        a, b = PAIRS[i % 2]
        x.mul_(a).add_(b)
    return x


def rotating(make, size):
    """Enough sets of operands that the cache cannot hold them."""
    return [make() for _ in range(2 + L2_BYTES // size)]


def vertical(n, failed):
    xs = rotating(lambda: pixels(2160, 4096), 5 * 2160 * 4096)
    expected = pairs(xs[0][:8], n)

    def measure(name, function):
        check(name, function(xs[0])[:8], expected, 1e-4)
        add("fuse", f"vertical/{n}", "device_us", device_us(lambda i: function(xs[i % len(xs)]), 5), name)

    attempt(f"vertical/{n} eager", lambda: measure(f"{EAGER}, in place", lambda x: pairs_in_place(x, n)), failed)
    if n <= 50:
        compiled = torch.compile(lambda x: pairs(x, n), dynamic=False)
        attempt(f"vertical/{n} compiled", lambda: measure(COMPILED, compiled), failed)


def horizontal(count, failed):
    case = f"horizontal/{count}"
    xs = rotating(lambda: pixels(count, 120, 60), 5 * count * 7200)
    host = [[torch.rand(count, 1, 1).add(low).pin_memory() for low in (0.5, 1.0, 3.0)] for _ in range(8)]
    device = [[each.cuda() for each in given] for given in host]

    def batch(x, mul, sub, div):
        return (x.float() * mul - sub) / div

    def one_by_one(x, mul, sub, div):
        return [(x[i].float() * mul[i] - sub[i]) / div[i] for i in range(count)]

    expected = batch(xs[0], *device[0])

    def measure(name, function):
        check(name, function(xs[0], *device[0]), expected, 1e-5)

        def there(i):
            return function(xs[i % len(xs)], *device[i % 8])

        add("fuse", case, "device_us", device_us(there), name)
        add("fuse", case, "device_us_graph", graph_us(there), name)

        def changed(i):
            given = [each.cuda(non_blocking=True) for each in host[i % 8]]
            return function(xs[i % len(xs)], *given)

        add("fuse", case, "host_us", host_us(changed), name)

    def loop():
        name = f"{EAGER}, a picture at a time"
        check(name, torch.stack(one_by_one(xs[0], *device[0])), expected, 1e-5)
        add("fuse", case, "device_us", device_us(lambda i: one_by_one(xs[i % len(xs)], *device[i % 8]), 3), name)

    compiled = torch.compile(batch, dynamic=False)
    attempt(f"{case} eager", lambda: measure(f"{EAGER}, batched", batch), failed)
    attempt(f"{case} compiled", lambda: measure(f"{COMPILED}, batched", compiled), failed)
    attempt(f"{case} one by one", loop, failed)


def both(n, failed):
    x = pixels(50, 120, 60)

    def eager():
        check("both", pairs_in_place(x, n)[:1], pairs(x[:1], n), 1e-4)
        add("fuse", f"both/{n}", "device_us", device_us(lambda _: pairs_in_place(x, n), 3), f"{EAGER}, in place")

    attempt(f"both/{n}", eager, failed)


def frames(count, failed):
    case = f"frames4k/{count}"
    x = pixels(count, 2160, 3840, 3)
    colours = [torch.tensor(v, device="cuda").view(1, 3, 1, 1) for v in ([1 / 255] * 3, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]

    def at_once(x):
        planes = F.interpolate(x.permute(0, 3, 1, 2).float(), size=(224, 224), mode="bilinear", align_corners=False)
        mul, sub, div = colours
        return (planes * mul - sub) / div

    expected = at_once(x[:1])

    def measure(name, function):
        check(name, function(x)[:1], expected, 1e-4)
        add("fuse", case, "device_us", device_us(lambda _: function(x), 5), name)

    attempt(f"{case} eager", lambda: measure(EAGER, at_once), failed)
    attempt(f"{case} compiled", lambda: measure(COMPILED, torch.compile(at_once, dynamic=False)), failed)


def half_crops(count, failed):
    """The main job as pytorch.py's fastest way has it, stored in halves."""
    case = f"crops_f16/{count}"
    frame = pixels(*pytorch.FRAME)
    places = [(torch.randint(0, 3840 - 60, (count,)), torch.randint(0, 2160 - 120, (count,))) for _ in range(8)]
    places = [(x.cuda(), y.cuda()) for x, y in places]
    rows = pytorch.taps(pytorch.BOX_HEIGHT, pytorch.CROP_HEIGHT, "cuda")
    columns = pytorch.taps(pytorch.BOX_WIDTH, pytorch.CROP_WIDTH, "cuda")
    colours = [torch.tensor(v, device="cuda").view(1, 3, 1, 1) for v in ([1 / 255] * 3, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]

    def at_once(x, y):
        return pytorch.crops_gather(frame, x, y, rows, columns, *colours).half()

    expected = pytorch.crops_loop(frame, [(int(x), int(y)) for x, y in zip(*places[0])], *colours)

    def measure(name, function):
        check(name, function(*places[0]), expected, 1e-3)
        add("fuse", case, "device_us", device_us(lambda i: function(*places[i % 8])), name)
        add("fuse", case, "device_us_graph", graph_us(lambda i: function(*places[i % 8])), name)

    attempt(f"{case} eager", lambda: measure(f"{EAGER}, gathers", at_once), failed)
    attempt(f"{case} compiled", lambda: measure(f"{COMPILED}, gathers", torch.compile(at_once, dynamic=False)), failed)


def frames_by_area(count, failed):
    case = f"frames4k_area/{count}"
    x = pixels(count, 2160, 3840, 3)
    colours = [torch.tensor(v, device="cuda").view(1, 3, 1, 1) for v in ([1 / 255] * 3, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]

    def share(size, out):
        """How much of each pixel belongs to each sample, as a matrix."""
        begin = torch.arange(out, device="cuda", dtype=torch.float32)[:, None] * (size / out)
        pixel = torch.arange(size, device="cuda", dtype=torch.float32)[None]
        covered = torch.minimum(begin + size / out, pixel + 1) - torch.maximum(begin, pixel)
        return covered.clamp(min=0) * (out / size)

    down, across = share(2160, 224), share(3840, 224)

    def exact(x):
        mul, sub, div = colours
        planes = torch.einsum("oh,nhwc,pw->ncop", down, x.float(), across)
        return (planes * mul - sub) / div

    def adaptive(x):
        """PyTorch's own: windows of whole pixels, so only nearly the same."""
        mul, sub, div = colours
        return (F.interpolate(x.permute(0, 3, 1, 2).float(), size=(224, 224), mode="area") * mul - sub) / div

    expected = exact(x[:1])

    def measure(name, function, tolerance):
        check(name, function(x)[:1], expected, tolerance)
        add("fuse", case, "device_us", device_us(lambda _: function(x), 5), name)

    attempt(f"{case} eager", lambda: measure(f"{EAGER}, mode area", adaptive, 0.2), failed)
    attempt(f"{case} matrices", lambda: measure(f"{EAGER}, two matrix products", exact, 1e-4), failed)


def video(failed):
    """NV12 to RGB by a matrix, chroma at half the resolution, then as a detector's input."""
    case = "nv12_1080p"
    sets = rotating(lambda: (pixels(1080, 1920), pixels(540, 960, 2)), 6 << 20)
    matrix = torch.tensor([[1.1644, 0.0, 1.7927], [1.1644, -0.2132, -0.5329], [1.1644, 2.1124, 0.0]], device="cuda")
    offset = torch.tensor([16.0, 128.0, 128.0], device="cuda").view(1, 3, 1, 1)
    colours = [torch.tensor(v, device="cuda").view(1, 3, 1, 1) for v in ([1 / 255] * 3, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]

    def prepared(luma, chroma):
        mul, sub, div = colours
        y = luma.float()[None, None]
        uv = F.interpolate(chroma.permute(2, 0, 1)[None].float(), size=(1080, 1920), mode="bilinear", align_corners=False)
        rgb = torch.einsum("rc,nchw->nrhw", matrix, torch.cat([y, uv], 1) - offset)
        small = F.interpolate(rgb, size=(640, 640), mode="bilinear", align_corners=False)
        return ((small * mul - sub) / div).half()

    expected = prepared(*sets[0])

    def measure(name, function):
        check(name, function(*sets[0]), expected, 1e-2)
        add("fuse", case, "device_us", device_us(lambda i: function(*sets[i % len(sets)])), name)
        add("fuse", case, "device_us_graph", graph_us(lambda i: function(*sets[i % len(sets)])), name)

    attempt(f"{case} eager", lambda: measure(EAGER, prepared), failed)
    attempt(f"{case} compiled", lambda: measure(COMPILED, torch.compile(prepared, dynamic=False)), failed)


def transposed(n, failed):
    x = torch.rand(n, n, device="cuda")
    double = lambda x: (x * 2).t().contiguous()

    def measure(name, function):
        check(name, function(x), double(x), 0)
        add("fuse", f"transposed/{n}", "device_us", device_us(lambda _: function(x), 9), name)

    attempt(f"transposed/{n} eager", lambda: measure(EAGER, double), failed)
    attempt(f"transposed/{n} compiled", lambda: measure(COMPILED, torch.compile(double, dynamic=False)), failed)


# Reductions and their kin.


def timed(case, function, reference, operands, tolerance, failed, compile_too=True):
    """A function of one operand, over sets that rotate; `reference` gives the first rows of its result in double precision."""

    def measure(name, call):
        expected = torch.atleast_1d(reference(operands[0]))
        check(name, torch.atleast_1d(call(operands[0]))[: len(expected)], expected, tolerance)

        def rotated(i):
            return call(operands[i % len(operands)])

        add("reduce", case, "device_us", device_us(rotated, 9), name)
        add("reduce", case, "device_us_graph", graph_us(rotated), name)

    attempt(f"reduce/{case} eager", lambda: measure(EAGER, function), failed)
    if compile_too:
        attempt(f"reduce/{case} compiled", lambda: measure(COMPILED, torch.compile(function, dynamic=False)), failed)


def reductions(failed):
    for exponent in (28, 24, 16):
        size = 4 << exponent
        sets = rotating(lambda: torch.rand(1 << exponent, device="cuda"), size)
        timed(f"sum/2^{exponent}", torch.sum, lambda x: x.double().sum(), sets, 1e-5, failed)
    rows = torch.randn(8192, 32768, device="cuda")
    by_row = lambda x: torch.softmax(x, 1)
    timed("softmax/8192x32768", by_row, lambda x: torch.softmax(x[:64].double(), 1), [rows], 1e-5, failed)
    del rows
    for height, width in ((4096, 16384), (1, 1 << 26)):
        name = f"cumsum/{height}x{width}" if height > 1 else "cumsum/1x2^26"
        sets = [torch.rand(height, width, device="cuda")]
        timed(name, lambda x: torch.cumsum(x, 1), lambda x: torch.cumsum(x[:64].double(), 1), sets, 1e-3, failed, False)
    half = [torch.randn(16384, 1024, device="cuda", dtype=torch.float16) for _ in range(3)]
    weight, bias = torch.rand(1024, device="cuda").half(), torch.rand(1024, device="cuda").half()
    normalise = lambda x: F.layer_norm(x, (1024,), weight, bias)
    timed("layernorm/16384x1024", normalise, lambda x: F.layer_norm(x.double(), (1024,), weight.double(), bias.double()), half, 2e-3, failed)
    narrow = rotating(lambda: torch.rand(1 << 20, 32, device="cuda"), 128 << 20)
    timed("rowsum/2^20x32", lambda x: x.sum(1), lambda x: x.double().sum(1), narrow, 1e-5, failed)
    bytes_of = [pixels(8, 2160, 3840) for _ in range(2)]
    shift = torch.arange(8, device="cuda").view(8, 1, 1) * 256

    def counts(x):
        """All pictures at once: each has 256 bins of its own."""
        return torch.bincount((x + shift).flatten(), minlength=2048).view(8, 256)

    timed("histogram/8x4k", counts, lambda x: torch.stack([(x[:1] == v).sum((1, 2)) for v in range(256)], 1), bytes_of, 0, failed, False)
    tap = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0], device="cuda") / 16
    full, down, across = torch.outer(tap, tap).view(1, 1, 5, 5), tap.view(1, 1, 5, 1), tap.view(1, 1, 1, 5)
    pictures = rotating(lambda: torch.rand(1, 1, 2160, 3840, device="cuda"), 8 * 2160 * 3840)
    exact = lambda x: F.conv2d(F.pad(x, (2, 2, 2, 2), mode="replicate").double(), full.double())
    timed("gauss5/4k", lambda x: F.conv2d(F.pad(x, (2, 2, 2, 2), mode="replicate"), full), exact, pictures, 1e-4, failed, False)

    def separable():
        blur = lambda x: F.conv2d(F.conv2d(F.pad(x, (2, 2, 2, 2), mode="replicate"), down), across)
        check("the separable filter", blur(pictures[0]), exact(pictures[0]), 1e-4)
        add("reduce", "gauss5/4k", "device_us", device_us(lambda i: blur(pictures[i % len(pictures)]), 9), f"{EAGER}, separable")

    attempt("reduce/gauss5 separable", separable, failed)


def main():
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 0
    torch.manual_seed(9)
    pytorch.BUDGET_S = 120.0
    torch.backends.cudnn.allow_tf32 = False
    failed = []
    # What matters most comes first: the budget of time ends it.
    attempt("reductions", lambda: reductions(failed), failed)
    torch.cuda.empty_cache()
    for count in (50, 600):
        attempt(f"horizontal/{count}", lambda: horizontal(count, failed), failed)
    for n in (1, 50, 500):
        attempt(f"vertical/{n}", lambda: vertical(n, failed), failed)
    transposed(8192, failed)
    attempt("crops_f16/150", lambda: half_crops(150, failed), failed)
    attempt("nv12_1080p", lambda: video(failed), failed)
    attempt("frames4k/32", lambda: frames(32, failed), failed)
    torch.cuda.empty_cache()
    attempt("frames4k_area/32", lambda: frames_by_area(32, failed), failed)
    torch.cuda.empty_cache()
    for n in (100, 10000):
        both(n, failed)
    return write("peers-pytorch-fuse.json", failed)


if __name__ == "__main__":
    with torch.no_grad():
        sys.exit(main())
