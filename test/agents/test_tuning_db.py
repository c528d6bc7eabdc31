"""The tuning database: keys, replacement, processes that write at once, files that are none."""
from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from kc.agents.builtin import tuning_db
from kc.agents.builtin.tuning_db import Key, Point, TuningDatabase
from kc.errors import InputError

KEY = Key("k" * 64, "cpu", "a machine", (("M", 64),))


def point(lanes: int, ratio: float | None, rounds: int = 7, **more: object) -> Point:
    return Point("rows", {"lanes": lanes, "machine.parallel": True}, ratio, 10.0, 12.0, rounds, **more)  # type: ignore[arg-type]


def test_points_come_back_as_they_were(tmp_path: Path) -> None:
    path = str(tmp_path / "sub" / "t.sqlite")
    points = [point(8, 1.2, features=(1.5, 2.5)), point(16, None, error="it crashed")]
    with TuningDatabase(path) as database:
        for p in points:
            database.add(KEY, p)
    with TuningDatabase(path) as database:
        assert database.points(KEY) == points
        assert database.points(Key(KEY.kernel, "cpu:znver3", KEY.machine, KEY.sizes)) == []
        assert database.points(Key(KEY.kernel, "cpu", KEY.machine)) == []
        assert database.family(Key("other", "cpu", "a machine"), "rows") == points[:1]


def test_many_rounds_are_not_replaced_by_few(tmp_path: Path) -> None:
    with TuningDatabase(str(tmp_path / "t.sqlite")) as database:
        database.add(KEY, point(8, 1.1, rounds=41))
        database.add(KEY, point(8, 3.0, rounds=7))
        assert [p.ratio for p in database.points(KEY)] == [1.1]
        database.add(KEY, point(8, 1.05, rounds=41))
        assert [p.ratio for p in database.points(KEY)] == [1.05]


def test_the_best_is_one_that_was_measured_well(tmp_path: Path) -> None:
    with TuningDatabase(str(tmp_path / "t.sqlite")) as database:
        assert database.best(KEY) is None
        database.add(KEY, point(8, 2.0, rounds=3))
        database.add(KEY, point(4, None, error="no"))
        best = database.best(KEY)
        assert best is not None and best.ratio == 2.0
        database.add(KEY, point(16, 1.2, rounds=41))
        best = database.best(KEY)
        assert best is not None and best.ratio == 1.2


def test_points_of_another_kc_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TuningDatabase(str(tmp_path / "t.sqlite")) as database:
        monkeypatch.setattr(tuning_db, "_kc", lambda: "0.0.1")
        database.add(KEY, point(8, 2.0))
        monkeypatch.undo()
        assert database.points(KEY) == []
        assert len(database.family(KEY, "rows")) == 1  # a cost model still learns from them


WRITER = """
import sys
from kc.agents.builtin.tuning_db import Key, Point, TuningDatabase
with TuningDatabase(sys.argv[1]) as database:
    for n in range(40):
        database.add(Key("k", "cpu", "m"), Point("rows", {"writer": int(sys.argv[2]), "n": n}, 1.0, rounds=1))
        database.points(Key("k", "cpu", "m"))
"""


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "t.sqlite")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(n)]) for n in range(4)]
    assert [w.wait(60) for w in writers] == [0] * 4
    with TuningDatabase(path) as database:
        assert len(database.points(Key("k", "cpu", "m"))) == 160


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    path.write_text("these are not the bytes you are looking for" * 40)
    with pytest.raises(InputError, match=r"t\.sqlite"):
        TuningDatabase(str(path))
    assert path.read_text().startswith("these")
    later = tmp_path / "later.sqlite"
    with sqlite3.connect(later) as raw:
        raw.execute("pragma user_version = 99")
    with pytest.raises(InputError, match="later kc"):
        TuningDatabase(str(later))


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KC_TUNING_DB", str(tmp_path / "mine.sqlite"))
    assert tuning_db.default_path() == str(tmp_path / "mine.sqlite")
    monkeypatch.delenv("KC_TUNING_DB")
    monkeypatch.setenv("KC_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("KC_CACHE", "1")
    assert tuning_db.default_path() == str(tmp_path / "tuning.sqlite")
    monkeypatch.setenv("KC_CACHE", "0")
    assert tuning_db.default_path() == ":memory:"
