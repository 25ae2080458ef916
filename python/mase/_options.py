"""Options as the library takes them: what Python has, as JSON in the words of configurations."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import Any, Dict, Iterator, Mapping, Optional

from ._errors import MaseError
from ._library import c_text

_TEXT = "<options>"  # what the library calls a text


def plain(value: Any, where: str = "") -> Any:
    """A value of JSON for a value of Python's; None is "NA", as configurations say it."""
    if value is None:
        return "NA"
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return _plain_table(value, where)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if hasattr(value, "tolist"):  # numbers and arrays of NumPy and PyTorch
        return plain(value.tolist(), where)
    raise TypeError(
        f"option {where.lstrip('.') or 'value'}: a {type(value).__name__} cannot stand in a configuration"
    )


def _plain_table(value: Mapping[Any, Any], where: str) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, (str, int)) or str(key) in found:
            raise TypeError(f"option {where.lstrip('.') or 'value'}: {key!r} is no key, or one twice")
        found[str(key)] = plain(item, f"{where}.{key}")
    return found


def options_text(options: Optional[Mapping[str, Any]]) -> Optional[bytes]:
    """Options for C, as JSON; without any, NULL."""
    return json.dumps(plain(options)).encode("utf-8") if options else None


def settings_text(settings: Any) -> bytes:
    """The same of a mapping, or of a text that is in the words of configurations already."""
    if isinstance(settings, str):
        text = c_text(settings)
        assert text is not None
        return text
    return json.dumps(plain(settings)).encode("utf-8")


def _is_text(config: str) -> bool:
    return "\n" in config or "[" in config or config.lstrip().startswith("{")


@contextmanager
def configuration(config: Any) -> Iterator[bytes]:
    """A configuration for C: of a mapping, of its text, which has more than one line or a "[", or of the
    file of that name, which errors then name."""
    path = None
    if isinstance(config, os.PathLike) or (isinstance(config, str) and not _is_text(config)):
        path = os.fspath(config)
        with open(path, encoding="utf-8") as file:
            config = file.read()
    try:
        yield settings_text(config)
    except MaseError as error:
        if path is not None and error.path == _TEXT:
            error.path = path
        raise
