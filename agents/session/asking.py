"""Asking an agent without trusting it: its calls run in a thread of their own, and end when their time is over."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from kc.agents.base import Agent
from kc.agents.protocol import Observation, Proposal, ProtocolError, Verdict


class Lapse(Exception):
    """An agent raised, took too long, or answered what is no proposal; the text says which."""


class Spent(Lapse):
    """An agent's seconds are used up."""


class NotYet(Lapse):
    """Raised by ``propose``: there is no answer now, and that settles nothing."""


class Asking:
    """One agent's thread. After a time-out the agent is not asked again: its thread may still be busy."""

    def __init__(self, agent: Agent):
        self.agent = agent
        #: wall seconds that the agent has used
        self.spent = 0.0
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], queue.SimpleQueue[Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lost = False

    def propose(self, observation: Observation) -> Proposal | None:
        """The agent's answer; raises Lapse."""
        answer = self._call("propose", lambda: self.agent.propose(observation))
        if answer is None or isinstance(answer, Proposal):
            return answer
        try:
            return Proposal.from_json(answer)
        except ProtocolError as error:
            raise Lapse(f"its answer is no proposal: {error}") from None

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        """Tell the agent the verdict; raises Lapse."""
        self._call("learn", lambda: self.agent.learn(observation, proposal, verdict))

    def close(self) -> None:
        """Let the agent give back what it holds, and end its thread; raises Lapse."""
        try:
            if not self._lost:
                self._call("close", self.agent.close, least=5.0)
        finally:
            self._jobs.put(None)

    def _call(self, name: str, work: Callable[[], Any], least: float = 0.0) -> Any:
        if self._lost:
            raise Spent(f"not asked ({name}): it did not answer in time before")
        left = max(self.agent.budget.seconds - self.spent, least)
        if left <= 0:
            raise Spent(f"its budget of {self.agent.budget.seconds:g} seconds is used up")
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=f"agent {self.agent.name}", daemon=True)
            self._thread.start()
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        started = time.monotonic()
        self._jobs.put((work, answers))
        try:
            value, error = answers.get(timeout=left)
        except queue.Empty:
            self._lost = True
            raise Spent(f"{name} took longer than the {left:g} seconds that were left of its budget") from None
        finally:
            self.spent += time.monotonic() - started
        if isinstance(error, NotYet):
            raise error
        if error is not None:
            raise Lapse(f"{name} raised {type(error).__name__}: {error}") from error
        return value

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, answers = job
            try:
                answers.put((work(), None))
            except BaseException as error:  # SystemExit of an agent must not end the compilation
                answers.put((None, error))


class Stand:
    """An agent of this session: where it is asked, and what of its budget is left."""

    def __init__(self, agent: Agent, points: frozenset[str]):
        self.agent, self.points = agent, points
        self.asking = Asking(agent)

    @property
    def key(self) -> tuple[str, str]:
        """Name and version, as in the ledger."""
        return self.agent.name, self.agent.version
