"""What schedules know of a GPU."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Features:
    """``chip`` as LLVM names it; ``multiprocessors`` sets the size of persistent grids; ``shared`` bytes a block may
    have."""

    chip: str = "sm_90a"
    multiprocessors: int = 132
    shared: int = 232448

    @property
    def compute(self) -> int:
        """The compute capability as a number: 80, 90."""
        return int(self.chip.removeprefix("sm_").rstrip("af"))

    @property
    def hopper(self) -> bool:
        """Whether wgmma, bulk tensor copies and setmaxnreg may be used."""
        return self.chip == "sm_90a"
