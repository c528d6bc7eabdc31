"""NCCL without GPUs: a driver and a library of our own in host memory (fake_cuda.c, fake_nccl.c)."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import build_library

HERE = Path(__file__).parent


def build(name: str, folder: Path) -> str:
    return build_library(HERE / f"{name}.c", folder)


@pytest.mark.parametrize("library", ["fake", "none"])
def test_collectives_on_two_gpus(tmp_path: Path, library: str) -> None:
    environment = {**os.environ, "KC_LIBCUDA": build("fake_cuda", tmp_path), "KC_NCCL_LIBRARY": "none"}
    if library == "fake":
        environment["KC_NCCL_LIBRARY"] = build("fake_nccl", tmp_path)
    done = subprocess.run(
        [sys.executable, str(HERE / "nccl_checks.py")], env=environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout == "passed\n", done.stdout + done.stderr


def test_a_library_that_is_not_there(tmp_path: Path) -> None:
    environment = {
        **os.environ, "KC_LIBCUDA": build("fake_cuda", tmp_path), "KC_NCCL_LIBRARY": str(tmp_path / "none.so"),
    }  # fmt: skip
    source = (HERE / "nccl_checks.py").read_text()
    code = source[: source.index("LIBRARY =")] + source[source.index("SUM =") : source.index("\n\ndef main")]
    code += "\ncheck(kc.compile(SOURCE, 'nvptx:sm_90a'))\n"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode != 0 and "KC_NCCL_LIBRARY:" in done.stderr and "none.so" in done.stderr, done.stderr
