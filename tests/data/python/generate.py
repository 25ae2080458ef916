"""Write pformat.txt and repr_float.txt, what Python's pprint and repr print, for t_python.c.

    python3 generate.py [SEED COUNT]

pformat.txt holds cases of one line of JSON and the expected lines, each after a bar. JSON has no
tuples and no bare names: {"@tuple": [...]} and {"@atom": "torch.float32"} stand for them.
"""

import json
import os
import pprint
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Atom:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


WORDS = ["a", "data_in_0", "weight", "it's", 'say "so"', "both ' and \"", "é", "naïve", "日本語",
         "x" * 30, "y" * 85, "tab\there", "line\nend", "\r\n", "back\\slash", "\x00", "\x7f", "\x85",
         "\u200b", "\u2028", "\ufeff", "\U0001f600", "\ue000", "", " ", "  two", "nul"]
ATOMS = ["torch.float32", "torch.int64", "<class 'int'>", "tensor([[1., 2.],\n        [3., 4.]])",
         "device(type='cpu')"]
KEYS = ["args", "bias", "weight", "data_in_0", "data_out_0", "precision", "shape", "stat", "type",
        "variance_precise", "Z", "_", "a b", "é", "it's", "k" * 40]


def text(r):
    return " ".join(r.choice(WORDS) for _ in range(r.choice([0, 1, 1, 1, 2, 5, 12, 25])))


def number(r):
    return r.choice([r.randrange(-9, 10), r.getrandbits(62), r.uniform(-1, 1), 10.0 ** r.randrange(-9, 20),
                     0.1, -0.0, float("inf"), float("nan")])


def tree(r, depth):
    kind = r.randrange(10 if depth else 6)
    if kind == 0:
        return None
    if kind == 1:
        return r.choice([True, False])
    if kind == 2:
        return text(r)
    if kind == 3:
        return Atom(r.choice(ATOMS))
    if kind in (4, 5):
        return number(r)
    n = r.choice([0, 1, 1, 2, 3, 4, 7, 12])
    if kind == 6:
        return [tree(r, depth - 1) for _ in range(n)]
    if kind == 7:
        return tuple(tree(r, depth - 1) for _ in range(n))
    return {r.choice(KEYS): tree(r, depth - 1) for _ in range(n)}


def encoded(v):
    if isinstance(v, Atom):
        return {"@atom": v.text}
    if isinstance(v, tuple):
        return {"@tuple": [encoded(x) for x in v]}
    if isinstance(v, list):
        return [encoded(x) for x in v]
    if isinstance(v, dict):
        return {k: encoded(x) for k, x in v.items()}
    if isinstance(v, float) and v - v != 0:
        return {"@float": repr(v)}
    return v


def statistics_cell():
    """A cell of the metadata report, with its nested columns."""
    stat = {"variance_precise": {"mean": -0.009381229989230633, "variance": 0.020840153098106384,
                                 "count": 80}}
    return {"args": {"weight": {"stat": stat}, "data_in_0": {"stat": {}}},
            "results": {"data_out_0": {"stat": {}, "torch_dtype": Atom("torch.float32"),
                                       "shape": [8, 16]}}}


def trees(r, count):
    yield statistics_cell()
    for n in range(74, 84):  # both sides of the margin
        yield "x" * n
        yield [1, "w " * (n // 2)]
        yield {"key": ("v" * (n - 12),)}
        yield {"key": {"nested": ["é" * (n - 24)]}}
    yield from ("word " * 40, "a\nb\n" * 30, "no_blank" * 20, ["one " * 30, "two " * 30], {}, [], (), (1,))
    for _ in range(count):
        yield tree(r, r.randrange(1, 5))


def write_pformat(path, r, count):
    with open(path, "w", encoding="utf-8", newline="") as f:
        for v in trees(r, count):
            f.write(json.dumps(encoded(v), ensure_ascii=True) + "\n")
            for line in pprint.pformat(v).split("\n"):
                f.write("|" + line + "\n")


def doubles(r):
    yield from (0.0, -0.0, 1.0, 0.1, 1e-4, 9.999e-5, 1e-5, 1e15, 1e16, 123456789012345680.0, 5e-324,
                2.2250738585072014e-308, 1.7976931348623157e308, 2.0 ** -44, 9007199254740993.0, 1e22, 1e23,
                0.3, 2 / 3, 100.0, 1234.5, float("inf"), float("-inf"), float("nan"))
    for e in range(-1074, 1024, 37):
        yield 2.0 ** e
    for _ in range(150):
        yield struct.unpack("<d", struct.pack("<Q", r.getrandbits(64)))[0]


def write_floats(path, r):
    with open(path, "w", encoding="ascii") as f:
        for d in doubles(r):
            f.write("%016x %r\n" % (struct.unpack("<Q", struct.pack("<d", d))[0], d))


def main():
    seed, count = (int(a) for a in sys.argv[1:3]) if len(sys.argv) > 2 else (7, 120)
    r = random.Random(seed)
    out = os.environ.get("OUT", HERE)
    write_floats(os.path.join(out, "repr_float.txt"), r)
    write_pformat(os.path.join(out, "pformat.txt"), r, count)


if __name__ == "__main__":
    main()
