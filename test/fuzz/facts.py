"""What is known of a value's elements: whether the specification fixes every bit, and on which grid they lie.

A value is *exact* when the specification (with IEEE arithmetic, correctly rounded) leaves one answer, whatever the
order of a reduction and whatever precision a fused kernel computes in: such values are compared bit for bit. Sums and
products of small multiples of a power of two are exact in any order; ``mag`` and ``step`` follow that.
"""

from __future__ import annotations

import dataclasses
import math

from .tensors import COMPLEX, FLOATS8, HALVES, finfo, is_inexact, is_integer, limits, precision


@dataclasses.dataclass(frozen=True)
class Facts:
    """``exact``: see above. ``mag``, ``step``: finite elements are multiples of step, at most mag in size (None: no
    such bound). ``nan``: a NaN or an infinity may occur. ``bits``: also a NaN's sign and payload are fixed."""

    exact: bool = True
    mag: float | None = None
    step: float = 1.0
    nan: bool = False
    bits: bool = True

    def inexact(self) -> Facts:
        return Facts(False, None, 1.0, self.nan, False)

    def scaled(self, factor: float) -> Facts:
        """For the sum of ``factor`` such values."""
        return dataclasses.replace(self, mag=None if self.mag is None else self.mag * max(factor, 1), bits=False)


def join(*facts: Facts) -> Facts:
    """What holds for elements that come from any of these values."""
    known = all(f.mag is not None for f in facts)
    return Facts(
        all(f.exact for f in facts),
        max(f.mag for f in facts) if known else None,
        min(f.step for f in facts),
        any(f.nan for f in facts),
        all(f.bits for f in facts),
    )


def fits(facts: Facts, element: str) -> bool:
    """Whether all values of the grid are values of the type, so that arithmetic that stays on it never rounds."""
    if facts.mag is None or not facts.exact:
        return False
    if is_integer(element):
        return limits(element)[0] <= -facts.mag and facts.mag <= limits(element)[1] and facts.step >= 1
    if not is_inexact(element):
        return False
    p, info = precision(element), finfo(element)
    return (
        facts.mag / facts.step < 2 ** (p - 1)
        and facts.mag <= float(info.max)
        and facts.step >= float(info.smallest_normal)
    )


def product(a: Facts, b: Facts) -> Facts:
    mag = None if a.mag is None or b.mag is None else a.mag * b.mag
    step = a.step * b.step
    if not math.isfinite(step) or step == 0:
        mag, step = None, 1.0
    return Facts(a.exact and b.exact, mag, step, a.nan or b.nan or mag is None, False)


def total(a: Facts, b: Facts) -> Facts:
    mag = None if a.mag is None or b.mag is None else a.mag + b.mag
    return Facts(a.exact and b.exact, mag, min(a.step, b.step), a.nan or b.nan or mag is None, False)


def rounded(facts: Facts, element: str, *, single: bool = True) -> Facts:
    """What an arithmetic result of these facts is in its type.

    ``single``: one correctly rounded operation of f32 or f64, hence exact also off the grid. Narrower types are not:
    a fused kernel may keep them in f32.
    """
    if is_integer(element):
        return facts if fits(facts, element) else dataclasses.replace(facts, mag=None, step=1.0)
    if element == "i1":
        return Facts(facts.exact, 1, 1.0, False, True)
    if fits(facts, element):
        return facts
    off_grid = dataclasses.replace(facts, mag=None, step=1.0, nan=True)
    if single and element not in HALVES and element not in FLOATS8 and element not in COMPLEX:
        return off_grid
    return off_grid.inexact()
