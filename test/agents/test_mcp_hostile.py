"""The MCP server with sources that are none, and clients that go away in the midst of a call."""
from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kc.agents.bindings import walk, wire, worker
from kc.agents.bindings.remote import Remote
from kc.errors import InputError, KcError

pytest.importorskip("mcp")

PROGRAM = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
LONG = "x" * 1_500_000
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.fixture(scope="module")
def remote():
    with_one = Remote()
    yield with_one
    with_one.close()


@pytest.mark.parametrize(
    "source, said",
    [
        ("/dev/zero", "no regular file"),
        ("/dev/stdin", "no regular file"),
        ("/", "no regular file"),
        ("a\0b", "NUL"),
        ("x" * 2_000_000, "cannot read"),
        ("(" * 2_000_000, "expected operation"),
        ("func.func @main() {\n" + "  %0 = \n" * 10_000, "expected"),
    ],
    ids=["zero", "stdin", "folder", "nul", "long-path", "long-line", "lines"],
)
def test_sources_that_are_none(remote, source, said):
    with pytest.raises(InputError) as caught:
        remote.call("load", source=source)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 5000


def test_a_pipe_and_a_big_file(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no regular file"):
        walk._check_source(str(tmp_path / "pipe"))
    (tmp_path / "big").touch()
    os.truncate(tmp_path / "big", walk.SOURCE_BYTES + 1)
    with pytest.raises(InputError, match="programs of up to"):
        walk._check_source(str(tmp_path / "big"))


def test_paths_to_write_that_are_none(remote, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    remote.call("load", source=PROGRAM)
    for method in ("build", "save_ledger"):
        for path in ("", "a\0b"):
            with pytest.raises(InputError, match="the path"):
                remote.call(method, path=path)
        with pytest.raises(InputError, match=r"cannot write to '.*': it is no regular file"):
            remote.call(method, path=str(tmp_path / "pipe"))
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize(
    "proposal",
    [
        {"kind": "library", "library": LONG},
        {"kind": "replace_ir", "ir": PROGRAM, "assumes": [LONG]},
        {"kind": "replace_ir", "ir": PROGRAM, "guard": LONG},
        {"kind": "replace_ir", "ir": PROGRAM, "rationale": LONG},
        {"kind": "replace_ir", "ir": PROGRAM, "level": LONG},
        {"kind": "schedule", "knobs": {LONG: 1}},
        {"kind": "replace_ir", "ir": LONG},
    ],
    ids=lambda p: " ".join(p),
)
def test_answers_to_long_texts_are_short(remote, proposal):
    """And nothing of them stays in what the server shows from then on."""
    remote.call("load", source=PROGRAM)
    try:
        answer = remote.call("propose", region="main", proposal=proposal)
        assert not answer["accepted"]
    except InputError as error:
        answer = str(error)
    assert len(json.dumps(answer)) < 20_000
    assert len(json.dumps(remote.call("status"))) < 20_000


def test_closing_ends_it_for_good():
    closed = Remote()
    closed.call("load", source=PROGRAM)
    closed.close()
    with pytest.raises(KcError, match="has ended"):
        closed.call("status")


def test_long_messages_are_cut():
    shown = worker._cut("short\n" + "x" * 10_000 + "\ny" * 1000)
    assert shown.startswith("short\nx") and "(10000 characters)" in shown and shown.endswith("(1002 lines)")
    assert len(shown) < 2000 and worker._cut("as it is\n  ^") == "as it is\n  ^"


@pytest.mark.parametrize(
    ("line", "number", "said"),
    [
        (b"\xff\xfe\0{}", None, "no UTF-8 at byte 0"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "\xff"}', 7, "no UTF-8 at byte 39"),
        (b"\0", None, "no JSON"),
        (b'{"jsonrpc": "2.0", "id": "seven", "method": ', "seven", "no JSON"),
        (b"[" * 100_000, None, "nest too deep"),
        (b"[1, 2]", None, "a JSON object, not list"),
        (b'{"id": 7, "n": ' + b"9" * 6000 + b"}", 7, "no JSON: Exceeds"),
        (b'{"id": 7, "method": "a\\ud800b"}', 7, "half of a surrogate pair"),
    ],
    ids=["bytes", "bytes within", "nul", "half", "deep", "list", "digits", "surrogate"],
)
def test_lines_that_are_no_messages_are_answered(line, number, said):
    answer = json.loads(wire.problem(line) or b"null")
    assert answer["id"] == number and said in answer["error"]["message"] and len(json.dumps(answer)) < 500


def test_lines_that_are_messages_pass():
    pair, letter = b'{"m": "\\ud83d\\ude00"}', '{"m": "é"}'.encode()
    for line in (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', pair, letter):
        assert wire.problem(line) is None


def test_the_server_lives_on_after_lines_that_are_none(tmp_path: Path):
    """And after one that is longer than any message: it is answered, and not kept."""
    server = subprocess.Popen(
        [sys.executable, "-m", "kc.tools.kc", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert server.stdin is not None and server.stdout is not None

    def ask(line: bytes) -> dict:
        server.stdin.write(line + b"\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    try:
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        assert ask(json.dumps(hello).encode())["id"] == 1
        assert ask(b"\xff\xfe")["error"]["code"] == -32700
        long = ask(b'{"jsonrpc": "2.0", "id": 2, "method": "' + b"x" * (wire.LINE_BYTES + 1) + b'"}')
        assert long["id"] == 2 and "at most 64 MiB" in long["error"]["message"]
        resident = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        assert resident < 400 << 20
        assert ask(b'{"jsonrpc": "2.0", "id": 3, "method": "ping"}') == {"jsonrpc": "2.0", "id": 3, "result": {}}
        server.stdin.close()
        assert server.wait(20) == 0
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


@pytest.mark.parametrize("how", ["stdin", "sigterm", "sigkill"])
def test_the_server_ends_in_the_midst_of_a_call(how, tmp_path: Path):
    """The worker is stopped, so that the call does not end by itself; it goes with the server."""
    server = subprocess.Popen(
        [sys.executable, "-m", "kc.tools.kc", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, text=True, bufsize=1,
    )
    assert server.stdin is not None and server.stdout is not None

    def say(**message) -> None:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def call(number: int, name: str, **arguments) -> None:
        say(id=number, method="tools/call", params={"name": name, "arguments": arguments})

    try:
        say(id=1, method="initialize", params=HELLO)
        assert json.loads(server.stdout.readline())["id"] == 1
        say(method="notifications/initialized")
        call(2, "load_program", source=PROGRAM)
        while json.loads(server.stdout.readline()).get("id") != 2:
            pass
        (below,) = [pid for pid in _below(server.pid) if "bindings.worker" in _command(pid)]
        os.kill(below, signal.SIGSTOP)
        call(3, "status")
        time.sleep(0.5)
        if how == "stdin":
            server.stdin.close()
        else:
            server.send_signal(signal.SIGTERM if how == "sigterm" else signal.SIGKILL)
        server.wait(20)
        deadline = time.monotonic() + 10
        while "bindings.worker" in _command(below):
            assert time.monotonic() < deadline, "the worker outlives the server"
            time.sleep(0.02)
    finally:
        server.kill()
        server.wait()


def _below(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
