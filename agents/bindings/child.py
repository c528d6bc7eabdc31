"""An agent in a process of its own, in any language: JSON-RPC 2.0 over stdin and stdout, one object a line.

``--agent 'linalg=exec:./my_agent.sh --fast'``. kc calls four methods:

* ``initialize`` with ``version`` (of the protocol), ``kc`` (its version) and ``levels`` (where kc wants to ask, or
  null); the result is an object with any of ``name``, ``version``, ``levels``, ``match`` (``names``, ``kinds``,
  ``least_ops``, ``most_ops``) and ``budget`` (``seconds``, ``candidates``, ``tokens``);
* ``propose`` with ``observation``; the result is a proposal, or null;
* ``learn`` with ``observation`` (``identity``, ``level``, ``at``, ``name`` only), ``proposal`` and ``verdict``; the
  result does not matter;
* ``shutdown``, after whose answer the child ends.

A method that the child does not know (error -32601) is none that it needs, but for ``propose``. A child may send
notifications of method ``log`` (``message``). What it writes to stderr is kept for error messages.
"""
from __future__ import annotations

import json
import os
import resource
import shlex
import time
from collections.abc import Mapping, Sequence
from typing import Any

from kc.agents.base import Agent, Budget, Match
from kc.agents.bindings.lines import ChildFailure, LineProcess
from kc.agents.protocol import VERSION, Observation, Proposal, ProtocolError, Verdict, dumps, from_json
from kc.errors import InputError, KcError

#: seconds for the answers to ``initialize``, ``learn`` and ``shutdown``
START_SECONDS, LEARN_SECONDS, STOP_SECONDS = 30.0, 10.0, 2.0
#: bytes of one line; a proposal is text of a region, not of a model
LINE_BYTES = 64 << 20
#: how often a child is started anew after it broke off
RESTARTS = 3
_UNKNOWN_METHOD = -32601


class ChildError(KcError):
    """The child broke off, took too long, or did not speak the protocol; the message holds the end of its stderr."""


class ChildAgent(Agent):
    """An agent that a command runs. The child is started at once, and anew when it broke off.

    ``command``: as a shell splits it, or a list; ``levels``: where to ask (default: where the child says);
    ``memory``: bytes of address space that it may use. Raises InputError when it cannot be started or says no level.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        levels: Sequence[str] | None = None,
        *,
        memory: int | None = None,
        restarts: int = RESTARTS,
        line_bytes: int = LINE_BYTES,
    ):
        self.command = shlex.split(command) if isinstance(command, str) else list(command)
        if not self.command:
            raise InputError("an agent's command is empty")
        self._memory, self._restarts, self._line_bytes = memory, restarts, line_bytes
        self._wanted = None if levels is None else list(levels)
        self._process: LineProcess | None = None
        self._number = 0
        #: what the child sent as ``log``, the last hundred
        self.log: list[str] = []
        try:
            told = self._start()
        except ChildError as error:
            self.close()
            raise InputError(str(error)) from None
        self.name = str(told.get("name") or os.path.basename(self.command[0]))
        self.version = str(told.get("version", "1"))
        self.levels = tuple(levels if levels is not None else told.get("levels") or ())
        try:
            self.match = from_json(Match, _without(told.get("match") or {}, "when"))
            self.budget = from_json(Budget, told.get("budget") or {})
        except ProtocolError as error:
            self.close()
            raise InputError(f"agent '{self.name}' ({self._shown}): result of 'initialize': {error}") from None

    def propose(self, observation: Observation) -> Proposal | None:
        """Ask the child. Raises ChildError, ProtocolError when its answer is no proposal."""
        params = f'{{"observation": {dumps(observation)}}}'
        answer = self._call("propose", params, self.budget.seconds)
        return None if answer is None else Proposal.from_json(answer)

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        """Tell the child."""
        about = {name: getattr(observation, name) for name in ("identity", "level", "at", "name")}
        parts = f'"observation": {json.dumps(about)}, "proposal": {dumps(proposal)}, "verdict": {dumps(verdict)}'
        self._call("learn", f"{{{parts}}}", LEARN_SECONDS)

    def close(self) -> None:
        """End the child: ask it to, then kill it with all of its group."""
        process, self._process = self._process, None
        if process is not None:
            try:
                process.send(self._request("shutdown", "{}"), time.monotonic() + STOP_SECONDS)
                process.wait(STOP_SECONDS)
            except ChildFailure:
                pass
            finally:
                process.kill()

    @property
    def _shown(self) -> str:
        return shlex.join(self.command)

    def _start(self) -> Mapping[str, Any]:
        """Start the child and let it introduce itself."""
        from kc import __version__

        try:
            self._process = LineProcess(self.command, self._line_bytes)
        except OSError as error:
            raise ChildError(f"cannot run the agent '{self._shown}': {error.strerror or error}") from None
        if self._memory is not None:
            resource.prlimit(self._process.pid, resource.RLIMIT_AS, (self._memory, self._memory))
        params = {"version": VERSION, "kc": __version__, "levels": self._wanted}
        told = self._exchange("initialize", json.dumps(params), START_SECONDS)
        if told is not None and not isinstance(told, Mapping):
            raise ChildError(f"agent '{self._shown}': the result of 'initialize' is no object")
        return told or {}

    def _call(self, method: str, params: str, seconds: float) -> Any:
        """Call a method of the child, which is started anew when it is gone. Raises ChildError."""
        if self._process is None:
            if self._restarts <= 0:
                raise ChildError(f"agent '{self._shown}' broke off too often and is not started again")
            self._restarts -= 1
            self._start()
        return self._exchange(method, params, seconds)

    def _request(self, method: str, params: str) -> str:
        self._number += 1
        return f'{{"jsonrpc": "2.0", "id": {self._number}, "method": "{method}", "params": {params}}}'

    def _exchange(self, method: str, params: str, seconds: float) -> Any:
        """One request and its answer. The child does not outlive an answer that it did not give."""
        process, deadline = self._process, time.monotonic() + seconds
        assert process is not None
        try:
            process.send(self._request(method, params), deadline)
            while True:
                answer = self._message(process.receive(deadline))
                if "method" in answer and "id" not in answer:
                    self._notified(answer)
                    continue
                if answer.get("id") != self._number:
                    raise ChildFailure(f"answered request {answer.get('id')!r} where {self._number} was asked")
                break
        except ChildFailure as failure:
            self._process = None
            process.kill()
            said = process.stderr_tail()
            more = f"; it wrote: {said}" if said else ""
            raise ChildError(f"agent '{self._shown}', '{method}': {failure}{more}") from None
        error = answer.get("error")
        if error is None:
            return answer.get("result")
        code = error.get("code") if isinstance(error, Mapping) else None
        if code == _UNKNOWN_METHOD and method != "propose":
            return None
        reason = error.get("message") if isinstance(error, Mapping) else error
        raise ChildError(f"agent '{self._shown}', '{method}': {str(reason)[:1000]}")

    def _message(self, line: bytes) -> Mapping[str, Any]:
        """A line of the child as a JSON-RPC message."""
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            start = line[:80].decode(errors="replace")
            raise ChildFailure(f"wrote to stdout what is no JSON (use stderr for messages): {start!r}") from None
        if not isinstance(answer, Mapping) or not answer.keys() & {"result", "error", "method"}:
            raise ChildFailure(f"wrote what is no JSON-RPC message: {line[:80]!r}")
        return answer

    def _notified(self, message: Mapping[str, Any]) -> None:
        params = message.get("params")
        if message.get("method") == "log" and isinstance(params, Mapping):
            self.log = [*self.log[-99:], str(params.get("message"))[:1000]]


def _without(data: Any, name: str) -> Any:
    """``data`` unless it has a field of that name, which is for agents of this process only."""
    if isinstance(data, Mapping) and name in data:
        raise ProtocolError("is a condition in Python, which a child cannot give", name)
    return data
