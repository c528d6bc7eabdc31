"""What stands behind the pass ``agents{…}``: a session for one module at one level."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from kc.agents.base import Agent, Match
from kc.agents.ledger import Ledger
from kc.agents.loading import load
from kc.agents.session.opening import program_hash
from kc.agents.session.session import Session
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.agents.protocol import Observation
    from kc.bindings import ir


class Options(Protocol):
    """The options of the pass."""

    at: str
    use: tuple[str, ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    target: str
    ledger: str | None
    mode: str | None


@dataclasses.dataclass(frozen=True)
class Given:
    """What a command line gave for all ``agents`` passes of its pipeline."""

    agents: tuple[Agent, ...] = ()
    ledger: str | None = None
    mode: str = "ask"


_given = Given()


def give(agents: Sequence[str], ledger: str | None, mode: str) -> None:
    """Set what ``agents`` passes that name nobody use, for this process. Raises InputError for an unknown agent."""
    global _given
    _given = Given(tuple(map(load, agents)), ledger, mode)


def run(module: ir.Operation, options: Options) -> tuple[list[str], list[str], int]:
    """Ask about the regions of ``module``: what was settled, what went wrong, how many regions were replaced.

    Raises InputError for an agent, level or target that does not exist, LedgerError in a frozen run that meets
    something new.
    """
    from kc.levels import level_named
    from kc.targets import get_target

    level_named(options.at)
    target = get_target(options.target)
    agents = [load(name) for name in options.use] or [a for a in _given.agents if options.at in a.levels]
    ledger = options.ledger or _given.ledger
    mode = options.mode or _given.mode
    if not agents and mode not in ("frozen", "verified"):
        given = ", ".join(f"'{a.name}' ({', '.join(a.levels)})" for a in _given.agents)
        hint = f"those given are for other levels: {given}" if given else "name one: use=NAME, or kc-opt --agent"
        raise InputError(f"nobody to ask at level '{options.at}': {hint}")
    session = Session(
        [_narrowed(agent, options) for agent in agents],
        (),
        target=target,
        ledger=Ledger(ledger),
        mode=mode,
        program=program_hash(module, target.spec, {"at": options.at}),
        moment=f"pass:{options.at}",
    )
    with session:
        session.ask(module, options.at, f"pass:{options.at}")
        session.finish()
    replaced = sum(decision.accepted for decision in session.decisions)
    return [str(decision) for decision in session.decisions], session.remarks, replaced


def _narrowed(agent: Agent, options: Options) -> Agent:
    """``agent`` with the pass's own selection on top of its ``match``."""
    if not options.names and not options.kinds:
        return agent
    own = agent.match
    chosen = Match(names=options.names or ("*",), kinds=options.kinds, most_ops=1 << 30)

    def both(observation: Observation) -> bool:
        return chosen(observation) and own(observation)

    narrowed = copy.copy(agent)
    narrowed.match = Match(most_ops=1 << 30, when=both)
    return narrowed
