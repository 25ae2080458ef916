#!/usr/bin/env python3
"""Write the zip files that t_zip reads: python3 generate.py, in this folder. Needs no packages."""
import zipfile

text = b"the quick brown fox jumps over the lazy dog\n" * 20


def write(name, method, wide=False, comment=b""):
    with zipfile.ZipFile(name, "w", method) as z:
        for entry, content in (("a/text", text), ("empty", b""), ("one", b"x")):
            info = zipfile.ZipInfo(entry, (1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            with z.open(info, "w", force_zip64=wide) as f:
                f.write(content)
        z.comment = comment


write("stored.zip", zipfile.ZIP_STORED)
write("deflated.zip", zipfile.ZIP_DEFLATED, comment=b"PK\5\6 is no end record here")
write("wide.zip", zipfile.ZIP_DEFLATED, wide=True)
write("bzip2.zip", zipfile.ZIP_BZIP2)
