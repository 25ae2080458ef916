"""notebooks.py - are the outputs that docs/notebooks/*.ipynb show those that one gets?

    notebooks.py [--write] [NOTEBOOK...]      all of them when none is named; scripts/notebooks is the same

Each is executed by nbconvert, in an empty folder, over the package in python/ and the library that
MASE_LIBRARY names (build/libmase.so.0 if it names none). What its cells print and show is compared with
what is stored; every cell that differs is named, with the lines, and the status is 1. --write stores
what came out. Status 77: there is no nbconvert, no
ipykernel or no NumPy for this Python.
"""

import argparse
import difflib
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("text/plain", "text/html", "image/svg+xml")  # of what a cell shows; others say the same again
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
NEEDED = {"nbconvert": "jupyter-nbconvert", "ipykernel": "python3-ipykernel", "numpy": "python3-numpy"}
PRIVATE = re.compile(r" at 0x[0-9a-f]{6,}|/home/|/root/|/tmp/|/usr/lib/python|" + re.escape(str(ROOT)))


def environment(scratch):
    """Nothing of the user's: neither settings nor data sets, and no waiting threads that spin."""
    build = pathlib.Path(os.environ.get("MASE_BUILD") or ROOT / "build").resolve()
    env = {k: v for k, v in os.environ.items() if not k.startswith(("IPYTHON", "JUPYTER", "MASE_DATA"))}
    env.setdefault("MASE_LIBRARY", str(build / "libmase.so.0"))
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "python"), env.get("PYTHONPATH")]))
    env.update(PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8", NO_COLOR="1", OMP_WAIT_POLICY="passive")
    folders = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "XDG_CACHE_HOME")
    for name in folders:
        env[name] = str(scratch / name.lower())
    return env


def execute(notebook, scratch):
    """The notebook with what its cells give now; a cell that fails does not end it."""
    folder = scratch / notebook.stem
    folder.mkdir()
    copy = folder / notebook.name
    copy.write_bytes(notebook.read_bytes())
    command = [sys.executable, "-B", "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace"]
    command += ["--allow-errors", "--ExecutePreprocessor.timeout=600", "--ExecutePreprocessor.record_timing=False"]
    run = subprocess.run([*command, str(copy)], env=environment(scratch), stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    if run.returncode:
        sys.exit(f"notebooks: {notebook.name}: nbconvert failed\n{run.stdout}")
    return json.loads(copy.read_text("utf-8"))


def text_of(value):
    """A text, which notebooks may keep as a list of lines."""
    return value if isinstance(value, str) else "".join(value)


def lines_of(text):
    return text_of(text).splitlines(keepends=True)


def plain_output(output):
    """An output without what is not the cell's own saying."""
    kind = output["output_type"]
    if kind == "stream":
        return {"output_type": kind, "name": output["name"], "text": lines_of(output["text"])}
    if kind == "error":
        return {"output_type": kind, "ename": output["ename"], "evalue": output["evalue"], "traceback": []}
    data = {name: lines_of(output["data"][name]) for name in KINDS if name in output["data"]}
    plain = {"output_type": kind, "data": data, "metadata": {}}
    if kind == "execute_result":
        plain["execution_count"] = output["execution_count"]
    return plain


def plain_outputs(outputs):
    """What was printed in pieces becomes one; the two streams of a cell have no order among themselves."""
    shown, streams = [], {}
    for output in map(plain_output, outputs):
        if output["output_type"] != "stream":
            streams = {}
            shown.append(output)
        elif output["name"] in streams:
            text = streams[output["name"]]["text"]
            text[:] = lines_of("".join(text + output["text"]))
        else:
            streams[output["name"]] = output
            shown.append(output)
            if len(streams) == 2:  # stderr came first, or stdout
                shown[-2:] = sorted(shown[-2:], key=lambda o: o["name"])
    return shown


def plain_notebook(notebook):
    """A notebook as it is stored: no times, no names of machines, cells counted from 1."""
    cells, count = [], 0
    for cell in notebook["cells"]:
        plain = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": {}, "source": lines_of(cell["source"])}
        if cell["cell_type"] == "code":
            count += 1
            plain.update(execution_count=count, outputs=plain_outputs(cell["outputs"]))
        cells.append(plain)
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def said(output):
    """What an output says, by what it is: {"stdout": text}, {"text/html": text}."""
    if output["output_type"] == "stream":
        return {output["name"]: text_of(output["text"])}
    if output["output_type"] == "error":
        return {"error": f"{output['ename']}: {output['evalue']}\n"}
    return {kind: text_of(value) for kind, value in output["data"].items()}


def unlike(stored, now):
    """Lines that say how the outputs of a cell differ; none: they do not."""
    lines = []
    for i in range(max(len(stored), len(now))):
        old = said(stored[i]) if i < len(stored) else {}
        new = said(now[i]) if i < len(now) else {}
        for kind in {**old, **new}:
            a, b = old.get(kind, ""), new.get(kind, "")
            if a != b:
                lines.append(f"    {kind}")
                lines += difflib.unified_diff(split(a), split(b), "stored", "now", n=1, lineterm="")
    return lines


def split(text):
    """Into lines; rows of tables in HTML count as such."""
    return re.sub(r"(</tr>|</path>|/>)", r"\1\n", text).splitlines()


def faults(name, stored, now):
    """Print what differs; how many cells do."""
    count = 0
    pairs = [(i, a, b) for i, (a, b) in enumerate(zip(stored["cells"], now["cells"]), 1) if a["cell_type"] == "code"]
    for i, a, b in pairs:
        lines = unlike(a["outputs"], b["outputs"])
        if not lines:
            continue
        count += 1
        print(f"notebooks: {name}: cell {i} (In [{a['execution_count']}]) shows something else:")
        print("    " + "".join(a["source"]).strip().split("\n")[0])
        print("\n".join(lines[:40] + (["    ..."] if len(lines) > 40 else [])))
    return count


def private(text):
    """What another machine, or the next run, would show otherwise; "" if there is nothing of the kind."""
    found = PRIVATE.search(text)
    return found.group().strip() if found else ""


def unfit(name, notebook):
    """Print what must not be stored: errors, and what only this machine shows; how much."""
    count = 0
    for i, cell in enumerate(notebook["cells"], 1):
        for output in cell.get("outputs", []):
            for kind, text in said(output).items():
                found = text.strip() if kind == "error" else private(text)
                if found:
                    count += 1
                    print(f"notebooks: {name}: cell {i} shows what must not be stored: {found}")
    return count


def check(path, args, scratch):
    """Execute a notebook; how many faults it has."""
    stored = json.loads(path.read_text("utf-8"))
    now = plain_notebook(execute(path, scratch))
    text = json.dumps(now, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    count = unfit(path.name, now)
    if args.write:
        path.write_text(text, "utf-8")
        return count
    count += faults(path.name, plain_notebook(stored), now)
    if not count and path.read_text("utf-8") != text:
        print(f"notebooks: {path.name}: is not stored as --write stores it")
        count += 1
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="store what came out")
    parser.add_argument("notebook", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    for needed, package in NEEDED.items():
        if importlib.util.find_spec(needed) is None:
            print(f"notebooks: not executed: {sys.executable} has no {needed} (Debian: {package})")
            return 77
    paths = args.notebook or sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
    count = 0
    for path in paths:
        with tempfile.TemporaryDirectory(prefix="mase-notebooks-") as scratch:
            count += check(path, args, pathlib.Path(scratch))
    if not count:
        what = "stored" if args.write else "and every cell shows what is stored"
        print(f"notebooks: {len(paths)} executed, {what}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
