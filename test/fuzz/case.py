"""What the child process gets and gives back: plain data, so that a finding can be kept as a file."""

from __future__ import annotations

import dataclasses

import numpy as np

from .program import Noise, Program


@dataclasses.dataclass
class Case:
    """A program as texts and arrays.

    ``arguments``: arrays with their element types; ``results``: element type of each result and whether it is exact.
    ``wide`` is None where all are, ``low`` where the interpreter cannot run it. ``options``: those of ``kc.compile``.
    """

    text: str
    low: str | None
    wide: str | None
    noises: list[Noise]
    arguments: list[tuple[np.ndarray, str]]
    results: list[tuple[str, bool]]
    families: list[str] = dataclasses.field(default_factory=list)
    options: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def key(self) -> int:
        """Equal for equal programs on equal arguments."""
        return hash((self.text, *(a.tobytes() for a, _ in self.arguments)))

    @classmethod
    def of(cls, program: Program, options: dict[str, str] | None = None) -> Case:
        wide, noises = (None, []) if program.exact else program.wide()
        return cls(
            program.compiled(),
            program.low() if program.low_ok else None,
            wide,
            noises,
            [(array, v.type.element) for v, array in program.args],
            [(v.type.element, v.facts.exact) for v in program.results],
            program.families,
            options or {},
        )


@dataclasses.dataclass
class Verdict:
    """``kind``: ok; oracle (the interpreter takes the program not, so it says nothing); wrong, error, crash, hang."""

    kind: str
    message: str = ""
    undecided: int = 0
    elements: int = 0

    @property
    def bad(self) -> bool:
        return self.kind in ("wrong", "error", "crash", "hang")
