"""``kc-emit-entry-points``: one C function per public function, callable through an array of pointers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import functions as functions_of
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

PREFIX = "kc_entry_"
SIGNATURE = "kc.signature"


@dataclasses.dataclass(frozen=True)
class EmitEntryPoints(Pass):
    """Turn each function with a ``kc.signature`` into ``void kc_entry_f(void **args)``, which the runtime calls.

    ``args`` holds a pointer per argument, then one per result: to the memref descriptor, or to the scalar itself. The
    function reads what it uses of its arguments' descriptors there, and writes its results' descriptors field by
    field: no descriptor travels by value, which would make LLVM slow for programs with many results. A function that
    others call too stays beside its entry point. Everything else becomes internal. Run after
    ``convert-func-to-llvm``, which splits memrefs into their fields, and before the last ``canonicalize``, which takes
    the fields of results out of the structs that they are returned in. ::

        llvm.func @f(%base: !llvm.ptr, %aligned: !llvm.ptr, %offset: i64, …) -> !llvm.struct<…> {
          … %aligned …
          llvm.return %result

    becomes ::

        llvm.func @kc_entry_f(%args: !llvm.ptr) {
          %x = llvm.load %args[0]
          %aligned = llvm.load %x[1]
          … %aligned …
          %y = llvm.load %args[1]
          %field = llvm.extractvalue %result[0]
          llvm.store %field, %y[0]
          …
          llvm.return
    """

    name: ClassVar[str] = "kc-emit-entry-points"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "llvm"
    dialects: ClassVar[tuple[str, ...]] = ("llvm",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        functions = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in functions_of(op, "llvm.func")}
        defined = {name: f for name, f in functions.items() if len(f.regions[0].blocks)}
        entries = [name for name, f in defined.items() if SIGNATURE in f.attributes]
        called = _called(defined, entries)
        internal = ir.Attribute.parse("#llvm.linkage<internal>")
        for name, function in defined.items():
            if name not in entries and not name.startswith(PREFIX):
                function.attributes["linkage"] = internal
        for name in entries:
            function = functions[name]
            if PREFIX + name in functions:
                ctx.error(
                    function, f"'@{PREFIX}{name}' exists already; that name is kept for the entry point of '@{name}'"
                )
            if name in called:
                with ir.InsertionPoint(function):
                    inner = function.clone().operation
                inner.attributes["linkage"] = internal
                del inner.attributes[SIGNATURE]
            signature = json.loads(ir.StringAttr(function.attributes[SIGNATURE]).value)
            arguments = [_fields(argument) for argument in signature["args"]]
            given = len(function.regions[0].blocks[0].arguments)
            if sum(map(len, arguments)) != given:
                ctx.error(
                    function, f"'@{name}' has {given} arguments, which do not add up to those in its {SIGNATURE}"
                )
            _Entry(function).rewrite(arguments, [_fields(result) for result in signature["results"]])
            function.attributes["sym_name"] = ir.StringAttr.get(PREFIX + name)


def _type(function: ir.Operation) -> ir.Type:
    return ir.TypeAttr(function.attributes["function_type"]).value


def _called(functions: dict[str, ir.Operation], entries: list[str]) -> set[str]:
    """Those of ``entries`` that another function calls. Kernels call none, and nothing in StableHLO calls itself."""
    found: set[str] = set()
    callers = [f for f in functions.values() if "kc.kernel" not in f.attributes and "kc.impl" not in f.attributes]
    if len(callers) > 1:
        for function in callers:
            for call in walk_ops(function, "llvm.call"):
                if "callee" in call.attributes:
                    found.add(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
    return found.intersection(entries)


class _Field(NamedTuple):
    """An LLVM value that an argument or result is made of: its place in the struct of a memref descriptor (() for a
    scalar, which is no field), and its value where the type says it."""

    place: tuple[int, ...]
    known: int | None = None


def _fields(described: dict[str, Any]) -> list[_Field]:
    """The values, in order, of an argument or result of a signature. Memrefs of entry points have no layout: row-major
    from offset 0."""
    if described.get("scalar"):
        return [_Field(())]
    sizes = [extent if isinstance(extent, int) else None for extent in described["shape"]]
    strides: list[int | None] = [1] if sizes else []
    for size in reversed(sizes[1:]):
        strides.append(None if size is None or strides[-1] is None else size * strides[-1])
    return [
        _Field((0,)),
        _Field((1,)),
        _Field((2,), 0),
        *(_Field((3, axis), size) for axis, size in enumerate(sizes)),
        *(_Field((4, axis), stride) for axis, stride in enumerate(reversed(strides))),
    ]


class _Entry:
    """A function on its way to becoming an entry point."""

    def __init__(self, function: ir.Operation):
        self.function = function
        self.block = function.regions[0].blocks[0]
        with function.context:
            self.pointer = ir.Type.parse("!llvm.ptr")
            self.results = [ir.Type.parse(kind) for kind in result_types(str(_type(function)))]
            self.word = ir.IntegerType.get_signless(64)
            self._ordering = ir.IntegerAttr.get(self.word, 0)

    def rewrite(self, arguments: Sequence[Sequence[_Field]], results: Sequence[Sequence[_Field]]) -> None:
        """Change signature, arguments and returns."""
        with self.function.location:
            old = list(self.block.arguments)
            args = self.block.add_argument(self.pointer, self.function.location)
            values = iter(old)
            with ir.InsertionPoint.at_block_begin(self.block):
                for position, fields in enumerate(arguments):
                    self._read(args, position, fields, values)
            for position in reversed(range(len(old))):
                self.block.erase_argument(position)
            for back in walk_ops(self.function, "llvm.return"):
                with ir.InsertionPoint(back):
                    if len(back.operands):
                        self._write(args, len(arguments), results, back.operands[0])
                    ir.Operation.create("llvm.return")
                back.erase()
            self.function.attributes["function_type"] = ir.TypeAttr.get(ir.Type.parse("!llvm.func<void (ptr)>"))
            for name in ("arg_attrs", "res_attrs"):
                if name in self.function.attributes:
                    del self.function.attributes[name]

    def _read(self, args: ir.Value, position: int, fields: Sequence[_Field], values: Iterator[ir.Value]) -> None:
        base: ir.Value | None = None
        for word, field in enumerate(fields):
            value = next(values)
            if not any(True for _ in value.uses):
                continue
            if field.known is not None:
                constant = {"value": ir.IntegerAttr.get(self.word, field.known)}
                new = self._create("llvm.mlir.constant", self.word, [], constant)
            else:
                base = base or self._load(self._at(args, position, self.pointer), self.pointer)
                new = self._load(self._at(base, word, self.word), value.type)
            value.replace_all_uses_with(new)

    def _write(self, args: ir.Value, first: int, results: Sequence[Sequence[_Field]], value: ir.Value) -> None:
        for position, fields in enumerate(results):
            base = self._load(self._at(args, first + position, self.pointer), self.pointer)
            outer = (position,) if len(results) > 1 else ()
            for word, field in enumerate(fields):
                self._store(self._part(value, outer, field), self._at(base, word, self.word))

    def _part(self, value: ir.Value, outer: tuple[int, ...], field: _Field) -> ir.Value:
        path = (*outer, *field.place)
        if not path:
            return value
        if not field.place:
            kind = self.results[path[0]]
        else:
            kind = self.pointer if field.place[0] < 2 else self.word
        return self._create("llvm.extractvalue", kind, [value], {"position": ir.DenseI64ArrayAttr.get(path)})

    def _at(self, base: ir.Value, index: int, element: ir.Type) -> ir.Value:
        if not index:
            return base
        attributes = {
            "elem_type": ir.TypeAttr.get(element),
            "rawConstantIndices": ir.DenseI32ArrayAttr.get([index]),
        }
        return self._create("llvm.getelementptr", self.pointer, [base], attributes)

    def _load(self, place: ir.Value, kind: ir.Type) -> ir.Value:
        return self._create("llvm.load", kind, [place], {"ordering": self._ordering})

    def _store(self, value: ir.Value, place: ir.Value) -> None:
        ir.Operation.create("llvm.store", operands=[value, place], attributes={"ordering": self._ordering})

    def _create(
        self, name: str, kind: ir.Type, operands: list[ir.Value], attributes: dict[str, ir.Attribute]
    ) -> ir.Value:
        return ir.Operation.create(name, results=[kind], operands=operands, attributes=attributes).results[0]


# LLVM dialect types as text: the bindings do not take structs and function types apart. Inside "!llvm.func<…>" and
# "!llvm.struct<…>" the nested LLVM types print without their prefix ("ptr", "struct<(…)>").


def result_types(function: str) -> list[str]:
    """``!llvm.func<struct<(i64, f32)> (ptr)>`` to ``["i64", "f32"]``: the fields of a result that is a struct."""
    inner = function.removeprefix("!llvm.func<")
    if not inner.startswith("struct<("):
        return []
    depth = 0
    for position, character in enumerate(inner):
        depth += (character in "<(") - (character in ">)")
        if character == ">" and not depth:
            return [_spell(kind) for kind in split_list(inner[len("struct<(") : position - 1])]
    raise ValueError(f"not a function type: {function}")


def split_list(text: str) -> list[str]:
    """A comma-separated list of types, commas inside brackets aside."""
    parts: list[str] = []
    depth = start = 0
    for position, character in enumerate(text):
        if character in "<([{":
            depth += 1
        elif character in ">)]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _spell(kind: str) -> str:
    prefixed = kind.startswith(("ptr", "struct", "array", "vec"))
    return f"!llvm.{kind}" if prefixed else kind
