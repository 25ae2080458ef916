"""run.py - a tool of Python's with its arguments; status 77 where it, or NumPy, is not installed, and where pytest
skipped a whole file.

    run.py pytest|mypy ARGUMENT...
"""

import importlib.util
import runpy
import sys

tool = sys.argv[1]
for needed in (tool, "numpy"):
    if importlib.util.find_spec(needed) is None:
        print(f"{sys.executable} has no {needed}")
        sys.exit(77)
sys.path.pop(0)  # this folder
sys.argv = sys.argv[1:]
NOTHING_RAN = 5  # pytest's status
try:
    runpy.run_module(tool, run_name="__main__", alter_sys=True)
except SystemExit as end:
    sys.exit(77 if tool == "pytest" and end.code == NOTHING_RAN else end.code)
