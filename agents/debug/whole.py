"""The program as it really runs: code generation and kc's runtime, in a process of its own.

``python -m kc.agents.debug.whole`` reads a pickled request from stdin and writes a pickled answer to stdout. Code
generation starts processes, so that this is no task for a sandbox.
"""
from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from kc.agents import children
from kc.agents.debug.params import Params


def run(
    module: bytes, params: Params, target: str, inputs: Sequence[Any], *, seconds: float = 120.0,
    load: Sequence[str] = (),
) -> tuple[str, Any]:
    """Generate code for a module at the llvm level and call its ``@main``: ``("results", arrays)``.

    Otherwise what went wrong and where: ``("generation", words)`` or ``("run", words)``.
    """
    request = pickle.dumps((module, params, target, list(inputs), list(load)))
    process = children.start(
        [sys.executable, "-m", "kc.agents.debug.whole"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )  # fmt: skip
    try:
        out, errors = process.communicate(request, seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, errors = process.communicate()
        return _stage(out), f"hang: took longer than {seconds:g} s"
    if process.returncode < 0:
        return _stage(out), f"crash: died of {signal.Signals(-process.returncode).name}"
    answers = _answers(out)
    if answers and answers[-1][0] != "stage":
        return answers[-1]
    return _stage(out), f"exit code {process.returncode}: {errors.decode(errors='replace')[-1000:]}"


def _answers(out: bytes) -> list[tuple[str, Any]]:
    import io

    stream, found = io.BytesIO(out), []
    while True:
        try:
            found.append(pickle.load(stream))
        except (EOFError, pickle.UnpicklingError):
            return found


def _stage(out: bytes) -> str:
    stages = [value for kind, value in _answers(out) if kind == "stage"]
    return str(stages[-1]) if stages else "generation"


def main() -> None:
    """The other side of ``run``."""
    from kc.agents.debug import params as parameters
    from kc.context import make_context, parse_module
    from kc.errors import KcError
    from kc.registry import load_pass_file
    from kc.runtime import Program
    from kc.runtime.errors import ArgumentError, RuntimeFailure
    from kc.targets import get_target

    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what others print does not belong among the answers

    def say(kind: str, value: Any) -> None:
        pickle.dump((kind, value), stream)
        stream.flush()

    module, params, target, inputs, load = pickle.load(sys.stdin.buffer)
    say("stage", "generation")
    try:
        for path in load:
            load_pass_file(path)
        context = make_context()
        parsed = parse_module(module, context, "module")
        parameters.restore(context, params)
        manifest, files = get_target(target).generate(parsed, {})
        say("stage", "run")
        results = Program.from_manifest(manifest, files).run("main", *inputs)
        say("results", list(results))
    except (ArgumentError, RuntimeFailure) as error:
        say("run", str(error))
    except KcError as error:
        say("generation", str(error))


if __name__ == "__main__":
    main()
