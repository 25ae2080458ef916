"""What people see: tables, the bar of training, and how both look in a notebook."""

from __future__ import annotations

import importlib
import math
import sys
import time
from html import escape
from typing import TYPE_CHECKING, Any, Iterator, List, Mapping, Optional, Sequence

if TYPE_CHECKING:
    from .data import Data
    from .graph import MaseGraph
    from .running import Evaluation
    from .training import Epoch


def cell(value: Any) -> str:
    """A value as a table shows it."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)


class Table:
    """Rows of values under names: text here, HTML in a notebook; rows can be walked and indexed."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> None:
        self.columns = list(columns)
        self.rows = [list(row) for row in rows]
        self.title = title

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[List[Any]]:
        return iter(self.rows)

    def __getitem__(self, index: Any) -> Any:
        """A row by its number, or a column by its name."""
        if isinstance(index, str):
            column = self.columns.index(index)
            return [row[column] for row in self.rows]
        return self.rows[index]

    def _cells(self) -> List[List[str]]:
        return [[cell(value) for value in row] for row in self.rows]

    def _numeric(self) -> List[bool]:
        """Columns that stand to the right."""
        return [
            bool(self.rows) and all(_is_number(row[i]) for row in self.rows)
            for i in range(len(self.columns))
        ]

    def _repr_html_(self) -> str:
        align = ["right" if numeric else "left" for numeric in self._numeric()]

        def line(tag: str, cells: Sequence[str]) -> str:
            inner = "".join(
                f'<{tag} style="text-align: {side}; white-space: pre-wrap">{escape(text)}</{tag}>'
                for side, text in zip(align, cells)
            )
            return f"<tr>{inner}</tr>"

        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        body = "".join(line("td", row) for row in self._cells())
        head = line("th", self.columns)
        return f"<table>{caption}<thead>{head}</thead><tbody>{body}</tbody></table>"

    def _repr_markdown_(self) -> str:
        rule = ["---:" if numeric else ":---" for numeric in self._numeric()]
        body = [[text.replace("|", "\\|") for text in row] for row in self._cells()]
        lines = [self.columns, rule, *([t.replace("\n", "<br>") for t in row] for row in body)]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def __str__(self) -> str:
        cells, numeric = self._cells(), self._numeric()
        lines = [[text.split("\n") for text in row] for row in cells]
        widths = [
            max([len(name), *(len(part) for row in lines for part in row[i])])
            for i, name in enumerate(self.columns)
        ]

        def line(parts: Sequence[str]) -> str:
            padded = [
                part.rjust(width) if right else part.ljust(width)
                for part, width, right in zip(parts, widths, numeric)
            ]
            return "  ".join(padded).rstrip()

        out = [self.title] if self.title else []
        out += [line(self.columns), "  ".join("-" * width for width in widths)]
        for row in lines:
            for i in range(max([1, *(len(part) for part in row)])):
                out.append(line([part[i] if i < len(part) else "" for part in row]))
        return "\n".join(out)

    __repr__ = __str__


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def graph_table(graph: MaseGraph) -> Table:
    """A row for every node of a graph."""
    rows = [
        [n.op, n.name, n.target, _plain(n.args), _plain(n.kwargs), _formats(n.formats)]
        for n in graph.nodes
    ]
    return Table(["opcode", "name", "target", "args", "kwargs", "formats"], rows)


def _plain(value: Any) -> str:
    return repr(value)


def _formats(formats: Any) -> str:
    return ", ".join(f"{operand} {format}" for operand, format in formats.items())


def data_table(data: Data) -> Table:
    """What data are."""
    info = data.info
    rows = [[key, info[key]] for key in info if info[key] not in (None, [], {})]
    return Table(["data", data.name], rows)


def evaluation_table(evaluation: Evaluation) -> Table:
    """Of classes precision, recall, AUC and confusion; else the metrics."""
    detail = evaluation.detail
    classes = detail.get("classes")
    if classes:
        names = [row["name"] for row in classes]
        if isinstance(classes[0]["answers"], dict):  # there are many
            rows = [[row[key] for key in ("name", "precision", "recall", "auc")] for row in classes]
            return Table(["class", "precision", "recall", "AUC"], rows)
        rows = [
            [row["name"], row["precision"], row["recall"], row["auc"], *row["answers"]]
            for row in classes
        ]
        return Table(["class", "precision", "recall", "AUC", *(f"as {name}" for name in names)], rows)
    metrics = [[key, value] for key, value in detail.items() if isinstance(value, (int, float))]
    return Table(["metric", "value"], metrics)


# ---- training ----


def curves(series: Mapping[str, Sequence[float]], x_name: str) -> str:
    """Lines over 0, 1, 2, ... as SVG, with the least and the greatest value at the side."""
    values = [v for line in series.values() for v in line if math.isfinite(v)]
    count = max((len(line) for line in series.values()), default=0)
    if count < 2 or not values:
        return ""
    low, high = min(values), max(values)
    width, height, left, top = 420, 140, 60, 12

    def point(i: int, v: float) -> str:
        x = left + width * i / (count - 1)
        return f"{x:.1f},{top + height * (high - v) / ((high - low) or 1):.1f}"

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 110}" height="{height + 40}" '
        'font-family="sans-serif" font-size="11" fill="currentColor">',
        f'<path d="M{left} {top}v{height}h{width}" fill="none" stroke="currentColor" opacity="0.4"/>',
        f'<text x="{left - 4}" y="{top + 4}" text-anchor="end">{high:.4g}</text>',
        f'<text x="{left - 4}" y="{top + height}" text-anchor="end">{low:.4g}</text>',
        f'<text x="{left + width}" y="{top + height + 16}" text-anchor="end">'
        f"{escape(x_name)} {count - 1}</text>",
    ]
    for number, (name, line) in enumerate(series.items()):
        colour = ("#0072b2", "#d55e00", "#009e73")[number % 3]
        points = " ".join(point(i, v) for i, v in enumerate(line) if math.isfinite(v))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        label_at = f'x="{left + width + 8}" y="{top + 10 + 16 * number}" fill="{colour}"'
        out.append(f"<text {label_at}>{escape(name)}</text>")
    return "".join([*out, "</svg>"])


def in_notebook() -> bool:
    """Is there a notebook that shows HTML?"""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def progress_bar(wanted: Optional[bool]) -> Any:
    """A bar for training; None: nobody wants one, or nobody could see it."""
    if wanted is False:
        return None
    if in_notebook():
        return NotebookBar()
    if wanted or sys.stderr.isatty():
        return TerminalBar()
    return None


def _status(epoch: Epoch) -> str:
    return (
        f"epoch {epoch.epoch + 1}/{epoch.epochs}: train_loss {epoch.train_loss:.4f}, "
        f"val_loss {epoch.val_loss:.4f}, val_score {epoch.val_score:.4f}"
    )


class _Pace:
    """At most ten times a second."""

    def __init__(self) -> None:
        self._last = -math.inf

    def due(self) -> bool:
        now = time.monotonic()
        if now - self._last < 0.1:
            return False
        self._last = now
        return True


class TerminalBar:
    """One line that is written over, and one that stays for each epoch."""

    WIDTH = 30

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._shown = 0
        self._pace = _Pace()

    def _show(self, text: str, end: str = "") -> None:
        self._stream.write("\r" + text.ljust(self._shown) + end)
        self._stream.flush()
        self._shown = len(text) if not end else 0

    def batch(self, epoch: int, epochs: int, done: int, total: int, loss: float) -> None:
        full = self.WIDTH * done // max(total, 1)
        bar = "#" * full + "." * (self.WIDTH - full)
        self._show(f"epoch {epoch + 1}/{epochs} [{bar}] {done}/{total} loss {loss:.4f}")

    def epoch(self, epoch: Epoch) -> None:
        self._show(_status(epoch), "\n")

    def trial(self, done: int) -> None:
        if self._pace.due():
            self._show(f"search: {done} trials")

    def close(self) -> None:
        if self._shown:
            self._show("", "\r")


class NotebookBar:
    """A bar of HTML that is changed in place."""

    def __init__(self) -> None:
        shown: Any = importlib.import_module("IPython.display")
        self._html = shown.HTML
        self._display = shown.display(shown.HTML(""), display_id=True)
        self._last = ""
        self._trials = 0
        self._pace = _Pace()

    def _show(self, done: int, total: int, text: str) -> None:
        bar = f'<progress value="{done}" max="{max(total, 1)}" style="width: 20em"></progress>'
        self._display.update(self._html(f"{bar} <code>{escape(text)}</code>"))

    def batch(self, epoch: int, epochs: int, done: int, total: int, loss: float) -> None:
        text = f"epoch {epoch + 1}/{epochs}, batch {done}/{total}, loss {loss:.4f}"
        self._show(epoch * total + done, epochs * total, f"{text}  {self._last}")

    def epoch(self, epoch: Epoch) -> None:
        self._last = _status(epoch)
        self._show(epoch.epoch + 1, epoch.epochs, self._last)

    def trial(self, done: int) -> None:
        self._trials = done
        if self._pace.due():
            self._count()

    def _count(self) -> None:
        self._display.update(self._html(f"<code>search: {self._trials} trials</code>"))

    def close(self) -> None:
        if self._trials:
            self._count()
