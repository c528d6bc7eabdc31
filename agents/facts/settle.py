"""Sizes that obey conditions: some sizes changed as little as is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kc.agents.facts import Fact
from kc.conditions import Condition, Expr, evaluate, names_in

Range = tuple[int, int]
#: how far from where it was a size is looked for
_FAR = 4096
#: the same for a size that others hang on
_NEAR = 128
#: conditions that mending one breaks are mended again so often
_ROUNDS = 4


def settled(sizes: Mapping[str, int], facts: Iterable[Fact], ranges: Mapping[str, Range]) -> dict[str, int]:
    """``sizes`` changed within ``ranges`` (both ends inclusive) so that ``facts`` hold, as far as that was found.

    Sizes without a range stay.
    """
    made = dict(sizes)
    conditions = [c for c in (fact.condition for fact in facts) if c is not None and made.keys() >= set(c.names)]
    for _ in range(_ROUNDS):
        broken = [condition for condition in conditions if not condition.holds(made)]
        if not broken:
            break
        for condition in broken:
            if not condition.holds(made):
                _mend(made, condition, ranges)
    if all(condition.holds(made) for condition in conditions):
        return made
    return _together(made, conditions, ranges)


def _together(sizes: dict[str, int], conditions: list[Condition], ranges: Mapping[str, Range]) -> dict[str, int]:
    """Move one size, and with it those that equal an expression over it."""
    equal = [c for c in conditions if c.compare == "==" and isinstance(c.left, str) and c.left in ranges]
    tied = {condition.left for condition in equal}
    for name in dict.fromkeys(n for condition in conditions for n in condition.names):
        if name in tied or name not in ranges:
            continue
        low, high = ranges[name]
        for distance in range(min(high - low + 1, _NEAR)):
            for candidate in (sizes[name] - distance, sizes[name] + distance):
                if not low <= candidate <= high:
                    continue
                made = {**sizes, name: candidate}
                for condition in equal:
                    _give(made, condition.left, condition.right, ranges[condition.left])
                if all(condition.holds(made) for condition in conditions):
                    return made
    return sizes


def _mend(sizes: dict[str, int], condition: Condition, ranges: Mapping[str, Range]) -> None:
    """Change one size so that the condition holds, if that can be done within the ranges."""
    if condition.compare == "==":
        for name, value in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(name, str) and name in ranges and _give(sizes, name, value, ranges[name]):
                return
    for name in condition.names:
        low, high = ranges.get(name, (sizes[name],) * 2)
        for distance in range(min(high - low + 1, _FAR)):
            for candidate in (sizes[name] - distance, sizes[name] + distance):
                if low <= candidate <= high and condition.holds({**sizes, name: candidate}):
                    sizes[name] = candidate
                    return


def _give(sizes: dict[str, int], name: str, value: Expr, span: Range) -> bool:
    """Give ``name`` the value of an expression over the others; False where that is out of its range."""
    if name in names_in(value):
        return False
    size = evaluate(value, sizes)
    if span[0] <= size <= span[1]:
        sizes[name] = size
    return span[0] <= size <= span[1]
