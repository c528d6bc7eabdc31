"""Writes of loop bodies that may meet in one place: updates done atomically, stores of which the last one wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kc.bindings import ir
from kc.passes.gpu._launch import Arith, Extent, compare, if_block, launch_points
from kc.passes.gpu._memory import element_bytes, element_offset, extent_of, load, store
from kc.passes.gpu._runtime import pointer

_PURE = ("arith.", "math.", "complex.", "index.")
# kinds of llvm.atomicrmw that the hardware has for words of 32 and 64 bits, by the op they stand for
_NATIVE = {
    "arith.addi": 1,
    "arith.andi": 3,
    "arith.ori": 5,
    "arith.xori": 6,
    "arith.maxsi": 7,
    "arith.minsi": 8,
    "arith.maxui": 9,
    "arith.minui": 10,
    "arith.addf": 11,
}
#: ops whose repeated application gives the same bits in every order
_EXACT = frozenset(_NATIVE) - {"arith.addf"} | {"arith.muli", "arith.maximumf", "arith.minimumf"}
_SCOPE = {"syncscope": "device"}
_MONOTONIC = 2


class Access(NamedTuple):
    """One load or store of a loop body; ``root`` is the buffer that ``buffer`` is a view of."""

    op: Any
    root: Any
    buffer: Any
    at: list[Any]
    stores: bool


class Update(NamedTuple):
    """``buffer[at] = f(buffer[at])``, the only thing that a nest does with the buffer; ``body`` are the ops of f that
    depend on the old value, in order.
    """

    load: Any
    body: list[Any]
    store: Any

    @property
    def is_exact(self) -> bool:
        """Whether the order of such updates makes no difference to the result."""
        return len(self.body) == 1 and self.body[0].name in _EXACT


def find_updates(accesses: Sequence[Access]) -> list[Update] | None:
    """Every write as an update that can be atomic; None if one of them cannot."""
    found = []
    for root in dict.fromkeys(a.root for a in accesses if a.stores):
        same = [a for a in accesses if a.root == root]
        if len(same) != 2 or same[0].stores or not same[1].stores:
            return None
        read, written = same
        if read.op.block != written.op.block or read.buffer != written.buffer or read.at != written.at:
            return None
        body = _dependent_ops(read.op, written.op)
        update = Update(read.op, body or [], written.op)
        if body is None or not (_is_native(update) or _is_pairwise(update) or _word(read.buffer.type.element_type)):
            return None
        found.append(update)
    return found


def _dependent_ops(read: Any, written: Any) -> list[Any] | None:
    """The ops that take the value ``read`` to the one ``written``; None where something else sees them."""
    values = [read.results[0]]
    body: list[Any] = []
    for op in [o.operation for o in read.block.operations]:
        if not any(operand == value for operand in op.operands for value in values):
            continue
        if op == written:
            break
        if not op.name.startswith(_PURE) or len(op.regions):
            return None
        body.append(op)
        values += list(op.results)
    known = [*body, written]
    if any(use.owner.operation not in known for value in values for use in value.uses):
        return None
    stored = written.operands[0]
    return body if body and any(stored == value for value in values[1:]) else None


def _is_native(update: Update) -> bool:
    """Whether one instruction does it: a single operation on a word, whose other operand is known before."""
    old = update.load.results[0]
    return (
        len(update.body) == 1
        and update.body[0].name in _NATIVE
        and str(old.type) in ("f32", "f64", "i32", "i64")
        and list(update.body[0].operands).count(old) == 1
    )


def _is_pairwise(update: Update) -> bool:
    """Whether it is a complex addition, whose two halves are updates of their own."""
    old = update.load.results[0]
    return (
        [op.name for op in update.body] == ["complex.add"]
        and isinstance(old.type, ir.ComplexType)
        and str(old.type.element_type) in ("f32", "f64")
        and list(update.body[0].operands).count(old) == 1
    )


def _word(kind: Any) -> int:
    """Bits of the word that a compare-and-swap of an element of type ``kind`` exchanges; 0 if there is none."""
    size = 8 * element_bytes(kind)
    return size if size in (8, 16, 32, 64) else 0


def make_atomic(update: Update) -> None:
    """Replace load, operations and store by one atomic operation of the device's memory.

    An operation that the hardware has not becomes a loop around compare-and-swap: correct for any function of the old
    value, since the loop starts again when another thread came between.
    """
    buffer, *at = list(update.load.operands)
    with ir.InsertionPoint(update.store):
        a = Arith(update.store.location)
        size = element_bytes(buffer.type.element_type)
        address = pointer(a, buffer, a.mul(element_offset(a, buffer, at), size), "!llvm.ptr<1>")
        if _is_native(update):
            _native(a, address, update.body[0].name, _other(update))
        elif _is_pairwise(update):
            part = buffer.type.element_type.element_type
            for position, half in enumerate(("complex.re", "complex.im")):
                place = address if position == 0 else _next_to(a, address, element_bytes(part))
                _native(a, place, "arith.addf", a.op(half, [_other(update)], [part]))
        else:
            _exchange(a, address, update)
    for op in (update.store, *reversed(update.body), update.load):
        op.erase()


def _other(update: Update) -> Any:
    old = update.load.results[0]
    return next(value for value in update.body[0].operands if value != old)


def _next_to(a: Arith, address: Any, size: int) -> Any:
    i64 = ir.IntegerType.get_signless(64)
    moved = a.op("arith.addi", [a.op("llvm.ptrtoint", [address], [i64]), a.constant(size, i64)], [i64])
    return a.op("llvm.inttoptr", [moved], [address.type])


def _attributes(**values: int | str) -> dict[str, Any]:
    i64 = ir.IntegerType.get_signless(64)
    return {
        name: ir.StringAttr.get(value) if isinstance(value, str) else ir.IntegerAttr.get(i64, value)
        for name, value in values.items()
    }


def _native(a: Arith, address: Any, name: str, value: Any) -> None:
    a.op("llvm.atomicrmw", [address, value], [value.type], _attributes(bin_op=_NATIVE[name], ordering=2, **_SCOPE))


def _exchange(a: Arith, address: Any, update: Update) -> None:
    """``do { new = f(word) } while (another thread changed the word)``; nothing is written where f changes nothing."""
    old = update.load.results[0]
    kind = ir.IntegerType.get_signless(_word(old.type))
    flag = ir.IntegerType.get_signless(1)
    first = a.op("llvm.load", [address], [kind], _attributes(ordering=_MONOTONIC, alignment=kind.width // 8, **_SCOPE))
    loop = ir.Operation.create("scf.while", results=[kind], operands=[first], regions=2, loc=a.location)
    before = loop.regions[0].blocks.append(kind, arg_locs=[a.location])
    after = loop.regions[1].blocks.append(kind, arg_locs=[a.location])
    with ir.InsertionPoint(before):
        inner = Arith(a.location)
        word = before.arguments[0]
        mapping = {old: _decode(inner, word, old.type)}
        for op in update.body:
            copy = op.clone().operation
            for position, operand in enumerate(list(op.operands)):
                if operand in mapping:
                    copy.operands[position] = mapping[operand]
            mapping.update(zip(op.results, copy.results, strict=True))
        new = _encode(inner, mapping[update.store.operands[0]], kind)
        differs = inner.op("arith.cmpi", [new, word], [flag], _attributes(predicate=1))
        swap = ir.Operation.create("scf.if", results=[kind, flag], operands=[differs], regions=2, loc=a.location)
        with ir.InsertionPoint(swap.regions[0].blocks.append()):
            then = Arith(a.location)
            pair = then.op(
                "llvm.cmpxchg",
                [address, word, new],
                [ir.Type.parse(f"!llvm.struct<({kind}, i1)>")],
                _attributes(success_ordering=_MONOTONIC, failure_ordering=_MONOTONIC, **_SCOPE),
            )
            seen, done = (
                then.op("llvm.extractvalue", [pair], [t], {"position": ir.DenseI64ArrayAttr.get([k])})
                for k, t in enumerate((kind, flag))
            )
            again = then.op("arith.xori", [done, then.constant(True, flag)], [flag])
            then.op("scf.yield", [seen, again], [])
        with ir.InsertionPoint(swap.regions[1].blocks.append()):
            otherwise = Arith(a.location)
            otherwise.op("scf.yield", [word, otherwise.constant(False, flag)], [])
        inner.op("scf.condition", [swap.results[1], swap.results[0]], [])
    with ir.InsertionPoint(after):
        Arith(a.location).op("scf.yield", [after.arguments[0]], [])


def _decode(a: Arith, word: Any, kind: Any) -> Any:
    """The value of type ``kind`` that is kept as ``word``."""
    if word.type == kind:
        return word
    if isinstance(kind, ir.IndexType):
        return a.op("arith.index_cast", [word], [kind])
    if isinstance(kind, ir.ComplexType):
        part = ir.IntegerType.get_signless(word.type.width // 2)
        high = a.op("arith.shrui", [word, a.constant(part.width, word.type)], [word.type])
        parts = [_decode(a, a.op("arith.trunci", [w], [part]), kind.element_type) for w in (word, high)]
        return a.op("complex.create", parts, [kind])
    width = kind.width
    if width < word.type.width:
        word = a.op("arith.trunci", [word], [ir.IntegerType.get_signless(width)])
    return word if word.type == kind else a.op("arith.bitcast", [word], [kind])


def _encode(a: Arith, value: Any, word: Any) -> Any:
    """The inverse of ``_decode``: bits above the value are zero."""
    kind = value.type
    if kind == word:
        return value
    if isinstance(kind, ir.IndexType):
        return a.op("arith.index_cast", [value], [word])
    if isinstance(kind, ir.ComplexType):
        part = ir.IntegerType.get_signless(word.width // 2)
        re, im = (_encode(a, a.op(f"complex.{p}", [value], [kind.element_type]), part) for p in ("re", "im"))
        high = a.op("arith.shli", [a.op("arith.extui", [im], [word]), a.constant(part.width, word)], [word])
        return a.op("arith.ori", [a.op("arith.extui", [re], [word]), high], [word])
    bits = ir.IntegerType.get_signless(kind.width)
    if kind != bits:
        value = a.op("arith.bitcast", [value], [bits])
    return value if bits == word else a.op("arith.extui", [value], [word])


# ------------------------------------------------------------------------------------------- stores that overwrite


def find_stores(accesses: Sequence[Access]) -> list[Any] | None:
    """Every write as one of several stores, in one block, of elements at the same place of buffers of one shape that
    nothing reads; None if that is not so.
    """
    stores = [a for a in accesses if a.stores]
    roots = [a.root for a in stores]
    if not stores or len(set(roots)) != len(roots) or any(a.root in roots for a in accesses if not a.stores):
        return None
    first = stores[0]
    for other in stores[1:]:
        same = other.op.block == first.op.block and other.at == first.at
        if not (same and list(other.buffer.type.shape) == list(first.buffer.type.shape)):
            return None
    if not (first.buffer.type.has_static_shape or len(stores) == 1) or first.buffer.type.rank == 0:
        return None
    return [a.op for a in stores]


class LastWriter:
    """Which iteration writes a place last: a number per place, the largest of the iterations that come there.

    A first launch does nothing but find these numbers; in a second one only the iteration of that number stores.
    """

    def __init__(self, a: Arith, stores: Sequence[Any], trips: Extent, block: int) -> None:
        buffer = stores[0].operands[1]
        bits = 32 if isinstance(trips, int) and trips < 1 << 31 else 64
        self.kind = ir.IntegerType.get_signless(bits)
        extents = [extent_of(a, buffer, axis) for axis in range(buffer.type.rank)]
        dynamic = [extent for extent in extents if not isinstance(extent, int)]
        type_ = ir.MemRefType.get(list(buffer.type.shape), self.kind, loc=a.location)
        segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(dynamic), 0])}
        self.numbers = a.op("memref.alloc", dynamic, [type_], segments)

        def clear(inner: Arith, at: list[Extent]) -> None:
            store(inner, inner.constant(-1, self.kind), self.numbers, [inner.value(i) for i in at])

        launch_points(a.location, extents, clear, block)

    def _number(self, a: Arith, linear: Any) -> Any:
        return a.op("arith.index_cast", [a.value(linear)], [self.kind])

    def claim(self, stores: Sequence[Any], linear: Any) -> None:
        """Replace ``stores`` by a note that iteration number ``linear`` comes there."""
        at = list(stores[0].operands)[2:]
        with ir.InsertionPoint(stores[0]):
            a = Arith(stores[0].location)
            offset = a.mul(element_offset(a, self.numbers, at), self.kind.width // 8)
            address = pointer(a, self.numbers, offset, "!llvm.ptr<1>")
            _native(a, address, "arith.maxsi", self._number(a, linear))
        for op in stores:
            op.erase()

    def guard(self, stores: Sequence[Any], linear: Any) -> None:
        """Let ``stores`` happen only in the iteration that comes last."""
        at = list(stores[0].operands)[2:]
        with ir.InsertionPoint(stores[-1]):
            a = Arith(stores[-1].location)
            last = compare(a, "eq", load(a, self.numbers, at), self._number(a, linear))
            inside = if_block(a, last)
        end = list(inside.operations)[-1].operation
        for op in stores:
            op.move_before(end)

    def free(self, a: Arith) -> None:
        a.op("memref.dealloc", [self.numbers], [])
