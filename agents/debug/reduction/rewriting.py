"""Edits over the text: extents, element types, constants. Whether the outcome is valid is MLIR's to say."""
from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from kc.agents.debug.reduction.case import Case, checked, parse
from kc.errors import KcError

_EXTENT = re.compile(r"(?<=[<x])(\d+)(?=x)")
_DENSE = re.compile(r"dense<((?:\[|\")[^>]*)>")
_NARROWER = (("f64", "f32"), ("bf16", "f32"), ("f16", "f32"), ("i64", "i32"), ("i16", "i32"), ("ui8", "i32"))


def smaller(case: Case) -> Iterator[Case]:
    """The case with one extent made smaller everywhere, largest first."""
    extents = sorted({int(n) for n in _EXTENT.findall(case.text)} - {0, 1}, reverse=True)
    for extent in extents:
        for target in dict.fromkeys(t for t in (1, 2, extent // 2, extent - 1) if 0 < t < extent):
            for everywhere in (True, False):
                text = _EXTENT.sub(lambda m: str(target) if int(m[1]) == extent else m[1], case.text)  # noqa: B023
                if everywhere:
                    text = _in_attributes(text, extent, target)
                made = _fitted(case, text)
                if made is not None:
                    yield made
                    break


def _in_attributes(text: str, old: int, new: int) -> str:
    """``text`` with the number ``old`` in lists and slices changed too; locations are left alone."""
    number = re.compile(rf"(?<=[\[,:= ]){old}(?=[\],: \n>])")
    lines = []
    for line in text.split("\n"):
        body, mark, rest = line.partition(" loc(")
        lines.append(line if line.startswith("#loc") else number.sub(str(new), body) + mark + rest)
    return "\n".join(lines)


def simpler_types(case: Case) -> Iterator[Case]:
    """The case with one element type replaced by the usual one."""
    for old, new in _NARROWER:
        made = _fitted(case, re.sub(rf"(?<=[x<:\s(]){old}\b", new, case.text))
        if made is not None:
            yield made


def splat_constants(case: Case) -> Iterator[Case]:
    """The case with one constant of many values made one of a single value."""
    for match in _DENSE.finditer(case.text):
        first = re.search(r"-?\d[\w.+-]*|true|false", match[1].lstrip("["))
        for value in dict.fromkeys([*([first[0]] if first and '"' not in match[1] else []), "0", "0.0", "1.0", "1"]):
            text = f"{case.text[: match.start()]}dense<{value}>{case.text[match.end() :]}"
            made = _fitted(case, text)
            if made is not None:
                yield made
                break


def without_locations(case: Case) -> Case:
    """The case without its locations."""
    from kc.agents.debug.reduction.case import show

    return Case(show(parse(case.text), locations=False), case.inputs)


def _fitted(case: Case, text: str) -> Case | None:
    """The case of ``text``, inputs cut and converted to the arguments of its ``@main``; None when that cannot be."""
    if text == case.text:
        return None
    if case.inputs is None:
        return checked(text, None)
    from kc.agents.debug.inputs import kinds

    try:
        wanted = kinds(parse(text))
    except (KcError, ValueError):
        return None
    if len(wanted) != len(case.inputs):
        return None
    fitted = []
    for kind, array in zip(wanted, case.inputs, strict=True):
        if len(kind.shape) != array.ndim:
            return None
        shape = [have if want is None else want for want, have in zip(kind.shape, array.shape, strict=True)]
        cut = array[tuple(slice(0, extent) for extent in shape)]
        if list(cut.shape) != shape:
            return None
        fitted.append(np.ascontiguousarray(cut).reshape(shape).astype(kind.dtype))
    return checked(text, fitted)
