"""What schedules know of a GPU."""

from __future__ import annotations

import dataclasses

_MULTIPROCESSORS = {"sm_80": 108, "sm_86": 84, "sm_89": 142}
_SHARED_KIB = {"sm_80": 163, "sm_86": 99, "sm_89": 99}


@dataclasses.dataclass(frozen=True)
class Features:
    """``chip`` as LLVM names it; ``multiprocessors`` sets the size of persistent grids; ``shared`` bytes a block may
    have."""

    chip: str = "sm_90a"
    multiprocessors: int = 132
    shared: int = 232448

    @classmethod
    def of_chip(cls, chip: str, multiprocessors: int = 0, shared_kib: int = 0) -> Features:
        """Those of a chip; what is 0 is that of the usual product with that chip."""
        return cls(
            chip,
            multiprocessors or _MULTIPROCESSORS.get(chip, 132),
            (shared_kib or _SHARED_KIB.get(chip, 227)) << 10,
        )

    @property
    def compute(self) -> int:
        """The compute capability as a number: 80, 90."""
        return int(self.chip.removeprefix("sm_").rstrip("af"))

    @property
    def hopper(self) -> bool:
        """Whether wgmma, bulk tensor copies and setmaxnreg may be used."""
        return self.chip == "sm_90a"
