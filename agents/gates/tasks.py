"""What happens inside of a sandbox: reading modules, static gates, runs. Each task is a generator of plain data."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kc.agents.gates.reasons import Rejection

if TYPE_CHECKING:
    from kc.agents.execution import Call, Checks
    from kc.agents.gates.case import Case
    from kc.bindings import ir


def _context() -> ir.Context:
    from kc.context import make_context

    global _warm_context
    if _warm_context is None:
        _warm_context = make_context()
    return _warm_context


_warm_context: ir.Context | None = None


def static_gates() -> list[tuple[str, Callable[[Case], Rejection | None]]]:
    """The gates that look at a parsed proposal without running it, in order."""
    from kc.agents.gates import aliasing, assumptions, level, race, resource, signature

    return [
        ("level", level.check),
        ("signature", signature.check),
        ("assumptions", assumptions.check),
        ("resource", resource.check),
        ("aliasing", aliasing.check),
        ("race", race.check),
    ]


def read_original(text: str) -> Iterator[Any]:
    """``("reading", Reading)`` of the original, or ``("bad", why)``."""
    from kc.agents.gates.case import main_of
    from kc.agents.gates.naming import named
    from kc.agents.gates.parse import parse
    from kc.agents.gates.reading import read
    from kc.errors import KcError

    module = parse(text, _context())
    if isinstance(module, Rejection):
        yield "bad", module.message
        return
    main = main_of(module)
    if main is None:
        yield "bad", "it has no public function @main with a body"
        return
    try:
        yield "reading", named(read(module), main)
    except KcError as error:
        yield "bad", str(error)


def inspect(
    original_text: str, text: str, level: str, same_level: bool, assumes: tuple[str, ...], guard: str | None, ours: bool
) -> Iterator[Any]:
    """Static gates over a proposal: ``("passed", gate, seconds)`` each, then ``("reading", Reading)`` or Rejection."""
    from kc.agents.contract import Contract
    from kc.agents.gates.case import Case, main_of
    from kc.agents.gates.parse import parse
    from kc.agents.gates.reading import read
    from kc.errors import KcError

    original = parse(original_text, _context())
    assert not isinstance(original, Rejection)
    main = main_of(original)
    assert main is not None
    start = time.perf_counter()
    proposal = parse(text, _context())
    if isinstance(proposal, Rejection):
        yield proposal
        return
    yield "passed", "parse", time.perf_counter() - start
    yield "passed", "verify", 0.0
    case = Case(original, proposal, level, Contract.of(main), assumes, guard, same_level, ours)
    for name, gate in static_gates():
        start = time.perf_counter()
        found = gate(case)
        if found is not None:
            yield found
            return
        yield "passed", name, time.perf_counter() - start
    try:
        yield "reading", read(proposal)
    except KcError as error:
        yield Rejection("resource.unsupported", str(error))


def execute(
    text: str,
    level: str,
    calls: Sequence[Call],
    checks: Checks,
    target: str,
    retyped: bool,
    inbox: Iterator[Sequence[Call]] | None = None,
) -> Iterator[Any]:
    """The outcome of each call in order, then of those that come in; ``retyped``: of the module in f64 (``oracle``)."""
    from kc.agents.execution import run

    if retyped:
        from kc.agents.gates.oracle import retype

        text = retype(text, _context())
    yield "compiling"
    asked = itertools.chain(calls, itertools.chain.from_iterable(inbox or ()))
    yield from run(text, level, _Lazy(asked), target=target, checks=checks)


class _Lazy(Sequence["Call"]):
    """Calls that are known one after the other."""

    def __init__(self, calls: Iterator[Call]):
        self._calls = calls

    def __iter__(self) -> Iterator[Call]:
        return self._calls

    def __getitem__(self, index: Any) -> Any:
        raise IndexError("calls come one after the other")

    def __len__(self) -> int:
        raise TypeError("how many calls will come is not known")
