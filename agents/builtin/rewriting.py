"""Applying rules that a person wrote to one region: passes and rewrites in Python files, patterns in PDL files.

The agent ``patterns`` does it in a sandbox (``task``), since MLIR's bindings let a mistake in a rule end the process:
of ``{"ir", "rules", "skip", "contract"}`` it makes ``{"ir", "fired", "assumes"}``.

What a rule needs and the original did not (``reassoc`` …) is said by the rule: ``assumes = ("reassoc",)`` in a
``kc.Pass``, ``function.assumes = (...)`` on a function under ``@kc.rewrite``, ``attributes {kc.assumes = ["reassoc"]}``
on a ``pdl.pattern``. PDL may apply the native constraints of ``CONSTRAINTS``.
"""
from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc.agents.contract import Contract
from kc.errors import InputError, KcError

if TYPE_CHECKING:
    from kc.bindings import ir

#: a rule may wake another, so all are tried again until none fires, at most so often
ROUNDS = 10


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule: ``apply`` changes a module in place."""

    name: str
    assumes: tuple[str, ...]
    apply: Callable[[ir.Module], None]


def load_rules(paths: Sequence[str], context: ir.Context) -> list[Rule]:
    """The rules in the files, in order; raises InputError that names the file at fault."""
    rules: list[Rule] = []
    for path in paths:
        if path.endswith(".py"):
            rules += _python_rules(path)
        elif path.endswith(".mlir"):
            rules += _pdl_rules(path, context)
        else:
            raise InputError(f"'{path}' is neither a .py file with passes nor a .mlir file with PDL patterns")
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two rules are named '{name}' (files {', '.join(paths)})")
    return rules


def apply_rules(
    text: str, paths: Sequence[str], *, granted: Callable[[str], bool], skip: Collection[str] = ()
) -> tuple[str, list[Rule]]:
    """The region's text after all rules whose assumptions are granted, and the rules that changed it.

    Raises InputError when a rule leaves an invalid module, and KcError or what the rule raises when it fails.
    """
    from kc.context import make_context, parse_module

    context = make_context()
    module = parse_module(text, context)
    rules = [r for r in load_rules(paths, context) if r.name not in skip and all(map(granted, r.assumes))]
    fired: dict[str, Rule] = {}
    before = str(module)
    for _ in range(ROUNDS):
        start = before
        for rule in rules:
            rule.apply(module)
            after = str(module)
            if after != before:
                fired[rule.name] = rule
                _check(module, rule)
            before = after
        if before == start:
            break
    return before, list(fired.values())


def _check(module: ir.Module, rule: Rule) -> None:
    from kc.context import verify

    try:
        verify(module, f"region after rule '{rule.name}'")
    except KcError as error:
        raise InputError(f"rule '{rule.name}' left an invalid module: {error}") from None


# --------------------------------------------------------------------------------------------------------- Python


def _python_rules(path: str) -> list[Rule]:
    from kc.registry import find_pass, load_pass_file

    rules = []
    for name in load_pass_file(path):
        cls = find_pass(name)
        module = sys.modules[cls.__module__] if cls else None
        functions = [f for f in vars(module).values() if getattr(f, "pass_class", None) is cls]
        assumes = getattr(functions[0] if functions else cls, "assumes", ())
        rules.append(Rule(name, tuple(assumes), lambda top, name=name, cls=cls: _run(top, name, cls)))  # type: ignore[misc]
    return rules


def _run(module: ir.Module, name: str, cls: Any) -> None:
    from kc.pass_manager import run_pipeline

    text = name if cls.anchor in ("any", "builtin.module") else f"{cls.anchor}({name})"
    run_pipeline(module, f"builtin.module({text})")


# ------------------------------------------------------------------------------------------------------------ PDL


def _pdl_rules(path: str, context: ir.Context) -> list[Rule]:
    """One rule per ``pdl.pattern``; a file that has none but is in ``pdl_interp`` form is one rule."""
    from kc.bindings import ir
    from kc.context import load_all_dialects, parse_module
    from kc.rewrite import walk_ops

    try:
        source = Path(path).read_text()
    except OSError as error:
        raise InputError(f"cannot read rules from '{path}': {error.strerror}") from None
    load_all_dialects(context)  # PDL ends the process when it makes an op of a dialect that is not loaded
    file = parse_module(source, context, path)
    for op in walk_ops(file, ("pdl.apply_native_constraint", "pdl_interp.apply_constraint")):
        name = ir.StringAttr(op.attributes["name"]).value
        if name not in CONSTRAINTS:
            raise InputError(f"{path}: no native constraint '{name}'; there are {', '.join(CONSTRAINTS)}")
    for op in walk_ops(file, ("pdl.apply_native_rewrite", "pdl_interp.apply_rewrite")):
        raise InputError(f"{path}: '{op.name}' calls a function; a rule that needs one is written in Python")
    patterns = walk_ops(file, "pdl.pattern")
    if not patterns:
        if not walk_ops(file, "pdl_interp.func"):
            raise InputError(f"'{path}' holds no pdl.pattern")
        return [Rule(Path(path).stem, (), lambda top: _apply_pdl(top, source))]
    rules = []
    for op in patterns:
        if "sym_name" not in op.attributes:
            raise InputError(f"{path}: {op.location}: a pdl.pattern needs a name: pdl.pattern @name")
        name = ir.StringAttr(op.attributes["sym_name"]).value
        assumes: tuple[str, ...] = ()
        if "kc.assumes" in op.attributes:
            assumes = tuple(ir.StringAttr(a).value for a in ir.ArrayAttr(op.attributes["kc.assumes"]))
        alone = f"module {{\n{op.get_asm(print_generic_op_form=True)}\n}}"
        rules.append(Rule(name, assumes, lambda top, alone=alone: _apply_pdl(top, alone)))  # type: ignore[misc]
    return rules


def _apply_pdl(module: ir.Module, pattern: str) -> None:
    from kc.bindings import rewrite as raw
    from kc.context import parse_module
    from kc.rewrite import walk_ops

    held = parse_module(pattern, module.context)  # PDLModule does not keep it: freed, its patterns match nothing
    native = raw.PDLModule(held)
    for name, function in CONSTRAINTS.items():
        native.register_constraint_function(name, _adapt(function))
    config = raw.GreedyRewriteConfig()
    config.enable_folding = config.enable_constant_cse = False
    config.region_simplification_level = raw.GreedySimplifyRegionLevel.DISABLED
    config.max_num_rewrites = 2_000 + 20 * len(walk_ops(module))
    raw.apply_patterns_and_fold_greedily(module.operation, native.freeze(), config)


def _adapt(function: Callable[..., bool]) -> Callable[[Any, Any, Any], bool]:
    return lambda rewriter, results, values: not function(*values)  # true means failure, as of a pattern


def _element(value: Any) -> str:
    kind = value.type if hasattr(value, "type") else value
    return str(getattr(kind, "element_type", kind))


def _one_use(value: Any) -> bool:
    return len(list(value.uses)) == 1


def _is_float(value: Any) -> bool:
    return _element(value).startswith(("f", "bf"))


def _is_integer(value: Any) -> bool:
    return _element(value).lstrip("su").startswith("i")


def _static_shape(value: Any) -> bool:
    kind = value.type if hasattr(value, "type") else value
    return bool(getattr(kind, "has_static_shape", True))


#: native constraints that PDL may apply to a value (or a type): name -> whether it holds
CONSTRAINTS: dict[str, Callable[..., bool]] = {
    "one_use": _one_use, "is_float": _is_float, "is_integer": _is_integer, "static_shape": _static_shape,
}


def task(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the sandbox runs; see the module's docstring."""
    granted = Contract.from_json(request["contract"]).grants
    text, fired = apply_rules(request["ir"], request["rules"], granted=granted, skip=request["skip"])
    assumes = sorted({name for rule in fired for name in rule.assumes})
    yield {"ir": text, "fired": [rule.name for rule in fired], "assumes": assumes}
