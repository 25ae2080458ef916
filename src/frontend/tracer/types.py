"""types.py - types, shapes and errors that all parts of the tracer use.

The files of this folder are joined to one script, in the order of CMakeLists.txt.
"""
import array
import ast
import builtins
import copy
import dataclasses
import dis
import faulthandler
import functools
import importlib.abc
import importlib.machinery
import inspect
import itertools
import json
import linecache
import math
import numbers
import operator
import os
import random
import re
import signal
import string
import struct
import sys
import types

if sys.version_info < (3, 8):
    print(json.dumps({"error": {"message": "reading a .py model needs Python 3.8 or later; python3 "
                                           "is %d.%d" % sys.version_info[:2]}}))
    sys.exit(0)

Random = random.Random  # our generator; the file's are watched
MAX_NUMBERS = 1 << 20  # elements of a constant, which limits the size of the answer


class Fault(Exception):
    """An error of tracing. Its place is the user's frame, unless given."""

    def __init__(self, message, at=None):
        super().__init__(message)
        self.at = at


class Lacking(Fault, AttributeError):
    """A missing attribute, which hasattr reports."""


class dtype:
    """torch.float32 and similar; short is the name in graphs, None: not stored."""

    def __init__(self, name, short, is_floating_point):
        self.name, self.short, self.is_floating_point = name, short, is_floating_point

    def __repr__(self):
        return "torch." + self.name

    def rounded(self, numbers):
        """Round numbers to the type."""
        if self.name == "float32":
            return array.array("f", numbers).tolist()
        kind = builtins.float if self.is_floating_point else builtins.bool if self.name == "bool" else builtins.int
        return [kind(v) for v in numbers]

    @property
    def itemsize(self):
        bits = int("0" + re.sub("_.*", "", self.name).lstrip("abcdefghijklmnopqrstuvwxyz"))
        return max(bits // 8, 1)

    is_complex = False


DTYPES = {
    "float32": dtype("float32", "f32", True),
    "float64": dtype("float64", "f64", True),
    "float16": dtype("float16", None, True),
    "bfloat16": dtype("bfloat16", None, True),
    "int64": dtype("int64", "i64", False),
    "int32": dtype("int32", "i32", False),
    "int16": dtype("int16", None, False),
    "int8": dtype("int8", None, False),
    "uint8": dtype("uint8", "u8", False),
    "bool": dtype("bool", "bool", False),
}
DTYPES.update({name: dtype(name, None, name[0] == "f") for name in (
    "float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64", "complex64", "complex128")})
DTYPES.update(float=DTYPES["float32"], double=DTYPES["float64"], half=DTYPES["float16"],
              long=DTYPES["int64"], int=DTYPES["int32"], short=DTYPES["int16"])


class device:
    def __init__(self, name="cpu", index=None):
        self.type, self.index = str(name), index

    def __repr__(self):
        return self.type

    def __eq__(self, other):
        if not isinstance(other, device):
            return NotImplemented  # x.device compares
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))


class Size(tuple):
    def numel(self):
        return math.prod(self)

    def __repr__(self):
        return "torch.Size(%s)" % list(self)


def is_number(v):
    return isinstance(v, numbers.Real)  # includes NumPy's numbers


def is_whole(v):
    return isinstance(v, numbers.Integral) or isinstance(v, Tensor) and not v.ndim and not v.dtype.is_floating_point


def any_tensor(index):
    """Does the index contain a list or a tensor?"""
    index = index if isinstance(index, tuple) else (index,)
    return any(isinstance(i, (list, range)) or isinstance(i, Tensor) and i.ndim for i in index)


def flat_shape(size):
    """zeros(2, 3), zeros((2, 3)) and zeros([2, 3]) are equal."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    for n in size:
        if not is_whole(n) or n < 0:
            raise Fault("a shape is made of integers that are not negative, got %r" % (n,))
    return Size(int(n) for n in size)


def strides_of(shape):
    steps, n = [], 1
    for d in reversed(shape):
        steps.insert(0, n)
        n *= d
    return steps


def flat_positions(shape, strides, offset):
    places = [offset]
    for n, step in zip(shape, strides):
        places = [p + i * step for p in places for i in range(n)]
    return places


def broadcast(a, b):
    out = []
    for m, n in itertools.zip_longest(reversed(a), reversed(b), fillvalue=1):
        if m != n and 1 not in (m, n):
            raise Fault("shapes %s and %s do not broadcast" % (list(a), list(b)))
        out.insert(0, n if m == 1 else m)
    return Size(out)
