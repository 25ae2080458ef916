#!/usr/bin/env python3
"""Write tables.txt: tables and the text that Python's tabulate 0.9 or later makes of them.

    pip install tabulate && python3 make_tables.py > tables.txt

Format of a case, one item a line, "\\n" and "\\e" standing for newline and escape:

    case STYLE COLUMNS ROWS HEADER WRAP ALIGN     HEADER 0 or 1, ALIGN letters a l r c
    (COLUMNS headers, then ROWS * COLUMNS cells)
    expect N
    (N lines)

One difference is intended and made here: under "github" the rule carries a colon below columns
set to the right or centred, which the web page needs to align them.
"""
import re
import sys

import tabulate

STYLES = ["simple", "grid", "pretty", "orgtbl", "github"]
ALIGNS = {"a": "global", "l": "left", "r": "right", "c": "center"}

GREY, OFF = "\x1b[38;5;8m", "\x1b[0m"

# (headers, rows, wrap, align); wrap only matters to "pretty"
TABLES = [
    (["Name", "Op"], [["x", "placeholder"], ["fc1", "linear"]], 0, "aa"),
    (["Original type", "OP", "Total", "Changed"],
     [["Linear", "linear", "1", "0"], ["ReLU", "relu", "12", "-1"]], 0, "aaaa"),
    (["Changed", "n"], [["False", "1"], ["True", "2"]], 0, "aa"),
    (["mixed", "all bool"], [["True", "True"], ["7", "False"]], 0, "aa"),
    (["float", "wide"], [["0.5", "1"], ["12.25", "2.5"], ["-3", "1e-05"]], 0, "aa"),
    (["gap", "text gap"], [["1", "a"], ["", ""], ["300", "b"]], 0, "aa"),
    (["empty"], [[""], [""]], 0, "a"),
    (["n", "word"], [["nan", "nano"], ["-inf", "inf"], ["1.5", "infinite"]], 0, "aa"),
    (["thousands", "not"], [["1,000", "1,00"], ["12,345,678", "1000,000"]], 0, "aa"),
    (["signs", "odd"], [["+1", "+"], ["-2", "1"]], 0, "aa"),
    (["point", "hex"], [["0.5", "0x10"], ["2.25", "0x20"]], 0, "aa"),
    (["key", "value"], [["x", "{'a': 1,\n 'b': [1,\n       2]}"], ["longer name", "one"]], 0, "aa"),
    (["two\nlines", "h"], [["1", "a\nb"], ["22", "c"]], 0, "aa"),
    (["naïve", "größe"], [["é", "1"], ["日本", "22"]], 0, "aa"),
    (["left", "right", "centre"], [["1", "a", "ab"], ["22", "bcd", "abc"]], 0, "lrc"),
    (["l", "r", "c"], [["1.25", "2.5", "3"], ["22", "3", "12345678"]], 0, "lrc"),
    (["  kept?  ", "blanks"], [["  a  ", "  one"], ["b", "two "]], 0, "aa"),
    (["a wide header", "b"], [], 0, "aa"),
    (["colour", "n"], [[GREY + "128" + OFF, "1"], ["plain text", GREY + "22" + OFF]], 0, "aa"),
    (["Name", "Default", "Effective"],
     [["target", "xcu250-figd2104-2L-e", "xcu250-figd2104-2L-e"],
      ["strategy", GREY + "ddp_find_unused_parameters_true" + OFF, "auto"],
      ["project_dir", "/home/someone/mase-tools/machop/mase_output", "None"],
      ["words", "the quick brown fox jumps over the lazy dog", "half-done work-in-progress, well-known"],
      ["lines", "the first line is long enough to wrap\nthe second", "1\n2"],
      ["exact", "123456789012345678901234", "x234567890123456789012345"],
      ["number", "1234567890123456789012345678", "x"],
      ["blank at edge", "123456789012345678901234 x", "12345678901234567890123 xy"]],
     24, "lcc"),
    (["Supported", "Models"], [["jsc-tiny", "jsc-toy"], ["vgg7", "a-b-c-d-efgh-ij"]], 7, "aa"),
]


def mark_alignment(lines, rule, aligns):
    cells = lines[rule].strip("|").split("|")
    for i, align in enumerate(aligns):
        if align != "left":
            cells[i] = cells[i][:-1] + ":"
        if align == "center":
            cells[i] = ":" + cells[i][1:]
    lines[rule] = "|" + "|".join(cells) + "|"


def column_align(rows, column, letter):
    if letter != "a":
        return ALIGNS[letter]
    kind = tabulate._column_type([row[column] for row in rows])
    return "right" if kind in (int, float) else "left"


def render(style, headers, rows, wrap, align, with_header):
    options = {}
    if rows:
        options["colalign"] = [ALIGNS[a] for a in align]
    if wrap and style == "pretty":
        options["maxcolwidths"] = wrap
    table = tabulate.tabulate(rows, headers if with_header else (), tablefmt=style, **options)
    lines = table.split("\n")
    if style == "github" and rows:
        rule = 0
        while not re.fullmatch(r"[|-]+", lines[rule]):
            rule += 1
        mark_alignment(lines, rule, [column_align(rows, c, a) for c, a in enumerate(align)])
    return lines


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\x1b", "\\e")


def write_case(style, headers, rows, wrap, align, with_header):
    print("case", style, len(headers), len(rows), int(with_header), wrap, align)
    for cell in headers + [cell for row in rows for cell in row]:
        print(escaped(cell))
    lines = render(style, headers, rows, wrap, align, with_header)
    print("expect", len(lines))
    for line in lines:
        print(escaped(line))


def main():
    for headers, rows, wrap, align in TABLES:
        for style in STYLES:
            write_case(style, headers, rows, wrap, align, True)
            if rows:
                write_case(style, headers, rows, wrap, align, False)


if __name__ == "__main__":
    sys.exit(main())
