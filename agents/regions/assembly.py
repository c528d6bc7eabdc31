"""Regions of machine code: the assembly of a function of the llvm level, and the function itself as its reference.

The text of such a region is assembly in LLVM's syntax for the machine (AT&T for x86) that defines ``main``. Lines that
begin with ``#|`` before it hold the reference: a module of the llvm level whose ``@main`` computes what the assembly
computes, with its contract and, in ``kc.buffers``, the types that its arguments were as buffers. For the assembler
these lines are comments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kc.agents.regions.buffers import Withheld
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.targets.cpu import CpuTarget

_REFERENCE = "#|"
_HEAD = "# kc: machine code of a function for {}; the reference follows, then the code, which defines main\n"
#: lines that say nothing of the code
_NOISE = re.compile(r'\t\.(file|ident|addrsig\w*)\b.*\n|\t\.section\t"\.note\.GNU-stack".*\n')
#: what a function calls that shares its work among threads
_THREADS = re.compile(r"__kmpc_\w+|kc_run_parallel")
_DEFINE = re.compile(r'^define (?:internal |private |hidden )*(?=[^\n]*?@(?:"([^"]*)"|([\w.$-]+))\()', re.MULTILINE)


class Assembly(NamedTuple):
    """A region's text taken apart."""

    reference: str
    code: str


def parts(text: str) -> Assembly:
    """The reference and the code of a region's text. Raises InputError when it has no reference."""
    lines = text.splitlines(keepends=True)
    reference = "".join(line[len(_REFERENCE) :].removeprefix(" ") for line in lines if line.startswith(_REFERENCE))
    if not reference.strip():
        raise InputError(
            "a region at level 'asm' has its reference, a module of the llvm level, in lines that begin with "
            f"'{_REFERENCE}'"
        )
    return Assembly(reference, code_of(text))


def code_of(text: str) -> str:
    """The code of a text, of a region or of an answer to one."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith((_REFERENCE, _HEAD[:5])))


def text_of(reference: str, target: CpuTarget) -> str:
    """The text of the region whose reference (see ``kc.agents.regions.extract``) is ``reference``.

    Raises Withheld when threads share its work or it has variables: what these do in machine code cannot be watched.
    """
    from kc.answers import names_of
    from kc.codegen import emit, llvm_ir, units
    from kc.context import make_context, parse_module

    module = parse_module(reference, make_context(), "reference")
    main = names_of(module.operation)["main"]
    ir_text = llvm_ir.translate(module.operation)
    threads = _THREADS.search(ir_text)
    if threads is not None:
        raise Withheld(
            f"its work is shared among threads ('{threads[0]}'), which cannot be watched in machine code; it is shown "
            "at level llvm"
        )
    if re.search(r"^@[^\n]* = (?:internal |private )?(?:thread_local )?global ", ir_text, re.MULTILINE):
        raise Withheld("it has variables that outlive a call")
    code = emit.assembly(
        _for_readers(ir_text), triple=target.triple, cpu=target.processor, features=target.all_features,
        opt=units.level_of(main, target.opt),
    )  # fmt: skip
    head = "".join(f"{_REFERENCE} {line}".rstrip() + "\n" for line in reference.splitlines())
    return _HEAD.format(target.triple) + head + _NOISE.sub("", code)


def _for_readers(text: str) -> str:
    """LLVM IR whose assembly is easier to read and to check: nothing unwinds, no jumps through tables."""

    def defined(match: re.Match[str]) -> str:
        return "define hidden " if "main" in (match[1], match[2]) else "define internal "

    text = _DEFINE.sub(defined, text)
    return re.sub(r"^(define [^\n]*\))((?: [^\n]*)? \{)$", r'\1 nounwind "no-jump-tables"="true"\2', text, flags=re.M)
