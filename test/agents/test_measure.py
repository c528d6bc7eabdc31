"""Measurement of two programs: statistics, inputs, and cheats that are planted and must not pay."""
from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kc.agents.measure import rounds
from kc.agents.measure.differences import difference
from kc.agents.measure.inputs import Argument, draw
from kc.agents.measure.machine import Machine
from kc.agents.measure.rounds import Job, Measurement, Program, measure
from kc.agents.measure.statistics import interval_depth, ratio

HERE = Path(__file__).parent
KINDS = ["f64", "f32", "f16", "bf16", "i1", "i8", "ui8", "i64", "ui64", "complex64", "f8E4M3FN"]
X = Argument("f32", (64, 1024))


def compare(original: str, proposal: str, monkeypatch: pytest.MonkeyPatch, seconds: float = 3.0) -> Measurement:
    """Measure two of the programs in timing_cheaters.py."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setattr(rounds, "MOST_ROUNDS", rounds.LEAST_ROUNDS)
    first, second = (Program("", (X,), f"timing_cheaters:{name}") for name in (original, proposal))
    return measure(Job(first, second, seconds=seconds))


# ------------------------------------------------------------------------------------------------------------- cheats


@pytest.mark.parametrize(
    ("cheat", "reasons"),
    [
        ("thread_after", {"late", "results"}),
        ("thread_busy", {"background"}),
        ("forks", {"background"}),
        ("replays", {"results"}),
        ("remembers_address", {"results"}),
        ("half", {"results"}),
        ("in_place", {"inputs"}),
        ("one_buffer", {"reused", "results"}),
        ("slow_clock", {"clock"}),
        ("crashes", {"crash"}),
        ("raises", {"failed"}),
        ("answers_itself", {"failed"}),
        ("answers_well", {"failed"}),
    ],
)
def test_cheat_is_found(cheat: str, reasons: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 20.0 if reasons & {"clock", "background"} else 10.0
    found = compare("honest", cheat, monkeypatch, seconds)
    assert found.reason in reasons, found
    assert found.culprit == "proposal"
    assert found.message


@pytest.mark.parametrize("cheat", ["remembers_bytes", "lazy", "other_clock"])
def test_cheat_does_not_pay(cheat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare("honest", cheat, monkeypatch, 20.0)
    assert found.reason is None, found
    assert ratio(found.original, found.proposal).low < 1.1


def test_environment_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KC_TEST_CHEAT", "1")
    assert compare("honest", "told", monkeypatch, 20.0).reason is None


def test_hang_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare("honest", "hangs", monkeypatch, 0.5)
    assert (found.reason, found.culprit) == ("time", "proposal")


def test_nothing_stays_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    compare("honest", "forks", monkeypatch, 10.0)
    assert not list(tmp_path.iterdir())
    running = [p.read_bytes() for p in Path("/proc").glob("[0-9]*/environ") if _readable(p)]
    assert not [e for e in running if f"TMPDIR={tmp_path}".encode() in e]


def _readable(path: Path) -> bool:
    try:
        path.read_bytes()
    except OSError:
        return False
    return True


def test_faster_program_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare("thrice", "honest", monkeypatch, 20.0)
    assert found.reason is None, found
    assert found.result_bytes == X.nbytes
    assert ratio(found.original, found.proposal).value > 1.3


# ---------------------------------------------------------------------------------------------------------- the parts


def test_interval_depth_is_that_of_tables() -> None:
    assert [interval_depth(n, 0.95) for n in (5, 6, 9, 10, 20, 50)] == [0, 1, 2, 2, 6, 18]


def test_interval_covers_the_median() -> None:
    drawn = random.Random(7)
    held = 0
    for _ in range(1000):
        common = [drawn.lognormvariate(0, 1) for _ in range(15)]  # load, which both of a pair see
        first = [2 * c * drawn.lognormvariate(0, 0.2) for c in common]
        second = [c * drawn.lognormvariate(0, 0.2) for c in common]
        found = ratio(first, second)
        held += found.low <= 2 <= found.high
    assert 940 <= held <= 995


def test_ratio_refuses() -> None:
    for first, second in (([1.0] * 5, [1.0] * 5), ([1.0] * 9, [1.0] * 8), ([0.0] * 9, [1.0] * 9)):
        with pytest.raises(ValueError):
            ratio(first, second)


@pytest.mark.parametrize("kind", KINDS)
def test_draw(kind: str) -> None:
    argument = Argument(kind, (3, 50))
    one, same, other = (draw([argument], seed)[0] for seed in (1, 1, 2))
    assert one.shape == (3, 50) and one.ctypes.data % 64 == 0
    assert np.array_equal(one.view(np.uint8), same.view(np.uint8))
    assert not np.array_equal(one.view(np.uint8), other.view(np.uint8))


def test_draw_obeys_the_contract() -> None:
    ranged, unique, rising, positive, out = draw(
        [
            Argument("i32", (1000,), low=-3, high=4), Argument("i64", (500,), low=0, high=600, facts=("unique",)),
            Argument("f32", (4, 100), facts=("sorted",)), Argument("f32", (100,), facts=("positive",)),
            Argument("f32", (4,), "out", align=4096),
        ],
        seed=3,
    )
    assert set(ranged) == set(range(-3, 5))
    assert len(set(unique)) == 500 and unique.min() >= 0 and unique.max() <= 600
    assert (np.diff(rising, axis=-1) >= 0).all()
    assert positive.min() > 0
    assert set(out.view(np.uint8)) == {0xA5} and out.ctypes.data % 4096 == 0
    with pytest.raises(ValueError, match="do not fit"):
        draw([Argument("i32", (10,), low=0, high=5, facts=("unique",))], 1)


def test_difference() -> None:
    one = np.array([1.0, math.nan, math.inf, -1e-9], np.float32)
    assert difference(one, one.copy()) is None
    assert difference(one, one + np.float32(1e-6)) is None
    for index, value in ((0, 1.01), (1, 0.0), (2, 1e38), (2, -math.inf), (0, math.nan)):
        other = one.copy()
        other[index] = value
        assert f"first at [{index}]" in str(difference(one, other))
    assert "in place of" in str(difference(one, one.astype(np.float64)))
    assert difference(np.arange(3), np.arange(3) + 1) is not None


def test_floor() -> None:
    limits = Machine("m", memory=1e9, cache=1e10, cache_bytes=1000, operations={"f32": 1e9})
    assert limits.floor_us(5000, {}) == pytest.approx(5.0)
    assert limits.floor_us(1000, {}) == pytest.approx(0.1)
    assert limits.floor_us(1000, {"f32": 2e6}) == pytest.approx(2000.0)


def test_job_is_json() -> None:
    job = Job(Program("a", (X,)), Program("b", (X, Argument("i32", (), "out", 1, 2))), seconds=3.0, device=1)
    assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job


# ------------------------------------------------------------------------------------------ without the compiler


def test_runs_without_the_compiler(tmp_path: Path) -> None:
    """``run_there`` on two artifacts, in a process in which MLIR and LLVM cannot be imported."""
    import kc

    text = "func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {{ {} return %r : tensor<64x64xf32> }}"
    one = "%r = stablehlo.tanh %x : tensor<64x64xf32>"
    two = f"%q = stablehlo.negate %x : tensor<64x64xf32> {one.replace('%r', '%s').replace('%x', '%q')} " \
          "%r = stablehlo.negate %s : tensor<64x64xf32>"
    for name, body in (("a", one), ("b", two)):
        kc.compile(text.format(body)).save(tmp_path / f"{name}.kca")
    argument = (Argument("f32", (64, 64)),)
    job = Job(Program("a.kca", argument), Program("b.kca", argument), seconds=2.0)
    (tmp_path / "job.json").write_text(json.dumps(job.to_json()))
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['torch_mlir', 'llvmlite', 'kc.bindings']))\n"
        "from kc.agents.measure.run_there import main; sys.exit(main(sys.argv[1:]))"
    )
    paths = [str(tmp_path / name) for name in ("job.json", "result.json")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
    result = json.loads((tmp_path / "result.json").read_text())
    found = Measurement.from_json(result["measurement"])
    assert found.reason is None and len(found.original) >= rounds.LEAST_ROUNDS
    assert Machine.from_json(result["machine"]).memory > 1e9

