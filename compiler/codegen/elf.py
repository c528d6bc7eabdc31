"""Relocatable ELF64 little-endian objects: what they define, what they need from outside, and all that is in them.

Read as the System V ABI says, chapter "Object Files" ("ELF-64 Object File Format", version 1.5).
"""

from __future__ import annotations

import dataclasses
import struct

SHT_PROGBITS, SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL = 1, 2, 4, 8, 9
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS = 0x1, 0x2, 0x4, 0x400
STT_SECTION, STT_FILE = 3, 4
_STB_LOCAL = 0
_SHN_UNDEF = 0


@dataclasses.dataclass(frozen=True)
class Symbols:
    """Names of the global symbols an object defines, and of those it leaves undefined."""

    defined: tuple[str, ...]
    undefined: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Section:
    """A section: ``type`` and ``flags`` as in its header, ``align`` in bytes; ``data`` is empty for SHT_NOBITS."""

    name: str
    type: int
    flags: int
    size: int
    align: int
    data: bytes


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A symbol: ``section`` is a number (0: undefined), ``value`` an offset in it, ``type`` as in ``st_info``."""

    name: str
    local: bool
    type: int
    section: int
    value: int
    size: int


@dataclasses.dataclass(frozen=True)
class Relocation:
    """A place of ``section`` (a number) where the address of ``symbol`` (a number) is to be put."""

    section: int
    offset: int
    type: int
    symbol: int
    addend: int


@dataclasses.dataclass(frozen=True)
class Object:
    """All that matters of an object."""

    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]


def is_elf64(data: bytes) -> bool:
    """Whether ``data`` starts like a 64-bit little-endian ELF file."""
    return data[:6] == b"\x7fELF\x02\x01"


def symbols(data: bytes) -> Symbols:
    """The global symbols of the ELF64 object ``data``. Raises ``ValueError`` when it is not one."""
    table = [symbol for symbol in read(data).symbols if symbol.name and not symbol.local]
    return Symbols(
        tuple(sorted(symbol.name for symbol in table if symbol.section != _SHN_UNDEF)),
        tuple(sorted(symbol.name for symbol in table if symbol.section == _SHN_UNDEF)),
    )


def read(data: bytes) -> Object:
    """The ELF64 object ``data``. Raises ``ValueError`` when it is not one."""
    if not is_elf64(data) or len(data) < 64:
        raise ValueError("not a 64-bit little-endian ELF object")
    (table,) = struct.unpack_from("<Q", data, 0x28)
    _, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + index * 64) for index in range(count)]
    sections, found, relocations = [], [], []
    for name, kind, flags, _, offset, size, link, info, align, _ in headers:
        body = b"" if kind == SHT_NOBITS else data[offset : offset + size]
        sections.append(Section(_text(data, headers[names][4] + name), kind, flags, size, align, body))
        if kind == SHT_SYMTAB:
            for at in range(offset, offset + size, 24):
                label, told, _other, index, value, length = struct.unpack_from("<IBBHQQ", data, at)
                text = _text(data, headers[link][4] + label)
                found.append(Symbol(text, told >> 4 == _STB_LOCAL, told & 15, index, value, length))
        elif kind == SHT_RELA:
            for at in range(offset, offset + size, 24):
                place, told, addend = struct.unpack_from("<QQq", data, at)
                relocations.append(Relocation(info, place, told & 0xFFFFFFFF, told >> 32, addend))
    return Object(tuple(sections), tuple(found), tuple(relocations))


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()
