"""Facts: what a contract states about sizes and arguments, read from text (``K % 8 == 0``, ``unique(arg1)``).

Forms: ``DIM % INT == INT``; ``A OP B`` with OP one of ``== != <= >= < >``, A and B a dimension or an integer;
``align(argN,BYTES)``; ``unique(argN)`` (no two elements equal); ``sorted(argN)`` (ascending along the last axis);
``finite(argN)`` (no infinity, no NaN); ``positive(argN)``, ``nonnegative(argN)``; ``noalias(argN,argM)``.
A fact in any other form stands for itself only: it is granted to whoever repeats it, and inputs cannot obey it.
"""
from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Mapping

_DIVIDES = re.compile(r"([A-Za-z_]\w*)%(\d+)==(\d+)")
_COMPARES = re.compile(r"([A-Za-z_]\w*|-?\d+)(==|!=|<=|>=|<|>)([A-Za-z_]\w*|-?\d+)")
_CALLS = re.compile(r"([a-z]+)\(arg(\d+)(?:,(?:arg)?(\d+))?\)")

_OPERATORS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
}
_CALL_FORMS = {"align": True, "noalias": True, "unique": False, "sorted": False, "finite": False, "positive": False,
               "nonnegative": False}


@dataclasses.dataclass(frozen=True)
class Fact:
    """One fact. ``form``: ``divides`` (``left % right == rest``), a comparison operator, a name of a call
    (``unique`` … of argument ``argument``, with ``number``), or ``other``."""

    text: str
    form: str
    left: str = ""
    right: str = ""
    argument: int = -1
    number: int = 0

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions of which it speaks."""
        return tuple(name for name in (self.left, self.right) if name and not _is_int(name))

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether these sizes obey it; True when it does not speak of them alone."""
        if any(name not in sizes for name in self.dims):
            return True
        if self.form == "divides":
            return sizes[self.left] % int(self.right) == self.number
        if self.form in _OPERATORS:
            left, right = (int(s) if _is_int(s) else sizes[s] for s in (self.left, self.right))
            return _OPERATORS[self.form](left, right)
        return True


def parse_fact(text: str) -> Fact:
    """The fact that ``text`` states; spaces do not count."""
    bare = re.sub(r"\s+", "", text)
    if match := _DIVIDES.fullmatch(bare):
        if int(match[2]) > int(match[3]):
            return Fact(bare, "divides", match[1], match[2], number=int(match[3]))
    elif match := _COMPARES.fullmatch(bare):
        return Fact(bare, match[2], match[1], match[3])
    elif (match := _CALLS.fullmatch(bare)) and _CALL_FORMS.get(match[1]) == (match[3] is not None):
        return Fact(bare, match[1], argument=int(match[2]), number=int(match[3] or 0))
    return Fact(bare, "other")


def implied(wanted: Fact, known: Fact) -> bool:
    """Whether ``known`` alone makes ``wanted`` true."""
    if wanted.text == known.text:
        return True
    if wanted.form == "divides" and known.form == "divides" and wanted.left == known.left:
        divisor = int(wanted.right)
        return int(known.right) % divisor == 0 and known.number % divisor == wanted.number
    if wanted.form == "divides" and known.form == "==" and _is_int(known.right) and known.left == wanted.left:
        return int(known.right) % int(wanted.right) == wanted.number
    if wanted.form == known.form and wanted.argument == known.argument:
        if wanted.form == "align":
            return wanted.number > 0 and known.number % wanted.number == 0
        return wanted.form in _CALL_FORMS and wanted.number == known.number
    if wanted.form == "nonnegative":
        return known.form == "positive" and wanted.argument == known.argument
    if wanted.form == "noalias" and known.form == "noalias":
        return (wanted.argument, wanted.number) == (known.number, known.argument)
    return False


def holds_in_ranges(wanted: Fact, ranges: Mapping[str, tuple[int, int]]) -> bool:
    """Whether a comparison of dimensions and integers holds for all sizes in ``ranges`` (both ends inclusive)."""
    if wanted.form not in _OPERATORS or any(name not in ranges for name in wanted.dims):
        return False
    (a, b), (c, d) = ((int(s), int(s)) if _is_int(s) else ranges[s] for s in (wanted.left, wanted.right))
    if wanted.form in ("==", "!="):
        return a == b == c == d if wanted.form == "==" else b < c or d < a
    compare = _OPERATORS[wanted.form]
    return compare(b, c) if wanted.form.startswith("<") else compare(a, d)


def _is_int(text: str) -> bool:
    return text.lstrip("-").isdigit()
