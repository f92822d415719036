"""Writes colour.txt, what OpenCV makes of a small picture: `python colour.py > colour.txt`.

Needs opencv-python-headless. Each block is a line `name type extent extent ..` and then the values, the last extent fastest.
Pictures of bytes are random, with grey and primary colours in the first rows; floats go from 0 to 1.
"""

import cv2
import numpy as np


def block(name, a):
    kind = {"uint8": "u8", "uint16": "u16", "float32": "f32"}[str(a.dtype)]
    print(name, kind, *a.shape)
    texts = [f"{v:.7g}" if kind == "f32" else str(v) for v in a.ravel()]
    for start in range(0, len(texts), 12):
        print(*texts[start : start + 12])


random = np.random.default_rng(1)
bytes_ = random.integers(0, 256, (6, 8, 3), dtype=np.uint8)
bytes_[0] = [[255 * (x & 1), 255 * (x >> 1 & 1), 255 * (x >> 2 & 1)] for x in range(8)]
bytes_[1] = [[36 * x] * 3 for x in range(8)]
deep = random.integers(0, 65536, (6, 8, 3), dtype=np.uint16)
floats = random.random((6, 8, 3), dtype=np.float32)
floats[0] = bytes_[0] / 255
floats[1] = bytes_[1] / np.float32(255)

for name, a in [("rgb", bytes_), ("deep", deep), ("unit", floats)]:
    block(name, a)
    spaces = ["XYZ", "YCrCb"] if name == "deep" else ["HSV", "HLS", "XYZ", "YCrCb"]
    for space in spaces:
        there = cv2.cvtColor(a, getattr(cv2, f"COLOR_RGB2{space}"))
        block(f"{name}_to_{space}", there)
        block(f"{name}_of_{space}", cv2.cvtColor(there, getattr(cv2, f"COLOR_{space}2RGB")))
    block(f"{name}_to_GRAY", cv2.cvtColor(a, cv2.COLOR_RGB2GRAY))
    block(f"{name}_to_BGRA", cv2.cvtColor(a, cv2.COLOR_RGB2BGRA))

# Video, BT.601 of limited range: one allocation of 6 rows of luma and 3 rows of chroma.
planes = random.integers(16, 236, (9, 8), dtype=np.uint8)
block("planes", planes)
for name in ["NV12", "NV21", "I420", "YV12"]:
    block(f"rgb_of_{name}", cv2.cvtColor(planes, getattr(cv2, f"COLOR_YUV2RGB_{name}")))
words = random.integers(16, 236, (6, 8, 2), dtype=np.uint8)
block("words", words)
for name in ["YUY2", "YVYU", "UYVY"]:
    block(f"rgb_of_{name}", cv2.cvtColor(words, getattr(cv2, f"COLOR_YUV2RGB_{name}")))
for name in ["I420", "YV12"]:
    block(f"rgb_to_{name}", cv2.cvtColor(bytes_, getattr(cv2, f"COLOR_RGB2YUV_{name}")))
for name in ["YUY2", "UYVY"]:
    block(f"rgb_to_{name}", cv2.cvtColor(bytes_, getattr(cv2, f"COLOR_RGB2YUV_{name}")))
