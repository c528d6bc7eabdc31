"""What several subcommands share: sources, targets, outputs, arrays."""
from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc.errors import InputError

if TYPE_CHECKING:
    import numpy


def add_source(parser: argparse.ArgumentParser) -> None:
    """The program to work on and its entry function."""
    forms = "StableHLO or lower MLIR: text, bytecode, portable artifact; - is stdin"
    parser.add_argument("source", metavar="FILE", help=forms)
    parser.add_argument("--entry", default="main", help="name of the entry function (default: main)")
    what = "run a Python file first: it registers the functions of custom calls (kc.runtime.custom_calls)"
    parser.add_argument("--load", action="append", default=[], metavar="FILE", help=what)


def load_files(paths: list[str]) -> None:
    """Run the user's own Python files, ``--load``; raises InputError that says where one of them failed."""
    import runpy
    import traceback

    for path in paths:
        try:
            runpy.run_path(path, run_name="kc.loaded")
        except Exception as error:
            where = next((f for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == path), None)
            place = f"{path}:{where.lineno}" if where else path
            raise InputError(f"--load {place}: {type(error).__name__}: {error}") from error


def add_target(parser: argparse.ArgumentParser) -> None:
    """The machine to compile for."""
    names = "cpu, cpu:triple=aarch64-linux-gnu, nvptx:sm_90a … (default: cpu)"
    parser.add_argument("--target", default="cpu", help=names)


def add_agents(parser: argparse.ArgumentParser) -> None:
    """Who takes part in the compilation, and the ledger."""
    group = parser.add_argument_group("agents")
    what = "let an agent take part: LEVEL=FILE.py:NAME, LEVEL=NAME, NAME (kc agents list tells the names)"
    group.add_argument("--agent", action="append", default=[], metavar="AGENT", help=what)
    group.add_argument("--ledger", metavar="FILE", help="keep what agents answer in this file (and read it)")
    modes = group.add_mutually_exclusive_group()
    modes.add_argument("--replay", action="store_true", help="use the ledger's answers, ask about the rest only")
    modes.add_argument("--frozen", action="store_true", help="use the ledger's answers only; anything new is an error")
    judged = "with --frozen: judge the ledger's answers again; one that is not accepted is an error"
    group.add_argument("--verify", action="store_true", help=judged)
    group.add_argument("--timing", action="store_true", help="an agent's answer must also be measured to be faster")


def agent_options(args: argparse.Namespace) -> dict[str, Any]:
    """What ``add_agents`` declared, as keyword arguments of ``kc.compile``."""
    mode = "frozen" if args.frozen else "replay" if args.replay else "ask"
    if args.verify:
        if mode != "frozen":
            raise InputError("--verify judges what a frozen build takes: it needs --frozen (or see kc agents verify)")
        mode = "verified"
    if mode != "ask" and args.ledger is None:
        raise InputError(f"--{'frozen' if args.frozen else mode} needs --ledger FILE")
    if not args.agent and not args.ledger:
        return {}
    return {"agents": args.agent, "ledger": args.ledger, "ledger_mode": mode, "timing": args.timing}


def tell(executable: Any) -> None:
    """Say on stderr what agents did in a compilation, if any took part."""
    session = executable.session
    if session is not None:
        for line in (*map(str, session.decisions), *session.remarks):
            print(f"kc: {line}", file=sys.stderr)


def add_output(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """Where the result goes."""
    parser.add_argument("-o", "--output", metavar="PATH", default=None if required else "-", required=required)


def read_source(name: str) -> bytes | str:
    """The bytes of stdin for ``-``, otherwise the path as it is (front ends read it and keep it for locations)."""
    if name == "-":
        return sys.stdin.buffer.read()
    if not os.path.exists(name):
        raise InputError(f"no such file: {name}")
    return str(Path(name))


def write(path: str, data: bytes | str) -> None:
    """Write to stdout for ``-``, otherwise to a file, whole or not at all; raises InputError if that cannot be done."""
    raw = data.encode() if isinstance(data, str) else data
    if path == "-":
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    try:
        if target.exists() and not target.is_file() and not target.is_dir():  # /dev/null, a pipe: not to be replaced
            with open(target, "wb") as special:
                special.write(raw)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(raw)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def load_arrays(paths: list[str]) -> list[numpy.ndarray[Any, Any]]:
    """Arrays of .npy files and of .npz files (in the order ``arg0, arg1 …`` or, failing that, in their own)."""
    import numpy

    arrays: list[numpy.ndarray[Any, Any]] = []
    for path in paths:
        try:
            loaded = numpy.load(path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read arrays from {path}: {error}") from None
        if isinstance(loaded, numpy.ndarray):
            arrays.append(loaded)
            continue
        names = list(loaded.files)
        numbered = [f"arg{i}" for i in range(len(names))]
        arrays += [loaded[name] for name in (numbered if set(numbered) == set(names) else names)]
    return arrays
