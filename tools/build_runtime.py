"""setuptools' ``build_py`` step that also builds the C++ runtime with CMake.

Used from ``pyproject.toml``; runs while kc is being built, so it imports nothing of kc.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.errors import CompileError, PlatformError

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "libkc_runtime.so"


class BuildRuntime(build_py):
    """``build_py``, then ``libkc_runtime.so`` into ``kc/runtime``: of the build tree, or in place for ``pip -e``."""

    def run(self) -> None:
        if not self.editable_mode:  # what an earlier build left there and the source no longer has is not to be shipped
            shutil.rmtree(Path(self.build_lib) / "kc", ignore_errors=True)
        super().run()
        if self.editable_mode:
            build(ROOT / "compiler" / "runtime")
        else:
            build(Path(self.build_lib).resolve() / "kc" / "runtime")

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        outputs: list[str] = super().get_outputs(include_bytecode)
        return [*outputs, str(Path(self.build_lib) / "kc" / "runtime" / LIBRARY)]


def _program(name: str) -> str | None:
    """A build tool: the one of the build environment (a PyPI package) before one of the system."""
    beside = Path(sysconfig.get_path("scripts")) / name
    return str(beside) if beside.exists() else shutil.which(name)


def build(destination: Path) -> None:
    """Builds the runtime library into ``destination``.

    Raises ``PlatformError`` where kc does not run, ``CompileError`` with CMake's output when the build fails.
    """
    if not sys.platform.startswith("linux"):
        raise PlatformError(f"kc runs on x86-64 Linux; this is {sys.platform}")
    cmake = _program("cmake")
    if cmake is None:
        raise CompileError("cmake is missing; `pip install cmake ninja`, or install without --no-build-isolation")
    if not any(shutil.which(compiler) for compiler in (os.environ.get("CXX", "c++"), "g++", "clang++")):
        raise CompileError("a C++17 compiler is missing (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)")
    destination.mkdir(parents=True, exist_ok=True)
    ninja = _program("ninja")
    with tempfile.TemporaryDirectory(prefix="kc-build-") as folder:
        configure = [cmake, "-S", str(ROOT), "-B", folder, f"-DKC_RUNTIME_OUTPUT={destination}"]
        configure.append(f"-DPython3_EXECUTABLE={sys.executable}")
        if ninja is not None:
            configure += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
        for command in (configure, [cmake, "--build", folder, "--target", "kc_runtime"]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise CompileError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    if not (destination / LIBRARY).exists():
        raise CompileError(f"CMake did not make {destination / LIBRARY}")
