"""The door to MLIR: the only module of kc that imports ``torch_mlir``.

``from kc.bindings import ir, passmanager, rewrite``; a dialect's Python module is loaded when its name is first read
(``from kc.bindings import arith`` or ``bindings.arith``), because importing a dozen of them costs about a second.

Importing NumPy costs more than everything else in a cold start, and MLIR's ``ir.py`` imports it for four attribute
builders only. They are registered here again in a form that imports NumPy when a builder is first called.
"""
from __future__ import annotations

import importlib
import sys
from typing import Any


class _NumpyDeferred:
    """A finder that hides NumPy while ``torch_mlir.ir`` is imported; ``ir.py`` then skips its NumPy builders."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name == "numpy":
            raise ModuleNotFoundError("numpy is imported later", name="numpy")


_deferred = "numpy" not in sys.modules and "torch_mlir.ir" not in sys.modules
if _deferred:
    sys.meta_path.insert(0, _NumpyDeferred)  # type: ignore[arg-type]
try:
    from torch_mlir import ir, passmanager
    from torch_mlir._mlir_libs import _stablehlo as stablehlo_api
    from torch_mlir._mlir_libs import _torchMlir as torch_api
finally:
    if _deferred:
        sys.meta_path.remove(_NumpyDeferred)  # type: ignore[arg-type]

stablehlo_api.register_stablehlo_passes()


def _register_elements_builders() -> None:
    """The four builders that ``ir.py`` leaves out when NumPy is hidden from it."""

    def builder(dtype: str, element: Any) -> Any:
        def build(values: Any, context: Any) -> Any:
            import numpy

            return ir.DenseElementsAttr.get(numpy.array(values, dtype=dtype), type=element(context), context=context)

        return build

    for name, dtype, element in (
        ("F64ElementsAttr", "float64", lambda context: ir.F64Type.get(context=context)),
        ("I32ElementsAttr", "int32", lambda context: ir.IntegerType.get_signless(32, context=context)),
        ("I64ElementsAttr", "int64", lambda context: ir.IntegerType.get_signless(64, context=context)),
        ("IndexElementsAttr", "int64", lambda context: ir.IndexType.get(context=context)),
    ):
        ir.register_attribute_builder(name)(builder(dtype, element))


if _deferred:
    _register_elements_builders()

# name -> module below torch_mlir, where the two differ
_MODULES = {
    "rewrite": "rewrite",
    "execution_engine": "execution_engine",
    "torch_fx": "fx",
    "torch_compiler_utils": "compiler_utils",
    "fx_importer": "extras.fx_importer",
    "fx_decomp_util": "extras.fx_decomp_util",
    "onnx_importer": "extras.onnx_importer",
    "omp": "dialects.openmp",
    "acc": "dialects.openacc",
    "transform_structured": "dialects.transform.structured",
    "transform_interpreter": "dialects.transform.interpreter",
}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'kc.bindings' has no attribute {name!r}")
    path = "torch_mlir." + _MODULES.get(name, f"dialects.{name}")
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise  # the module is there, but something that it needs is not (torch, for example)
        raise AttributeError(f"kc.bindings has no MLIR module named {name!r} (looked for {path})") from None
    globals()[name] = module
    return module


def library_dir() -> str:
    """The folder that holds MLIR's shared libraries and the native ``torch-mlir-opt``."""
    return next(iter(importlib.import_module("torch_mlir._mlir_libs").__path__))


__all__ = ["ir", "library_dir", "passmanager", "stablehlo_api", "torch_api"]
