"""Measurement on a GPU, against a driver of our own: events and full synchronisation, and work that escapes events."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kc.agents.measure import rounds
from kc.agents.measure.inputs import Argument
from kc.agents.measure.rounds import Job, Measurement, Program, measure
from kc.agents.measure.statistics import ratio

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from runtime_tools import build_library

HERE = Path(__file__).parent
X = Argument("f32", (32, 33))


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_library(HERE / "fake_events.c", tmp_path_factory.mktemp("cuda"))


def compare(proposal: str, driver: str, monkeypatch: pytest.MonkeyPatch) -> Measurement:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("KC_LIBCUDA", driver)
    monkeypatch.setattr(rounds, "MOST_ROUNDS", rounds.LEAST_ROUNDS)
    first, second = (Program("", (X,), f"device_cheaters:{name}") for name in ("honest", proposal))
    return measure(Job(first, second, device=0, flush=1 << 16, seconds=10.0))


def test_events_keep_the_time(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare("quick", driver, monkeypatch)
    assert found.reason is None, found
    assert ratio(found.original, found.proposal).value == pytest.approx(4.0, rel=0.2)  # without the host's 2 ms
    assert min(found.original) >= 4e6  # ns


@pytest.mark.parametrize(
    ("cheat", "reason"),
    [("other_stream", "clock"), ("beside", "clock"), ("in_place", "inputs"), ("nothing", "results")],
)
def test_cheat_is_found(cheat: str, reason: str, driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare(cheat, driver, monkeypatch)
    assert (found.reason, found.culprit) == (reason, "proposal"), found


LIMITS = """
from kc.agents.measure.machine import machine
m = machine(0)
assert m.name == "Fake GPU 0" and m.cache_bytes == 60 << 20
assert 4.8e12 < m.memory < 5.0e12, m.memory                 # the H200's 4.8 TB/s
assert m.operations["narrow"] > 1.979e15, m.operations      # its 1979 TFLOP/s of dense f8, and no less
assert m.operations["f32"] > 494e12 and m.operations["f64"] > 67e12
print("ok")
"""


def test_limits_are_those_of_the_data_sheet(driver: str) -> None:
    environment = {**os.environ, "KC_LIBCUDA": driver}
    done = subprocess.run([sys.executable, "-c", LIMITS], env=environment, capture_output=True, text=True)
    assert done.stdout == "ok\n", done.stderr
