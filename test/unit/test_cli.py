"""The subcommands of ``kc``: what they write, what they say, and that bad input leaves nothing half-written behind."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy
import pytest

ADD = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def kc(*words: str, code: int | None = 0, text: bool = True, **keywords: object) -> subprocess.CompletedProcess[str]:
    """Run ``kc`` in a process of its own; ``code`` is the exit code expected."""
    command = [sys.executable, "-m", "kc.tools.kc", *words]
    done = subprocess.run(command, capture_output=True, text=text, timeout=280, **keywords)  # type: ignore[call-overload]
    assert code is None or done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture
def add(tmp_path: Path) -> Path:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    return path


def test_demo_needs_nothing_optional(tmp_path: Path) -> None:
    """The whole ladder with torch and jax hidden; the artifact it writes runs."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['torch'] = sys.modules['jax'] = None\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path / "nowhere")}
    done = kc("demo", "-o", str(tmp_path / "out"), env=environment)
    assert "off NumPy in float64 by at most" in done.stdout
    for level in ("stablehlo", "linalg", "loops", "llvm"):
        assert (tmp_path / "out" / "cpu" / f"{level}.mlir").stat().st_size > 100
    assert ".target sm_90a" in (tmp_path / "out" / "mlp.ptx").read_text()
    again = kc("run", str(tmp_path / "out" / "mlp.kca"), "--seed", "1")
    assert "result 0: float32[64, 128]" in again.stdout


def test_run_compares_with_expectations(tmp_path: Path, add: Path) -> None:
    x, y = numpy.arange(4, dtype=numpy.float32), numpy.ones(4, numpy.float32)
    numpy.save(tmp_path / "x.npy", x)
    numpy.save(tmp_path / "y.npy", y)
    numpy.savez(tmp_path / "in.npz", arg0=x, arg1=y)
    numpy.save(tmp_path / "good.npy", x + y)
    numpy.save(tmp_path / "bad.npy", x - y)
    inputs = ["--inputs", str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
    good = kc("run", str(add), *inputs, "--expect", str(tmp_path / "good.npy"))
    assert "largest error 0: ok" in good.stdout
    bad = kc("run", str(add), "--inputs", str(tmp_path / "in.npz"), "--expect", str(tmp_path / "bad.npy"), code=1)
    assert "4 of 4 elements differ" in bad.stdout
    kc("run", str(add), *inputs, "--save", str(tmp_path / "out.npz"))
    assert numpy.array_equal(numpy.load(tmp_path / "out.npz")["result0"], x + y)


def test_run_generates_the_same_inputs_from_a_seed(add: Path) -> None:
    first, second, other = (kc("run", str(add), "--seed", seed).stdout for seed in ("1", "1", "2"))
    assert first == second != other


def test_compile_writes_every_form(tmp_path: Path, add: Path) -> None:
    def made(name: str, *words: str) -> bytes:
        kc("compile", str(add), "-o", str(tmp_path / name), *words)
        return (tmp_path / name).read_bytes()

    made("a.kca")
    with zipfile.ZipFile(tmp_path / "a.kca") as archive:
        assert json.loads(archive.read("manifest.json"))["target"] == "cpu"
    assert made("a.o", "--emit=object")[:4] == b"\x7fELF"
    arm = made("arm.o", "--emit=object", "--target=cpu:aarch64-linux-gnu")
    assert arm[:4] == b"\x7fELF" and arm[18:20] == b"\xb7\x00"  # EM_AARCH64
    assert b"kc_entry_main" in made("a.s", "--emit=assembly")
    assert b"define" in made("a.ll", "--emit=llvm-ir")
    assert b".target sm_80" in made("a.ptx", "--emit=ptx", "--target=nvptx:sm_80")


def test_translate_round_trips_the_portable_artifact(tmp_path: Path, add: Path) -> None:
    kc("translate", str(add), "--to=stablehlo-artifact", "-o", str(tmp_path / "a.mlirbc"))
    kc("translate", str(add), "--to=bytecode", "-o", str(tmp_path / "b.mlirbc"))
    for name in ("a.mlirbc", "b.mlirbc"):
        assert "stablehlo.add" in kc("translate", str(tmp_path / name), "--to=mlir").stdout


def test_phases_can_be_pasted_into_kc_opt(tmp_path: Path, add: Path) -> None:
    for target in ("cpu", "nvptx:sm_90a"):
        lines = [line for line in kc("phases", target).stdout.splitlines() if line and not line.startswith("//")]
        assert len(lines) >= 6
        module = ADD
        for line in lines:
            done = subprocess.run(
                [sys.executable, "-m", "kc.tools.kc_opt", f"--pass-pipeline={line}"],
                input=module, capture_output=True, text=True, timeout=100,
            )
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            module = done.stdout
        assert "llvm.func" in module


def test_load_registers_custom_calls(tmp_path: Path) -> None:
    source, functions = tmp_path / "call.mlir", tmp_path / "functions.py"
    source.write_text(
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.custom_call @twice(%a) {api_version = 4 : i32} : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}\n"
    )
    functions.write_text(
        "from kc.runtime import custom_calls\n\n\n"
        "def twice(inputs, outputs, attributes):\n    outputs[0][...] = 2 * inputs[0] + 100\n\n\n"
        'custom_calls.register("twice", twice)\n'
    )
    assert "no function of this name" in kc("run", str(source), code=1).stderr
    done = kc("run", str(source), "--load", str(functions))
    numbers = done.stdout.split("[")[-1].rstrip("]\n").split()
    assert len(numbers) == 4 and all(float(n) > 80 for n in numbers), done.stdout
    functions.write_text("import nothing_like_this\n")
    failed = kc("run", str(source), "--load", str(functions), code=1)
    assert f"--load {functions}:1: ModuleNotFoundError" in failed.stderr


def test_census_lists_all_at_once(tmp_path: Path, add: Path) -> None:
    assert "can be compiled" in kc("census", str(add)).stdout
    bad = tmp_path / "bad.mlir"
    bad.write_text("""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @somewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.custom_call @elsewhere(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
""")
    found = kc("census", str(bad), code=1).stdout
    assert "custom_call @somewhere" in found and "custom_call @elsewhere" in found
    refused = kc("compile", str(bad), "-o", str(tmp_path / "bad.kca"), code=1)
    assert "custom_call @somewhere" in refused.stderr and "custom_call @elsewhere" in refused.stderr
    assert not (tmp_path / "bad.kca").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lower", "missing.mlir"), "no such file: missing.mlir"),
        (("lower", "add.mlir", "--entry=other"), "main"),
        (("lower", "add.mlir", "--to=nowhere"), "'nowhere' is neither a level"),
        (("lower", "add.mlir", "--target=cpuu"), "did you mean 'cpu'"),
        (("lower", "broken.mlir"), "broken.mlir:2:"),
        (("lower", "short.mlirbc"), "short.mlirbc"),
        (("compile", "add.mlir", "-o", "no/such/folder/a.kca"), "no/such/folder/a.kca"),
        (("compile", "add.mlir", "--emit=object", "-o", "no/such/folder/a.o"), "cannot write no/such/folder/a.o"),
        (("compile", "add.mlir", "--emit=ptx", "-o", "a.ptx"), "target cpu has no ptx"),
        (("compile", "add.mlir", "--option", "grian=4", "-o", "a.kca"), "did you mean 'grain'"),
        (("run", "add.mlir", "--inputs", "x.npy"), "2 argument(s), got 1"),
        (("run", "add.mlir", "--inputs", "wide.npy", "wide.npy"), "f64"),
        (("run", "add.mlir", "--inputs", "long.npy", "long.npy"), "5"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_explained(tmp_path: Path, add: Path, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "broken.mlir").write_text("func.func @main() {\n  stablehlo.add %x\n}\n")
    kc("translate", "add.mlir", "--to=bytecode", "-o", "whole.mlirbc", cwd=tmp_path)
    (tmp_path / "short.mlirbc").write_bytes((tmp_path / "whole.mlirbc").read_bytes()[:-40])
    numpy.save(tmp_path / "x.npy", numpy.ones(4, numpy.float32))
    numpy.save(tmp_path / "wide.npy", numpy.ones(4))
    numpy.save(tmp_path / "long.npy", numpy.ones(5, numpy.float32))
    before = sorted(p.name for p in tmp_path.iterdir())
    done = kc(*words, code=1, cwd=tmp_path)
    assert message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_without_the_compiler_it_says_so(tmp_path: Path, add: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['torch_mlir'] = None\n")
    done = kc("compile", str(add), "-o", "a.kca", code=1, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert "needs the compiler, and torch_mlir is not installed" in done.stderr
    assert "Traceback" not in done.stderr
