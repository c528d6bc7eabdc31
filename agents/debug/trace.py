"""Following a program down its road: what ran, what changed, and where it came to an end."""
from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc.agents.debug import params as parameters
from kc.instrumentation import Instrumentation
from kc.temporary import Folder

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.instrumentation import PassEvent


@dataclasses.dataclass(frozen=True)
class Leg:
    """A phase as plain data; ``start`` and ``end`` are levels, None where a pipeline of the user's has none."""

    name: str
    pipeline: str
    start: str | None = None
    end: str | None = None


@dataclasses.dataclass(frozen=True)
class Step:
    """One run of one pass: its place in the road (from 0), its phase, its text, and the op that it ran on."""

    number: int
    leg: int
    text: str
    #: ``func.func @main``
    where: str
    #: a pipeline that runs just this pass at its place
    pipeline: str


@dataclasses.dataclass(frozen=True)
class Failure:
    """Why the road ended early. ``kind``: ``crash``, ``hang``, ``memory``, ``failed`` (a pass said so), ``raised`` (a
    bug in a Python pass), ``invalid`` (IR that does not verify), ``level`` (what the phase leaves is illegal there)."""

    kind: str
    message: str
    leg: int
    #: the pass that ran; None of ``level``
    step: int | None = None
    #: the op that the first diagnostic is at: name, and place in the source
    op: str = ""
    place: str = ""

    @property
    def sort(self) -> tuple[str, str]:
        """What makes two failures the same: the kind, and the message without names and numbers of one module."""
        return self.kind, "" if self.kind in ("crash", "hang", "memory") else _shape_of(self.message)


class Trace:
    """A road that was followed. ``snapshot(n)`` is the module before step ``n``; ``len(steps)`` after the last one."""

    def __init__(self, legs: Sequence[Leg], start: bytes):
        self.legs = list(legs)
        self.steps: list[Step] = []
        self.failure: Failure | None = None
        self.params: parameters.Params = {}
        #: step -> whether it changed the module
        self.changed: dict[int, bool] = {}
        self._folder = Folder("trace")
        self._stored = {0: self._store(0, start)}

    def _store(self, number: int, data: bytes) -> Path:
        path = Path(self._folder.name) / f"{number}.mlirbc"
        path.write_bytes(data)
        return path

    def put(self, step: int, data: bytes) -> None:
        """Keep the module as step ``step`` left it."""
        self._stored[step + 1] = self._store(step + 1, data)

    def snapshot(self, number: int) -> bytes:
        """The module (bytecode) before step ``number``."""
        newest = max(n for n in self._stored if n <= number)
        return self._stored[newest].read_bytes()

    def ends(self) -> list[int]:
        """For each phase that came to its end, the number of the first step behind it."""
        finished = len(self.legs) if self.failure is None else self.failure.leg
        return [sum(step.leg <= leg for step in self.steps) for leg in range(finished)]

    def close(self) -> None:
        """Remove the snapshots."""
        self._folder.cleanup()


def follow(
    module: bytes, legs: Sequence[Leg], *, load: Sequence[str] = (), params: parameters.Params | None = None,
    seconds: float = 60.0, wall: float = 3600.0, check_levels: bool = True,
) -> Trace:
    """Run ``legs`` one after the other in a sandbox.

    ``seconds``: CPU time of one pass, ``wall``: time of everything. ``load``: files of passes.
    """
    from kc.agents.gates import sandbox

    trace = Trace(legs, module)
    trace.params = dict(params or {})
    limits = sandbox.Limits(memory=16 << 30, step=seconds, wall=wall)
    plain = [dataclasses.astuple(leg) for leg in legs]
    task = "kc.agents.debug.trace:task"
    job = sandbox.start(task, module, plain, list(load), trace.params, check_levels, limits=limits)
    running, leg = None, 0
    for kind, *told in job:
        if kind == "phase":
            leg = told[0]
        elif kind == "before":
            running = Step(len(trace.steps), leg, *told)
            trace.steps.append(running)
        elif kind == "after":
            assert running is not None
            trace.changed[running.number] = told[0] is not None
            if told[0] is not None:
                trace.put(running.number, told[0])
            running = None
        elif kind == "params":
            trace.params.update(told[0])
        elif kind == "failed":
            trace.failure = Failure(told[0], told[1], leg, None if running is None else running.number, *told[2:])
    end = job.end
    assert end is not None
    if trace.failure is None and end.kind != "ok":
        if end.kind == "error" and running is None:
            raise sandbox.SandboxError(f"the road could not be followed: {end.message}\n{(end.error or ('',) * 3)[2]}")
        kind = {"time": "hang", "memory": "memory"}.get(end.kind, "crash")
        trace.failure = Failure(kind, end.message, leg, None if running is None else running.number)
    return trace


# ------------------------------------------------------------------------------------------- in the sandbox


def task(
    module: bytes, legs: Sequence[tuple[Any, ...]], load: Sequence[str], params: parameters.Params, check_levels: bool
) -> Iterator[tuple[Any, ...]]:
    """See ``follow``: the messages are ``phase``, ``before``, ``after``, ``params``, ``failed``."""
    import queue
    import threading

    from kc.context import make_context, parse_module
    from kc.registry import load_pass_file

    for path in load:
        load_pass_file(path)
    context = make_context()
    parsed = parse_module(module, context, "module")
    parameters.restore(context, params)
    messages: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
    sent = threading.Semaphore(0)
    raised: list[BaseException] = []

    def say(message: tuple[Any, ...]) -> None:
        messages.put(message)
        sent.acquire()  # what runs next may crash the process: the message must be out by then

    def work() -> None:  # passes call back; a generator cannot yield from there
        try:
            _follow(parsed, [Leg(*leg) for leg in legs], check_levels, say)
        except BaseException as error:
            raised.append(error)
        finally:
            messages.put(None)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while (message := messages.get()) is not None:
        yield message
        sent.release()
    if raised:
        raise raised[0]


def _follow(module: ir.Module, legs: Sequence[Leg], check_levels: bool, say: Any) -> None:
    from kc.errors import CompileError, KcError, LevelError
    from kc.levels import verify_level
    from kc.pass_manager import PassManager

    watcher = _Watcher(say)
    known = 0
    for number, leg in enumerate(legs):
        say(("phase", number))
        try:
            manager = PassManager.parse(leg.pipeline, module.context)
            manager.run(module, instrumentations=[watcher], verify="each")
            if check_levels and leg.end is not None:
                verify_level(module, leg.end)
        except KcError as error:
            kind = "level" if isinstance(error, LevelError) else "failed"
            if isinstance(error, CompileError) and error.is_bug:
                kind = "raised"
            elif "does not verify" in error.message or _is_verifier(error):
                kind = "invalid"
            first = error.diagnostics[0].message.partition("\n")[0] if error.diagnostics else ""
            message = error.message if first in error.message else f"{error.message}: {first}"
            say(("failed", kind, message, *_place(error)))
            return
        table = parameters.of(module.context)
        if len(table) > known:
            say(("params", {n: value for n, value in table.items() if n >= known}))
            known = len(table)


def _is_verifier(error: Any) -> bool:
    """Whether a native pass was fine and MLIR's verifier behind it was not."""
    return any(d.message.startswith("'") and " op " in d.message and "failed to legalize" not in d.message
               for d in error.diagnostics[:1])  # fmt: skip


def _place(error: Any) -> tuple[str, str]:
    """(name of the op, place) of an error's first diagnostic, as far as it tells."""
    import re

    if not error.diagnostics:
        return "", ""
    first = error.diagnostics[0]
    match = re.search(r"'([a-z_]\w*\.[\w.]+)'", first.message)
    return match[1] if match else "", str(first.location) if first.location else ""


class _Watcher(Instrumentation):
    """Tells before and after each pass, and hands out the module when the pass changed it."""

    def __init__(self, say: Any):
        self._say = say
        self._last: bytes | None = None

    def before_pass(self, event: PassEvent) -> None:
        if self._last is None:
            self._last = _bytes(event.root)
        symbol = str(event.op.attributes["sym_name"]).strip('"') if "sym_name" in event.op.attributes else ""
        self._say(("before", event.leaf.text, event.op.name + (f" @{symbol}" if symbol else ""), event.pipeline()))

    def after_pass(self, event: PassEvent) -> None:
        now = _bytes(event.root)
        self._say(("after", None if now == self._last else now))
        self._last = now


def _bytes(op: ir.Operation) -> bytes:
    buffer = io.BytesIO()
    op.write_bytecode(buffer)
    return buffer.getvalue()


def _shape_of(message: str) -> str:
    """A message's first line without quoted names, types and numbers."""
    import re

    line = message.partition("\n")[0]
    return re.sub(r"'[^']*'|<[^>]*>|%\w+|@\w+|\d+", "·", line)

