"""cuSOLVER without a GPU: a driver and a library of our own in host memory; where the library is looked for."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kc.runtime import LoadError, custom_calls
from kc.runtime.cusolver import find, library

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import build_library

HERE = Path(__file__).parent


def build(name: str, folder: Path) -> str:
    return build_library(HERE / f"{name}.c", folder)


def test_custom_calls(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    environment = {
        **os.environ,
        "KC_LIBCUDA": build("fake_cuda", tmp_path),
        "KC_CUSOLVER_LIBRARY": build("fake_cusolver", tmp_path),
    }
    done = subprocess.run(
        [sys.executable, str(HERE / "cusolver_checks.py")], env=environment, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout == "passed\n", done.stdout + done.stderr


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """What was found is forgotten before and after."""
    monkeypatch.delenv(find.VARIABLE, raising=False)
    for cached in (find._found, library.load):
        cached.cache_clear()
    yield monkeypatch
    for cached in (find._found, library.load):
        cached.cache_clear()


def test_the_newest_wheel_comes_first(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("cusolver/lib/libcusolver.so.11", "cu13/lib/libcusolver.so.12", "cu13/lib/libcusolverMg.so.12"):
        (tmp_path / "nvidia" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "nvidia" / name).touch()
    fresh.syspath_prepend(str(tmp_path))
    fresh.setattr(find, "package", lambda name: [tmp_path / name])
    assert find.path() == str(tmp_path / "nvidia/cu13/lib/libcusolver.so.12")
    assert library.load() is None  # no library at all: the host does the work
    assert custom_calls.find("lapack_sgetrf_ffi", "nvptx").platform == "cpu"


def test_what_the_user_names(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh.setenv(find.VARIABLE, "none")
    assert find.path() is None
    assert custom_calls.find("Qr", "nvptx").platform == "cpu"
    fresh.setenv(find.VARIABLE, str(tmp_path / "gone.so"))
    library.load.cache_clear()
    with pytest.raises(LoadError, match=r"KC_CUSOLVER_LIBRARY: .*gone\.so"):
        custom_calls.find("Qr", "nvptx")
    assert custom_calls.find("lapack_sgees_ffi", "nvptx").platform == "cpu"
    assert custom_calls.find("Qr", "cpu").platform == "cpu"


def test_census_says_where_a_call_runs(fresh: pytest.MonkeyPatch) -> None:
    from kc.census import notes
    from kc.frontends import load

    source = """
    func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a)
        : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
      return %0#0 : tensor<4x4xf32>
    }"""
    fresh.setenv(find.VARIABLE, "none")
    (note,) = notes(load(source, "main").module, "nvptx")
    assert "runs in cuSOLVER (none here); where a program finds none, on the host, on copies" in note.message
    fresh.setenv(find.VARIABLE, "/opt/libcusolver.so.12")
    (note,) = notes(load(source, "main").module, "nvptx")
    assert "runs in cuSOLVER (here /opt/libcusolver.so.12)" in note.message
    assert notes(load(source, "main").module, "cpu") == []
