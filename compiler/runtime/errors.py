"""What the runtime raises: ``ArgumentError`` for the caller's mistakes, all else derives from ``RuntimeFailure``."""
from __future__ import annotations

import threading

_failures = threading.local()


def keep_cause(error: BaseException) -> None:
    """Remember the exception of a function that a program called on this thread."""
    _failures.cause = error


def take_cause() -> BaseException | None:
    """The exception of the function that failed on this thread, once. What is no ``Exception`` (the user's interrupt,
    the interpreter's exit) is raised here."""
    cause: BaseException | None = getattr(_failures, "cause", None)
    _failures.cause = None
    if cause is not None and not isinstance(cause, Exception):
        raise cause
    return cause


class ArgumentError(ValueError):
    """A call with arguments that do not fit the signature.

    ``index`` and ``name`` tell which argument (``None`` when the mistake is in no single one, e.g. their number).
    """

    def __init__(self, message: str, index: int | None = None, name: str | None = None) -> None:
        super().__init__(message)
        self.index = index
        self.name = name


class RuntimeFailure(RuntimeError):
    """Base of the runtime's own errors."""


class LoadError(RuntimeFailure):
    """A program that cannot be loaded here: damaged, of another version, for another machine, or with code that
    refers to functions which the runtime does not have."""


class ExecutionError(RuntimeFailure):
    """A failure while a program ran: a check in the program, memory exhausted, a refused or faulting launch."""


class DeviceError(RuntimeFailure):
    """No GPU, no driver, or the driver refuses."""
