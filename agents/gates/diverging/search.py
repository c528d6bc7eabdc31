"""The first op that diverges: backwards from the result that differs, to where everything that is given is right.

An op is right when the original computed the same numbers, in all calls that were observed (ordinary ones beside the
one that shows the difference, so that chance makes nothing alike). From the op that produced the wrong element the
search goes back through ops that are not right, along operands and along memory (to whoever wrote what was read). What
it reaches whose own operands are all right is where the proposal departs. Where there are several such ops, one that
the original's text does not have is more likely the one, and then the one that departed first.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from kc.agents.gates.diverging.streams import LOOSE, PART, STRICT, Observed, Pool
from kc.agents.gates.diverging.structure import Changes, Op

#: what speaks for an op: its text is new and is given nothing new; all its operands are right; all but those that come
#: round a loop from itself are; its text is new
_ROOT, _CLEAN, _ROUND, _NEW = 8, 4, 3, 1


#: asks for a node that is at fault for certain, among these, the likeliest first
Mender = Callable[[Sequence[int]], "int | None"]


@dataclasses.dataclass(frozen=True)
class Found:
    """The op: its node where it is one that ran, its place in the text, the value at which it departed."""

    node: int | None
    op: Op | None
    value: object = None
    #: event of the failing call at which it departed, -1 where that is not known
    event: int = -1


class Search:
    """One search. ``call``: number of the call that shows the difference."""

    def __init__(
        self,
        original: Observed,
        proposal: Observed,
        pool: Pool,
        changes: Changes | None,
        call: int,
        mender: Mender | None = None,
    ):
        self.original, self.proposal, self.pool, self.changes, self.call = original, proposal, pool, changes, call
        self._mender = mender
        self._right: dict[tuple[int, str], bool] = {}
        self._next: dict[int, list[int]] = {}
        self._departures: dict[int, tuple[int, int]] = {}
        self._constants: set[tuple[str, str | None]] | None = None

    def run(self, starts: Sequence[int]) -> Found | None:
        """The op that the wrong element goes back to; ``starts``: the nodes that produced it."""
        few = self.changes is not None and self.changes.small
        changed = self._changed(starts) if few else []
        if len(changed) == 1 and not changed[0].children:  # all else is the original's
            return self._at(changed[0])
        order = (STRICT, LOOSE, PART) if few else (PART, LOOSE, STRICT)
        ranked: list[list[int]] = []
        for likeness in order:
            found = self._candidates(starts, likeness)
            ranked.append(sorted(found, key=lambda n: (-found[n], self._departure(n), n)))
        if self._mender is not None:
            # the likeliest, and those nearest to the result, in turn
            pairs = itertools.zip_longest([n for one in ranked for n in one], self._reached(starts))
            nodes = dict.fromkeys(n for pair in pairs for n in pair if n is not None)
            mended = self._mender([n for n in nodes if not self._passes(n)])
            if mended is not None:
                return self._found(mended)
        for one in ranked:
            if one and (not few or self._text_score(one[0]) >= _ROOT):
                return self._found(one[0])
        best = next((one[0] for one in ranked if one), None)
        return self._unseen(starts) if best is None else self._found(best)

    # ---- the walk

    def _candidates(self, starts: Sequence[int], likeness: str) -> dict[int, int]:
        """Nodes that are not right though they could be, with what speaks for each."""
        seen: dict[int, list[int]] = {}
        pending = [n for n in starts if self._passes(n) or not self._is_right(n, likeness)]
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen[node] = [n for n in self._given(node) if self._passes(n) or not self._is_right(n, likeness)]
            pending += seen[node]
        wrong = {n: self._wrong(n, seen) for n in seen if not self._passes(n)}
        loops = _components(wrong)
        found = {}
        for node, reasons in wrong.items():
            clean = all(loops[r] == loops[node] for r in reasons)
            score = (0 if not clean else _ROUND if reasons else _CLEAN) + self._text_score(node)
            if score:
                found[node] = score
        for node in seen:  # a store of what is right in a wrong place, or at a wrong time, or of another constant
            if self._passes(node) and not self._wrong(node, seen):
                score = self._text_score(node) + (_CLEAN if self._other_constant(node) else 0)
                if score >= _CLEAN:
                    found[node] = score
        return found

    def _other_constant(self, node: int) -> bool:
        """Whether a node is given a constant that the original does not have."""
        if self._constants is None:
            nodes = self.original.nodes
            self._constants = {(n.element, n.constant) for n in nodes if n.constant is not None}
        given = [self.proposal.nodes[n] for n in self.proposal.nodes[node].sources]
        return any(n.constant is not None and (n.element, n.constant) not in self._constants for n in given)

    def _wrong(self, node: int, seen: dict[int, list[int]]) -> set[int]:
        """The nodes with values that are not right and that a node is given, through stores."""
        found: set[int] = set()
        pending, through = list(seen.get(node, ())), set()
        while pending:
            n = pending.pop()
            if not self._passes(n):
                found.add(n)
            elif n not in through:
                through.add(n)
                pending += seen.get(n, ())
        return found - {node}

    def _given(self, node: int) -> list[int]:
        """What a node is computed from: operands, who wrote what it reads; of a store also what decides if it runs."""
        if node not in self._next:
            known = self.proposal.nodes[node]
            given: Iterable[int] = (*known.sources, *self.proposal.writers(node, self.call))
            if self._passes(node) or known.op in ("scf.for", "scf.parallel", "scf.if", "memref.copy"):
                given = (*given, *known.control)
            self._next[node] = [n for n in dict.fromkeys(given) if self.proposal.nodes[n].constant is None]
        return self._next[node]

    def _passes(self, node: int) -> bool:
        """Whether a node has no values of its own: it only hands on."""
        return self.proposal.nodes[node].constant is None and not any(
            node in computed for computed in self.proposal.values
        )

    def _is_right(self, node: int, likeness: str) -> bool:
        key = (node, likeness)
        if key not in self._right:
            stream = self.proposal.stream(node)
            known = self.proposal.nodes[node]
            filled = likeness != STRICT and "load" in known.op and self.pool.constant(stream, known.element)
            self._right[key] = (
                not stream or filled or self.pool.holds(stream, self.proposal.nodes[node].element, likeness)
            )
        return self._right[key]

    # ---- which of several

    def _text(self, node: int) -> Op | None:
        return self.changes.proposal.at(self.proposal.nodes[node].place) if self.changes is not None else None

    def _text_score(self, node: int) -> int:
        op = self._text(node)
        if op is None or self.changes is None or not self.changes.new(op):
            return 0
        inner = self.changes.innermost(op)
        roots = self.changes.roots
        if not self.changes.small:  # another program: what is new in its text says little
            return _NEW
        return _ROOT if inner in roots or op in roots or self.changes.constant(inner) in roots else _NEW

    def _departure(self, node: int) -> int:
        return self._departed(node)[0]

    def _departed(self, node: int) -> tuple[int, int]:
        """The event of the failing call at which a node first left what the original computed, and its number."""
        if node not in self._departures:
            values = self.proposal.values[self.call].get(node)
            found = (1 << 62, -1)
            if values is not None and len(values):
                count = self.pool.prefix(values, self.proposal.nodes[node].element, self.call)
                at = min(count, len(values) - 1)
                found = (int(self.proposal.times[self.call][node][at]), at)
            self._departures[node] = found
        return self._departures[node]

    def _found(self, node: int) -> Found:
        event, number = self._departed(node)
        values = self.proposal.values[self.call].get(node)
        value = values[number].item() if values is not None and number >= 0 else None
        op = self._text(node)
        if op is not None and self.changes is not None:
            inner = self.changes.innermost(op)
            fixed = self.changes.constant(inner)
            if fixed is not op:
                return Found(None, fixed)
        return Found(node, op, value, event if number >= 0 else -1)

    def _unseen(self, starts: Sequence[int]) -> Found | None:
        """Where no value tells: a new op on the way to the wrong element, or what produced it."""
        roots = self._changed(starts)
        if roots:
            return self._at(roots[0])
        for node in starts:
            if self.proposal.nodes[node].constant is None:
                return Found(node, self._text(node))
        return None

    def _changed(self, starts: Sequence[int]) -> list[Op]:
        """New ops of the text that the wrong element goes back to in any way; the only new one in any case."""
        if self.changes is None:
            return []
        ways = {op for n in self._reached(starts) if (op := self._text(n)) is not None}
        ways |= {self.changes.innermost(op) for op in ways}
        ways |= {self.changes.constant(op) for op in ways}
        found = [op for op in self.changes.roots if op in ways]
        return found or (self.changes.roots if len(self.changes.roots) == 1 else [])

    def _reached(self, starts: Sequence[int]) -> list[int]:
        """All nodes that the wrong element goes back to, nearer ones first."""
        reached: dict[int, None] = {}
        pending = list(starts)
        while pending:
            node = pending.pop(0)
            if node not in reached:
                reached[node] = None
                known = self.proposal.nodes[node]
                pending += (*known.sources, *known.control, *self.proposal.writers(node, self.call))
        return list(reached)

    def _at(self, op: Op) -> Found:
        """An op of the text, and what happened there where it has a value of its own."""
        nodes = [n for n in range(len(self.proposal.nodes)) if self._text(n) is op and not self._passes(n)]
        wrong = [n for n in nodes if not self._is_right(n, STRICT)]
        return self._found(min(wrong, key=self._departure)) if wrong else Found(None, op)


def _components(edges: dict[int, set[int]]) -> dict[int, int]:
    """For each node the number of its strongly connected component."""
    count = len(edges)
    numbers = {node: k for k, node in enumerate(edges)}
    reach = np.eye(count, dtype=bool)
    for node, others in edges.items():
        for other in others:
            if other in numbers:
                reach[numbers[node], numbers[other]] = True
    for _ in range(max(1, count).bit_length()):
        reach = reach @ reach
    both = reach & reach.T
    return {node: int(np.argmax(both[k])) for node, k in numbers.items()}
