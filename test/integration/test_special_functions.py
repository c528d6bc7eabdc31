"""CHLO's sums of series in f32, beside their zeros too, against Python's and against derivatives in f64."""

from __future__ import annotations

import math

import numpy as np

import kc


def test_few_digits_are_lost():
    source = "tensor<?xf32>"
    text = f"""func.func @main(%x: {source}) -> ({source}, {source}, {source}) {{
      %0 = chlo.lgamma %x : {source} -> {source}
      %1 = chlo.digamma %x : {source} -> {source}
      %2 = chlo.erf_inv %x : {source} -> {source}
      return %0, %1, %2 : {source}, {source}, {source}
    }}"""
    program = kc.compile(text)
    rng = np.random.default_rng(0)
    near = [center + rng.uniform(-1e-3, 1e-3, 200) for center in (1, 2, 1.4616321)]  # zeros of lgamma and digamma
    x = np.concatenate([rng.uniform(0.01, 60, 300), *near]).astype(np.float32)
    logarithm, derivative, _ = program(x)
    np.testing.assert_allclose(logarithm, [math.lgamma(v) for v in x], rtol=1e-7, atol=1e-14)

    def slope(v: float) -> float:
        """digamma: the recurrence up to 40, and the first terms of the asymptotic series there."""
        less = 0.0
        while v < 40:
            less, v = less + 1 / v, v + 1
        return math.log(v) - 1 / (2 * v) - 1 / (12 * v**2) + 1 / (120 * v**4) - 1 / (252 * v**6) - less

    np.testing.assert_allclose(derivative, [slope(float(v)) for v in x], rtol=1e-7, atol=1e-13)

    y = np.concatenate([rng.uniform(-1, 1, 300), 1 - np.exp(rng.uniform(-16, -3, 300))]).astype(np.float32)
    *_, inverse = program(y)
    # one step of Newton's method from the result tells how far from the root it is
    root = inverse.astype(float)
    error = [(math.erf(r) - float(v)) * math.sqrt(math.pi) / 2 * math.exp(r * r) for r, v in zip(root, y, strict=True)]
    assert np.max(np.abs(error) / np.abs(root)) <= 1e-7
