"""The op: what is left when the module before a faulty pass is shrunk as long as the pass still breaks it."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kc.agents.debug import params as parameters
from kc.agents.debug.bisect import Culprit
from kc.agents.debug.compare import Tolerance
from kc.agents.debug.reduction import predicates
from kc.agents.debug.reduction.case import PLAIN, Case, parse, show
from kc.agents.debug.reduction.search import Progress, Reduction
from kc.agents.debug.trace import Leg, follow
from kc.diagnostics import location_of
from kc.rewrite import walk_ops


@dataclasses.dataclass(frozen=True)
class Narrowed:
    """The smallest module that the pass still breaks; ``ops`` are those left in it, as (name, place in the source)."""

    case: Case
    ops: tuple[tuple[str, str], ...]
    #: what the pass makes of it; None where it comes to no end
    after: str | None
    trials: int


def narrow(
    culprit: Culprit, inputs: Sequence[Any], params: parameters.Params, *, load: Sequence[str] = (),
    seconds: float = 30.0, budget: float = 300.0, tolerance: Tolerance | None = None, progress: Progress | None = None,
) -> Narrowed | None:
    """Shrink the module before the culprit; None when the fault does not show in the module by itself."""
    from kc.agents.debug.oracle import complete, parameter_numbers
    from kc.context import make_context, parse_module

    if not culprit.before or (not culprit.steps and culprit.failure is None):
        return None
    module = parse_module(culprit.before, make_context(allow_unregistered=True), "module")
    legs = _legs(culprit)
    given = None
    if culprit.failure is None:
        given = tuple(complete(inputs, parameter_numbers(module), parameters.arrays(params)))
        _parameters_become_inputs(module)
    case = Case(show(module), given)
    predicate: Any
    if culprit.kind == "hang":
        seconds = min(seconds, 5.0)  # a pass that hangs on a large module hangs on a small one; it must be found often
    if culprit.failure is not None:
        level = culprit.failure.kind == "level"
        predicate = predicates.SameFailure(legs, culprit.failure, load=load, seconds=seconds, check_levels=level)
    else:
        predicate = predicates.StillWrong(legs, load=load, seconds=seconds, tolerance=tolerance)
    if not predicate(case):
        return None
    reduced = Reduction(case, predicate, seconds=budget, progress=progress, locations=True).run()
    left = parse(reduced.case.text)
    ops = [(op.name, str(location_of(op))) for op in walk_ops(left.operation) if op.name not in PLAIN]
    made = follow(reduced.case.text.encode(), legs, load=load, seconds=seconds, wall=3 * seconds, check_levels=False)
    try:
        after = None if made.failure is not None else _text(made.snapshot(len(made.steps)))
    finally:
        made.close()
    return Narrowed(reduced.case, tuple(ops), after, reduced.trials)


def _parameters_become_inputs(module: Any) -> None:
    """Take off what says that arguments of ``@main`` are parameters: in a small module all are inputs."""
    from kc.agents.execution.signature import argument_attributes, main_of
    from kc.bindings import ir
    from kc.params import ATTRIBUTE

    main = main_of(module)
    entries = argument_attributes(main, len(main.regions[0].blocks[0].arguments))
    if any(ATTRIBUTE in entry for entry in entries):
        with module.context:
            kept = [{name: a for name, a in entry.items() if name != ATTRIBUTE} for entry in entries]
            main.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in kept])


def _legs(culprit: Culprit) -> list[Leg]:
    """What to run: the pass (or passes), or the whole phase when its level is at issue."""
    if culprit.failure is not None and culprit.failure.kind == "level":
        assert culprit.phase is not None
        return [culprit.phase]
    # the run of a pass on one function among many: in a smaller module it may be run on each
    return [Leg(step.text, step.pipeline) for step in {step.text: step for step in culprit.steps}.values()]


def _text(module: bytes) -> str:
    from kc.context import make_context, parse_module

    return show(parse_module(module, make_context(allow_unregistered=True), "module"), locations=False)
