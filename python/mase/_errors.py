"""What goes wrong: one hierarchy under MaseError, with the place that is meant.

Each class is also the exception of Python's own that fits, so that `except ValueError` and
`except FileNotFoundError` do what one expects.
"""

from __future__ import annotations

import errno as _errno
import os

TYPE_CHECKING = False  # as type checkers know it; typing itself takes its time to import
if TYPE_CHECKING:
    from typing import Any, Optional, Type


class MaseError(Exception):
    """A call of the library failed.

    message is its sentence; path, line and col say where in a file the fault lies (line and col
    count from 1, and are None where there is no such place); status is the library's number.
    """

    def __init__(
        self,
        message: str,
        path: Optional[str] = None,
        line: Optional[int] = None,
        col: Optional[int] = None,
        status: int = 0,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.col = col
        self.status = status

    def __reduce__(self) -> Any:
        system = (getattr(self, "errno", None), getattr(self, "filename", None))
        return _again, (type(self), self.message, *system), dict(self.__dict__)

    def __str__(self) -> str:
        place = [str(part) for part in (self.path, self.line, self.col) if part is not None]
        return ": ".join([":".join(place), self.message]) if place else self.message


class MaseValueError(MaseError, ValueError):
    """A value is wrong: its type, its range, a name that nothing has."""


class MaseParseError(MaseValueError):
    """A file or a text is not what its format demands."""


class MaseFileError(MaseError, OSError):
    """The system refused to open, read, write or rename a file."""


class MaseFileNotFoundError(MaseFileError, FileNotFoundError):
    """There is no such file."""


class MaseUnsupportedError(MaseError, NotImplementedError):
    """Understood, but not available here."""


class MaseLimitError(MaseValueError):
    """Larger or deeper than a stated limit."""


class MaseMemoryError(MaseError, MemoryError):
    """There is no memory for what was asked."""


class MaseInternalError(MaseError, RuntimeError):
    """A fault of the library's own; please report it."""


def _again(kind: Type[MaseError], message: str, errno: Any, filename: Any) -> MaseError:
    """An exception that another process raised."""
    error = kind(message)
    if isinstance(error, OSError):
        error.errno, error.filename = errno, filename
    return error


# enum mase_status
VALUE, PARSE, IO, UNSUPPORTED, LIMIT, NO_MEMORY, BUG = range(1, 8)

_CLASSES = {
    VALUE: MaseValueError,
    PARSE: MaseParseError,
    IO: MaseFileError,
    UNSUPPORTED: MaseUnsupportedError,
    LIMIT: MaseLimitError,
    NO_MEMORY: MaseMemoryError,
    BUG: MaseInternalError,
}


def exception_for(
    status: int,
    message: str,
    path: Optional[str] = None,
    line: Optional[int] = None,
    col: Optional[int] = None,
) -> MaseError:
    """The exception of a status."""
    kind = _CLASSES.get(status, MaseError)
    missing = status == IO and path is not None and not os.path.exists(path)
    if missing:
        kind = MaseFileNotFoundError
    error = kind(message, path, line, col, status)
    if isinstance(error, OSError):
        error.errno = _errno.ENOENT if missing else _errno.EIO
        error.filename = path
    return error
