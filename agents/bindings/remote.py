"""A workbench in another process, which may crash: then a new one is brought to where the old one stood."""
from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kc.agents.bindings.lines import ChildFailure, LineProcess
from kc.errors import CompileError, InputError, KcError
from kc.temporary import Folder

#: seconds that a call may take
SECONDS = 900.0
#: bytes of an answer: the text of a program
LINE_BYTES = 256 << 20
#: methods after which the program stands elsewhere
_MOVES = ("load", "step", "rewind", "propose")

Report = Callable[[int, int, str], None]


class RemoteError(KcError):
    """The process broke off or was too slow; the message says whether the program could be brought back."""


class Remote:
    """Calls of a ``Workbench`` in a process of its own. Calls wait for each other; ``close`` ends the process.

    ``first``: arguments of ``load``, done before the first call.
    """

    def __init__(
        self, ledger: str | None = None, timing: bool = False, first: dict[str, Any] | None = None,
        seconds: float = SECONDS,
    ):
        self._folder = Folder("mcp")
        self._ledger = ledger or str(Path(self._folder.name) / "agents.jsonl")
        self._arguments = [self._ledger, *(["--timing"] if timing else [])]
        self._seconds = seconds
        self._process: LineProcess | None = None
        self._closed = False
        self._number = 0
        #: what brought the program to where it stands
        self._journal: list[tuple[str, dict[str, Any]]] = [] if first is None else [("load", first)]
        self._lock = threading.Lock()

    def call(self, method: str, report: Report | None = None, **params: Any) -> Any:
        """The result of a method of the workbench.

        Raises what it raised (as InputError or CompileError), RemoteError when the process broke off.
        """
        with self._lock:
            try:
                if self._process is None:
                    self._start(but=method)
                result = self._exchange(method, params, report)
            except ChildFailure as failure:
                raise RemoteError(f"kc broke off in '{method}': {failure}{self._recovered()}") from None
            if method == "load":
                self._journal.clear()
            if method in _MOVES and (method != "propose" or result["accepted"]):
                self._journal.append((method, params))
            return result

    def close(self) -> None:
        """End the process, also in the midst of a call, which then fails."""
        self._closed = True
        process, self._process = self._process, None
        if process is not None:
            process.kill()
        self._folder.cleanup()

    def _start(self, but: str = "") -> None:
        """A new process, with the program where it stood; nothing is brought back for a ``load``."""
        if self._closed:
            raise ChildFailure("the server has ended")
        command = [sys.executable, "-m", "kc.agents.bindings.worker", *self._arguments]
        self._process = LineProcess(command, LINE_BYTES)
        for method, params in [] if but == "load" else self._journal:
            self._exchange(method, params, None)  # verdicts are in the ledger: nothing is judged twice

    def _recovered(self) -> str:
        """Bring the program back in a new process; says how that went, and what the old process wrote last."""
        process, self._process = self._process, None
        said = ""
        if process is not None:
            process.kill()
            tail = process.stderr_tail()
            said = f"; it wrote: {tail}" if tail else ""
        try:
            self._start()
        except (ChildFailure, KcError, OSError):
            if self._process is not None:
                self._process.kill()
                self._process = None
            self._journal.clear()
            return f"{said}. The program could not be brought back: load it again"
        return f"{said}. The program stands where it stood before this call"

    def _exchange(self, method: str, params: dict[str, Any], report: Report | None) -> Any:
        process, deadline = self._process, time.monotonic() + self._seconds
        assert process is not None
        self._number += 1
        process.send(json.dumps({"id": self._number, "method": method, "params": params}), deadline)
        while True:
            answer = json.loads(process.receive(deadline))
            if "progress" in answer:
                if report is not None:
                    report(*answer["progress"])
                continue
            if answer.get("id") != self._number:
                raise ChildFailure("answered another request")
            break
        error = answer.get("error")
        if error is None:
            return answer["result"]
        if error["kind"] == "bug":
            raise CompileError(f"kc made a mistake in '{method}': {error['message']}")
        raise (InputError if error["kind"] in ("InputError", "ProtocolError") else CompileError)(error["message"])
