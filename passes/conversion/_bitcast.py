"""``stablehlo.bitcast_convert`` between element types of different widths, and of complex numbers."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import (
    Emitter,
    Index,
    element,
    int_type,
    is_complex,
    is_float,
    ranked,
    shape_of,
    tensor_type,
    width,
)
from kc.passes.conversion._reshape import reshape


def bitcast(e: Emitter, operand: ir.Value, type_: ir.Type) -> ir.Value:
    """``operand`` as ``type_``: a trailing dimension holds the parts of a wider element, the lowest bits first.

    A complex number, which only becomes another one, is its real part (the lower bits) and its imaginary part.
    """
    source, target = element(operand), element(type_)
    if source == target:
        return operand
    extents: list[Index] = [e.dim(operand, a) if n is None else n for a, n in enumerate(shape_of(type_))]
    if not is_complex(source):
        return _retyped(e, operand, target, extents)
    part = ir.ComplexType(target).element_type
    return _paired(e, _retyped(e, _parts(e, operand), part, [*extents, 2]), type_)


def _parts(e: Emitter, value: ir.Value) -> ir.Value:
    """Complex numbers as pairs of floats along a new last axis."""
    part = ir.ComplexType(element(value)).element_type

    def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
        number = i.extract(value, at[:-1])
        first = i.cmpi("eq", at[-1], i.index(0))
        return i.select(first, i.one("complex.re", [number], part), i.one("complex.im", [number], part))

    return e.tabulate(tensor_type([*shape_of(value), 2], part), [*e.dims(value), 2], body)


def _paired(e: Emitter, value: ir.Value, type_: ir.Type) -> ir.Value:
    def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
        return i.one("complex.create", [i.extract(value, [*at, k]) for k in (0, 1)], element(type_))

    return e.tabulate(type_, e.dims(value)[:-1], body)


def _retyped(e: Emitter, value: ir.Value, target: ir.Type, extents: Sequence[Index]) -> ir.Value:
    """The bits of ``value`` in row-major order as elements of ``target``, with these extents."""
    source = element(value)
    wide, narrow = max(width(source), width(target)), min(width(source), width(target))
    shape = [n if isinstance(n, int) else None for n in extents]
    type_ = tensor_type(shape, target)

    def bits(i: Emitter, x: ir.Value) -> ir.Value:
        return i.one("arith.bitcast", [x], int_type(width(x.type))) if is_float(x.type) else x

    def typed(i: Emitter, x: ir.Value) -> ir.Value:
        return i.one("arith.bitcast", [x], target) if is_float(target) else x

    if wide == narrow:
        # the same extents, but for what their types say of them
        same = e.cast(value, tensor_type(shape, source))
        return e.tabulate(type_, extents, lambda i, at: typed(i, bits(i, i.extract(same, at))))
    ratio = wide // narrow
    if width(target) < width(source):

        def split(i: Emitter, at: list[ir.Value]) -> ir.Value:
            shift = i.bin("arith.muli", i.to_int(at[-1], int_type(wide)), i.const(int_type(wide), narrow))
            part = i.bin("arith.shrui", bits(i, i.extract(value, at[:-1])), shift)
            return typed(i, i.one("arith.trunci", [part], int_type(narrow)))

        parts = e.tabulate(tensor_type([*shape_of(value), ratio], target), [*e.dims(value), ratio], split)
        return reshape(e, parts, type_, extents)
    rows = reshape(e, value, tensor_type([*shape, ratio], source), [*extents, ratio])

    def join(i: Emitter, at: list[ir.Value]) -> ir.Value:
        whole = i.const(int_type(wide), 0)
        for k in range(ratio):
            part = i.one("arith.extui", [bits(i, i.extract(rows, [*at, k]))], int_type(wide))
            whole = i.bin("arith.ori", whole, i.bin("arith.shli", part, i.const(int_type(wide), k * narrow)))
        return typed(i, whole)

    assert ranked(rows).rank == len(extents) + 1
    return e.tabulate(type_, extents, join)
