"""A learned cost model: from the points measured so far, which of the candidates is worth a measurement.

Randomised trees (P. Geurts, D. Ernst, L. Wehenkel, Extremely randomized trees, Machine Learning 63, 2006) fit a few
dozen points in some 50 ms, take knobs of any kind, and tell by the spread of the trees where they do not know.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kc.agents.builtin.tuning_db import Point
from kc.errors import InputError

#: points below which a model knows less than nothing
LEAST_POINTS = 8
#: how much of the trees' spread a candidate gets for being unknown
_CURIOSITY = 0.5
#: points of other kernels that are learned from beside the kernel's own
_MOST_OTHERS = 400


class CostModel:
    """Predicts log2 of the speed ratio from knobs and the kernel's features."""

    def __init__(self, knobs: Sequence[str], seed: int = 0):
        self._knobs, self._seed = list(knobs), seed
        self._trees: Any = None

    def fit(self, own: Sequence[Point], others: Sequence[Point] = ()) -> bool:
        """Learn; False when there are too few points of the kernel itself. Others' weigh a quarter.

        Raises InputError when scikit-learn is missing.
        """
        learned = [p for p in own if p.ratio]
        if len(learned) < LEAST_POINTS:
            return False
        try:
            from sklearn.ensemble import ExtraTreesRegressor
        except ImportError as error:
            raise InputError(f"the learned cost model needs scikit-learn: pip install 'kc[search]' ({error})") from None
        width = len(learned[0].features)
        more = [p for p in others if p.ratio and p.knobs.keys() >= set(self._knobs) and len(p.features) == width]
        more = more[-_MOST_OTHERS:]
        rows = [self._row(p.knobs, p.features) for p in (*learned, *more)]
        self._trees = ExtraTreesRegressor(n_estimators=32, min_samples_leaf=1, random_state=self._seed)
        self._trees.fit(rows, [math.log2(p.ratio or 1.0) for p in (*learned, *more)],
                        sample_weight=[1.0] * len(learned) + [0.25] * len(more))
        return True

    def rank(self, candidates: Sequence[dict[str, Any]], features: Sequence[float]) -> list[int]:
        """Numbers of the candidates, the most promising first."""
        import numpy as np

        if self._trees is None:
            return list(range(len(candidates)))
        rows = np.asarray([self._row(knobs, features) for knobs in candidates], np.float32)
        votes = np.stack([tree.predict(rows) for tree in self._trees.estimators_])
        score = votes.mean(0) + _CURIOSITY * votes.std(0)
        return [int(i) for i in np.argsort(-score, kind="stable")]

    def predict(self, knobs: dict[str, Any], features: Sequence[float]) -> float:
        """The expected ratio."""
        return float(2.0 ** self._trees.predict([self._row(knobs, features)])[0])

    def _row(self, knobs: dict[str, Any], features: Sequence[float]) -> list[float]:
        return [*(_number(knobs[name]) for name in self._knobs), *features]


def _number(value: Any) -> float:
    """Sizes by their logarithm: what matters about a block is by what factor it grows."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return float(value) if isinstance(value, bool) else float(hash(value) % 97)
    return math.log2(1 + abs(value))
