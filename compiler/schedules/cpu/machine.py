"""What CPU schedules know of the machine."""
from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Machine:
    """``vector_bits`` and ``vector_registers`` of the widest unit; cache sizes in bytes; ``fma``: fused multiply-add.

    ``parallel``: whether to spread work over threads (``scf.parallel``).
    """

    vector_bits: int = 256
    vector_registers: int = 16
    l1_bytes: int = 32 << 10
    l2_bytes: int = 512 << 10
    fma: bool = True
    parallel: bool = True

    def lanes(self, element: str) -> int:
        """Elements that one register holds, counted in the width that ``element`` (``f32``, ``i8`` …) computes in."""
        size = 8 if element in ("f64", "i64", "index") else 4
        return max(self.vector_bits // 8 // size, 1)
