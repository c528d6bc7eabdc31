"""Which single op, if it computed something else, would make the results right: that op is at fault.

Where a proposal is another program than its original, most of its values are unknown to the original, right or wrong.
So ops on the way to the wrong element are given other meanings one at a time (another operation on the same operands,
operands exchanged, a constant of the original's or another value in place of one), first on the counter-example alone;
what mends that must mend all other calls, too. The code stays compiled: a run takes well below a millisecond.
"""

from __future__ import annotations

import dataclasses
import re
import struct
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kc.agents.execution.calls import Call
from kc.agents.execution.trace import CONSTANT, NEGATED, SIGNED, Node, Patch, Traced
from kc.agents.gates.diverging.streams import alike

Array = np.ndarray[Any, Any]
#: CPU seconds of one run with a patch, and of all of them
_STEP, _SECONDS = 0.02, 0.25
#: nodes that are tried with other operands, and values tried for an operand
_TRIED, _VALUES = 12, 24
_NAMES = (
    (re.compile(r"(arith|llvm)\.(f?add)[if]?$"), "add"),
    (re.compile(r"(arith|llvm)\.(f?sub)[if]?$"), "sub"),
    (re.compile(r"(arith|llvm)\.(f?mul)[if]?$"), "mul"),
    (re.compile(r"(arith|llvm)\.[fsu]?div[fsui]*$"), "div"),
    (re.compile(r"(arith|llvm)\.[su]?rem[su]?i?$"), "remainder"),
    (re.compile(r"(arith\.|llvm\.intr\.)[su]?max(imum|num)?f?[su]?i?$"), "max"),
    (re.compile(r"(arith\.|llvm\.intr\.)[su]?min(imum|num)?f?[su]?i?$"), "min"),
    (re.compile(r"(arith|llvm)\.(cmp[fi]|[fi]cmp)$"), "less"),
    (re.compile(r"(arith|llvm)\.select$"), "select"),
    (re.compile(r"(arith|llvm)\.and"), "and"),
    (re.compile(r"(arith|llvm)\.or"), "or"),
    (re.compile(r"(arith|llvm)\.xor"), "xor"),
    (re.compile(r"(arith|llvm)\.shl"), "shift-left"),
    (re.compile(r"(arith|llvm)\.(shr|lshr|ashr)"), "shift-right"),
    (re.compile(r"(arith\.negf|llvm\.fneg)$"), "negate"),
    (re.compile(r"math\.abs|llvm\.intr\.fabs"), "abs"),
    *((re.compile(rf"(math|llvm\.intr)\.{name}$"), name) for name in ("sqrt", "rsqrt", "exp", "log", "tanh")),
)
_COMPARISONS = ("less", "less-equal", "equal", "not-equal")
_TWO = ("add", "sub", "mul", "div", "max", "min")
_BITS = ("and", "or", "xor", "shift-left", "shift-right", "remainder")
_ONE = ("first", "negate", "abs", "sqrt", "rsqrt", "exp", "log", "tanh")
#: computed by the C library, not as kc's code computes them: right up to this
_INEXACT, _NEAR = ("sqrt", "rsqrt", "exp", "log", "tanh"), 1e-5


def code_of(node: Node) -> str | None:
    """What a node computes, in the words of ``kc.agents.execution.trace.CODES``."""
    return next((code for pattern, code in _NAMES if pattern.match(node.op)), None)


@dataclasses.dataclass
class Repair:
    """``wants``: results of the original in each call; the last one is the counter-example."""

    traced: Traced
    calls: Sequence[Call]
    wants: Sequence[tuple[Array, ...]]
    rounding: float
    #: bits of constants of the original, by element type
    constants: dict[str, list[int]]

    def find(self, nodes: Sequence[int]) -> Patch | None:
        """A patch of one of ``nodes``, the likeliest first, that makes all results right."""
        until = time.process_time() + _SECONDS
        ways = (self._operations, self._constants, self._operands)
        for way in ways:
            for number, node in enumerate(nodes):
                if way != self._operations and number >= _TRIED:
                    break
                for patch in way(node):
                    if time.process_time() > until:
                        return None
                    if self._mends(patch):
                        return patch
        return None

    def _mends(self, patch: Patch) -> bool:
        near = max(self.rounding, _NEAR if patch.code in _INEXACT else 0.0)
        for call, want in zip(reversed(self.calls), reversed(self.wants), strict=True):
            got = self.traced.patched(call, patch, _STEP)
            if got is None or len(got) != len(want) or not all(map(same, got, want, [near] * len(want))):
                return False
        return True

    # ---- what is tried

    def _operations(self, node: int) -> Iterator[Patch]:
        """Other operations on the same operands, and these in another order."""
        known = self.traced.nodes[node]
        code = code_of(known)
        signs = (0,) if known.element.startswith(("f", "b")) else (SIGNED, 0)
        if code is None:
            return
        if code == "select":
            yield from (
                Patch(node, "select", (1, 0, 2)),
                Patch(node, "first", (0, 1, 2)),
                Patch(node, "first", (1, 0, 2)),
            )
            return
        if code == "less":
            for name in _COMPARISONS:
                for order in ((0, 1, 2), (1, 0, 2))[: 2 if name in _COMPARISONS[:2] else 1]:
                    for flags in (0, NEGATED):
                        yield from (Patch(node, name, order, flags | sign) for sign in (SIGNED, 0))
            return
        if code in _ONE:
            yield from (Patch(node, name, (0, 1, 2), SIGNED) for name in _ONE if name != code)
            return
        for name in (*_TWO, *(() if signs == (0,) else _BITS)):
            for sign in signs if name in ("div", "max", "min", "remainder", "shift-right") else signs[:1]:
                for order in ((0, 1, 2), (1, 0, 2)):
                    if (name, order) != (code, (0, 1, 2)):
                        yield Patch(node, name, order, sign)
        yield from (Patch(node, "first", (0, 1, 2)), Patch(node, "first", (1, 0, 2)))

    def _constants(self, node: int) -> Iterator[Patch]:
        """A constant of the original's in place of an operand."""
        known = self.traced.nodes[node]
        code = code_of(known)
        if code is None or code in _ONE:
            return
        for bits in self.constants.get(self._operand_type(known), ())[:_VALUES]:
            yield from self._with(node, code, CONSTANT, bits)

    def _operands(self, node: int) -> Iterator[Patch]:
        """Another value of the same type in place of an operand."""
        known = self.traced.nodes[node]
        code, kind = code_of(known), self._operand_type(known)
        others = [
            n for n in range(node) if self.traced.nodes[n].element == kind and self.traced.nodes[n].constant is None
        ]
        if code is None:
            return
        for other in reversed(others[-_VALUES:]):
            yield from self._with(node, code, CONSTANT + 1 + other)

    def _with(self, node: int, code: str, operand: int, bits: int = 0) -> Iterator[Patch]:
        if code in _ONE:
            yield Patch(node, code, (operand, 1, 2), SIGNED, bits)
            return
        codes = _COMPARISONS if code == "less" else (code,)
        for name in codes:
            for flags in (SIGNED, SIGNED | NEGATED) if code == "less" else (SIGNED,):
                for operands in ((0, operand, 2), (operand, 1, 2)):
                    yield Patch(node, name, operands, flags, bits)

    def _operand_type(self, node: Node) -> str:
        given = [self.traced.nodes[n].element for n in node.sources]
        return next((kind for kind in given if kind != "i1"), node.element) if node.element == "i1" else node.element


def same(got: Array, want: Array, rounding: float) -> bool:
    """Whether two results are the same up to a rounding."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    with np.errstate(all="ignore"):
        if got.dtype.kind == "c":
            got, want = (a.reshape(-1).view(f"f{a.dtype.itemsize // 2}") for a in (got, want))
        if got.dtype.kind not in "iub":
            got, want = got.astype(np.float64), want.astype(np.float64)
    return bool(np.all(alike(got, want, rounding)))


def constants_of(nodes: Sequence[Node]) -> dict[str, list[int]]:
    """Bits of the constants among nodes, by element type; those of vectors that are all one number too."""
    found: dict[str, list[int]] = {}
    for node in nodes:
        if node.constant is None:
            continue
        match = re.match(r"(?:dense<)?([-+\d.eE]+|true|false|0x[0-9A-Fa-f]+)", node.constant)
        bits = _bits(match[1], node.element) if match else None
        if bits is not None and bits not in found.setdefault(node.element, []):
            found[node.element].append(bits)
    return found


def _bits(text: str, element: str) -> int | None:
    try:
        if text.startswith("0x"):
            return int(text, 16)
        if element in ("f32", "f64"):
            form, other = ("<f", "<I") if element == "f32" else ("<d", "<Q")
            return int(struct.unpack(other, struct.pack(form, float(text)))[0])
        return int(text) & ((1 << 64) - 1)
    except (ValueError, OverflowError, struct.error):
        return None
