"""What ``kc doctor`` tells: the parts that are here with their versions, and what each missing one would bring.

Nothing heavy is imported: packages are looked up, not loaded.
"""
from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator

#: package -> what kc uses it for
REQUIRED = {
    "torch-mlir": "MLIR with every dialect and pass",
    "llvmlite": "LLVM: machine code and PTX",
    "numpy": "arrays",
    "ml_dtypes": "bf16, 8-bit floats and i4 in NumPy",
}
#: extra -> (its packages, what it would bring)
EXTRAS = {
    "torch": (("torch",), "kc.torch.compile and torch.compile(backend='kc'), PyTorch tensors as arguments"),
    "jax": (("jax",), "kc.jit, JAX arrays as arguments"),
    "linalg": (("scipy",), "LAPACK, for custom calls such as those of jax.numpy.linalg"),
    "cuda": (("nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-nvcc"), "CUDA source as proposals, ptxas"),
    "triton": (("triton",), "Triton source as proposals"),
    "onednn": (("onednn-cpu-gomp",), "oneDNN's matrix products as proposals"),
    "mcp": (("mcp",), "kc mcp, by which coding agents take part"),
    "gym": (("gymnasium",), "kc.agents.gym, an environment for reinforcement learning"),
    "algebra": (("egglog",), "the agent algebra: equality saturation of StableHLO"),
    "search": (("optuna", "scikit-learn"), "kc tune and the agent schedule-search"),
    "llm": (("openai", "anthropic"), "the agent llm, which asks a language model"),
    "test": (
        (
            "pytest", "pytest-xdist", "pytest-timeout", "hypothesis", "lit", "filecheck", "scipy", "ruff", "mypy",
            "nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "triton", "egglog", "optuna",
            "scikit-learn", "openai", "anthropic", "jsonschema", "mcp", "gymnasium",
        ),
        "the test suite, lit tests, lint, types, and ptxas to assemble PTX without a GPU",
    ),
}


def report() -> list[str]:
    """The lines of the report."""
    return [*_python(), *_required(), *_extras(), *_runtime(), *_gpu(), *_tools()]


def installed(package: str) -> str | None:
    """The version of an installed package, or ``None``."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _line(good: bool | None, text: str) -> str:
    return f"  {'–' if good is None else '✓' if good else '✗'} {text}"


def _python() -> Iterator[str]:
    import kc

    yield f"kc {kc.__version__}, Python {platform.python_version()} ({sys.executable})"
    yield f"{platform.system()} {platform.release()}, {platform.machine()}, {len(os.sched_getaffinity(0))} CPUs to use"


def _required() -> Iterator[str]:
    yield "required packages:"
    for package, purpose in REQUIRED.items():
        version = installed(package)
        yield _line(bool(version), f"{package} {version or 'is missing'}: {purpose}")


def _extras() -> Iterator[str]:
    yield "extras:"
    for extra, (packages, purpose) in EXTRAS.items():
        found = {package: installed(package) for package in packages}
        missing = [package for package, version in found.items() if version is None]
        if not missing:
            yield _line(True, f"{extra}: {', '.join(f'{name} {version}' for name, version in found.items())}")
        else:
            lacks = f"{extra}: {', '.join(missing)} missing"
            yield _line(None, f"{lacks}; `pip install 'kc[{extra}]'` would bring {purpose}")


def _runtime() -> Iterator[str]:
    from kc import runtime
    from kc.runtime import cpu, library

    yield "C++ runtime:"
    try:
        yield _line(True, f"{library.path()} (interface {runtime.version()}, {runtime.num_threads()} threads)")
    except runtime.LoadError as error:
        yield _line(False, str(error))
    wide = [name for name in ("avx2", "fma", "f16c", "avx512f", "avx512_bf16", "amx_bf16") if name in cpu.flags()]
    yield _line(None, f"CPU extensions: {', '.join(wide) or 'none of AVX2 and later'}")


def _gpu() -> Iterator[str]:
    from kc.runtime import DeviceError, LoadError, cuda

    yield "GPU:"
    try:
        for index in range(cuda.device_count()):
            gpu = cuda.describe(index)
            major, minor = gpu.capability
            yield _line(
                True,
                f"{index}: {gpu.name}, sm_{major}{minor}, {gpu.multiprocessors} multiprocessors, "
                f"{gpu.memory / 2**30:.0f} GiB, driver for CUDA {gpu.driver[0]}.{gpu.driver[1]}",
            )
        if not cuda.device_count():
            yield _line(None, "the driver shows no device")
    except (DeviceError, LoadError) as error:
        yield _line(None, f"{error}; PTX can be made here, not run")


def _tools() -> Iterator[str]:
    yield "tools:"
    yield _line(*_filecheck())
    yield _line(*_ptxas())
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    yield _line(bool(compiler) or None, f"C++ compiler: {compiler or 'none (needed only to build kc)'}")


def _filecheck() -> tuple[bool | None, str]:
    """The FileCheck that the lit tests use (see test/lit.cfg.py)."""
    named = os.environ.get("FILECHECK")
    if named:
        return os.path.exists(named), f"FileCheck: {named} (the variable FILECHECK)"
    llvm = shutil.which("FileCheck")
    if llvm:
        return True, f"FileCheck: {llvm} (LLVM's)"
    version = installed("filecheck")
    if version:
        return True, f"FileCheck: the package filecheck {version}"
    return None, "FileCheck: none (the extra 'test' brings the package filecheck)"


def _ptxas() -> tuple[bool | None, str]:
    from kc.codegen.ptx_check import find_ptxas

    path = find_ptxas()
    return bool(path) or None, f"ptxas: {path or 'none (the driver assembles PTX; the extra test brings one)'}"
