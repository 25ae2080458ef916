#!/usr/bin/env python3
"""jsc_sim.py - write jsc_sim_table.inc, the C form of jsc_sim.json.

    src/data/jsc_sim.py            write it
    src/data/jsc_sim.py --check    status 1 if it is not what would be written

Needs only Python. The numbers are rounded to float as C rounds them; the weights become thresholds
for a 32-bit random number.
"""
import json
import sys
from pathlib import Path

folder = Path(__file__).resolve().parent
target = folder / "jsc_sim_table.inc"


def rows(numbers, indent):
    """Numbers, as many a line as 100 columns hold."""
    lines, line = [], indent
    for text in numbers:
        if len(line) + len(text) + 2 > 100:
            lines.append(line.rstrip())
            line = indent
        line += text + ", "
    return "\n".join(lines + [line.rstrip()])


def floats(values, indent):
    return rows([f"{v!r}f" if "." in repr(v) or "e" in repr(v) else f"{v!r}.0f" for v in values],
                indent)


def thresholds(weights):
    total, passed, out = sum(weights), 0.0, []
    for w in weights[:-1]:
        passed += w
        out.append(f"0x{round(passed / total * 2**32):08x}")
    return out + ["0xffffffff"]


def one_class(c):
    text = f"    {{ /* {c['name']} */\n      .low = {{\n{floats(c['low'], ' ' * 10)}\n      }},\n"
    text += f"      .high = {{\n{floats(c['high'], ' ' * 10)}\n      }},\n"
    text += f"      .pick = {{\n{rows(thresholds(c['weight']), ' ' * 10)}\n      }},\n"
    for key in ("mean", "chol"):
        text += f"      .{key} = {{\n"
        for component in c[key]:
            text += f"          {{\n{floats(component, ' ' * 12)}\n          }},\n"
        text += "      },\n"
    return text + "    },\n"


def main():
    table = json.loads((folder / "jsc_sim.json").read_text())
    text = "/* Written by jsc_sim.py from jsc_sim.json; do not edit. */\n"
    text += "".join(one_class(c) for c in table["class"])
    if "--check" in sys.argv[1:]:
        if target.read_text() != text:
            sys.exit(f"{target}:1: differs from jsc_sim.json; run src/data/jsc_sim.py")
        return
    target.write_text(text)


main()
