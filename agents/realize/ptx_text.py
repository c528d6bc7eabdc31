"""PTX from a stranger: its kernels and their parameters, and what it must not hold.

The grammar is that of NVIDIA's "PTX ISA", of which only directives at module scope are read here; ``ptxas`` checks the
rest. A kernel of a region is a function of its arguments: it keeps no state between launches, prints nothing, calls
nothing from outside, and does not look at clocks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kc.agents.realize.realized import RealizeError

_MOST_BYTES = 8 << 20

# fmt: off
_SIZES = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4,
          "b64": 8, "u64": 8, "s64": 8, "f64": 8}
# fmt: on
#: special registers that tell the time
_CLOCKS = re.compile(r"%(clock64|clock_hi|clock|globaltimer(?:_lo|_hi)?|pm\d+(?:_64)?)\b")
_DECLARATION = re.compile(r"\s*((?:\.(?:visible|extern|weak|common)\s+)*)\.(global|const|func)\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"[^"\n]*"')
_ENTRY = re.compile(r"\.entry\s+([A-Za-z_$%][\w$]*)\s*(?:\(([^)]*)\))?([^{;]*)[{;]")
_PARAM = re.compile(r"\.param\s+((?:\.\w+(?:\s+\d+)?\s+)*)([A-Za-z_$%][\w$]*)\s*(?:\[\s*(\d+)\s*\])?\s*$")


class Parameter(NamedTuple):
    """A kernel parameter: ``type`` as PTX names it (``u64``, ``f32``), bytes in all, whether it is an array of bytes
    (a structure passed by value)."""

    type: str
    size: int
    array: bool


class Entry(NamedTuple):
    """A kernel. ``most_threads``: of a block (``.maxntid``, ``.reqntid``), None where it does not say; ``exact``: the
    block that ``.reqntid`` asks for; ``cluster``: blocks of a cluster that it asks for."""

    name: str
    parameters: tuple[Parameter, ...]
    most_threads: int | None
    exact: tuple[int, int, int] | None
    cluster: tuple[int, ...] | None


class Ptx(NamedTuple):
    """A PTX module: its kernels by name, the version of the language and the chip that it is for."""

    text: str
    entries: dict[str, Entry]
    version: tuple[int, int]
    chip: str


def read(text: str, allowed: frozenset[str] = frozenset()) -> Ptx:
    """The kernels of PTX ``text``. Raises RealizeError for what is no PTX, or what a region's code must not have.

    ``allowed``: declarations (see ``outside``) that it may have all the same.
    """
    if len(text) > _MOST_BYTES:
        raise RealizeError("parse", "parse.ptx", f"the PTX has {len(text)} characters; {_MOST_BYTES} are the most")
    if "\0" in text:
        raise RealizeError("parse", "parse.ptx", "the PTX has a NUL character in it")
    plain = _COMMENT.sub(" ", text)
    version = re.search(r"^\s*\.version\s+(\d+)\.(\d+)", plain, re.MULTILINE)
    chip = re.search(r"^\s*\.target\s+(sm_\w+)", plain, re.MULTILINE)
    wide = re.search(r"^\s*\.address_size\s+64\b", plain, re.MULTILINE)
    if version is None or chip is None or wide is None:
        missing = ".version" if version is None else ".target" if chip is None else ".address_size 64"
        raise RealizeError("parse", "parse.ptx", f"this is no PTX module: it has no '{missing}' directive")
    _refuse(_STRING.sub('""', plain), allowed)
    entries = {}
    for match in _ENTRY.finditer(plain):
        name, parameters, directives = match.groups()
        if name in entries:
            raise RealizeError("verify", "verify.ptx", f"kernel '{name}' is defined twice")
        entries[name] = Entry(name, tuple(_parameters(name, parameters or "")), *_limits(directives))
    return Ptx(text, entries, (int(version[1]), int(version[2])), chip[1])


def _parameters(kernel: str, text: str) -> list[Parameter]:
    found = []
    for number, part in enumerate(filter(None, (part.strip() for part in text.split(",")))):
        match = _PARAM.match(part)
        names = re.findall(r"\.(\w+)", match[1]) if match else []
        type_ = next((name for name in names if name in _SIZES), None)
        if match is None or type_ is None:
            raise RealizeError(
                "parse", "parse.ptx", f"parameter {number} of kernel '{kernel}' cannot be read: '{part}'"
            )
        count = int(match[3] or 1)
        found.append(Parameter(type_, _SIZES[type_] * count, match[3] is not None))
    return found


def _limits(directives: str) -> tuple[int | None, tuple[int, int, int] | None, tuple[int, ...] | None]:
    def numbers(name: str) -> list[int] | None:
        found = re.search(rf"\.{name}\s+([\d\s,]+)", directives)
        return [int(n) for n in re.findall(r"\d+", found[1])] if found else None

    exact, most, cluster = numbers("reqntid"), numbers("maxntid"), numbers("reqnctapercluster")
    block = [*(exact or ()), 1, 1][:3] if exact else None
    limit = exact or most
    threads = None
    if limit:
        threads = 1
        for n in limit:
            threads *= n
    return threads, (block[0], block[1], block[2]) if block else None, tuple(cluster) if cluster else None


def outside(text: str) -> frozenset[str]:
    """What PTX ``text`` declares of device memory and of functions elsewhere, each as one normalised line."""
    return frozenset(declared for declared, _, _ in _declarations(_STRING.sub('""', _COMMENT.sub(" ", text))))


def _declarations(text: str) -> list[tuple[str, str, str]]:
    """(normalised line, kind, linkage) of variables in device memory and of external functions, at module scope."""
    found, depth = [], 0
    for line in re.split(r"(?<=[;{}])|\n", text):
        match = _DECLARATION.match(line)
        if match and depth == 0:
            linkage, kind = match.groups()
            if kind == "global" or ("extern" in linkage and kind in ("const", "func")):
                found.append((" ".join(line.rstrip(";{ ").split()), kind, linkage))
        depth += line.count("{") - line.count("}")
    return found


def _refuse(text: str, allowed: frozenset[str]) -> None:
    """Raises RealizeError for state, calls out of the module, and clocks, but for the lines in ``allowed``."""
    for line, kind, _ in _declarations(text):
        if line in allowed:
            continue
        if kind == "func":
            name = re.search(r"\.func\s*(?:\([^)]*\)\s*)?([A-Za-z_$%][\w$]*)", line)
            raise RealizeError(
                "signature",
                "signature.external",
                f"the PTX calls '{name[1] if name else '?'}', which it does not define: a kernel of a region calls "
                "nothing outside of its module (no printf, malloc or assert)",
            )
        raise RealizeError(
            "signature",
            "signature.global",
            f"the PTX has a variable in device memory ('{line[:80]}'): a region keeps no state between calls; shared "
            "memory, registers and .const data are its own",
        )
    clock = _CLOCKS.search(text)
    if clock:
        raise RealizeError("signature", "signature.clock", f"the PTX reads the clock '{clock[0]}'")
