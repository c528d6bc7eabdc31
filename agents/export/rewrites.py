"""Accepted proposals as a rewrite library: files that a team reviews and commits, each with its FileCheck test.

``NAME.mlir`` is the region as it was, with its contract, under comments that say who proposed what and why; ``Inputs/``
has the new form. The RUN line applies the library to the region (``agents{use=DIR}``: through the gates) and checks
what comes out. ``lit.cfg.py`` makes the folder a test suite of its own. See ``library`` for how a folder is read back.
"""
from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kc.agents.export.checks import check_lines
from kc.agents.export.library import FILES, MARK, RewriteLibrary
from kc.agents.ledger import Attempt, Ledger, Region, report
from kc.agents.ledger.diff import newest
from kc.agents.protocol import Verdict
from kc.errors import InputError, KcError
from kc.temporary import Folder

#: kind of a proposal -> how the file of its source ends
_ENDINGS = {"ptx": ".ptx", "cuda": ".cu", "triton": ".py"}
_LIT = '''"""Tests of the rewrites here: with the library applied to it, each file's region comes out as told."""
import os
import shutil

import lit.formats

config.name = os.path.basename(os.path.dirname(__file__))
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.environ["PATH"]
config.substitutions.append((r"\\bFileCheck\\b", "FileCheck" if shutil.which("FileCheck") else "filecheck"))
if shutil.which("nvidia-smi"):
    config.available_features.add("nvidia-gpu")
'''


def export(ledger: Ledger, chosen: Iterable[Attempt], folder: str) -> tuple[list[Path], list[tuple[Attempt, str]]]:
    """Write what settles each region and was accepted; returns the files written, and what was left out with why.

    Raises InputError when the folder cannot be written.
    """
    written: list[Path] = []
    skipped: list[tuple[Attempt, str]] = []
    root = Path(folder)
    try:
        for attempt in newest(chosen):
            if attempt.outcome != "accepted" or (attempt.proposal or {}).get("kind") == "keep":
                continue
            region = ledger.region(attempt.identity)
            why = _why_not(region)
            if why is not None or region is None:
                skipped.append((attempt, why or ""))
                continue
            try:
                files = rewrite_files(attempt, region)
            except KcError as error:
                skipped.append((attempt, f"it cannot be applied again: {error.message}"))
                continue
            (root / "Inputs").mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                (root / name).write_text(text, encoding="utf-8")
                written.append(root / name)
        if written and not (root / "lit.cfg.py").exists():
            (root / "lit.cfg.py").write_text(_LIT, encoding="utf-8")
            written.append(root / "lit.cfg.py")
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror}") from None
    return written, skipped


def _why_not(region: Region | None) -> str | None:
    if region is None:
        return "the ledger does not have the region's IR (pruned?)"
    if region.level == "asm":
        return "a region at level asm is no MLIR"
    return None


def rewrite_files(attempt: Attempt, region: Region) -> dict[str, str]:
    """The files of one rewrite: name in the folder -> text. Raises KcError when it cannot be applied to its region."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{region.name}-{region.identity[:8]}-{attempt.agent}")
    proposal: dict[str, Any] = dict(attempt.proposal or {})
    files: dict[str, str] = {}
    for field in FILES:
        if proposal.get(field):
            ending = ".mlir" if field == "ir" else ".script.mlir" if field == "script" else _ENDINGS[proposal["kind"]]
            files[f"Inputs/{name}{ending}"] = str(proposal[field])
            proposal[field] = f"{name}{ending}"
    told = json.dumps({"level": region.level, "proposal": proposal}, sort_keys=True)
    head = [f"// {line}".rstrip() for line in _story(attempt)]
    body = region.ir.rstrip() + "\n"
    plain = "\n".join([*head, f"{MARK}{told}", "", body])
    options = f"at={region.level} use=%S names=main" + ("" if region.target == "cpu" else f" target={region.target}")
    run = f"// RUN: kc-opt %s --pass-pipeline='builtin.module(agents{{{options}}})' | FileCheck %s"
    needs = [] if region.target.startswith("cpu") else ["// REQUIRES: nvidia-gpu"]
    checks = list(check_lines(_applied(name, plain, files, region)))
    files[f"{name}.mlir"] = "\n".join([*head, f"{MARK}{told}", *needs, run, "", *checks, "", body])
    return files


def _story(attempt: Attempt) -> Iterator[str]:
    yield f"{report.headline(attempt)}: {report.answer(attempt)}, by {attempt.agent} {attempt.agent_version}."
    rationale = str((attempt.proposal or {}).get("rationale", "")).strip()
    if rationale:
        yield from f"Because: {rationale}".splitlines()
    shown = report.timing(attempt.verdict)
    if shown:
        yield f"Measured: {shown}, on {report.where(attempt)}."
    yield f"Accepted {attempt.time[:10]} by kc {attempt.kc}; ledger entry {attempt.hash}."


def _applied(name: str, text: str, files: dict[str, str], region: Region) -> str:
    """The region's module after the rewrite, as the RUN line has it; the gates have judged it before."""
    from kc.agents.session import Session
    from kc.context import make_context, parse_module
    from kc.targets import get_target

    with Folder("export") as folder:
        (Path(folder) / "Inputs").mkdir()
        for file, content in {**files, f"{name}.mlir": text}.items():
            (Path(folder) / file).write_text(content, encoding="utf-8")
        library = RewriteLibrary(folder)
        module = parse_module(text, make_context(), name)
        moment = f"pass:{region.level}"
        session = Session(
            [library], (), target=get_target(region.target), judge=lambda *_, **__: Verdict(True), moment=moment
        )
        with session:
            session.ask(module, region.level, moment)
        if not any(decision.accepted and decision.region == "main" for decision in session.decisions):
            raise InputError("; ".join(session.remarks) or "the region does not match itself")
        return str(module.operation.get_asm())
