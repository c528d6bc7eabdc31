"""Loops, memory and index arithmetic for CPU schedules: ``Ops`` with functions, scf loops and vector accesses.

Indices are Python ints or ``index`` values; arithmetic on ints happens here, so a static kernel gets constants where a
dynamic one gets ops. Constants and function arguments stand at the entry of the function being built.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Union

from kc.bindings import ir
from kc.builder.expr import HALF, Ops, lanes_of, literal_text

if TYPE_CHECKING:
    from collections.abc import Iterator

#: an index: known now, or a value of type ``index``
Index = Union[int, Any]

#: element types that CPU schedules load, compute with and store
ELEMENTS = frozenset({"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "i1"})

#: how elements are loaded and stored where LLVM's own vectors of them are slow (half types need library calls before an
#: IR optimiser has run) or packed otherwise than memory (i1)
STORAGE = {"bf16": "i16", "f16": "i16", "i1": "i8"}


def memref_type(shape: Sequence[int | None], element: str) -> str:
    """``memref<4x?xf32>`` of identity layout."""
    return "memref<" + "".join(f"{'?' if size is None else size}x" for size in shape) + f"{element}>"


class CpuBuilder(Ops):
    """Builds the functions of one kernel's implementation into a module.

    ``lanes32``: 32-bit lanes of a vector register.
    """

    def __init__(self, module: Any, location: Any, vector_bits: int = 256, fma: bool = True) -> None:
        super().__init__(location, fma)
        self.module = module
        self.lanes32 = max(vector_bits // 32, 1)
        self._entry: Any = None
        self._constants: dict[tuple[str, str, int | None], Any] = {}

    # -- functions

    @contextmanager
    def function(self, name: str, arguments: Sequence[str]) -> Iterator[list[Any]]:
        """``func.func private @name {kc.impl}`` with argument types as text; the body is built inside the ``with``."""
        types = ", ".join(arguments)
        marks = {"sym_name": f'"{name}"', "function_type": f"({types}) -> ()", "sym_visibility": '"private"',
                 "kc.impl": "unit"}
        with ir.InsertionPoint(self.module.regions[0].blocks[0]):
            op = self.create_region("func.func", [], [], marks, 1)
        block = op.regions[0].blocks.append(*map(self.type, arguments), arg_locs=[self.location] * len(arguments))
        outer = self._entry, self._constants
        self._entry, self._constants = block, {}
        try:
            with ir.InsertionPoint(block):
                yield list(block.arguments)
                self.create("func.return", [])
        finally:
            self._entry, self._constants = outer

    def call(self, name: str, arguments: Sequence[Any]) -> None:
        self.create("func.call", arguments, None, {"callee": f"@{name}"})

    def create_region(self, name: str, operands: Sequence[Any], results: Sequence[Any], attributes: dict[str, Any],
                      regions: int) -> Any:
        """An op with regions (without blocks yet)."""
        attrs = {key: self.attribute(value) if isinstance(value, str) else value for key, value in attributes.items()}
        return ir.Operation.create(name, results=list(results), operands=list(operands), attributes=attrs,
                                   regions=regions, loc=self.location)

    # -- constants and indices

    def constant(self, value: int | float | bool, type_text: str, lanes: int | None = None) -> Any:
        key = (literal_text(value, type_text), type_text, lanes)
        found = self._constants.get(key)
        if found is None:
            with ir.InsertionPoint.at_block_begin(self._entry):
                found = self._constants[key] = super().constant(value, type_text, lanes)
        return found

    def index(self, value: Index) -> Any:
        """``value`` as an SSA value."""
        return self.constant(value, "index") if isinstance(value, int) else value

    def _fold(self, name: str, a: Index, b: Index, static: Callable[[int, int], int]) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return static(a, b)
        return self.create(name, [self.index(a), self.index(b)], self.type("index"))

    def add(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and a == 0:
            return b
        if isinstance(b, int) and b == 0:
            return a
        return self._fold("arith.addi", a, b, lambda x, y: x + y)

    def sub(self, a: Index, b: Index) -> Index:
        return a if isinstance(b, int) and b == 0 else self._fold("arith.subi", a, b, lambda x, y: x - y)

    def difference(self, a: Index, b: Index) -> Index:
        """``a - b``, or 0 when ``b`` is larger."""
        if isinstance(a, int) and isinstance(b, int):
            return max(a - b, 0)
        return self.create("arith.maxsi", [self.index(self.sub(a, b)), self.index(0)], self.type("index"))

    def mul(self, a: Index, b: Index) -> Index:
        for x, y in ((a, b), (b, a)):
            if isinstance(x, int) and x in (0, 1):
                return y if x else 0
        return self._fold("arith.muli", a, b, lambda x, y: x * y)

    def div(self, a: Index, b: Index) -> Index:
        """Quotient of non-negative indices."""
        return a if isinstance(b, int) and b == 1 else self._fold("arith.divui", a, b, lambda x, y: x // y)

    def rem(self, a: Index, b: Index) -> Index:
        return 0 if isinstance(b, int) and b == 1 else self._fold("arith.remui", a, b, lambda x, y: x % y)

    def ceildiv(self, a: Index, b: Index) -> Index:
        """Quotient of non-negative indices, rounded up."""
        if isinstance(a, int) and isinstance(b, int):
            return -(-a // b)
        return self.div(self.add(a, self.sub(b, 1)), b)

    def min(self, a: Index, b: Index) -> Index:
        return self._fold("arith.minui", a, b, min)

    def max(self, a: Index, b: Index) -> Index:
        return self._fold("arith.maxui", a, b, max)

    def product(self, values: Sequence[Index]) -> Index:
        result: Index = 1
        for value in values:
            result = self.mul(result, value)
        return result

    def round_down(self, a: Index, b: Index) -> Index:
        return self.mul(self.div(a, b), b)

    def compare(self, predicate: str, a: Index, b: Index) -> Any:
        """``i1`` of an unsigned comparison: eq, ne, ult, ule, ugt, uge."""
        number = {"eq": 0, "ne": 1, "ult": 6, "ule": 7, "ugt": 8, "uge": 9}[predicate]
        return self.create("arith.cmpi", [self.index(a), self.index(b)], self.type("i1"),
                           {"predicate": f"{number} : i64"})

    # -- control flow

    def loop(self, low: Index, high: Index, step: Index, body: Callable[..., Any], inits: Sequence[Any] = ()
             ) -> list[Any]:
        """``scf.for``; ``body(iv, *carried)`` returns the next carried values. An empty loop is not built."""
        if isinstance(low, int) and isinstance(high, int) and low >= high:
            return list(inits)
        types = [value.type for value in inits]
        op = self.create_region("scf.for", [*map(self.index, (low, high, step)), *inits], types, {}, 1)
        block = op.regions[0].blocks.append(self.type("index"), *types, arg_locs=[self.location] * (1 + len(types)))
        with ir.InsertionPoint(block):
            self.create("scf.yield", list(body(*block.arguments) or ()))
        return list(op.results)

    def parallel(self, count: Index, body: Callable[[Any], None]) -> None:
        """``scf.parallel`` over ``0 .. count``; a plain call of ``body`` when there is only one step."""
        if isinstance(count, int) and count <= 1:
            if count:
                body(0)
            return
        op = self.create_region("scf.parallel", [self.index(v) for v in (0, count, 1)], [],
                                {"operandSegmentSizes": "array<i32: 1, 1, 1, 0>"}, 1)
        block = op.regions[0].blocks.append(self.type("index"), arg_locs=[self.location])
        with ir.InsertionPoint(block):
            body(block.arguments[0])
            self.create("scf.reduce", [])

    def when(self, condition: Any, then: Callable[[], Sequence[Any] | None],
             otherwise: Callable[[], Sequence[Any] | None] | None = None, types: Sequence[Any] = ()) -> list[Any]:
        """``scf.if``; with ``types`` both branches return values of these types."""
        op = self.create_region("scf.if", [condition], types, {}, 2)
        for region, make in zip(op.regions, (then, otherwise), strict=True):
            if make is not None:
                with ir.InsertionPoint(region.blocks.append()):
                    self.create("scf.yield", list(make() or ()))
        return list(op.results)

    # -- memory

    def dim(self, memref: Any, axis: int) -> Any:
        return self.create("memref.dim", [memref, self.index(axis)], self.type("index"))

    def allocate(self, shape: Sequence[Index], element: str) -> Any:
        """Heap scratch of identity layout, 64-byte aligned; freed with ``free`` in the same function."""
        kind = memref_type([size if isinstance(size, int) else None for size in shape], element)
        dynamic = [size for size in shape if not isinstance(size, int)]
        return self.create("memref.alloc", dynamic, self.type(kind), {
            "operandSegmentSizes": f"array<i32: {len(dynamic)}, 0>", "alignment": "64 : i64",
            "bufferization.manual_deallocation": "unit"})

    def free(self, memref: Any) -> None:
        self.create("memref.dealloc", [memref], None, {"bufferization.manual_deallocation": "unit"})

    def stack(self, shape: Sequence[int], element: str) -> Any:
        """Stack scratch, at the entry of the function being built."""
        with ir.InsertionPoint.at_block_begin(self._entry):
            return self.create("memref.alloca", [], self.type(memref_type(shape, element)),
                               {"operandSegmentSizes": "array<i32: 0, 0>", "alignment": "64 : i64"})

    def collapse(self, memref: Any, shape: Sequence[int | None], element: str,
                 groups: Sequence[Sequence[int]]) -> Any:
        """``memref.collapse_shape`` of an identity-layout memref of ``shape``."""
        if all(len(group) == 1 for group in groups):
            return memref
        sizes: list[int | None] = []
        for group in groups:
            size: int | None = 1
            for axis in group:
                extent = shape[axis]
                size = None if size is None or extent is None else size * extent
            sizes.append(size)
        text = ", ".join("[" + ", ".join(f"{axis} : i64" for axis in group) + "]" for group in groups)
        return self.create("memref.collapse_shape", [memref], self.type(memref_type(sizes, element)),
                           {"reassociation": f"[{text}]"})

    def cast(self, memref: Any, kind: str) -> Any:
        """``memref.cast`` to a type of more or less dynamic shape."""
        if str(memref.type) == kind:
            return memref
        return self.create("memref.cast", [memref], self.type(kind))

    def matrix(self, memref: Any, offsets: Sequence[Index]) -> Any:
        """The last two axes, whole, at ``offsets`` of the others, as a rank-2 memref."""
        rank = len(offsets)
        if rank == 2:
            return memref
        sizes = [self.dim(memref, axis) for axis in (rank - 2, rank - 1)]
        dynamic = str(ir.ShapedType.get_dynamic_size())
        leading = [self.index(value) for value in offsets[:-2]]
        static = {"static_offsets": [dynamic] * (rank - 2) + ["0", "0"],
                  "static_sizes": ["1"] * (rank - 2) + [dynamic] * 2, "static_strides": ["1"] * rank}
        width = ir.MemRefType(memref.type).shape[-1]
        stride = "?" if width == ir.ShapedType.get_dynamic_size() else str(width)
        kind = f"memref<?x?x{_element(memref)}, strided<[{stride}, 1], offset: ?>>"
        return self.create("memref.subview", [memref, *leading, *sizes], self.type(kind), {
            "operandSegmentSizes": f"array<i32: 1, {rank - 2}, 2, 0>",
            **{name: f"array<i64: {', '.join(values)}>" for name, values in static.items()}})

    def raw(self, memref: Any, shape: Sequence[int | None], element: str) -> Any:
        """An identity-layout memref with its elements as they are loaded (see ``STORAGE``)."""
        if element not in STORAGE:
            return memref
        kind = self.type(memref_type(shape, STORAGE[element]))
        return self.create("builtin.unrealized_conversion_cast", [memref], kind)

    def from_storage(self, value: Any, element: str) -> Any:
        """A loaded value as an element; half types stay bits until ``widen``."""
        if element != "i1":
            return value
        zero = self.constant(0, "i8", lanes_of(value))
        return self.create("arith.cmpi", [value, zero], self.type("i1", lanes_of(value)), {"predicate": "1 : i64"})

    def to_storage(self, value: Any, element: str) -> Any:
        """An element (half types as f32) as it is stored."""
        if element == "i1":
            return self.create("arith.extui", [value], self.type("i8", lanes_of(value)))
        return self.half_bits(value, element) if element in HALF else value

    def widen(self, value: Any, type_text: str) -> Any:
        """f32 of a half value: of its bits when loaded from memory, of the value itself when passed as a scalar."""
        if type_text in HALF and _element(value) == "i16":
            return self.half_from_bits(value, type_text)
        return super().widen(value, type_text)

    def narrow(self, value: Any, type_text: str) -> Any:
        return self.half_bits(value, type_text) if type_text in HALF else value

    def half_bits(self, value: Any, type_text: str) -> Any:
        """Bits of ``value`` rounded to nearest even; a NaN stays a NaN."""
        lanes = lanes_of(value)
        if _element(value) == "f64":
            value = self.create("arith.truncf", [value], self.type("f32", lanes))
        if type_text == "f16":
            half = self.create("arith.truncf", [value], self.type("f16", lanes))
            return self.create("arith.bitcast", [half], self.type("i16", lanes))
        i32 = self.type("i32", lanes)

        def of(name: str, a: Any, b: Any) -> Any:
            return self.create(name, [a, b], i32)

        bits = self.create("arith.bitcast", [value], i32)
        sixteen = self.constant(16, "i32", lanes)
        odd = of("arith.andi", of("arith.shrui", bits, sixteen), self.constant(1, "i32", lanes))
        rounded = of("arith.addi", bits, of("arith.addi", odd, self.constant(0x7FFF, "i32", lanes)))
        nan = self.create("arith.cmpf", [value, value], self.type("i1", lanes), {"predicate": "14 : i64"})
        quiet = of("arith.ori", bits, self.constant(0x400000, "i32", lanes))
        chosen = self.create("arith.select", [nan, quiet, rounded], i32)
        return self.create("arith.trunci", [of("arith.shrui", chosen, sixteen)], self.type("i16", lanes))

    def half_from_bits(self, bits: Any, type_text: str) -> Any:
        lanes = lanes_of(bits)
        if type_text == "f16":
            half = self.create("arith.bitcast", [bits], self.type("f16", lanes))
            return self.create("arith.extf", [half], self.type("f32", lanes))
        i32 = self.type("i32", lanes)
        wide = self.create("arith.extui", [bits], i32)
        shifted = self.create("arith.shli", [wide, self.constant(16, "i32", lanes)], i32)
        return self.create("arith.bitcast", [shifted], self.type("f32", lanes))

    def load(self, memref: Any, indices: Sequence[Index]) -> Any:
        """One element."""
        return self.create("memref.load", [memref, *map(self.index, indices)], self.type(_element(memref)))

    def store(self, value: Any, memref: Any, indices: Sequence[Index]) -> None:
        """One element."""
        self.create("memref.store", [value, memref, *map(self.index, indices)])

    def vector_load(self, memref: Any, indices: Sequence[Index], lanes: int, mask: Any = None) -> Any:
        """``lanes`` elements along the last axis; lanes outside ``mask`` read nothing and are zero."""
        element = _element(memref)
        kind = self.type(element, lanes)
        operands = [memref, *map(self.index, indices)]
        if mask is None:
            return self.create("vector.load", operands, kind)
        return self.create("vector.maskedload", [*operands, mask, self.constant(0, element, lanes)], kind)

    def vector_store(self, value: Any, memref: Any, indices: Sequence[Index], lanes: int, mask: Any = None) -> None:
        """``lanes`` elements along the last axis; lanes outside ``mask`` write nothing."""
        operands = [memref, *map(self.index, indices)]
        if mask is None:
            return self.create("vector.store", [value, *operands])
        return self.create("vector.maskedstore", [*operands, mask, value])

    def gather(self, memref: Any, indices: Sequence[Index], axis: int, step: int, lanes: int, mask: Any = None) -> Any:
        """``lanes`` elements, ``step`` apart along ``axis``, one load each; lanes outside ``mask`` are zero."""
        element = _element(memref)
        values = []
        for lane in range(lanes):
            where = list(indices)
            where[axis] = self.add(where[axis], lane * step)
            if mask is None:
                values.append(self.load(memref, where))
                continue
            bit = self.extract(mask, lane)
            values += self.when(bit, lambda where=where: [self.load(memref, where)],  # type: ignore[misc]
                                lambda: [self.constant(0, element)], [self.type(element)])
        return self.create("vector.from_elements", values, self.type(element, lanes))

    def scatter(self, value: Any, memref: Any, indices: Sequence[Index], axis: int, lanes: int, mask: Any = None
                ) -> None:
        """The lanes of ``value`` one by one along ``axis``."""
        for lane in range(lanes):
            where = list(indices)
            where[axis] = self.add(where[axis], lane)

            def put(where: list[Index] = where, lane: int = lane) -> None:
                self.store(self.extract(value, lane), memref, where)

            if mask is None:
                put()
            else:
                self.when(self.extract(mask, lane), put)

    def extract(self, vector: Any, lane: int) -> Any:
        element = _element(vector)
        return self.create("vector.extract", [vector], self.type(element), {"static_position": f"array<i64: {lane}>"})

    def mask(self, count: Index, lanes: int) -> Any:
        """The first ``count`` of ``lanes`` lanes (all when ``count`` is larger)."""
        return self.create("vector.create_mask", [self.index(count)], self.type("i1", lanes))

    def step_vector(self, base: Index, lanes: int) -> Any:
        """``base, base + 1, …`` as a vector of index."""
        steps = self.create("vector.step", [], self.type("index", lanes))
        return self.create("arith.addi", [steps, self.broadcast(self.index(base), lanes)], self.type("index", lanes))

    def shuffle(self, a: Any, b: Any, mask: Sequence[int]) -> Any:
        """``vector.shuffle``: lane i is lane ``mask[i]`` of ``a`` followed by ``b``."""
        element = _element(a)
        return self.create("vector.shuffle", [a, b], self.type(element, len(mask)),
                           {"mask": f"array<i64: {', '.join(map(str, mask))}>"})


def _element(value: Any) -> str:
    """The element type of a memref, vector or scalar value."""
    text = str(value.type)
    if text.startswith("memref<"):
        text = text[len("memref<"):-1].split(",")[0].rsplit("x", 1)[-1]
    elif text.startswith("vector<"):
        text = text[text.index("x") + 1:-1]
    return text
