"""The ratio of two times from paired rounds, with a confidence interval.

Both programs of a round run one after the other under the same load, so the ratio within a round is freer of drift
than either time (paired design: Box, Hunter, Hunter, Statistics for Experimenters, 2nd ed., 2005, sec. 3.2). Times are
skewed and have outliers, so the estimate is the median of the ratios, and the interval is the one of order statistics,
which assumes no distribution (J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems, 2010,
theorem 2.1; Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3rd ed., 2014, sec. 3.6).
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

#: with fewer pairs no two order statistics enclose the median with 95 % probability (2 / 2^6 = 3.1 %)
LEAST_PAIRS = 6


@dataclasses.dataclass(frozen=True)
class Ratio:
    """``value``: median of first / second; ``low`` and ``high``: ends of its interval at ``confidence`` (0.95)."""

    value: float
    low: float
    high: float
    confidence: float
    pairs: int


def ratio(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Ratio:
    """The ratio of times measured in pairs.

    Raises ValueError when there are fewer pairs than the confidence needs, or a time is not positive.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} times and {len(second)} are no pairs")
    if any(not t > 0 for t in (*first, *second)):
        raise ValueError("a time that is not positive has no ratio")
    ratios = sorted(a / b for a, b in zip(first, second, strict=True))
    depth = interval_depth(len(ratios), confidence)
    if depth == 0:
        raise ValueError(f"{len(ratios)} pairs are too few for a confidence of {confidence:g}")
    return Ratio(median(ratios), ratios[depth - 1], ratios[-depth], confidence, len(ratios))


def mean_ratio(pairs: Sequence[tuple[Sequence[float], Sequence[float]]], confidence: float = 0.95) -> Ratio:
    """The geometric mean of several ratios, each of times measured in pairs.

    The k-th rounds of all give one value each, which are as independent as the rounds are; of these values the median
    is told with its interval, as ``ratio`` does. Rounds that one has more than another do not count.
    """
    rounds = min(len(first) for first, _ in pairs)
    values = [
        math.exp(math.fsum(math.log(first[k] / second[k]) for first, second in pairs) / len(pairs))
        for k in range(rounds)
    ]
    return ratio(values, [1.0] * rounds, confidence)


def interval_depth(count: int, confidence: float) -> int:
    """The largest k for which the k-th smallest and k-th largest of ``count`` values enclose the median.

    They do with probability 1 - 2 P(Binomial(count, 1/2) < k) at least ``confidence``; 0 where no k does.
    """
    tail, depth = 0.0, 0
    for k in range(count // 2):
        tail += math.comb(count, k) / 2**count
        if 2 * tail > 1 - confidence:
            break
        depth = k + 1
    return depth


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
