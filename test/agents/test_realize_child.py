"""Compilers of others in children: those that take too long or too much, or die, are verdicts."""
from __future__ import annotations

import time

import pytest

from kc.agents.realize.child import run_child
from kc.agents.realize.realized import RealizeError

COMPILER = """
import os, subprocess, time

def main(request):
    exec(request["act"])
    return {"done": len(os.environ["HOME"])}
"""


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """The name of a module that does what it is told."""
    (tmp_path / "strange_compiler.py").write_text(COMPILER)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "strange_compiler"


@pytest.mark.parametrize(
    "act, limits, reason",
    [
        ("time.sleep(60)", {"seconds": 2.0}, "resource.time"),
        ("while True: pass", {"cpu": 1}, "resource.time"),
        ("subprocess.run(['sleep', '60'])", {"seconds": 2.0}, "resource.time"),
        ("bytearray(1 << 40)", {}, "resource.crash"),
        ("os.abort()", {}, "resource.crash"),
    ],
    ids=["wall", "cpu", "below", "memory", "crash"],
)
def test_bounds(compiler, act, limits, reason):
    began = time.monotonic()
    with pytest.raises(RealizeError) as caught:
        run_child(compiler, {"act": act}, **limits)
    assert caught.value.reason == reason
    assert time.monotonic() - began < 20


def test_a_good_one(compiler):
    assert run_child(compiler, {"act": "pass"})["done"] > 0
