"""The registry of kc's passes: name -> "module:Class", loaded on first use. Keep it alphabetical, one line a pass."""
from __future__ import annotations

REGISTRY: dict[str, str] = {
    "kc-convert-gpu-launch": "kc.passes.conversion.convert_gpu_launch:ConvertGpuLaunch",
    "kc-convert-linalg-to-gpu": "kc.passes.conversion.convert_linalg_to_gpu:ConvertLinalgToGpu",
    "kc-convert-loops-to-gpu": "kc.passes.conversion.convert_loops_to_gpu:ConvertLoopsToGpu",
    "kc-convert-stablehlo-contraction": "kc.passes.conversion.stablehlo_contraction:ConvertStablehloContraction",
    "kc-convert-stablehlo-control-flow": "kc.passes.conversion.stablehlo_control_flow:ConvertStablehloControlFlow",
    "kc-convert-stablehlo-data-movement": "kc.passes.conversion.stablehlo_data_movement:ConvertStablehloDataMovement",
    "kc-convert-stablehlo-elementwise": "kc.passes.conversion.stablehlo_elementwise:ConvertStablehloElementwise",
    "kc-convert-stablehlo-gather": "kc.passes.conversion.stablehlo_gather:ConvertStablehloGather",
    "kc-convert-stablehlo-reduction": "kc.passes.conversion.stablehlo_reduction:ConvertStablehloReduction",
    "kc-externalize-constants": "kc.passes.linalg.externalize_constants:ExternalizeConstants",
    "kc-fold-float-constants": "kc.passes.linalg.fold_float_constants:FoldFloatConstants",
    "kc-gpu-host-memory": "kc.passes.gpu.host_memory:GpuHostMemory",
    "kc-gpu-merge-kernels": "kc.passes.gpu.merge_kernels:GpuMergeKernels",
    "kc-legalize-asserts": "kc.passes.linalg.legalize_asserts:LegalizeAsserts",
    "kc-linalg-to-loops": "kc.passes.loops.linalg_to_loops:LinalgToLoops",
    "kc-lower-asserts": "kc.passes.loops.lower_asserts:LowerAsserts",
    "kc-stablehlo-to-signless": "kc.passes.stablehlo.to_signless:StablehloToSignless",
    "kc-widen-accumulation": "kc.passes.stablehlo.widen_accumulation:WidenAccumulation",
}
