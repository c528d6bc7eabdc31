"""Discrete Fourier transforms of 2, 3, 4, 5, 7 and 8 points on scalars: the butterflies of a fast transform."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter

#: real and imaginary part
Pair = tuple[ir.Value, ir.Value]


class Butterfly:
    """X[k] = sum over j of x[j] exp(-2 pi i j k / r) of ``r`` pairs of scalars; ``inverse`` turns the other way.

    Sizes 2, 4 and 8 by halving; 3, 5 and 7 by the even and odd parts of pairs x[j], x[r - j] (C. Temperton,
    "Self-sorting mixed-radix fast Fourier transforms", J. Comp. Phys. 52, 1983).
    """

    RADICES = (8, 7, 5, 4, 3, 2)

    def __init__(self, e: Emitter, part: ir.Type, inverse: bool):
        self.e, self.part, self.sign = e, part, (1.0 if inverse else -1.0)

    def transform(self, x: Sequence[Pair]) -> list[Pair]:
        """The transform of ``len(x)`` points, in order."""
        if len(x) == 1:
            return list(x)
        return self._odd(list(x)) if len(x) % 2 else self._even(list(x))

    def multiply(self, x: Pair, w: Pair) -> Pair:
        """x w, and x conj(w) for the inverse: tables hold the forward transform's roots."""
        e = self.e
        wi = w[1] if self.sign < 0 else e.unary("arith.negf", w[1])
        real = e.bin("arith.subf", e.bin("arith.mulf", x[0], w[0]), e.bin("arith.mulf", x[1], wi))
        return real, e.bin("arith.addf", e.bin("arith.mulf", x[0], wi), e.bin("arith.mulf", x[1], w[0]))

    def add(self, x: Pair, y: Pair) -> Pair:
        return self.e.bin("arith.addf", x[0], y[0]), self.e.bin("arith.addf", x[1], y[1])

    def subtract(self, x: Pair, y: Pair) -> Pair:
        return self.e.bin("arith.subf", x[0], y[0]), self.e.bin("arith.subf", x[1], y[1])

    def scale(self, x: Pair, factor: float) -> Pair:
        constant = self.e.const(self.part, factor)
        return self.e.bin("arith.mulf", x[0], constant), self.e.bin("arith.mulf", x[1], constant)

    def _turn(self, x: Pair, k: int, n: int) -> Pair:
        """x times the k-th power of the n-th root; n is 2, 4 or 8, and k < n / 2."""
        e = self.e
        if k == 0:
            return x
        if 4 * k == n:  # -+ i
            if self.sign < 0:
                return x[1], e.unary("arith.negf", x[0])
            return e.unary("arith.negf", x[1]), x[0]
        half = math.sqrt(0.5)
        turned = self._turn(x, 1, 4)
        if k == 1:  # (1 -+ i) / sqrt 2
            return self.scale(self.add(turned, x), half)
        return self.scale(self.subtract(turned, x), half)  # k == 3: (-1 -+ i) / sqrt 2

    def _even(self, x: list[Pair]) -> list[Pair]:
        even, odd = self.transform(x[::2]), self.transform(x[1::2])
        turned = [self._turn(v, k, len(x)) for k, v in enumerate(odd)]
        pairs = list(zip(even, turned, strict=True))
        return [self.add(a, b) for a, b in pairs] + [self.subtract(a, b) for a, b in pairs]

    def _odd(self, x: list[Pair]) -> list[Pair]:
        r, half = len(x), len(x) // 2
        sums = [self.add(x[j], x[r - j]) for j in range(1, half + 1)]
        differences = [self.subtract(x[j], x[r - j]) for j in range(1, half + 1)]
        first = x[0]
        for s in sums:
            first = self.add(first, s)
        result = [first] * r
        for k in range(1, half + 1):
            even, odd = x[0], None
            for j in range(1, half + 1):
                angle = 2 * math.pi * (j * k % r) / r
                even = self.add(even, self.scale(sums[j - 1], math.cos(angle)))
                term = self.scale(differences[j - 1], self.sign * math.sin(angle))
                odd = term if odd is None else self.add(odd, term)
            assert odd is not None
            turned = (self.e.unary("arith.negf", odd[1]), odd[0])  # times i
            result[k], result[r - k] = self.add(even, turned), self.subtract(even, turned)
        return result
