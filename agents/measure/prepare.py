"""From a region's text to what is measured: an artifact, and arguments at typical sizes. Needs the compiler."""
from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kc.agents.contract import Contract
from kc.agents.facts.settle import settled
from kc.agents.measure.inputs import ALIGNMENT, Argument
from kc.errors import InputError
from kc.runtime import dtypes

if TYPE_CHECKING:
    from kc.bindings import ir

Artifact = tuple[Mapping[str, Any], Mapping[str, bytes]]

#: levels of which kc makes a program whose arguments and results are tensors
TENSORS = ("torch", "stablehlo", "linalg")
#: bytes of all arguments, and product of all named sizes, up to which named sizes are doubled
TYPICAL_BYTES = 4 << 20
TYPICAL_VOLUME = 1 << 27
_SMALLEST = 64
#: extent of dimensions at small sizes
_LITTLE = 16
#: facts that the drawing of inputs knows
_FACTS = ("unique", "sorted", "positive", "nonnegative")


def build(text: str, level: str, target: str = "cpu") -> Artifact:
    """A program of ``text`` (a module with ``@main``) along kc's own road, with its default options.

    Raises InputError for a level from which no road leads, CompileError as ``kc.compile`` does.
    """
    from kc import api

    if level in TENSORS:
        made = api.compile(text, target)
        return made.manifest, made.files
    if level == "llvm" and target.partition(":")[0] == "cpu":
        from kc.agents.measure import below

        return below.build(text, target)
    if level != "loops":
        raise InputError(f"a region at level '{level}' is measured as an artifact only: realize it first")
    from kc.pipelines.run import run_phases
    from kc.targets import get_target

    module, chosen = parse(text), get_target(target)
    main = entry(module)
    with module.context:
        from kc.bindings import ir

        main.attributes["kc.signature"] = ir.StringAttr.get(json.dumps(signature(main)))
    run_phases(module, [phase for phase in chosen.phases() if phase.start != "linalg"])
    return chosen.generate(module, {})


def arguments(text: str, sizes: Mapping[str, int] | None = None) -> tuple[Argument, ...]:
    """The arguments of ``@main`` at ``sizes``, or at typical ones for what they leave open.

    Raises InputError when inputs cannot be drawn as the contract wants them.
    """
    return points(text, sizes, most=1)[0]


def points(
    text: str, sizes: Mapping[str, int] | None = None, guard: Sequence[str] = (), most: int = 3
) -> list[tuple[Argument, ...]]:
    """The arguments of ``@main`` at up to ``most`` sizes at which a region is worth timing, the largest first.

    Beside the typical sizes, which are as large as inputs are drawn quickly, small ones and such as lie between: for
    code that gains at some sizes what it loses at others. ``sizes`` stand. All obey the contract's facts and ``guard``,
    conditions outside of which a proposal is not used. Raises InputError when inputs cannot be drawn as the contract
    wants them, or no sizes obey.
    """
    module = parse(text)  # the ops below live as long as it does
    main = entry(module)
    contract = Contract.of(main)
    unknown = [fact.text for fact in contract.known if fact.form == "other"]
    if unknown:
        raise InputError(f"inputs cannot be drawn that obey the fact '{unknown[0]}'")
    shapes = [_dims(kind, contract, number) for number, kind in enumerate(inputs(main))]
    kinds = [(element(kind), dims) for kind, dims in zip(inputs(main), shapes, strict=True)]
    guarded = dataclasses.replace(contract, facts=(*contract.facts, *guard))
    chosen = [typical(guarded, kinds, sizes)]
    level = max((extent for extent in chosen[0].values()), default=_LITTLE)
    for smaller in (_LITTLE, math.isqrt(_LITTLE * max(_LITTLE, level)))[: most - 1]:
        found = _at(guarded, kinds, sizes, smaller)
        if found not in chosen and all(fact.holds(found) for fact in guarded.known):
            chosen.append(found)
    return [_drawn(main, contract, shapes, sizes_) for sizes_ in chosen]


def _drawn(
    main: ir.Operation, contract: Contract, shapes: Sequence[Sequence[int | str]], chosen: Mapping[str, int]
) -> tuple[Argument, ...]:
    """The arguments of ``@main`` at sizes by name."""
    made = []
    for number, (kind, dims) in enumerate(zip(inputs(main), shapes, strict=True)):
        known = contract.arguments[number]
        low, high = known.range or (None, None)
        facts = tuple(f.form for f in contract.known if f.argument == number and f.form in _FACTS)
        align = max([f.number for f in contract.known if f.argument == number and f.form == "align"], default=ALIGNMENT)
        role = "out" if known.out else "inout" if known.inout else "in"
        shape = tuple(chosen[d] if isinstance(d, str) else d for d in dims)
        made.append(Argument(element(kind), shape, role, low, high, facts, align))
    return tuple(made)


def named_sizes(text: str, drawn: Sequence[Argument]) -> dict[str, int]:
    """The extents that open dimensions of ``@main`` have in ``drawn``, by name."""
    module = parse(text)
    main = entry(module)
    contract, found = Contract.of(main), {}
    for number, (kind, argument) in enumerate(zip(inputs(main), drawn, strict=True)):
        pairs = zip(_dims(kind, contract, number), argument.shape, strict=True)
        found.update({name: extent for name, extent in pairs if isinstance(name, str)})
    return found


Shapes = Sequence[tuple[str, Sequence[int | str]]]


def typical(contract: Contract, shapes: Shapes, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """Sizes for the named dimensions of ``shapes`` (element type, extents each) at which a region is worth timing.

    ``given`` sizes stand. Raises InputError when no sizes obey the contract's facts.
    """

    def fits(chosen: Mapping[str, int]) -> bool:
        total = sum(
            math.prod(chosen[d] if isinstance(d, str) else d for d in dims) * dtypes.by_name(kind).itemsize
            for kind, dims in shapes
        )
        return total <= TYPICAL_BYTES and math.prod(chosen.values()) <= TYPICAL_VOLUME

    level, chosen = _SMALLEST, _at(contract, shapes, given, _SMALLEST)
    largest = max((contract.size_range(name)[1] for name in chosen if name not in (given or {})), default=0)
    while level < largest and fits(larger := _at(contract, shapes, given, 2 * level)):
        level, chosen = 2 * level, larger
    for fact in contract.known:
        if not fact.holds(chosen):
            raise InputError(f"no typical sizes were found that obey the fact '{fact.text}'; give sizes")
    return chosen


def _at(contract: Contract, shapes: Shapes, given: Mapping[str, int] | None, level: int) -> dict[str, int]:
    """Sizes as near to ``level`` as the contract lets them be."""
    found = {}
    for name in sorted({d for _, dims in shapes for d in dims if isinstance(d, str)}):
        low, high = contract.size_range(name)
        if given and name in given:
            found[name] = given[name]
        else:
            found[name] = _obeying(contract, name, min(high, max(low, level)), low)
    if not any(len(fact.dims) > 1 for fact in contract.known):  # each size stands alone
        return found
    return settled(found, contract.known, {n: contract.size_range(n) for n in found if n not in (given or {})})


def _obeying(contract: Contract, name: str, size: int, low: int) -> int:
    """The largest size up to ``size`` that obeys the divisibility facts of one dimension."""
    facts = [f for f in contract.known if f.form == "divides" and f.left == name]
    exact = [int(f.right) for f in contract.known if f.form == "==" and f.left == name and f.right.isdigit()]
    if exact:
        return exact[0]
    for candidate in range(size, max(low, size - 4096) - 1, -1):
        if all(f.holds({name: candidate}) for f in facts):
            return candidate
    return size


# ------------------------------------------------------------------------------------------------------- reading MLIR


def parse(text: str) -> ir.Module:
    """The module of a text."""
    from kc.context import make_context, parse_module

    return parse_module(text, make_context())


def entry(module: ir.Module) -> ir.Operation:
    """The function ``@main``. Raises InputError when there is none."""
    for op in module.body.operations:
        if op.operation.name == "func.func" and str(op.operation.attributes["sym_name"]).strip('"') == "main":
            return op.operation
    raise InputError("the module has no function @main")


def inputs(main: ir.Operation) -> list[ir.Type]:
    """The types of a function's arguments."""
    from kc.bindings import ir

    return list(ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).inputs)


def element(kind: ir.Type) -> str:
    """kc's name of the element type. Raises InputError for one that arrays do not have."""
    from kc.bindings import ir

    element = ir.ShapedType(kind).element_type if isinstance(kind, ir.ShapedType) else kind
    name = str(element).replace("si", "i", 1) if str(element).startswith("si") else str(element)
    try:
        return dtypes.by_name(name).name
    except KeyError:
        raise InputError(f"no inputs can be drawn for an argument of type {kind}") from None


def _dims(kind: ir.Type, contract: Contract, number: int) -> list[int | str]:
    """The extents of an argument: numbers, or names where they are dynamic."""
    from kc.bindings import ir

    if not isinstance(kind, ir.ShapedType):
        return []
    named = contract.arguments[number].dims
    shape = ir.ShapedType(kind)
    return [
        (named[axis] if axis < len(named) else f"arg{number}.{axis}") if shape.is_dynamic_dim(axis) else size
        for axis, size in enumerate(shape.shape)
    ]


def signature(main: ir.Operation) -> dict[str, Any]:
    """The manifest's description of a function on buffers (see ``kc.runtime.container``)."""
    from kc.bindings import ir

    contract = Contract.of(main)
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)

    def describe(type_: ir.Type, dims: Sequence[int | str]) -> dict[str, Any]:
        scalar = {} if isinstance(type_, ir.ShapedType) else {"scalar": True}
        return {"dtype": element(type_), "shape": [d if isinstance(d, int) else None for d in dims], **scalar}

    args = [
        {"name": f"arg{n}", "kind": "input", **describe(t, _dims(t, contract, n))} for n, t in enumerate(kind.inputs)
    ]
    results = []
    for type_ in kind.results:
        shape = ir.ShapedType(type_) if isinstance(type_, ir.ShapedType) else None
        dims = [] if shape is None else ["?" if shape.is_dynamic_dim(i) else s for i, s in enumerate(shape.shape)]
        results.append(describe(type_, dims))
    return {"args": args, "results": results}
