"""Symbolic shapes of a StableHLO function: which run-time extents are the same number, and where to read them.

A ``Sym`` is an int, or a tuple: ``("dim", value, axis)`` the extent of a value that nothing more is known about,
``("elem", value, position)`` an element of an integer tensor, or ``(op, lhs, rhs)`` with ``add``, ``sub``, ``mul``,
``floordiv`` or ``max``. Equal symbols are equal numbers; ``ShapeSymbols.same`` also uses what the program asserts
(``shape_assertion``) and what ``kc-check-shapes`` checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Union

from kc.bindings import ir, stablehlo_api
from kc.passes.conversion._attrs import integer, ints, pairs
from kc.passes.conversion._checks import is_check
from kc.passes.conversion._emit import (
    CMPI,
    Emitter,
    Index,
    element,
    int_type,
    is_int,
    ranked,
    shape_of,
    tensor_type,
    width,
)
from kc.passes.conversion._scalar import RULES

Sym = Union[int, tuple[Any, ...]]
_ARITHMETIC: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "floordiv": ("floordiv", lambda a, b: a // b),
    "max": ("max", max),
    "stablehlo.add": ("add", lambda a, b: a + b),
    "stablehlo.subtract": ("sub", lambda a, b: a - b),
    "stablehlo.multiply": ("mul", lambda a, b: a * b),
}
_INDEX_ARITHMETIC = {
    "arith.addi": "stablehlo.add",
    "arith.subi": "stablehlo.subtract",
    "arith.muli": "stablehlo.multiply",
    "arith.divsi": "floordiv",
    "arith.maxsi": "max",
}
#: ops with a result for each operand
_SEVERAL = ("stablehlo.optimization_barrier", "stablehlo.sort")
_SAME_SHAPE = frozenset(
    {
        "stablehlo.reverse",
        "stablehlo.dynamic_update_slice",
        "stablehlo.scatter",
        "stablehlo.sort",
        "stablehlo.optimization_barrier",
        "stablehlo.cholesky",
        "stablehlo.map",
    }
) | frozenset(RULES)
_SHAPE_OPERAND = {"stablehlo.dynamic_broadcast_in_dim": 1, "stablehlo.dynamic_reshape": 1, "stablehlo.dynamic_iota": 0}


class ShapeSymbols:
    """Symbols for the values of one function, found by one walk in program order."""

    def __init__(self, function: ir.Operation):
        self._dims: dict[ir.Value, tuple[Sym, ...]] = {}
        self._entries: dict[ir.Value, tuple[Sym, ...]] = {}
        self._parent: dict[Sym, Sym] = {}
        #: old value -> the value that takes its place, for ops that are already converted
        self.replaced: dict[ir.Value, ir.Value] = {}
        self._entry = function.regions[0].blocks[0] if function.regions[0].blocks else None
        for block in function.regions[0].blocks:
            self._block(block)

    # ------------------------------------------------------------------------------------------- questions

    def dims(self, value: ir.Value) -> tuple[Sym, ...]:
        """One symbol per axis of a ranked tensor."""
        known = self._dims.get(value)
        if known is None:
            known = tuple(("dim", value, axis) if n is None else n for axis, n in enumerate(shape_of(value)))
            self._dims[value] = known
        return known

    def entries(self, value: ir.Value) -> tuple[Sym, ...]:
        """One symbol per element of an integer tensor of static shape, in row-major order."""
        known = self._entries.get(value)
        if known is None:
            count = 1
            for n in shape_of(value):
                count *= n or 0
            known = tuple(("elem", value, k) for k in range(count))
            self._entries[value] = known
        return known

    def same(self, a: Sym, b: Sym) -> bool:
        """Whether the two are surely equal at run time."""
        return self.canonical(a) == self.canonical(b)

    def add(self, a: Sym, b: Sym) -> Sym:
        """The symbol of their sum."""
        return fold("stablehlo.add", a, b)

    def index(self, e: Emitter, symbol: Sym) -> Index:
        """The number as an index at ``e``."""
        if isinstance(symbol, int):
            return symbol
        kind, first, second = symbol
        if kind in ("dim", "elem"):
            value = self.replaced.get(first, first)
            if kind == "dim":
                return e.dim(value, second)
            kind = ranked(value).element_type
            if isinstance(kind, ir.IntegerType) and kind.is_unsigned:  # arith has no unsigned types
                value = e.one("stablehlo.convert", [value], tensor_type(shape_of(value), int_type(64)))
            place: list[Index] = []
            for n in reversed(ranked(value).shape):
                second, at = divmod(second, n)
                place.insert(0, at)
            return e.to_int(e.extract(value, place), ir.IndexType.get())
        lhs, rhs = self.index(e, first), self.index(e, second)
        return {"add": e.add, "sub": e.sub, "mul": e.mul, "floordiv": e.floordiv, "max": e.max}[kind](lhs, rhs)

    # --------------------------------------------------------------------------------------------- the walk

    def canonical(self, symbol: Sym) -> Sym:
        """The symbol that stands for all that are known to equal ``symbol``."""
        if isinstance(symbol, tuple) and symbol[0] not in ("dim", "elem"):
            symbol = (symbol[0], self.canonical(symbol[1]), self.canonical(symbol[2]))
        while symbol in self._parent:
            symbol = self._parent[symbol]
        return symbol

    def unify(self, a: Sym, b: Sym) -> None:
        """From now on ``a`` and ``b`` are taken for the same number."""
        a, b = self.canonical(a), self.canonical(b)
        if a != b and not (isinstance(a, int) and isinstance(b, int)):
            if isinstance(a, int) or _mentions(b, a):  # a symbol must not stand for itself
                a, b = b, a
            self._parent[a] = b

    def _block(self, block: ir.Block) -> None:
        for view in block.operations:
            op = view.operation
            if op.name == "stablehlo.while":
                self._while(op)
            elif op.name in ("stablehlo.if", "stablehlo.case"):
                self._branches(op)
            elif op.name == "stablehlo.custom_call":
                self._assertion(op)
                self._op(op)
            elif op.name == "func.call" and block == self._entry and is_check(op):
                self._check(op)
            else:
                self._op(op)

    def _op(self, op: ir.Operation) -> None:
        for result in op.results:
            if not isinstance(result.type, ir.RankedTensorType):
                continue
            shape = shape_of(result)
            if None in shape:
                inferred = self.infer(op, result)
                if inferred is not None:
                    self._dims[result] = tuple(s if n is None else n for n, s in zip(shape, inferred, strict=True))
            elif _is_small(result):
                found = self._infer_entries(op)
                if found is not None:
                    self._entries[result] = found

    def infer(self, op: ir.Operation, result: ir.Value) -> Sequence[Sym] | None:
        """The sizes of ``result`` as its operands give them; None where nothing is known of them."""
        name, operands = op.name, list(op.operands)
        if name in _SHAPE_OPERAND:
            return self.entries(operands[_SHAPE_OPERAND[name]])
        if name in _SAME_SHAPE:
            position = list(op.results).index(result) if name in _SEVERAL else 0
            full = [v for v in operands if ranked(v).rank == ranked(result).rank]
            if name in RULES:
                return [
                    next((d for d in column if isinstance(d, int)), column[0])
                    for column in zip(*(self.dims(v) for v in full), strict=True)
                ]
            return self.dims(operands[position])
        if name in ("stablehlo.batch_norm_grad", "stablehlo.batch_norm_inference", "stablehlo.batch_norm_training"):
            sizes = self.dims(operands[0])
            return sizes if ranked(result).rank == len(sizes) else (sizes[integer(op, "feature_index")],)
        if name == "stablehlo.transpose":
            source = self.dims(operands[0])
            return [source[a] for a in ints(op, "permutation")]
        if name == "stablehlo.broadcast_in_dim":
            found: list[Sym] = list(shape_of(result))  # type: ignore[arg-type]
            for axis, target in enumerate(ints(op, "broadcast_dimensions")):
                if found[target] is None:
                    found[target] = self.dims(operands[0])[axis]
            return found
        if name == "stablehlo.reduce":
            axes = ints(op, "dimensions")
            return [d for a, d in enumerate(self.dims(operands[0])) if a not in axes]
        if name == "stablehlo.dot_general":
            return self._dot(op)
        if name == "stablehlo.convolution":
            return self._convolution(op, result)
        if name == "stablehlo.concatenate":
            axis = integer(op, "dimension")
            found = list(self.dims(operands[0]))
            for value in operands[1:]:
                found[axis] = fold("stablehlo.add", found[axis], self.dims(value)[axis])
            return found
        if name == "stablehlo.gather":
            return self._gather(op, result)
        if name == "stablehlo.reduce_window":
            rank = len(shape_of(result))
            untouched = [
                w == s == 1 and p == (0, 0)
                for w, s, p in zip(
                    ints(op, "window_dimensions"),
                    ints(op, "window_strides", [1] * rank),
                    pairs(op, "padding", rank),
                    strict=True,
                )
            ]
            return [
                d if plain else ("dim", result, a)
                for a, (d, plain) in enumerate(zip(self.dims(operands[0]), untouched, strict=True))
            ]
        return None

    def _dot(self, op: ir.Operation) -> list[Sym]:
        numbers = stablehlo_api.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        lhs, rhs = self.dims(op.operands[0]), self.dims(op.operands[1])
        batch, lhs_k = list(numbers.lhs_batching_dimensions), list(numbers.lhs_contracting_dimensions)
        rhs_used = [*numbers.rhs_batching_dimensions, *numbers.rhs_contracting_dimensions]
        return [
            *(lhs[a] for a in batch),
            *(d for a, d in enumerate(lhs) if a not in batch + lhs_k),
            *(d for a, d in enumerate(rhs) if a not in rhs_used),
        ]

    def _convolution(self, op: ir.Operation, result: ir.Value) -> list[Sym]:
        numbers = stablehlo_api.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        found: list[Sym] = [("dim", result, a) for a in range(ranked(result).rank)]
        if integer(op, "batch_group_count", 1) == 1:
            found[numbers.output_batch_dimension] = self.dims(op.operands[0])[numbers.input_batch_dimension]
        return found

    def _gather(self, op: ir.Operation, result: ir.Value) -> list[Sym]:
        numbers = stablehlo_api.GatherDimensionNumbers(op.attributes["dimension_numbers"])
        starts = [d for a, d in enumerate(self.dims(op.operands[1])) if a != numbers.index_vector_dim]
        offset = list(numbers.offset_dims)
        remaining = iter(starts)
        return [0 if d in offset else next(remaining) for d in range(ranked(result).rank)]

    def _infer_entries(self, op: ir.Operation) -> tuple[Sym, ...] | None:
        name, operands = op.name, list(op.operands)
        if name == "stablehlo.constant":
            value = op.attributes["value"]
            return tuple(map(int, value)) if isinstance(value, ir.DenseIntElementsAttr) else None
        if name == "stablehlo.get_dimension_size":
            return (self.dims(operands[0])[integer(op, "dimension")],)
        if not all(map(_is_small, operands)):
            return None
        if name == "stablehlo.concatenate" and integer(op, "dimension") == 0:
            return tuple(s for v in operands for s in self.entries(v))
        if name == "stablehlo.convert" and not self._keeps_numbers(op):
            return None
        if name in ("stablehlo.reshape", "stablehlo.convert", "tensor.cast"):
            return self.entries(operands[0])
        if name == "stablehlo.broadcast_in_dim" and shape_of(op.results[0]) == [1]:
            return self.entries(operands[0])
        if name == "stablehlo.slice" and len(shape_of(operands[0])) == 1:
            start, limit, step = (ints(op, k)[0] for k in ("start_indices", "limit_indices", "strides"))
            return self.entries(operands[0])[start:limit:step]
        if name in _ARITHMETIC and self._keeps_numbers(op):
            return tuple(
                fold(name, a, b) for a, b in zip(self.entries(operands[0]), self.entries(operands[1]), strict=True)
            )
        return None

    def _keeps_numbers(self, op: ir.Operation) -> bool:
        """Whether ``op`` surely computes what it would on indices: sizes fit into 32 bits, data need not."""
        source, target = (_bits(element(v)) for v in (op.operands[0], op.results[0]))
        if target < 32:
            return op.name == "stablehlo.convert" and source <= target and not _is_unsigned(op)
        if not any(reads_data(s) for v in op.operands for s in self.entries(v)):
            return not _is_unsigned(op) or op.name != "stablehlo.subtract"
        return source <= target and not _is_unsigned(op)

    # --------------------------------------------------------------------------------------- control flow

    def _while(self, op: ir.Operation) -> None:
        """Carried values keep the shape they come in with, unless the body changes it."""
        inits = [self.dims(v) if isinstance(v.type, ir.RankedTensorType) else () for v in op.operands]
        steady = [True] * len(inits)
        while True:
            for region in op.regions:
                for argument, dims, keeps in zip(region.blocks[0].arguments, inits, steady, strict=True):
                    self._dims.pop(argument, None)
                    if keeps:
                        self._dims[argument] = dims
                self._block(region.blocks[0])
            last = list(op.regions[1].blocks[0].operations)[-1].operation
            now = [
                keeps and (not dims or all(map(self.same, self.dims(v), dims)))
                for v, dims, keeps in zip(last.operands, inits, steady, strict=True)
            ]
            if now == steady:
                break
            steady = now
        for result, dims, keeps in zip(op.results, inits, steady, strict=True):
            if keeps and dims:
                self._dims[result] = dims

    def _branches(self, op: ir.Operation) -> None:
        yields = []
        for region in op.regions:
            self._block(region.blocks[0])
            yields.append(list(list(region.blocks[0].operations)[-1].operation.operands))
        for k, result in enumerate(op.results):
            if not isinstance(result.type, ir.RankedTensorType) or None not in shape_of(result):
                continue
            first, *others = [self.dims(values[k]) for values in yields]
            # symbols that branches share stand for values from outside of them
            self._dims[result] = tuple(
                d if all(d == other[a] for other in others) and others else ("dim", result, a)
                for a, d in enumerate(first)
            )

    def _assertion(self, op: ir.Operation) -> None:
        if not is_shape_assertion(op):
            return
        compare = op.operands[0].owner
        if isinstance(compare, ir.Block):
            return
        compare = compare.operation
        if compare.name == "stablehlo.compare" and " EQ>" in str(compare.attributes["comparison_direction"]):
            lhs, rhs = (self.entries(v) for v in compare.operands)
            if len(lhs) == len(rhs) == 1:
                self.unify(lhs[0], rhs[0])


    def _check(self, op: ir.Operation) -> None:
        """What a check has found equal is equal from there on; checks stand where their numbers are first known."""
        holds = op.operands[0].owner
        if holds.name == "arith.cmpi" and ir.IntegerAttr(holds.attributes["predicate"]).value == CMPI["eq"]:
            lhs, rhs = (self._number(v) for v in holds.operands)
            if lhs is not None and rhs is not None:
                self.unify(lhs, rhs)

    def _number(self, value: ir.Value) -> Sym | None:
        """The symbol of an index that shape arithmetic has made; None if it is something else."""
        op = value.owner
        if isinstance(op, ir.Block):
            return None
        op = op.operation
        if op.name == "arith.constant":
            return int(ir.IntegerAttr(op.attributes["value"]).value)
        operands = list(op.operands)
        if op.name == "tensor.dim":
            axis = self._number(operands[1])
            return self.dims(operands[0])[axis] if isinstance(axis, int) else None
        if op.name == "arith.index_cast":
            return self._number(operands[0])
        if op.name == "tensor.extract":
            indices = [self._number(v) for v in operands[1:]]
            position = 0
            for n, k in zip(ranked(operands[0]).shape, indices, strict=True):
                if not isinstance(k, int):
                    return None
                position = position * n + k
            return self.entries(operands[0])[position]
        name = _INDEX_ARITHMETIC.get(op.name)
        parts = [self._number(v) for v in operands] if name else [None]
        if None in parts:
            return None
        return fold(name, *parts)  # type: ignore[arg-type]


def _mentions(symbol: Sym, part: Sym) -> bool:
    """Whether ``part`` is in ``symbol``, which is another one."""
    if isinstance(symbol, int) or symbol[0] in ("dim", "elem"):
        return False
    return any(inner == part or _mentions(inner, part) for inner in symbol[1:])


def _is_small(value: ir.Value) -> bool:
    """Whether ``value`` may be shape arithmetic: a few integers (of a byte or more: the bindings read no others)."""
    if not isinstance(value.type, ir.RankedTensorType) or not is_int(ranked(value).element_type):
        return False
    kind = ranked(value).element_type
    if isinstance(kind, ir.IntegerType) and 1 < kind.width < 8:
        return False
    shape = shape_of(value)
    return None not in shape and math.prod(shape) <= 64  # type: ignore[arg-type]


def _bits(type_: ir.Type) -> int:
    return 64 if isinstance(type_, ir.IndexType) else width(type_)


def _is_unsigned(op: ir.Operation) -> bool:
    """Whether a number of ``op`` is unsigned, before or after its types have become signless."""
    types = [element(v) for v in (*op.operands, *op.results)]
    return "kc.unsigned" in op.attributes or any(isinstance(t, ir.IntegerType) and t.is_unsigned for t in types)


def reads_data(symbol: Sym) -> bool:
    """Whether ``symbol`` is made of elements of tensors, not of extents and constants only."""
    if isinstance(symbol, int) or symbol[0] in ("dim", "elem"):
        return not isinstance(symbol, int) and symbol[0] == "elem"
    return reads_data(symbol[1]) or reads_data(symbol[2])


def is_shape_assertion(op: ir.Operation) -> bool:
    return (
        op.name == "stablehlo.custom_call"
        and ir.StringAttr(op.attributes["call_target_name"]).value == "shape_assertion"
    )


def fold(name: str, a: Sym, b: Sym) -> Sym:
    """The symbol of ``a`` and ``b`` combined by a StableHLO op, ``floordiv`` or ``max``."""
    word, function = _ARITHMETIC[name]
    return function(a, b) if isinstance(a, int) and isinstance(b, int) else (word, a, b)
