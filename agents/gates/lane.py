"""A module that stays compiled in a sandbox and makes calls as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from kc.agents.execution.calls import Call, Outcome
from kc.agents.gates import sandbox

#: answers that nobody waits for any more are read up to so many; beyond that the process is ended
_DRAINED = 64

Answers = Generator[Outcome | sandbox.End, None, None]


class Lane:
    """One module in one process, started when first needed, and again when a call has ended it."""

    def __init__(self, start: Callable[[Sequence[Call]], sandbox.Job]):
        self._start = start
        self._job: sandbox.Job | None = None
        self._messages: Generator[Outcome, None, None] | None = None
        self._pending = 0

    def begin(self, calls: Sequence[Call]) -> Answers:
        """Ask for calls; iterate over the answer for their outcomes, in order.

        A call in which the process died has the process's end in place of an outcome. Until the answer has been read
        to its end or closed nothing else may be asked.
        """
        self._drain()
        self._ask(calls)
        return self._answers(calls)

    def close(self) -> None:
        """End the process."""
        if self._messages is not None:
            self._messages.close()
        if self._job is not None:
            self._job.close()
        self._job = self._messages = None
        self._pending = 0

    def _ask(self, calls: Sequence[Call]) -> None:
        self._pending = len(calls)
        if not calls:
            return
        if self._job is not None and not self._job.send(list(calls)):
            self.close()
            self._pending = len(calls)
        if self._job is None:
            self._job = self._start(calls)
            self._messages = _outcomes(self._job)

    def _answers(self, calls: Sequence[Call]) -> Answers:
        done = 0
        while done < len(calls):
            assert self._messages is not None and self._job is not None
            outcome = next(self._messages, None)
            done += 1
            if outcome is not None:
                self._pending -= 1
                yield outcome
                continue
            end = self._job.end or sandbox.End("crash", "the process ended early")
            self.close()
            self._ask(calls[done:])
            yield end if end.kind != "ok" else sandbox.End("crash", "the process ended early")

    def _drain(self) -> None:
        """Read what an earlier question was not asked about any further."""
        if self._pending > _DRAINED:
            self.close()
        while self._pending > 0 and self._messages is not None:
            if next(self._messages, None) is None:
                self.close()
                return
            self._pending -= 1


def _outcomes(job: sandbox.Job) -> Generator[Outcome, None, None]:
    for message in job:
        if isinstance(message, Outcome):
            yield message
