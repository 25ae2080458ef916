"""Modules of PyTorch's as graphs: from the source of their classes, with their own weights.

A live module does not say how it was constructed. The class is read from its file, or from the cells
of a notebook with what they use, and captured as any other; the constructor's arguments are those
that were given, or attributes of the same names. Then the result is compared with the module: names
and shapes of its state dict, every layer's settings, and what it computes. Anything that differs is
an error, and so is what cannot be compared unless the arguments were given: nothing is guessed.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import math
import os
import sys
import tempfile
import textwrap
import types
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Set, Tuple

from ._errors import MaseError, MaseUnsupportedError
from ._session import logger

if TYPE_CHECKING:
    from .graph import MaseGraph


def capture(graph: MaseGraph, model: Any, arguments: Optional[str], options: Dict[str, Any]) -> None:
    """Make graph that of the module."""
    from .graph import open_net

    if not hasattr(model, "state_dict") or not hasattr(model, "forward"):
        raise TypeError(
            "a graph is made of a name or file, of another graph, or of a module of PyTorch's, not "
            f"of {type(model).__name__}"
        )
    with tempfile.TemporaryDirectory(prefix="mase-") as folder:
        file, class_name, given = _source(model, folder, arguments)
        spec = f"{file}:{class_name}({given})"
        if "shape" not in options and "dataset" not in options:
            options = {**options, "shape": _first_shape(model)}
        try:
            graph._setup(open_net(spec, **options))
        except MaseError as error:
            error.message = f"{class_name}({given}) was to be captured: {error.message}"
            raise
    _compare(graph, model, f"{class_name}({given})")
    graph.load_state_dict(_state(model))
    if not _compare_results(graph, model, f"{class_name}({given})") and arguments is None:
        raise MaseUnsupportedError(
            f"{class_name}({given}) has several inputs or results, which are not compared with what "
            "the module computes; how it was constructed is said by MaseGraph(model, arguments='...')"
        )
    logger.info("captured %s(%s) from its source, with the module's weights", class_name, given)


def _first_shape(model: Any) -> Optional[Tuple[int, ...]]:
    """The shape of a sample, if the first layer leaves no choice; what it computes is compared."""
    for layer in model.modules():
        if type(layer).__name__ == "Linear":
            return (layer.in_features,)
        if type(layer).__name__ == "BatchNorm1d":
            return (layer.num_features,)
        if not list(layer.children()):
            return None
    return None


def _state(model: Any) -> Dict[str, Any]:
    return {name: tensor.detach() for name, tensor in model.state_dict().items()}


# ---- the source ----


def _source(model: Any, folder: str, arguments: Optional[str]) -> Tuple[str, str, str]:
    """A file with the class, its name there, and the constructor's arguments as text."""
    kind = type(model)
    if kind.__module__.startswith("torch.nn.") and kind.__name__ == "Sequential":
        return _written(folder, _sequential(model)), "Captured", ""
    if kind.__module__.partition(".")[0] == "torch":
        raise MaseUnsupportedError(
            f"a {kind.__name__} by itself is no network; put it into a class or a Sequential"
        )
    given = _constructor(model) if arguments is None else arguments
    file = _file_of(kind)
    if file is None:
        return _written(folder, _self_contained(kind)), kind.__name__, given
    return file, kind.__qualname__, given


def _file_of(kind: type) -> Optional[str]:
    """The file that a class stands in; None: a notebook, or the interpreter."""
    code = _code_of(kind)
    if code is None or not os.path.exists(code.co_filename):
        return None
    return os.path.abspath(code.co_filename)


def _code_of(kind: type) -> Optional[types.CodeType]:
    """The code of a method that stands in the class itself."""
    for method in vars(kind).values():
        if isinstance(method, types.FunctionType):
            return method.__code__
    return None


def _written(folder: str, text: str) -> str:
    path = os.path.join(folder, "captured.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _sequential(model: Any) -> str:
    """The source of a Sequential of layers, which print as they are constructed."""
    lines = ["from collections import OrderedDict", "import torch.nn as nn", ""]
    lines += ["class Captured(nn.Sequential):", "    def __init__(self):"]
    lines += ["        super().__init__(OrderedDict(["]
    lines += [f"            ({n!r}, {_layer(m)})," for n, m in model.named_children()]
    return "\n".join([*lines, "        ]))", ""])


def _layer(module: Any) -> str:
    if type(module).__name__ == "Sequential":
        inner = ", ".join(f"({n!r}, {_layer(m)})" for n, m in module.named_children())
        return f"nn.Sequential(OrderedDict([{inner}]))"
    if not type(module).__module__.startswith("torch.nn") or list(module.children()):
        raise MaseUnsupportedError(
            f"{type(module).__name__} in a Sequential is of a class of its own; put the Sequential "
            "into a class in a file"
        )
    return f"nn.{type(module).__name__}({_construction(module)})"


def _construction(layer: Any) -> str:
    """The arguments that a layer of PyTorch's was constructed with, defaults left out: attributes of
    the same names, since what it prints leaves out some. Else what it prints."""
    said = []
    for name, parameter in _parameters(type(layer)).items():
        value = getattr(layer, name, parameter.empty)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return _printed(layer)
        if name == "bias":  # it has one, or not; without any weight, that says nothing
            value = value is not None or getattr(layer, "weight", value) is None
        if not _is_literal(value) and parameter.default is parameter.empty:
            return _printed(layer)
        if _is_literal(value) and value != parameter.default:
            said.append(f"{name}={_literal(value)}")
    return ", ".join(said)


def _parameters(kind: type) -> Dict[str, inspect.Parameter]:
    """Of the constructor, but where its tensors lie."""
    found = dict(list(inspect.signature(kind.__init__).parameters.items())[1:])  # type: ignore[misc]
    return {name: value for name, value in found.items() if name not in ("device", "dtype")}


def _printed(layer: Any) -> str:
    settings = _settings(repr(layer))
    if settings is None:
        raise MaseUnsupportedError(f"how {layer!r} was constructed cannot be seen")
    _name, values, named = settings
    return ", ".join([*map(_literal, values), *(f"{k}={_literal(v)}" for k, v in named.items())])


def _settings(text: str) -> Optional[Tuple[str, List[Any], Dict[str, Any]]]:
    """The class, values and named values of what a layer prints, where texts have no quotes."""
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        values = [_setting(value) for value in call.args]
        return call.func.id, values, {str(k.arg): _setting(k.value) for k in call.keywords}
    except (SyntaxError, ValueError):
        return None


def _setting(value: ast.expr) -> Any:
    return value.id if isinstance(value, ast.Name) else ast.literal_eval(value)


def _literal(value: Any) -> str:
    """Its source."""
    if isinstance(value, (tuple, list)):
        inner = ", ".join(map(_literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def _constructor(model: Any) -> str:
    """Arguments from attributes of the same names; those with defaults may be missing."""
    given, missing = [], []
    for name, parameter in list(inspect.signature(type(model).__init__).parameters.items())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        value = getattr(model, name, parameter.empty)
        if _is_literal(value):
            given.append(f"{name}={_literal(value)}")
        elif parameter.default is parameter.empty:
            missing.append(name)
    if missing:
        raise MaseUnsupportedError(
            f"how this {type(model).__name__} was constructed cannot be seen: it has no attributes "
            f"{', '.join(missing)}; say it, MaseGraph(model, arguments='...')"
        )
    return ", ".join(given)


def _is_literal(value: Any) -> bool:
    if value is inspect.Parameter.empty:
        return False
    if isinstance(value, (tuple, list)):
        return all(_is_literal(item) for item in value)
    return value is None or isinstance(value, (bool, int, float, str))


# ---- classes of notebooks ----


def _self_contained(kind: type) -> str:
    """The source of a class with all that it uses of the namespace it was defined in."""
    space = vars(sys.modules[kind.__module__])
    imports: List[str] = []
    parts: List[str] = []
    _add_object(kind, space, imports, parts, set())
    return "\n".join([*imports, "", *parts, ""])


def _add_object(
    thing: Any, space: Dict[str, Any], imports: List[str], parts: List[str], seen: Set[str]
) -> None:
    source = _source_of(thing)
    seen.add(thing.__name__)
    for name in _names_in(source):
        if name in space and name not in seen:
            seen.add(name)
            _add_name(name, space[name], space, imports, parts, seen)
    parts.append(source)


def _source_of(thing: Any) -> str:
    """The source of a class or function; that of a cell is where tracebacks find it, too."""
    code = _code_of(thing) if isinstance(thing, type) else thing.__code__
    if code is not None:
        text = "".join(linecache.getlines(code.co_filename))
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name != thing.__name__:
                continue
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= code.co_firstlineno <= (node.end_lineno or 0):
                lines = text.split("\n")[first - 1 : node.end_lineno]
                return textwrap.dedent("\n".join(lines))
    raise MaseUnsupportedError(
        f"the source of {thing.__name__} is not to be had; put it into a file"
    )


def _names_in(source: str) -> List[str]:
    names = {n.id for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name)}
    return sorted(name for name in names if not hasattr(builtins, name))


def _add_name(
    name: str,
    value: Any,
    space: Dict[str, Any],
    imports: List[str],
    parts: List[str],
    seen: Set[str],
) -> None:
    home = getattr(value, "__module__", None)
    if isinstance(value, types.ModuleType):
        imports.append(f"import {value.__name__} as {name}")
    elif isinstance(value, (type, types.FunctionType)) and home == space.get("__name__"):
        _add_object(value, space, imports, parts, seen)
        if value.__name__ != name:
            parts.append(f"{name} = {value.__name__}")
    elif _is_literal(value):
        parts.append(f"{name} = {_literal(value)}")
    elif home and hasattr(value, "__name__"):
        imports.append(f"from {home} import {value.__name__} as {name}")
    # else: what is used of it, if anything, fails when the class is captured


# ---- is it the module? ----


def _compare(graph: MaseGraph, model: Any, what: str) -> None:
    own = {name: tuple(array.shape) for name, array in graph.state_dict().items()}
    theirs = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    unused = [name for name in theirs if name not in own]
    faults = [f"{name} is {list(theirs[name])} there and {list(shape)} here" for name, shape in own.items()
              if name in theirs and theirs[name] != shape]
    faults += [f"the module has {name}" for name in unused]
    faults += [f"the module has no {name}" for name in own if name not in theirs]
    layers = dict(model.named_modules())
    for path, layer in graph.modules.items():
        if path in layers and not _alike(layers[path], repr(layer)):
            faults.append(f"{path} is {layers[path]!r} there and {layer!r} here")
    if faults:
        more = f", and {len(faults) - 3} more" if len(faults) > 3 else ""
        raise MaseUnsupportedError(
            f"{what} is another network than the module: {'; '.join(faults[:3])}{more}; how it was "
            "constructed is said by MaseGraph(model, arguments='...')"
        )


def _alike(theirs: Any, ours: str) -> bool:
    """Has a layer of PyTorch's the settings that ours prints? Versions of PyTorch print more or fewer:
    of those that ours lacks, defaults are as before, and the state dict shows which have a bias."""
    if repr(theirs) == ours:
        return True
    there, here = _settings(repr(theirs)), _settings(ours)
    if there is None or here is None or there[:2] != here[:2]:
        return False
    parameters = _parameters(type(theirs))
    for name in {*there[2], *here[2]}:
        if name not in here[2]:
            known = name in parameters and parameters[name].default == there[2][name]
            same = name == "bias" or known
        else:
            same = there[2].get(name, getattr(theirs, name, None)) == here[2][name]
        if not same:
            return False
    return True


def _compare_results(graph: MaseGraph, model: Any, what: str) -> bool:
    """Of one input and one result, both must compute the same; False: there are several."""
    import numpy

    from ._arrays import as_array

    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    if graph.sample is None or len(inputs) != 1:
        return False
    torch = sys.modules["torch"]
    x = numpy.random.default_rng(0).standard_normal((64, *graph.sample)).astype(numpy.float32)
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            wanted = model(torch.from_numpy(x.copy()))
    finally:
        model.train(training)
    if not hasattr(wanted, "numpy"):  # several results
        return False
    got, want = graph(x).reshape(-1), as_array(wanted, "float32").reshape(-1)
    if got.shape != want.shape or not numpy.allclose(got, want, rtol=1e-3, atol=1e-4):
        raise MaseUnsupportedError(
            f"{what} has the module's layers and weights, but computes something else; how it was "
            "constructed is said by MaseGraph(model, arguments='...')"
        )
    return True
