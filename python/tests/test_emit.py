"""Source of other languages: it is written where one says, and computes what the network does."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import numpy
import pytest

import mase

from conftest import LINEAR_8_4


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_emitted_c_computes_the_network(
    small: mase.MaseGraph, xor: mase.Data, tmp_path: pathlib.Path
) -> None:
    small.start(1)
    mase.quantize(small, {name: LINEAR_8_4 for name in ("fc1", "fc2")})
    wanted = small(xor.test.x[:1], exact=True)[0]
    assert mase.emit(small, "c", tmp_path / "jets.c", name="jets") == str(tmp_path / "jets.c")
    x = ", ".join(f"{v!r}f" for v in xor.test.x[0].tolist())
    main = f'#include <stdio.h>\n#include "jets.h"\nint main(void)\n{{\n    float x[] = {{ {x} }}, y[2];\n'
    main += '    jets(x, y);\n    printf("%.9g %.9g\\n", y[0], y[1]);\n}\n'
    (tmp_path / "main.c").write_text(main)
    subprocess.run(["cc", "-o", "run", "main.c", "jets.c"], cwd=tmp_path, check=True)
    said = subprocess.run(["./run"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert numpy.array(said.split(), numpy.float32).tolist() == wanted.tolist()


def test_targets_are_known(
    small: mase.MaseGraph, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.start(1)
    monkeypatch.chdir(tmp_path)
    assert mase.emit(small, "c") == "small.c" and (tmp_path / "small.h").exists()
    with pytest.raises(ValueError, match="no target 'fortran'; there are c"):
        mase.emit(small, "fortran")
    with pytest.raises(ValueError, match="ends in .c"):
        mase.emit(small, "c", "net.v")
