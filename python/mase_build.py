"""How pip makes a wheel of this repository: a build backend (PEP 517, PEP 660) of the standard library.

A wheel has the package, chop beside it, and libmase.so in mase/lib unless this system has one that fits: the same
version and ABI. MASE_LIBRARY names one to be taken; else it is built with cmake, into build/ (or
MASE_BUILD). Nothing is downloaded. An editable wheel points into the checkout, whose build/ has the
library. All times in archives are SOURCE_DATE_EPOCH, or a constant: the same sources, the same bytes.
"""

from __future__ import annotations

import base64
import csv
import ctypes
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ABI = 0
SONAME = f"libmase.so.{ABI}"
Config = Optional[Mapping[str, Any]]

METADATA = """\
Metadata-Version: 2.1
Name: mase
Version: {version}
Summary: networks as graphs: capture, look into, quantise, prove what changed
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy>=1.21
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{description}"""


def version() -> str:
    """Of the project, as CMakeLists.txt has it."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"^project\(mase VERSION ([0-9.]+)", text, re.MULTILINE)
    if not found:
        raise SystemExit("CMakeLists.txt names no version")
    return found.group(1)


def _metadata() -> str:
    guide = ROOT / "docs" / "python.md"
    text = guide.read_text(encoding="utf-8") if guide.exists() else ""
    return METADATA.format(version=version(), description=text)


# ---- the library ----


def _fits(path: str) -> bool:
    """Is the library at this path, or of this name, the one that the package is for?"""
    try:
        library = ctypes.CDLL(path)
        library.mase_version.restype = ctypes.c_char_p
        return bool(library.mase_abi() == ABI) and bool(library.mase_version().decode() == version())
    except (OSError, AttributeError):
        return False


def _build() -> Path:
    """Build the library; what cmake says goes to the error stream."""
    folder = Path(os.environ.get("MASE_BUILD") or ROOT / "build")
    if not shutil.which("cmake"):
        raise SystemExit(
            "libmase is not installed, and cmake, which would build it, is not here; "
            "MASE_LIBRARY=FILE names a library that is"
        )
    if not (folder / "CMakeCache.txt").exists():
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        _run("cmake", *generator, "-S", str(ROOT), "-B", str(folder), "-DMASE_WERROR=OFF")
    _run("cmake", "--build", str(folder), "--target", "mase_shared", "--parallel")
    return folder / SONAME


def _run(*command: str) -> None:
    print("mase:", *command, file=sys.stderr)
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
        raise SystemExit(f"mase: {command[0]} failed, see above")


def _library(config: Config) -> Optional[Path]:
    """The library that goes into the wheel; None: the system's is used."""
    named = os.environ.get("MASE_LIBRARY")
    if named:
        if not _fits(os.path.abspath(named)):
            raise SystemExit(f"MASE_LIBRARY={named} is no libmase {version()} of ABI {ABI}")
        return Path(named).resolve()
    if (config or {}).get("library") != "bundled" and _fits(SONAME):
        return None
    return _build()


# ---- archives ----


def _epoch() -> int:
    return int(os.environ.get("SOURCE_DATE_EPOCH") or 1704067200)


class _Wheel:
    """A wheel being written: files, and RECORD at the end."""

    def __init__(self, folder: str, tag: str) -> None:
        self.info = f"mase-{version()}.dist-info"
        self.name = f"mase-{version()}-{tag}.whl"
        self._zip = zipfile.ZipFile(Path(folder) / self.name, "w", zipfile.ZIP_DEFLATED)
        self._rows: List[Tuple[str, str, str]] = []

    def add(self, name: str, content: bytes, executable: bool = False) -> None:
        when = time.gmtime(max(_epoch(), 315532800))[:6]
        entry = zipfile.ZipInfo(name, when)
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._rows.append((name, f"sha256={digest}", str(len(content))))

    def close(self, tag: str, pure: bool) -> str:
        for name, content in _info_files(tag, pure).items():
            self.add(f"{self.info}/{name}", content)
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(
            [*self._rows, (f"{self.info}/RECORD", "", "")]
        )
        self.add(f"{self.info}/RECORD", out.getvalue().encode())
        self._zip.close()
        return self.name


def _info_files(tag: str, pure: bool) -> Dict[str, bytes]:
    wheel = f"Wheel-Version: 1.0\nGenerator: mase_build {version()}\nRoot-Is-Purelib: "
    wheel += f"{'true' if pure else 'false'}\nTag: {tag}\n"
    return {
        "METADATA": _metadata().encode("utf-8"),
        "WHEEL": wheel.encode(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
    }


def _package_files() -> Iterator[Tuple[str, bytes]]:
    for package in ("chop", "mase"):
        for path in sorted((HERE / package).iterdir()):
            if path.suffix == ".py" or path.name == "py.typed":
                yield f"{package}/{path.name}", path.read_bytes()


def _tag(library: Optional[Path]) -> str:
    if library is None:
        return "py3-none-any"
    return "py3-none-" + re.sub(r"[^a-z0-9]", "_", sysconfig.get_platform())


# ---- hooks ----


def get_requires_for_build_wheel(config_settings: Config = None) -> List[str]:
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel
get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Config = None) -> str:
    folder = Path(metadata_directory, f"mase-{version()}.dist-info")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in _info_files("py3-none-any", True).items():
        (folder / name).write_bytes(content)
    return folder.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(
    wheel_directory: str, config_settings: Config = None, metadata_directory: Optional[str] = None
) -> str:
    library = _library(config_settings)
    tag = _tag(library)
    wheel = _Wheel(wheel_directory, tag)
    for name, content in _package_files():
        wheel.add(name, content)
    if library is not None:
        wheel.add(f"mase/lib/{SONAME}", library.read_bytes(), executable=True)
    return wheel.close(tag, library is None)


def build_editable(
    wheel_directory: str, config_settings: Config = None, metadata_directory: Optional[str] = None
) -> str:
    if not os.environ.get("MASE_LIBRARY") and not _fits(SONAME):
        _build()
    tag = "py3-none-any"
    wheel = _Wheel(wheel_directory, tag)
    wheel.add("mase.pth", f"{HERE}\n".encode())
    return wheel.close(tag, True)


def _sources() -> List[str]:
    """The files of the repository: git's, else all but what is built."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True
        )
        names = [name for name in listed.stdout.decode().split("\0") if name]
        if "CMakeLists.txt" in names:
            return sorted(name for name in names if (ROOT / name).is_file())
    except (OSError, subprocess.CalledProcessError):
        pass
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if not _built(path))


def _built(path: Path) -> bool:
    top = path.parts[0]
    return top.startswith("build") or top in (".git", "mase_output") or "__pycache__" in path.parts


def build_sdist(sdist_directory: str, config_settings: Config = None) -> str:
    top = f"mase-{version()}"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in _sources():
            entry = tar.gettarinfo(str(ROOT / name), f"{top}/{name}")
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = _epoch(), 0, 0, "", ""
            with open(ROOT / name, "rb") as file:
                tar.addfile(entry, file)
        content = _metadata().encode("utf-8")
        entry = tarfile.TarInfo(f"{top}/PKG-INFO")
        entry.size, entry.mtime = len(content), _epoch()
        tar.addfile(entry, io.BytesIO(content))
    name = f"{top}.tar.gz"
    (Path(sdist_directory) / name).write_bytes(gzip.compress(out.getvalue(), mtime=_epoch()))
    return name
