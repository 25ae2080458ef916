"""Layers of a graph: their classes, settings and parameters.

A layer's class is made by its name, so that type(layer).__name__ and comparisons of types say what
they say with PyTorch's: LinearInteger is a subclass of Linear, and both of Module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple, Type

from ._values import FixedDict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .graph import MaseGraph


class Quantizer:
    """Rounds arrays as a layer rounds one of its operands; shows itself as that operand's format."""

    def __init__(self, format: Dict[str, Any], role: str, text: str) -> None:
        self.format = format
        self.role = role
        self._text = text

    def __call__(self, array: Any) -> NDArray[Any]:
        from .running import round as round_to

        return round_to(array, self.format, role=self.role)

    def __repr__(self) -> str:
        return self._text


class Module:
    """A layer. Settings as in_features, and parameters and buffers as weight, are its attributes.

    Parameters are NumPy's arrays over the network's own memory: what is written there is what the
    network computes with. layer.weight = array copies its numbers there.
    """

    def __init__(self, graph: MaseGraph, record: Dict[str, Any]) -> None:
        self._graph = graph
        self._record = record

    @property
    def path(self) -> str:
        """Where it lies: "seq_blocks.2"."""
        return str(self._record["path"])

    @property
    def mase_op(self) -> str:
        """The operation: "linear"."""
        return str(self._record["mase_op"])

    @property
    def config(self) -> Optional[Dict[str, Any]]:
        """How it was quantised, in the words of the pass quantize; None: it was not."""
        config = self._record["config"]
        return None if config is None else FixedDict(config)

    @property
    def bypass(self) -> bool:
        """Is it quantised by name only, and computes in float?"""
        return bool((self._record["config"] or {}).get("bypass", False))

    @property
    def formats(self) -> Dict[str, str]:
        """Number formats of its operands, {"weight": "integer(8, 4)"}."""
        return FixedDict(self._record["formats"] or {})

    def named_parameters(self) -> Iterator[Tuple[str, NDArray[Any]]]:
        """What is trained, by name."""
        for name in self._record["parameters"]:
            yield name, self._array(name)

    def named_buffers(self) -> Iterator[Tuple[str, NDArray[Any]]]:
        """What is saved and not trained, by name."""
        for name in self._record["buffers"]:
            yield name, self._array(name)

    def parameters(self) -> Iterator[NDArray[Any]]:
        """What is trained."""
        return (array for _name, array in self.named_parameters())

    @property
    def w_quantizer(self) -> Quantizer:
        """Rounds an array as the layer rounds its weight."""
        return self._quantizer("weight", "weight")

    @property
    def b_quantizer(self) -> Quantizer:
        """Rounds an array as the layer rounds its bias."""
        return self._quantizer("bias", "bias")

    @property
    def x_quantizer(self) -> Quantizer:
        """Rounds an array as the layer rounds what comes in."""
        unsigned = self.mase_op == "relu"  # what a ReLU lets through has no sign
        return self._quantizer("data_in", "unsigned data" if unsigned else "data")

    def _quantizer(self, operand: str, role: str) -> Quantizer:
        config = self._record["config"]
        if config is None:
            raise AttributeError(f"{self!r} is not quantised")
        format = {"name": config.get(f"{operand}_name", config["name"])}
        for key, value in config.items():
            if key.startswith(operand + "_") and key != f"{operand}_name":
                format[key[len(operand) + 1 :]] = value
        return Quantizer(format, role, self.formats.get(operand, "float"))

    def _array(self, name: str) -> NDArray[Any]:
        return self._graph._weight(f"{self.path}.{name}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        record = self._record
        if name in record["parameters"] or name in record["buffers"]:
            return self._array(name)
        if name in record["attrs"]:
            return record["attrs"][name]
        if name in ("weight", "bias"):  # PyTorch has them as None
            return None
        raise AttributeError(f"{type(self).__name__} at {self.path} has no '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        """Parameters and buffers get these numbers; whatever else there is stays as it is."""
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        elif name not in self._record["parameters"] and name not in self._record["buffers"]:
            raise AttributeError(
                f"{type(self).__name__} at {self.path} has no parameter '{name}', and its settings "
                "are those that it was made with"
            )
        elif value is None:
            raise TypeError(f"{self.path}.{name} cannot be taken away: it is a part of the layer")
        else:
            self._graph.load_state_dict({f"{self.path}.{name}": value}, strict=False)

    def __reduce__(self) -> Any:
        return _layer_of, (self._graph, self.path)  # with its graph

    def __dir__(self) -> List[str]:
        record = self._record
        names = [*record["parameters"], *record["buffers"], *record["attrs"]]
        return sorted({*super().__dir__(), *names})

    def __repr__(self) -> str:
        return str(self._record["repr"])


def _layer_of(graph: MaseGraph, path: str) -> Module:
    return graph.modules[path]


_classes: Dict[str, Type[Module]] = {}


def class_of(record: Dict[str, Any]) -> Type[Module]:
    """The class of a layer; that of a quantised one is a subclass of the layer's in float."""
    return _class(record["class"], record["base"])


def _class(name: str, base: str) -> Type[Module]:
    if name not in _classes:
        parent = Module
        if base != name:
            parent = _class(base, base)
        _classes[name] = type(name, (parent,), {"__module__": __name__, "__doc__": Module.__doc__})
    return _classes[name]


class Container:
    """A part of the tree of layers: graph.model.seq_blocks[2] is the layer at "seq_blocks.2"."""

    def __init__(self, graph: MaseGraph, path: str) -> None:
        self._graph = graph
        self._path = path

    def _child(self, name: str) -> Any:
        path = f"{self._path}.{name}" if self._path else name
        modules = self._graph.modules
        if path in modules:
            return modules[path]
        if any(other.startswith(path + ".") for other in modules):
            return Container(self._graph, path)
        raise AttributeError(f"there is no layer at '{path}'")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._child(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(
                f"'{name}' cannot be set: edits of the graph add, replace and erase layers"
            )
        object.__setattr__(self, name, value)

    def __getitem__(self, index: int) -> Any:
        names = list(dict(self.named_children()))
        return self._child(names[index])

    def __len__(self) -> int:
        return len(dict(self.named_children()))

    def named_children(self) -> Iterator[Tuple[str, Any]]:
        """What lies directly below, by name."""
        start = len(self._path) + 1 if self._path else 0
        below = (path[start:] for path in self._graph.modules if self._below(path))
        for name in dict.fromkeys(path.split(".")[0] for path in below):
            yield name, self._child(name)

    def _below(self, path: str) -> bool:
        return not self._path or path.startswith(self._path + ".")

    def named_modules(self) -> Iterator[Tuple[str, Module]]:
        """Layers below, by their whole paths."""
        return ((p, m) for p, m in self._graph.modules.items() if self._below(p))

    def __repr__(self) -> str:
        lines = [f"  ({name}): {_indented(repr(child))}" for name, child in self.named_children()]
        return "\n".join(["Sequential(", *lines, ")"])


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
