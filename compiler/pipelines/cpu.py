"""The CPU's road: kernels on linalg, scheduled or general, down to LLVM."""

from __future__ import annotations

from kc.pipelines import Phase

PREPARE: tuple[Phase, ...] = (
    Phase(
        name="cpu-prepare",
        description="Big constants become parameters, indexed reads are made safe",
        start="linalg",
        end="linalg",
        pipeline="builtin.module(kc-externalize-constants{threshold=<constant-bytes>},kc-legalize-asserts)",
        defaults=(("constant-bytes", "1024"),),
    ),
)

PHASES: tuple[Phase, ...] = (
    Phase(
        name="cpu-schedule",
        description="Equal kernels are merged; those that a schedule fits get an implementation beside their body",
        start="linalg",
        end="linalg",
        pipeline="builtin.module(kc-merge-kernels,"
        "kc-schedule-cpu{vector-bytes=<vector-bytes> registers=<registers> fma=<fma> brief=<brief>})",
        defaults=(("vector-bytes", "32"), ("registers", "16"), ("fma", "true"), ("brief", "16384")),
    ),
    Phase(
        name="cpu-bufferize",
        description="Tensors become buffers, each freed where its life ends; entry arguments are never written",
        start="linalg",
        end="loops",
        pipeline="builtin.module("
        "kc-mark-entry-points,func.func(kc-split-empty-tensors,eliminate-empty-tensors,empty-tensor-to-alloc-tensor),"
        "kc-bind-host-calls,kc-part-readers,"
        "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map "
        "allow-return-allocs-from-loops=1},"
        "kc-canonicalize,drop-equivalent-buffer-results,kc-own-results,cse,"
        "ownership-based-buffer-deallocation,kc-canonicalize,kc-simplify-deallocs,buffer-deallocation-simplification,"
        "bufferization-lower-deallocations,cse,kc-canonicalize,convert-bufferization-to-memref,"
        "func.func(optimize-allocation-liveness))",
    ),
    Phase(
        name="cpu-loops",
        description="Calls go to the scheduled kernels, buffers share an arena, what has no schedule becomes loops",
        start="loops",
        end="loops",
        pipeline="builtin.module("
        "kc-place-answers,kc-bind-impls,kc-plan-memory,"
        "func.func(linalg-generalize-named-ops),"
        "func.func(kc-linalg-to-loops{grain=<grain> min-work=<min-work> strict-fp=<strict-fp>},"
        "kc-expand-copies{grain=<grain> min-work=<min-work>}),"
        "kc-lower-asserts,kc-lower-size-checks,kc-canonicalize,cse,func.func(loop-invariant-code-motion))",
        defaults=(("grain", "16384"), ("min-work", "131072"), ("strict-fp", "false")),
        asks=True,
    ),
    Phase(
        name="cpu-scalars",
        description="Mathematical functions, complex and narrow float arithmetic become plain arithmetic",
        start="loops",
        end="loops",
        pipeline="builtin.module("
        "func.func(math-expand-ops{ops=ctlz}),"
        "kc-expand-math{target=cpu fma=<fma>},"
        "convert-complex-to-standard,"
        "arith-emulate-unsupported-floats{source-types=bf16,f16,f8E5M2,f8E4M3,f8E3M4,f8E4M3FN,f8E5M2FNUZ,f8E4M3FNUZ,"
        "f8E4M3B11FNUZ,f8E8M0FNU,f6E2M3FN,f6E3M2FN,f4E2M1FN target-type=f32},kc-canonicalize,kc-expand-small-floats,"
        "arith-expand{include-bf16=1})",
        defaults=(("fma", "true"),),
    ),
    Phase(
        name="cpu-llvm",
        description="Parallel loops become OpenMP, everything becomes the LLVM dialect, entry points get their C form",
        start="loops",
        end="llvm",
        pipeline="builtin.module("
        "kc-mark-brief{limit=<brief>},"
        "expand-strided-metadata,lower-affine,"
        "convert-scf-to-openmp,kc-canonicalize,kc-size-teams,convert-scf-to-cf,"
        "convert-vector-to-llvm{enable-x86=<x86>},convert-math-to-llvm,convert-math-to-libm,arith-expand,"
        "finalize-memref-to-llvm{use-aligned-alloc=1 use-generic-functions=1},convert-to-llvm,"
        "kc-emit-entry-points,kc-canonicalize,cse,reconcile-unrealized-casts)",
        defaults=(("x86", "1"), ("brief", "16384")),
        asks=True,
    ),
)
