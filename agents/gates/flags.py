"""Flags on ops that assume something: fast math, overflow, exactness, alignment, order and uniqueness of indices.

A flag is fine where the contract grants it, where the original has it on an op of the same name and element type (then
the differential test still watches), or where the ranges of sizes prove it (overflow flags on index arithmetic).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kc.agents.gates import indices, orders
from kc.agents.gates.case import Case, place, walk
from kc.agents.gates.ranges import Ranges
from kc.agents.gates.reasons import Rejection

if TYPE_CHECKING:
    from kc.bindings import ir

_FASTMATH = ("fastmath", "fastmathFlags", "fastmath_flags")
_OVERFLOW = ("overflowFlags", "overflow_flags")
#: unit attributes of arith and llvm ops that make a wrong result undefined
_UNITS = {
    "isExact": "exact",
    "exact": "exact",
    "isDisjoint": "disjoint",
    "disjoint": "disjoint",
    "nonNeg": "nneg",
    "nneg": "nneg",
    "inbounds": "inbounds",
    "samesign": "samesign",
    "is_zero_poison": "nonzero",
    "is_int_min_poison": "no INT_MIN",
    "isNonNeg": "nneg",
    "invariant": "invariant",
}
_NATIVE = frozenset(f"llvm.{n}" for n in ("add", "sub", "mul", "shl", "trunc"))
_CONTRACTIONS = frozenset(f"stablehlo.{n}" for n in ("dot", "dot_general", "convolution", "dynamic_conv"))
#: attributes of memory ops that promise something to LLVM
_PROMISES = (
    "alias_scopes",
    "noalias_scopes",
    "tbaa",
    "dereferenceable",
    "access_groups",
    "invariantGroup",
    "range",
    "llvm.noalias",
    "llvm.align",
    "noalias",
    "rangeAttr",
    "nsw",
    "nuw",
)


def check(case: Case) -> Rejection | None:
    """The first flag that is neither granted, nor the original's own, nor proven."""
    original = {claim[:3] for op in walk(case.original.operation) for claim in claims(op)}
    ranges: Ranges | None = None
    for op in walk(case.proposal.operation):
        for claim in claims(op):
            _, flag, element, text = claim
            if claim[:3] in original or case.contract.grants(text):
                continue
            if flag in ("nsw", "nuw"):
                ranges = ranges or Ranges(case.proposal, case.contract)
                if ranges.cannot_overflow(op, flag):
                    continue
            found = _special(case, op, flag)
            if found is True:
                continue
            return Rejection(
                "assumptions.flag",
                f"{place(op)} has the flag '{flag}'"
                + (f" on {element}" if element else "")
                + f", which assumes {text!r}: "
                "the contract does not grant it",
                op=op.name,
            )
    return _lower_precision(case)


def _lower_precision(case: Case) -> Rejection | None:
    """A contraction of less precision than all of the original's."""
    ranks = [_precision(op) for op in walk(case.original.operation) if op.name in _CONTRACTIONS]
    if not ranks or case.contract.grants("low_precision"):
        return None
    for op in walk(case.proposal.operation):
        if op.name in _CONTRACTIONS and _precision(op) < min(ranks):
            message = f"{place(op)} asks for less precision than the region's do, which assumes 'low_precision'"
            return Rejection("assumptions.flag", f"{message}: the contract does not grant it", op=op.name)
    return None


def _precision(op: ir.Operation) -> int:
    """The least that ``precision_config`` asks for: 0 (default), 1 (high) or 2 (highest)."""
    given = str(op.attributes["precision_config"]) if "precision_config" in op.attributes else ""
    words = re.findall(r"\b(DEFAULT|HIGHEST|HIGH)\b", given)
    return min((("DEFAULT", "HIGH", "HIGHEST").index(word) for word in words), default=0)


def claims(op: ir.Operation) -> Iterator[tuple[str, str, str, str]]:
    """``(op, flag, element type, assumption)`` of each flag on an op."""
    from kc.bindings import ir

    attributes = op.attributes
    element = _element(op)
    for name in _FASTMATH:
        if name in attributes:
            for flag in _words(attributes[name]):
                yield op.name, flag, element, flag
    for name in _OVERFLOW:
        if name in attributes:
            for flag in _words(attributes[name]):
                yield op.name, flag, element, flag
    if op.name in _NATIVE:
        for flag in _native(op):
            yield op.name, flag, element, flag
    for name, flag in _UNITS.items():
        if name in attributes and str(attributes[name]) in ("unit", "true"):
            yield op.name, flag, element, flag
    for name in _PROMISES:
        if name in attributes:
            yield op.name, name, "", f"{name} of {attributes[name]}"
    if op.name == "llvm.getelementptr" and "noWrapFlags" in attributes:
        pass  # what it promises is what bounds checks at run time see
    if op.name == "memref.assume_alignment":
        yield op.name, "alignment", "", _aligned(op, op.operands[0], ir.IntegerAttr(attributes["alignment"]).value)
    elif op.name == "memref.distinct_objects":
        yield op.name, "distinct", "", "noalias of its operands"
    elif "alignment" in attributes and op.name not in (
        "memref.alloc",
        "memref.alloca",
        "memref.global",
        "llvm.alloca",
        "llvm.mlir.global",
    ):
        buffers = [v for v in op.operands if isinstance(v.type, ir.MemRefType)]
        if buffers and op.name.startswith(("memref.", "vector.")):
            yield op.name, "alignment", "", _aligned(op, buffers[-1], ir.IntegerAttr(attributes["alignment"]).value)
        elif op.name.startswith("llvm.") and not _natural(op, ir.IntegerAttr(attributes["alignment"]).value):
            yield op.name, "alignment", "", f"alignment of {attributes['alignment']} bytes"
    yield from _graph_claims(op)


def _graph_claims(op: ir.Operation) -> Iterator[tuple[str, str, str, str]]:
    """Flags of StableHLO ops: order, uniqueness, precision."""
    attributes = op.attributes
    for name in ("unique_indices", "indices_are_sorted"):
        if name in attributes and str(attributes[name]) == "true":
            yield op.name, name, "", f"{'unique' if name.startswith('unique') else 'sorted'}(indices)"
    if op.name == "stablehlo.sort" and ("is_stable" not in attributes or str(attributes["is_stable"]) == "false"):
        yield op.name, "unstable", "", "equal keys may come in any order"
    if "algorithm" in attributes:
        yield op.name, "algorithm", "", "low_precision"
    if "result_accuracy" in attributes and "TOLERANCE" in str(attributes["result_accuracy"]):
        yield op.name, "result_accuracy", "", "approx"


def _native(op: ir.Operation) -> list[str]:
    """Overflow flags that are no attribute but a number of the op's own, which nothing but its text shows."""
    text = str(op.get_asm(print_generic_op_form=True, assume_verified=True))
    match = re.search(r"<\{.*\boverflowFlags = (\d+)", text)
    bits = int(match[1]) if match else 0
    return [flag for bit, flag in ((1, "nsw"), (2, "nuw")) if bits & bit]


def _words(attribute: ir.Attribute) -> list[str]:
    """The flags in ``#arith.fastmath<nnan,ninf>``."""
    match = re.search(r"<(.*)>", str(attribute))
    names = re.split(r"[,\s|]+", match[1]) if match else []
    return [name for name in names if name and name != "none"]


def _element(op: ir.Operation) -> str:
    """Element type of the op's first result, or of its first operand."""
    values = list(op.results) or list(op.operands)
    if not values:
        return ""
    return re.sub(r".*[x<]([a-z]\w*)[,>].*", r"\1", str(values[0].type))


def _aligned(op: ir.Operation, buffer: ir.Value, alignment: int) -> str:
    """The fact that an alignment of ``buffer`` assumes, where it is an argument."""
    from kc.bindings import ir

    owner = buffer.owner
    if isinstance(owner, ir.Block):
        return f"align(arg{ir.BlockArgument(buffer).arg_number},{alignment})"
    return f"alignment of {alignment} bytes"


def _natural(op: ir.Operation, alignment: int) -> bool:
    """Whether an LLVM access claims no more than the alignment of its own element."""
    text = str(op.results[0].type if len(op.results) else op.operands[0].type)
    match = re.search(r"(\d+)>?$", text)
    return alignment <= (max(1, int(match[1]) // 8) if match else 1)


def _special(case: Case, op: ir.Operation, flag: str) -> bool:
    """Claims about values that the IR itself or a fact shows to be true."""
    from kc.bindings import ir

    if flag == "unstable":
        return (len(op.operands) == 1 and not _is_float(op.operands[0])) or orders.are_decided(op, case.contract)
    if flag in ("unique_indices", "indices_are_sorted"):
        return indices.hold(op, flag == "unique_indices", case.contract)
    if flag == "alignment" and len(op.operands):
        owner = op.operands[0].owner
        if not isinstance(owner, ir.Block) and owner.name in ("memref.alloc", "memref.alloca"):
            claimed = ir.IntegerAttr(op.attributes["alignment"]).value
            return "alignment" in owner.attributes and owner.attributes["alignment"].value % claimed == 0
    return False


def _is_float(value: ir.Value) -> bool:
    return re.search(r"[x<](f|bf)\d", str(value.type)) is not None
