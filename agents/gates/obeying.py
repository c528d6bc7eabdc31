"""Arrays that obey facts on values (``kc.agents.facts.CALLS``): whether one does, and how it is made to."""

from __future__ import annotations

import random
from collections.abc import Collection
from typing import Any

import numpy as np

from kc.agents.gates.values import Array, is_float, to

#: facts that speak of the values of one argument
FORMS = frozenset({"finite", "nonnegative", "positive", "sorted", "unique"})


def obeys(array: Array, form: str) -> bool:
    """Whether an array is what the fact ``form`` says; True for a form that says nothing of values."""
    if array.dtype.kind == "c":
        return all(bool(np.isfinite(part).all()) for part in (array.real, array.imag)) if form == "finite" else True
    if form not in FORMS:
        return True
    wide = _wide(array)
    nan = wide != wide
    if form == "finite":
        return bool(np.isfinite(wide).all()) if wide.dtype.kind == "f" else True
    if form == "positive":
        return bool((wide > 0).all())
    if form == "nonnegative":
        minus = np.signbit(wide) if wide.dtype.kind == "f" else wide < 0
        return bool(((wide >= 0) & ~minus).all())
    if form == "unique":
        return len(np.unique(wide)) == wide.size  # which takes NaNs for one, and zeros of both signs
    if not array.ndim:
        return True
    one, other = wide[..., :-1], wide[..., 1:]
    return bool(((one <= other) | nan[..., 1:]).all())


def obeying(array: Array, forms: Collection[str], low: int, high: int, rng: np.random.Generator) -> Array:
    """``array`` changed where it breaks one of the facts ``forms``; ``low`` to ``high``: of an integer's elements.

    Raises ValueError where no array of that size can obey.
    """
    wanted = [form for form in ("finite", "positive", "nonnegative", "unique", "sorted") if form in forms]
    if all(obeys(array, form) for form in wanted):
        return array
    made = array.copy()
    if made.dtype.kind == "c":
        parts = [obeying(part, ["finite"], low, high, rng) for part in (made.real.copy(), made.imag.copy())]
        return to(parts[0] + 1j * parts[1], made.dtype)
    for form in wanted:
        if not obeys(made, form):
            made = _MAKERS[form](made, forms, low, high, rng)
    return made


def _wide(array: Array) -> Array:
    """The same values in a type that NumPy compares and sorts."""
    return array.astype(np.float64) if is_float(array.dtype) else array


def _finite(array: Array, forms: Collection[str], low: int, high: int, rng: np.random.Generator) -> Array:
    return np.where(np.isfinite(_wide(array)), array, to(rng.standard_normal(array.shape), array.dtype))


def _nonnegative(array: Array, forms: Collection[str], low: int, high: int, rng: np.random.Generator) -> Array:
    if not is_float(array.dtype):
        return np.where(array < 0, to(rng.integers(max(low, 0), high, array.shape, endpoint=True), array.dtype), array)
    wide = np.abs(_wide(array))
    return to(np.where(wide != wide, np.abs(rng.standard_normal(array.shape)), wide), array.dtype)


def _positive(array: Array, forms: Collection[str], low: int, high: int, rng: np.random.Generator) -> Array:
    if not is_float(array.dtype):
        return np.where(array < 1, to(rng.integers(max(low, 1), high, array.shape, endpoint=True), array.dtype), array)
    made = _nonnegative(array, forms, low, high, rng)
    return np.where(_wide(made) == 0, to(1.0, array.dtype), made)


def _unique(array: Array, forms: Collection[str], low: int, high: int, rng: np.random.Generator) -> Array:
    """What is there, each once, and new values in the place of the others."""
    count = array.size
    if not is_float(array.dtype):
        low, high = max(low, 1 if "positive" in forms else 0 if "nonnegative" in forms else low), high
        if high - low + 1 < count:
            raise ValueError(f"{count} distinct integers from {low} to {high}: the contract cannot be met")
    flat = array.reshape(-1).copy()
    for _ in range(64):
        _, first = np.unique(_wide(flat), return_index=True)
        if len(first) == count:
            return flat.reshape(array.shape)
        again = np.ones(count, bool)
        again[first] = False
        if is_float(array.dtype):
            fresh = to(rng.standard_normal(count) * 10.0 ** rng.uniform(-2, 2, count), array.dtype)
            fresh = obeying(fresh, set(forms) - {"unique", "sorted"}, low, high, rng)
        else:
            fresh = to(rng.integers(low, min(high, low + max(8 * count, 1 << 16)), count, endpoint=True), array.dtype)
        flat[again] = fresh[again]
    return _rest(flat, forms, low, high, rng).reshape(array.shape)


def _rest(flat: Array, forms: Collection[str], low: int, high: int, rng: np.random.Generator) -> Array:
    """Distinct values counted off: where drawing does not find them any more."""
    count = flat.size
    if is_float(flat.dtype):
        if flat.dtype.itemsize > 2:
            values = to(np.arange(1, count + 1), flat.dtype)
        else:  # all numbers of the type, zero once
            every = np.arange(1 << 8 * flat.dtype.itemsize, dtype=f"u{flat.dtype.itemsize}").view(flat.dtype)
            _, first = np.unique(_wide(every), return_index=True)
            pool = every[first]
            pool = pool[[all(obeys(pool[k : k + 1], f) for f in forms if f in FORMS) for k in range(len(pool))]]
            if len(pool) < count:
                raise ValueError(f"{count} distinct numbers of type {flat.dtype}: the contract cannot be met")
            values = pool[rng.permutation(len(pool))[:count]]
        return values
    numbers = list(range(low, low + count))
    random.Random(int(rng.integers(1 << 30))).shuffle(numbers)
    return to(numbers, flat.dtype)


def _sorted(array: Array, forms: Collection[str], low: int, high: int, rng: np.random.Generator) -> Array:
    if not array.ndim:
        return array
    places = np.argsort(_wide(array), axis=-1, kind="stable")
    return np.take_along_axis(array, places, -1)


_MAKERS: dict[str, Any] = {
    "finite": _finite, "positive": _positive, "nonnegative": _nonnegative, "unique": _unique, "sorted": _sorted,
}  # fmt: skip
