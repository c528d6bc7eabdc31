"""``kc-emit-entry-points``: one C function per public function, callable through an array of pointers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import functions as functions_of

if TYPE_CHECKING:
    from kc.pass_base import PassContext

PREFIX = "kc_entry_"


@dataclasses.dataclass(frozen=True)
class EmitEntryPoints(Pass):
    """For each function with a C interface, ``void kc_entry_f(void **args)``, which the runtime calls.

    ``args`` holds a pointer per argument, then one per result: to the memref descriptor, or to the scalar itself.
    Result descriptors are written by the callee. ::

        llvm.func @_mlir_ciface_f(%result: !llvm.ptr, %x: !llvm.ptr, %n: i64)

    gets ::

        llvm.func @kc_entry_f(%args: !llvm.ptr) {
          %x = llvm.load %args[0]
          %n = llvm.load (llvm.load %args[1])
          %result = llvm.load %args[2]
          llvm.call @_mlir_ciface_f(%result, %x, %n)
    """

    name: ClassVar[str] = "kc-emit-entry-points"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "llvm"
    dialects: ClassVar[tuple[str, ...]] = ("llvm",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        functions = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in functions_of(op, "llvm.func")}
        body = op.regions[0].blocks[0]
        for name, function in functions.items():
            wrapper = functions.get(f"_mlir_ciface_{name}")
            if wrapper is None or not len(function.regions[0].blocks):
                continue
            if PREFIX + name in functions:
                ctx.error(
                    function, f"'@{PREFIX}{name}' exists already; that name is kept for the entry point of '@{name}'"
                )
            text = _entry(name, str(_type(function)), str(_type(wrapper)))
            module = ir.Module.parse(text, op.context)
            for made in functions_of(module.operation, "llvm.func"):
                if ir.StringAttr(made.attributes["sym_name"]).value == PREFIX + name:
                    body.append(made.clone())
            # Only the entry points are called from outside: LLVM may inline and drop the rest.
            for hidden in (function, wrapper):
                hidden.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")


def _type(function: ir.Operation) -> ir.Type:
    return ir.TypeAttr(function.attributes["function_type"]).value


def _entry(name: str, function: str, wrapper: str) -> str:
    """The text of a module that declares the wrapper and defines the entry point."""
    result, arguments = split_function(wrapper)
    function_result, _ = split_function(function)
    lines: list[str] = []
    fresh = 0

    def value(line: str) -> str:
        nonlocal fresh
        fresh += 1
        lines.append(f"    %{fresh} = {line}")
        return f"%{fresh}"

    def pointer(position: int) -> str:
        place = value(f"llvm.getelementptr %args[{position}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr")
        return value(f"llvm.load {place} : !llvm.ptr -> !llvm.ptr")

    indirect = result == "void" and function_result != "void"  # results through a pointer, the wrapper's first argument
    inputs = arguments[1:] if indirect else arguments
    operands = []
    for position, kind in enumerate(inputs):
        place = pointer(position)
        operands.append(place if kind == "ptr" else value(f"llvm.load {place} : !llvm.ptr -> {_spell(kind)}"))
    kinds = ", ".join(_spell(kind) for kind in arguments)
    pieces = struct_fields(function_result) if indirect and not is_descriptor(function_result) else []
    if indirect and not pieces:  # one memref: the caller's descriptor is the result itself
        operands.insert(0, pointer(len(inputs)))
    elif indirect:
        one = value("llvm.mlir.constant(1 : i64) : i64")
        storage = value(f"llvm.alloca %{one[1:]} x {_spell(function_result)} : (i64) -> !llvm.ptr")
        operands.insert(0, storage)
    if result == "void":
        lines.append(f"    llvm.call @_mlir_ciface_{name}({', '.join(operands)}) : ({kinds}) -> ()")
    else:
        returned = value(f"llvm.call @_mlir_ciface_{name}({', '.join(operands)}) : ({kinds}) -> {_spell(result)}")
        lines.append(f"    llvm.store {returned}, {pointer(len(inputs))} : {_spell(result)}, !llvm.ptr")
    if pieces:
        whole = value(f"llvm.load {storage} : !llvm.ptr -> {_spell(function_result)}")
        for position, kind in enumerate(pieces):
            part = value(f"llvm.extractvalue {whole}[{position}] : {_spell(function_result)}")
            lines.append(f"    llvm.store {part}, {pointer(len(inputs) + position)} : {_spell(kind)}, !llvm.ptr")
    body = "\n".join(lines)
    returns = "" if result == "void" else f" -> {_spell(result)}"
    return (
        f"llvm.func @_mlir_ciface_{name}({kinds}){returns}\n"
        f"llvm.func @{PREFIX}{name}(%args: !llvm.ptr) {{\n{body}\n    llvm.return\n}}\n"
    )


# LLVM dialect types as text: the bindings do not take structs and function types apart. Inside "!llvm.func<…>" and
# "!llvm.struct<…>" the nested LLVM types print without their prefix ("ptr", "struct<(…)>").


def split_function(text: str) -> tuple[str, list[str]]:
    """``!llvm.func<void (ptr, i64)>`` to ``("void", ["ptr", "i64"])``."""
    inner = text.removeprefix("!llvm.func<").removesuffix(">")
    depth = 0
    for position, character in enumerate(inner):
        if character in "<(" and not (character == "(" and depth == 0):
            depth += 1
        elif character in ">)" and depth:
            depth -= 1
        elif character == "(" and depth == 0:
            return inner[:position].strip(), split_list(inner[position + 1 : inner.rindex(")")])
    raise ValueError(f"not a function type: {text}")


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


def struct_fields(text: str) -> list[str]:
    """``struct<(ptr, i64)>`` to ``["ptr", "i64"]``."""
    return split_list(text[text.index("(") + 1 : text.rindex(")")])


def is_descriptor(text: str) -> bool:
    """Whether the struct type is one memref's descriptor and not a struct of several results."""
    return struct_fields(text)[0] == "ptr"


def _spell(kind: str) -> str:
    prefixed = kind.startswith(("ptr", "struct", "array", "vec"))
    return f"!llvm.{kind}" if prefixed else kind
