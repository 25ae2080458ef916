#!/usr/bin/env python3
"""Write types.safetensors with the reference library: one tensor of each type, for t_safetensors.

Element i of each 2 x 3 tensor is i - 2 (signed), 10 i (unsigned), i / 4 - 1 (floats), i % 3 == 0
(booleans). bf16 is written as the upper half of the float32.
"""
import os

import numpy as np
import safetensors

os.chdir(os.path.dirname(os.path.abspath(__file__)))
i = np.arange(6).reshape(2, 3)
TYPES = {
    "float64": "<f8", "float32": "<f4", "float16": "<f2", "bfloat16": "<f4", "int64": "<i8",
    "int32": "<i4", "int16": "<i2", "int8": "<i1", "uint64": "<u8", "uint32": "<u4",
    "uint16": "<u2", "uint8": "<u1", "bool": "?",
}
OTHERS = {"scalar": "int64", "empty": "float32"}
VALUES = {"f": i / 4 - 1, "i": i - 2, "u": i * 10, "b": i % 3 == 0}

arrays = {}
for name, code in TYPES.items():
    x = VALUES["f" if name == "bfloat16" else np.dtype(code).kind].astype(code)
    arrays[name] = (x.view("<u4") >> 16).astype("<u2") if name == "bfloat16" else x
arrays["scalar"] = np.array(-7, "<i8")
arrays["empty"] = np.zeros((0, 3), "<f4")
specs = {
    name: safetensors.TensorSpec(dtype=OTHERS.get(name, name),
                                 shape=list(x.shape), data_ptr=x.ctypes.data, data_len=x.nbytes)
    for name, x in arrays.items()
}
with open("types.safetensors", "wb") as out:
    out.write(safetensors.serialize(specs, {"format": "pt", "note": "every type"}))
