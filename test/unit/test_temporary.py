"""Folders of killed processes go with the next process that makes one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kc import temporary

HOLD = """
import os, subprocess, sys
from kc.temporary import Folder
folder = Folder("held")
open(os.path.join(folder.name, "something"), "w").close()
os.mkdir(os.path.join(folder.name, "inner"))
child = subprocess.Popen(["sleep", "60"]) if len(sys.argv) > 1 else None
print(folder.name, child.pid if child else 0, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def hold(folder: Path, *arguments: str) -> tuple[subprocess.Popen[str], str, int]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )  # fmt: skip
    assert process.stdout is not None
    path, child = process.stdout.readline().split()
    return process, path, int(child)


def test_only_what_a_killed_process_left_goes(there: Path) -> None:
    alive, kept, _ = hold(there)
    dead, left, child = hold(there, "with a child that outlives it")
    dead.kill()
    dead.wait()
    (there / "kc-mine").mkdir()
    (there / "kc-link").symlink_to(kept)
    (there / "other").mkdir()
    try:
        assert temporary.sweep() == [left]
        assert {p.name for p in there.iterdir()} == {"kc-mine", "kc-link", "other", os.path.basename(kept)}
    finally:
        os.kill(child, signal.SIGKILL)
        alive.communicate("")
    assert not os.path.exists(kept)


def test_the_first_folder_of_a_process_sweeps(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead, left, _ = hold(there)
    dead.kill()
    dead.wait()
    assert os.path.exists(left)
    monkeypatch.setattr(temporary, "_swept", False)
    with temporary.Folder("mine") as mine:
        assert [p.name for p in there.iterdir()] == [os.path.basename(mine)]
        assert temporary.sweep() == []
    assert list(there.iterdir()) == []

