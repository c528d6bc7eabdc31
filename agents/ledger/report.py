"""A ledger in words, for people: why each region is what it is."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kc.agents.ledger.diff import Change, newest, text_diff
from kc.agents.ledger.lines import Attempt, Region
from kc.agents.ledger.stale import why_stale

_INDENT = "  "


def headline(attempt: Attempt) -> str:
    """``@kernel_0 (linalg, contraction, cpu)``."""
    facts = [attempt.level, attempt.kind, attempt.target]
    return f"@{attempt.name} ({', '.join(fact for fact in facts if fact)})"


def answer(attempt: Attempt) -> str:
    """What was proposed, in a few words: ``schedule {tile = [8, 8]}``, ``cuda source of 40 lines``."""
    proposal = attempt.proposal
    if proposal is None:
        return "nothing"
    words = str(proposal.get("kind", "?"))
    if proposal.get("knobs"):
        words += " {" + ", ".join(f"{k} = {v}" for k, v in proposal["knobs"].items()) + "}"
    if proposal.get("library"):
        words += f" {proposal['library']}"
    if proposal.get("parameters"):
        words += " {" + ", ".join(f"{k} = {v}" for k, v in proposal["parameters"].items()) + "}"
    for key in ("ir", "source", "script"):
        if proposal.get(key):
            level = f" at {proposal['level']}" if key == "ir" and proposal.get("level") else ""
            words += f"{level} ({_count(str(proposal[key]).splitlines(), 'line')})"
    if proposal.get("assumes"):
        words += f", assuming {', '.join(proposal['assumes'])}"
    if proposal.get("guard"):
        words += f", where {proposal['guard']}"
    return words


def timing(verdict: dict[str, Any] | None) -> str | None:
    """``12.0 µs → 8.0 µs (1.50x, 95 % 1.45…1.55), roofline 2.0 µs``; None when nothing was timed."""
    figures = (verdict or {}).get("timing") or {}
    if figures.get("original_us") is None or figures.get("proposal_us") is None:
        return None
    words = f"{_digits(figures['original_us'])} µs → {_digits(figures['proposal_us'])} µs"
    inside = []
    if figures.get("speedup") is not None:
        inside.append(f"{figures['speedup']:.3g}x")
    if figures.get("interval"):
        low, high = figures["interval"][:2]
        inside.append(f"95 % {low:.3g}…{high:.3g}")
    if inside:
        words += f" ({', '.join(inside)})"
    if figures.get("roofline_us") is not None:
        words += f", roofline {_digits(figures['roofline_us'])} µs"
    return words


def explain(history: Sequence[Attempt], region: Region | None = None, *, ir: bool = False) -> Iterator[str]:
    """Lines that say why one region is what it is. ``history``: all its attempts, oldest first, at least one."""
    last = history[-1]
    settled = newest(history)
    settling = next((a for a in reversed(settled) if a.outcome == "accepted"), settled[-1] if settled else None)
    yield f"{headline(settling or last)}  region {last.identity[:12]}"
    if region is not None:
        yield from facts(region)
    if settling is None:
        yield f"{_INDENT}stays as the compiler has it: none of {_count(history, 'proposal')} was accepted"
    elif settling.outcome == "stopped":
        yield f"{_INDENT}stays as the compiler has it: {_who(settling)} was asked no further: {ended(settling)}"
    elif settling.outcome == "declined":
        tried = sum(a.outcome == "rejected" for a in history)
        why = "had no proposal" if not tried else f"had no further proposal after {tried} rejected"
        yield f"{_INDENT}stays as the compiler has it: {_who(settling)} {why}"
    else:
        yield f"{_INDENT}is {answer(settling)}, by {_who(settling)} at {settling.at}, {settling.time[:19]} UTC"
        yield from _verdict(settling)
    if settling is not None and why_stale(settling):
        yield f"{_INDENT}stale: {why_stale(settling)}"
    if ir and settling is not None and settling.proposal is not None:
        for key in ("ir", "source", "script"):
            if settling.proposal.get(key):
                yield from (f"{_INDENT * 2}| {line}" for line in str(settling.proposal[key]).splitlines())
    others = [a for a in history if a is not settling and a.outcome in ("accepted", "rejected")]
    if others:
        yield f"{_INDENT}besides, {_count(others, 'proposal')}:"
    for attempt in others:
        yield f"{_INDENT * 2}{answer(attempt)}, by {_who(attempt)}: {outcome(attempt)}"


def outcome(attempt: Attempt) -> str:
    """``accepted``, or the reason's code, its message and the witness."""
    verdict = attempt.verdict or {}
    if attempt.outcome == "accepted":
        shown = timing(verdict)
        return f"accepted{f', {shown}' if shown else ''}"
    if attempt.outcome == "declined":
        return "no proposal"
    if attempt.outcome == "stopped":
        return f"asked no further, {ended(attempt)}"
    return f"rejected, {verdict.get('reason', '?')}: {verdict.get('message', '')}".rstrip(": ")


def ended(attempt: Attempt) -> str:
    """Why an agent was not asked further, in words; empty when that was its own word."""
    why = attempt.ended
    if "candidates" in why:
        most = why["candidates"]
        return f"its budget of {most} proposal{'' if most == 1 else 's'} is used up"
    if "seconds" in why:
        return f"its budget of {why['seconds']:g} seconds is used up"
    if "taken_back" in why:
        which = f" {why['attempt'][:12]}" if "attempt" in why else ""
        return f"its proposal{which} was taken back: {why['taken_back']}"
    return "it gave a rejected proposal again" if why else ""


def facts(region: Region) -> Iterator[str]:
    """Lines that say how much work a region is, and what kc does with it by itself."""
    work = []
    if region.flops is not None:
        work.append(f"{_scaled(region.flops)}flops")
    if region.bytes is not None:
        work.append(f"{_scaled(region.bytes)}bytes")
    if region.roofline_us is not None:
        work.append(f"at least {_digits(region.roofline_us)} µs")
    if work:
        yield f"{_INDENT}one run: {', '.join(work)}"
    if region.default.get("schedule"):
        knobs = ", ".join(f"{k} = {v}" for k, v in (region.default.get("knobs") or {}).items())
        yield f"{_INDENT}kc by itself: schedule {region.default['schedule']}{f' {{{knobs}}}' if knobs else ''}"
    elif region.default:
        yield f"{_INDENT}kc by itself: plain loops ({region.default.get('reason', 'no schedule')})"


def _verdict(attempt: Attempt) -> Iterator[str]:
    verdict = attempt.verdict or {}
    if (attempt.proposal or {}).get("rationale"):
        yield f"{_INDENT}because: {attempt.proposal['rationale']}"  # type: ignore[index]
    if attempt.code:
        yield f"{_INDENT}compiled: {attempt.code.get('file')}, by {attempt.code.get('compiler')}"
    spent = (verdict.get("seconds") or {}).items()
    passed = [f"{gate} {_duration(seconds)}" if seconds >= 1e-3 else gate for gate, seconds in spent]
    if passed:
        yield f"{_INDENT}gates passed: {', '.join(passed)}; {verdict.get('runs', 0)} runs"
    errors = verdict.get("errors") or {}
    if errors:
        yield f"{_INDENT}errors: {', '.join(f'{name} {value:.3g}' for name, value in errors.items())}"
    shown = timing(verdict)
    if shown:
        yield f"{_INDENT}time: {shown}, on {where(attempt)}"


def where(attempt: Attempt) -> str:
    """The machine on which an attempt was timed, or judged."""
    timed = ((attempt.verdict or {}).get("timing") or {}).get("machine")
    return str(timed or attempt.machine.get("gpu") or attempt.machine.get("cpu") or "?")


def changed(change: Change, *, ir: bool = False) -> Iterator[str]:
    """Lines that say what changed of one region."""
    old, new = change.old, change.new
    yield f"{headline(new or old)}: {_WHAT[change.what]}"  # type: ignore[arg-type]
    for sign, attempt in (("-", old), ("+", new)):
        if attempt is not None:
            yield f"{sign} {answer(attempt)}, by {_who(attempt)}: {outcome(attempt)}"
    if ir:
        yield from (f"{_INDENT}{line}" for line in text_diff(change))


_WHAT = {
    "added": "settled on the right only",
    "removed": "settled on the left only",
    "region": "the region itself changed (IR, contract, target or options)",
    "answer": "another answer",
    "verdict": "the same answer, judged anew",
}


def _who(attempt: Attempt) -> str:
    return f"{attempt.agent} {attempt.agent_version}"


def _digits(value: float) -> str:
    """Three significant digits, large numbers whole: ``0.00123``, ``12``, ``8.25``, ``1330``."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:.0f}" if 1000 <= abs(rounded) < 1e9 else f"{rounded:.3g}"


def _duration(seconds: float) -> str:
    return f"{_digits(seconds)} s" if seconds >= 0.1 else f"{_digits(seconds * 1e3)} ms"


def _scaled(value: float) -> str:
    """Three significant digits before a prefix of a unit: ``59.9 k``, ``2 G``, ``12 ``."""
    for prefix, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(float(f"{value:.3g}")) >= factor:
            return f"{_digits(value / factor)} {prefix} "
    return f"{_digits(value)} "


def _count(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"
