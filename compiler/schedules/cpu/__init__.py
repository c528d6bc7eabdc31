"""Schedules of the CPU: loops and vectors over memrefs, one module a kernel family."""
from __future__ import annotations

#: schedule classes in the order they are asked, ``module:Class``
SCHEDULES = (
    "kc.schedules.cpu.attention:AttentionSchedule",
    "kc.schedules.cpu.contraction:ThinProductSchedule",
    "kc.schedules.cpu.contraction:ContractionSchedule",
    "kc.schedules.cpu.map:MapSchedule",
    "kc.schedules.cpu.rows:RowsSchedule",
    "kc.schedules.cpu.window:ConvolutionSchedule",
)
