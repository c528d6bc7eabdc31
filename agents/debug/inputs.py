"""Inputs of a program under debugging: given in files, or drawn."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir


def kinds(module: ir.Module) -> list[Any]:
    """The types (``kc.agents.execution.signature.Kind``) of the inputs of ``@main``, parameters left out."""
    from kc.agents.debug.oracle import parameter_numbers
    from kc.agents.execution.signature import Signature

    numbers = parameter_numbers(module)
    return [k for k, number in zip(Signature.of(module).arguments, numbers, strict=True) if number is None]


def draw(module: ir.Module, seed: int, size: int = 4) -> list[np.ndarray]:
    """An array for each input of ``@main``: normal floats, integers of 0 to 7, booleans; ``size`` for open extents."""
    random = np.random.default_rng(seed)
    return [_draw(kind, random, size) for kind in kinds(module)]


def _draw(kind: Any, random: np.random.Generator, size: int) -> np.ndarray:
    shape = [size if extent is None else extent for extent in kind.shape]
    dtype = kind.dtype
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu" or "int" in dtype.name:
        return random.integers(0, 8, shape).astype(dtype)
    if dtype.kind == "c":
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def check(module: ir.Module, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """``arrays`` if they fit the inputs of ``@main``, converted to their types; raises InputError otherwise."""
    wanted = kinds(module)
    if len(arrays) != len(wanted):
        raise InputError(f"{len(arrays)} inputs for a program that takes {len(wanted)}")
    fitting = []
    for number, (array, kind) in enumerate(zip(arrays, wanted, strict=True)):
        fits = len(kind.shape) == array.ndim and all(
            w in (None, g) for w, g in zip(kind.shape, array.shape, strict=True)
        )
        if not fits:
            raise InputError(f"input {number} has shape {list(array.shape)}, its type is {kind.text}")
        fitting.append(array.astype(kind.dtype, copy=False))
    return fitting
