"""Whether a case still fails: told by a command, by how a pipeline fails on it, or by what a pipeline makes of it."""
from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kc.agents import children
from kc.agents.debug import trace
from kc.agents.debug.compare import Tolerance, difference
from kc.agents.debug.oracle import INTERPRETER
from kc.agents.debug.reduction.case import Case
from kc.agents.debug.trace import Failure, Leg
from kc.agents.gates import sandbox
from kc.temporary import Folder


class Command:
    """A shell command that ends with 0 while the case still fails.

    ``{}`` in it is the path of the module, which is appended where there is none; ``$KC_INPUTS`` is an ``.npz`` file of
    the inputs where there are some. Each trial has a folder of its own, and everything the command started is killed
    when it ends or ``seconds`` have passed (which counts as not failing).
    """

    def __init__(self, command: str, seconds: float = 60.0):
        self.command, self.seconds = command, seconds

    def __call__(self, case: Case) -> bool:
        import numpy

        with Folder("reduce") as folder:
            path = Path(folder) / "case.mlir"
            path.write_text(case.text)
            environment = {**os.environ, "TMPDIR": folder}
            if case.inputs is not None:
                environment["KC_INPUTS"] = str(Path(folder) / "inputs.npz")
                numpy.savez(environment["KC_INPUTS"], **{f"arg{n}": a for n, a in enumerate(case.inputs)})
            quoted = shlex.quote(str(path))
            line = self.command.replace("{}", quoted) if "{}" in self.command else f"{self.command} {quoted}"
            return run_command(line, environment, self.seconds) == 0


def run_command(line: str, environment: dict[str, str], seconds: float) -> int | None:
    """The exit code of a shell command; None when it took longer than ``seconds``. Leaves no process behind."""
    process = children.start(
        ["/bin/sh", "-c", line], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    handle = os.pidfd_open(process.pid)
    try:
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        ended = bool(poller.poll(seconds * 1000))
    finally:
        os.close(handle)
        with contextlib.suppress(ProcessLookupError):  # before it is waited for: until then the number is its own
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    return code if ended else None


class SameFailure:
    """The pipeline fails on the case as it does on the original: same kind, same message but for names."""

    def __init__(
        self, legs: Sequence[Leg], failure: Failure, *, load: Sequence[str] = (), seconds: float = 30.0,
        check_levels: bool = False,
    ):
        self.legs, self.failure, self.load, self.seconds = list(legs), failure, list(load), seconds
        self.check_levels = check_levels

    def __call__(self, case: Case) -> bool:
        found = failure_of(case, self.legs, self.load, self.seconds, self.check_levels)
        return found is not None and found.sort == self.failure.sort and self._same_op(found)

    def _same_op(self, found: Failure) -> bool:
        return not self.failure.op or found.op == self.failure.op


def failure_of(
    case: Case, legs: Sequence[Leg], load: Sequence[str], seconds: float, check_levels: bool = False
) -> Failure | None:
    """How ``legs`` fail on a case; None when they do not."""
    data = case.text.encode()
    followed = trace.follow(data, legs, load=load, seconds=seconds, wall=3 * seconds, check_levels=check_levels)
    followed.close()
    return followed.failure


class StillWrong:
    """What the pipeline makes of the case computes something else than the case (told by oracles)."""

    def __init__(
        self, legs: Sequence[Leg], *, load: Sequence[str] = (), seconds: float = 30.0,
        tolerance: Tolerance | None = None,
    ):
        self.legs, self.load, self.seconds = list(legs), list(load), seconds
        self.tolerance = tolerance

    def __call__(self, case: Case) -> bool:
        return wrong_by(case, self.legs, self.load, self.seconds, self.tolerance) is not None


def wrong_by(
    case: Case, legs: Sequence[Leg], load: Sequence[str] = (), seconds: float = 30.0,
    tolerance: Tolerance | None = None,
) -> dict[str, Any] | None:
    """The difference (see ``compare``) between a case and what ``legs`` make of it; None when there is none."""
    assert case.inputs is not None
    limits = sandbox.Limits(memory=8 << 30, step=seconds, wall=3 * seconds + 10)
    arguments = (case.text, list(case.inputs), [leg.pipeline for leg in legs], list(load), seconds)
    told, end = sandbox.call("kc.agents.debug.reduction.predicates:before_and_after", *arguments, limits=limits)
    interpreted = sum(message[0] == INTERPRETER for message in told)
    told = [message for message in told if message[0] != INTERPRETER]
    if not told or told[0][0] != "results" or (len(told) == 1 and end.kind in ("ok", "error")):
        return None
    if len(told) == 1 and interpreted > 1:
        return None  # the interpreter's own end
    if len(told) == 1 or told[1][0] == "fault":  # what the pipeline made ended the process, or itself
        message = end.message if len(told) == 1 else str(told[1][1])
        return {"result": None, "index": [], "got": None, "want": None, "message": message}
    return difference(told[1][1], told[0][1], tolerance) if told[1][0] == "results" else None


def before_and_after(
    text: str, inputs: Sequence[Any], pipelines: Sequence[str], load: Sequence[str], seconds: float
) -> Iterator[tuple[str, Any]]:
    """For a sandbox: the oracle's answers for a module, and for what the pipelines make of it. One process for both."""
    from kc.agents.debug import oracle, params
    from kc.context import make_context, parse_module
    from kc.pass_manager import run_pipeline
    from kc.registry import load_pass_file

    yield from oracle.task(text, {}, [inputs], seconds)
    for path in load:
        load_pass_file(path)
    context = make_context()
    module = parse_module(text, context, "module")
    for pipeline in pipelines:
        run_pipeline(module, pipeline)
    made = str(module.operation.get_asm())
    yield from oracle.task(made, params.of(context), [inputs], seconds, text)


def ask(
    module: str | bytes, inputs: Sequence[Any], seconds: float, params: Any = None, like: bytes | None = None
) -> tuple[str, Any]:
    """The oracle's answer: ``results``, ``unknown`` or ``fault`` with what belongs to it."""
    data = module.encode() if isinstance(module, str) else module
    limits = sandbox.Limits(memory=8 << 30, step=seconds + 10, wall=10 * seconds + 60)
    arguments = (data, params or {}, [list(inputs)], seconds, like)
    messages, end = sandbox.call("kc.agents.debug.oracle:task", *arguments, limits=limits)
    answers = [message for message in messages if message[0] != INTERPRETER]
    if answers:
        return tuple(answers[0])  # type: ignore[return-value]
    ended = "fault" if end.kind != "error" and len(messages) == len(answers) else "unknown"
    return ended, f"{end.kind}: {end.message}"

