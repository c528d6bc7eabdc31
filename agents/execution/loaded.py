"""A relocatable object in memory of this process: the very bytes that a program would hold, its calls watched.

Code is readable and executable, constants are readable, nothing of it is writable; behind the constants lies a page
that may not be touched. Every function outside that the code calls stands behind a stub that looks whether the call
keeps the convention (machine.cpp).
"""
from __future__ import annotations

import ctypes
import mmap
import struct

from kc.agents.execution.buffers import protect
from kc.agents.execution.errors import ExecutionError
from kc.codegen import elf

#: kinds of relocations, as the x86-64 ABI numbers them
R_64, R_PC32, R_PLT32, R_GOTPCREL, R_PC64, R_GOTPCRELX, R_REX_GOTPCRELX = 1, 2, 4, 9, 24, 41, 42
RELATIVE = (R_PC32, R_PLT32)
GOT = (R_GOTPCREL, R_GOTPCRELX, R_REX_GOTPCRELX)
#: what code generators call by themselves
_MEMORY = ("memcpy", "memmove", "memset", "memcmp")
#: to which constants may be aligned
_MOST_ALIGNED = 64
_PAGE = mmap.PAGESIZE
#: mov r11, FUNCTION; jmp CHECKER
_STUB = struct.Struct("<2sQ6sQ")


class Loaded:
    """An object, laid out and relocated; keep it for as long as its code may run."""

    def __init__(self, data: bytes, library: ctypes.CDLL):
        self._object = elf.read(data)
        self._library = library
        self._outside = sorted({s.name for s in self._object.symbols if s.name and s.section == 0})
        places, size = self._lay_out()
        self._map = mmap.mmap(-1, size)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._at = {number: self._base + offset for number, offset in places.items()}
        for number in places:
            section = self._object.sections[number]
            offset = self._at[number] - self._base
            self._map[offset : offset + len(section.data)] = section.data
        self._write_stubs()
        for relocation in self._object.relocations:
            if relocation.section in self._at:
                self._relocate(relocation)
        protect(self._base, self._code, mmap.PROT_READ | mmap.PROT_EXEC)
        protect(self._base + self._code, size - _PAGE - self._code, mmap.PROT_READ)
        protect(self._base + size - _PAGE, _PAGE, 0)

    def address(self, name: str) -> int:
        """Of a symbol that the object defines; raises ExecutionError when there is none."""
        for symbol in self._object.symbols:
            if symbol.name == name and symbol.section in self._at:
                return self._at[symbol.section] + symbol.value
        raise ExecutionError("compile", f"the object does not define '{name}'")

    def _lay_out(self) -> tuple[dict[int, int], int]:
        """Offsets of sections by number, code first, constants up to the end of a page; bytes of all."""
        places: dict[int, int] = {}
        loaded = [(n, s) for n, s in enumerate(self._object.sections) if s.flags & elf.SHF_ALLOC]
        kept = [(n, s) for n, s in loaded if s.name != ".eh_frame"]

        def place(at: int, code: bool) -> int:
            for number, section in kept:
                if bool(section.flags & elf.SHF_EXECINSTR) == code:
                    at = -(-at // max(1, section.align)) * max(1, section.align)
                    places[number] = at
                    at += section.size
            return at

        self._stubs = -(-place(0, True) // 16) * 16
        self._code = -(-(self._stubs + _STUB.size * len(self._outside) + 1) // _PAGE) * _PAGE
        self._got = self._code
        constants = self._got + 8 * len(self._object.symbols)
        constants = -(-constants // _MOST_ALIGNED) * _MOST_ALIGNED
        end = place(constants, False)
        size = -(-end // _PAGE) * _PAGE
        place(constants + (size - end) // _MOST_ALIGNED * _MOST_ALIGNED, False)
        return places, size + _PAGE

    def _write_stubs(self) -> None:
        checker = self._library.kc_checked_extern()
        for number, name in enumerate(self._outside):
            stub = _STUB.pack(b"\x49\xbb", self._function(name), b"\xff\x25\0\0\0\0", checker)
            start = self._stubs + number * _STUB.size
            self._map[start : start + _STUB.size] = stub

    def _function(self, name: str) -> int:
        """The address of what kc gives to code under test, or of the C library's mathematics and memory functions."""
        from kc.agents.execution.native import is_known

        if is_known(name) or name in _MEMORY:
            for place in (self._library, ctypes.CDLL("libm.so.6"), ctypes.CDLL("libc.so.6")):
                try:
                    return ctypes.cast(getattr(place, name), ctypes.c_void_p).value or 0
                except AttributeError:
                    continue
        raise ExecutionError("unsupported", f"uses '{name}', which no executor provides")

    def _target(self, number: int) -> int:
        """The address that a symbol stands for."""
        symbol = self._object.symbols[number]
        if symbol.section == 0:
            return self._base + self._stubs + self._outside.index(symbol.name) * _STUB.size
        if symbol.section not in self._at:
            raise ExecutionError("unsupported", f"'{symbol.name}' stands in no section that is loaded")
        return self._at[symbol.section] + symbol.value

    def _relocate(self, told: elf.Relocation) -> None:
        place = self._at[told.section] + told.offset
        target, offset = self._target(told.symbol), place - self._base
        if told.type == R_64:
            self._map[offset : offset + 8] = struct.pack("<Q", target + told.addend & (1 << 64) - 1)
            return
        if told.type == R_PC64:
            self._map[offset : offset + 8] = struct.pack("<q", target + told.addend - place)
            return
        if told.type in GOT:
            slot = self._got + 8 * told.symbol
            self._map[slot : slot + 8] = struct.pack("<Q", target)
            target = self._base + slot
        elif told.type not in RELATIVE:
            raise ExecutionError("unsupported", f"a relocation of kind {told.type}")
        self._map[offset : offset + 4] = struct.pack("<i", target + told.addend - place)
