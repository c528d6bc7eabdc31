"""Edits over ops, functions, results, arguments and attributes."""
from __future__ import annotations

from collections.abc import Collection

from kc.agents.debug.reduction.case import Case, Draft, Edit, parse, symbol
from kc.agents.debug.reduction.values import stand_in
from kc.bindings import ir
from kc.rewrite import walk_ops

_STRUCTURE = frozenset({"func.func", "llvm.func", "gpu.func", "builtin.module", "gpu.module"})
_CONSTANTS = frozenset({"arith.constant", "stablehlo.constant", "llvm.mlir.constant", "complex.constant"})


# ------------------------------------------------------------------------------------------- ops


def removable(module: ir.Module) -> list[ir.Operation]:
    """The ops that may be removed by themselves, in order: no terminators, no functions, no constants in use."""
    found = []
    for op in walk_ops(module.operation):
        if op.name in _STRUCTURE or _is_terminator(op):
            continue
        if op.name in _CONSTANTS and any(True for result in op.results for _ in result.uses):
            continue
        found.append(op)
    return found


def count_ops(case: Case) -> int:
    """How many ops ``removable`` finds."""
    return len(removable(parse(case.text)))


def without_ops(numbers: Collection[int], mode: str) -> Edit:
    """Remove the ops of these numbers (see ``removable``); their results are replaced, ``mode`` first."""

    def edit(draft: Draft) -> bool:
        ops = removable(draft.module)
        chosen = [ops[number] for number in sorted(numbers, reverse=True) if number < len(ops)]
        for op in chosen:
            _remove(draft, op, mode)
        _sweep(draft)
        return bool(chosen)

    return edit


def _remove(draft: Draft, op: ir.Operation, mode: str) -> None:
    for result in op.results:
        if any(True for _ in result.uses):
            result.replace_all_uses_with(stand_in(draft, op, result, mode))
    op.erase()


def _sweep(draft: Draft) -> None:
    """Remove constants and empty tensors that nothing uses."""
    for op in reversed(walk_ops(draft.module.operation, (*_CONSTANTS, "tensor.empty"))):
        if not any(True for result in op.results for _ in result.uses):
            op.erase()


def _is_terminator(op: ir.Operation) -> bool:
    block = op.block
    last = block.operations[len(block.operations) - 1].operation
    return op == last and (op.name.rpartition(".")[2] in _TERMINATORS or not len(op.results))


_TERMINATORS = frozenset({"return", "yield", "condition", "br", "cond_br", "switch", "terminator", "unreachable"})


def unwrapped(number: int) -> Edit:
    """Put the body of op ``number`` (an ``scf.if``, a loop, a case) in its place, its block's arguments replaced."""

    def edit(draft: Draft) -> bool:
        ops = removable(draft.module)
        if number >= len(ops):
            return False
        op = ops[number]
        regions = [r for r in op.regions if len(r.blocks) == 1]
        if not regions or op.name.startswith("linalg."):
            return False
        block = regions[-1].blocks[0] if op.name == "scf.while" else regions[0].blocks[0]
        for argument in block.arguments:
            if any(True for _ in argument.uses):
                argument.replace_all_uses_with(stand_in(draft, op, argument, "operand"))
        *body, end = [inner.operation for inner in block.operations]
        for inner in body:
            inner.move_before(op)
        yielded = list(end.operands)
        for result in op.results:
            if any(True for _ in result.uses):
                same = [v for v in yielded if v.type == result.type]
                result.replace_all_uses_with(same[0] if same else stand_in(draft, op, result, "operand"))
        op.erase()
        return True

    return edit


# ------------------------------------------------------------------------------------------- functions


def count_functions(case: Case) -> int:
    """How many functions beside ``@main`` there are, declarations too."""
    return len(_others(parse(case.text)))


def without_functions(numbers: Collection[int], mode: str) -> Edit:
    """Remove functions (numbered as ``count_functions`` counts them) and every call of them."""

    def edit(draft: Draft) -> bool:
        others = _others(draft.module)
        gone = {symbol(others[number]) for number in numbers if number < len(others)}
        for op in reversed(walk_ops(draft.module.operation)):
            if op.name in _STRUCTURE:
                continue
            if any(_names(op.attributes[name]) & gone for name in op.attributes):
                _remove(draft, op, mode)
        for function in _others(draft.module):
            if symbol(function) in gone:
                function.erase()
        return bool(gone)

    return edit


def _others(module: ir.Module) -> list[ir.Operation]:
    ops = [op.operation for op in module.body.operations]
    named = [op for op in ops if symbol(op) and symbol(op) != "main"]
    return named if any(symbol(op) == "main" for op in ops) or len(named) > 1 else []


def _names(attribute: ir.Attribute) -> set[str]:
    if isinstance(attribute, ir.FlatSymbolRefAttr):
        return {attribute.value}
    if isinstance(attribute, ir.SymbolRefAttr):
        return {attribute.value[0]}
    if isinstance(attribute, ir.ArrayAttr):
        return {name for item in attribute for name in _names(item)}
    return set()


# ------------------------------------------------------------------------------------------- signature of @main


def without_results(numbers: Collection[int]) -> Edit:
    """Return less from ``@main``."""

    def edit(draft: Draft) -> bool:
        main = draft.main()
        if main is None or main.name != "func.func" or _is_called(draft, symbol(main)):
            return False
        kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        kept = [n for n in range(len(kind.results)) if n not in numbers]
        if len(kept) == len(kind.results):
            return False
        for op in walk_ops(main, "func.return"):
            with ir.InsertionPoint(op), op.location:
                ir.Operation.create("func.return", operands=[op.operands[n] for n in kept])
            op.erase()
        _retype(main, list(kind.inputs), [kind.results[n] for n in kept])
        _keep(main, "res_attrs", kept)
        return True

    return edit


def count_results(case: Case) -> int:
    """The results of ``@main``."""
    main = Draft(parse(case.text), None).main()
    return 0 if main is None else len(ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).results)


def without_unused_arguments() -> Edit:
    """Drop the arguments of ``@main`` that nothing uses, and their inputs."""

    def edit(draft: Draft) -> bool:
        main = draft.main()
        if main is None or main.name != "func.func" or _is_called(draft, symbol(main)):
            return False
        block = main.regions[0].blocks[0]
        kept = [n for n, a in enumerate(block.arguments) if any(True for _ in a.uses)]
        count = len(block.arguments)
        if len(kept) == count:
            return False
        kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        for number in reversed(range(count)):
            if number not in kept:
                block.erase_argument(number)
        _retype(main, [kind.inputs[n] for n in kept], list(kind.results))
        _keep(main, "arg_attrs", kept)
        if draft.inputs is not None:
            draft.inputs[:] = [draft.inputs[n] for n in kept]
        return True

    return edit


def _is_called(draft: Draft, name: str) -> bool:
    return any(name in _names(op.attributes["callee"]) for op in walk_ops(draft.module.operation, "func.call"))


def _retype(function: ir.Operation, inputs: list[ir.Type], results: list[ir.Type]) -> None:
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))


def _keep(function: ir.Operation, name: str, kept: list[int]) -> None:
    if name in function.attributes:
        given = list(ir.ArrayAttr(function.attributes[name]))
        function.attributes[name] = ir.ArrayAttr.get([given[n] for n in kept])


# ------------------------------------------------------------------------------------------- attributes


def count_attributes(case: Case) -> int:
    """The attributes that an op need not have (those with a dot in their name, and of ``@main``'s arguments)."""
    return len(_discardable(parse(case.text)))


def without_attributes(numbers: Collection[int]) -> Edit:
    """Drop attributes, numbered as ``count_attributes`` counts them."""

    def edit(draft: Draft) -> bool:
        found = _discardable(draft.module)
        for number in numbers:
            if number < len(found):
                op, name = found[number]
                del op.attributes[name]
        return bool(numbers)

    return edit


def _discardable(module: ir.Module) -> list[tuple[ir.Operation, str]]:
    found = []
    for op in [module.operation, *walk_ops(module.operation)]:
        for name in op.attributes:
            if "." in name or name in ("arg_attrs", "res_attrs"):
                found.append((op, name))
    return found
