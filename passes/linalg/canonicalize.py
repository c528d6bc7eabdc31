"""kc-canonicalize: upstream's canonicalization without the patterns that change what a program computes."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.pass_base import Pass

#: classes of upstream's patterns that are left out
LEFT_OUT = ("TruncFSIToFPToSIToFP", "TruncFUIToFPToUIToFP")
#: how a pattern of an anonymous namespace is named, which is the compiler's choice: GCC's and Clang's way
_SPELLINGS = ("{{anonymous}}::{}", "(anonymous namespace)::{}")


@dataclasses.dataclass(frozen=True)
class Canonicalize(Pass):
    """``canonicalize``, but an integer that became a float and then a narrower one is rounded twice, as written.

    Upstream makes one conversion of the two, with one rounding, which is another number for one integer in some
    hundred of those that have too many digits. kc's roads use this pass instead; it has upstream's default options.
    It leaves alone::

        %0 = arith.sitofp %x : i64 to f64
        %1 = arith.truncf %0 : f64 to f32
    """

    name: ClassVar[str] = "kc-canonicalize"
    anchor: ClassVar[str] = "any"
    level: ClassVar[str] = "linalg"

    def native(self) -> str:
        names = ",".join(spelling.format(name) for name in LEFT_OUT for spelling in _SPELLINGS)
        return f'canonicalize{{disable-patterns="{names}"}}'
