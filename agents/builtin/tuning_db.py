"""The tuning database: what schedules of what kernels were measured on what machine, in one SQLite file.

A point's key is the kernel's identity, target, machine, sizes and knobs. Several processes may read and write at once
(write-ahead log, a writer waits for its turn). Speeds are ratios to the compiler's own choice, measured in the same
rounds, so that points from busy and quiet moments compare.
"""
from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kc.errors import InputError

_SCHEMA = """
create table if not exists points (
  kernel text not null, target text not null, machine text not null, sizes text not null, schedule text not null,
  knobs text not null, ratio real, us real, default_us real, rounds integer not null, error text not null,
  features text not null, version text not null, time real not null,
  primary key (kernel, target, machine, sizes, schedule, knobs, version));
create index if not exists families on points (target, machine, schedule);
"""
#: of the table; a file of a later one is not touched
_VERSION = 1
#: seconds that a writer waits for others
_PATIENCE = 60.0
#: rounds of a point that is believed
_SURE = 15


@dataclasses.dataclass(frozen=True)
class Key:
    """Which kernel, for what, where, at which sizes of its open dimensions."""

    kernel: str
    target: str
    machine: str
    sizes: tuple[tuple[str, int], ...] = ()


@dataclasses.dataclass(frozen=True)
class Point:
    """One measured schedule. ``ratio``: the default's time over this one's (2: twice as fast), None when it failed, as
    ``error`` says; ``us``, ``default_us``: median µs of a call; ``features``: of the kernel, for cost models."""

    schedule: str
    knobs: dict[str, Any]
    ratio: float | None
    us: float | None = None
    default_us: float | None = None
    rounds: int = 0
    error: str = ""
    features: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The knobs as text, the same for equal ones."""
        return json.dumps(self.knobs, sort_keys=True)


def default_path() -> str:
    """``KC_TUNING_DB``, else ``tuning.sqlite`` in kc's cache folder; ``:memory:`` where there is none."""
    given = os.environ.get("KC_TUNING_DB")
    if given:
        return given
    from kc.codegen import cache

    folder = cache.directory()
    return ":memory:" if folder is None else str(folder.parent / "tuning.sqlite")


class TuningDatabase:
    """An open database; use it as a context manager. Raises InputError for a file that is none."""

    def __init__(self, path: str = ""):
        self.path = path or default_path()
        if self.path != ":memory:":
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            found = self._db.execute("pragma user_version").fetchone()[0]
            if found > _VERSION:
                raise InputError(f"'{self.path}' is a tuning database of a later kc (version {found})")
            self._db.executescript(f"begin immediate; {_SCHEMA} pragma user_version = {_VERSION}; commit;")
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"'{self.path}' cannot be used as a tuning database: {error}") from None

    def __enter__(self) -> TuningDatabase:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(sqlite3.Error):
            self._db.close()

    def add(self, key: Key, point: Point) -> None:
        """Keep a point; one of the same knobs is replaced if that was measured in no more rounds."""
        self._db.execute(
            "insert into points values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set "
            "ratio = excluded.ratio, us = excluded.us, default_us = excluded.default_us, rounds = excluded.rounds, "
            "error = excluded.error, features = excluded.features, time = excluded.time "
            "where excluded.rounds >= points.rounds",
            (*_columns(key), point.schedule, point.name, point.ratio, point.us, point.default_us, point.rounds,
             point.error, json.dumps(point.features), _kc(), time.time()),
        )

    def points(self, key: Key) -> list[Point]:
        """All points of a kernel, the oldest first; those of this version of kc."""
        where = "kernel = ? and target = ? and machine = ? and sizes = ? and version = ?"
        return list(self._select(where, (*_columns(key), _kc())))

    def best(self, key: Key) -> Point | None:
        """The fastest point of a kernel: among those measured in many rounds, if there are any, since the best of many
        short measurements is mostly luck."""
        measured = [point for point in self.points(key) if point.ratio is not None]
        sure = [point for point in measured if point.rounds >= _SURE]
        return max(sure or measured, key=lambda point: point.ratio or 0.0, default=None)

    def family(self, key: Key, schedule: str) -> list[Point]:
        """Points of all kernels of one schedule on that target and machine: what a cost model learns from."""
        where = "target = ? and machine = ? and schedule = ? and ratio is not null"
        return list(self._select(where, (key.target, key.machine, schedule)))

    def _select(self, where: str, values: tuple[Any, ...]) -> Iterator[Point]:
        columns = "schedule, knobs, ratio, us, default_us, rounds, error, features"
        for row in self._db.execute(f"select {columns} from points where {where} order by time, rowid", values):
            schedule, knobs, ratio, us, default_us, rounds, error, features = row
            yield Point(schedule, json.loads(knobs), ratio, us, default_us, rounds, error, tuple(json.loads(features)))


def _columns(key: Key) -> tuple[str, str, str, str]:
    return key.kernel, key.target, key.machine, json.dumps(sorted(key.sizes))


def _kc() -> str:
    from kc import __version__

    return __version__
