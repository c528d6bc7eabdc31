"""Searching schedules: candidates, cost model, the search itself on made-up costs, kc tune on a real kernel."""
from __future__ import annotations

import io
import json
import math
import random
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("optuna")
pytest.importorskip("sklearn")

from kc.agents.builtin.search import show
from kc.agents.builtin.search.bench import Worker, WorkerError
from kc.agents.builtin.search.candidates import SAMPLERS, Candidates
from kc.agents.builtin.search.kernels import parse_sizes, space_of
from kc.agents.builtin.search.model import CostModel
from kc.agents.builtin.search.search import Limits, Result, search
from kc.agents.builtin.tuning_db import Key, Point, TuningDatabase
from kc.agents.protocol import Observation, Proposal
from kc.agents.realize.knob_space import Knob, KnobSpace
from kc.errors import InputError
from kc.tools.commands.tune import kernels

SOFTMAX = """func.func @main(%x: tensor<24x40xf32>) -> tensor<24x40xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<24x40xf32>, tensor<f32>) -> tensor<24xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<24xf32>) -> tensor<24x40xf32>
  %d = stablehlo.subtract %x, %mb : tensor<24x40xf32>
  %e = stablehlo.exponential %d : tensor<24x40xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<24x40xf32>, tensor<f32>) -> tensor<24xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<24xf32>) -> tensor<24x40xf32>
  %q = stablehlo.divide %e, %sb : tensor<24x40xf32>
  return %q : tensor<24x40xf32>
}"""
KEY = Key("kernel", "cpu", "machine")


class Block:
    """Stands for a schedule: one illegal corner."""

    def __init__(self, **fields: Any):
        self.__dict__.update(fields)


def made_up_space() -> KnobSpace:
    """720 combinations, of which those with a and b both at their top are illegal."""
    knobs = {
        "a": Knob((1, 2, 4, 8, 16, 32), 4), "b": Knob((1, 2, 4, 8, 16), 2), "c": Knob((1, 2, 3, 4, 6, 8), 1),
        "p": Knob((False, True), True), "q": Knob((8, 16), 8),
    }

    class Space(KnobSpace):
        def problem(self, values: Any) -> str | None:
            return "too large" if values.get("a") == 32 and values.get("b") == 16 else None

    return Space("rows", (), "cpu", knobs)


def cost(knobs: dict[str, Any]) -> float:
    """Time of a made-up schedule: best at a = 16, b = 8, c = 3, p = False."""
    far = abs(math.log2(knobs["a"] / 16)) + abs(math.log2(knobs["b"] / 8)) + 0.5 * abs(knobs["c"] - 3)
    return 1.0 + 0.4 * far + (0.5 if knobs["p"] else 0.0)


class MadeUp:
    """A worker whose times are ``cost`` with noise; ``fails``: whether a point does."""

    def __init__(self, noise: float = 0.02, flat: bool = False, fails: Any = lambda knobs: False):
        self._random, self._noise, self._flat, self._fails = random.Random(3), noise, flat, fails
        self.measured: list[dict[str, Any]] = []

    def measure(self, proposal: Proposal, rounds: int, seconds: float, least: int = 3) -> tuple[list[float], ...]:
        knobs = proposal.knobs
        assert knobs is not None
        self.measured.append(knobs)
        if self._fails(knobs):
            raise WorkerError("it crashed")
        base = cost(made_up_space().default)
        own = base if self._flat else cost(knobs)
        noise = self._random.gauss
        return ([base * math.exp(noise(0, self._noise)) for _ in range(rounds)],
                [own * math.exp(noise(0, self._noise)) for _ in range(rounds)])


def run(worker: MadeUp, database: TuningDatabase, points: int = 40, **options: Any) -> Result:
    limits = Limits(1e9, points, options.pop("model", True))
    return search(made_up_space(), worker, database, KEY, limits=limits, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_candidates_are_legal_and_new_until_none_is_left(sampler: str) -> None:
    space = made_up_space()
    candidates = Candidates(space, sampler, seed=1)
    known = [Point("rows", space.default, 1.0), Point("rows", {**space.default, "a": 8}, 1.5)]
    candidates.know(known)
    seen = [json.dumps(p.knobs, sort_keys=True) for p in known]
    while drawn := candidates.draw(7):
        for knobs in drawn:
            assert space.problem(knobs) is None
            seen.append(json.dumps(knobs, sort_keys=True))
            candidates.tell(Point("rows", knobs, 1 / cost(knobs)))
    assert len(seen) == len(set(seen)) == 720 - 24
    with pytest.raises(InputError, match="evolution, random, tpe"):
        Candidates(space, "luck")


def test_what_was_given_back_comes_again() -> None:
    candidates = Candidates(made_up_space(), "random", seed=1)
    drawn = candidates.draw(5)
    for knobs in drawn[1:]:
        candidates.give_back(knobs)
    candidates.tell(Point("rows", drawn[0], 1.0))
    rest = []
    while more := candidates.draw(50):
        rest += more
        for knobs in more:
            candidates.tell(Point("rows", knobs, None))
    assert all(knobs in rest for knobs in drawn[1:]) and drawn[0] not in rest


def test_the_model_learns_which_way_is_better() -> None:
    space = made_up_space()
    rng = random.Random(5)
    points = list(space.points())
    rng.shuffle(points)
    model = CostModel(list(space.knobs))
    assert not model.fit([Point("rows", p, 1 / cost(p), features=(1.0,)) for p in points[:5]])
    assert model.rank(points[:3], (1.0,)) == [0, 1, 2]
    assert model.fit([Point("rows", p, 1 / cost(p), features=(1.0,)) for p in points[:80]])
    unseen = points[80:180]
    ranked = [cost(unseen[i]) for i in model.rank(unseen, (1.0,))]
    assert sum(ranked[:20]) / 20 < 0.8 * sum(ranked[-20:]) / 20
    assert model.predict(points[100], (1.0,)) == pytest.approx(1 / cost(points[100]), rel=0.5)


@pytest.mark.parametrize(("sampler", "model"), [("evolution", True), ("random", True), ("tpe", False)])
def test_the_search_finds_a_good_point(sampler: str, model: bool, tmp_path: Path) -> None:
    worker = MadeUp()
    with TuningDatabase(str(tmp_path / "t.sqlite")) as database:
        result = run(worker, database, sampler=sampler, model=model)
        assert result.measured == 40 and result.better and result.gain is not None
        base = cost(made_up_space().default)
        assert result.best.ratio == pytest.approx(base / cost(result.best.knobs), rel=0.05)
        assert cost(result.best.knobs) < (1.7 if model else 2.0) < base
        assert [y for _, y in result.course] == sorted(y for _, y in result.course)
        assert len(database.points(KEY)) == 40
        best = database.best(KEY)
        assert best is not None and best.knobs == result.best.knobs


def test_resuming_measures_nothing_twice(tmp_path: Path) -> None:
    with TuningDatabase(str(tmp_path / "t.sqlite")) as database:
        first = MadeUp()
        run(first, database, points=20, model=False)
        second = MadeUp()
        result = run(second, database, points=20)
        assert (result.known, result.measured) == (20, 20)
        names = [json.dumps(k, sort_keys=True) for k in first.measured[:20] + second.measured[:20]]
        assert len(set(names)) == 40
        fresh = run(MadeUp(), database, points=5, resume=False)
        assert fresh.known == 0


def test_no_gain_is_said_where_there_is_none(tmp_path: Path) -> None:
    with TuningDatabase(str(tmp_path / "t.sqlite")) as database:
        result = run(MadeUp(noise=0.1, flat=True), database, model=False)
        assert not result.better and result.best.knobs == made_up_space().default
        assert result.course[-1][1] > 1.0  # the best of many noisy points looked better; the last rounds told otherwise


def test_points_that_fail_are_kept_and_passed_over(tmp_path: Path) -> None:
    worker = MadeUp(fails=lambda knobs: not knobs["p"])
    with TuningDatabase(str(tmp_path / "t.sqlite")) as database:
        result = run(worker, database, model=False)
        assert result.failed > 5 and result.failure == "it crashed"
        assert result.best.knobs["p"] is True and result.better
        assert {p.error for p in database.points(KEY)} == {"", "it crashed"}


def test_the_bar_is_for_terminals_only() -> None:
    pipe = io.StringIO()
    silent = show.Progress("k", 10, pipe)
    silent(1.0, 3, 1.5)
    silent.close()
    assert pipe.getvalue() == ""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    bar = show.Progress("kernel", 10, terminal)
    bar(5.0, 3, 1.5)
    assert "kernel" in terminal.getvalue() and "3 points, best 1.500x" in terminal.getvalue()
    assert terminal.getvalue().count("█") == 12


def test_the_plot_is_svg() -> None:
    text = show.plot([("a<b", [(0.0, 1.0), (2.0, 1.5), (4.0, 1.5)]), ("flat", [(0.0, 1.0)])])
    root = ElementTree.fromstring(text)
    lines = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2 and len(lines[0].attrib["points"].split()) == 6
    assert "a<b" in [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]


def test_sizes() -> None:
    assert parse_sizes("M=3, N=40") == {"M": 3, "N": 40}
    with pytest.raises(InputError, match="NAME=NUMBER"):
        parse_sizes("M:3")


@pytest.fixture(scope="module")
def softmax() -> Observation:
    (observation,) = kernels(SOFTMAX)
    return observation


def test_a_worker_measures_and_survives_what_fails(softmax: Observation) -> None:
    space = space_of(softmax)
    assert space is not None and space.schedule == "rows"
    with Worker(softmax.ir, "cpu", {}, threads=1) as worker:
        assert worker.default_us > 0
        default, own = worker.measure(Proposal("schedule", knobs={"lanes": 8}), 4, 60, least=5)
        assert len(default) == len(own) == 4 and min(default + own) > 0
        with pytest.raises(WorkerError, match="lanes"):
            worker.measure(Proposal("schedule", knobs={"lanes": 7}), 3, 60)
        with pytest.raises(WorkerError, match="took longer"):
            worker.measure(Proposal("schedule", knobs={"lanes": 4}), 3, 0.01)
        assert len(worker.measure(Proposal("schedule", knobs={"lanes": 8}), 3, 60)[0]) == 3  # started again


def test_a_worker_sees_wrong_results(softmax: Observation) -> None:
    wrong = softmax.ir.replace("arith.divf", "arith.mulf")
    assert wrong != softmax.ir
    with Worker(softmax.ir, "cpu", {}, threads=1) as worker, pytest.raises(WorkerError, match="differs"):
        worker.measure(Proposal("replace_ir", ir=wrong, level="linalg"), 3, 60)


def test_kc_tune(tmp_path: Path) -> None:
    source, database, plot = tmp_path / "s.mlir", tmp_path / "t.sqlite", tmp_path / "p.svg"
    source.write_text(SOFTMAX)
    command = [sys.executable, "-m", "kc.tools.kc", "tune", str(source), "--budget", "60", "--points", "2", "--json",
               "--threads", "1", "--database", str(database), "--plot", str(plot), "--resume"]
    counts = []
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""  # no bar where there is no terminal
        (row,) = json.loads(done.stdout)["kernels"]
        counts.append((row["measured"], row["known"]))
        assert row["schedule"] == "rows" and row["failed"] == 0
    assert counts == [(2, 0), (2, 2)]
    ElementTree.parse(plot)


def test_kc_tune_says_what_is_wrong(tmp_path: Path) -> None:
    source = tmp_path / "s.mlir"
    source.write_text(SOFTMAX)
    command = [sys.executable, "-m", "kc.tools.kc", "tune", str(source), "--kernel", "nosuch"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "no kernel is named nosuch" in done.stderr
