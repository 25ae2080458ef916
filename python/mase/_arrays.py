"""Between the library's memory and NumPy: views without copies, both ways.

NumPy is imported when the first array is wanted, not with the package. Anything with DLPack (as
PyTorch's tensors) or __array__ is taken; it is copied only if its elements or its layout must change.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Tuple

from ._library import Handle

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    FloatArray = NDArray[numpy.float32]
    IntArray = NDArray[numpy.int32]


class Memory:
    """Memory of the library's that NumPy may look at; it keeps its owner alive."""

    __slots__ = ("__array_interface__", "_owner", "__weakref__")

    def __init__(
        self, owner: Handle, address: int, shape: Sequence[int], dtype: str, read_only: bool = False
    ) -> None:
        import numpy

        self._owner = owner
        self.__array_interface__: Dict[str, Any] = {
            "version": 3,
            "data": (address, read_only),
            "shape": tuple(shape),
            "typestr": numpy.dtype(dtype).str,
        }


def view(
    owner: Handle, address: int, shape: Sequence[int], dtype: str, read_only: bool = False
) -> NDArray[Any]:
    """An array over memory of the library's."""
    import numpy

    return numpy.asarray(Memory(owner, address, shape, dtype, read_only))


def as_array(value: Any, dtype: Optional[str] = None) -> NDArray[Any]:
    """Any array as NumPy's, row-major and of these elements; the same memory if it is so already.
    Numbers that would become others, but for the rounding of floats, are refused."""
    import numpy

    if isinstance(value, (list, tuple)):
        value = [_foreign(item) if hasattr(item, "resolve_neg") else item for item in value]
    elif not isinstance(value, (numpy.ndarray, int, float)):
        value = _foreign(value)
    _check_masks(value)
    given = numpy.asarray(value)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"numbers are wanted, not elements of type {given.dtype}")
    with numpy.errstate(over="ignore", invalid="ignore"):  # said below
        array = numpy.require(given, dtype, ["C", "A"])
    if array.dtype != given.dtype and not _same(array, given):
        raise ValueError(
            f"numbers of type {given.dtype}, of which {array.dtype} has not all; convert them first "
            "where others will do"
        )
    return array


def _check_masks(value: Any) -> None:
    """What is masked has no number."""
    import numpy

    if isinstance(value, numpy.ma.MaskedArray) and numpy.asarray(value.mask).any():
        raise ValueError("some elements are masked: fill them, or leave them out")
    if isinstance(value, (list, tuple)):
        for item in value:
            if isinstance(item, (numpy.ma.MaskedArray, list, tuple)):
                _check_masks(item)


def _same(array: NDArray[Any], given: NDArray[Any]) -> bool:
    """Are they the same numbers, but for the rounding of floats?"""
    import numpy

    if array.dtype.kind == "f" and given.dtype.kind == "f":
        if array.dtype.itemsize >= given.dtype.itemsize:
            return True
        return bool((numpy.isfinite(array) | ~numpy.isfinite(given)).all())
    if array.dtype.kind == "f" and given.dtype.kind in "iu":
        exact = 2 ** (numpy.finfo(array.dtype).nmant + 1)
        if not given.size or (given.min() >= -exact and given.max() <= exact):
            return True
        return bool((array.astype(numpy.longdouble) == given.astype(numpy.longdouble)).all())
    return bool((array == given).all())


def _check_tensor(value: Any) -> None:
    """Tensors of PyTorch's whose memory is none, or holds something else than their numbers."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return
    plain = type(value).__torch_dispatch__ is torch.Tensor.__torch_dispatch__
    if not plain or getattr(value, "_is_zerotensor", bool)():
        raise TypeError(f"a {type(value).__name__} without memory of its own: make it a plain one")


def _foreign(value: Any) -> Any:
    """A tensor of another library without copying, if it allows that."""
    import numpy

    _check_tensor(value)
    if getattr(value, "requires_grad", False):  # a parameter of PyTorch's: its numbers
        value = value.detach()
    for resolve in ("resolve_conj", "resolve_neg"):  # signs that it remembers beside its memory
        if hasattr(value, resolve):
            value = getattr(value, resolve)()
    if str(getattr(value, "dtype", "")) == "torch.bfloat16":  # which NumPy has not
        value = value.float()
    if hasattr(value, "__dlpack__"):
        try:
            return numpy.from_dlpack(value)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            pass  # an old NumPy, a device, a type that DLPack or NumPy has not
    if hasattr(value, "cpu") and hasattr(value, "numpy"):
        return value.cpu().numpy()
    return numpy.asarray(value)


def address(array: NDArray[Any]) -> int:
    """Where its numbers lie. The caller keeps it."""
    return int(array.ctypes.data)


def shape_of(rank: int, dim: Any) -> Tuple[int, ...]:
    """A shape that C filled in."""
    return tuple(int(dim[i]) for i in range(rank))
