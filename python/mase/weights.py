"""Weights of a graph: arrays over the network's own memory, and whether anybody wrote there.

A runner has a copy of the weights, so a graph must know when it is out of date. Arrays that were given
away since the last run are compared by checksum; weights that nobody was given cannot have changed.
"""

from __future__ import annotations

import ctypes
import weakref
import zlib
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

from ._library import Handle, Weight, call, lib

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._arrays import Memory
    from .running import Runner

    Lent = Dict[int, Tuple[int, weakref.WeakSet[Memory]]]  # by address: size, who may write there


class Weights:
    """The part of MaseGraph that has to do with weights."""

    _handle: Optional[Handle]
    _runners: Dict[Tuple[bool, int, bool], Runner]
    _lent: Lent
    _sums: Dict[int, int]  # by address: the checksum that the runners have

    if TYPE_CHECKING:  # of MaseGraph

        @property
        def _pointer(self) -> int: ...

    def _weights(self, wanted: Callable[[Any], bool]) -> List[Tuple[str, NDArray[Any]]]:
        return [(w.name.decode(), self._view(w)) for w in self._infos() if wanted(w)]

    def _infos(self) -> Iterator[Any]:
        """What the library says of each."""
        for i in range(lib.mase_net_weights(self._pointer)):
            weight = Weight()
            call(lib.mase_net_weight, self._pointer, i, ctypes.byref(weight))
            yield weight

    def _weight(self, name: str) -> NDArray[Any]:
        wanted = name.encode()
        for _name, array in self._weights(lambda weight: bool(weight.name == wanted)):
            return array
        raise KeyError(name)

    def _view(self, weight: Any) -> NDArray[Any]:
        from ._arrays import Memory, shape_of

        import numpy

        name = weight.name.decode()
        if not weight.data:
            raise ValueError(f"{name} has no values yet; graph.start(seed) draws them")
        assert self._handle is not None
        memory = Memory(
            self._handle, weight.data, shape_of(weight.rank, weight.dim), weight.dtype.decode()
        )
        array = numpy.asarray(memory)
        if self._runners and weight.data not in self._lent:
            self._sums[weight.data] = _checksum(weight.data, array.nbytes)
        self._lend(weight.data, array.nbytes, [memory])
        return array

    def _lend(self, where: int, size: int, to: Iterable[Memory]) -> None:
        """These may write there from now on, beside those that already may."""
        most, holders = self._lent.get(where, (0, weakref.WeakSet()))
        holders.update(to)
        self._lent[where] = (max(size, most), holders)

    def _take_over(self, lent: Lent) -> None:
        """Arrays that a pass was lent, over weights that are this network's when it has ended."""
        alive = {where: entry for where, entry in lent.items() if entry[1]}
        if alive:
            own = {weight.data for weight in self._infos()}
            for where in own & alive.keys():
                self._lend(where, *alive[where])

    def _weights_written(self) -> bool:
        """Were weights changed through arrays that were given away since the last look?"""
        written = False
        for where, (size, holders) in list(self._lent.items()):
            now = _checksum(where, size)
            written |= self._sums.get(where) != now
            self._sums[where] = now
            if not holders:  # nobody can write there any more
                del self._lent[where]
        return written

    def state_dict(self) -> Dict[str, NDArray[Any]]:
        """All parameters and buffers by name: arrays over the network's own memory, which they keep
        alive. What is written there is what the network computes with."""
        return dict(self._weights(lambda weight: not weight.constant))

    def parameters(self) -> Iterator[NDArray[Any]]:
        """What is trained, as arrays over the network's own memory."""
        return (array for _name, array in self._weights(lambda w: not w.buffer and not w.constant))

    @property
    def parameter_count(self) -> int:
        """Values of all parameters."""
        return int(lib.mase_net_params(self._pointer))

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Copy parameters and buffers from arrays or tensors by their names.

        strict: there must be one for each, and no other. Shapes must agree in any case. Nothing has
        changed when it fails.
        """
        import numpy

        from ._arrays import as_array

        own = self.state_dict()
        missing = [name for name in own if name not in state]
        unknown = [name for name in state if name not in own]
        if strict and (missing or unknown):
            raise ValueError(
                "the state dict does not fit: "
                + "; ".join(
                    f"{what} {', '.join(names)}"
                    for what, names in (("it lacks", missing), ("the network has no", unknown))
                    if names
                )
            )
        new = {}
        for name in own:
            if name in state:  # a copy: what is given may be the network's own memory
                new[name] = numpy.array(as_array(state[name], own[name].dtype.str))
        for name, array in new.items():
            if array.shape != own[name].shape:
                raise ValueError(f"{name} is {list(own[name].shape)}, not {list(array.shape)}")
        for name, array in new.items():
            own[name][...] = array
        self._runners.clear()


def _checksum(address: int, size: int) -> int:
    return zlib.crc32((ctypes.c_char * size).from_address(address)) if size else 0
