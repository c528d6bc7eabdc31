"""``kc bisect``: the phase, the pass and the op that first break a program."""
from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc.errors import InputError
from kc.tools.commands import _common, _debug

if TYPE_CHECKING:
    from kc.agents.debug.bisect import Culprit
    from kc.agents.debug.narrow import Narrowed
    from kc.agents.debug.trace import Leg
    from kc.targets.base import Target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    _common.add_source(parser)
    _common.add_target(parser)
    road = "follow this pipeline instead of the target's road"
    parser.add_argument("--pass-pipeline", metavar="PIPELINE", help=road)
    insert = "run passes of your own at a point of the road: before:PHASE=PASS,… or after:PHASE=PASS,…"
    parser.add_argument("--insert", action="append", default=[], metavar="POINT=PASSES", help=insert)
    _debug.add_passes(parser)
    _debug.add_inputs(parser)
    expect = "results to compare with (.npz, or .npy for one) instead of those of the source's oracle"
    parser.add_argument("--expect", metavar="FILE", help=expect)
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="limit of a pass or run: 60 s")
    parser.add_argument("--budget", type=float, default=300.0, metavar="S", help="limit of finding the op: 300 s")
    parser.add_argument("--no-reduce", action="store_true", help="name the pass only")
    parser.add_argument("-o", "--output", metavar="DIR", help="write the module before the pass, and the smallest one")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")


def run(args: argparse.Namespace) -> int:
    """Search, and say what was found; exit code 1 when nothing is wrong."""
    from kc import frontends
    from kc.agents.debug.bisect import Bisection
    from kc.targets import get_target

    target = get_target(args.target)
    loaded = frontends.load(_common.read_source(args.source), args.entry)
    _as_main(loaded.module, args.entry)
    legs = _road(args, target, loaded.level)
    _debug.check_pipeline(legs[0].pipeline, args.load_pass)
    for leg in legs[1:]:
        _debug.check_pipeline(leg.pipeline, ())
    from kc.agents.debug import params

    inputs = _debug.inputs_of(loaded.module, args)
    buffer = io.BytesIO()
    loaded.module.operation.write_bytecode(buffer)
    say = _quiet if args.quiet else _say
    search = Bisection(
        buffer.getvalue(), legs, [inputs], _here(args, target),
        None if args.expect is None else [_common.load_arrays([args.expect])],
        _debug.tolerance(args), args.load_pass, args.timeout, say, params.of(loaded.module.context),
    )  # fmt: skip
    culprit = search.run()
    if culprit is None:
        print(f"nothing is wrong with {args.source}: it comes out as its oracle says")
        return 1
    for line in _told(culprit, legs):
        print(line)
    narrowed = None if args.no_reduce else _narrowed(args, culprit, inputs, search, say)
    if args.output:
        _save(args.output, culprit, narrowed, inputs)
    return 0


def _as_main(module: Any, entry: str) -> None:
    """Give the entry function the name that oracles look for."""
    if entry == "main":
        return
    from kc.agents.regions.extract import rename
    from kc.bindings import ir

    names = {entry: "main", "main": "main_"}
    rename(module.operation, names)
    for op in module.body.operations:
        operation = op.operation
        if "sym_name" in operation.attributes:
            name = ir.StringAttr(operation.attributes["sym_name"]).value
            if name in names:
                operation.attributes["sym_name"] = ir.StringAttr.get(names[name], module.context)


def _road(args: argparse.Namespace, target: Target, level: str) -> list[Leg]:
    from kc.agents.debug.trace import Leg
    from kc.pipelines.roads import road

    if args.pass_pipeline:
        if args.insert:
            raise InputError("--insert is for the target's road, not for a --pass-pipeline")
        return [Leg("pipeline", args.pass_pipeline)]
    phases = road(target, level)
    before: dict[str, list[Leg]] = {}
    names = [phase.name for phase in phases]
    for text in args.insert:
        point, _, passes = text.partition("=")
        when, _, name = point.partition(":")
        if when not in ("before", "after") or name not in names or not passes:
            wants = f"before:PHASE=PASSES or after:PHASE=PASSES, PHASE one of {', '.join(names)}"
            raise InputError(f"--insert {text}: wants {wants}")
        phase = phases[names.index(name)]
        stands = phase.start if when == "before" else phase.end
        pipeline = passes if passes.startswith("builtin.module(") else f"builtin.module({passes})"
        before.setdefault(point, []).append(Leg(point, pipeline, stands, stands))
    legs: list[Leg] = []
    for phase in phases:
        legs += before.get(f"before:{phase.name}", [])
        legs.append(Leg(phase.name, phase.text({}), phase.start, phase.end))
        legs += before.get(f"after:{phase.name}", [])
    return legs


def _here(args: argparse.Namespace, target: Target) -> str | None:
    """The target when this machine can run what is generated for it."""
    return args.target if target.name == "cpu" and getattr(target, "is_host", False) else None


def _told(culprit: Culprit, legs: list[Leg]) -> list[str]:
    """What was found, line by line."""
    kinds = {
        "wrong": "wrong results", "crash": "native code crashed", "hang": "took too long", "memory": "out of memory",
        "failed": "a pass failed", "raised": "a pass raised by mistake", "invalid": "IR that does not verify",
        "level": "the phase leaves what is illegal at its level", "generation": "code generation failed",
        "run": "the program fails when it runs",
    }  # fmt: skip
    first, *more = culprit.message.splitlines() or [""]
    lines = [f"fault:  {kinds.get(culprit.kind, culprit.kind)}: {first}", *(f"        {line}" for line in more)]
    if culprit.phase is None:
        lines.append(f"phase:  none: right after {legs[-1].name}, the last one")
    else:
        levels = f" ({culprit.phase.start} -> {culprit.phase.end})" if culprit.phase.start else ""
        lines.append(f"phase:  {culprit.phase.name}{levels}")
    if len(culprit.steps) == 1:
        step = culprit.steps[0]
        lines += [f"pass:   {step.text} on {step.where}", f"alone:  kc-opt --pass-pipeline='{step.pipeline}'"]
    elif culprit.steps:
        lines.append(f"pass:   one of these {len(culprit.steps)}, between which no oracle runs the module:")
        lines += [f"        {step.text} on {step.where}" for step in culprit.steps]
    elif culprit.kind == "level":
        lines.append("pass:   none of the phase takes the op away")
    if culprit.op:
        lines.append(f"op:     {culprit.op}{f' at {culprit.place}' if culprit.place else ''}")
    return lines


def _narrowed(args: argparse.Namespace, culprit: Culprit, inputs: list[Any], search: Any, say: Any) -> Narrowed | None:
    """Find the op, and print it with the smallest module."""
    from kc.agents.debug.narrow import narrow

    if culprit.phase is None or (len(culprit.steps) != 1 and culprit.kind != "level"):
        return None
    say("shrinking the module before it")
    found = narrow(
        culprit, inputs, search.trace.params, load=args.load_pass, seconds=args.timeout, budget=args.budget,
        tolerance=_debug.tolerance(args),
    )  # fmt: skip
    if found is None:
        print("op:     cannot be told: the fault does not show in the module before the pass by itself")
        return None
    if not culprit.op:
        for name, place in found.ops[:4]:
            print(f"op:     {name} at {place}")
        if len(found.ops) > 4:
            print(f"        and {len(found.ops) - 4} more")
    from kc.agents.debug.reduction.rewriting import without_locations

    print(f"before: ({found.trials} trials)\n{_indented(without_locations(found.case).text)}")
    if found.after is not None and culprit.kind == "wrong":
        print(f"after:\n{_indented(found.after)}")
    return found


def _indented(text: str, most: int = 60) -> str:
    lines = text.rstrip().splitlines()
    more = [f"… {len(lines) - most} more lines: see --output, --budget"] if len(lines) > most else []
    return "\n".join(f"    {line}" for line in [*lines[:most], *more])


def _save(folder: str, culprit: Culprit, narrowed: Narrowed | None, inputs: list[Any]) -> None:
    """Write ``before.mlir`` (a reproducer for ``kc-opt --run-reproducer``), ``smallest.mlir``, and inputs of both."""
    from kc.reproducer import reproducer_text

    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror}") from None
    target = Path(folder)
    if culprit.before and (culprit.steps or culprit.phase):
        pipeline = culprit.steps[0].pipeline if len(culprit.steps) == 1 else culprit.phase.pipeline  # type: ignore[union-attr]
        _common.write(str(target / "before.mlir"), reproducer_text(culprit.before, pipeline, culprit.message))
    _debug.save_inputs(str(target / "inputs.npz"), inputs)
    if narrowed is not None:
        _common.write(str(target / "smallest.mlir"), narrowed.case.text)
        if narrowed.case.inputs is not None:
            _debug.save_inputs(str(target / "smallest.npz"), narrowed.case.inputs)


def _say(words: str) -> None:
    print(f"bisect: {words}", file=sys.stderr)


def _quiet(words: str) -> None:
    """Say nothing."""
