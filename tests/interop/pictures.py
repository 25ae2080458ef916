#!/usr/bin/env python3
"""pictures.py - folders of pictures as PIL and torchvision read them, cifar's pickles as Python 2 left them.

    pictures.py CH

What `ch data export` writes is compared with PIL's pixels, in torchvision's order, to the bit. Status 77
(skipped) when PIL or NumPy is missing: Debian's python3-pil and python3-numpy.
"""
import glob
import os
import pickle
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError as e:
    print(f"pictures: skipped, {e.name} is not installed (python3-pil python3-numpy)")
    sys.exit(77)

from checks import check, finish

ch = os.path.abspath(sys.argv[1])
rng = np.random.default_rng(3)


def smooth(h, w, c):
    y, x = np.mgrid[0:h, 0:w]
    a = np.stack([127 + 120 * np.sin(x / (3 + k) + k) * np.cos(y / (5 - k)) for k in range(c)], -1)
    return np.clip(a + rng.normal(0, 5, a.shape), 0, 255).astype("u1")


def make():
    for kind in ("cat", "dog", "Emu"):
        os.makedirs(f"photos/{kind}")
        for i in range(8):
            a, name = smooth(20 + i, 31 - i, 4), f"photos/{kind}/{i}"
            rgb = Image.fromarray(a[..., :3])
            (rgb.save(name + ".png"), rgb.save(name + ".jpg", quality=60 + 5 * i), Image.fromarray(a).save(name + "a.png"),
             rgb.convert("P", palette=Image.ADAPTIVE).save(name + "p.png"), Image.fromarray(a[..., 0]).save(name + "g.jpeg"),
             Image.fromarray(a[..., 0] > 99).save(name + "b.png"), Image.fromarray(a[..., :2]).save(name + "l.png"),
             rgb.save(name + "s.jpg", subsampling=2, progressive=True))


def export(*options):
    subprocess.run([ch, "data", "export", "photos", "x.npz", *options], check=True, timeout=120, stderr=subprocess.DEVNULL)
    return np.load("x.npz")


def ours(z):
    """Each picture once, by class and content."""
    return {(int(z[f"y_{s}"][i]), z[f"x_{s}"][i].tobytes()) for s in ("train", "val", "test") for i in range(len(z[f"y_{s}"]))}


def pil(mode, size, change=lambda a: a):
    found = set()
    for k, kind in enumerate(sorted(("cat", "dog", "Emu"))):
        for path in glob.glob(f"photos/{kind}/*"):
            # First in width, as Pillow did of itself before 13, which begins with the height where that is less work.
            image = Image.open(path).convert("RGB").convert(mode)
            a = np.asarray(image.resize((size[1], image.height), Image.BILINEAR).resize((size[1], size[0]), Image.BILINEAR))
            a = a[None] if a.ndim == 2 else a.transpose(2, 0, 1)
            found.add((k, np.ascontiguousarray(change(a)).tobytes()))
    return found


def tensor(a):
    return a.astype("f4") / np.float32(255)


def imagenet(a):
    mean, std = (np.array(v, "f4")[:, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    return (tensor(a) - mean) / std


def folders():
    make()
    check("bytes, smaller", ours(export("--raw", "--image-size", "9,14")) == pil("RGB", (9, 14)))
    check("bytes, larger, in grey", ours(export("--raw", "--image-size", "40,33", "--image-channels", "1")) == pil("L", (40, 33)))
    check("ToTensor", ours(export("--image-size", "16,16")) == pil("RGB", (16, 16), tensor))
    check("Normalize", ours(export("--image-size", "20,31", "--normalize", "imagenet")) == pil("RGB", (20, 31), imagenet))
    z = export("--image-size", "8,8", "--normalize", "auto")
    check("auto", np.allclose(z["x_train"].mean((0, 2, 3)), 0, atol=1e-4) and np.allclose(z["x_train"].std((0, 2, 3)), 1, atol=1e-4))


def python2(name, images, labels):
    """A batch as cPickle of Python 2 wrote it, protocol 2."""
    body = b"\x80\x02}q\x01(U\x04dataq\x02cnumpy.core.multiarray\n_reconstruct\nq\x03cnumpy\nndarray\nq\x04K\x00\x85U\x01b\x87Rq\x05"
    body += b"(K\x01" + b"M" + struct.pack("<H", len(images)) + b"M\x00\x0c\x86cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01\x87R"
    body += b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T" + struct.pack("<I", images.size) + images.tobytes() + b"tb"
    body += b"U\x06labelsq\x07](" + b"".join(b"K" + bytes([k]) for k in labels) + b"eu."
    with open(name, "wb") as f:
        f.write(body)


def cifar():
    os.mkdir("cifar-10-batches-py")
    files = ["data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"]
    images = rng.integers(0, 256, (6, 20, 3072), dtype="u1")
    labels = rng.integers(0, 10, (6, 20))
    for name, x, y in zip(files, images, labels):
        python2(f"cifar-10-batches-py/{name}", x, y)
    subprocess.run([ch, "data", "export", "cifar-10-batches-py", "c.npz", "--raw", "--split", "mase"],
                   check=True, timeout=120, stderr=subprocess.DEVNULL)
    z = np.load("c.npz")
    check("cifar-10-batches-py", (z["x_train"].reshape(100, 3072) == images[:5].reshape(100, 3072)).all() and
          (z["y_train"] == labels[:5].ravel()).all() and (z["x_test"].reshape(20, 3072) == images[5]).all())
    # The same batches saved again by Python 3: keys as bytes, labels as arrays, other orders.
    for protocol in range(2, 6):
        for kind in ("list", "array", "bytes", "columns", "planes", "last"):
            for name, x, y in zip(files, images, labels):
                x = {"columns": np.asfortranarray(x), "planes": x.reshape(-1, 3, 32, 32),
                     "last": np.ascontiguousarray(x.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))}.get(kind, x)
                batch = {"data": x, "labels": y.astype(">i2") if kind == "array" else [int(k) for k in y], "batch_label": ""}
                batch = {k.encode(): v for k, v in batch.items()} if kind == "bytes" else batch
                with open(f"cifar-10-batches-py/{name}", "wb") as f:
                    pickle.dump(batch, f, protocol)
            run = subprocess.run([ch, "data", "export", "cifar-10-batches-py", "c.npz", "--raw", "--split", "mase"],
                                 capture_output=True, text=True, timeout=120)
            z = np.load("c.npz")
            same = (z["x_train"].reshape(100, 3072) == images[:5].reshape(100, 3072)).all() and (z["y_train"] == labels[:5].ravel()).all()
            check(f"protocol {protocol}, {kind}", run.returncode == 2 and "no batch of cifar" in run.stderr if kind == "last" else
                  run.returncode == 0 and same)
    for name, x, y in zip(files, images, labels):
        python2(f"cifar-10-batches-py/{name}", x, y)
    with open("cifar-10-batches-py/data_batch_3", "r+b") as f:
        f.truncate(1000)
    run = subprocess.run([ch, "data", "info", "cifar-10-batches-py"], capture_output=True, text=True, timeout=120)
    check("a batch that was cut short", run.returncode == 2 and "data_batch_3@" in run.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    folders()
    cifar()
    os.chdir("/")
finish()
