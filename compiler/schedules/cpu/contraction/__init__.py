"""Contractions: matrix products with prologues and epilogues, in blocks that fit the caches."""
from kc.schedules.cpu.contraction.schedule import ContractionSchedule
from kc.schedules.cpu.contraction.thin import ThinProductSchedule

__all__ = ["ContractionSchedule", "ThinProductSchedule"]
