"""Triton source to PTX, in a child process without a GPU and without PyTorch."""

from __future__ import annotations

import importlib.util
import os
import warnings
from typing import Any

from kc.errors import InputError

#: that LLVM's PTX of any version is written in, as kc's own: drivers since 580 assemble it
_PTX_VERSION = 88


def main(request: dict[str, Any]) -> dict[str, Any]:
    """``{"ptx": …, "shared": …, "threads": …, "entry": …, "scratch": …, "compiler": …}``, or ``{"error": …}``."""
    warnings.simplefilter("ignore")
    try:
        import triton
    except ImportError:
        raise InputError("Triton source needs the package triton: pip install 'kc[triton]'") from None
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    problem = _unknown(request["language"])
    if problem:
        return {"error": problem}
    path = os.path.join(os.getcwd(), "proposal.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(request["source"])
    spec = importlib.util.spec_from_file_location("proposal", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        function = getattr(module, request["entry"])
        attributes = {(number,): [["tt.divisibility", by]] for number, by in request["divisible"]}
        source = ASTSource(
            fn=function, signature=request["signature"], constexprs=request["constants"], attrs=attributes
        )
        options = {**request["options"], "ptx_version": _PTX_VERSION}
        made = triton.compile(source, target=GPUTarget("cuda", request["capability"], 32), options=options)
    except Exception as error:  # whatever the compiler raises about the source
        return {"error": f"{type(error).__name__}: {error}"[:4000]}
    data = made.metadata
    return {
        "ptx": made.asm["ptx"],
        "compiler": f"triton {triton.__version__}",
        "entry": data.name,
        "shared": data.shared,
        "threads": data.num_warps * data.warp_size,
        "clusters": data.num_ctas,
        "scratch": data.global_scratch_size + getattr(data, "profile_scratch_size", 0),
        "descriptors": len(getattr(data, "tensordesc_meta", None) or ()),
    }


def _unknown(paths: list[str]) -> str | None:
    """Which of the names is nothing that Triton offers to kernels: only its functions and types can be reached."""
    import types

    import triton.language as tl
    from triton.language.core import is_builtin
    from triton.runtime.jit import JITCallable

    for path in paths:
        value: Any = tl
        for part in path.split("."):
            value = getattr(value, part, None)
        origin = getattr(value, "__module__", None) or type(value).__module__
        if value is None or isinstance(value, types.ModuleType) or not origin.startswith("triton."):
            return f"'tl.{path}' is nothing that Triton offers to kernels"
        for_kernels = isinstance(value, (type, JITCallable)) or is_builtin(value)
        if callable(value) and not for_kernels and not isinstance(value, (tl.dtype, tl.constexpr)):
            return f"'tl.{path}' is no function for kernels"
    return None
