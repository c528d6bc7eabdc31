"""``kc doctor``: what it says of parts that are here and of parts that are not."""
from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from kc.runtime import DeviceError, cuda
from kc.tools import _doctor


def report() -> str:
    return "\n".join(_doctor.report())


def test_what_is_here() -> None:
    import numpy

    text = report()
    assert f"✓ numpy {numpy.__version__}" in text
    assert sys.executable in text
    assert "✓ " in text.split("C++ runtime:\n")[1].splitlines()[0]
    assert "✗" not in text


def test_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]

    def names(requirements: list[str]) -> set[str]:
        return {re.split("[<>=]", requirement)[0] for requirement in requirements}

    assert names(project["dependencies"]) == set(_doctor.REQUIRED)
    wanted = {extra: names(requirements) for extra, requirements in project["optional-dependencies"].items()}
    wanted["test"] -= {"torch", "jax"}  # the report has them as extras of their own
    assert {extra: set(packages) for extra, (packages, _) in _doctor.EXTRAS.items()} == wanted


def test_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = _doctor.installed
    gone = ("torch", "llvmlite", "filecheck")
    monkeypatch.setattr(_doctor, "installed", lambda name: None if name in gone else real(name))
    monkeypatch.delenv("FILECHECK", raising=False)
    monkeypatch.setattr(_doctor.shutil, "which", lambda name: None)
    text = report()
    assert "✗ llvmlite is missing: LLVM: machine code and PTX" in text
    assert "torch missing; `pip install 'kc[torch]'` would bring kc.torch.compile" in text
    assert "FileCheck: none" in text and "C++ compiler: none" in text


def test_the_filecheck_that_lit_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILECHECK", sys.executable)
    assert f"✓ FileCheck: {sys.executable} (the variable FILECHECK)" in report()
    monkeypatch.delenv("FILECHECK")
    monkeypatch.setattr(_doctor.shutil, "which", lambda name: f"/opt/{name}")
    assert "✓ FileCheck: /opt/FileCheck (LLVM's)" in report()


def test_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_driver() -> int:
        raise DeviceError("no CUDA driver: libcuda.so.1 is not there")

    monkeypatch.setattr(cuda, "device_count", no_driver)
    assert "– no CUDA driver: libcuda.so.1 is not there; PTX can be made here, not run" in report()
    monkeypatch.setattr(cuda, "device_count", lambda: 1)
    monkeypatch.setattr(cuda, "describe", lambda index: cuda.Gpu(index, "H200", (9, 0), 132, 141 << 30, (13, 0)))
    assert "✓ 0: H200, sm_90, 132 multiprocessors, 141 GiB, driver for CUDA 13.0" in report()
