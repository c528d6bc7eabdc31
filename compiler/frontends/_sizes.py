"""What a program tells of its open sizes, written on its entry function: ``kc.dims``, ``kc.sizes``, ``kc.facts``.

The runtime holds every call to it (``kc-mark-entry-points``), so code may rely on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kc import conditions

if TYPE_CHECKING:
    from kc.bindings import ir

#: in a range of sizes: no upper limit
UNLIMITED = (1 << 63) - 1


class Sizes:
    """Collects names, ranges and conditions of one entry function."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._ranges: dict[str, tuple[int, int]] = {}
        self._facts: dict[str, None] = {}
        self._taken: set[str] = set()

    def take(self, texts: Sequence[str]) -> None:
        """Note texts of extents before any is named, so that a new name is none of theirs."""
        self._taken.update(text for text in texts if text.isidentifier())

    def dims(self, texts: Sequence[str]) -> list[str]:
        """Names of extents told as numbers, symbols or expressions over symbols (``4*n``), one axis each.

        An expression gets a name of its own, and what it is becomes a condition. An empty text stays.
        """
        return [self._name(text) for text in texts]

    def bound(self, name: str, low: int, high: int = UNLIMITED) -> None:
        """A size is in this range, both ends inclusive; more than one range: in all of them."""
        before = self._ranges.get(name, (0, UNLIMITED))
        self._ranges[name] = (max(low, before[0]), min(high, before[1]))

    def condition(self, text: str) -> None:
        """A comparison holds; one that is not of sizes (see ``kc.conditions``) is left out."""
        found = conditions.parse(text)
        if found is None:
            return
        found = _divides(found)
        if _is_multiple(found.left) and (found.compare, found.right) == ("==", 0):
            return
        name, value = found.left, found.right
        if isinstance(name, str) and isinstance(value, int) and found.compare != "!=":
            below = {"<": value - 1, "<=": value, "==": value}.get(found.compare, UNLIMITED)
            above = {">": value + 1, ">=": value, "==": value}.get(found.compare, 0)
            self.bound(name, max(above, 0), below)
            return
        self._facts[str(found)] = None

    def attributes(self, dims: Sequence[Sequence[str]]) -> dict[str, Any]:
        """``kc.sizes`` and ``kc.facts`` for a function whose arguments have these dimensions, as far as these tell.

        What speaks of a name that no argument has is left out: no call can be held to it.
        """
        from kc.bindings import ir

        known = {name for own in dims for name in own}
        ranges = {
            name: ir.DenseI64ArrayAttr.get([low, high])
            for name, (low, high) in sorted(self._ranges.items())
            if name in known and low <= high and (low, high) != (0, UNLIMITED)
        }
        told = dict.fromkeys(found for text in self._facts for found in _told(text, known))
        facts = [ir.StringAttr.get(text) for text in told]
        made: dict[str, Any] = {}
        if ranges:
            made["kc.sizes"] = ir.DictAttr.get(ranges)
        if facts:
            made["kc.facts"] = ir.ArrayAttr.get(facts)
        return made

    def _name(self, text: str) -> str:
        if not text or text.isdigit() or text.isidentifier():
            return text
        name = self._names.get(text)
        if name is None:
            name = next(n for n in (f"d{k}" for k in range(1 << 20)) if n not in self._taken)
            self._taken.add(name)
            self._names[text] = name
            self.condition(f"{name} == {text}")
        return name


def _told(text: str, known: set[str]) -> list[str]:
    """What a condition tells of the names in ``known`` alone: of ``d0 == 8 * n`` without ``n`` that 8 divides it."""
    condition = conditions.parse(text)
    assert condition is not None
    if known.issuperset(condition.names):
        return [text]
    if condition.compare != "==" or condition.left not in known:
        return []
    modulus, rest = conditions.residue(condition.right, {})
    return [f"{condition.left} % {modulus} == {rest}"] if modulus > 1 else []


def _divides(found: conditions.Condition) -> conditions.Condition:
    """``c * (n // c) == n`` in the form ``n % c == 0``; any other condition as it is."""
    product, other = found.left, found.right
    if found.compare != "==" or not isinstance(product, tuple) or product[0] != "*":
        return found
    if not isinstance(product[1], int) or product[2] != ("//", other, product[1]):
        return found
    return conditions.Condition("==", ("%", other, product[1]), 0)


def _is_multiple(expr: conditions.Expr) -> bool:
    """Whether it is ``c * n % d`` with ``d`` a divisor of ``c``: 0, whatever ``n`` is."""
    if not isinstance(expr, tuple) or expr[0] != "%" or not isinstance(expr[1], tuple) or expr[1][0] != "*":
        return False
    return isinstance(expr[1][1], int) and expr[1][1] % expr[2] == 0


def write(function: ir.Operation, sizes: Sizes, extents: Mapping[tuple[int, int], str]) -> None:
    """Write on ``function`` what ``sizes`` tells; ``extents``: (argument, axis) -> text of that extent.

    Names go on arguments that have none and all of whose open extents have a text.
    """
    from kc.bindings import ir

    block = function.regions[0].blocks[0]
    old = list(ir.ArrayAttr(function.attributes["arg_attrs"])) if "arg_attrs" in function.attributes else None
    sizes.take(list(extents.values()))
    for attributes in old or ():
        for entry in ir.DictAttr(attributes):
            if entry.name == "kc.dims":
                sizes.take([str(ir.StringAttr(d).value) for d in ir.ArrayAttr(entry.attr)])
    given: list[list[str]] = []
    made = []
    with function.context:
        for number, argument in enumerate(block.arguments):
            entries = {} if old is None else {a.name: a.attr for a in ir.DictAttr(old[number])}
            kind = argument.type
            texts = []
            if isinstance(kind, ir.RankedTensorType):
                texts = [
                    extents.get((number, axis), "") if kind.is_dynamic_dim(axis) else str(kind.get_dim_size(axis))
                    for axis in range(kind.rank)
                ]
            if "kc.dims" in entries:
                given.append([str(ir.StringAttr(d).value) for d in ir.ArrayAttr(entries["kc.dims"])])
            elif texts and all(texts) and not all(map(str.isdigit, texts)):
                given.append(sizes.dims(texts))
                entries["kc.dims"] = ir.ArrayAttr.get([ir.StringAttr.get(d) for d in given[-1]])
            made.append(ir.DictAttr.get(entries))
        if any(len(entries) for entries in made):
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(made)
        for key, attribute in sizes.attributes(given).items():
            if key not in function.attributes:
                function.attributes[key] = attribute
