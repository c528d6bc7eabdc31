"""That every way through a function keeps the calling convention: its caller's registers, the stack, stores in order.

The System V ABI for AMD64 wants rbx, rbp, r12 to r15 and the stack pointer given back at every return, the stack
aligned to 16 bytes at every call. Each function of the text is followed statement by statement with what is known of
these: where the stack pointer stands from where it stood at entry, which registers hold the caller's values, and in
which slots of the frame such values lie. Whatever cannot be followed (a stack pointer that is computed, for instance)
is refused. Non-temporal stores must be fenced before a function ends: other threads would see them late.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from kc.agents.realize.x86.lines import Statement, refuse
from kc.agents.realize.x86.rules import Layout

_PRESERVED = ("rbx", "rbp", "r12", "r13", "r14", "r15")
#: names of the parts of preserved registers and of the stack pointer -> the register
_WHOLE: dict[str, str] = {
    **{f"{name}{part}": name for name in ("r12", "r13", "r14", "r15") for part in ("", "d", "w", "b")},
    **dict.fromkeys(("rbx", "ebx", "bx", "bl", "bh"), "rbx"),
    **dict.fromkeys(("rbp", "ebp", "bp", "bpl"), "rbp"),
    **dict.fromkeys(("rsp", "esp", "sp", "spl"), "rsp"),
}  # fmt: skip
#: instructions that write none of their operands
_READS_ONLY = re.compile(
    r"(cmp|test)[bwlq]?$|push|v?u?comis|v?ptest$|vtest|bt[wlq]?$|nop|prefetch|i?div[bwlq]?$|mul[bwlq]?$"
)
#: instructions that write two of them
_WRITES_MORE = re.compile(r"xchg|xadd|mulx|cmpxchg")
_ON_FRAME = re.compile(r"([-+]?(?:0x[0-9a-fA-F]+|\d+))?\(%(rsp|rbp)\)$")
_ON_STACK = re.compile(r"([-+]?(?:0x[0-9a-fA-F]+|\d+))?\(%(rsp|rbp)(,.*)?\)$")
_RED_ZONE = 128
#: bytes of one function's frame
_MOST_FRAME = 256 << 10
_NON_TEMPORAL = re.compile(r"v?movnt(?!dqa)")
_FENCES = ("sfence", "mfence")

#: where the stack pointer (or a copy of it in rbp) stands: 0 for the entry, or the statement that aligned it; and bytes
Place = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class State:
    """What is known before a statement. ``slots``: place -> register whose value at entry lies there; ``copy``: the
    stack pointer in rbp; ``foreign``: preserved registers that hold something else than at entry."""

    stack: Place = (0, 0)
    copy: Place | None = None
    foreign: frozenset[str] = frozenset()
    slots: frozenset[tuple[Place, str]] = frozenset()
    unfenced: bool = False

    def meet(self, other: State) -> State:
        """What is known on either of two ways."""
        return State(
            self.stack,
            self.copy if self.copy == other.copy else None,
            self.foreign | other.foreign,
            self.slots & other.slots,
            self.unfenced or other.unfenced,
        )


def check(statements: Sequence[Statement], layout: Layout) -> None:
    """Follow every function. Raises RealizeError at the first statement that breaks the convention."""
    calls = {name: _follow(statements, layout, layout.code[name]) for name in sorted(layout.functions)}
    above: dict[str, set[str]] = {name: set(called) for name, called in calls.items()}
    for _ in calls:  # whatever is called by what is called
        above = {name: known.union(*(above[other] for other in known)) for name, known in above.items()}
    around = sorted(name for name, known in above.items() if name in known)
    if around:
        message = f"'{around[0]}' calls itself: how deep the stack grows cannot be told"
        raise refuse("resource.recursion", statements[layout.code[around[0]]], message)


def _follow(statements: Sequence[Statement], layout: Layout, entry: int) -> set[str]:
    """Follow one function; the functions of the text that it calls."""
    called: set[str] = set()
    known: dict[int, State] = {entry: State()}
    stack = [entry]
    while stack:
        number = stack.pop()
        state = known[number]
        if statements[number].name.startswith("call"):
            called |= {_target(statements[number])} & layout.functions
        for following, after in _step(statements, layout, number, state):
            if following >= len(statements):
                raise refuse("signature.convention", statements[number], "the code goes on where the text ends")
            before = known.get(following)
            if before is not None and before.stack != after.stack:
                raise refuse(
                    "signature.convention",
                    statements[following],
                    "the stack pointer does not stand at the same place on all ways that lead here",
                )
            met = after if before is None else before.meet(after)
            if met != before:
                known[following] = met
                stack.append(following)
    return called


def _step(
    statements: Sequence[Statement], layout: Layout, number: int, state: State
) -> list[tuple[int, State]]:
    """Where it goes on after a statement, with what is known there."""
    statement = statements[number]
    if statement.kind != "instruction":
        return [(number + 1, state)]
    name = statement.name
    if name.startswith("ret"):
        _leaves(statement, state)
        return []
    if name == "ud2":
        return []
    if name in ("jmp", "jmpq"):
        target = _target(statement)
        if target not in layout.code or target in layout.functions:
            _leaves(statement, state)
            return []
        return [(layout.code[target], state)]
    if name.startswith("call"):
        base, offset = state.stack
        if (offset + (8 if base == 0 else 0)) % 16:
            raise refuse("signature.convention", statement, "the stack is not aligned to 16 bytes at this call")
        if state.unfenced:
            raise refuse("signature.convention", statement, "non-temporal stores need sfence before this call")
        return [(number + 1, state)]
    if name.startswith(("j", "loop")):
        target = _target(statement)
        if target not in layout.code:
            raise refuse("signature.convention", statement, "a condition does not lead out of the text")
        if target in layout.functions:
            _leaves(statement, state)
            return [(number + 1, state)]
        return [(number + 1, state), (layout.code[target], state)]
    return [(number + 1, _effect(statement, number, state))]


def _target(statement: Statement) -> str:
    return statement.operands[0].removesuffix("@PLT")


def _leaves(statement: Statement, state: State) -> None:
    """Raises RealizeError unless a function may end here."""
    if state.stack != (0, 0):
        where = "somewhere else than" if state.stack[0] else f"{state.stack[1]} bytes from where it was"
        raise refuse("signature.convention", statement, f"the stack pointer stands {where} at entry")
    if state.foreign:
        lost = ", ".join(f"%{register}" for register in sorted(state.foreign))
        message = f"{lost} of the caller is not given back on a way that ends here"
        raise refuse("signature.convention", statement, message)
    if state.unfenced:
        raise refuse("signature.convention", statement, "non-temporal stores need sfence before the end")


def _effect(statement: Statement, number: int, state: State) -> State:
    name, operands = statement.name, statement.operands
    if name in _FENCES:
        return dataclasses.replace(state, unfenced=False)
    if _NON_TEMPORAL.match(name):
        state = dataclasses.replace(state, unfenced=True)
    if re.match(r"push[wq]?$", name):
        return _push(statement, state)
    if re.match(r"pop[wq]?$", name):
        return _pop(statement, state)
    if name.startswith("leave"):
        if state.copy is None:
            raise refuse("signature.convention", statement, "rbp is not known to hold a stack pointer here")
        return _pop(statement._replace(operands=("%rbp",)), dataclasses.replace(state, stack=state.copy))
    moved = _stack_pointer(statement, number, state)
    if moved is not None:
        return moved
    for place in _places(statement):
        match = _ON_STACK.match(place)
        if match is not None:
            state = _store(statement, state, match)
    loaded = _ON_FRAME.match(operands[0]) if len(operands) == 2 and name in ("mov", "movq") else None
    register = _written(statement)
    if loaded is not None and register and (_place(loaded, state), register[0]) in state.slots:
        return dataclasses.replace(state, foreign=state.foreign - {register[0]})
    if "rsp" in register:
        raise refuse("signature.convention", statement, "what becomes of the stack pointer here cannot be followed")
    if "rbp" in register:
        state = dataclasses.replace(state, copy=None)
    return dataclasses.replace(state, foreign=state.foreign | set(register))


def _places(statement: Statement) -> tuple[str, ...]:
    """The operands that an instruction may write."""
    multiplies = statement.name.startswith("imul") and len(statement.operands) == 1
    if _READS_ONLY.match(statement.name) or multiplies:
        return ()
    return statement.operands if _WRITES_MORE.match(statement.name) else statement.operands[-1:]


def _written(statement: Statement) -> list[str]:
    """The preserved registers (and rsp) that an instruction may write."""
    return [_WHOLE[place[1:]] for place in _places(statement) if place.startswith("%") and place[1:] in _WHOLE]


def _push(statement: Statement, state: State) -> State:
    _deep(statement, state.stack[1] - 8)
    if statement.name == "pushw":
        raise refuse("signature.convention", statement, "the stack moves by eight bytes at a time")
    base, offset = state.stack
    stack = (base, offset - 8)
    register = statement.operands[0].removeprefix("%") if len(statement.operands) == 1 else ""
    slots = _without(state.slots, stack, 8)
    if register in _PRESERVED and register not in state.foreign:
        slots |= {(stack, register)}
    return dataclasses.replace(state, stack=stack, slots=slots)


def _pop(statement: Statement, state: State) -> State:
    base, offset = state.stack
    register = statement.operands[0].removeprefix("%") if len(statement.operands) == 1 else ""
    if statement.name == "popw" or register not in _GENERAL or offset + 8 > 0:
        raise refuse("signature.convention", statement, "this pop cannot be followed")
    foreign = state.foreign
    if register in _PRESERVED:
        own = ((base, offset), register) in state.slots
        foreign = foreign - {register} if own else foreign | {register}
    copy = None if register == "rbp" else state.copy
    return dataclasses.replace(state, stack=(base, offset + 8), foreign=foreign, copy=copy)


_GENERAL = frozenset({"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{n}" for n in range(8, 16))})


def _stack_pointer(statement: Statement, number: int, state: State) -> State | None:
    """The state after an instruction that moves the stack pointer, or copies it to rbp; None for any other."""
    name, operands = statement.name.removesuffix("q"), statement.operands
    if len(operands) != 2:
        return None
    source, target = operands
    base, offset = state.stack
    if (name, source, target) == ("mov", "%rsp", "%rbp"):
        return dataclasses.replace(state, copy=state.stack, foreign=state.foreign | {"rbp"})
    if target != "%rsp":
        return None
    constant = int(source[1:], 0) if re.fullmatch(r"\$[-+]?(0x[0-9a-fA-F]+|\d+)", source) else None
    moved: Place | None = None
    if name in ("add", "sub") and constant is not None:
        moved = (base, offset + (constant if name == "add" else -constant))
    elif name == "and" and constant is not None and constant < 0 and (-constant).bit_count() == 1 and -constant >= 16:
        moved = (number + 1, 0)
    elif name == "mov" and source == "%rbp":
        moved = state.copy
    elif name == "lea" and (match := _ON_FRAME.match(source)) is not None:
        moved = _place(match, state)
    if moved is None or moved[1] > 0:
        raise refuse("signature.convention", statement, "what becomes of the stack pointer here cannot be followed")
    _deep(statement, moved[1])
    return dataclasses.replace(state, stack=moved)


def _deep(statement: Statement, offset: int) -> None:
    """Raises RealizeError where a frame becomes larger than any thread's stack bears."""
    if offset < -_MOST_FRAME:
        raise refuse("resource.stack", statement, f"the frame has {-offset:,} bytes; the most is {_MOST_FRAME:,}")


def _place(match: re.Match[str], state: State) -> Place | None:
    start = state.stack if match[2] == "rsp" else state.copy
    return None if start is None else (start[0], start[1] + int(match[1] or "0", 0))


def _store(statement: Statement, state: State, match: re.Match[str]) -> State:
    """A store to the frame: into a slot, over slots, or over what is not the function's own."""
    place = _place(match, state)
    if place is None:  # rbp holds something else: memory like any other
        return state
    if match[3]:  # with an index: somewhere in the frame, at run time within it
        return state
    size = _size(statement)
    below = state.stack[1] - place[1] if place[0] == state.stack[0] else 0
    if below > _RED_ZONE:
        message = f"this lies {below} bytes below the stack pointer, where signals write"
        raise refuse("signature.convention", statement, message)
    if place[0] == 0 and place[1] < 8 and place[1] + size > 0:
        raise refuse("signature.convention", statement, "this writes over the address to which the function returns")
    slots = _without(state.slots, place, size)
    register = statement.operands[0].removeprefix("%")
    if statement.name in ("mov", "movq") and register in _PRESERVED and register not in state.foreign:
        slots |= {(place, register)}
    return dataclasses.replace(state, slots=slots)


def _without(slots: frozenset[tuple[Place, str]], place: Place, size: int) -> frozenset[tuple[Place, str]]:
    """Slots that a store of ``size`` bytes leaves as they are."""
    return frozenset(
        (at, register)
        for at, register in slots
        if at[0] != place[0] or at[1] + 8 <= place[1] or place[1] + size <= at[1]
    )


def _size(statement: Statement) -> int:
    """The most bytes that an instruction stores."""
    name, text = statement.name, " ".join(statement.operands)
    source = statement.operands[0] if len(statement.operands) > 1 else ""
    for pattern, size in ((r"%zmm", 64), (r"%ymm", 32)):
        if re.search(pattern, text):
            return size
    if "%xmm" in text:
        if name.endswith("ss") or name in ("movd", "vmovd") or re.match(r"v?(pextrd|extractps)", name):
            return 4
        if re.match(r"v?mov(sd|q|[lh]p[sd])$|v?pextr", name):
            return 8
        return 16
    written = re.search(r"%(?:([a-d][lh]|[sd]il|[sb]pl|r\d+b)|([a-d]x|[sd]i|[sb]p|r\d+w)|(e\w\w|r\d+d))$", source)
    by_name = re.match(r"(?:mov|add|sub|and|or|xor|set\w+)(?:(b)|(w)|(l))$", name) if source.startswith("$") else None
    for match in filter(None, (written, by_name)):
        return 1 if match[1] else 2 if match[2] else 4
    return 8
