"""What a relocatable ELF64 little-endian object defines and what it needs from outside.

Only the symbol table is read (System V ABI, chapter "Object Files"; "ELF-64 Object File Format", version 1.5).
"""

from __future__ import annotations

import dataclasses
import struct

_SHT_SYMTAB = 2
_STB_LOCAL = 0
_SHN_UNDEF = 0


@dataclasses.dataclass(frozen=True)
class Symbols:
    """Names of the global symbols an object defines, and of those it leaves undefined."""

    defined: tuple[str, ...]
    undefined: tuple[str, ...]


def is_elf64(data: bytes) -> bool:
    """Whether ``data`` starts like a 64-bit little-endian ELF file."""
    return data[:6] == b"\x7fELF\x02\x01"


def symbols(data: bytes) -> Symbols:
    """The global symbols of the ELF64 object ``data``. Raises ``ValueError`` when it is not one."""
    if not is_elf64(data) or len(data) < 64:
        raise ValueError("not a 64-bit little-endian ELF object")
    (table,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + index * entry_size) for index in range(count)]
    defined: list[str] = []
    undefined: list[str] = []
    for section in sections:
        if section[1] != _SHT_SYMTAB:
            continue
        names = sections[section[6]][4]
        for offset in range(section[4], section[4] + section[5], 24):
            name, info, _other, index, _value, _size = struct.unpack_from("<IBBHQQ", data, offset)
            if name == 0 or info >> 4 == _STB_LOCAL:
                continue
            start = names + name
            text = data[start : data.index(b"\0", start)].decode()
            (undefined if index == _SHN_UNDEF else defined).append(text)
    return Symbols(tuple(sorted(defined)), tuple(sorted(undefined)))
