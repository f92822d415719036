"""Writes opencv.txt beside this file: what OpenCV makes of small pictures, by the functions that tilewright_ops::opencv has.

    pip install opencv-python-headless numpy
    python opencv.py

Each array is a line of its name, type and extents, and a line of its values. Places of maps and warps are multiples of 1/32 of a
pixel, to which OpenCV rounds places. OpenCV 4.14 writes the same but for the last bits of floats in warps and weighted sums.
"""

import pathlib

import cv2
import numpy as np

random = np.random.RandomState(29)
lines = [f"# OpenCV {cv2.__version__}, by opencv.py"]


def write(name, values):
    values = np.asarray(values)
    kind = {"uint8": "u8", "uint16": "u16", "int16": "i16", "int32": "i32", "float32": "f32", "float64": "f64"}[str(values.dtype)]
    lines.append(" ".join([name, kind, *map(str, values.shape)]))
    digits = {"f32": 9, "f64": 17}.get(kind, 5)
    lines.append(" ".join(f"{v:.{digits}g}" for v in values.ravel()))


bytes_ = random.randint(0, 256, (6, 7, 3)).astype(np.uint8)
others = random.randint(0, 256, (6, 7, 3)).astype(np.uint8)
bytes_[2, 3:6], others[2, 2:5], others[5, 1] = 255, 0, 255
floats = (random.rand(6, 7, 3) * 400 - 100).astype(np.float32)
divisors = (random.rand(6, 7, 3) * 9 - 4).astype(np.float32)
unit = random.rand(6, 7, 3).astype(np.float32)
deep = random.randint(0, 65536, (6, 7, 3)).astype(np.uint16)
gray, plane = bytes_[..., 1].copy(), floats[..., 1].copy()
for name, values in [("bytes", bytes_), ("others", others), ("floats", floats), ("divisors", divisors), ("unit", unit), ("deep", deep)]:
    write(name, values)
write("gray", gray)
write("plane", plane)

scalar = lambda *values: tuple(values) + (0,)
for kind, a, b in [("bytes", bytes_, others), ("floats", floats, divisors)]:
    write(f"add.{kind}", cv2.add(a, b))
    write(f"subtract.{kind}", cv2.subtract(a, b))
    write(f"absdiff.{kind}", cv2.absdiff(a, b))
    write(f"multiply.{kind}", cv2.multiply(a, b))
    write(f"divide.{kind}", cv2.divide(a, b))
    write(f"min.{kind}", cv2.min(a, b))
    write(f"max.{kind}", cv2.max(a, b))
    write(f"add_scalar.{kind}", cv2.add(a, scalar(10.5, -3, 300)))
    write(f"subtract_scalar.{kind}", cv2.subtract(a, scalar(10.5, -3, 300)))
    write(f"multiply_scalar.{kind}", cv2.multiply(a, scalar(1.7, 0.3, -1)))
    write(f"divide_scalar.{kind}", cv2.divide(a, scalar(1.7, 0.3, -1)))
    write(f"add_weighted.{kind}", cv2.addWeighted(a, 0.7, b, 0.4, -5.5))
    for name, flag in [("eq", cv2.CMP_EQ), ("gt", cv2.CMP_GT), ("ge", cv2.CMP_GE), ("lt", cv2.CMP_LT), ("le", cv2.CMP_LE), ("ne", cv2.CMP_NE)]:
        write(f"compare.{name}.{kind}", cv2.compare(a, b, flag))
    for name in ["BINARY", "BINARY_INV", "TRUNC", "TOZERO", "TOZERO_INV"]:
        write(f"threshold.{name}.{kind}", cv2.threshold(a, 99.7, 200.6, getattr(cv2, f"THRESH_{name}"))[1])
    write(f"in_range.{kind}", cv2.inRange(a, scalar(10, 0, 99.5), scalar(200, 200, 200)))
write("convert_to.u8", cv2.convertScaleAbs(bytes_, alpha=1.5, beta=2))
write("convert_to.f32", cv2.normalize(bytes_, None, 1.0, 0, cv2.NORM_INF, dtype=cv2.CV_32F))
write("convert_to.shifted", cv2.normalize(gray, None, -1.25, 3.5, cv2.NORM_MINMAX, dtype=cv2.CV_32F))
write("sqrt", cv2.sqrt(unit))
for name in ["and", "or", "xor"]:
    write(f"bitwise_{name}", getattr(cv2, f"bitwise_{name}")(bytes_, others))
write("bitwise_not", cv2.bitwise_not(bytes_))
table = random.randint(0, 256, (256,)).astype(np.uint8)
write("table", table)
write("lut", cv2.LUT(bytes_, table))

# Colours.
for name in ["BGR2RGB", "BGR2BGRA", "RGB2BGRA", "BGR2HSV", "BGR2HLS", "BGR2XYZ", "BGR2YCrCb", "BGR2GRAY"]:
    for kind, a in [("bytes", bytes_), ("unit", unit), ("deep", deep)]:
        if kind != "deep" or name not in ("BGR2HSV", "BGR2HLS"):
            write(f"{name}.{kind}", cv2.cvtColor(a, getattr(cv2, f"COLOR_{name}")))
hsv = (unit * np.array([360, 1, 1])).astype(np.float32)
for name in ["HSV2BGR", "HLS2BGR", "XYZ2BGR", "YCrCb2BGR"]:
    write(f"{name}.unit", cv2.cvtColor(hsv if name[0] == "H" else unit, getattr(cv2, f"COLOR_{name}")))
    if name[0] != "H":
        write(f"{name}.bytes", cv2.cvtColor(bytes_, getattr(cv2, f"COLOR_{name}")))
for name in ["Lab", "Luv"]:
    for kind, a in [("bytes", bytes_), ("unit", unit)]:
        there = cv2.cvtColor(a, getattr(cv2, f"COLOR_BGR2{name}"))
        write(f"BGR2{name}.{kind}", there)
        write(f"{name}2BGR.{kind}", cv2.cvtColor(there, getattr(cv2, f"COLOR_{name}2BGR")))
write("GRAY2BGRA", cv2.cvtColor(gray, cv2.COLOR_GRAY2BGRA))

# Pixels at other places.
interpolations = {"NEAREST": cv2.INTER_NEAREST, "LINEAR": cv2.INTER_LINEAR, "CUBIC": cv2.INTER_CUBIC, "LANCZOS4": cv2.INTER_LANCZOS4}
for name, flag in [*interpolations.items(), ("AREA", cv2.INTER_AREA)]:
    for size in [(9, 4), (4, 3), (10, 9)]:
        if name != "AREA" or size != (9, 4):
            for kind, a in [("bytes", bytes_), ("floats", floats)]:
                write(f"resize.{name}.{size[0]}x{size[1]}.{kind}", cv2.resize(a, size, interpolation=flag))
for code in (-1, 0, 1):
    write(f"flip.{code}", cv2.flip(bytes_, code))
for code in ["ROTATE_90_CLOCKWISE", "ROTATE_180", "ROTATE_90_COUNTERCLOCKWISE"]:
    write(f"rotate.{code}", cv2.rotate(bytes_, getattr(cv2, code)))
write("transpose", cv2.transpose(bytes_))
borders = ["BORDER_CONSTANT", "BORDER_REPLICATE", "BORDER_REFLECT", "BORDER_REFLECT_101", "BORDER_WRAP"]
affine = np.array([[0.75, -0.40625, 1.0], [0.28125, 1.125, -1.53125]], np.float64)
write("affine", affine)
rows = (random.randint(-4 * 32, 11 * 32, (6, 7)) / 32).astype(np.float32)
columns = (random.randint(-4 * 32, 13 * 32, (6, 7)) / 32).astype(np.float32)
write("rows", rows)
write("columns", columns)
for border in borders:
    mode = getattr(cv2, border)
    write(f"copy_make_border.{border}", cv2.copyMakeBorder(gray, 3, 9, 12, 2, mode))
    for name, flag in interpolations.items() if border == borders[0] else [("LINEAR", cv2.INTER_LINEAR)]:
        write(f"warp_affine.{name}.{border}", cv2.warpAffine(floats, affine, (8, 6), flags=flag | cv2.WARP_INVERSE_MAP, borderMode=mode))
        write(f"remap.{name}.{border}", cv2.remap(floats, columns, rows, flag, borderMode=mode))

# Filters.
kernel = (random.randint(-4, 5, (3, 5)) / 8).astype(np.float32)
write("kernel", kernel)
line, column = np.array([1, -2, 4, 0.125, 3], np.float32), np.array([0.25, -1, 0.5], np.float32)
kinds = {"bytes": bytes_, "floats": floats}
for kind, a in kinds.items():
    name = lambda function: f"{function}.{kind}"
    write(name("gaussian_blur"), cv2.GaussianBlur(a, (5, 3), 1.25, sigmaY=0.75))
    write(name("gaussian_blur.size"), cv2.GaussianBlur(a, (7, 5), 0))
    write(name("gaussian_blur.sigma"), cv2.GaussianBlur(a, (0, 0), 0.875))
    for border in borders[:4]:
        write(name(f"blur.{border}"), cv2.blur(a, (3, 4), borderType=getattr(cv2, border)))
        write(name(f"blur.anchored.{border}"), cv2.blur(a, (5, 3), anchor=(0, 2), borderType=getattr(cv2, border)))
    write(name("box_filter"), cv2.boxFilter(a, cv2.CV_32F, (4, 3), anchor=(1, 0), normalize=False))
    write(name("filter_2d"), cv2.filter2D(a, -1, kernel))
    write(name("filter_2d.anchored"), cv2.filter2D(a, cv2.CV_32F, kernel, anchor=(4, 0), delta=2.5))
    write(name("sep_filter_2d"), cv2.sepFilter2D(a, cv2.CV_32F, line, column, anchor=(1, 2), delta=-7))
    for size in (1, 3, 5, 7):
        write(name(f"sobel.{size}"), cv2.Sobel(a, cv2.CV_32F, 1, 0, ksize=size))
        write(name(f"laplacian.{size}"), cv2.Laplacian(a, cv2.CV_32F, ksize=size))
    write(name("sobel.scaled"), cv2.Sobel(a, cv2.CV_32F, 1, 1, ksize=3, scale=0.25, delta=10))
    write(name("scharr"), cv2.Scharr(a, cv2.CV_32F, 0, 1, scale=0.5, delta=-1))
write("sobel.narrow", cv2.Sobel(bytes_, cv2.CV_16S, 0, 2, ksize=3))
write("sobel.scharr", cv2.Sobel(bytes_, cv2.CV_16S, 1, 0, ksize=cv2.FILTER_SCHARR))
for size in (3, 5, 7):
    write(f"median_blur.{size}", cv2.medianBlur(bytes_, size))
write("median_blur.floats", cv2.medianBlur(floats, 5))

# Morphology.
for shape in ["MORPH_RECT", "MORPH_CROSS", "MORPH_ELLIPSE", "MORPH_DIAMOND"]:
    for width, height, anchor in [(3, 3, (-1, -1)), (5, 4, (1, 3)), (4, 5, (3, -1)), (9, 1, (-1, -1)), (7, 5, (-1, -1)), (5, 9, (0, 0))]:
        element = cv2.getStructuringElement(getattr(cv2, shape), (width, height), anchor=anchor)
        write(f"element.{shape}.{width}x{height}", element)
mask = cv2.getStructuringElement(cv2.MORPH_CROSS, (4, 3), anchor=(0, 2))
small = cv2.getStructuringElement(cv2.MORPH_DIAMOND, (3, 2))
for op in ["ERODE", "DILATE", "OPEN", "CLOSE", "GRADIENT", "TOPHAT", "BLACKHAT"]:
    flag = getattr(cv2, f"MORPH_{op}")
    for border in borders[:2]:
        mode = getattr(cv2, border)
        write(f"morphology.{op}.{border}.bytes", cv2.morphologyEx(bytes_, flag, mask, borderType=mode))
        write(f"morphology.{op}.{border}.floats", cv2.morphologyEx(floats, flag, small, anchor=(1, 0), borderType=mode))
    write(f"morphology.rectangle.{op}", cv2.morphologyEx(bytes_, flag, np.ones((2, 3), np.uint8), iterations=2))
for op in ["ERODE", "DILATE"]:
    write(f"morphology.twice.{op}", cv2.morphologyEx(bytes_, getattr(cv2, f"MORPH_{op}"), small, iterations=2))
write("erode.valued", cv2.erode(bytes_, mask, borderType=cv2.BORDER_CONSTANT, borderValue=(90, 90, 90, 90)))
spots = (random.rand(6, 7) < 0.55).astype(np.uint8) * 255
spots[3, 4] = 77
write("spots", spots)
for name, pattern in [("both", [[0, 1, 0], [-1, 1, 1], [-1, -1, 0]]), ("hit", [[1, 1, 0], [0, 0, 0], [0, 0, 1]]), ("miss", [[-1, 0, 0], [0, 0, 0], [0, 0, -1]])]:
    write(f"hit_or_miss.{name}", cv2.morphologyEx(spots, cv2.MORPH_HITMISS, np.array(pattern, np.int32)))

# Statistics.
for kind, a in kinds.items():
    mean, deviation = cv2.meanStdDev(a)
    write(f"sum.{kind}", np.array(cv2.sumElems(a)[:3]))
    write(f"mean.{kind}", mean.ravel())
    write(f"deviation.{kind}", deviation.ravel())
for kind, a in [("gray", gray), ("plane", plane)]:
    low, high, at_low, at_high = cv2.minMaxLoc(a)
    write(f"min_max_loc.{kind}", np.array([low, high, *at_low, *at_high]))
    for name in ["SUM", "AVG", "MAX", "MIN"]:
        depth = cv2.CV_32F if name in ("SUM", "AVG") else -1
        for dim, to in [(0, "row"), (1, "column")]:
            write(f"reduce.{name}.{to}.{kind}", cv2.reduce(a, dim, getattr(cv2, f"REDUCE_{name}"), dtype=depth).ravel())
    write(f"normalize.{kind}", cv2.normalize(a, None, 10, 200, cv2.NORM_MINMAX))

pathlib.Path(__file__).with_name("opencv.txt").write_text("\n".join(lines) + "\n")
