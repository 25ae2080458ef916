"""The process's one session with the library: made when it is first needed.

The library's log lines go to logging.getLogger("mase"). Separate objects may be used by separate
threads; ctypes lets go of the interpreter's lock while C computes, and hooks take it again.
"""

from __future__ import annotations

import ctypes
import json
import logging
import threading
from typing import Any, Dict, List, Optional

from . import _library
from ._library import Hooks, call_text, c_text, keep_exception, lib

logger = logging.getLogger("mase")

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
_lock = threading.Lock()
_pointer: Optional[int] = None


def _log(_user: Optional[int], level: int, message: bytes) -> None:
    try:
        logger.log(_LEVELS[min(level, 4)], "%s", message.decode("utf-8", "replace"))
    except BaseException as error:  # also KeyboardInterrupt: it must not get lost in C
        keep_exception(error)


_LOG = _library.LOG(_log)


def session() -> int:
    """The session's pointer. It lives as long as the process."""
    global _pointer
    if _pointer is None:
        with _lock:
            if _pointer is None:
                hooks = Hooks(log=_LOG, log_level=0)
                made = lib.mase_session_new(ctypes.byref(hooks))
                if not made:
                    raise MemoryError("libmase has no memory for a session")
                _pointer = made
    assert _pointer is not None
    return _pointer


_lists: Dict[str, List[Dict[str, Any]]] = {}


def listing(what: str) -> List[Dict[str, Any]]:
    """What the library has: "passes", "formats", "ops", "models", "datasets", "tasks", "training", "engines", "targets", "samplers"."""
    if what not in _lists:
        _lists[what] = json.loads(call_text(lib.mase_session_list, session(), c_text(what)))
    return _lists[what]


def forget_listing(what: str) -> None:
    """It has changed."""
    _lists.pop(what, None)


def version() -> str:
    """Of the library."""
    return str(lib.mase_version().decode())
