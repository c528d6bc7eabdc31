"""Showing a search: a bar on a terminal while it runs, and the course of the best as an SVG file."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _MARGIN = 640, 320, 48
_BAR = 24


class Progress:
    """A bar on one line of a terminal; nothing anywhere else."""

    def __init__(self, label: str, seconds: float, stream: TextIO | None = None):
        self._label, self._seconds = label, max(seconds, 1e-9)
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()

    def __call__(self, seconds: float, points: int, best: float) -> None:
        """Show how far the search is."""
        if not self._shown:
            return
        full = round(_BAR * min(seconds / self._seconds, 1.0))
        bar = "█" * full + "·" * (_BAR - full)
        counts = f"{seconds:5.1f}/{self._seconds:g} s, {points} points, best {best:.3f}x"
        self._stream.write(f"\r\x1b[K{self._label[:24]:24} {bar} {counts}")
        self._stream.flush()

    def close(self) -> None:
        """Leave the line."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def plot(courses: Sequence[tuple[str, Sequence[tuple[float, float]]]]) -> str:
    """An SVG of the best ratio so far over the seconds of each search: (label, course) each."""
    xs = [x for _, course in courses for x, _ in course]
    ys = [y for _, course in courses for _, y in course]
    right, low, high = max(xs, default=1.0) or 1.0, min([*ys, 1.0]), max([*ys, 1.05])
    colours = ("#1b6ca8", "#c1440e", "#2e7d32", "#6a1b9a", "#795548", "#00838f")

    def at(x: float, y: float) -> str:
        across = _MARGIN + x / right * (_WIDTH - 2 * _MARGIN)
        down = _HEIGHT - _MARGIN - (y - low) / (high - low) * (_HEIGHT - 2 * _MARGIN)
        return f"{across:.1f},{down:.1f}"

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" '
             f'font-size="12"><rect width="100%" height="100%" fill="white"/>']
    for share in range(5):
        y = low + share / 4 * (high - low)
        x = share / 4 * right
        (x0, y0), (x1, _) = (p.split(",") for p in (at(0, y), at(right, y)))
        parts.append(f'<path d="M{x0},{y0}H{x1}" stroke="#ddd"/><text x="8" y="{y0}">{y:.2f}x</text>')
        foot = at(x, low).split(",")[0]
        parts.append(f'<text x="{foot}" y="{_HEIGHT - 24}" text-anchor="middle">{x:.0f} s</text>')
    for number, (label, course) in enumerate(courses):
        colour = colours[number % len(colours)]
        steps, last = [], None
        for x, y in course:
            steps += [at(x, last), at(x, y)] if last is not None else [at(x, y)]
            last = y
        if last is not None:
            steps.append(at(right, last))
        parts.append(f'<polyline points="{" ".join(steps)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{_MARGIN + 8}" y="{20 + 15 * number}" fill="{colour}">{escape(label)}</text>')
    title = "speed of the best schedule so far, the compiler's own being 1"
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(title)}</text></svg>')
    return "\n".join(parts) + "\n"
