"""What an agent is, how one is registered, and how one is named on a command line."""
from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Callable, Sequence
from typing import Any

from kc.agents.protocol import Observation, Proposal, Verdict
from kc.errors import InputError

ENTRY_POINT_GROUP = "kc.agents"


@dataclasses.dataclass(frozen=True)
class Budget:
    """How much an agent may use for one compilation: wall ``seconds``, proposals per region, language-model tokens."""

    seconds: float = 60.0
    candidates: int = 8
    tokens: int = 100_000


@dataclasses.dataclass(frozen=True)
class Match:
    """Which regions an agent is asked about; all that is given must hold.

    ``names``: glob patterns of function names. ``kinds``: kernel kinds. ``least_ops``, ``most_ops``: size in ops.
    ``when``: any other condition on the observation.
    """

    names: tuple[str, ...] = ("*",)
    kinds: tuple[str, ...] = ()
    least_ops: int = 0
    most_ops: int = 10_000
    when: Callable[[Observation], bool] | None = None

    def __call__(self, observation: Observation) -> bool:
        return (
            any(fnmatch.fnmatchcase(observation.name, pattern) for pattern in self.names)
            and (not self.kinds or observation.kind in self.kinds)
            and self.least_ops <= len(observation.ops) <= self.most_ops
            and (self.when is None or self.when(observation))
        )


class Agent:
    """Base of all agents: subclass it, or put ``@kc.agent`` over a function from observation to proposal.

    ``name`` and ``version`` are part of the ledger's key: change ``version`` when answers change. ``levels``: where it
    wants to be asked, each a level (at its own moment: see ``kc.agents.session.hooks``) or a hook point
    (``before:PHASE``, ``after:PHASE``). ``notes``: what a user should know before it is asked, such as what it cannot
    do here; a compilation shows them.
    """

    name: str = ""
    version: str = "1"
    levels: Sequence[str] = ()
    match: Match = Match()
    budget: Budget = Budget()
    notes: Sequence[str] = ()

    def propose(self, observation: Observation) -> Proposal | None:
        """An answer, or None for no (further) one. Asked again after a rejection, until the budget is used up."""
        raise NotImplementedError

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        """What became of the last proposal; nothing by default."""

    def close(self) -> None:
        """Give back processes and connections; called once, at the end of the compilation."""


class FunctionAgent(Agent):
    """An agent made of one function."""

    def __init__(self, function: Callable[[Observation], Any], **attributes: Any):
        self.function = function
        for name, value in attributes.items():
            setattr(self, name, value)
        self.__doc__ = function.__doc__

    def propose(self, observation: Observation) -> Proposal | None:
        answer = self.function(observation)
        if answer is None or isinstance(answer, Proposal):
            return answer
        return Proposal.from_json(answer)

    def __call__(self, observation: Observation) -> Proposal | None:
        return self.propose(observation)


#: name -> agent, of this process
_registered: dict[str, Agent] = {}


def agent(
    function: Callable[[Observation], Any] | None = None,
    *,
    level: str | Sequence[str] = "linalg",
    name: str | None = None,
    version: str = "1",
    match: Match | Callable[[Observation], bool] | str | None = None,
    budget: Budget | None = None,
) -> Any:
    """Decorator: make an agent of a function ``Observation -> Proposal | dict | None`` and register it by its name.

    ``match``: a ``Match``, a glob pattern of names, or a condition on the observation. A registered agent takes part
    only where it is named: ``kc.compile(..., agents=["name"])``, ``--agent linalg=name``.
    """

    def make(wrapped: Callable[[Observation], Any]) -> FunctionAgent:
        chosen = match
        if isinstance(chosen, str):
            chosen = Match(names=(chosen,))
        elif chosen is None:
            chosen = Match()
        elif not isinstance(chosen, Match):
            chosen = Match(when=chosen)
        made = FunctionAgent(
            wrapped,
            name=name or getattr(wrapped, "__name__", "agent").replace("_", "-"),
            version=version,
            levels=(level,) if isinstance(level, str) else tuple(level),
            match=chosen,
            budget=budget or Budget(),
        )
        register(made)
        return made

    return make if function is None else make(function)


def register(made: Agent) -> Agent:
    """Make an agent known under its name. Raises InputError when it has no name or no level."""
    if not made.name or not made.levels:
        raise InputError(f"an agent needs a name and at least one level: {made!r}")
    _registered[made.name] = made
    return made


def registered() -> dict[str, Agent]:
    """The agents of this process by name."""
    return dict(_registered)
