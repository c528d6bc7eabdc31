"""When kc cannot compile a program with the answers in it: which of them is to blame, and a build without that one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kc.errors import CompileError, InputError

if TYPE_CHECKING:
    from kc.agents.session.decision import Decision
    from kc.agents.session.session import Session

#: gives what the compilation gives, with a session (which may hold other answers) in the place of the first one
Trial = Callable[["Session"], Any]
#: answers that are taken back one by one; after that all are
_MOST = 6


def recover(session: Session, error: CompileError, trial: Trial) -> Any:
    """What ``trial`` gives once the answers that kc cannot compile are taken back; their regions are asked about again.

    Raises a CompileError where nothing can be taken back: in a frozen build, which is to give one program and no other
    (it names the answer), and where the program cannot be compiled without answers either (what is wrong with that).
    """
    for number in range(_MOST + 1):
        found = [decision for decision in session.decisions if decision.accepted]
        if not found:
            raise error
        if session.frozen:
            raise _named(error, _culprit(session, found, trial)) from error
        culprits = [_culprit(session, found, trial)] if number < _MOST else found
        for decision in culprits:
            session.take_back(decision, error)
        session.restart(culprits)
        try:
            return trial(session)
        except CompileError as another:
            error = another
    raise error


def _named(error: CompileError, decision: Decision) -> CompileError:
    assert decision.attempt is not None
    who = f"agent '{decision.agent}' for region '@{decision.region}' (attempt {decision.attempt.hash[:12]})"
    message = f"with what the ledger has of {who}: {error.message}"
    return CompileError(message, error.diagnostics, error.pass_name, sources=error.sources)


def _culprit(session: Session, answers: Sequence[Decision], trial: Trial) -> Decision:
    """The first of the answers, all of which together do not compile, with which those before it do not either.

    Found by bisection: of ``n`` answers in about log2(n) compilations, after one without any.
    """
    trial(session.again(()))
    good, bad = 0, len(answers)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            trial(session.again(answers[:middle]))
            good = middle
        except (CompileError, InputError):
            bad = middle
    return answers[good]
