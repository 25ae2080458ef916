"""notebooks_compare.py - notebooks.py, tried on notebooks made here: does it see what differs, and does it leave
alone what does not count? Nothing is executed, so it needs nothing but Python.
"""

import contextlib
import io

import notebooks


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def shown(count=1, **data):
    data = {kind.replace("_", "/"): text for kind, text in data.items()}
    return {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}


def notebook(*outputs):
    """With a cell of text, and one of code that gave these outputs."""
    text = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "A text"}
    code = {"cell_type": "code", "id": "b", "metadata": {"execution": {"iopub.status.busy": "now"}},
            "source": "code()", "execution_count": 7, "outputs": list(outputs)}
    return notebooks.plain_notebook({"cells": [text, code], "metadata": {}})


def said(function, *arguments):
    """What it prints, and what it returns."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        found = function("made.ipynb", *arguments)
    return out.getvalue(), found


def same(stored, now):
    return said(notebooks.faults, stored, now)[1] == 0


assert same(notebook(stream("a\nb\n")), notebook(stream("a\n"), stream("b\n"))), "printed in pieces"
assert same(notebook(stream("a"), stream("b", "stderr")), notebook(stream("b", "stderr"), stream("a"))), "two streams"
one, again = shown(text_plain="1"), shown(9, text_plain=["1"], text_latex="$1$")
assert same(notebook(one), notebook(again)), "counts, lists of lines, other kinds"

text, count = said(notebooks.faults, notebook(stream("a\nb\n")), notebook(stream("a\nc\n")))
assert count == 1 and "made.ipynb: cell 2 (In [1])" in text and "-b" in text and "+c" in text, text
failure = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}
for stored, now in (
    (notebook(shown(text_plain="1")), notebook(shown(text_plain="2"))),
    (notebook(shown(text_html="<td>1</td>")), notebook(shown(text_html="<td>2</td>"))),
    (notebook(shown(**{"image_svg+xml": "<svg/>"})), notebook(shown(**{"image_svg+xml": "<svg><g/></svg>"}))),
    (notebook(stream("a")), notebook()),
    (notebook(), notebook(stream("a", "stderr"))),
    (notebook(stream("a")), notebook(stream("a"), failure)),
):
    assert not same(stored, now), (stored, now)

plain = notebook(shown(text_plain="1"))
assert plain["cells"][1]["metadata"] == {} and plain["cells"][1]["execution_count"] == 1
assert said(notebooks.unfit, plain)[1] == 0
for text in ("<f at 0x7f66683bb600>", "/home/somebody/x", f"in {notebooks.ROOT}/python"):
    assert said(notebooks.unfit, notebook(stream(text)))[1] == 1, text
assert said(notebooks.unfit, notebook(failure))[1] == 1
print("notebooks_compare: what differs is seen, and what does not count is left alone")
