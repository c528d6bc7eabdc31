"""From assembly to an object, and what that object must be: the code and constants of one function."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kc.agents.realize.realized import RealizeError
from kc.agents.realize.x86.rules import MAIN
from kc.codegen import elf

if TYPE_CHECKING:
    from kc.targets.cpu import CpuTarget

#: R_X86_64_64, PC32, PLT32, GOTPCREL, PC64, GOTPCRELX, REX_GOTPCRELX: all that kc's runtime and code generator use
_RELOCATIONS = frozenset({1, 2, 4, 9, 24, 41, 42})
_CODE = elf.SHF_ALLOC | elf.SHF_EXECINSTR
_NO_CONSTANT = elf.SHF_WRITE | elf.SHF_TLS | elf.SHF_EXECINSTR


def assemble(code: str, target: CpuTarget) -> bytes:
    """The object of ``code``. LLVM runs in a process of its own. Raises RealizeError when the assembler refuses it."""
    from kc.codegen import emit
    from kc.errors import CompileError

    try:
        return emit.host_object(
            emit.module_asm(code), triple=target.triple, cpu=target.processor, features=target.all_features,
            opt="codegen-only",
        )  # fmt: skip
    except CompileError as error:
        said = re.search(r"<inline asm>:(\d+):\d+: (.*?)(?:\)?; reproducer|$)", str(error), re.DOTALL)
        told = f"line {said[1]}: {said[2].strip()}" if said else str(error)
        raise RealizeError("verify", "verify.asm", f"the assembler refuses the text: {told[:1000]}") from None


def functions(data: bytes) -> frozenset[str]:
    """What an object calls outside of itself."""
    return frozenset(elf.symbols(data).undefined)


def check(data: bytes, outside: frozenset[str]) -> None:
    """Look at the object once more: it defines ``main``, needs nothing but ``outside``, holds only code and constants.

    Raises RealizeError.
    """
    found = elf.read(data)
    told = elf.symbols(data)
    if told.defined != (MAIN,):
        defined = ", ".join(told.defined) or "nothing"
        raise RealizeError("signature", "signature.symbols", f"the object defines {defined}")
    missing = sorted(set(told.undefined) - outside)
    if missing:
        message = f"the object needs '{missing[0]}', which kc's own does not"
        raise RealizeError("signature", "signature.external", message)
    code = None
    for number, section in enumerate(found.sections):
        if not section.flags & elf.SHF_ALLOC or section.name == ".eh_frame":
            continue
        is_code = section.name == ".text" and section.flags == _CODE
        is_constant = section.name.startswith(".rodata") and not section.flags & _NO_CONSTANT
        if section.type != elf.SHT_PROGBITS or not (is_code or is_constant):
            raise RealizeError("level", "level.directive", f"the object has a section '{section.name}'")
        code = number if is_code else code
    (main,) = [symbol for symbol in found.symbols if symbol.name == MAIN]
    if main.section != code:
        raise RealizeError("signature", "signature.main", f"'{MAIN}' is not code")
    for relocation in found.relocations:
        section = found.sections[relocation.section]
        loaded = section.flags & elf.SHF_ALLOC and section.name != ".eh_frame"
        if loaded and (relocation.type not in _RELOCATIONS or relocation.section != code):
            message = f"section '{section.name}' has a relocation that kc does not know"
            raise RealizeError("verify", "verify.asm", message)
