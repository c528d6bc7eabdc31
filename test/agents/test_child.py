"""Agents in child processes: good ones, and ones that crash, hang, babble, are slow, or write without end."""
from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy
import pytest

from kc.agents import loading
from kc.agents.bindings.child import ChildAgent, ChildError
from kc.agents.protocol import Observation, Proposal, ProtocolError, Verdict
from kc.errors import InputError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "agents"
SEEN = Observation("stablehlo", "before:x", "main", "function", "0" * 64, "module {}")
#: a child whose answer to ``propose`` is a Python expression or statement in ``ACT``
CHILD = """
import json, os, sys, time
count = 0
def say(result, **more):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **({"result": result} if not more else more)}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    method = request["method"]
    if method == "initialize":
        say(FIRST)
    elif method == "propose":
        count += 1
        ACT
    elif method == "shutdown":
        say(None)
        break
    else:
        say(None, error={"code": -32601, "message": "no such method"})
"""


FIRST = '{"name": "test", "levels": ["linalg"], "budget": {"seconds": 5}}'


def child(act: str, tmp_path: Path, first: str = FIRST) -> ChildAgent:
    """An agent whose child does ``act`` when it is asked."""
    script = tmp_path / "child.py"
    script.write_text(CHILD.replace("ACT", act).replace("FIRST", first))
    return ChildAgent([sys.executable, str(script)], line_bytes=1 << 20)


def test_good_child(tmp_path: Path) -> None:
    agent = child('say({"kind": "keep", "rationale": request["params"]["observation"]["name"] + str(count)})', tmp_path)
    assert (agent.name, agent.version, agent.levels, agent.budget.seconds) == ("test", "1", ("linalg",), 5)
    proposal = agent.propose(SEEN)
    assert proposal == Proposal("keep", rationale="main1")
    agent.learn(SEEN, proposal, Verdict(True))  # it does not know the method: no matter
    assert agent.propose(SEEN) == Proposal("keep", rationale="main2")
    pid = agent._process.pid  # type: ignore[union-attr]
    agent.close()
    agent.close()
    assert not Path(f"/proc/{pid}").exists()


def test_nothing_to_say_and_log(tmp_path: Path) -> None:
    log = 'print(json.dumps({"jsonrpc": "2.0", "method": "log", "params": {"message": "thinking"}}), flush=True)'
    agent = child(f"{log}; print(); say(None)", tmp_path)
    assert agent.propose(SEEN) is None
    assert agent.log == ["thinking"]
    agent.close()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        ("os._exit(3)", "ended with exit code 3"),
        ("os.abort()", "ended by SIGABRT"),
        ("sys.stderr.write('no luck'); sys.stderr.flush(); os._exit(1)", "it wrote: no luck"),
        ("time.sleep(60)", "did not answer in time"),
        ("print('hello')", "no JSON .use stderr"),
        ("print('[]', flush=True)", "no JSON-RPC message"),
        ("print('[' * 100000, flush=True)", "no JSON"),
        ("request['id'] += 7; say(None)", "answered request"),
        ("print('x' * (2 << 20), flush=True)", "more than 1048576 bytes"),
        ("sys.stdout.write('x' * (64 << 20))", "more than 1048576 bytes"),
        ("say(None, error={'code': 1, 'message': 'out of tokens'})", "out of tokens"),
        ("while True: print(json.dumps({'jsonrpc': '2.0', 'method': 'log'}), flush=True)", "did not answer in time"),
        ("os.close(1); time.sleep(60)", "closed its end"),
    ],
)
def test_bad_child(act: str, message: str, tmp_path: Path) -> None:
    agent = child(act, tmp_path, '{"levels": ["linalg"], "budget": {"seconds": 1}}')
    began = time.monotonic()
    with pytest.raises(ChildError, match=message):
        agent.propose(SEEN)
    assert time.monotonic() - began < 10
    agent.close()


@pytest.mark.parametrize("answer", ["[1]", '{"kind": "steal"}', '{"kind": "replace_ir"}', '"keep"'])
def test_answer_that_is_no_proposal(answer: str, tmp_path: Path) -> None:
    agent = child(f"say({answer})", tmp_path)
    with pytest.raises(ProtocolError):
        agent.propose(SEEN)
    agent.close()


def test_started_anew_a_few_times(tmp_path: Path) -> None:
    agent = child("os._exit(1) if count == 2 else say({'kind': 'keep'})", tmp_path)
    agent._restarts = 1
    for _ in range(2):
        assert agent.propose(SEEN) == Proposal("keep")
        with pytest.raises(ChildError, match="exit code 1"):
            agent.propose(SEEN)
    with pytest.raises(ChildError, match="broke off too often"):
        agent.propose(SEEN)
    agent.close()


def test_its_children_are_killed_too(tmp_path: Path) -> None:
    start = "import subprocess; p = subprocess.Popen(['sleep', '60'], stderr=subprocess.DEVNULL)"
    agent = child(f"{start}; sys.stderr.write(str(p.pid)); sys.stderr.flush(); os._exit(1)", tmp_path)
    with pytest.raises(ChildError, match="it wrote: ") as caught:
        agent.propose(SEEN)
    pid = int(str(caught.value).rpartition(" ")[2])
    deadline = time.monotonic() + 5
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(pid)


def alive(pid: int) -> bool:
    """Whether a process runs; one that waits for its parent to read its exit code does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_memory_limit(tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    act = "say({'kind': 'keep', 'rationale': str(len(bytearray(1 << 30)))})"
    script.write_text(CHILD.replace("ACT", act).replace("FIRST", '{"levels": ["linalg"]}'))
    agent = ChildAgent([sys.executable, str(script)], memory=512 << 20)
    with pytest.raises(ChildError, match="MemoryError"):
        agent.propose(SEEN)
    agent.close()


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("3", "no object"),
        ('{"budget": {"seconds": "many"}}', "seconds"),
        ('{"match": {"when": "always"}}', "condition in Python"),
        ("os._exit(4)", "exit code 4"),
    ],
)
def test_bad_introduction(first: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        child("pass", tmp_path, first)


def test_no_such_command() -> None:
    with pytest.raises(InputError, match=r"cannot run the agent './nowhere.sh --fast=1': No such file"):
        loading.load("linalg=exec:./nowhere.sh --fast=1")


def test_shell_agent_by_its_name_on_the_command_line() -> None:
    agent = loading.load(f"exec:sh {EXAMPLES / 'json_rpc_agent.sh'} --level=3")
    assert isinstance(agent, ChildAgent) and agent.name == "keeper"
    assert agent.propose(SEEN) == Proposal("keep", rationale="all is well")
    agent.close()


def test_example_takes_part_in_a_compilation(tmp_path: Path) -> None:
    """The example agent rewrites a program, in a process that knows nothing of kc."""
    import kc

    text = (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.negate %x : tensor<4xf32>\n  %1 = stablehlo.negate %0 : tensor<4xf32>\n"
        "  %2 = stablehlo.exponential %1 : tensor<4xf32>\n  return %2 : tensor<4xf32>\n}\n"
    )
    command = f"stablehlo=exec:{sys.executable} {EXAMPLES / 'json_rpc_agent.py'}"
    exe = kc.compile(text, agents=[command], ledger=str(tmp_path / "l.jsonl"))
    assert exe.session is not None
    assert [str(d) for d in exe.session.decisions if d.accepted]
    x = numpy.array([0.0, -1.0, 2.0, numpy.nan], numpy.float32)
    numpy.testing.assert_allclose(exe(x)[0], numpy.exp(x), rtol=1e-6)
    ledger = (tmp_path / "l.jsonl").read_text()
    assert '"accepted": true' in ledger and "-(-x) is x" in ledger
