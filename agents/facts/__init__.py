"""Facts: what a contract states about sizes and arguments, read from text (``K % 8 == 0``, ``unique(arg1)``).

Of sizes: any comparison of expressions over names of dimensions (``kc.conditions``): ``DIM % INT == INT``, ``M <= N``,
``N == 4 * M + 1``. Of arguments (``CALLS`` has what each says exactly): ``align(argN,BYTES)``, ``noalias(argN,argM)``,
``finite(argN)``, ``nonnegative(argN)``, ``positive(argN)``, ``sorted(argN)``, ``unique(argN)``.
A fact in any other form stands for itself only: it is granted to whoever repeats it, and inputs cannot obey it.
"""
from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping

from kc.conditions import COMPARISONS, Condition, parse

_DIVIDES = re.compile(r"([A-Za-z_]\w*)%(\d+)==(\d+)")
_COMPARES = re.compile(r"([A-Za-z_]\w*|-?\d+)(==|!=|<=|>=|<|>)([A-Za-z_]\w*|-?\d+)")
_CALLS = re.compile(r"([a-z]+)\(arg(\d+)(?:,(?:arg)?(\d+))?\)")

#: form of a fact on an argument -> what it says, and what the gate draws by it
CALLS: dict[str, str] = {
    "align": "the buffer of the argument starts at a multiple of so many bytes",
    "noalias": "the two arguments have no element in common",
    "finite": "no element is NaN or infinite (of a complex number: no part)",
    "nonnegative": "every element is 0 or greater: none is negative, -0.0 or NaN; infinity may occur",
    "positive": "every element is greater than 0: none is 0, negative or NaN; infinity may occur",
    "sorted": "along the last axis no element is greater than the next one; NaNs, where they may occur, come last",
    "unique": "no two elements of the argument compare equal, and at most one is NaN",
}
#: those that take a second part
_PAIRS = frozenset({"align", "noalias"})


@dataclasses.dataclass(frozen=True)
class Fact:
    """One fact. ``form``: ``divides`` (``left % right == number``), a comparison operator (of names and integers), a
    name of ``CALLS`` (of argument ``argument``, with ``number``), ``relation`` (any other condition on sizes) or
    ``other``."""

    text: str
    form: str
    left: str = ""
    right: str = ""
    argument: int = -1
    number: int = 0

    @property
    def condition(self) -> Condition | None:
        """As a condition on sizes; None where it is none."""
        is_one = self.form in ("divides", "relation") or self.form in COMPARISONS
        return parse(self.text) if is_one else None

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions of which it speaks."""
        condition = self.condition
        return () if condition is None else condition.names

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether these sizes obey it; True when it does not speak of them alone."""
        condition = self.condition
        if condition is None or any(name not in sizes for name in condition.names):
            return True
        return condition.holds(sizes)


def parse_fact(text: str) -> Fact:
    """The fact that ``text`` states; spaces do not count."""
    bare = re.sub(r"\s+", "", text)
    if match := _DIVIDES.fullmatch(bare):
        if int(match[2]) > int(match[3]):
            return Fact(bare, "divides", match[1], match[2], number=int(match[3]))
    elif match := _COMPARES.fullmatch(bare):
        return Fact(bare, match[2], match[1], match[3])
    elif (match := _CALLS.fullmatch(bare)) and match[1] in CALLS and (match[1] in _PAIRS) == (match[3] is not None):
        return Fact(bare, match[1], argument=int(match[2]), number=int(match[3] or 0))
    elif parse(bare) is not None:
        return Fact(bare, "relation")
    return Fact(bare, "other")


def implied(wanted: Fact, known: Fact) -> bool:
    """Whether ``known`` alone makes ``wanted`` true."""
    if wanted.text == known.text:
        return True
    if wanted.form == "divides" and known.form == "divides" and wanted.left == known.left:
        divisor = int(wanted.right)
        return int(known.right) % divisor == 0 and known.number % divisor == wanted.number
    if wanted.form == known.form and wanted.argument == known.argument:
        if wanted.form == "align":
            return wanted.number > 0 and known.number % wanted.number == 0
        return wanted.form in CALLS and wanted.number == known.number
    if wanted.form == "nonnegative":
        return known.form == "positive" and wanted.argument == known.argument
    if wanted.form == "noalias" and known.form == "noalias":
        return (wanted.argument, wanted.number) == (known.number, known.argument)
    return False


def follows(wanted: Fact, known: Iterable[Fact], ranges: Mapping[str, tuple[int, int]]) -> bool:
    """Whether a condition on sizes holds for all sizes in ``ranges`` (both ends inclusive) that obey ``known``."""
    from kc.agents.facts.algebra import proves

    condition = wanted.condition
    if condition is None or any(name not in ranges for name in condition.names):
        return False
    given = [c for c in (fact.condition for fact in known) if c is not None]
    return proves(condition, given, ranges)
