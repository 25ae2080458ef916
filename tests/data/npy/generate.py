#!/usr/bin/env python3
"""Write the .npy files of this folder with NumPy, to be read by t_npy.

Element i in C order of the 2 x 3 x 4 arrays is i - 11 (signed), 10 i (unsigned), i / 4 - 3
(floats), i % 3 == 0 (booleans).
"""
import os

import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
i = np.arange(24).reshape(2, 3, 4)
VALUES = {"f": i / 4 - 3, "i": i - 11, "u": i * 10, "b": i % 3 == 0}
KINDS = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1".split()

for kind in KINDS:
    np.save(f"{kind}.npy", VALUES[kind[0]].astype("<" + kind))
for kind in "f2 f4 f8 i2 i4 i8 u2 u4 u8".split():
    np.save(f"{kind}_big.npy", VALUES[kind[0]].astype(">" + kind))
for kind in "f2 f4 i8 b1".split():
    np.save(f"{kind}_fortran.npy", np.asfortranarray(VALUES[kind[0]].astype("<" + kind)))
np.save("i2_big_fortran.npy", np.asfortranarray(VALUES["i"].astype(">i2")))
for major in (2, 3):
    with open(f"f4_v{major}.npy", "wb") as out:
        np.lib.format.write_array(out, VALUES["f"].astype("<f4"), version=(major, 0))
np.save("scalar.npy", np.float32(2.5))
np.save("empty.npy", np.zeros((0, 3), "<f4"))
np.save("vector.npy", np.arange(5, dtype="<f4"))

np.save("object.npy", np.array([{}, 1], dtype=object))
np.save("record.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
np.save("complex.npy", np.zeros(2, dtype="<c8"))
