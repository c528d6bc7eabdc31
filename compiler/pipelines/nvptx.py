"""NVIDIA's road: kernels on linalg, scheduled or general, down to host code that launches PTX."""

from __future__ import annotations

from kc.pipelines import Phase

PREPARE: tuple[Phase, ...] = (
    Phase(
        name="gpu-host-values",
        description="Constants become parameters, what the host can compute stays there as scalars",
        start="linalg",
        end="linalg",
        pipeline="builtin.module("
        "kc-externalize-constants{threshold=0},kc-legalize-asserts{mode=drop},"
        "func.func(kc-host-scalars,loop-invariant-code-motion,kc-canonicalize,cse,kc-uplift-while),kc-canonicalize,cse)",
    ),
)

PHASES: tuple[Phase, ...] = (
    Phase(
        name="gpu-schedule",
        description="Equal kernels become one; a schedule that fits builds an implementation beside the linalg body",
        start="linalg",
        end="linalg",
        pipeline="builtin.module(kc-merge-kernels,kc-schedule-nvptx{chip=<chip>})",
        defaults=(("chip", "sm_90a"),),
    ),
    Phase(
        name="gpu-bufferize",
        description="Tensors become device buffers, each freed where its life ends; entry arguments are never written",
        start="linalg",
        end="loops",
        pipeline="builtin.module("
        "kc-mark-entry-points,func.func(linalg-fuse-elementwise-ops),kc-canonicalize,cse,kc-pin-destinations,"
        "func.func(kc-splat-to-fill,kc-split-empty-tensors,eliminate-empty-tensors),empty-tensor-to-alloc-tensor,kc-bind-host-calls,"
        "one-shot-bufferize{bufferize-function-boundaries=1 allow-return-allocs-from-loops=1 "
        "function-boundary-type-conversion=identity-layout-map},"
        "kc-canonicalize,drop-equivalent-buffer-results,kc-own-results,cse,"
        "func.func(ownership-based-buffer-deallocation,kc-canonicalize,buffer-deallocation-simplification),"
        "bufferization-lower-deallocations,cse,kc-canonicalize,convert-bufferization-to-memref)",
        asks=True,
    ),
    Phase(
        name="gpu-map",
        description="Calls go to scheduled kernels, buffers share an arena, the rest is mapped to blocks and threads",
        start="loops",
        end="gpu",
        pipeline="builtin.module("
        "kc-place-answers,kc-bind-impls,kc-expand-launches,kc-gpu-host-scratch,inline{default-pipeline=},symbol-dce,kc-plan-memory{alignment=256},"
        "kc-lower-asserts,kc-lower-size-checks,"
        "func.func(linalg-generalize-named-ops,scf-forall-to-parallel,loop-invariant-code-motion,"
        "kc-convert-linalg-to-gpu{block=<block>},kc-convert-loops-to-gpu{block=<block>}),"
        "kc-gpu-host-memory,kc-canonicalize,cse)",
        defaults=(("block", "256"),),
    ),
    Phase(
        name="gpu-outline",
        description="Launches become kernels in modules of their own, equal kernels once",
        start="gpu",
        end="gpu",
        pipeline="builtin.module("
        "gpu-launch-sink-index-computations,gpu-kernel-outlining,gpu.module(kc-canonicalize,cse),"
        "kc-gpu-merge-kernels,symbol-dce)",
        asks=True,
    ),
    Phase(
        name="gpu-device",
        description="Kernels go down to LLVM and NVVM: no library of mathematical functions, 64-bit indices",
        start="gpu",
        end="gpu",
        pipeline="builtin.module(gpu.module("
        "convert-complex-to-standard,arith-emulate-unsupported-floats{source-types=f8E5M2,f8E4M3,f8E3M4,f8E4M3FN,"
        "f8E5M2FNUZ,f8E4M3FNUZ,f8E4M3B11FNUZ,f8E8M0FNU,f6E2M3FN,f6E3M2FN,f4E2M1FN target-type=f32},"
        "kc-expand-small-floats,"
        "kc-expand-math{target=nvptx},kc-gpu-math-intrinsics,"
        "kc-canonicalize,cse,loop-invariant-code-motion,"
        "expand-strided-metadata,lower-affine,arith-expand{include-bf16=1},convert-scf-to-cf,convert-vector-to-llvm,"
        "convert-complex-to-llvm,convert-ub-to-llvm,convert-index-to-llvm,"
        "convert-gpu-to-nvvm,convert-nvvm-to-llvm,reconcile-unrealized-casts,kc-canonicalize,cse))",
    ),
    Phase(
        name="gpu-host",
        description="Launches become calls of the runtime, host code goes down to LLVM, entry points get their C form",
        start="gpu",
        end="llvm",
        pipeline="builtin.module("
        "kc-convert-gpu-launch,"
        "func.func(kc-expand-math{target=cpu},expand-strided-metadata),lower-affine,kc-canonicalize,cse,"
        "convert-scf-to-cf,convert-vector-to-llvm,convert-ub-to-llvm,"
        "convert-math-to-llvm,convert-math-to-libm,convert-complex-to-llvm,"
        "arith-expand{include-bf16=1},convert-arith-to-llvm,convert-index-to-llvm,"
        "finalize-memref-to-llvm{use-aligned-alloc=1 use-generic-functions=1},"
        "convert-cf-to-llvm,convert-func-to-llvm,kc-emit-entry-points,kc-canonicalize,cse,reconcile-unrealized-casts)",
        asks=True,
    ),
)
