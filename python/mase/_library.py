"""libmase.so by ctypes: where it is found, its structs, and one table of its functions.

Nothing here knows what the calls are for. `call` is the way in: it raises the exception of a
failing status, and first of all any that a callback left behind, so that what Python raises inside
of C reaches whoever called C.
"""

from __future__ import annotations

import ctypes
import operator
import os
import threading
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
    sizeof,
)

from ._errors import VALUE, exception_for

TYPE_CHECKING = False  # as type checkers know it; typing itself takes its time to import
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, NoReturn, Optional, Tuple

ABI = 0
SONAME = f"libmase.so.{ABI}"
_HERE = os.path.dirname(os.path.abspath(__file__))

# ---- structs, as in mase.h ----


class Loc(Structure):
    _fields_ = [
        ("path", c_char_p),
        ("line", c_int),
        ("col", c_int),
        ("span", c_int),
        ("off", c_int64),
    ]


class Err(Structure):
    _fields_ = [
        ("status", c_int),
        ("loc", Loc),
        ("path", c_char * 512),
        ("msg", c_char * 1024),
    ]


class Text(Structure):
    _fields_ = [("data", c_void_p), ("len", c_size_t)]


_WORDS: Dict[str, Any] = {
    "none": None,
    "status": c_int,
    "int": c_int,
    "bool": c_bool,
    "i64": c_int64,
    "u64": c_uint64,
    "f64": c_double,
    "size": c_size_t,
    "text": c_char_p,
    "texts": POINTER(c_char_p),
    "object": c_void_p,
    "object*": POINTER(c_void_p),
    "memory": c_void_p,
    "dims": POINTER(c_int64),
    "f64*": POINTER(c_double),
    "8dims": c_int64 * 8,
    "out": POINTER(Text),
    "err": POINTER(Err),
}


# ---- what goes to C ----

_RANGES = {"int": (-(2**31), 2**31 - 1), "i64": (-(2**63), 2**63 - 1), "u64": (0, 2**64 - 1)}


def number(name: str, value: Any, word: str = "i64") -> int:
    """A whole number that C's type holds: ctypes would cut others to size."""
    low, high = _RANGES[word]
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: a whole number is wanted, not a {type(value).__name__}") from None
    if not low <= whole <= high:
        raise ValueError(f"{name} = {whole} is outside {low}..{high}")
    return whole


def real(name: str, value: Any) -> float:
    """A number."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{name}: a number is wanted, not a {type(value).__name__}")
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{name}: a number is wanted, not a {type(value).__name__}") from None


def truth(name: str, value: Any) -> bool:
    """True or False; whatever else has a truth value may be meant otherwise, as "no"."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # or NumPy's
        return bool(value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{name}: True or False is wanted, not {value!r}")


def _whole_text(name: str, value: Any) -> Any:
    """Bytes for C, where a zero would end them."""
    if isinstance(value, bytes) and b"\0" in value:
        raise ValueError(f"{name}: a text with a character of number 0")
    return value


# of fields; numbers and texts of calls are checked where they are made
_CHECKS: Dict[str, Callable[[str, Any], Any]] = {
    "int": lambda name, value: number(name, value, "int"),
    "i64": number,
    "u64": lambda name, value: number(name, value, "u64"),
    "f64": real,
    "bool": truth,
    "text": _whole_text,
}


def _function_type(name: str, words: str) -> Any:
    """A type of callbacks: what they return, what they take."""
    result, *arguments = (_WORDS[word] for word in words.split())
    _WORDS[name] = CFUNCTYPE(result, *arguments)
    return _WORDS[name]


def _struct(name: str, fields: str, sized: bool = True) -> Any:
    """A struct; in the words of functions a pointer to it has its name. sized: begins with its size."""

    def init(self: Any, **values: Any) -> None:
        Structure.__init__(self, **values)
        if sized:
            self.size = sizeof(made)

    def set_checked(self: Any, key: str, value: Any) -> None:
        Structure.__setattr__(self, key, checks[key](key, value) if key in checks else value)

    words = dict(field.split(":") for field in fields.split())
    checks = {key: _CHECKS[word] for key, word in words.items() if word in _CHECKS}
    pairs = [("size", c_size_t)] if sized else []
    pairs += [(key, _WORDS[word]) for key, word in words.items()]
    body = {"_fields_": pairs, "__init__": init, "__setattr__": set_checked}
    made: Any = type(name, (Structure,), body)
    _WORDS[name] = POINTER(made)
    return made


LOG = _function_type("log", "none object int text")
RUN_PASS = _function_type("run_pass", "status object object text out err")
Hooks = _struct("Hooks", "user:object alloc:object log:log log_level:int progress:object")
OwnPass = _struct("OwnPass", "name:text help:text transform:bool user:object run:run_pass")
Arrays = _struct(
    "Arrays",
    "name:text x:memory count:i64 shape:dims rank:int labels:memory targets:memory "
    "target_count:i64 classes:int class_names:texts train:i64 validation:i64",
)
TableRows = _struct(
    "TableRows",
    "x:memory rows:i64 stride:i64 labels:memory targets:memory split:memory count:i64",
)
Open = _struct(
    "Open",
    "dataset:text shape:dims rank:int weights:text key:text task:text seed:u64 seconds:f64 "
    "lenient:bool no_weights:bool",
)
Weight = _struct(
    "Weight",
    "name:text dtype:text rank:int dim:8dims data:memory buffer:bool trained:bool constant:bool",
)
Decision = _struct("Decision", "node:text config:text", sized=False)
RunOptions = _struct("RunOptions", "exact:bool threads:int samples:i64 seed:u64 batch_size:i64 engine:text")
Scores = _struct("Scores", "samples:i64 loss:f64 score:f64 seconds:f64")
TestOptions = _struct(
    "TestOptions",
    "exact:bool threads:int split:text limit:i64 task:text loss:text batch_size:i64 engine:text",
)
Proof = _struct("Proof", "samples:i64 outputs:i64 differ:i64 decisions:i64")
EpochStruct = _struct(
    "EpochStruct",
    "epoch:i64 epochs:i64 step:i64 learning_rate:f64 train_loss:f64 train_score:f64 val_loss:f64 "
    "val_score:f64 seconds:f64 samples:i64 best:bool ebops:f64 stop:text",
)
ON_EPOCH = _function_type("on_epoch", "bool object EpochStruct")
ON_BATCH = _function_type("on_batch", "bool object i64 i64 i64 f64")
Training = _struct(
    "Training",
    "max_epochs:i64 batch_size:i64 learning_rate:f64 seed:u64 threads:int checkpoint_dir:text "
    "resume:text keep_last:bool options:text user:object on_epoch:on_epoch on_batch:on_batch",
)

MEASURE = _function_type("measure", "status object f64* object text err")
OwnMetric = _struct("OwnMetric", "name:text user:object measure:measure", sized=False)
OPEN_NET = _function_type("open_net", "status object object* text err")
ON_TRIAL = _function_type("on_trial", "bool object text")
STOP = _function_type("stop", "bool object")
Searching = _struct(
    "Searching",
    "trials:i64 seconds:f64 workers:int seed:u64 storage:text study:text options:text metrics:OwnMetric "
    "metric_count:int user:object open:open_net on_trial:on_trial stop:stop",
)

# ---- functions: what they return, what they take ----

_FUNCTIONS = """
mase_version          text
mase_abi              int
mase_text_release     none    out
mase_session_new      object  Hooks
mase_session_free     none    object
mase_session_list     status  object out text err
mase_session_add_pass status  object OwnPass err
mase_session_round    status  object memory memory int dims text text err
mase_text_set         status  object out text err
mase_rows_open        status  object object* text text object err
mase_rows_from        status  object object* Arrays text err
mase_rows_free        none    object
mase_rows_info        status  object out err
mase_rows_count       i64     object text
mase_rows_read        status  object text i64 i64 memory memory memory err
mase_rows_table       status  object TableRows text err
mase_net_open         status  object object* text Open err
mase_net_parse        status  object object* text text err
mase_net_clone        status  object object* err
mase_net_free         none    object
mase_net_start        status  object u64 err
mase_net_sample       int     object dims
mase_net_set_sample   status  object int dims err
mase_net_edits        u64     object
mase_net_save         status  object text err
mase_net_write        status  object text text err
mase_net_load         status  object text text err
mase_net_print        status  object out text err
mase_net_find         object  object text
mase_net_weight       status  object int Weight err
mase_net_weights      int     object
mase_net_params       i64     object
mase_net_add          status  object object* object text err
mase_net_set_args     status  object object text text err
mase_net_replace      status  object object object err
mase_net_erase        status  object object err
mase_net_check        status  object err
mase_node_name        text    object
mase_net_pass         status  object text text object out err
mase_net_passes       status  object text object out err
mase_net_quantize     status  object Decision int object err
mase_net_set_original status  object object err
mase_net_explain      status  object out text err
mase_net_profile      status  object out object text err
mase_runner_new       status  object object* RunOptions err
mase_runner_free      none    object
mase_runner_run       status  object memory memory i64 err
mase_runner_run_typed status  object memory memory i64 err
mase_runner_type      text    object
mase_runner_input     int     object int dims
mase_runner_result    int     object dims
mase_runner_features  i64     object
mase_net_evaluate     status  object Scores object TestOptions out err
mase_net_prove        status  object Proof object text i64 out err
mase_net_train        status  object EpochStruct object Training err
mase_net_search       status  object object* object text Searching err
mase_session_studies  status  object out text err
mase_trials_open      status  object object* text text err
mase_trials_free      none    object
mase_trials_count     i64     object
mase_trials_print     status  object out text err
mase_trials_write     status  object text err
mase_trials_net       status  object object* i64 err
"""


def _declare(library: ctypes.CDLL) -> None:
    for line in _FUNCTIONS.split("\n"):
        if line:
            name, result, *arguments = line.split()
            function = getattr(library, name)
            function.restype = _WORDS[result]
            function.argtypes = [_WORDS[word] for word in arguments]


# ---- finding it ----


def _candidates() -> List[Tuple[str, str]]:
    """Where the library may be, and how to call that place in a message; in order."""
    checkout = os.path.dirname(os.path.dirname(_HERE))
    asked = os.environ.get("MASE_LIBRARY")
    if asked:  # what was asked for, and nothing else
        return [(asked, "MASE_LIBRARY")]
    build = os.environ.get("MASE_BUILD") or os.path.join(checkout, "build")
    return [
        (os.path.join(_HERE, "lib", SONAME), "the package"),
        (os.path.join(build, SONAME), "the build folder"),
        (SONAME, "the system"),
    ]


def _is_fresh(root: str, build: str) -> bool:
    """Is the library of a checkout newer than its sources? As ./ch asks, without starting anything."""
    try:
        made = os.stat(os.path.join(build, ".stamp_shared")).st_mtime_ns
        os.stat(os.path.join(build, SONAME))
        if os.stat(os.path.join(root, "CMakeLists.txt")).st_mtime_ns > made:
            return False
        return all(_is_older(os.path.join(root, top), made, 3) for top in ("include", "src"))
    except OSError:
        return False


def _is_older(folder: str, made: int, depth: int) -> bool:
    for entry in os.scandir(folder):
        if entry.name == "cli":  # of the program alone
            continue
        if entry.stat().st_mtime_ns > made:
            return False
        if depth > 1 and entry.is_dir() and not _is_older(entry.path, made, depth - 1):
            return False
    return True


def _build(checkout: str, build: str) -> str:
    """Build the library of a checkout where ./ch would build the program: on first use, and when a
    source has changed. What went wrong, or nothing."""
    script = os.path.join(checkout, "scripts", "build")
    library = os.path.join(build, SONAME)
    if not os.path.exists(script) or _is_fresh(checkout, build):
        return ""
    if os.path.exists(library) and not os.access(build, os.W_OK):
        return ""  # somebody else's, to be used as it is
    import subprocess

    try:
        done = subprocess.run([script, "mase_shared"], stdin=subprocess.DEVNULL, stdout=2, check=False)
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else f"building it failed: run make in {checkout}, which shows why"


def _opened(path: str) -> ctypes.CDLL:
    """Open the library. Its threads leave the processor to others while they wait, unless the
    environment says how they should: OpenMP asks it when it is loaded, and never again."""
    name = "OMP_WAIT_POLICY"
    if name in os.environ or "GOMP_SPINCOUNT" in os.environ:
        return ctypes.CDLL(path)
    os.environ[name] = "passive"
    try:
        return ctypes.CDLL(path)
    finally:
        del os.environ[name]


def _load() -> ctypes.CDLL:
    tried = []
    for path, place in _candidates():
        if place == "the build folder":
            build = os.path.dirname(path)
            trouble = _build(os.path.dirname(os.path.dirname(_HERE)), build)
            if trouble:
                tried.append(f"{path} ({place}): {trouble}")
                continue
        if os.path.isabs(path) and not os.path.exists(path) and place != "MASE_LIBRARY":
            tried.append(f"{path} ({place}): not there")
            continue
        try:
            library = _opened(path)
            found = int(library.mase_abi())
        except (OSError, AttributeError) as error:
            tried.append(f"{path} ({place}): {error}")
            continue
        if found == ABI:
            _declare(library)
            return library
        tried.append(f"{path} ({place}): it has ABI {found}, and this package needs {ABI}")
    raise ImportError(
        f"mase needs {SONAME}, and it was not found; build it (make, in a checkout), install it, or say where it "
        "is by MASE_LIBRARY. Tried:\n  " + "\n  ".join(tried),
        name="mase",
    )


lib = _load()

# ---- calling it ----


class _Pending(threading.local):
    """Exceptions that callbacks of this thread raised while C was running."""

    first: Optional[BaseException] = None


_pending = _Pending()


def keep_exception(error: BaseException) -> None:
    """Remember what a callback raised; `call` raises it when C has returned."""
    if _pending.first is None:
        _pending.first = error


def has_exception() -> bool:
    """Has a callback of the running call raised something?"""
    return _pending.first is not None


def fail_in_callback(err: Any, message: str) -> int:
    """Fill the struct mase_err of a callback and give the status to return."""
    if err:
        err.contents.status = VALUE
        err.contents.loc.off = -1
        err.contents.msg = message.encode("utf-8", "replace")[:1000]
    return VALUE


def _text(value: Optional[bytes]) -> Optional[str]:
    return value.decode("utf-8", "replace") if value else None


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Call a function that returns a status and takes err last; raise what went wrong."""
    err = Err()
    status = function(*arguments, byref(err))
    if _pending.first is not None:
        error, _pending.first = _pending.first, None
        raise error
    if status:
        loc = err.loc
        message = _text(err.msg) or f"failed with status {status}"
        raise exception_for(status, message, _text(err.path), loc.line or None, loc.col or None)


def call_text(function: Callable[..., int], *arguments: Any, before: int = 1) -> str:
    """Call one that fills a struct mase_text, which is its argument number `before`."""
    out = Text()
    try:
        call(function, *arguments[:before], byref(out), *arguments[before:])
        return take_text(out)
    finally:
        lib.mase_text_release(byref(out))


def take_text(out: Text) -> str:
    """What a text holds; it stays the library's."""
    return ctypes.string_at(out.data, out.len).decode("utf-8", "replace") if out.data else ""


def c_text(value: Optional[str]) -> Optional[bytes]:
    """A string for C."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"a text is wanted, not a {type(value).__name__}")
    return None if value is None else _whole_text("text", value.encode("utf-8"))


def c_path(value: Any) -> bytes:
    """The name of a file for C."""
    return bytes(_whole_text("path", os.fsencode(value)))


def dims(shape: Any) -> Any:
    """A shape for C."""
    numbers = [number("shape", length) for length in shape]
    return (c_int64 * max(len(numbers), 1))(*numbers)


class Handle:
    """An object of the library's, freed when nobody in Python has it any more."""

    __slots__ = ("pointer", "_keep", "_free", "__weakref__")

    def __init__(self, pointer: int, free: Callable[[int], None], keep: Any = None) -> None:
        self.pointer = pointer
        self._free = free
        self._keep = keep  # what must outlive it

    def __del__(self) -> None:
        self._free(self.pointer)

    def __reduce__(self) -> NoReturn:
        raise TypeError("what lies in the library's memory is neither copied nor pickled so")


def borrowed(_pointer: int) -> None:
    """For handles of what C frees."""
