"""The search in the sandbox: both modules run with each step recorded, on the same calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.calls import Call, Checks
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.trace import Traced, values
from kc.agents.gates.diverging.ask import shortened
from kc.agents.gates.diverging.repair import Repair, constants_of
from kc.agents.gates.diverging.search import Found, Mender, Search
from kc.agents.gates.diverging.streams import Observed, Pool
from kc.agents.gates.diverging.structure import Changes, Op, Text
from kc.errors import KcError

if TYPE_CHECKING:
    from kc.bindings import ir

#: difference of results that counts as rounding, where rounding is free
_ROUNDED = 1e-4


@dataclasses.dataclass(frozen=True)
class Side:
    """A module, and the calls that are made of it; the last one shows the difference."""

    text: str
    level: str
    calls: tuple[Call, ...]
    checks: Checks


def find(
    original: Side, proposal: Side, result: int, index: tuple[int, ...], rounded: bool, zero_sign: bool
) -> Iterator[Any]:
    """A task of the sandbox: ``(name, line, column, text, what happened there)`` of the op, or None."""
    yield _find(original, proposal, result, index, rounded, zero_sign)


def _find(
    original: Side, proposal: Side, result: int, index: tuple[int, ...], rounded: bool, zero_sign: bool
) -> tuple[str, int, int, str, str] | None:
    try:
        changes = Changes.of(Text(_parsed(original.text)), Text(_parsed(proposal.text)))
        theirs, mine = observe(original), observe(proposal)
    except (ExecutionError, KcError):
        return None
    streams = [(theirs.stream(node), theirs.nodes[node].element) for node in range(len(theirs.nodes))]
    streams += [_given([call.arguments[k] for call in original.calls]) for k in range(len(original.calls[0].arguments))]
    constants = {
        element: values(np.array(bits, np.uint64), element).tolist()
        for element, bits in constants_of(theirs.nodes).items()
    }
    pool = Pool(streams, rounded, zero_sign, constants)
    call = len(proposal.calls) - 1
    mender = _mender(theirs, mine, proposal, rounded)
    found = Search(theirs, mine, pool, changes, call, mender).run(starts(mine, call, result, index))
    return None if found is None else told(found, mine, call, proposal.text.splitlines())


def _parsed(text: str) -> ir.Module:
    from kc.context import make_context, parse_module

    return parse_module(text, make_context(), "module")


def observe(side: Side) -> Observed:
    """Run a module with its steps recorded. Raises ExecutionError where it cannot be run so."""
    module, level, signature = _parsed(side.text), side.level, None
    if level == "gpu":
        from kc.agents.execution.grid.recording import record

        return Observed(*record(module, side.calls, side.checks))
    if level == "stablehlo":
        from kc.agents.execution.signature import Signature
        from kc.pipelines import linalg, stablehlo
        from kc.pipelines.run import run_phases

        signature = Signature.of(module, side.checks.roles)
        run_phases(module, [*stablehlo.PHASES, linalg.CLEAN_UP])
        level = "linalg"
    traced = Traced(module, level, side.checks, signature)
    return Observed(traced.nodes, traced.returned, [traced.call(call) for call in side.calls], traced)


def _mender(theirs: Observed, mine: Observed, proposal: Side, rounded: bool) -> Mender | None:
    wants = [run.outcome.results for run in theirs.runs]
    if mine.traced is None or not all(wants):
        return None
    rounding = _ROUNDED if rounded else 0.0
    repair = Repair(mine.traced, proposal.calls, wants, rounding, constants_of(theirs.nodes))

    def mend(nodes: Sequence[int]) -> int | None:
        patch = repair.find(nodes)
        return None if patch is None else patch.node

    return mend


def _given(arrays: Sequence[np.ndarray]) -> tuple[list[np.ndarray], str]:
    """An argument as a stream: its loads are values that the original has, too."""
    with np.errstate(all="ignore"):
        parts = [a.reshape(-1) for a in arrays]
        if parts[0].dtype.kind in "iu":
            return [p.astype(np.int64) for p in parts], ""
        if parts[0].dtype == np.bool_:
            return parts, "i1"
        if parts[0].dtype.kind == "c":
            parts = [p.view(f"f{p.dtype.itemsize // 2}") for p in parts]
        names = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}
        name = names.get(parts[0].dtype.name, "f32")
        return [p.astype(np.float64) for p in parts], name


def starts(seen: Observed, call: int, result: int, index: tuple[int, ...]) -> list[int]:
    """The nodes that produced an element of a result."""
    run = seen.runs[call]
    if result >= len(run.writers):
        return []
    writers = run.writers[result]
    if writers is None:
        return list(seen.returned[result]) if result < len(seen.returned) else []
    place = index[: writers.ndim]
    event = int(writers[place]) if len(place) == writers.ndim else -1
    if event >= 0 and run.nodes[event] >= 0:
        return [int(run.nodes[event])]
    # nobody wrote it: whoever wrote other elements left it out
    others = {int(run.nodes[e]) for e in np.unique(writers[writers >= 0]) if run.nodes[e] >= 0}
    return sorted(others) or [number for number, node in enumerate(seen.nodes) if node.stores]


def told(found: Found, seen: Observed, call: int, lines: Sequence[str]) -> tuple[str, int, int, str, str] | None:
    """What is handed back of an op; ``lines``: of the text in which it stands."""
    op: Op | None = found.op
    node = seen.nodes[found.node] if found.node is not None else None
    if op is None and node is None:
        return None
    name, place = (op.name, op.place) if op is not None else (node.op, node.place)  # type: ignore[union-attr]
    text = shortened(lines[place[0] - 1]) if 0 < place[0] <= len(lines) else name
    return name, *place, text, _happened(found, seen, call)


def _happened(found: Found, seen: Observed, call: int) -> str:
    """The value at which an op departed, and the iteration of the loops around it."""
    if found.node is None or found.event < 0 or found.value is None:
        return ""
    words = f"gives {found.value}"
    by = seen.runs[call].who
    if by is not None:
        lane = by(found.event)
        return words + (f" in block {lane[0]}, thread {lane[1]}" if len(lane) > 1 else "")
    node = seen.nodes[found.node]
    around = [n for n in sorted({*node.sources, *node.control}) if seen.nodes[n].op in ("scf.for", "scf.parallel")]
    numbers = []
    for loop in around:
        times = seen.times[call].get(loop)
        before = np.searchsorted(times, found.event) - 1 if times is not None else -1
        if before >= 0:
            numbers.append(int(seen.values[call][loop][before]))
    return words + (f" in iteration ({', '.join(map(str, numbers))})" if numbers else "")
