"""From the torch level to linalg on tensors."""
from __future__ import annotations

from kc.pipelines import Phase

PHASES = (
    Phase(
        "torch-decompose",
        "complex torch ops to the core that has lowerings; shapes and dtypes made explicit",
        "torch",
        "torch",
        "builtin.module(func.func(torch-match-quantized-custom-ops),"
        "torchdynamo-export-to-torch-backend-pipeline{backend-legal-ops=aten.adaptive_max_pool2d})",
    ),
    Phase(
        "torch-to-linalg",
        "torch ops to linalg on tensors; index checks kept and made memory-safe",
        "torch",
        "linalg",
        "builtin.module(torch-backend-to-linalg-on-tensors-backend-pipeline,kc-convert-tm-tensor,"
        "kc-legalize-asserts,kc-legalize-arg-max,kc-guard-divisions,"
        "kc-fold-float-constants,kc-canonicalize,cse)",
    ),
)
