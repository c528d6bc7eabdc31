"""``kc-convert-tm-tensor``: the scatters, sorts and scans that torch-mlir leaves as ops of its own dialect."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.conversion._emit import CMPF, CMPI, Emitter, Index, element, int_type, is_float, ranked, width
from kc.passes.conversion._merge_sort import merge_sort
from kc.passes.conversion._scan import scan
from kc.rewrite import erase_op, replace_op, walk_ops

_WORKS = "scatter, index_put, sort, topk, cumsum and cumprod work"


@dataclasses.dataclass(frozen=True)
class ConvertTmTensor(Pass):
    """``tm_tensor.scatter``, ``sort`` and ``scan`` to loops and ``linalg.generic``.

    * ``scatter``: the updates are applied one after the other, in place, with the combiner inlined. A negative index
      counts from the end. An index that is out of range even so fails an assertion (``kc-legalize-asserts`` drops it
      where the device cannot raise); its update is left out in any case.
    * ``sort``: the stable merge sort. NaN is the largest number, as in PyTorch: last in ascending order.
    * ``scan``: inclusive scans, in order within blocks; sums and products of f16 and bf16 in f32.
      The logarithm of a cumulative sum of exponentials is scanned by log(exp(a) + exp(b)), which does not overflow.

    Before::

        %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
               ins(%updates, %indices : tensor<6x1x8xf32>, tensor<6x1xi64>) outs(%x : tensor<11x8xf32>) {
        ^bb0(%update: f32, %old: f32):
          %new = arith.addf %old, %update : f32
          tm_tensor.yield %new : f32
        } -> tensor<11x8xf32>

    After::

        %at = linalg.generic ins(%indices) { wrap negative ones, cf.assert that they are in range }
        %r = scf.for %k = %c0 to %c6 step %c1 iter_args(%t = %x) {
          scf.for over the window
            scf.if %inside { extract %t[%index], combine, insert into %t[%index] } else { yield %t }
        }
    """

    name: ClassVar[str] = "kc-convert-tm-tensor"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[tuple[str, str]] = ("torch", "linalg")
    dialects: ClassVar[tuple[str, ...]] = ("arith", "cf", "linalg", "math", "scf", "tensor")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        convert = {"tm_tensor.scatter": _scatter, "tm_tensor.sort": _sort, "tm_tensor.scan": _scan}
        # chosen before anything is erased: the ops of a region go with the op around them
        of_dialect = [o for o in walk_ops(op) if o.name.startswith("tm_tensor.") and o.name != "tm_tensor.yield"]
        for found in of_dialect:
            if found.name not in convert:
                note = f"nearest thing that works: {_WORKS}"
                ctx.error(found, f"'{found.name}' cannot be converted to linalg", [note])
            replace_op(found, convert[found.name](Emitter.before(found), found, ctx))


def _body(op: ir.Operation, ctx: PassContext) -> tuple[ir.Block, list[ir.Operation], list[ir.Value]]:
    """The block of the op's region, its scalar ops, and what it yields."""
    block = op.regions[0].blocks[0]
    *inner, end = [o.operation for o in block.operations]
    for o in inner:
        if len(o.regions) or len(o.results) != 1:
            ctx.error(o, f"'{o.name}' in the region of '{op.name}' has no scalar form", [f"what works: {_WORKS}"])
    return block, inner, list(end.operands)


def _inline(e: Emitter, op: ir.Operation, arguments: Sequence[ir.Value], ctx: PassContext) -> list[ir.Value]:
    """The region's scalar ops with ``arguments`` for its block arguments; returns what it yields."""
    block, inner, yielded = _body(op, ctx)
    values: dict[ir.Value, ir.Value] = dict(zip(block.arguments, arguments, strict=True))
    for o in inner:
        clone = o.clone(e.ip)
        for n, operand in enumerate(o.operands):
            clone.operands[n] = values.get(operand, operand)
        values[o.results[0]] = clone.results[0]
    return [values.get(v, v) for v in yielded]


def _no_sign(op: ir.Operation, where: ir.Operation, ctx: PassContext) -> None:
    """Ends the pass: i8 stands for int8 and uint8, and the two are ordered differently."""
    ctx.error(
        where,
        f"'{op.name}' that compares 8-bit integers: int8 and uint8 cannot be told apart here",
        ["nearest thing that works: convert to int16 or wider before, and back afterwards"],
    )


def _scatter(e: Emitter, op: ir.Operation, ctx: PassContext) -> list[ir.Value]:
    updates, indices, original = op.operands
    for o in _body(op, ctx)[1]:
        if o.name in ("arith.maxsi", "arith.minsi") and width(o.results[0].type) == 8:
            _no_sign(op, o, ctx)
    axes = list(ir.DenseI64ArrayAttr(op.attributes["dimension_map"]))
    rank = ranked(original).rank
    limits, update_extents = e.dims(original), e.dims(updates)
    wrapped = _wrap(e, indices, [limits[axis] for axis in axes])
    window_axes = range(rank - len(update_extents) + 1, rank)  # the window is made of the last dimensions
    fits = {
        axis
        for axis, extent in zip(window_axes, update_extents[1:], strict=True)
        if isinstance(extent, int) and isinstance(limit := limits[axis], int) and extent <= limit
    }
    checked = [axis for axis in range(rank) if axis in axes or axis not in fits]

    def body(i: Emitter, at_update: list[ir.Value], carried: list[ir.Value]) -> Sequence[ir.Value]:
        at: list[Index] = [0] * rank
        for axis, offset in zip(window_axes, at_update[1:], strict=True):
            at[axis] = offset
        for k, axis in enumerate(axes):
            at[axis] = i.add(at[axis], i.to_int(i.extract(wrapped, [at_update[0], k]), ir.IndexType.get()))
        inside: ir.Value = i.const(int_type(1), 1)
        for axis in checked:  # one unsigned comparison: a negative index is a huge one
            inside = i.bin("arith.andi", inside, i.cmpi("ult", i.index(at[axis]), i.index(limits[axis])))

        def apply(j: Emitter) -> Sequence[ir.Value]:
            (new,) = _inline(j, op, [j.extract(updates, at_update), j.extract(carried[0], at)], ctx)
            return [j.insert(new, carried[0], at)]

        return i.if_(inside, [carried[0].type], apply, lambda _: carried)

    return e.nest(update_extents, [original], body)


def _wrap(e: Emitter, indices: ir.Value, sizes: Sequence[Index]) -> ir.Value:
    """``indices`` (updates x axes), negative ones counted from the end of their axis; asserts that all are in range."""
    type_ = element(indices)
    limits = [e.to_int(e.index(size), type_) for size in sizes]

    def body(i: Emitter, arguments: list[ir.Value]) -> Sequence[ir.Value]:
        index = arguments[0]
        limit = limits[-1]
        for k in range(len(limits) - 2, -1, -1):
            limit = i.select(i.cmpi("eq", i.linalg_index(1), i.index(k)), limits[k], limit)
        negative = i.cmpi("slt", index, i.const(type_, 0))
        index = i.select(negative, i.bin("arith.addi", index, limit), index)
        message = ir.StringAttr.get("an index of a scatter is out of range")
        i.op("cf.assert", [i.cmpi("ult", index, limit)], [], {"msg": message})
        return [index]

    identity = ir.AffineMap.get_identity(2)
    outs = [e.empty(indices.type, e.dims(indices))]
    return e.generic([indices], outs, [identity, identity], ["parallel", "parallel"], body)[0]


def _sort(e: Emitter, op: ir.Operation, ctx: PassContext) -> list[ir.Value]:
    block, inner, yielded = _body(op, ctx)
    compared = list(block.arguments)[:2]
    known = len(inner) == 1 and inner[0].name in ("arith.cmpf", "arith.cmpi") and yielded == [inner[0].results[0]]
    swapped = known and list(inner[0].operands) == compared[::-1]
    if not known or not (swapped or list(inner[0].operands) == compared):
        ctx.error(op, "'tm_tensor.sort' by anything but one comparison of the first tensor", [f"what works: {_WORKS}"])
    names = {number: name for name, number in (CMPF if inner[0].name == "arith.cmpf" else CMPI).items()}
    predicate = names.get(ir.IntegerAttr(inner[0].attributes["predicate"]).value, "")
    if predicate[1:] not in ("lt", "le", "gt", "ge"):
        ctx.error(inner[0], f"'tm_tensor.sort' by the comparison '{predicate}'", ["what works: lt, le, gt and ge"])
    ascending = (predicate[1] == "l") != swapped
    type_ = compared[0].type
    if not is_float(type_) and width(type_) == 8:
        _no_sign(op, inner[0], ctx)

    def before(i: Emitter, first: list[ir.Value], second: list[ir.Value]) -> ir.Value:
        # less or equal is no order for a merge, and false for NaN: the strict order with NaN as the largest number
        small, large = (first[0], second[0]) if ascending else (second[0], first[0])
        if is_float(type_):
            return i.bin("arith.andi", i.cmpf("ult", small, large), i.cmpf("ord", small, small))
        # torch-mlir compares booleans as signed numbers, where true is -1
        return i.cmpi("ult" if predicate[0] == "u" or width(type_) == 1 else "slt", small, large)

    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    return merge_sort(e, list(op.operands), axis, before)


def _scan(e: Emitter, op: ir.Operation, ctx: PassContext) -> list[ir.Value]:
    source, _, total = op.operands
    if not ir.BoolAttr(op.attributes["inclusive"]).value or list(op.results[1].uses):
        ctx.error(op, "'tm_tensor.scan' that is exclusive or whose total is used", ["what works: cumsum and cumprod"])
    if source.type != op.results[0].type:
        ctx.error(op, "'tm_tensor.scan' that changes the type", ["what works: an explicit conversion before it"])
    block, inner, _ = _body(op, ctx)
    type_ = element(source)
    single = inner[0].name if len(inner) == 1 and set(inner[0].operands) == set(block.arguments) else ""
    widen = is_float(type_) and width(type_) < 32 and single in ("arith.addf", "arith.mulf")

    def combine(i: Emitter, pair: list[ir.Value]) -> list[ir.Value]:
        second, first = pair
        return [i.bin(single, first, second)] if widen else _inline(i, op, [first, second], ctx)

    axis = ir.IntegerAttr(op.attributes["dimension"]).value
    logs = [use.owner.operation for use in op.results[0].uses]
    logged = logs and all(_is_map(o, "math.log") and o.operands[1] != op.results[0] for o in logs)
    if single == "arith.addf" and logged and _is_map(source.owner, "math.exp"):
        exponents = _convert(e, source.owner.operands[0], _at_least_f32(type_))
        sums = _convert(e, scan(e, [exponents], [], axis, False, _add_exponentials)[0], type_)
        for log in logs:
            log.results[0].replace_all_uses_with(sums)
            erase_op(log)
        return [source, total]  # not used any more
    if not widen:
        return [scan(e, [source], [], axis, False, combine)[0], total]
    wide = scan(e, [_convert(e, source, ir.F32Type.get())], [], axis, False, combine)[0]
    return [_convert(e, wide, type_), total]


def _is_map(owner: ir.Operation | ir.Block, name: str) -> bool:
    """Whether ``owner`` is a ``linalg.generic`` that applies only the op ``name``, to each element of one tensor."""
    if isinstance(owner, ir.Block) or owner.name != "linalg.generic" or len(owner.operands) != 2:
        return False
    generic = owner.operation
    block = generic.regions[0].blocks[0]
    inner = [o.operation for o in block.operations]
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    return (
        [o.name for o in inner] == [name, "linalg.yield"]
        and list(inner[0].operands) == [block.arguments[0]]
        and list(inner[1].operands) == [inner[0].results[0]]
        and generic.operands[0].type == generic.results[0].type
        and all(m == ir.AffineMap.get_identity(m.n_dims) for m in maps)
    )


def _at_least_f32(type_: ir.Type) -> ir.Type:
    return type_ if width(type_) >= 32 else ir.F32Type.get()


def _add_exponentials(e: Emitter, pair: list[ir.Value]) -> list[ir.Value]:
    """log(exp(a) + exp(b)) = max(a, b) + log1p(exp(-|a - b|))."""
    a, b = pair
    apart = e.unary("arith.negf", e.unary("math.absf", e.bin("arith.subf", a, b)))
    apart = e.select(e.cmpf("oeq", a, b), e.const(a.type, 0.0), apart)  # two equal infinities are 0 apart
    return [e.bin("arith.addf", e.bin("arith.maximumf", a, b), e.unary("math.log1p", e.unary("math.exp", apart)))]


def _convert(e: Emitter, tensor: ir.Value, to: ir.Type) -> ir.Value:
    """``tensor`` with its floats converted to the float type ``to``."""
    if element(tensor) == to:
        return tensor
    rank = ranked(tensor).rank
    result = ir.RankedTensorType.get(ranked(tensor).shape, to, loc=e.loc)
    maps = [ir.AffineMap.get_identity(rank)] * 2
    outs = [e.empty(result, e.dims(tensor))]
    return e.generic([tensor], outs, maps, ["parallel"] * rank, lambda i, a: [i.to_float(a[0], to)])[0]
