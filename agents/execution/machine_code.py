"""Level asm: an object made of assembly, called as its callers would call it, by the convention for x86-64."""
from __future__ import annotations

import base64
import ctypes
import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any

from kc.agents.execution.calls import Call, Checks, Outcome, Role
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.frame import Frame
from kc.agents.execution.loaded import Loaded
from kc.agents.execution.native import Runner
from kc.agents.execution.signature import Kind, Signature, kind_of

#: registers that take integers and floats
_INTEGERS, _FLOATS = 6, 8
_FLOAT_TYPES = ("f16", "bf16", "f32", "f64")


@dataclasses.dataclass(frozen=True)
class Code:
    """An object whose function ``main`` takes arguments of the types ``arguments``, buffers as MLIR passes them."""

    arguments: tuple[str, ...]
    data: bytes

    def text(self) -> str:
        """As a text, which crosses processes like any module."""
        return json.dumps({"arguments": self.arguments, "object": base64.b64encode(self.data).decode()})

    @classmethod
    def of(cls, text: str) -> Code:
        """The inverse of ``text``."""
        told = json.loads(text)
        return cls(tuple(told["arguments"]), base64.b64decode(told["object"]))


class _Machine(ctypes.Structure):
    """A call (machine.cpp)."""

    _fields_ = (
        ("function", ctypes.c_uint64), ("integers", ctypes.c_uint64 * _INTEGERS),
        ("floats", ctypes.c_uint64 * (2 * _FLOATS)), ("stacked", ctypes.c_int64), ("stack", ctypes.c_uint64),
        ("poison", ctypes.c_uint64),
    )


def run(text: str, calls: Sequence[Call], checks: Checks) -> Iterator[Outcome]:
    """See ``kc.agents.execution``. ``text``: of a ``Code``."""
    program = Program(Code.of(text), checks)
    for call in calls:
        yield program.call(call)


class Program(Runner):
    """An object in memory, to be called often."""

    def __init__(self, code: Code, checks: Checks):
        if checks.instrument:
            raise ExecutionError("unsupported", "machine code cannot be watched access by access")
        arguments = tuple(map(kind_of, code.arguments))
        roles: list[Role] = ["inout"] * len(arguments)
        super().__init__("asm", checks, Signature(arguments, (), checks.roles or tuple(roles)))
        self._loaded = Loaded(code.data, self.library)
        self._function = self._loaded.address("main")
        self._entry = ctypes.cast(self.library.kc_checked_machine, ctypes.c_void_p).value

    def pointers(self, frame: Frame) -> Any:
        """A call of the function as ``kc_checked_machine`` takes it."""
        integers: list[int] = []
        floats: list[int] = []
        stack: list[int] = []
        for kind, words in zip(self.signature.arguments, frame.words(), strict=True):
            for word in words:
                into, most = (floats, _FLOATS) if _in_float(kind) else (integers, _INTEGERS)
                (into if len(into) < most else stack).append(word)
        poison = frame.given.poison * 0x0101010101010101
        unused = [poison] * _INTEGERS
        lanes = [word for value in (floats + [poison] * _FLOATS)[:_FLOATS] for word in (value, poison)]
        self._stack = (ctypes.c_uint64 * max(1, len(stack)))(*stack)
        self._call = _Machine(
            self._function, (ctypes.c_uint64 * _INTEGERS)(*(integers + unused)[:_INTEGERS]),
            (ctypes.c_uint64 * (2 * _FLOATS))(*lanes), len(stack), ctypes.addressof(self._stack), poison,
        )
        return ctypes.byref(self._call)


def _in_float(kind: Kind) -> bool:
    return kind.form == "scalar" and kind.element in _FLOAT_TYPES

