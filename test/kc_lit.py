"""A lit format that forks RUN lines instead of starting Python for each of their commands.

Importing MLIR costs a lot more than most tests. Here it is imported once, in the process that runs the tests, and each
``kc-opt``, ``kc`` and PyPI ``filecheck`` of a RUN line runs in a fork of it; other programs are executed as usual. The
isolation is that of processes. A RUN line that needs a real shell (``$(…)``, globs, variables) falls back to lit's.

``python kc_lit.py --serve`` reads paths of tests from standard input, one a line, and answers each with a line of JSON,
``{"code": "PASS", "output": "…"}``: that is how ``conftest.py`` runs lit tests under pytest.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import sys
import tempfile
import time
from typing import Any, NamedTuple

import lit.Test
import lit.TestRunner
from lit.formats import ShTest

TIMEOUT = float(os.environ.get("KC_LIT_TIMEOUT", "120"))
_DEBUG_PREFIX = re.compile(r"%dbg\((.*?)\) ?", re.DOTALL)
_NEEDS_SHELL = re.compile(r"[`$*?;()]|\|\||<<|(?:^|[|&])\s*\w+=")
_REDIRECT = re.compile(r"(\d?)(>>|>|<)(&\d)?$")


class Command(NamedTuple):
    """One program of a pipe: ``expects`` is 0, 1 (``not``) or -1 (``not --crash``)."""

    argv: list[str]
    expects: int
    stdin: str | None
    stdout: tuple[str, int] | None
    stderr: tuple[str, int] | None
    stderr_to_stdout: bool


class ForkTest(ShTest):
    """lit's ShTest, with the commands of a RUN line in forks of this process where possible."""

    def execute(self, test: Any, litConfig: Any) -> Any:
        if test.config.unsupported:
            return lit.Test.Result(lit.Test.UNSUPPORTED, "Test is unsupported")
        script = lit.TestRunner.parseIntegratedTestScript(test)
        if isinstance(script, lit.Test.Result):
            return script
        if litConfig.noExecute:
            return lit.Test.Result(lit.Test.PASS)
        folder, base = lit.TestRunner.getTempPaths(test)
        substitutions = lit.TestRunner.getDefaultSubstitutions(test, folder, base)
        conditions = dict.fromkeys(test.config.available_features, True)
        lines = lit.TestRunner.applySubstitutions(
            script, substitutions, conditions, recursion_limit=test.config.recursiveExpansionLimit
        )
        parsed = [_parse(_DEBUG_PREFIX.sub("", str(line))) for line in lines]
        if any(line is None for line in parsed):
            return super().execute(test, litConfig)
        os.makedirs(folder, exist_ok=True)
        deadline = time.monotonic() + TIMEOUT
        for line, pipes in zip(lines, parsed, strict=True):
            for pipe in pipes or []:
                failure = _run_pipe(pipe, test.config.environment, folder, deadline)
                if failure is not None:
                    shown = _DEBUG_PREFIX.sub(r"# \1\n", str(line))
                    code = lit.Test.TIMEOUT if failure.startswith("timeout") else lit.Test.FAIL
                    return lit.Test.Result(code, f"{shown}\n{failure}")
        return lit.Test.Result(lit.Test.PASS, "")


def _parse(line: str) -> list[list[Command]] | None:
    """A RUN line as pipes joined by ``&&``; None when it needs a real shell."""
    unquoted = re.sub(r"'[^']*'|\"[^\"`$]*\"", "q", line)
    if _NEEDS_SHELL.search(unquoted) or "&" in unquoted.replace("&&", "").replace(">&", ""):
        return None
    # blank the quoted parts out, so that operators can be found, and put them back in
    quoted: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quoted.append(match.group())
        return f"\x00{len(quoted) - 1}\x00"

    hidden = re.sub(r"'[^']*'|\"[^\"]*\"", hide, line)

    def words(text: str) -> list[str]:
        spaced = re.sub(r"(?<=\s)(\d?(?:>>|>|<)(?:&\d)?)(?=[^\s&])", r"\1 ", text)
        return shlex.split(re.sub("\x00(\\d+)\x00", lambda m: quoted[int(m.group(1))], spaced))

    pipes = []
    for part in hidden.split("&&"):
        commands = [_command(words(text)) for text in part.split("|")]
        if any(c is None for c in commands):
            return None
        pipes.append([c for c in commands if c is not None])
    return pipes


def _command(words: list[str]) -> Command | None:
    argv: list[str] = []
    stdin: str | None = None
    stdout: tuple[str, int] | None = None
    stderr: tuple[str, int] | None = None
    merged = False
    rest = iter(words)
    for word in rest:
        match = _REDIRECT.match(word)
        if match is None:
            argv.append(word)
        elif match.group(3):
            if word != "2>&1":
                return None
            merged = True
        else:
            path = next(rest, None)
            if path is None:
                return None
            mode = os.O_APPEND if match.group(2) == ">>" else os.O_TRUNC
            if match.group(2) == "<":
                stdin = path
            elif match.group(1) == "2":
                stderr = (path, mode)
            else:
                stdout = (path, mode)
    expects = 0
    while argv and argv[0] in ("not", "--crash"):
        expects = -1 if argv.pop(0) == "--crash" else 1
    if not argv or "=" in argv[0]:
        return None
    return Command(argv, expects, stdin, stdout, stderr, merged)


def _run_pipe(pipe: list[Command], environment: dict[str, str], cwd: str, deadline: float) -> str | None:
    """Run the commands of one pipe; returns None when all end as they should, else what went wrong."""
    with tempfile.TemporaryFile() as log:
        children: list[int] = []
        source = os.open(os.devnull, os.O_RDONLY)
        for index, command in enumerate(pipe):
            last = index + 1 == len(pipe)
            following, sink = (-1, os.dup(log.fileno())) if last else os.pipe()
            pid = os.fork()
            if pid == 0:
                if following >= 0:
                    os.close(following)
                _child(command, environment, cwd, source, sink, log.fileno())
            children.append(pid)
            os.close(source)
            os.close(sink)
            source = following
        codes = [_wait(pid, deadline) for pid in children]
        if all(_as_expected(code, command) for code, command in zip(codes, pipe, strict=True)):
            return None
        log.seek(0)
        output = log.read().decode(errors="replace")
    told = ", ".join(
        f"{os.path.basename(c.argv[0])}: " + ("timeout" if code is None else f"exit code {code}")
        for c, code in zip(pipe, codes, strict=True)
    )
    head = f"timeout after {TIMEOUT:.0f} s\n" if None in codes else ""
    return f"{head}{told}\n{output}"


def _as_expected(code: int | None, command: Command) -> bool:
    if code is None:
        return False
    if command.expects == -1:
        return code < 0
    return code > 0 if command.expects else code == 0


def _wait(pid: int, deadline: float) -> int | None:
    """The exit code of a child (minus the signal that killed it); None when it was killed at the deadline."""
    pause = 0.0005
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)


def _child(
    command: Command, environment: dict[str, str], cwd: str, source: int, sink: int, log: int
) -> None:
    """The forked process: connect its streams and become the command. Never returns."""
    code = 127
    try:
        os.chdir(cwd)
        os.environ.update(environment)
        if command.stdin is not None:
            source = os.open(command.stdin, os.O_RDONLY)
        if command.stdout is not None:
            sink = os.open(command.stdout[0], os.O_WRONLY | os.O_CREAT | command.stdout[1], 0o644)
        os.dup2(source, 0)
        os.dup2(sink, 1)
        if command.stderr is not None:
            log = os.open(command.stderr[0], os.O_WRONLY | os.O_CREAT | command.stderr[1], 0o644)
        os.dup2(1 if command.stderr_to_stdout else log, 2)
        os.closerange(3, 256)
        code = _become(command.argv)
    except FileNotFoundError as error:
        os.write(2, f"{error}\n".encode())
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
        code = 70
    finally:
        os._exit(code)


def _become(argv: list[str]) -> int:
    """Run the command: one of ours in this process, another program in its place."""
    tool = os.path.basename(argv[0])
    if tool not in ("kc-opt", "kc", "filecheck"):
        os.execvp(argv[0], argv)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.argv = argv
    try:
        if tool == "kc-opt":
            from kc.tools import kc_opt

            code = kc_opt.main(argv[1:])
        elif tool == "kc":
            from kc.tools import kc as kc_tool

            code = kc_tool.main(argv[1:])
        else:
            from filecheck.main import main as filecheck

            code = filecheck(list(argv))
    except SystemExit as error:
        code = error.code
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else 0 if code is None else 1


def preload() -> None:
    """Import what most tests need, so that forks find it there."""
    import importlib

    from kc import bindings

    for name in ("arith", "func", "linalg", "tensor", "scf", "memref"):
        getattr(bindings, name)
    for module in ("tools.kc_opt", "tools._opt_process", "tools._verify_diagnostics", "pass_base", "rewrite"):
        importlib.import_module(f"kc.{module}")
    with contextlib.suppress(ImportError):  # LLVM's FileCheck is used then
        importlib.import_module("filecheck.main")


def serve() -> None:
    """Answer paths on standard input with results on standard output."""
    import lit.discovery
    import lit.LitConfig
    import lit.worker

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever lit prints is not an answer
    config = lit.LitConfig.LitConfig(
        progname="lit", path=[], diagnostic_level="note", useValgrind=False, valgrindLeakCheck=False, valgrindArgs=[],
        noExecute=False, debug=False, isWindows=False, order="smart", params={},
    )
    for line in sys.stdin:
        tests = lit.discovery.find_tests_for_inputs(config, [line.strip()])
        if len(tests) != 1:
            answers.write(json.dumps({"code": "UNRESOLVED", "output": f"lit finds {len(tests)} tests there"}) + "\n")
        else:
            test = tests[0]
            test.setResult(lit.worker._execute(test, config))
            code = test.result.code
            answer = {"code": code.name, "failed": code.isFailure, "output": test.result.output}
            answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__" and sys.argv[1:] == ["--serve"]:
    serve()
