"""The door to MLIR: the only module of kc that imports ``torch_mlir``.

``from kc.bindings import ir, passmanager, rewrite``; a dialect's Python module is loaded when its name is first read
(``from kc.bindings import arith`` or ``bindings.arith``), because importing a dozen of them costs about a second.

Importing NumPy costs more than everything else in a cold start, and MLIR's ``ir.py`` imports it for four attribute
builders only. They are registered here again in a form that imports NumPy when a builder is first called.

Next comes ``torch_mlir.dialects.linalg``, which any downcast of one of linalg's attributes imports: it runs the
definition in Python of each named op, for functions such as ``linalg.exp`` that kc does not call. They run when one of
these functions is first used.
"""
from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import threading
import typing
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
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


class _Later:
    """Stands for one name of a module that runs when the name is used."""

    def __init__(self, load: typing.Callable[[], ModuleType], name: str) -> None:
        self._load, self._name = load, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._load(), self._name)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked of the parts of a type hint
            raise AttributeError(name)
        return getattr(getattr(self._load(), self._name), name)


class _NamedOpsDeferred:
    """The finder and loader of linalg's definitions of named ops; gives a module that runs them at first use.

    ``torch_mlir.dialects.linalg`` imports ``*`` from it: the names of the ops (and of the few things that replace one
    of the dialect's own) come as ``_Later``, the others are found by the ``__getattr__`` that is imported with them.
    """

    NAME = "torch_mlir.dialects.linalg.opdsl.ops.core_named_ops"
    #: what ``opdsl.lang`` defines in place of enums and of a builder of the same names
    REPLACED = ("BinaryFn", "TernaryFn", "TypeFn", "UnaryFn", "index")

    def __init__(self) -> None:
        self.real: ModuleSpec | None = None
        self.names: list[str] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self.NAME:
            return None
        self.real = PathFinder.find_spec(name, path, target)
        if self.real is None or not (self.real.origin or "").endswith(".py"):
            return self.real
        self.names = re.findall(r"^def (\w+)\(", Path(str(self.real.origin)).read_text(), re.MULTILINE)
        return importlib.util.spec_from_loader(name, self, origin=self.real.origin)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        shared = vars(module)

        lock = threading.RLock()

        def load() -> ModuleType:
            with lock:
                if "__all__" in shared:
                    run()
            return module

        def run() -> None:
            real = importlib.util.module_from_spec(self.real)  # type: ignore[arg-type]
            self.real.loader.exec_module(real)  # type: ignore[union-attr]
            public = {k: v for k, v in vars(real).items() if not k.startswith("_")}
            shared.update(public)
            linalg = vars(sys.modules["torch_mlir.dialects.linalg"])
            for name, value in public.items():
                if isinstance(linalg.get(name), _Later) or name not in linalg:
                    linalg[name] = value
            for names in (shared, linalg):
                names.pop("__getattr__")
            shared.pop("__all__")

        def missing(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            value = vars(load()).get(name, self)
            if value is self:
                raise AttributeError(f"module {self.NAME.split('.opdsl')[0]!r} has no attribute {name!r}")
            return value

        for name in (*self.names, *self.REPLACED):
            shared[name] = _Later(load, name)
        # the definitions' own imports, that linalg's module uses as if they were its own
        shared.update(ir=ir, **{k: getattr(typing, k) for k in ("Dict", "List", "Optional", "Sequence", "Union")})
        shared["__getattr__"] = missing
        shared["__all__"] = [k for k in shared if not k.startswith("_")] + ["__getattr__"]


if "torch_mlir.dialects.linalg" not in sys.modules:
    sys.meta_path.insert(0, _NamedOpsDeferred())  # type: ignore[arg-type]

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
