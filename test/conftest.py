"""pytest collects the lit tree too: every .mlir file with a RUN line is a test.

The lit tests of a pytest process run through one server (``kc_lit.py --serve``), a process of its own because it forks:
the pytest process may hold threads of torch or JAX, which a fork would break.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
_RUN = re.compile(rb"^\s*(?://|#|;)\s*RUN:", re.MULTILINE)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".mlir" or {"Inputs", "Output"} & set(file_path.relative_to(HERE).parts):
        return None
    if _RUN.search(file_path.read_bytes()) is None:
        return None
    return LitFile.from_parent(parent, path=file_path)


class LitFile(pytest.File):
    """One lit file; it holds one test."""

    def collect(self) -> Iterator[pytest.Item]:
        yield LitItem.from_parent(self, name="lit")


class LitFailure(Exception):
    """A lit test failed; the text is lit's output."""


class LitItem(pytest.Item):
    """One lit test."""

    def runtest(self) -> None:
        try:
            result = _server(self.config).run(self.path)
        except (LitFailure, BrokenPipeError):
            self.config.stash[_SERVER].close()
            del self.config.stash[_SERVER]  # the next test gets a new one
            raise
        if result["code"] == "UNSUPPORTED":
            pytest.skip(result["output"] or "unsupported here")
        if result["failed"]:
            raise LitFailure(f"{result['code']}\n{result['output']}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, LitFailure):
            return f"{self.path}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"lit: {self.path.relative_to(HERE)}"


class _Server:
    """The process that runs lit tests; started with the first test."""

    def __init__(self) -> None:
        environment = dict(os.environ)
        worker = os.environ.get("PYTEST_XDIST_WORKER")
        if worker and "KC_LIT_OUTPUT" not in environment:
            environment["KC_LIT_OUTPUT"] = str(HERE.parent / "build" / f"lit-{worker}")
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "kc_lit.py"), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, path: Path) -> dict[str, Any]:
        """Run one test."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise LitFailure(f"the lit server died with exit code {self._process.wait()}")
        result: dict[str, Any] = {"failed": True, **json.loads(answer)}
        return result

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._process.wait(timeout=30)


_SERVER = pytest.StashKey[_Server]()


def _server(config: pytest.Config) -> _Server:
    if _SERVER not in config.stash:
        config.stash[_SERVER] = _Server()
    return config.stash[_SERVER]


def pytest_unconfigure(config: pytest.Config) -> None:
    if _SERVER in config.stash:
        config.stash[_SERVER].close()
