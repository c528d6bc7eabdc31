"""``kc agents``: what stands in a ledger, and which agents there are."""
from __future__ import annotations

import argparse
import importlib
import os
import sys
import zipfile
from typing import TYPE_CHECKING

from kc.errors import InputError

if TYPE_CHECKING:
    from kc.agents.ledger import Attempt, Ledger

_LEDGER = "a ledger (JSON lines) or an artifact (.kca)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    listing = actions.add_parser("list", help="the agents that can be named, or the attempts in a ledger")
    listing.add_argument("ledger", nargs="?", metavar="LEDGER", help=_LEDGER)
    _selection(listing)

    explain = actions.add_parser("explain", help="why each kernel is what it is: proposal, verdict, timings, rationale")
    explain.add_argument("ledger", metavar="PROGRAM|LEDGER", help=f"{_LEDGER}, or a program (with --ledger)")
    explain.add_argument("--ledger", dest="beside", metavar="FILE", help="the ledger of a program's builds")
    explain.add_argument("--target", default="cpu", help="what the program is compiled for (default: cpu)")
    explain.add_argument("--entry", default="main", help="name of the entry function (default: main)")
    explain.add_argument("--ir", action="store_true", help="show the text of what was accepted")
    _selection(explain)

    diff = actions.add_parser("diff", help="which regions are settled otherwise; exit code 1 if there are any")
    diff.add_argument("old", metavar="A", help=_LEDGER)
    diff.add_argument("new", metavar="B", help=_LEDGER)
    diff.add_argument("--ir", action="store_true", help="show how the text of the proposals differs")

    verify = actions.add_parser("verify", help="judge again what was accepted; exit code 1 if any of it is not")
    verify.add_argument("ledger", metavar="LEDGER", help="a ledger")
    verify.add_argument("--seed", type=int, metavar="N", help="of the gates' inputs (fresh ones otherwise)")
    _selection(verify)

    prune = actions.add_parser("prune", help="drop lines that no build needs, and put the file in place whole")
    prune.add_argument("ledger", metavar="LEDGER", help="a ledger")
    prune.add_argument("--keep", metavar="REASON,…", default="", help="keep: rejected, superseded, stale, unused")
    prune.add_argument("--dry-run", action="store_true", help="only say what would go")

    export = actions.add_parser("export", help="write what was accepted as files that people review")
    export.add_argument("ledger", metavar="LEDGER", help="a ledger")
    export.add_argument("folder", metavar="DIR", help="folder to write into; made if need be")
    forms = "rewrites: .mlir files with FileCheck tests; flashinfer: Definition, Solution and Trace JSON"
    export.add_argument("--format", choices=("rewrites", "flashinfer"), default="rewrites", help=forms)
    _selection(export)


def _selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kernel", metavar="PATTERN", help="only regions whose name fits the glob pattern")
    parser.add_argument("--agent", metavar="NAME", help="only what this agent proposed")
    parser.add_argument("--level", metavar="LEVEL", help="only regions of this level")


def run(args: argparse.Namespace) -> int:
    """Do the action; exit code 1 when a comparison finds a difference."""
    actions = {"list": _list, "explain": _explain, "diff": _diff, "verify": _verify, "prune": _prune, "export": _export}
    return actions[args.action](args)


def _list(args: argparse.Namespace) -> int:
    if args.ledger is None:
        from kc.agents.loading import catalogue

        for line in catalogue():
            print(line)
        return 0
    from kc.agents.ledger import report

    chosen = _chosen(args, _attempts(args.ledger))
    for attempt in chosen:
        who = f"{attempt.agent} {attempt.agent_version}"
        what = f"{report.answer(attempt)}: {report.outcome(attempt).splitlines()[0]}"
        print(f"{attempt.time[:19]}  attempt {attempt.hash[:12]}  {report.headline(attempt)}  {who}: {what}")
    return 0


def _explain(args: argparse.Namespace) -> int:
    from kc.agents.ledger import report

    if args.beside is not None or not (_is_artifact(args.ledger) or _is_ledger(args.ledger)):
        return _explain_program(args)
    ledger = None if _is_artifact(args.ledger) else _open(args.ledger)
    histories: dict[str, list[Attempt]] = {}
    for attempt in _chosen(args, _attempts(args.ledger) if ledger is None else ledger.entries()):
        histories.setdefault(attempt.identity, []).append(attempt)
    for number, (identity, history) in enumerate(histories.items()):
        region = None if ledger is None else ledger.region(identity)
        print(*([""] if number else []), *report.explain(history, region, ir=args.ir), sep="\n")
    return 0


def _explain_program(args: argparse.Namespace) -> int:
    from kc.tools.commands import explain

    if args.beside is None:
        raise InputError(f"{args.ledger} is neither a ledger nor an artifact; for a program, name its ledger: --ledger")
    given = {"source": args.ledger, "level": args.level or "all", "kernel": args.kernel or "*", "ledger": args.beside}
    for line in explain.of_program(argparse.Namespace(**{**vars(args), **given})):
        print(line)
    return 0


def _diff(args: argparse.Namespace) -> int:
    from kc.agents.ledger import report
    from kc.agents.ledger.diff import diff, settled

    changes = diff(settled(args.old), settled(args.new))
    for number, change in enumerate(changes):
        print(*([""] if number else []), *report.changed(change, ir=args.ir), sep="\n")
    if not changes:
        print(f"{args.old} and {args.new} settle the same regions in the same way")
    return 1 if changes else 0


def _verify(args: argparse.Namespace) -> int:
    from kc.agents.ledger import report
    from kc.agents.session.verifying import accepted, verify

    ledger = _open(args.ledger)
    counts = {"same": 0, "differs": 0, "unknown": 0}
    words = {"same": "accepted again", "differs": "NOT accepted", "unknown": "cannot be judged here"}
    settling = accepted(ledger)
    for found in verify(ledger, _chosen(args, settling) if settling else (), args.seed):
        counts[found.outcome] += 1
        attempt = found.attempt
        why = f": {found.message}" if found.message else ""
        what = f"{report.answer(attempt)} of {attempt.agent} {attempt.agent_version}: {words[found.outcome]}{why}"
        print(f"{report.headline(attempt)}  attempt {attempt.hash[:12]}: {what}", flush=True)
    print(", ".join(f"{number} {words[outcome]}" for outcome, number in counts.items()))
    if ledger.problems:
        count = len(ledger.problems)
        print(f"{count} line{'s' * (count > 1)} of the ledger left out, and so not verified", file=sys.stderr)
    return 1 if counts["differs"] or ledger.problems else 0


def _prune(args: argparse.Namespace) -> int:
    from kc.agents.ledger import prune

    keep = [word for word in args.keep.split(",") if word]
    for word in keep:
        if word not in ("rejected", "superseded", "stale", "unused"):
            raise InputError(f"--keep: nothing is dropped for '{word}'; rejected, superseded, stale, unused are kept")
    _open(args.ledger)
    done = prune.prune(args.ledger, [r for r in prune.REASONS if r not in keep], dry_run=args.dry_run)
    verb = "would drop" if args.dry_run else "dropped"
    for reason, count in done.summary().items():
        print(f"{verb} {count}: {prune.REASONS[reason]}")
    print(f"{len(done.kept)} lines {'would be' if args.dry_run else 'are'} kept")
    return 0


def _export(args: argparse.Namespace) -> int:
    ledger = _open(args.ledger)
    chosen = _chosen(args, ledger.entries())
    form = importlib.import_module(f"kc.agents.export.{args.format}")
    written, skipped = form.export(ledger, chosen, args.folder)
    for attempt, why in skipped:
        print(f"left out @{attempt.name} by {attempt.agent} {attempt.agent_version}: {why}")
    if written:
        print(f"{len(written)} file{'s' if len(written) > 1 else ''} written to {args.folder}")
    else:
        print("nothing was accepted that can be exported: no file is written")
    return 0


def _open(path: str) -> Ledger:
    """The ledger at ``path``, which must exist; what cannot be read in it is told on stderr."""
    from kc.agents.ledger import Ledger

    if not os.path.exists(path):
        raise InputError(f"no such ledger: {path}")
    if _is_artifact(path):
        raise InputError(f"{path} is an artifact; this wants a ledger")
    ledger = Ledger(path)
    for problem in ledger.problems:
        print(f"{path}:{problem.line}: warning: left out: {problem.message}", file=sys.stderr)
    return ledger


def _is_artifact(path: str) -> bool:
    return os.path.isfile(path) and zipfile.is_zipfile(path)


def _is_ledger(path: str) -> bool:
    """Whether a file's first line is a JSON object."""
    if not os.path.isfile(path):
        raise InputError(f"no such ledger: {path}")
    with open(path, "rb") as file:
        return file.read(1) in (b"{", b"<", b"")


def _attempts(path: str) -> list[Attempt]:
    if _is_artifact(path):
        from kc.agents.ledger import of_artifact

        return of_artifact(path)
    return _open(path).entries()


def _chosen(args: argparse.Namespace, attempts: list[Attempt]) -> list[Attempt]:
    """Those that the options select; raises InputError when there are none."""
    import fnmatch

    chosen = [
        attempt
        for attempt in attempts
        if (args.kernel is None or fnmatch.fnmatchcase(attempt.name, args.kernel))
        and args.agent in (None, attempt.agent)
        and args.level in (None, attempt.level)
    ]
    if not chosen:
        names = ", ".join(f"@{name}" for name in dict.fromkeys(a.name for a in attempts))
        what = f"nothing in {args.ledger} fits; it has {names}" if attempts else f"{args.ledger} holds no attempt"
        raise InputError(what)
    return chosen
