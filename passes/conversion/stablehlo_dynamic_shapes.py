"""``kc-convert-stablehlo-dynamic-shapes``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.conversion._attrs import integer, ints
from kc.passes.conversion._checks import Checks
from kc.passes.conversion._convolution import convolution
from kc.passes.conversion._emit import (
    Emitter,
    Index,
    element,
    int_type,
    is_float,
    ranked,
    shape_of,
    tensor_type,
    width,
)
from kc.passes.conversion._movement import broadcast, cast_elements, iota, pad
from kc.passes.conversion._multiply_add import reassociable_add
from kc.passes.conversion._region import inline_block, single_op_of
from kc.passes.conversion._reshape import reshape
from kc.passes.conversion._scan import may_scan, padding_matters, scan, scan_axis
from kc.passes.conversion._shapes import ShapeSymbols, Sym, is_shape_assertion
from kc.passes.conversion._window import Window, reduce_window
from kc.passes.conversion.stablehlo_gather import gather
from kc.rewrite import erase_op, walk_ops


@dataclasses.dataclass(frozen=True)
class ConvertStablehloDynamicShapes(Pass):
    """The ``dynamic_*`` ops, ``get_dimension_size`` and shape assertions; shape arithmetic moves to host scalars.

    A shape operand is never built as a tensor: its entries are followed back through concatenations, reshapes and
    sums to ``tensor.dim`` of an argument. A broadcast whose operand and result extents are provably the same (from
    that, or from an assertion) is a plain one; where that cannot be shown, a run-time extent of 1 is repeated as
    StableHLO says. ``custom_call @shape_assertion`` becomes a check as ``kc-check-shapes`` makes them. Arguments of
    public functions get ``kc.dims``, the names of their extents; equal names are equal numbers. Before / after::

        %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
        %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
        %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>

        %d = tensor.dim %x, %c0 : tensor<?x4xf32>
        %e = tensor.empty(%d) : tensor<?xi32>
        %r = linalg.generic ... outs(%e : tensor<?xi32>) { linalg.index 0, arith.index_cast }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-dynamic-shapes"
    level: ClassVar[tuple[str, str]] = ("stablehlo", "linalg")
    dialects: ClassVar[tuple[str, ...]] = ("arith", "cf", "complex", "linalg", "math", "scf", "tensor")
    converts: ClassVar[frozenset[str]] = frozenset(
        f"stablehlo.{n}"
        for n in (
            "custom_call",
            "dynamic_broadcast_in_dim",
            "dynamic_conv",
            "dynamic_gather",
            "dynamic_iota",
            "dynamic_pad",
            "dynamic_reshape",
            "get_dimension_size",
            "real_dynamic_slice",
        )
    )

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        reducers: set[str] = set()
        for function in walk_ops(op, "func.func"):
            if not function.regions[0].blocks or not walk_ops(function, self.converts):
                _name_dims(function, None)
                continue
            converter = _Converter(op, function, ctx)
            dead = []
            for found in walk_ops(function, self.converts):
                if found.name == "stablehlo.custom_call" and not is_known_call(found):
                    continue
                reducers |= converter.replace(found)
                dead.append(found)
            _name_dims(function, converter.symbols)
            # erased only now: symbols refer to their values
            for found in reversed(dead):
                erase_op(found)
        called = {str(call.attributes["callee"]) for call in walk_ops(op, "func.call")}
        for function in walk_ops(op, "func.func"):
            name = ir.StringAttr(function.attributes["sym_name"]).value
            if name in reducers and f"@{name}" not in called:
                erase_op(function)


class _Converter:
    """Converts the ops of one function; knows its symbols and which values have taken the place of which."""

    def __init__(self, module: ir.Operation, function: ir.Operation, ctx: PassContext):
        self.symbols = ShapeSymbols(function)
        self._module, self._ctx, self._checks = module, ctx, Checks(module)
        self._originals: dict[ir.Value, ir.Value] = {}

    def replace(self, op: ir.Operation) -> set[str]:
        """Give the users of ``op`` its converted values; the names of the functions that it calls."""
        e = Emitter.before(op)
        for result, value in zip(op.results, self._convert(e, op), strict=True):
            value = e.cast(value, result.type)
            self.symbols.replaced[result] = value
            self._originals[value] = result
            result.replace_all_uses_with(value)
        return {name.removeprefix("@") for name in _called(op)}

    def _convert(self, e: Emitter, op: ir.Operation) -> Sequence[ir.Value]:
        symbols, operands = self.symbols, list(op.operands)
        # operands may already be converted values; symbols know the original ones
        originals = [self._originals.get(v, v) for v in operands]

        def entries(position: int) -> list[Index]:
            return [symbols.index(e, s) for s in symbols.entries(originals[position])]

        name = op.name.removeprefix("stablehlo.")
        if is_shape_assertion(op):
            self._checks.emit(e, e.extract(operands[0]), _message(op))
            return []
        if name == "custom_call":
            return self._reduce_window(e, op, originals)
        type_ = op.results[0].type
        if name == "get_dimension_size":
            size = symbols.index(e, symbols.dims(originals[0])[integer(op, "dimension")])
            return [e.from_elements([e.to_int(e.index(size), int_type(32))], type_)]
        if name == "dynamic_iota":
            return [iota(e, type_, entries(0), integer(op, "iota_dimension"))]
        if name == "dynamic_reshape":
            sizes = symbols.dims(originals[0])
            if operands[0].type == type_ and all(map(symbols.same, sizes, symbols.entries(originals[1]))):
                return [operands[0]]
            return [reshape(e, operands[0], type_, entries(1))]
        if name == "dynamic_broadcast_in_dim":
            dims = ints(op, "broadcast_dimensions")
            sure = ints(op, "known_nonexpanding_dimensions", [])
            target, source = symbols.entries(originals[1]), symbols.dims(originals[0])
            unsure = [
                axis
                for axis, n in enumerate(shape_of(operands[0]))
                if n is None and axis not in sure and not symbols.same(source[axis], target[dims[axis]])
            ]
            return [broadcast(e, operands[0], type_, entries(1), dims, unsure)]
        if name == "dynamic_pad":
            return [pad(e, operands[0], e.extract(operands[1]), type_, entries(2), entries(3), entries(4))]
        if name == "real_dynamic_slice":
            return [_slice(e, operands[0], type_, entries(1), entries(2), entries(3))]
        if name == "dynamic_gather":
            return [gather(e, op, entries(2))]
        flat = entries(2)  # dynamic_conv: space x 2
        return [convolution(e, op, list(zip(flat[::2], flat[1::2], strict=True)))]

    def _reduce_window(self, e: Emitter, op: ir.Operation, originals: list[ir.Value]) -> Sequence[ir.Value]:
        """JAX's ``dynamic_reduce_window``: operands, initial values, then the window as five integer tensors."""
        count, symbols = len(op.results), self.symbols
        extents, strides, base, dilations, flat = (symbols.entries(v) for v in originals[2 * count :])
        if not all(isinstance(n, int) for n in (*strides, *base, *dilations)):
            self._ctx.error(op, "a window whose strides or dilations are only known at run time cannot be compiled")
        symbolic = Window(extents, strides, dilations, base, flat[::2], flat[1::2])  # type: ignore[arg-type]
        (reducer,) = _called(op)
        function = next(
            f
            for f in walk_ops(self._module, "func.func")
            if f"@{ir.StringAttr(f.attributes['sym_name']).value}" == reducer
        )
        block = function.regions[0].blocks[0]

        combines = single_op_of(block) if count == 1 else None

        def combine(i: Emitter, a: list[ir.Value]) -> Sequence[ir.Value]:
            if is_float(a[0].type) and combines == "stablehlo.add":
                return [reassociable_add(i, a[-1], a[0])]
            if is_float(a[0].type) and combines == "stablehlo.multiply":
                return [i.bin("arith.mulf", a[-1], a[0])]
            return inline_block(i, op, block, [*a[-count:], *a[:count]], self._ctx)

        inputs, initial = list(op.operands)[:count], [e.extract(v) for v in list(op.operands)[count : 2 * count]]
        types = [r.type for r in op.results]
        # as kc-widen-accumulation does for the windows that it can see
        narrow = combines in ("stablehlo.add", "stablehlo.multiply") and is_float(initial[0].type)
        if narrow and width(initial[0].type) < 32:
            f32 = ir.F32Type.get()
            inputs, initial = [cast_elements(e, inputs[0], f32)], [e.to_float(initial[0], f32)]
            types = [tensor_type(shape_of(types[0]), f32)]
        axis = scan_axis(symbolic, symbols.dims(originals[0]), symbols.same, lambda n: symbols.add(n, -1))
        if axis is not None and may_scan(combines, shape_of(inputs[0])[axis[0]]):
            results = scan(e, inputs, initial, *axis, combine, padding_matters(combines, originals[count]))
        else:
            sizes, low, high = ([symbols.index(e, s) for s in part] for part in (extents, flat[::2], flat[1::2]))
            window = dataclasses.replace(symbolic, extents=sizes, low=low, high=high)
            results = reduce_window(e, inputs, initial, types, window, combine)
        return [cast_elements(e, v, element(r)) if narrow else v for v, r in zip(results, op.results, strict=True)]


def is_known_call(op: ir.Operation) -> bool:
    """Whether a custom call is one that this pass converts."""
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    return name in ("shape_assertion", "stablehlo.dynamic_reduce_window")


def _called(op: ir.Operation) -> list[str]:
    if "called_computations" not in op.attributes:
        return []
    return [str(symbol) for symbol in ir.ArrayAttr(op.attributes["called_computations"])]


def _message(op: ir.Operation) -> str:
    """The assertion's message without the numbers that JAX would fill in at run time."""
    if "error_message" not in op.attributes:
        return "shape assertion failed"
    text = ir.StringAttr(op.attributes["error_message"]).value.partition(" Obtained ")[0]
    return re.sub(r" ?\(= \{\d+\}\)", "", text)


def _slice(
    e: Emitter, operand: ir.Value, type_: ir.Type, starts: list[Index], limits: list[Index], strides: list[Index]
) -> ir.Value:
    """Starts and limits are brought into the operand first, so that no read leaves it."""
    sizes: list[Index] = []
    offsets: list[Index] = []
    for n, start, limit, stride in zip(e.dims(operand), starts, limits, strides, strict=True):
        start = e.min(e.max(start, 0), n)
        length = e.max(e.sub(e.min(limit, n), start), 0)
        offsets.append(start)
        sizes.append(e.floordiv(e.add(length, e.sub(stride, 1)), stride))
    return e.extract_slice(operand, offsets, sizes, strides, type_)


def _name_dims(function: ir.Operation, symbols: ShapeSymbols | None) -> None:
    """``kc.dims`` for the tensor arguments of a public function that have run-time extents."""
    private = "sym_visibility" in function.attributes and str(function.attributes["sym_visibility"]) == '"private"'
    if private or not function.regions[0].blocks:
        return
    arguments = list(function.regions[0].blocks[0].arguments)
    if not any(isinstance(a.type, ir.RankedTensorType) and None in shape_of(a) for a in arguments):
        return
    names: list[tuple[Sym, str]] = []
    old = (
        list(ir.ArrayAttr(function.attributes["arg_attrs"]))
        if "arg_attrs" in function.attributes
        else [ir.DictAttr.get({})] * len(arguments)
    )
    new = []
    for argument, attr in zip(arguments, old, strict=True):
        entries = {a.name: a.attr for a in ir.DictAttr(attr)}
        if isinstance(argument.type, ir.RankedTensorType) and None in shape_of(argument) and "kc.dims" not in entries:
            dims = []
            for axis in range(ranked(argument).rank):
                symbol = (
                    symbols.dims(argument)[axis] if symbols else shape_of(argument)[axis] or ("dim", argument, axis)
                )
                if isinstance(symbol, int):
                    dims.append(str(symbol))
                    continue
                name = next((n for s, n in names if s == symbol or (symbols and symbols.same(s, symbol))), None)
                if name is None:
                    name = f"d{len(names)}"
                    names.append((symbol, name))
                dims.append(name)
            entries["kc.dims"] = ir.ArrayAttr.get([ir.StringAttr.get(d) for d in dims])
        new.append(ir.DictAttr.get(entries))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(new)
