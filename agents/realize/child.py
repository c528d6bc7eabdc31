"""Compilers of others in a process of their own: limits of time and memory, and a crash is an error message.

``python -m kc.agents.realize.child MODULE CPU_SECONDS`` reads a request as JSON from standard input, calls
``MODULE.main(request)`` and writes its answer as JSON to standard output. What the compiler itself prints goes to
standard error. The child and what it started do not outlive this process (``kc.agents.children``).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from typing import Any

from kc.agents import children
from kc.agents.realize.realized import MissingError, RealizeError
from kc.errors import InputError
from kc.temporary import Folder

#: wall seconds of a child, and CPU seconds of all its threads
SECONDS, CPU_SECONDS = 30.0, 25
#: address space of a child; compilers map libraries of some hundred MiB
_BYTES = 8 << 30
_FILE_BYTES = 256 << 20


def run_child(module: str, request: dict[str, Any], seconds: float = SECONDS, cpu: int = CPU_SECONDS) -> dict[str, Any]:
    """What ``module.main(request)`` answers in a child.

    Raises RealizeError when it dies or takes too long, MissingError when it says that something is not installed.
    """
    with Folder("child") as folder:
        environment = {
            **{k: v for k, v in os.environ.items() if not _is_secret(k)},
            "TMPDIR": folder,
            "HOME": folder,
            "TRITON_CACHE_DIR": os.path.join(folder, "triton"),
            "TRITON_DISABLE_LINE_INFO": "1",  # lines name the folder: the same source must give the same code
            "CUDA_VISIBLE_DEVICES": "",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        process = children.start(
            [sys.executable, "-m", "kc.agents.realize.child", module, str(cpu)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
        )
        try:
            out, err = process.communicate(json.dumps(request).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise RealizeError("resource", "resource.time", f"compiling took more than {seconds:g} seconds") from None
        finally:
            _end(process)
    if process.returncode == -signal.SIGXCPU:
        raise RealizeError("resource", "resource.time", f"compiling took more than {cpu} seconds of CPU time")
    if process.returncode:
        words = err.decode(errors="replace").strip()[-2000:]
        raise RealizeError("resource", "resource.crash", f"the compiler died (status {process.returncode}): {words}")
    answer: dict[str, Any] = json.loads(out)
    if "missing" in answer:
        raise MissingError(answer["missing"])
    return answer


def _is_secret(name: str) -> bool:
    return any(word in name.upper() for word in ("KEY", "TOKEN", "SECRET", "PASSWORD"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the child and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def main() -> None:
    """The child's side."""
    request = json.loads(sys.stdin.buffer.read())
    answer_to = os.dup(1)
    os.dup2(2, 1)  # what compilers print must not mix with the answer
    cpu = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        answer = importlib.import_module(sys.argv[1]).main(request)
    except InputError as error:
        answer = {"missing": error.message}
    with os.fdopen(answer_to, "wb") as file:
        file.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main()
