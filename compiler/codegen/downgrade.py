"""LLVM IR text of LLVM 24 (torch-mlir) rewritten so that LLVM 22 (llvmlite) reads it.

Two things differ. LLVM 24 prints floating-point literals in forms LLVM 22 refuses: decimals that are not exact in the
type (``float 1.1``), ``+inf``, ``+qnan``, ``+nan(0x1)``, ``+snan(0x1)``, ``f0x3F800000``; LLVM 22 wants exact
hexadecimal (``0x…`` spelt as a double for float and double, ``0xH…`` for half, ``0xR…`` for bfloat). And it knows
the function attribute ``denormal_fpenv(…)``. Everything else in what kc emits parses as it is.
"""

from __future__ import annotations

import functools
import math
import re
import struct
from fractions import Fraction

# (exponent bits, mantissa bits)
_FORMATS = {"half": (5, 10), "bfloat": (8, 7), "float": (8, 23), "double": (11, 52)}
_TYPE = re.compile(r"(?<![\w.%@$-])(half|bfloat|float|double)(?![\w.$-])")
_LITERAL = re.compile(
    r"(?<=[\s(\[{,<])"
    r"(f0x[0-9A-Fa-f]+|[-+](?:inf|qnan)(?![\w.])|[-+]s?nan\(0x[0-9A-Fa-f]+\)|[-+]?\d+\.\d*(?:[eE][-+]?\d+)?)"
    r"(?=[\s,)\]}>]|$)",
    re.MULTILINE,
)
_DENORMAL = re.compile(r" ?\bdenormal_fpenv\([^()\n]*\)")


def _round_to_odd(text: str) -> float:
    """``text`` as a double that later rounds correctly to any narrower format.

    Rounding twice (decimal to double to float) can go wrong when the double lands on a tie. Rounding to odd first
    cannot (S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding
    to odd", IEEE Transactions on Computers 57(4), 2008): an inexact double is made to have an odd last bit.
    """
    value = float(text)
    # A tie of a format with m mantissa bits is a one m + 1 bits down (further up among denormals) and zeros after
    # it. The decimal can lie on another side of a tie than the double only when the double is the tie itself.
    below = struct.unpack("<Q", struct.pack("<d", value))[0] & 0x1FFFFFFF
    if below not in (0, 0x10000000):
        return value
    exact, got = Fraction(text), Fraction(value)
    if exact != got and not struct.unpack("<Q", struct.pack("<d", value))[0] & 1:
        value = math.nextafter(value, math.inf if exact > got else -math.inf)
    return value


def _to_bfloat_bits(value: float) -> int:
    # Rounding to odd at float precision first keeps the single rounding to bfloat right (see _round_to_odd).
    single: float = struct.unpack("<f", struct.pack("<f", value))[0]
    bits: int = struct.unpack("<I", struct.pack("<f", single))[0]
    if single != value and not bits & 1:
        bits += 1 if abs(value) > abs(single) else -1
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF


def literal_bits(kind: str, text: str) -> int:
    """The bit pattern of LLVM 24 literal ``text`` of type ``kind`` (half, bfloat, float, double)."""
    exponent, mantissa = _FORMATS[kind]
    if text.startswith("f0x"):
        return int(text[3:], 16)
    if text.endswith(("inf", "nan", ")")):
        if text.endswith("inf"):
            payload = 0
        elif text.endswith("qnan"):
            payload = 1 << (mantissa - 1)
        else:
            payload = int(text[text.index("0x") + 2 : -1], 16)
            if "snan" not in text:
                payload |= 1 << (mantissa - 1)
        return (int(text[0] == "-") << (exponent + mantissa)) | (((1 << exponent) - 1) << mantissa) | payload
    if kind == "double":
        return int(struct.unpack("<Q", struct.pack("<d", float(text)))[0])
    value = _round_to_odd(text)
    if kind == "float":
        return int(struct.unpack("<I", struct.pack("<f", value))[0])
    if kind == "half":
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    return _to_bfloat_bits(value)


@functools.lru_cache(maxsize=65536)
def _spell(kind: str, text: str) -> str:
    bits = literal_bits(kind, text)
    if kind == "half":
        return f"0xH{bits:04X}"
    if kind == "bfloat":
        return f"0xR{bits:04X}"
    if kind == "float":  # spelt as the double of the same value; a NaN keeps its payload in the double's high bits
        if (bits >> 23) & 0xFF == 0xFF:
            bits = ((bits >> 31) << 63) | (0x7FF << 52) | ((bits & 0x7FFFFF) << 29)
        else:
            bits = struct.unpack("<Q", struct.pack("<d", struct.unpack("<f", struct.pack("<I", bits))[0]))[0]
    return f"0x{bits:016X}"


def downgrade(text: str) -> str:
    """``text`` with every float literal spelt for LLVM 22; linear in its length, quoted strings and names untouched.

    The type of a literal is the last floating-point type named before it on its line (``fadd float %a, 1.1``,
    ``[2 x float] [float 1.1, float +inf]``); a literal with none before it is left as it is.
    """
    if not any(name in text for name in (*_FORMATS, "denormal_fpenv(")):
        return text
    out: list[str] = []
    copied = line_end = scanned = 0
    kind: str | None = None
    quoted = False
    for match in _LITERAL.finditer(text):
        position = match.start()
        if position >= line_end:
            scanned = text.rfind("\n", 0, position) + 1
            line_end = text.find("\n", position)
            line_end = len(text) if line_end < 0 else line_end
            kind, quoted = None, False
        # Split on quotes, so that a type or a literal inside a string ("float 1.1") is not seen; a string has no raw
        # quote.
        for piece in _pieces(text, scanned, position):
            if piece == '"':
                quoted = not quoted
            elif not quoted:
                kind = piece
        scanned = position
        if quoted or kind is None:
            continue
        out.append(text[copied:position])
        out.append(_spell(kind, match.group(1)))
        copied = match.end()
    out.append(text[copied:])
    result = "".join(out)
    return _DENORMAL.sub("", result) if "denormal_fpenv(" in result else result


_PIECE = re.compile(r'"|' + _TYPE.pattern)


def _pieces(text: str, start: int, end: int) -> list[str]:
    return [match.group(0) for match in _PIECE.finditer(text, start, end)]
