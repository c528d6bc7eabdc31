"""Gates: what stands between a proposal and the program. Nothing heavy is imported before a name is used."""

from __future__ import annotations

import importlib
from typing import Any

#: of the gates' rules; raised when a proposal that was accepted might no longer be
REVISION: int = 1

_EXPORTS = {
    "Rejection": "kc.agents.gates.reasons:Rejection",
    "explain_numerics": "kc.agents.gates.policy:explain",
    "judge": "kc.agents.gates.judge:judge",
}


def __getattr__(name: str) -> Any:
    if name == "REASONS":  # every reason code of every gate, with an explanation
        from kc.agents.gates import reasons, timing

        return {**reasons.REASONS, **timing.REASONS}
    if name in _EXPORTS:
        module, _, attribute = _EXPORTS[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    raise AttributeError(f"module 'kc.agents.gates' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS, "REASONS"})
