"""setuptools' ``build_py`` step that also builds the C++ libraries with CMake.

Used from ``pyproject.toml``; runs while kc is being built, so it imports nothing of kc.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.errors import CompileError, PlatformError

ROOT = Path(__file__).resolve().parent.parent
#: CMake's target -> (its variable for where the library goes, folder in the source, folder in the package, file)
LIBRARIES = {
    "kc_runtime": ("KC_RUNTIME_OUTPUT", "compiler/runtime", "kc/runtime", "libkc_runtime.so"),
    "kc_checked": ("KC_CHECKED_OUTPUT", "agents/execution", "kc/agents/execution", "libkc_checked.so"),
}


class BuildRuntime(build_py):
    """``build_py``, then the C++ libraries into their packages: of the build tree, or in place for ``pip -e``."""

    def run(self) -> None:
        if not self.editable_mode:  # what an earlier build left there and the source no longer has is not to be shipped
            shutil.rmtree(Path(self.build_lib) / "kc", ignore_errors=True)
        super().run()
        if self.editable_mode:
            build({target: ROOT / source for target, (_, source, _, _) in LIBRARIES.items()})
        else:
            base = Path(self.build_lib).resolve()
            build({target: base / package for target, (_, _, package, _) in LIBRARIES.items()})

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        outputs: list[str] = super().get_outputs(include_bytecode)
        made = (Path(self.build_lib) / package / file for _, _, package, file in LIBRARIES.values())
        return [*outputs, *map(str, made)]


def _program(name: str) -> str | None:
    """A build tool: the one of the build environment (a PyPI package) before one of the system."""
    beside = Path(sysconfig.get_path("scripts")) / name
    return str(beside) if beside.exists() else shutil.which(name)


def build(destinations: Mapping[str, Path]) -> None:
    """Builds the libraries, each into the folder that ``destinations`` has for it.

    Raises ``PlatformError`` where kc does not run, ``CompileError`` with CMake's output when the build fails.
    """
    if not sys.platform.startswith("linux"):
        raise PlatformError(f"kc runs on x86-64 Linux; this is {sys.platform}")
    cmake = _program("cmake")
    if cmake is None:
        raise CompileError("cmake is missing; `pip install cmake ninja`, or install without --no-build-isolation")
    if not any(shutil.which(compiler) for compiler in (os.environ.get("CXX", "c++"), "g++", "clang++")):
        raise CompileError("a C++17 compiler is missing (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)")
    for destination in destinations.values():
        destination.mkdir(parents=True, exist_ok=True)
    ninja = _program("ninja")
    with tempfile.TemporaryDirectory(prefix="kc-build-") as folder:
        configure = [cmake, "-S", str(ROOT), "-B", folder]
        configure += [f"-D{LIBRARIES[target][0]}={destination}" for target, destination in destinations.items()]
        configure.append(f"-DPython3_EXECUTABLE={sys.executable}")
        if ninja is not None:
            configure += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
        for command in (configure, [cmake, "--build", folder, "--target", *destinations]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise CompileError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    for target, destination in destinations.items():
        if not (destination / LIBRARIES[target][3]).exists():
            raise CompileError(f"CMake did not make {destination / LIBRARIES[target][3]}")
