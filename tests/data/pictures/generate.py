#!/usr/bin/env python3
"""generate.py - small pictures of every kind, and what PIL makes of them: expected.npz.

Run by hand with Debian's python3-pil and python3-numpy; t_pictures.c reads what it leaves.
"""
import struct
import zlib

import numpy as np
from PIL import Image

H, W = 6, 9
rng = np.random.default_rng(5)
y, x = np.mgrid[0:H, 0:W]
colour = np.stack([x * 28, y * 48, 255 - x * 20 - y * 9], -1) % 256
colour = np.clip(colour + rng.integers(-9, 9, colour.shape), 0, 255).astype("u1")
grey = colour[..., 1]
alpha = (x * 25 + y).astype("u1")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(name, rows, bits, kind):
    """What PIL does not write: 16 bits, two and four bits of grey, interlaced."""
    body = b"".join(b"\0" + r for r in rows)
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, bits, kind, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(body, 9)) + chunk(b"IEND", b""))


def interlaced(name, a):
    body = b""
    for y0, x0, dy, dx in ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)):
        part = a[y0::dy, x0::dx]
        if part.size:
            body += b"".join(b"\0" + row.tobytes() for row in part)
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, 8, 2, 0, 0, 1)) +
                chunk(b"IDAT", zlib.compress(body, 9)) + chunk(b"IEND", b""))


Image.fromarray(colour).save("colour.png")
Image.fromarray(np.dstack([colour, alpha])).save("alpha.png")
Image.fromarray(colour).convert("P", palette=Image.ADAPTIVE, colors=13).save("palette.png", transparency=3)
Image.fromarray(grey).save("grey.png")
Image.fromarray(np.dstack([grey, alpha])).save("grey_alpha.png")
Image.fromarray(grey > 99).save("bits1.png")
png("bits2.png", [np.packbits(np.unpackbits((r >> 6)[:, None], axis=1)[:, 6:]).tobytes() for r in grey], 2, 0)
png("colour16.png", [(r.astype(">u2") * 257 - 100).astype(">u2").tobytes() for r in np.clip(colour, 1, 255)], 16, 2)
png("grey16.png", [(r.astype(">u2") * 257).astype(">u2").tobytes() for r in grey], 16, 0)
interlaced("interlaced.png", colour)
Image.fromarray(colour).save("colour.jpg", quality=85)
Image.fromarray(colour).save("progressive.jpeg", quality=60, progressive=True)
Image.fromarray(grey).save("grey.JPG", format="JPEG", quality=70)
Image.fromarray(colour).convert("CMYK").save("cmyk.jpg", quality=60)

expected = {}
for name in ("colour.png", "alpha.png", "palette.png", "grey.png", "grey_alpha.png", "bits1.png", "bits2.png",
             "colour16.png", "interlaced.png", "colour.jpg", "progressive.jpeg", "grey.JPG"):
    picture = Image.open(name)
    rgb = picture.convert("RGB")
    key = name.replace(".", "_")
    expected[key + "_rgb"] = np.asarray(rgb).transpose(2, 0, 1)
    expected[key + "_grey"] = np.asarray(rgb.convert("L"))[None]
    expected[key + "_small"] = np.asarray(rgb.resize((4, 3), Image.BILINEAR)).transpose(2, 0, 1)
    expected[key + "_large"] = np.asarray(rgb.resize((20, 13), Image.BILINEAR)).transpose(2, 0, 1)
np.savez("expected.npz", **expected)
