"""The contract of a region: what a proposal may assume and what its arguments are, written in the region's own IR.

Attributes of ``@main``: ``kc.allow`` (numerics that may be assumed, ``ALLOWANCES``), ``kc.facts`` (``kc.agents.facts``
has their forms) and ``kc.sizes`` (range of each symbolic dimension, both ends inclusive; ``DEFAULT_SIZES`` otherwise).
Attributes of its arguments: ``kc.dims`` (names of the dimensions of a shaped argument), ``kc.range`` (range of the
elements of an integer argument, both ends inclusive), ``kc.out``, ``kc.inout`` (a buffer that is written whole, or
updated; every other one is read-only), ``kc.may_alias`` (number of the argument whose buffer it may share: that very
view). What is not granted here matters: NaN, infinities, the sign of zero, denormals, negative integers, wrap-around.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kc.agents.facts import Fact, follows, implied, parse_fact
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir

#: numerics that a contract can allow -> what they permit (the policy in full: docs/agents/numerics.md)
ALLOWANCES: dict[str, str] = {
    "reassoc": "sums and products may be evaluated in another order, within a stated bound of the error",
    "contract": "a product and a sum may be rounded once (FMA), within a stated bound of the error",
    "arcp": "a division may be done as a product with the reciprocal",
    "approx": "transcendental functions, divisions and roots may be approximated, within a stated bound of the error",
    "low_precision": "operands of contractions may be rounded to a narrower float type",
    "nsz": "the sign of a zero result is free",
    "nnan": "no input and no result is NaN",
    "ninf": "no input and no result is infinite",
    "nsw": "no signed integer operation overflows",
    "nuw": "no unsigned integer operation overflows",
}
#: other names of the same -> names of ALLOWANCES that stand for it
_SYNONYMS: dict[str, tuple[str, ...]] = {
    "afn": ("approx",),
    "fast": ("reassoc", "contract", "arcp", "approx", "nsz", "nnan", "ninf"),
}
#: an allowance -> the wider one that holds it too
_WIDER = {"arcp": "approx"}

#: range of a symbolic dimension of which ``kc.sizes`` says nothing
DEFAULT_SIZES = (0, 64)
FUNCTION_ATTRIBUTES = ("kc.allow", "kc.facts", "kc.sizes")
ARGUMENT_ATTRIBUTES = ("kc.dims", "kc.range", "kc.out", "kc.inout", "kc.may_alias")


@dataclasses.dataclass(frozen=True)
class ArgumentContract:
    """What is known of one argument; ``range`` has both ends inclusive, ``may_alias`` is the number of an argument."""

    dims: tuple[str, ...] = ()
    range: tuple[int, int] | None = None
    out: bool = False
    inout: bool = False
    may_alias: int | None = None

    @property
    def writable(self) -> bool:
        """Whether a region may write it."""
        return self.out or self.inout


@dataclasses.dataclass(frozen=True)
class Contract:
    """The whole contract; ``sizes`` has declared ranges only, ``size_range`` answers for every dimension."""

    allow: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()
    sizes: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    arguments: tuple[ArgumentContract, ...] = ()

    @classmethod
    def of(cls, function: ir.Operation | ir.OpView) -> Contract:
        """The contract that stands on a function (``func.func`` or ``llvm.func``). Raises InputError when malformed."""
        from kc.bindings import ir

        op = function.operation
        attributes = op.attributes
        count = len(op.regions[0].blocks[0].arguments) if len(op.regions[0].blocks) else None
        arguments: list[ArgumentContract] = []
        if "arg_attrs" in attributes:
            arguments = [_argument(ir.DictAttr(a), number) for number, a in enumerate(attributes["arg_attrs"])]
        arguments += [ArgumentContract()] * ((count or 0) - len(arguments))
        for number, argument in enumerate(arguments):
            other = argument.may_alias
            if other is not None and not 0 <= other < len(arguments):
                raise InputError(f"kc.may_alias of argument {number} names argument {other}: there is none")
        sizes: dict[str, tuple[int, int]] = {}
        if "kc.sizes" in attributes:
            table = _expect(attributes["kc.sizes"], ir.DictAttr, "kc.sizes", "a dictionary")
            sizes = {named.name: _pair(named.attr, f"kc.sizes.{named.name}") for named in table}
        for name, (low, high) in sizes.items():
            if not 0 <= low <= high:
                raise InputError(f"kc.sizes.{name} is no range of sizes: {low} to {high}")
        return cls(
            frozenset(_strings(attributes["kc.allow"], "kc.allow")) if "kc.allow" in attributes else frozenset(),
            _strings(attributes["kc.facts"], "kc.facts") if "kc.facts" in attributes else (),
            sizes,
            tuple(arguments),
        )

    def write(self, function: ir.Operation | ir.OpView) -> None:
        """Write the contract on a function, in place of the one that stands there; other attributes stay."""
        from kc.bindings import ir

        op = function.operation
        with op.context, op.location:
            for name in FUNCTION_ATTRIBUTES:
                if name in op.attributes:
                    del op.attributes[name]
            if self.allow:
                op.attributes["kc.allow"] = ir.ArrayAttr.get([ir.StringAttr.get(a) for a in sorted(self.allow)])
            if self.facts:
                op.attributes["kc.facts"] = ir.ArrayAttr.get([ir.StringAttr.get(f) for f in self.facts])
            if self.sizes:
                op.attributes["kc.sizes"] = ir.DictAttr.get(
                    {name: ir.DenseI64ArrayAttr.get(list(pair)) for name, pair in self.sizes.items()}
                )
            old: list[dict[str, ir.Attribute]] = [{} for _ in self.arguments]
            if "arg_attrs" in op.attributes:
                old = [{n.name: n.attr for n in ir.DictAttr(a)} for a in op.attributes["arg_attrs"]]
            if len(old) != len(self.arguments):
                raise InputError(f"a contract of {len(self.arguments)} arguments on a function of {len(old)}")
            made = []
            for attributes, argument in zip(old, self.arguments, strict=True):
                kept = {name: a for name, a in attributes.items() if name not in ARGUMENT_ATTRIBUTES}
                made.append(ir.DictAttr.get({**kept, **_attributes(argument)}))
            if any(len(d) for d in made) or "arg_attrs" in op.attributes:
                op.attributes["arg_attrs"] = ir.ArrayAttr.get(made)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "allow": sorted(self.allow),
            "facts": list(self.facts),
            "sizes": {name: list(pair) for name, pair in self.sizes.items()},
            "arguments": [
                {k: list(v) if isinstance(v, tuple) else v for k, v in dataclasses.asdict(a).items()}
                for a in self.arguments
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Contract:
        """Inverse of ``to_json``."""
        arguments = tuple(
            ArgumentContract(tuple(a["dims"]), tuple(a["range"]) if a["range"] else None, a["out"], a["inout"],
                             a["may_alias"])
            for a in data["arguments"]
        )
        sizes = {name: (pair[0], pair[1]) for name, pair in data["sizes"].items()}
        return cls(frozenset(data["allow"]), tuple(data["facts"]), sizes, arguments)

    @property
    def known(self) -> tuple[Fact, ...]:
        """The facts, parsed."""
        return tuple(map(parse_fact, self.facts))

    def size_range(self, name: str) -> tuple[int, int]:
        """Range of the dimension of that name, both ends inclusive."""
        return self.sizes.get(name, DEFAULT_SIZES)

    def allows(self, name: str) -> bool:
        """Whether numerics named ``name`` (of ``ALLOWANCES`` or a fast-math flag of MLIR) may be assumed."""
        held = {part for given in self.allow for part in _SYNONYMS.get(given, (given,))}
        return all(
            part in held or _WIDER.get(part) in held for part in _SYNONYMS.get(name, (name,))
        )

    def grants(self, assumption: str) -> bool:
        """Whether a proposal may assume this: an allowance, a fact, or what follows from facts and sizes."""
        if self.allows(assumption):
            return True
        wanted = parse_fact(assumption)
        if any(implied(wanted, fact) for fact in self.known):
            return True
        if wanted.form == "noalias":
            return self._apart(wanted.argument, wanted.number)
        if wanted.form in ("nonnegative", "positive") and wanted.argument < len(self.arguments):
            given = self.arguments[wanted.argument].range
            return given is not None and given[0] >= (1 if wanted.form == "positive" else 0)
        names = {name for a in self.arguments for name in a.dims} | set(self.sizes)
        return follows(wanted, self.known, {name: self.size_range(name) for name in names})

    def _apart(self, one: int, other: int) -> bool:
        """Whether two arguments never share a buffer: as no ``kc.may_alias`` leads from one to the other."""
        if one == other or max(one, other) >= len(self.arguments):
            return False
        return self.root(one) != self.root(other)

    def root(self, number: int) -> int:
        """The first of the arguments that ``kc.may_alias`` ties to argument ``number``, by however many steps."""
        group, before = {number}, 0
        while len(group) != before:
            before = len(group)
            for here, argument in enumerate(self.arguments):
                if argument.may_alias is not None and not group.isdisjoint((here, argument.may_alias)):
                    group |= {here, argument.may_alias}
        return min(group)


def _attributes(argument: ArgumentContract) -> dict[str, ir.Attribute]:
    """The attributes that say what ``argument`` says."""
    from kc.bindings import ir

    made: dict[str, ir.Attribute] = {}
    if argument.dims:
        made["kc.dims"] = ir.ArrayAttr.get([ir.StringAttr.get(d) for d in argument.dims])
    if argument.range is not None:
        made["kc.range"] = ir.DenseI64ArrayAttr.get(list(argument.range))
    if argument.out:
        made["kc.out"] = ir.UnitAttr.get()
    if argument.inout:
        made["kc.inout"] = ir.UnitAttr.get()
    if argument.may_alias is not None:
        made["kc.may_alias"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), argument.may_alias)
    return made


def _argument(attributes: ir.DictAttr, number: int) -> ArgumentContract:
    """What the attributes of one argument say."""
    from kc.bindings import ir

    named = {entry.name: entry.attr for entry in attributes}
    place = f"of argument {number}"
    alias = None
    if "kc.may_alias" in named:
        alias = _expect(named["kc.may_alias"], ir.IntegerAttr, f"kc.may_alias {place}", "an integer").value
    extent = _pair(named["kc.range"], f"kc.range {place}") if "kc.range" in named else None
    if extent is not None and extent[0] > extent[1]:
        raise InputError(f"kc.range {place} is empty: {extent[0]} to {extent[1]}")
    dims = _strings(named["kc.dims"], f"kc.dims {place}") if "kc.dims" in named else ()
    return ArgumentContract(dims, extent, "kc.out" in named, "kc.inout" in named, alias)


def _expect(attribute: ir.Attribute, kind: Any, name: str, words: str) -> Any:
    if not isinstance(attribute, kind):
        raise InputError(f"{name} is {words}, not {attribute}")
    return attribute


def _strings(attribute: ir.Attribute, name: str) -> tuple[str, ...]:
    from kc.bindings import ir

    items = _expect(attribute, ir.ArrayAttr, name, "a list of strings")
    return tuple(_expect(item, ir.StringAttr, name, "a list of strings").value for item in items)


def _pair(attribute: ir.Attribute, name: str) -> tuple[int, int]:
    from kc.bindings import ir

    values = list(_expect(attribute, ir.DenseI64ArrayAttr, name, "a pair 'array<i64: low, high>'"))
    if len(values) != 2:
        raise InputError(f"{name} is a pair 'array<i64: low, high>', not {attribute}")
    return values[0], values[1]
