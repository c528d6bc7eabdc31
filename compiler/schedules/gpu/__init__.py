"""Schedules for NVIDIA GPUs: sm_90a has all families, sm_80 and later all but the tensor-core ones."""

from __future__ import annotations

#: schedule classes in the order in which they are asked, ``module:Class``
SCHEDULES = (
    "kc.schedules.gpu.attention:AttentionSchedule",
    "kc.schedules.gpu.attention.split:AttentionSplitSchedule",
    "kc.schedules.gpu.contraction:ContractionSchedule",
    "kc.schedules.gpu.contraction.padded:PaddedContractionSchedule",
    "kc.schedules.gpu.window:WindowSchedule",
    "kc.schedules.gpu.simt:SimtSchedule",
    "kc.schedules.gpu.rows_split:RowsSplitSchedule",
    "kc.schedules.gpu.rows:RowsSchedule",
    "kc.schedules.gpu.rows_loop:RowsLoopSchedule",
    "kc.schedules.gpu.columns:ColumnsSchedule",
    "kc.schedules.gpu.map_tiled:MapTiledSchedule",
    "kc.schedules.gpu.map:MapSchedule",
)
