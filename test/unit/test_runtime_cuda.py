"""The CUDA layer without a GPU: against a driver of our own that logs calls and fails on demand (fake_cuda.c)."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import build_library

HERE = Path(__file__).parent
CHECKS = HERE / "runtime_cuda_checks.py"


@pytest.fixture(scope="module")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_library(HERE / "fake_cuda.c", tmp_path_factory.mktemp("cuda"))


def run(command: list[str], driver: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env={**os.environ, "KC_LIBCUDA": driver, **environment}, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize("environment", [{}, {"FAKE_CUDA_NO_POOL": "1"}, {"KC_GPU_SYNC": "1"}])
def test_gpu_programs(fake_driver: str, environment: dict[str, str]) -> None:
    done = run([sys.executable, str(CHECKS)], fake_driver, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = re.findall(r"^def (check_\w+)", CHECKS.read_text(), re.MULTILINE)
    assert re.findall(r"^(check_\w+) passed", done.stdout, re.MULTILINE) == expected


COUNT = """
from kc.runtime import cuda
try: print(cuda.device_count())
except Exception as error: print(type(error).__name__, error)
"""


def test_no_driver(tmp_path: Path) -> None:
    done = run([sys.executable, "-c", COUNT], str(tmp_path / "none.so"))
    assert done.stdout.startswith("DeviceError no CUDA driver: ")


def test_driver_that_does_not_start(fake_driver: str) -> None:
    done = run([sys.executable, "-c", COUNT], fake_driver, FAKE_CUDA_INIT="100")
    assert done.stdout == "DeviceError the CUDA driver does not start: error 100 (something is wrong)\n"


def test_driver_that_is_too_old(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    source, library = tmp_path / "old.c", tmp_path / "old.so"
    source.write_text("int cuInit(unsigned x) { return 0; }")
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    done = run([sys.executable, "-c", COUNT], str(library))
    assert "the CUDA driver is too old" in done.stdout and "cuDriverGetVersion" in done.stdout
