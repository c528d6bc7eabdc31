"""A small builder for the conversions out of StableHLO: scalar arithmetic, tensors, loops and ``linalg.generic``.

An ``Emitter`` stands at one insertion point with one location; regions get an emitter of their own. Ops are made from
their names, so that no dialect module of the bindings has to be imported. Extents and indices are ``Index``: a Python
int where known, an SSA value of type ``index`` where not; constants fold on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Union

from kc import params
from kc.bindings import ir

Index = Union[int, ir.Value]
DYNAMIC = ir.ShapedType.get_dynamic_size()


def ranked(value: ir.Value | ir.Type) -> ir.RankedTensorType:
    """The ranked tensor type of ``value`` (or of a type)."""
    return ir.RankedTensorType(value if isinstance(value, ir.Type) else value.type)


def shape_of(value: ir.Value | ir.Type) -> list[int | None]:
    """The static shape; None for an extent only known at run time."""
    return [None if extent == DYNAMIC else extent for extent in ranked(value).shape]


def element(value: ir.Value | ir.Type) -> ir.Type:
    """The element type of a tensor."""
    return ranked(value).element_type


def is_float(type_: ir.Type) -> bool:
    return isinstance(type_, ir.FloatType)


def is_narrow_float(type_: ir.Type) -> bool:
    """A float of at most 8 bits: what kc has to compute on as f32."""
    return isinstance(type_, ir.FloatType) and ir.FloatType(type_).width <= 8


def is_complex(type_: ir.Type) -> bool:
    return isinstance(type_, ir.ComplexType)


def is_int(type_: ir.Type) -> bool:
    """An integer (i1 too) or index."""
    return isinstance(type_, (ir.IntegerType, ir.IndexType))


def width(type_: ir.Type) -> int:
    """Bits of an integer or float type."""
    return (ir.IntegerType if isinstance(type_, ir.IntegerType) else ir.FloatType)(type_).width


def int_type(bits: int) -> ir.Type:
    return ir.IntegerType.get_signless(bits)


def tensor_type(shape: Sequence[int | None], element_type: ir.Type) -> ir.RankedTensorType:
    """``tensor<shape x element_type>``; None (or MLIR's own mark) is an extent only known at run time."""
    extents = [DYNAMIC if n is None else n for n in shape]
    return ir.RankedTensorType.get(extents, element_type, loc=ir.Location.unknown())


CMPI = {"eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5, "ult": 6, "ule": 7, "ugt": 8, "uge": 9}
CMPF = {
    "oeq": 1,
    "ogt": 2,
    "oge": 3,
    "olt": 4,
    "ole": 5,
    "one": 6,
    "ord": 7,
    "ueq": 8,
    "ugt": 9,
    "uge": 10,
    "ult": 11,
    "ule": 12,
    "une": 13,
    "uno": 14,
}


#: formats without infinities and NaN: their largest number; None: of positive numbers alone
LARGEST = {"f4E2M1FN": 6.0, "f6E2M3FN": 7.5, "f6E3M2FN": 28.0, "f8E8M0FNU": None}


class Emitter:
    """Builds ops at ``ip`` with location ``loc``. Needs an active context."""

    def __init__(self, ip: ir.InsertionPoint, loc: ir.Location):
        self.ip, self.loc = ip, loc

    @classmethod
    def before(cls, op: ir.Operation) -> Emitter:
        return cls(ir.InsertionPoint(op), op.location)

    def at_end(self, block: ir.Block) -> Emitter:
        return Emitter(ir.InsertionPoint(block), self.loc)

    # ------------------------------------------------------------------------------------------- raw ops

    def op(
        self,
        name: str,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        attributes: dict[str, ir.Attribute] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        return ir.Operation.create(
            name,
            results=list(results),
            operands=list(operands),
            attributes=attributes or {},
            regions=regions,
            loc=self.loc,
            ip=self.ip,
        )

    def one(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result: ir.Type,
        attributes: dict[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        return self.op(name, operands, [result], attributes).result

    def bin(self, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """A binary op whose result has its operands' type (``arith.addi``, ``arith.mulf`` ...)."""
        return self.one(name, [lhs, rhs], lhs.type)

    def unary(self, name: str, value: ir.Value) -> ir.Value:
        return self.one(name, [value], value.type)

    def constant_like(self, op: ir.Operation) -> ir.Value:
        """``arith.constant`` with the value of a ``stablehlo.constant``; a repeated complex number becomes a fill."""
        type_ = op.results[0].type
        if not is_complex(element(type_)):
            return self.one("arith.constant", [], type_, {"value": op.attributes["value"]})
        number = params.complex_splat(op)
        if number is not None:
            return self.splat(type_, [n or 0 for n in shape_of(type_)], self.const(element(type_), number))
        # the bindings cannot hand out complex elements: made with another attribute first
        made = self.op("arith.constant", [], [type_], {"value": ir.IntegerAttr.get(int_type(1), 0)})
        params.copy_attribute(op, made, "value")
        return made.result

    # -------------------------------------------------------------------------------------- scalar values

    def const(self, type_: ir.Type, value: int | float | bool | complex) -> ir.Value:
        """A scalar constant; integers wrap into the type's width."""
        if is_complex(type_):
            part = ir.ComplexType(type_).element_type
            parts = ir.ArrayAttr.get(
                [
                    ir.FloatAttr.get(part, complex(value).real, loc=self.loc),
                    ir.FloatAttr.get(part, complex(value).imag, loc=self.loc),
                ]
            )
            return self.one("complex.constant", [], type_, {"value": parts})
        if is_float(type_):
            attr: ir.Attribute = ir.FloatAttr.get(type_, float(value), loc=self.loc)  # type: ignore[arg-type]
        elif isinstance(type_, ir.IndexType):
            attr = ir.IntegerAttr.get(type_, int(value))  # type: ignore[arg-type]
        else:
            bits = width(type_)
            wrapped = int(value) & ((1 << bits) - 1)  # type: ignore[arg-type]
            if bits > 1 and wrapped >= 1 << (bits - 1):
                wrapped -= 1 << bits
            attr = ir.IntegerAttr.get(type_, -wrapped if bits == 1 else wrapped)
        return self.one("arith.constant", [], type_, {"value": attr})

    def cmpi(self, predicate: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        attr = ir.IntegerAttr.get(int_type(64), CMPI[predicate])
        return self.one("arith.cmpi", [lhs, rhs], int_type(1), {"predicate": attr})

    def cmpf(self, predicate: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        attr = ir.IntegerAttr.get(int_type(64), CMPF[predicate])
        return self.one("arith.cmpf", [lhs, rhs], int_type(1), {"predicate": attr})

    def select(self, condition: ir.Value, then: ir.Value, otherwise: ir.Value) -> ir.Value:
        return self.one("arith.select", [condition, then, otherwise], then.type)

    def to_int(self, value: ir.Value, type_: ir.Type, unsigned: bool = False) -> ir.Value:
        """An integer or index converted to another integer type or index."""
        if value.type == type_:
            return value
        if isinstance(value.type, ir.IndexType) or isinstance(type_, ir.IndexType):
            return self.one("arith.index_castui" if unsigned else "arith.index_cast", [value], type_)
        if width(type_) < width(value.type):
            return self.one("arith.trunci", [value], type_)
        return self.one("arith.extui" if unsigned else "arith.extsi", [value], type_)

    def to_float(self, value: ir.Value, type_: ir.Type) -> ir.Value:
        """A float converted to another float type, rounded to nearest even."""
        if value.type == type_:
            return value
        if width(value.type) < 32 and width(type_) < 32:  # by way of f32, which holds what both can
            value = self.one("arith.extf", [value], ir.F32Type.get())
        if width(value.type) == 64 and width(type_) < 32:
            value = self._round_to_odd(value)
        if str(type_) in LARGEST:
            value = self._representable(value, LARGEST[str(type_)])
        return self.one("arith.extf" if width(type_) > width(value.type) else "arith.truncf", [value], type_)

    def _representable(self, value: ir.Value, largest: float | None) -> ir.Value:
        """``value`` where a format has something for it, and what stands for it where not.

        Infinities become the largest number and NaN the zero of the other sign, or (``largest`` is None: the powers of
        two) what is not positive becomes NaN. MLIR folds a constant that has no value in the format to arbitrary bits.
        """
        t = value.type
        zero = self.const(t, 0.0)
        if largest is None:
            return self.select(self.cmpf("ogt", value, zero), value, self.const(t, float("nan")))
        inside = self.bin("arith.minimumf", value, self.const(t, largest))
        inside = self.bin("arith.maximumf", inside, self.const(t, -largest))
        other = self.bin("math.copysign", zero, self.unary("arith.negf", value))
        return self.select(self.cmpf("uno", value, value), other, inside)

    def _round_to_odd(self, value: ir.Value) -> ir.Value:
        """f64 to f32 so that a second rounding to a narrower type gives what one rounding would.

        Where the f32 is not exact it is the neighbour towards zero with its last bit set (Boldo and Melquiond, "When
        double rounding is odd", 2005). A direct f64 to bf16 or f16 is a library call on most machines.
        """
        f32, i32 = ir.F32Type.get(), int_type(32)
        near = self.one("arith.truncf", [value], f32)
        back = self.one("arith.extf", [near], value.type)
        beyond = self.cmpf("ogt", self.unary("math.absf", back), self.unary("math.absf", value))
        bits = self.one("arith.bitcast", [near], i32)
        toward_zero = self.bin("arith.subi", bits, self.one("arith.extui", [beyond], i32))
        odd = self.one("arith.bitcast", [self.bin("arith.ori", toward_zero, self.const(i32, 1))], f32)
        return self.select(self.cmpf("ueq", back, value), near, odd)

    # ---------------------------------------------------------------------------------------- index values

    def index(self, value: Index) -> ir.Value:
        """``value`` as an SSA value."""
        return self.const(ir.IndexType.get(), value) if isinstance(value, int) else value

    def add(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        if isinstance(rhs, int) and rhs == 0:
            return lhs
        if isinstance(lhs, int) and lhs == 0:
            return rhs
        return self.bin("arith.addi", self.index(lhs), self.index(rhs))

    def sub(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs - rhs
        if isinstance(rhs, int) and rhs == 0:
            return lhs
        return self.bin("arith.subi", self.index(lhs), self.index(rhs))

    def mul(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs * rhs
        if isinstance(rhs, int) and rhs == 1:
            return lhs
        if isinstance(lhs, int) and lhs == 1:
            return rhs
        return self.bin("arith.muli", self.index(lhs), self.index(rhs))

    def floordiv(self, lhs: Index, rhs: Index) -> Index:
        """Quotient of two non-negative indices (``rhs`` is not 0)."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs // rhs
        if isinstance(rhs, int) and rhs == 1:
            return lhs
        return self.bin("arith.divsi", self.index(lhs), self.index(rhs))

    def rem(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs % rhs
        if isinstance(rhs, int) and rhs == 1:
            return 0
        return self.bin("arith.remsi", self.index(lhs), self.index(rhs))

    def max(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return max(lhs, rhs)
        return self.bin("arith.maxsi", self.index(lhs), self.index(rhs))

    def min(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return min(lhs, rhs)
        return self.bin("arith.minsi", self.index(lhs), self.index(rhs))

    def product(self, extents: Sequence[Index]) -> Index:
        result: Index = 1
        for extent in extents:
            result = self.mul(result, extent)
        return result

    # -------------------------------------------------------------------------------------------- tensors

    def dim(self, tensor: ir.Value, axis: int) -> Index:
        extent = shape_of(tensor)[axis]
        if extent is not None:
            return extent
        return self.one("tensor.dim", [tensor, self.index(axis)], ir.IndexType.get())

    def dims(self, tensor: ir.Value) -> list[Index]:
        return [self.dim(tensor, axis) for axis in range(ranked(tensor).rank)]

    def empty(self, type_: ir.Type, extents: Sequence[Index]) -> ir.Value:
        """``tensor.empty`` of ``type_``; ``extents`` are read where the type does not say."""
        dynamic = [self.index(e) for e, known in zip(extents, shape_of(type_), strict=True) if known is None]
        return self.one("tensor.empty", dynamic, type_)

    def splat(self, type_: ir.Type, extents: Sequence[Index], value: ir.Value) -> ir.Value:
        """A tensor of ``type_`` filled with the scalar ``value`` (``linalg.fill``)."""
        return self.fill(self.empty(type_, extents), value)

    def fill(self, init: ir.Value, value: ir.Value) -> ir.Value:
        filled = self.op(
            "linalg.fill",
            [value, init],
            [init.type],
            {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])},
            regions=1,
        )
        block = filled.regions[0].blocks.append(value.type, element(init), arg_locs=[self.loc, self.loc])
        self.at_end(block).op("linalg.yield", [block.arguments[0]], [])
        return filled.result

    def extract(self, tensor: ir.Value, indices: Sequence[Index] = ()) -> ir.Value:
        return self.one("tensor.extract", [tensor, *map(self.index, indices)], element(tensor))

    def insert(self, scalar: ir.Value, tensor: ir.Value, indices: Sequence[Index] = ()) -> ir.Value:
        return self.one("tensor.insert", [scalar, tensor, *map(self.index, indices)], tensor.type)

    def from_elements(self, values: Sequence[ir.Value], type_: ir.Type) -> ir.Value:
        return self.one("tensor.from_elements", values, type_)

    def cast(self, tensor: ir.Value, type_: ir.Type) -> ir.Value:
        return tensor if tensor.type == type_ else self.one("tensor.cast", [tensor], type_)

    def _static(self, values: Sequence[Index]) -> tuple[list[int], list[ir.Value]]:
        statics = [v if isinstance(v, int) else DYNAMIC for v in values]
        return statics, [v for v in values if not isinstance(v, int)]

    def extract_slice(
        self,
        tensor: ir.Value,
        offsets: Sequence[Index],
        sizes: Sequence[Index],
        strides: Sequence[Index],
        type_: ir.Type,
    ) -> ir.Value:
        """``tensor.extract_slice``; the slice must be in bounds. Sizes follow ``type_`` where it is static."""
        sizes = [s if known is None else known for s, known in zip(sizes, shape_of(type_), strict=True)]
        if _is_empty(type_, tensor, offsets):
            return self.empty(type_, sizes)
        return self._slice("tensor.extract_slice", [tensor], offsets, sizes, strides, type_)

    def insert_slice(
        self,
        source: ir.Value,
        dest: ir.Value,
        offsets: Sequence[Index],
        sizes: Sequence[Index],
        strides: Sequence[Index],
    ) -> ir.Value:
        sizes = [s if known is None else known for s, known in zip(sizes, shape_of(source), strict=True)]
        if _is_empty(source.type, dest, offsets):
            return dest
        return self._slice("tensor.insert_slice", [source, dest], offsets, sizes, strides, dest.type)

    def _slice(
        self,
        name: str,
        tensors: list[ir.Value],
        offsets: Sequence[Index],
        sizes: Sequence[Index],
        strides: Sequence[Index],
        type_: ir.Type,
    ) -> ir.Value:
        attributes: dict[str, ir.Attribute] = {}
        operands = list(tensors)
        segments = [1] * len(tensors)
        for key, values in (("offsets", offsets), ("sizes", sizes), ("strides", strides)):
            statics, dynamic = self._static(values)
            attributes[f"static_{key}"] = ir.DenseI64ArrayAttr.get(statics)
            operands += dynamic
            segments.append(len(dynamic))
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
        return self.one(name, operands, type_, attributes)

    # ------------------------------------------------------------------------------------------ structure

    def for_(
        self,
        lower: Index,
        upper: Index,
        inits: Sequence[ir.Value],
        body: Callable[[Emitter, ir.Value, list[ir.Value]], Sequence[ir.Value]],
        step: Index = 1,
    ) -> list[ir.Value]:
        """``scf.for`` with carried values; ``body(emitter, iv, carried)`` returns the next ones."""
        loop = self.op(
            "scf.for",
            [self.index(lower), self.index(upper), self.index(step), *inits],
            [v.type for v in inits],
            regions=1,
        )
        types = [ir.IndexType.get(), *(v.type for v in inits)]
        block = loop.regions[0].blocks.append(*types, arg_locs=[self.loc] * len(types))
        inner = self.at_end(block)
        arguments = list(block.arguments)
        inner.op("scf.yield", list(body(inner, arguments[0], arguments[1:])), [])
        return list(loop.results)

    def nest(
        self,
        extents: Sequence[Index],
        inits: Sequence[ir.Value],
        body: Callable[[Emitter, list[ir.Value], list[ir.Value]], Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """Nested ``scf.for`` over ``extents``; ``body(emitter, indices, carried)``."""

        def level(emitter: Emitter, done: list[ir.Value], carried: list[ir.Value]) -> Sequence[ir.Value]:
            if len(done) == len(extents):
                return body(emitter, done, carried)
            return emitter.for_(0, extents[len(done)], carried, lambda e, iv, c: level(e, [*done, iv], c))

        return list(level(self, [], list(inits)))

    def if_(
        self,
        condition: ir.Value,
        types: Sequence[ir.Type],
        then: Callable[[Emitter], Sequence[ir.Value]],
        otherwise: Callable[[Emitter], Sequence[ir.Value]],
    ) -> list[ir.Value]:
        branch = self.op("scf.if", [condition], list(types), regions=2)
        for region, build in zip(branch.regions, (then, otherwise), strict=True):
            inner = self.at_end(region.blocks.append())
            inner.op("scf.yield", list(build(inner)), [])
        return list(branch.results)

    def while_(
        self,
        inits: Sequence[ir.Value],
        condition: Callable[[Emitter, list[ir.Value]], ir.Value],
        body: Callable[[Emitter, list[ir.Value]], Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """``scf.while`` whose condition hands on all carried values unchanged."""
        types = [v.type for v in inits]
        loop = self.op("scf.while", list(inits), types, regions=2)
        blocks = [region.blocks.append(*types, arg_locs=[self.loc] * len(types)) for region in loop.regions]
        before = self.at_end(blocks[0])
        carried = list(blocks[0].arguments)
        before.op("scf.condition", [condition(before, carried), *carried], [])
        after = self.at_end(blocks[1])
        after.op("scf.yield", list(body(after, list(blocks[1].arguments))), [])
        return list(loop.results)

    def generic(
        self,
        ins: Sequence[ir.Value],
        outs: Sequence[ir.Value],
        maps: Sequence[ir.AffineMap],
        iterators: Sequence[str],
        body: Callable[[Emitter, list[ir.Value]], Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """``linalg.generic``; ``iterators`` are ``parallel``/``reduction``; ``body`` gets the block arguments."""
        attributes = {
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
            "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{i}>") for i in iterators]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(ins), len(outs)]),
        }
        made = self.op("linalg.generic", [*ins, *outs], [o.type for o in outs], attributes, regions=1)
        types = [element(v) if isinstance(v.type, ir.RankedTensorType) else v.type for v in (*ins, *outs)]
        block = made.regions[0].blocks.append(*types, arg_locs=[self.loc] * len(types))
        inner = self.at_end(block)
        inner.op("linalg.yield", list(body(inner, list(block.arguments))), [])
        return list(made.results)

    def linalg_index(self, dim: int) -> ir.Value:
        return self.one("linalg.index", [], ir.IndexType.get(), {"dim": ir.IntegerAttr.get(int_type(64), dim)})

    def tabulate(
        self, type_: ir.Type, extents: Sequence[Index], body: Callable[[Emitter, list[ir.Value]], ir.Value]
    ) -> ir.Value:
        """A tensor whose element at ``indices`` is ``body(emitter, indices)``: a parallel ``linalg.generic``."""
        rank = ranked(type_).rank
        return self.generic(
            [],
            [self.empty(type_, extents)],
            [ir.AffineMap.get_identity(rank)],
            ["parallel"] * rank,
            lambda e, _: [body(e, [e.linalg_index(d) for d in range(rank)])],
        )[0]


def _is_empty(piece: ir.Type, whole: ir.Value, offsets: Sequence[Index]) -> bool:
    """Whether a slice in bounds has no elements; MLIR takes a slice that begins where its tensor ends for an error."""
    return 0 in shape_of(piece) or any(
        isinstance(offset, int) and extent is not None and offset >= extent
        for offset, extent in zip(offsets, shape_of(whole), strict=True)
    )


def mark_nest(results: Sequence[ir.Value], depth: int, mark: str) -> None:
    """Put the unit attribute ``mark`` on the ``depth`` nested ``scf.for`` that make ``results``.

    ``kc.independent``: iterations touch different places, but for what all only read. ``kc.unique``: no two iterations
    write the same place. Bufferization keeps both; loops may run in any order by them.
    """
    for _ in range(depth):
        loop = results[0].owner.operation
        loop.attributes[mark] = ir.UnitAttr.get()
        results = list(list(loop.regions[0].blocks[0].operations)[-1].operation.operands)
