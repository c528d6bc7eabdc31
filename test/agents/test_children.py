"""Children of kc.agents end with the process that started them, with all that they started, whoever started them."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from kc.agents import children

#: starts children from a thread that ends, and says their numbers; one has a child of its own, one has left that alone
PARENT = """
import subprocess, sys, threading, time
from kc.agents import children

def start(command):
    process = children.start(command, stdout=subprocess.PIPE, text=True)
    print(process.pid, process.stdout.readline().strip(), flush=True)

for command in ("sleep 600 & echo $!; wait", "sleep 600 & echo $!"):
    thread = threading.Thread(target=start, args=(["/bin/sh", "-c", command],))
    thread.start()
    thread.join()
time.sleep(1.5)
print("up", flush=True)
ACT
"""


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _gone(pids: list[int], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while any(map(_runs, pids)):
        if time.monotonic() > deadline:
            for pid in filter(_runs, pids):
                os.kill(pid, signal.SIGKILL)
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("act", ["time.sleep(600)", "import os; os._exit(0)"], ids=["killed", "exit"])
def test_all_end_with_the_parent(act):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.replace("ACT", act)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert parent.stdout is not None
    (leader, below), (_, left) = ([int(word) for word in parent.stdout.readline().split()] for _ in range(2))
    pids = [leader, below, left]
    assert parent.stdout.readline() == "up\n"
    if "sleep" in act:
        assert all(map(_runs, pids))  # the end of the thread that started them does them no harm
        parent.kill()
    parent.wait()
    assert _gone(pids)


def test_a_killed_warden_is_replaced():
    first = children.start(["/bin/true"])
    first.wait()
    assert children._warden is not None
    warden = children._warden[1]
    warden.kill()
    warden.wait()
    assert children.start(["/bin/true"]).wait() == 0
    assert children._warden[1].pid != warden.pid and children._warden[1].poll() is None


def test_a_command_that_is_none():
    with pytest.raises(FileNotFoundError):
        children.start(["/no/such/command"])
