"""Processes that this one starts and that must not outlive it, however it ends.

``start`` is ``subprocess.Popen`` with a process group of its own. One *warden* process, started with the first of them,
waits for the end of this process and then kills the groups. The kernel's own means, ``PR_SET_PDEATHSIG``, is not
enough: it goes by the thread that made the child, and it spares what the child has started.
"""
from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

#: how often the warden looks whether a group whose leader has ended is empty
_LOOK_SECONDS = 1.0

_lock = threading.Lock()
#: the process whose warden it is, the warden, and the pipe to it
_warden: tuple[int, subprocess.Popen[bytes], int] | None = None


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own; takes the options of ``subprocess.Popen``. Raises OSError."""
    with _lock:
        channel = _channel()
        process: subprocess.Popen[bytes] = subprocess.Popen(command, start_new_session=True, **options)
        with contextlib.suppress(BrokenPipeError):  # somebody killed the warden: the next child gets a new one
            os.write(channel, b"%d\n" % process.pid)
    return process


def _channel() -> int:
    """The pipe to the warden of this process, which is started when there is none."""
    global _warden
    if _warden is not None and (_warden[0] != os.getpid() or _warden[1].poll() is not None):
        os.close(_warden[2])  # after a fork, or the warden was killed
        _warden = None
    if _warden is None:
        reader, writer = os.pipe()
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(os.getpid())], stdin=reader, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True, cwd="/",
            )
        finally:
            os.close(reader)
        _warden = (os.getpid(), process, writer)
    return _warden[2]


def _watch(parent: int) -> None:
    """The warden: read numbers of groups from stdin until the parent ends, then kill them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: dict[int, int] = {}  # group -> pidfd of its leader, -1 once that has ended
    poller = select.poll()
    life = -1
    with contextlib.suppress(ProcessLookupError):
        life = os.pidfd_open(parent)
    alive = life >= 0 and os.getppid() == parent
    if alive:
        poller.register(life, select.POLLIN)
    poller.register(0, select.POLLIN)
    text = b""
    while alive:
        ready = {fd for fd, _ in poller.poll(_LOOK_SECONDS * 1000 if -1 in groups.values() else None)}
        if 0 in ready:
            part = os.read(0, 1 << 16)
            if not part:
                poller.unregister(0)
            text += part
            *lines, text = text.split(b"\n")
            for line in lines:
                _take(int(line), groups, poller)
        for group, leader in list(groups.items()):
            if leader in ready:
                poller.unregister(leader)
                os.close(leader)
                groups[group] = -1
            elif leader < 0 and not _exists(group):
                del groups[group]
        alive = life not in ready
    # what was written before the parent ended and has not been read
    os.set_blocking(0, False)
    with contextlib.suppress(BlockingIOError):
        while part := os.read(0, 1 << 16):
            text += part
    for group in {*groups, *(int(line) for line in text.split(b"\n")[:-1])}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def _take(group: int, groups: dict[int, int], poller: select.poll) -> None:
    leader = -1
    with contextlib.suppress(ProcessLookupError):
        leader = os.pidfd_open(group)
        poller.register(leader, select.POLLIN)
    groups[group] = leader


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


if __name__ == "__main__":
    _watch(int(sys.argv[1]))
