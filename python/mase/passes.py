"""The passes of the library as functions that take a graph and arguments: (graph, info).

There is one for each pass, with the original's names: quantize_transform_pass,
report_graph_analysis_pass, save_mase_graph_interface_pass, ... `dir(mase.passes)` lists them. A pass
changes the graph that it is given, and returns it; arguments are never changed, and None among them
is "NA". What a pass reports for people is printed.
"""

from __future__ import annotations

import ctypes
import json
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _session
from ._library import Text, c_text, call, call_text, lib, number, take_text
from ._options import configuration, plain, settings_text
from ._own import running
from .data import Data

if TYPE_CHECKING:
    from .display import Table
    from .graph import MaseGraph

PassFunction = Callable[..., Tuple["MaseGraph", "Info"]]


class Info(Dict[str, Any]):
    """What a pass found: a dict of its results.

    text is what it shows people, tables the same as data; files are those that it wrote; timings
    say how long each pass took.
    """

    def __init__(self, found: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        super().__init__(results)
        self.text: str = found.get("text") or ""
        self.files: List[str] = list(found.get("files") or [])
        self.timings: List[Dict[str, Any]] = list(found.get("timings") or [])
        self._tables = list(found.get("tables") or [])

    @property
    def tables(self) -> List[Table]:
        """What it shows, as data."""
        from .display import Table

        return [Table(t["columns"], t["rows"], t.get("key") or "") for t in self._tables]

    def _repr_html_(self) -> str:
        from html import escape

        tables = "".join(table._repr_html_() for table in self.tables)
        return tables or f"<pre>{escape(self.text or repr(dict(self)))}</pre>"


def _taken(out: Text) -> Dict[str, Any]:
    try:
        found: Dict[str, Any] = json.loads(take_text(out) or "{}")
        return found
    finally:
        lib.mase_text_release(ctypes.byref(out))


def run_pass(
    graph: MaseGraph, name: str, pass_args: Any = None, data: Optional[Data] = None
) -> Tuple[MaseGraph, Info]:
    """Run a pass by its name, on samples of data if it needs some."""
    args, data = _arguments(graph, name, pass_args, data)
    out = Text()
    rows = None if data is None else data._pointer
    with running(graph):
        call(
            lib.mase_net_pass,
            graph._pointer,
            c_text(name),
            settings_text(args),
            rows,
            ctypes.byref(out),
        )
    found = _taken(out)
    results = found.get("results") or {}
    result = results.get(name, results)
    return graph, Info(found, result if isinstance(result, dict) else {name: result})


def transform(
    graph: MaseGraph,
    config: Union[str, os.PathLike[str], Mapping[str, Any]],
    data: Optional[Data] = None,
) -> Tuple[MaseGraph, Info]:
    """Run all passes of a [passes] table in its order; if one fails, the graph is as before.

    config: the table, or a whole configuration, of which only [passes] counts: a dict, the path of
    a file, or its text (which has more than one line, or a "[").
    """
    out = Text()
    rows = None if data is None else data._pointer
    with configuration(config) as text, running(graph):
        call(lib.mase_net_passes, graph._pointer, text, rows, ctypes.byref(out))
    found = _taken(out)
    return graph, Info(found, found.get("results") or {})


# ---- arguments of Python's ----


def _arguments(
    graph: MaseGraph, name: str, pass_args: Any, data: Optional[Data]
) -> Tuple[Any, Optional[Data]]:
    """What the library gets for a pass: its options, and samples."""
    if isinstance(pass_args, (str, os.PathLike)):  # a folder or file, as the original takes it
        return _path_argument(name, os.fspath(pass_args)), data
    args = dict(pass_args or {})
    dummy = args.pop("dummy_in", None)
    if dummy is not None:
        dummy = _in_order(graph, dummy)
    if dummy is not None and "batch" in _options_of(name):  # shapes are all that it takes of it
        args.setdefault("batch", len(next(iter(dummy.values()))))
    elif dummy is not None:
        data = data or _data_of([dummy])
    generator = args.pop("input_generator", None)
    if generator is not None:
        data = _generated(graph, generator, args)
    return plain(args), data


def _options_of(name: str) -> Dict[str, Dict[str, Any]]:
    """The options of a pass by their keys."""
    for row in _session.listing("passes"):
        if row["name"] == name:
            return {option["key"]: option for option in row["options"]}
    return {}


def _path_argument(name: str, path: str) -> Dict[str, str]:
    keys = [key for key, option in _options_of(name).items() if option["type"] == "path"]
    if len(keys) == 1:
        return {keys[0]: path}
    raise TypeError(f"the arguments of pass {name} are a dict, not the text '{path}'")


def _in_order(graph: MaseGraph, batch: Mapping[str, Any]) -> Dict[str, Any]:
    """An array for each input of the graph."""
    names = [node.name for node in graph.nodes if node.op == "placeholder"]
    if not isinstance(batch, Mapping) or sorted(batch) != sorted(names):
        given = list(batch) if isinstance(batch, Mapping) else type(batch).__name__
        raise TypeError(f"an array is wanted for each input, {', '.join(names)}; got {given}")
    return {name: batch[name] for name in names}


def _generated(graph: MaseGraph, generator: Any, args: Dict[str, Any]) -> Data:
    """Samples from an input generator: its own data and split, or what any other gives."""
    own = getattr(generator, "data", None)
    if isinstance(own, Data):
        args.setdefault("split", generator.split)
        args.setdefault("batch_size", generator.batch_size)
        return own
    batches, have, wanted = [], 0, number("num_samples", args.get("num_samples") or 0)
    for batch in generator:
        batches.append(_in_order(graph, batch))
        have += len(next(iter(batch.values())))
        if have >= wanted and wanted:
            break
    return _data_of(batches)


def _data_of(batches: Sequence[Mapping[str, Any]]) -> Data:
    """Samples of batches {input: array}, all of which train."""
    import numpy

    from ._arrays import as_array

    names = list(batches[0])
    columns = [numpy.concatenate([as_array(b[n], "float32") for b in batches]) for n in names]
    x = columns[0]
    if len(columns) > 1:
        x = numpy.concatenate([c.reshape(len(c), -1) for c in columns], axis=1)
    return Data(x, name="dummy_in", train=len(x))


# ---- functions by their names ----

_ENDINGS = {"analysis": "_analysis_pass", "transform": "_transform_pass", "interface": "_interface_pass"}
_SPOKEN = ("report_", "summarize_", "verify_", "count_")
_functions: Dict[str, PassFunction] = {}


def pass_function(
    name: str, kind: str, help: str, options: List[Dict[str, Any]]
) -> PassFunction:
    """A function that runs the pass of this name."""

    def run(graph: MaseGraph, pass_args: Any = None) -> Tuple[MaseGraph, Info]:
        graph, info = run_pass(graph, name, pass_args)
        if info.text and name.startswith(_SPOKEN):
            print(info.text.rstrip("\n"))
        return graph, info

    run.__name__ = run.__qualname__ = name + _ENDINGS[kind]
    run.__module__ = __name__
    run.__doc__ = _documented(help, options)
    _functions[run.__name__] = run
    return run


def _documented(help: str, options: List[Dict[str, Any]]) -> str:
    lines = [help[:1].upper() + help[1:] + "."] if not help.endswith(".") else [help]
    if options:
        lines += ["", "pass_args:"]
    for option in options:
        default = "" if option.get("default") is None else f" (default {option['default']})"
        lines.append(f"    {option['key']}: {option.get('help') or ''}{default}")
    return "\n".join(lines)


def names() -> Dict[str, str]:
    """Names of functions, each with the name of its pass."""
    passes = _session.listing("passes")
    return {row["name"] + _ENDINGS[row["kind"]]: row["name"] for row in passes}


def __getattr__(name: str) -> Any:
    if name == "__all__":  # of `from mase.passes import *`
        return sorted(names())
    if name in _functions:
        return _functions[name]
    if name == "calculate_avg_bits_mg_analysis_pass":  # the original's
        return __getattr__("calculate_avg_bits_analysis_pass")
    if name == "summarize_quantization_analysis_pass":  # which takes two graphs, too
        from .compat import summarize_quantization_analysis_pass

        return summarize_quantization_analysis_pass
    if not name.endswith("_pass"):
        raise AttributeError(f"module 'mase.passes' has no attribute '{name}'")
    for row in _session.listing("passes"):
        if row["name"] + _ENDINGS[row["kind"]] == name:
            return pass_function(row["name"], row["kind"], row["help"], row["options"])
    import difflib

    near = difflib.get_close_matches(name, names(), 1)
    raise AttributeError(
        f"there is no pass '{name}'" + (f"; did you mean {near[0]}?" if near else "")
    )


def __dir__() -> List[str]:
    own = ("Info", "Profile", "explain", "names", "profile", "quantize", "run_pass", "transform")
    return sorted([*own, *names(), *_functions])


# ---- quantising ----


def quantize(
    graph: MaseGraph, config: Mapping[str, Any], data: Optional[Data] = None
) -> MaseGraph:
    """Give number formats to operands; changes the graph, and returns it.

    config is what the pass quantize takes, with "by"; or, without it, one entry for each node:
    {"seq_blocks_2": {"name": "integer", "data_in_width": 8, ...}}, None: in float. Where a width is
    "auto", data say what values come.
    """
    if "by" in config:
        return run_pass(graph, "quantize", config, data)[0]
    from ._library import Decision

    decisions = (Decision * max(len(config), 1))()
    for decision, (node, settings) in zip(decisions, config.items()):
        decision.node = c_text(node)
        decision.config = None if settings is None else settings_text(settings)
    rows = None if data is None else data._pointer
    graph._change(lib.mase_net_quantize, decisions, len(config), rows)
    return graph


def calibrate(
    graph: MaseGraph, data: Data, config: Mapping[str, Any], **options: Any
) -> Dict[str, Dict[str, Any]]:
    """Find what a configuration leaves "auto", on rows of the training data; the graph stays as it is.

    config is that of `quantize`. What comes has an entry for each node, with numbers, and is for `quantize`,
    too. options are those of [passes.quantize.calibrate]: method, rows, quantile, gptq, bias_correction.
    """
    if "by" not in config:
        nodes = {node: {"config": settings or {"name": None}} for node, settings in config.items()}
        config = {"by": "name", "default": {"config": {"name": None}}, **nodes}
    found = quantize(graph.copy(), {**config, "calibrate": options}, data)
    return {node.name: dict(node.config) for node in found.nodes if node.config}


def explain(graph: MaseGraph, config: Mapping[str, Any]) -> Table:
    """What the pass quantize would do with this, and why; nothing changes."""
    from .display import Table

    text = call_text(lib.mase_net_explain, graph._pointer, settings_text(config))
    rows = []
    for row in json.loads(text):
        changed = row["reason"] in ("quantised", "bypass")
        op = graph.node(row["node"]).mase_op
        rows.append([row["node"], op, changed, _why(row, op), _said(row["formats"])])
    return Table(["node", "op", "changed", "why", "formats"], rows)


def _why(row: Mapping[str, Any], op: str) -> str:
    """A decision of the pass quantize in words, as `ch explain` has them."""
    matched = "default" if row["fallback"] else f"{row['by']} '{row['key']}'"
    return {
        "not quantisable": f"{op} is not quantisable",
        "has to be named": f"{op} has to be named",
        "not a layer or function": f"matched by {matched}, but stays in float",
        "NA": "default says NA" if row["fallback"] else f"matched by {matched}, which says NA",
        "bypass": f"matched by {matched}, which says bypass",
    }.get(row["reason"], f"matched by {matched}")


def _said(formats: Optional[Mapping[str, str]]) -> str:
    return ", ".join(f"{operand} {format}" for operand, format in (formats or {}).items())


class Profile(Dict[str, Any]):
    """Statistics: {node: {operand: {statistic: {...}}}}."""

    @property
    def table(self) -> Table:
        """A row for every statistic."""
        from .display import Table

        rows = [
            [node, operand, name, ", ".join(f"{k} {_brief(v)}" for k, v in values.items())]
            for node, operands in self.items()
            for operand, statistics in operands.items()
            for name, values in statistics.items()
        ]
        return Table(["node", "operand", "statistic", "values"], rows)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def _brief(value: Any) -> str:
    from .display import cell

    text = cell(value)
    return text if len(text) < 60 else text[:57] + "..."


def profile(graph: MaseGraph, data: Optional[Data] = None, **options: Any) -> Profile:
    """Statistics of parameters and activations, which the metadata keep, too.

    options are those of the pass profile_statistics: by, target_weight_nodes,
    target_activation_nodes, weight_statistics, activation_statistics, num_samples, split, ...
    """
    args, data = _arguments(graph, "profile_statistics", options, data)
    rows = None if data is None else data._pointer
    try:
        text = call_text(lib.mase_net_profile, graph._pointer, rows, settings_text(args))
    finally:
        graph._changed()
    return Profile(json.loads(text))
