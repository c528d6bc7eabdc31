"""Sessions: how agents take part in a compilation.

``open_session`` makes a ``Session`` of what a caller gave; it asks at ``hooks`` (moments of a road), shows what
``observe`` says of a region, holds a conversation (``converse``), and puts what was accepted in the region's place
(``placing``). ``in_pipeline`` stands behind the pass ``agents{…}``, ``explaining`` behind ``kc explain``.
"""

from kc.agents.session.decision import Decision
from kc.agents.session.opening import open_session, program_hash
from kc.agents.session.session import Session

__all__ = ["Decision", "Session", "open_session", "program_hash"]
