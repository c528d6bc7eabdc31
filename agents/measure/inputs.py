"""Arguments for timed calls: drawn anew from a seed for every call, within what the contract says of them."""
from __future__ import annotations

import dataclasses
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime import dtypes

#: alignment of every buffer in bytes, as kc's own allocator gives
ALIGNMENT = 64
#: byte that fills buffers which the program has to write
POISON = 0xA5


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument at fixed sizes.

    ``role``: ``in``, ``out`` (written whole) or ``inout``; ``low``, ``high``: range of an integer, both inclusive;
    ``facts``: which of ``unique``, ``sorted``, ``positive``, ``nonnegative`` (``kc.agents.facts``) hold for it;
    ``align``: in bytes.
    """

    dtype: str
    shape: tuple[int, ...]
    role: str = "in"
    low: int | None = None
    high: int | None = None
    facts: tuple[str, ...] = ()
    align: int = ALIGNMENT

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * dtypes.by_name(self.dtype).itemsize

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Argument:
        """Inverse of ``to_json``."""
        return cls(**{**data, "shape": tuple(data["shape"]), "facts": tuple(data["facts"])})


def draw(
    arguments: Sequence[Argument], seed: int, into: Sequence[np.ndarray[Any, Any]] | None = None
) -> list[np.ndarray[Any, Any]]:
    """Arrays for one call. The same seed gives the same values, in any process; ``into``: arrays to overwrite."""
    drawn = []
    for number, argument in enumerate(arguments):
        random = np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, number])))
        array = _aligned(argument) if into is None else into[number]
        if argument.role == "out":
            array.reshape(-1).view(np.uint8)[...] = POISON
        elif array.size:
            array[...] = _values(argument, random).reshape(argument.shape)
        drawn.append(array)
    return drawn


def fingerprint(array: np.ndarray[Any, Any]) -> int:
    """A checksum of an array's bytes."""
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _aligned(argument: Argument) -> np.ndarray[Any, Any]:
    """Fresh memory at the argument's alignment."""
    kind = dtypes.by_name(argument.dtype).numpy
    align = max(argument.align, ALIGNMENT)
    raw = np.empty(argument.nbytes + align, np.uint8)
    start = -raw.ctypes.data % align
    return raw[start : start + argument.nbytes].view(kind).reshape(argument.shape)


def _values(argument: Argument, random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Values as plain as a program meets them: normal floats, integers of the contract's range."""
    found = dtypes.by_name(argument.dtype)
    count = math.prod(argument.shape)
    if found.code == dtypes.BOOL:
        return random.integers(0, 2, count).astype(bool)
    if found.code in (dtypes.INT, dtypes.UINT):
        values = _integers(argument, found, random, count)
    elif found.code == dtypes.COMPLEX:
        part = np.float32 if found.itemsize == 8 else np.float64
        parts = random.standard_normal(2 * count, part)
        return parts.view(found.numpy)
    else:
        values = random.standard_normal(count, np.float64 if found.itemsize == 8 else np.float32)
        if "positive" in argument.facts or "nonnegative" in argument.facts:
            values = np.abs(values) + values.dtype.type(2.0**-20)
    if "sorted" in argument.facts and argument.shape:
        values = np.sort(values.reshape(argument.shape), axis=-1).reshape(-1)
    return values.astype(found.numpy)


def _integers(
    argument: Argument, found: dtypes.DType, random: np.random.Generator, count: int
) -> np.ndarray[Any, Any]:
    """Integers in range; without a declared one small numbers, which are indices nowhere."""
    least = 0 if found.code == dtypes.UINT else -(1 << (found.bits - 1))
    most = least + (1 << found.bits) - 1
    low = max(least, -100) if argument.low is None else argument.low
    high = min(most, 100) if argument.high is None else argument.high
    if "positive" in argument.facts:
        low = max(low, 1)
    elif "nonnegative" in argument.facts:
        low = max(low, 0)
    if "unique" not in argument.facts:
        return random.integers(low, high, count, dtype=np.int64 if most < 1 << 63 else np.uint64, endpoint=True)
    if argument.low is None and argument.high is None:
        low, high = max(low, 0), max(most if most < 1 << 31 else 1 << 31, count)
    if high - low + 1 < count:
        raise ValueError(f"{count} values that all differ do not fit in the range {low} to {high}")
    if high - low < 4 * count:
        return low + random.permutation(high - low + 1)[:count]
    steps = random.integers(1, max((high - low) // count, 1), count, endpoint=True)
    return low + random.permutation(np.cumsum(steps) - steps[0])
