"""compile_tracer.py - Python files joined and compiled, as a .pyc has it: the magic number of this Python, then its code.

    python3 compile_tracer.py OUT FILE...

Another Python does not know the code, and tells so by its own number; one that cannot trace compiles nothing.
"""
import importlib.util
import marshal
import sys

text = b""
for name in sys.argv[2:]:
    with open(name, "rb") as part:
        text += part.read()
with open(sys.argv[1], "wb") as out:
    if sys.version_info >= (3, 8):
        out.write(importlib.util.MAGIC_NUMBER + marshal.dumps(compile(text, "<string>", "exec", dont_inherit=True)))
