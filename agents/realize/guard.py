"""``guard``: a proposal that takes over only where sizes obey its conditions; elsewhere the region goes on as it was.

The region's function becomes one that asks, and calls either its own old code or the proposal's. The question is IR of
the region's level: ``stablehlo.if``, or ``scf.if`` on tensors or buffers.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

from kc.agents.facts import Fact, parse_fact
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.region import Signature, Source, parse_source

if TYPE_CHECKING:
    from kc.bindings import ir

_PREDICATES = {"==": "eq", "!=": "ne", "<=": "sle", ">=": "sge", "<": "slt", ">": "sgt"}
_COMPARE = {"==": "EQ", "!=": "NE", "<=": "LE", ">=": "GE", "<": "LT", ">": "GT"}


def conditions(guard: str) -> list[Fact]:
    """The conditions of a guard. Raises RealizeError for one that is not about sizes."""
    found = []
    for part in (part.strip() for part in guard.replace("&&", " and ").split(" and ")):
        fact = parse_fact(part)
        if fact.form != "divides" and fact.form not in _PREDICATES:
            raise RealizeError(
                "assumptions", "assumptions.guard", f"guard '{part}' is no condition on sizes ('M % 8 == 0')"
            )
        found.append(fact)
    return found


def guarded(region: Source, realized: Realized, guard: str, level: str) -> Realized:
    """``realized`` with the module that takes the region's place: it asks first.

    Raises RealizeError for a guard that names unknown dimensions, and at levels where no question can be asked.
    """
    signature = Signature.of(region.function)
    facts = conditions(guard)
    for fact in facts:
        for name in fact.dims:
            if name not in signature.sizes:
                have = ", ".join(signature.sizes) or "none"
                raise RealizeError(
                    "assumptions", "assumptions.guard", f"guard: no dimension is named '{name}'; there are {have}"
                )
    if level not in ("stablehlo", "linalg", "loops"):
        raise RealizeError(
            "assumptions", "assumptions.guard", f"a guard is for levels stablehlo, linalg and loops, not '{level}'"
        )
    if level == "loops" and realized.answer is not None:
        raise RealizeError("assumptions", "assumptions.guard", "at level 'loops' a guard is for IR of that level only")
    ask = _stablehlo if level == "stablehlo" else _structured
    text = ask(
        signature, facts, [str(v.type) for v in region.function.regions[0].blocks[0].arguments], _results(region)
    )
    return dataclasses.replace(realized, guarded=_module(region, realized, text))


def _results(region: Source) -> list[str]:
    from kc.bindings import ir

    kind = ir.FunctionType(ir.TypeAttr(region.function.attributes["function_type"]).value)
    return [str(type_) for type_ in kind.results]


def _module(region: Source, realized: Realized, asking: str) -> str:
    """The text of a module with ``@main``, which asks, ``@original`` and ``@answer``."""
    from kc.answers import ANSWER
    from kc.bindings import ir

    context = region.module.context
    question = ir.Module.parse(asking, context)
    _take(parse_source(str(region.module)), "original", question, region)
    if realized.answer is None:
        _take(parse_source(realized.ir, "the proposal"), "answer", question, region)
    else:
        function = _take(parse_source(str(region.module)), "answer", question, region)
        with context:
            function.attributes[ANSWER] = ir.StringAttr.get(realized.answer)
            if "kc.kernel" not in function.attributes:
                function.attributes["no_inline"] = ir.UnitAttr.get()
    # the declarations that the question needed
    for op in [view.operation for view in question.body.operations]:
        if op.name == "func.func" and not len(op.regions[0].blocks):
            op.erase()
    if not question.operation.verify():
        raise RealizeError("verify", "verify.guard", "the guarded region does not verify")
    return str(question)


def _take(source: Source, name: str, into: ir.Module, region: Source) -> ir.Operation:
    """Move the functions of ``source`` into a module, its ``@main`` under ``name``; returns that."""
    from kc.answers import names_of
    from kc.bindings import ir

    module = source.module.operation
    for old, op in names_of(module).items():
        new = name if old == "main" else f"{name}__{old}"
        ir.SymbolTable.replace_all_symbol_uses(old, new, module)
        ir.SymbolTable.set_symbol_name(op, new)
    moved = ir.Module.parse(str(source.module), into.context)
    with into.context:
        for op in [view.operation for view in moved.body.operations]:
            op.attributes["sym_visibility"] = ir.StringAttr.get("private")
            op.detach_from_parent()
            into.body.append(op)
    for op in [view.operation for view in into.body.operations]:
        same = "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value == name
        if same and op.name == "func.func" and len(op.regions[0].blocks):
            found = op
            break
    with into.context:
        for key in ("arg_attrs", "res_attrs", "kc.allow", "kc.facts", "kc.sizes"):
            if key in found.attributes:
                del found.attributes[key]
        for key in ("kc.kernel", "kc.kind"):
            if key in region.function.attributes:
                found.attributes[key] = region.function.attributes[key]
        if "kc.kind" in region.function.attributes:
            found.attributes["kc.kernel"] = ir.UnitAttr.get()
    return found


def _header(types: list[str], results: list[str]) -> tuple[str, str, str]:
    """Parameters, operands and the type of a function with these types."""
    parameters = ", ".join(f"%a{n}: {t}" for n, t in enumerate(types))
    operands = ", ".join(f"%a{n}" for n in range(len(types)))
    return parameters, operands, f"({', '.join(types)}) -> ({', '.join(results)})"


def _declarations(types: list[str], results: list[str]) -> str:
    kind = f"({', '.join(types)}) -> ({', '.join(results)})"
    return f"func.func private @original_{kind}\nfunc.func private @answer_{kind}".replace("_(", "(")


def _line(lines: list[str], text: str) -> str:
    """Add an op to ``lines``; the name of its result."""
    lines.append(f"%c{len(lines)} = {text}")
    return f"%c{len(lines) - 1}"


def _structured(signature: Signature, facts: list[Fact], types: list[str], results: list[str]) -> str:
    """The question in index arithmetic and ``scf.if``."""
    lines: list[str] = []
    line = functools.partial(_line, lines)

    def size(name: str) -> str:
        if name.lstrip("-").isdigit():
            return line(f"arith.constant {name} : index")
        argument, axis = signature.sizes[name]
        kind = types[argument]
        place = line(f"arith.constant {axis} : index")
        return line(f"{'memref' if kind.startswith('memref') else 'tensor'}.dim %a{argument}, {place} : {kind}")

    holds = line("arith.constant true")
    for fact in facts:
        left, right = size(fact.left), size(fact.right)
        predicate = "eq" if fact.form == "divides" else _PREDICATES[fact.form]
        if fact.form == "divides":
            left, right = line(f"arith.remui {left}, {right} : index"), size(str(fact.number))
        one = line(f"arith.cmpi {predicate}, {left}, {right} : index")
        holds = line(f"arith.andi {holds}, {one} : i1")
    parameters, operands, kind = _header(types, results)
    if not results:
        calls = [f"{{ func.call @{name}({operands}) : {kind} }}" for name in ("answer", "original")]
        branches = f"scf.if {holds} {calls[0]} else {calls[1]}"
        end = "return"
    else:
        tied = ", ".join(results)
        got = f"%r:{len(results)}" if len(results) > 1 else "%r"
        names = ", ".join(f"%r#{n}" for n in range(len(results))) if len(results) > 1 else "%r"

        def branch(name: str) -> str:
            return f"{{ {got} = func.call @{name}({operands}) : {kind} scf.yield {names} : {tied} }}"

        branches = f"{got} = scf.if {holds} -> ({tied}) {branch('answer')} else {branch('original')}"
        end = f"return {names} : {tied}"
    arrow = f" -> ({', '.join(results)})" if results else ""
    body = "\n  ".join([*lines, branches, end])
    return f"{_declarations(types, results)}\nfunc.func @main({parameters}){arrow} {{\n  {body}\n}}"


def _stablehlo(signature: Signature, facts: list[Fact], types: list[str], results: list[str]) -> str:
    """The question in StableHLO."""
    lines: list[str] = []
    line = functools.partial(_line, lines)

    def size(name: str) -> str:
        if name.lstrip("-").isdigit():
            return line(f"stablehlo.constant dense<{name}> : tensor<i32>")
        argument, axis = signature.sizes[name]
        return line(f"stablehlo.get_dimension_size %a{argument}, dim = {axis} : ({types[argument]}) -> tensor<i32>")

    holds = line("stablehlo.constant dense<true> : tensor<i1>")
    for fact in facts:
        left, right = size(fact.left), size(fact.right)
        predicate = "EQ" if fact.form == "divides" else _COMPARE[fact.form]
        if fact.form == "divides":
            left, right = line(f"stablehlo.remainder {left}, {right} : tensor<i32>"), size(str(fact.number))
        one = line(f"stablehlo.compare {predicate}, {left}, {right} : (tensor<i32>, tensor<i32>) -> tensor<i1>")
        holds = line(f"stablehlo.and {holds}, {one} : tensor<i1>")
    parameters, operands, kind = _header(types, results)
    got = f"%r:{len(results)}" if len(results) > 1 else "%r"
    names = ", ".join(f"%r#{n}" for n in range(len(results))) if len(results) > 1 else "%r"
    tied = ", ".join(results)

    def branch(name: str) -> str:
        return f"{{ {got} = func.call @{name}({operands}) : {kind} stablehlo.return {names} : {tied} }}"

    lines.append(
        f'{got} = "stablehlo.if"({holds}) ({branch("answer")}, {branch("original")}) : (tensor<i1>) -> ({tied})'
    )
    body = "\n  ".join([*lines, f"return {names} : {tied}"])
    return f"{_declarations(types, results)}\nfunc.func @main({parameters}) -> ({tied}) {{\n  {body}\n}}"
