"""Counter-based random bits on scalars: Threefry2x32 and Philox4x32.

Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), with the number of rounds that XLA
uses. Words are i32, halves of i64 are (low, high).
"""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, int_type

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)


def halves(e: Emitter, value: ir.Value) -> list[ir.Value]:
    """The low and the high word of an i64."""
    high = e.bin("arith.shrui", value, e.const(value.type, 32))
    return [e.to_int(value, int_type(32)), e.to_int(high, int_type(32))]


def joined(e: Emitter, low: ir.Value, high: ir.Value) -> ir.Value:
    """The i64 of a low and a high word."""
    long = int_type(64)
    upper = e.bin("arith.shli", e.to_int(high, long, unsigned=True), e.const(long, 32))
    return e.bin("arith.ori", e.to_int(low, long, unsigned=True), upper)


def threefry(e: Emitter, key: Sequence[ir.Value], counter: Sequence[ir.Value]) -> list[ir.Value]:
    """20 rounds on two words."""
    word = int_type(32)
    keys = [*key, e.bin("arith.xori", e.bin("arith.xori", e.const(word, _PARITY), key[0]), key[1])]
    x = [e.bin("arith.addi", c, k) for c, k in zip(counter, keys, strict=False)]
    for step in range(5):
        for distance in _ROTATIONS[step % 2]:
            x[0] = e.bin("arith.addi", *x)
            left = e.bin("arith.shli", x[1], e.const(word, distance))
            right = e.bin("arith.shrui", x[1], e.const(word, 32 - distance))
            x[1] = e.bin("arith.xori", x[0], e.bin("arith.ori", left, right))
        x[0] = e.bin("arith.addi", x[0], keys[(step + 1) % 3])
        x[1] = e.bin("arith.addi", e.bin("arith.addi", x[1], keys[(step + 2) % 3]), e.const(word, step + 1))
    return x


def philox(e: Emitter, key: Sequence[ir.Value], counter: Sequence[ir.Value]) -> list[ir.Value]:
    """10 rounds on four words; ``key`` are two."""
    word, long = int_type(32), int_type(64)
    key, x = list(key), list(counter)

    def product(value: ir.Value, factor: int) -> list[ir.Value]:
        return halves(e, e.bin("arith.muli", e.to_int(value, long, unsigned=True), e.const(long, factor)))

    for _ in range(10):
        low0, high0 = product(x[0], _MULTIPLIERS[0])
        low1, high1 = product(x[2], _MULTIPLIERS[1])
        x = [
            e.bin("arith.xori", e.bin("arith.xori", high1, x[1]), key[0]),
            low1,
            e.bin("arith.xori", e.bin("arith.xori", high0, x[3]), key[1]),
            low0,
        ]
        key = [e.bin("arith.addi", k, e.const(word, weyl)) for k, weyl in zip(key, _WEYL, strict=True)]
    return x


def wide_add(e: Emitter, wide: Sequence[ir.Value], value: ir.Value) -> list[ir.Value]:
    """A 128-bit number (low and high i64) plus an i64."""
    low = e.bin("arith.addi", wide[0], value)
    carry = e.to_int(e.cmpi("ult", low, wide[0]), int_type(64), unsigned=True)
    return [low, e.bin("arith.addi", wide[1], carry)]
