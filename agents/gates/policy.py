"""The numerics policy: what may differ between a region and its replacement, and by how much.

Without allowances a result must be the original's bit for bit, except that any NaN stands for any NaN. ``nsz`` frees
the sign of zero. ``reassoc``, ``contract``, ``arcp``, ``approx`` and ``low_precision`` free rounding, within a bound
that is measured: the region is run in higher precision, on the inputs and on inputs moved by up to one rounding of the
precision in which it computes. Where ``u`` is that rounding (2^-24 in f32), ``ref`` the higher-precision result,
``spread`` how far it moves, ``own`` the original's own error, and ``n`` the length of the longest sum:

    error of the proposal <= f * spread + c * u * |ref| + 4 * own + one unit in the last place of the result

with ``f`` = 4 + n for ``reassoc`` and ``contract``, 64 more for ``approx`` and ``arcp``, and 8 * 2^-8 / u more for
``low_precision``; ``c`` is 4, 64 more for ``approx`` and ``arcp``. NaN and infinities stand where the original has
them, whatever rounding is free; ``nnan`` and ``ninf`` take inputs and results that are NaN or infinite out of the test.
What a contract allows holds whether or not the proposal repeats it in ``assumes``; what it does not allow is never
excused by a small error.
"""

from __future__ import annotations

import dataclasses
import math

from kc.agents.contract import ALLOWANCES, Contract
from kc.agents.gates.reading import Reading

#: relative rounding of bf16, the narrowest type to which low_precision may round
_NARROW = 2.0**-8


@dataclasses.dataclass(frozen=True)
class Policy:
    """What the comparison of results lets pass."""

    allow: frozenset[str] = frozenset()
    #: rounding of the precision in which the original computes
    unit: float = 2.0**-24

    @classmethod
    def of(cls, original: Reading) -> Policy:
        """The policy that a contract makes."""
        allow = frozenset(name for name in ALLOWANCES if original.contract.allows(name))
        return cls(allow, 2.0 ** -(original.bits or 24))

    @property
    def exact(self) -> bool:
        """Whether no rounding is free."""
        return not self.allow & {"reassoc", "contract", "arcp", "approx", "low_precision"}

    @property
    def nan(self) -> bool:
        """Whether NaN counts."""
        return "nnan" not in self.allow

    @property
    def inf(self) -> bool:
        """Whether infinities count."""
        return "ninf" not in self.allow

    @property
    def zero_sign(self) -> bool:
        """Whether the sign of zero counts."""
        return "nsz" not in self.allow

    @property
    def narrow(self) -> bool:
        """Whether inputs keep to what narrow types hold."""
        return "low_precision" in self.allow

    @property
    def overflow(self) -> bool:
        """Whether values up to the largest are tried although rounding is free."""
        return not self.exact and not self.narrow and self.inf

    def legal(self, value: float) -> float | None:
        """``value`` where the contract lets it occur as an input."""
        if (math.isnan(value) and not self.nan) or (math.isinf(value) and not self.inf):
            return None
        return None if self.narrow and 0 < abs(value) < 1e-6 else value

    def factors(self, length: int) -> tuple[float, float]:
        """``f`` and ``c`` of the bound for sums of ``length`` terms."""
        loose = 64.0 if self.allow & {"approx", "arcp"} else 0.0
        f = 4.0 + length * bool(self.allow & {"reassoc", "contract", "low_precision"}) + loose
        if self.narrow:
            f += 8 * _NARROW / self.unit
        return f, 4.0 + loose


def explain(contract: Contract) -> str:
    """The policy in words, for one contract: what ``kc explain`` prints."""
    lines = []
    allowed = [name for name in ALLOWANCES if contract.allows(name)]
    rounding = [n for n in allowed if n in ("reassoc", "contract", "arcp", "approx", "low_precision")]
    if rounding:
        lines.append(f"rounding may differ ({', '.join(rounding)}), within the bound of docs/agents/numerics.md")
    else:
        lines.append("results are the original's bit for bit")
    lines += [f"  {name}: {ALLOWANCES[name]}" for name in allowed]
    held = []
    if "nnan" not in allowed:
        held.append("where NaN stands (any NaN for any NaN)")
    if "ninf" not in allowed:
        held.append("where infinities stand")
    if "nsz" not in allowed and not rounding:
        held.append("the sign of zero")
    held += ["denormals", "integers and their wrap-around", "the order of ties", "every element of every result"]
    lines.append("must not differ: " + ", ".join(held))
    lines += [f"  fact: {fact}" for fact in contract.facts]
    lines += [f"  size: {low} <= {name} <= {high}" for name, (low, high) in sorted(contract.sizes.items())]
    return "\n".join(lines)
