"""Past findings as files that say all of a case: ``corpus/<name>.json``, see ``python test/fuzz --keep``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .case import Case
from .program import Noise
from .tensors import Tensor, dtype

FOLDER = Path(__file__).with_name("corpus")


def save(path: Path, case: Case, about: str) -> None:
    """Write ``case``; ``about``: what was wrong, for people."""
    data = {
        "about": about,
        "text": case.text.splitlines(),
        "low": None if case.low is None else case.low.splitlines() if case.low != case.text else "text",
        "wide": None if case.wide is None else case.wide.splitlines(),
        "noises": [[list(map(int, n.type.shape)), n.type.element, n.amplitude, n.additive] for n in case.noises],
        "arguments": [[e, list(a.shape), a.tobytes().hex()] for a, e in case.arguments],
        "results": case.results,
        "options": case.options,
    }
    lines = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in data.items())
    path.write_text(f"{{\n{lines}\n}}\n")


def load(path: Path) -> Case:
    data = json.loads(path.read_text())
    text = "\n".join(data["text"])
    low = text if data["low"] == "text" else "\n".join(data["low"]) if data["low"] is not None else None
    return Case(
        text,
        low,
        None if data["wide"] is None else "\n".join(data["wide"]),
        [
            Noise(Tensor(tuple(shape), element), amplitude, additive)
            for shape, element, amplitude, additive in data["noises"]
        ],
        [(np.frombuffer(bytes.fromhex(h), dtype(e)).reshape(shape).copy(), e) for e, shape, h in data["arguments"]],
        [(e, exact) for e, exact in data["results"]],
        [],
        data.get("options", {}),
    )
