"""The protocol: what an agent is shown, what it may answer, and what it is told. Plain data, told as JSON.

``messages`` has the three messages, ``json_form`` how they are written and read, ``schema`` their JSON Schema.
"""

from kc.agents.protocol.json_form import NON_FINITE, VERSION, ProtocolError, dumps, from_json, loads, to_json
from kc.agents.protocol.messages import GATES, LONGEST, NEEDS, Gate, Kind, Observation, Proposal, Verdict

__all__ = [
    "GATES", "LONGEST", "NEEDS", "NON_FINITE", "VERSION", "Gate", "Kind", "Observation", "Proposal", "ProtocolError",
    "Verdict", "dumps", "from_json", "loads", "to_json",
]  # fmt: skip
