"""The registry of kc's passes: name -> "module:Class", loaded on first use. Keep it alphabetical, one line a pass."""
from __future__ import annotations

REGISTRY: dict[str, str] = {
    "kc-convert-gpu-launch": "kc.passes.conversion.convert_gpu_launch:ConvertGpuLaunch",
    "kc-convert-linalg-to-gpu": "kc.passes.conversion.convert_linalg_to_gpu:ConvertLinalgToGpu",
    "kc-externalize-constants": "kc.passes.linalg.externalize_constants:ExternalizeConstants",
    "kc-fold-float-constants": "kc.passes.linalg.fold_float_constants:FoldFloatConstants",
    "kc-gpu-host-memory": "kc.passes.gpu.host_memory:GpuHostMemory",
    "kc-gpu-merge-kernels": "kc.passes.gpu.merge_kernels:GpuMergeKernels",
    "kc-legalize-asserts": "kc.passes.linalg.legalize_asserts:LegalizeAsserts",
    "kc-linalg-to-loops": "kc.passes.loops.linalg_to_loops:LinalgToLoops",
    "kc-lower-asserts": "kc.passes.loops.lower_asserts:LowerAsserts",
}
