"""When an attempt no longer stands: kc cannot vouch for the verdict as if it had been given today.

What a region is (its IR, the contract written in it, target, options) is in its identity, so a change there makes
another region, not a stale entry. Stale is what was judged by other rules: by another version of kc, of the protocol,
or of the gates.
"""
from __future__ import annotations

from kc.agents import protocol
from kc.agents.ledger.lines import Attempt


def gates_revision() -> int:
    """The revision of the gates' rules: ``kc.agents.gates.REVISION``, 0 where the gates name none."""
    from kc.agents import gates

    return int(getattr(gates, "REVISION", 0))


def why_stale(attempt: Attempt) -> str | None:
    """Why ``attempt`` no longer stands, in words; None when it does."""
    from kc import __version__

    if attempt.protocol != protocol.VERSION:
        return f"it speaks version {attempt.protocol} of the protocol, and this kc version {protocol.VERSION}"
    if attempt.kc != __version__:
        return f"it was judged by kc {attempt.kc or 'of unknown version'}, and this is kc {__version__}"
    if attempt.gates != gates_revision():
        return f"it was judged by revision {attempt.gates} of the gates, and this kc has revision {gates_revision()}"
    return None
