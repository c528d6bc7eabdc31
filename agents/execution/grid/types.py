"""Types of values as the interpreter keeps them."""
from __future__ import annotations

import dataclasses
import functools
import math
import re
from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.signature import dtype_of

GLOBAL, SHARED, LOCAL = "global", "workgroup", "private"
_SPACES = {"": GLOBAL, "0": GLOBAL, "1": GLOBAL, "3": SHARED, "7": SHARED, "5": LOCAL, "4": GLOBAL}


@dataclasses.dataclass(frozen=True)
class Type:
    """``form``: ``number`` (a scalar or vector), ``memref``, ``pointer``, ``struct`` or ``other``.

    ``shape``: of a vector or memref (None: dynamic); ``strides`` and ``offset`` of a memref's layout (None: dynamic).
    """

    form: str
    text: str
    dtype: np.dtype[Any] | None = None
    shape: tuple[int | None, ...] = ()
    strides: tuple[int | None, ...] = ()
    offset: int | None = 0
    space: str = GLOBAL
    element: str = ""
    lanes: tuple[int, ...] = ()  # of the elements of a memref of vectors
    parts: tuple[Type, ...] = ()

    @property
    def bytes(self) -> int:
        """Size of a number in memory, or of a memref's element."""
        assert self.dtype is not None
        count = math.prod(self.lanes if self.form == "memref" else (e or 0 for e in self.shape))
        return self.dtype.itemsize * count


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "<[(" and 1
        depth -= letter in ">])" and 1
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


@functools.lru_cache(maxsize=4096)
def type_of(text: str) -> Type:
    """The type that ``text`` names."""
    if text.startswith("memref<") and "*" not in text:
        return _memref(text)
    if text.startswith("vector<"):
        match = re.match(r"^((?:\d+x)*)(.+)$", text[7:-1])
        if match is None or "[" in text:
            raise ExecutionError("unsupported", f"values of type {text}: vectors of scalable length", "vector")
        shape = tuple(int(e) for e in match[1].split("x") if e)
        element = match[2]
        return Type("number", text, _dtype(element), shape, element=element)
    if text.startswith("!llvm.ptr"):
        number = re.search(r"<(\d+)>", text)
        return Type("pointer", text, np.dtype(np.int64), space=_SPACES.get(number[1] if number else "", GLOBAL))
    if text.startswith(("!llvm.struct<(", "!llvm.array<")):
        if text.startswith("!llvm.struct"):
            inside = text[len("!llvm.struct<(") : text.rindex(")")]
            parts = tuple(type_of(_llvm(p)) for p in _split(inside)) if inside else ()
        else:
            count, _, element = text[len("!llvm.array<") : -1].partition(" x ")
            parts = (type_of(_llvm(element)),) * int(count)
        return Type("struct", text, parts=parts)
    try:
        return Type("number", text, _dtype(text), element=text)
    except ExecutionError:
        return Type("other", text)


def _llvm(text: str) -> str:
    """A type inside of an LLVM struct, where ``!llvm.`` is left out."""
    known = ("ptr", "struct", "array", "void")
    return f"!llvm.{text}" if text.startswith(known) else text


def _dtype(element: str) -> np.dtype[Any]:
    return dtype_of(element)


def _memref(text: str) -> Type:
    parts = _split(text[7:-1])
    head = parts[0]
    match = re.match(r"^((?:(?:\d+|\?)x)*)(.+)$", head)
    assert match is not None
    shape = tuple(None if e == "?" else int(e) for e in match[1].split("x") if e)
    inner = type_of(match[2])
    if inner.form != "number":
        raise ExecutionError("unsupported", f"values of type {text}", "memref")
    strides: list[int | None] = []
    stride: int | None = 1
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride = None if stride is None or extent is None else stride * extent
    offset: int | None = 0
    space = GLOBAL
    for part in parts[1:]:
        if part.startswith("strided<"):
            numbers = re.match(r"^strided<\[(.*?)\](?:, offset: (\S+))?>$", part)
            assert numbers is not None
            strides = [None if n.strip() == "?" else int(n) for n in numbers[1].split(",") if n.strip()]
            offset = 0 if numbers[2] is None else None if numbers[2] == "?" else int(numbers[2])
        elif part.startswith("affine_map"):
            raise ExecutionError("unsupported", f"values of type {text}: only strided layouts", "memref")
        elif "workgroup" in part:
            space = SHARED
        elif "private" in part:
            space = LOCAL
        else:
            space = _SPACES.get(part.partition(" ")[0], GLOBAL)
    return Type(
        "memref", text, inner.dtype, shape, tuple(strides), offset, space, inner.element,
        tuple(e or 0 for e in inner.shape),
    )
