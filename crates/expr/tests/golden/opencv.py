"""Writes opencv.txt beside this file: what OpenCV makes of a small picture.

    pip install opencv-python-headless numpy
    python opencv.py

Each array is a line of its name, height and width, and a line of its values. Places of maps and affine warps are
multiples of 1/32 of a pixel, to which OpenCV rounds places; OpenCV 5 does not in the two perspective warps here.
"""

import pathlib

import cv2
import numpy as np

random = np.random.RandomState(11)
picture = (random.rand(7, 9) * 255).astype(np.float32)
octets = random.randint(0, 256, (7, 9)).astype(np.uint8)
lines = [f"# OpenCV {cv2.__version__}, by opencv.py"]


def write(name, values):
    height, width = values.shape
    lines.append(f"{name} {height} {width}")
    lines.append(" ".join(f"{v:.8g}" for v in values.astype(np.float64).ravel()))


write("picture", picture)
write("octets", octets)

filters = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC, "lanczos4": cv2.INTER_LANCZOS4}
for height, width in [(5, 12), (13, 4), (7, 9), (20, 3), (1, 1)]:
    for name, flag in [*filters.items(), ("nearest_exact", cv2.INTER_NEAREST_EXACT)]:
        write(f"resize.{name}", cv2.resize(picture, (width, height), interpolation=flag))
        write(f"resize_octets.{name}", cv2.resize(octets, (width, height), interpolation=flag))

for height, width in [(5, 6), (1, 1), (3, 4), (7, 3), (7, 9), (15, 20)]:
    write("resize.area", cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA))

borders = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect101": cv2.BORDER_REFLECT_101,
    "wrap": cv2.BORDER_WRAP,
}
row = picture[:3, :4].copy()
write("small", row)
for name, flag in borders.items():
    write(f"pad.{name}", cv2.copyMakeBorder(row, 8, 10, 9, 14, flag, value=3.5))

affine = np.array([[0.75, -0.40625, 1.0], [0.28125, 1.125, -1.53125]], np.float64)
write("affine", affine)
perspective = np.array([[1.9, 0.2, -3.5], [-0.1, 2.3, 1.75], [0.03, -0.02, 2.0]], np.float64)
write("perspective", perspective)
rows = random.randint(-5 * 32, 12 * 32, (6, 7)).astype(np.float32) / 32
columns = random.randint(-5 * 32, 14 * 32, (6, 7)).astype(np.float32) / 32
write("rows", rows)
write("columns", columns)
for border, mode in borders.items():
    for name, flag in filters.items():
        options = dict(borderMode=mode, borderValue=40.25)
        inverse = dict(flags=flag | cv2.WARP_INVERSE_MAP, **options)
        write(f"remap.{name}.{border}", cv2.remap(picture, columns, rows, flag, **options))
        write(f"affine.{name}.{border}", cv2.warpAffine(picture, affine, (8, 6), **inverse))
        if name in ("linear", "cubic"):
            write(f"perspective.{name}.{border}", cv2.warpPerspective(picture, perspective, (6, 5), **inverse))

kernel = random.randint(-4, 5, (3, 5)).astype(np.float32) / 8
even = random.randint(1, 9, (4, 2)).astype(np.float32) / 16
write("kernel", kernel)
write("even_kernel", even)
column, line = np.array([0.25, -1, 0.5], np.float32), np.array([1, -2, 4, 0.125, 3], np.float32)
shapes = {"rectangle": cv2.MORPH_RECT, "cross": cv2.MORPH_CROSS, "ellipse": cv2.MORPH_ELLIPSE}
for border in ["constant", "replicate", "reflect", "reflect101"]:
    mode = borders[border]
    name = lambda kind: f"{kind}.{border}"
    write(name("filter"), cv2.filter2D(picture, cv2.CV_32F, kernel, borderType=mode))
    write(name("filter_even"), cv2.filter2D(picture, cv2.CV_32F, even, borderType=mode))
    write(name("filter_anchor"), cv2.filter2D(picture, cv2.CV_32F, kernel, anchor=(4, 0), borderType=mode))
    write(name("filter_octets"), cv2.filter2D(octets, cv2.CV_8U, kernel, borderType=mode))
    write(name("separable"), cv2.sepFilter2D(picture, cv2.CV_32F, line, column, borderType=mode))
    write(name("blur"), cv2.blur(picture, (5, 3), borderType=mode))
    write(name("blur_octets"), cv2.blur(octets, (3, 5), borderType=mode))
    write(name("box_sum"), cv2.boxFilter(octets, cv2.CV_32F, (4, 3), normalize=False, borderType=mode))
    write(name("gaussian"), cv2.GaussianBlur(picture, (5, 3), sigmaX=1.2, sigmaY=0.7, borderType=mode))
    write(name("gaussian_sizes"), cv2.GaussianBlur(picture, (11, 7), sigmaX=0, borderType=mode))
    write(name("gaussian_octets"), cv2.GaussianBlur(octets, (5, 5), sigmaX=1.5, borderType=mode))
    for size in (1, 3, 5, 7):
        for dy, dx in [(0, 1), (1, 0), (1, 1), (2, 0)]:
            write(name(f"sobel.{size}.{dy}{dx}"), cv2.Sobel(picture, cv2.CV_32F, dx, dy, ksize=size, borderType=mode))
        write(name(f"laplacian.{size}"), cv2.Laplacian(picture, cv2.CV_32F, ksize=size, borderType=mode))
    write(name("sobel_octets"), cv2.Sobel(octets, cv2.CV_16S, 1, 0, ksize=3, borderType=mode))
    write(name("scharr.01"), cv2.Scharr(picture, cv2.CV_32F, 1, 0, borderType=mode))
    write(name("scharr.10"), cv2.Scharr(picture, cv2.CV_32F, 0, 1, borderType=mode))
    write(name("erode"), cv2.erode(octets, cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 5)), borderType=mode, borderValue=90))
for size in (3, 5, 7):
    write(f"median.{size}", cv2.medianBlur(octets, size))
write("median_floats", cv2.medianBlur(picture, 5))
operations = {
    "erode": cv2.MORPH_ERODE,
    "dilate": cv2.MORPH_DILATE,
    "open": cv2.MORPH_OPEN,
    "close": cv2.MORPH_CLOSE,
    "gradient": cv2.MORPH_GRADIENT,
    "top_hat": cv2.MORPH_TOPHAT,
    "black_hat": cv2.MORPH_BLACKHAT,
}
for shape, flag in shapes.items():
    for height, width in [(3, 3), (4, 5), (1, 5), (9, 2), (5, 7)]:
        write(f"{shape}", cv2.getStructuringElement(flag, (width, height)))
    mask = cv2.getStructuringElement(flag, (3, 4))
    for name, operation in operations.items():
        write(f"{name}.{shape}", cv2.morphologyEx(octets, operation, mask))

pathlib.Path(__file__).with_name("opencv.txt").write_text("\n".join(lines) + "\n")
