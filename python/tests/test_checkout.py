"""In a checkout the library is built when it is first wanted, and again when its sources have changed."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from mase import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A stand-in for the build: counts its calls, and gives the library that is there.
BUILD = """#!/bin/sh
root=${0%/*}/..
echo "$@" >>"$root/calls"
echo "ch: building"
[ -e "$root/broken" ] && exit 2
mkdir -p "$root/build"
cp "$LIBRARY" "$root/build/libmase.so.0"
touch "$root/build/.stamp_shared"
"""


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> pathlib.Path:
    """A checkout of another place, with a space in its name, and without a library."""
    root = tmp_path / "a tree"
    for folder in ("include/mase", "src/base", "src/cli", "scripts"):
        (root / folder).mkdir(parents=True)
    for file in ("CMakeLists.txt", "include/mase/a.h", "src/base/a.c", "src/cli/main.c"):
        (root / file).touch()
    shutil.copytree(ROOT / "python" / "mase", root / "python" / "mase", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "scripts" / "build").write_text(BUILD)
    (root / "scripts" / "build").chmod(0o755)
    return root


def imported(tree: pathlib.Path, **more: str) -> "subprocess.CompletedProcess[str]":
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MASE_", "PYTHONPATH"))}
    library = str(pathlib.Path(_library.lib._name).resolve())
    return subprocess.run(
        [sys.executable, "-B", "-c", "import mase; print(mase._library.lib._name, mase.open('jsc-tiny'))"],
        env={**env, "PYTHONPATH": str(tree / "python"), "LIBRARY": library, **more},
        capture_output=True, text=True, check=False,
    )


def builds(tree: pathlib.Path) -> int:
    calls = tree / "calls"
    return len(calls.read_text().splitlines()) if calls.exists() else 0


def test_it_is_built_on_first_use_and_after_a_change(tree: pathlib.Path) -> None:
    first = imported(tree)
    assert str(tree / "build" / "libmase.so.0") in first.stdout and "6 nodes" in first.stdout, first.stderr
    assert "building" in first.stderr and "building" not in first.stdout
    assert (tree / "calls").read_text() == "mase_shared\n"
    assert imported(tree).returncode == 0 and builds(tree) == 1
    stamp = (tree / "build" / ".stamp_shared").stat().st_mtime_ns
    for number, change in enumerate(("src/base/a.c", "include/mase/a.h", "CMakeLists.txt"), 2):
        stamp += 10**9
        os.utime(tree / change, ns=(stamp, stamp))
        os.utime(tree / "build" / ".stamp_shared", ns=(stamp - 1, stamp - 1))
        assert imported(tree).returncode == 0 and builds(tree) == number, change
        os.utime(tree / "build" / ".stamp_shared", ns=(stamp, stamp))
    os.utime(tree / "src" / "cli" / "main.c", ns=(stamp + 10**9, stamp + 10**9))  # of the program alone
    assert imported(tree).returncode == 0 and builds(tree) == 4


def test_what_cannot_be_built_says_make(tree: pathlib.Path) -> None:
    (tree / "broken").touch()
    done = imported(tree)
    assert done.returncode == 1 and "ImportError" in done.stderr
    assert "run make in" in done.stderr and str(tree) in done.stderr


def test_a_library_that_was_named_is_taken(tree: pathlib.Path) -> None:
    library = str(pathlib.Path(_library.lib._name).resolve())
    assert library in imported(tree, MASE_LIBRARY=library).stdout and builds(tree) == 0


def test_a_package_without_a_checkout_builds_nothing(tree: pathlib.Path) -> None:
    shutil.rmtree(tree / "scripts")
    done = imported(tree)
    assert "ImportError" in done.stderr and "not there" in done.stderr and builds(tree) == 0
