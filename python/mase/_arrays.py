"""Between the library's memory and NumPy: views without copies, both ways.

NumPy is imported when the first array is wanted, not with the package. Anything with DLPack (as
PyTorch's tensors) or __array__ is taken; it is copied only if its elements or its layout must change.
"""

from __future__ import annotations

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

    if not isinstance(value, (numpy.ndarray, list, tuple, int, float)):
        value = _foreign(value)
    given = numpy.asarray(value)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"numbers are wanted, not elements of type {given.dtype}")
    array = numpy.require(given, dtype, ["C", "A"])
    if array.dtype.kind in "iu" and array.dtype != given.dtype and not (array == given).all():
        raise ValueError(f"numbers of type {given.dtype} that are none of {array.dtype}")
    return array


def _foreign(value: Any) -> Any:
    """A tensor of another library without copying, if it allows that."""
    import numpy

    if getattr(value, "requires_grad", False):  # a parameter of PyTorch's: its numbers
        value = value.detach()
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
