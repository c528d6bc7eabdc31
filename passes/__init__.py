"""The registry of kc's passes: name -> "module:Class", loaded on first use. Keep it alphabetical, one line a pass."""
from __future__ import annotations

REGISTRY: dict[str, str] = {
    "kc-externalize-constants": "kc.passes.linalg.externalize_constants:ExternalizeConstants",
    "kc-convert-linalg-to-gpu": "kc.passes.conversion.convert_linalg_to_gpu:ConvertLinalgToGpu",
    "kc-fold-float-constants": "kc.passes.linalg.fold_float_constants:FoldFloatConstants",
    "kc-legalize-asserts": "kc.passes.linalg.legalize_asserts:LegalizeAsserts",
    "kc-lower-asserts": "kc.passes.loops.lower_asserts:LowerAsserts",
}
