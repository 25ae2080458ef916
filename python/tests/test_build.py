"""The build backend: wheels, editable ones, source archives, without anything from elsewhere."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import mase_build  # noqa: E402

from mase import _library  # noqa: E402


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASE_LIBRARY", _library.lib._name)


def test_a_wheel_has_the_library_and_works_alone(tmp_path: pathlib.Path) -> None:
    name = mase_build.build_wheel(str(tmp_path))
    assert name.startswith(f"mase-{mase_build.version()}-py3-none-linux_")
    with zipfile.ZipFile(tmp_path / name) as wheel:
        names = wheel.namelist()
        assert {"chop/__init__.py", "mase/__init__.py", "mase/py.typed", "mase/lib/libmase.so.0"} <= set(names)
        assert not [n for n in names if "__pycache__" in n or "tests" in n]
        record = wheel.read(f"mase-{mase_build.version()}.dist-info/RECORD").decode()
        assert all(f"{n}," in record for n in names)
        wheel.extractall(tmp_path / "site")
    env = {k: v for k, v in os.environ.items() if not k.startswith("MASE_") and k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", "import chop.passes.graph, mase; print(mase._library.lib._name, mase.open('jsc-tiny'))"],
        cwd=tmp_path, env={**env, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True, text=True, check=True,
    )
    assert str(tmp_path / "site" / "mase" / "lib") in done.stdout and "6 nodes" in done.stdout


def test_wheels_are_the_same_bytes_each_time(tmp_path: pathlib.Path) -> None:
    contents = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        contents.append((tmp_path / folder / mase_build.build_wheel(str(tmp_path / folder))).read_bytes())
    assert contents[0] == contents[1]


def test_an_editable_wheel_points_here(tmp_path: pathlib.Path) -> None:
    with zipfile.ZipFile(tmp_path / mase_build.build_editable(str(tmp_path))) as wheel:
        assert wheel.read("mase.pth").decode() == f"{ROOT / 'python'}\n"


def test_a_source_archive_has_what_builds(tmp_path: pathlib.Path) -> None:
    with tarfile.open(tmp_path / mase_build.build_sdist(str(tmp_path))) as archive:
        names = archive.getnames()
    top = f"mase-{mase_build.version()}"
    for name in ("PKG-INFO", "pyproject.toml", "CMakeLists.txt", "python/mase_build.py", "include/mase.h"):
        assert f"{top}/{name}" in names
    assert not [name for name in names if name.startswith(f"{top}/build")]


def test_a_library_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("MASE_LIBRARY", "/lib/x86_64-linux-gnu/libm.so.6")
    with pytest.raises(SystemExit, match="is no libmase"):
        mase_build.build_wheel(str(tmp_path))
