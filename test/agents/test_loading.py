"""Agents named in text: files, modules, registered names, built-ins, entry points; errors for people."""

from __future__ import annotations

from pathlib import Path

import pytest

import kc
from kc.agents import Agent
from kc.agents.loading import load
from kc.errors import InputError

FILE = """
from kc.agents import Agent


class One(Agent):
    name = "one"
    levels = ("linalg",)


def ask(observation):
    return None


number = 7
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    return str(file)


def test_files(path: str) -> None:
    assert load(f"{path}:One").levels == ("linalg",) and load(path).name == "one"
    assert load(f"loops,before:cpu-llvm={path}:One").levels == ("loops", "before:cpu-llvm")
    assert load(f"{path}:ask").levels == ("linalg",) and load(f"torch={path}:ask").name == "ask"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PATH:number", "neither a kc.agents.Agent nor a function of one observation"),
        ("PATH:two", "has no 'two': there is One"),
        ("nowhere.py:One", "no such file"),
        ("linalg=", "an agent is named as NAME or LEVEL=NAME"),
        ("algebr", "did you mean 'algebra'"),
        ("kc.agents.base:Nobody", "has no 'Nobody'"),
        ("kc.nothing:Nobody", "cannot load an agent from the module 'kc.nothing'"),
        ("gpu=mcp", "run `kc mcp PROGRAM"),
        ("kc.agents.base:Agent", "says no level"),
    ],
)
def test_errors(path: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(text.replace("PATH", path))


def test_broken_files(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("1 / 0\n")
    with pytest.raises(InputError, match="raised ZeroDivisionError while it was loaded"):
        load(str(file))
    file.write_text("x = 1\n")
    with pytest.raises(InputError, match="holds no agent"):
        load(str(file))
    file.write_text(FILE.replace("class One(Agent):", "class One(Agent):\n    def __init__(self, x): ..."))
    with pytest.raises(InputError, match=r"One\(\) raised TypeError"):
        load(f"{file}:One")


def test_registered_built_in_and_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @kc.agent(level="loops", name="test-loading")
    def mine(observation: object) -> None:
        """Nothing."""

    assert load("test-loading") is mine and load("linalg=test-loading").levels == ("linalg",)
    assert mine.levels == ("loops",), "an agent that is asked elsewhere is a copy"
    assert load("algebra").name == "algebra"
    (tmp_path / "kc_test_agents.py").write_text(FILE)
    info = tmp_path / "kc_test_agents-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kc-test-agents\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kc.agents]\ninstalled = kc_test_agents:One\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert isinstance(load("installed"), Agent) and load("stablehlo=installed").levels == ("stablehlo",)
