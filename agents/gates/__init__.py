"""Gates: what stands between a proposal and the program.

``judge.judge`` is the way through all of them. ``REASONS`` explains every reason code; it is loaded on first use.
"""

from __future__ import annotations

from typing import Any

from kc import lazy

#: of the gates' rules; raised when a proposal that was accepted might no longer be
REVISION: int = 1

_EXPORTS = {"explain_numerics": "kc.agents.gates.policy:explain"}


def __getattr__(name: str) -> Any:
    if name == "REASONS":
        from kc.agents.gates import reasons, timing

        return {**reasons.REASONS, **timing.REASONS}
    return lazy.load(__name__, _EXPORTS, name)


def __dir__() -> list[str]:
    return lazy.names(__name__, (*_EXPORTS, "REASONS"))
