"""The road from StableHLO (with CHLO, composites, quantised types and dynamic shapes) to linalg on tensors."""

from __future__ import annotations

from kc.pipelines import Phase

PHASES: tuple[Phase, ...] = (
    Phase(
        name="stablehlo-normalize",
        description="Composites become calls, calls are inlined, sums of narrow floats accumulate in f32",
        start="stablehlo",
        end="stablehlo",
        pipeline="builtin.module("
        "kc-flatten-tuples,kc-expand-manual-sharding,kc-decompose-custom-calls,"
        "func.func(stablehlo-legalize-composite-to-call),inline{default-pipeline=},symbol-dce,kc-inline-async,kc-decompose-deprecated,"
        "kc-legalize-dynamism,kc-check-shapes,"
        "kc-decompose-stablehlo,kc-legalize-quantized,kc-widen-accumulation,kc-widen-chlo,cse)",
    ),
    Phase(
        name="stablehlo-to-linalg",
        description="Convert StableHLO and CHLO to linalg, tensor, arith, math, complex and scf, family by family",
        start="stablehlo",
        end="linalg",
        pipeline="builtin.module("
        "kc-convert-stablehlo-elementwise{chlo-only=true},func.func(chlo-legalize-to-stablehlo),"
        "kc-convert-stablehlo-collectives{ids-only=true},kc-stablehlo-to-signless,kc-convert-run-parallel,kc-convert-stablehlo-collectives,"
        "kc-convert-stablehlo-transfers,kc-convert-stablehlo-dynamic-shapes,kc-convert-stablehlo-control-flow,"
        "kc-convert-stablehlo-random,kc-convert-stablehlo-custom-call,kc-convert-stablehlo-gather,kc-convert-stablehlo-scatter,kc-convert-stablehlo-sort,kc-convert-stablehlo-solvers,"
        "kc-convert-stablehlo-fft{block=<fft-block>},kc-convert-stablehlo-reduction,kc-convert-stablehlo-contraction,kc-convert-stablehlo-data-movement,"
        "kc-convert-stablehlo-elementwise,"
        "kc-canonicalize,cse,resolve-ranked-shaped-type-result-dims,kc-canonicalize,cse)",
        defaults=(("fft-block", "0"),),
    ),
)
