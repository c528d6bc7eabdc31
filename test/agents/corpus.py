"""Proposals whose right verdict is known, read from ``corpus/LEVEL/FILE.mlir``.

A file holds one region (a module with ``@main`` under contract attributes) and then any number of proposals for it::

    // What the region computes.
    // tolerance: close 1e-5 1e-7             (of all its proposals; default: exact)
    func.func @main(...) {
      ops that most proposals begin with too
      // common above
      the rest
      return
    }

    // ----- vector-no-tail
    // reject numeric: remainder              (verdict, gate, kind; or "accept: kind")
    // why: the last N % 4 elements are not written
    // witness: {"sizes": {"N": 13}}
    body of @main ...

A proposal's text is one of

* the body of ``@main``: it gets the region's signature and the lines above ``// common above``; a ``return`` at the end
  may be left out where ``@main`` returns nothing;
* the same with helpers beside it, ``func.func @main ... {`` standing for signature and common lines;
* with the header ``// whole``: a module as it is;
* the region with edits: pairs of pieces after lines ``// edit`` and ``// to``; the first stands once in the region
  and is replaced by the second.

Headers of a proposal: ``why``, ``assumes`` (between semicolons), ``tolerance`` (``exact [nsz]``, ``close RTOL ATOL``,
``ref64 RTOL ATOL FACTOR``), ``witness`` (JSON, as the keys ``seed``, ``sizes``, ``values``, ``set``, ``fill``,
``calls``, ``alias``, ``guard`` of the public corpus), ``specials``, ``skip_fills``, ``extra_inputs`` (JSON: what an
accept is checked on), ``unchecked`` (why no run of a plain JIT can show the label). A line ``// schedule`` begins a
serial program that does what a machine may do with the proposal where a plain run does not show it: iterations of a
parallel loop in another order, a flag that is made use of, a write where the proposal reads out of bounds.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "corpus"
_SPLIT = re.compile(r"^// -----[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_HEADER = re.compile(r"^// (\w+)(?: (\S+))?: ?(.*)$|^// (whole)$")
_COMMON = "// common above"
_EDIT, _TO = "// edit\n", "// to\n"


class CorpusError(ValueError):
    """A file of the corpus is not in the form above; the message begins with its path."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """One proposal for one region; ``expect`` is the right verdict, ``gate`` the one that should give a rejection."""

    id: str
    level: str
    kind: str
    original: str
    proposal: dict[str, Any]
    expect: str
    gate: str | None
    why: str
    witness: dict[str, Any] | None
    tolerance: dict[str, Any]
    #: ``specials``, ``skip_fills``, ``extra_inputs``, ``unchecked`` where given
    more: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The entry as one object of the public corpus' form."""
        made = dataclasses.asdict(self)
        made.update(made.pop("more"))
        return made


def load(level: str | None = None, folder: Path = FOLDER) -> list[Entry]:
    """All entries, of ``level`` alone where one is given, in the order of their files."""
    paths = sorted(folder.glob(f"{level or '*'}/*.mlir"))
    return [entry for path in paths for entry in read(path)]


def read(path: Path) -> list[Entry]:
    """The entries of one file; raises CorpusError."""
    parts = _SPLIT.split(path.read_text())
    headers, original = _headers(path, parts[0], strict=False)
    main = re.search(r"^func\.func @main.*?\{$", original, re.MULTILINE | re.DOTALL)
    if main is None or len(parts) < 3:
        raise CorpusError(f"{path}: no 'func.func @main(...) ... {{' that ends a line, or no proposal")
    head, found, _ = original.partition(_COMMON)
    common = head[main.start() :].rstrip(" ") if found else main[0] + "\n"
    before = original[: main.start()].strip()
    level = path.parent.name
    entries = []
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        try:
            own, body = _headers(path, text)
            if body.startswith(_EDIT):
                own, body = {**own, "whole": ""}, _wrapped(_edited(original, body))
            ir, *schedule = [_module(part, common, before, "whole" in own) for part in body.split("// schedule\n")]
            identity = f"{level}/{path.stem}/{name}"
            entries.append(_entry(identity, level, _wrapped(original), ir, schedule, headers | own))
        except (KeyError, ValueError) as error:
            raise CorpusError(f"{path}: {name}: {error!r}") from error
    return entries


def _headers(path: Path, text: str, strict: bool = True) -> tuple[dict[str, str], str]:
    """The header lines at the top of ``text`` by name, and the rest; prose is allowed unless ``strict``."""
    found: dict[str, str] = {}
    lines = text.strip("\n").split("\n")
    for number, line in enumerate(lines):
        match = _HEADER.match(line)
        if not line.startswith("//") or line in ("// schedule", _EDIT.strip()):
            return found, "\n".join(lines[number:])
        if match and match[4]:
            found["whole"] = ""
        elif match and match[1] in ("reject", "accept"):
            found |= {"expect": match[1], "gate": match[2] or "", "kind": match[3]}
        elif match and not match[2]:
            found[match[1]] = match[3]
        elif strict:
            raise CorpusError(f"{path}: no header: {line}")
    return found, ""


def _edited(text: str, edits: str) -> str:
    """``text`` after edits in the form above; raises ValueError."""
    for edit in f"{edits}\n".split(_EDIT)[1:]:
        old, found, new = edit.partition(_TO)
        old, new = old.rstrip("\n"), new.rstrip("\n")
        if not found or text.count(old) != 1:
            raise ValueError(f"stands {text.count(old)} times in the region, not once: {old[:80]}")
        text = text.replace(old, new)
    return text


def _wrapped(text: str) -> str:
    """``text`` in a module; aliases (``#map = ...``) stay before it, where the syntax wants them."""
    lines = text.strip().split("\n")
    aliases = "".join(f"{line}\n" for line in lines if line.startswith("#"))
    attributes = "attributes {gpu.container_module} " if "gpu.module" in text else ""
    body = "".join(f"{line}\n" for line in lines if not line.startswith("#"))
    return f"{aliases}module {attributes}{{\n{body}}}\n"


def _module(body: str, common: str, before: str, whole: bool) -> str:
    if whole:
        return body.strip() + "\n"
    place = re.search(r"^func\.func @main \.\.\. \{$", body, re.MULTILINE)
    if place:
        aliases = "".join(f"{line}\n" for line in before.split("\n") if line.startswith("#"))
        return _wrapped(aliases + body[: place.start()] + common + body[place.end() + 1 :])
    ends = "" if re.search(r"^  return\b", body, re.MULTILINE) else "\n  return"
    helpers = before + "\n" if before else ""
    return _wrapped(helpers + common + body.strip("\n") + ends + "\n}")


def _entry(name: str, level: str, original: str, ir: str, schedule: list[str], headers: dict[str, str]) -> Entry:
    expect = headers["expect"]
    witness = json.loads(headers["witness"]) if "witness" in headers else {"seed": 1}
    if schedule:
        witness["schedule_ir"] = schedule[0]
    assumes = [word.strip() for word in headers.get("assumes", "").split(";") if word.strip()]
    keys = ("specials", "skip_fills", "extra_inputs")
    more: dict[str, Any] = {key: json.loads(headers[key]) for key in keys if key in headers}
    if "unchecked" in headers:
        more["unchecked"] = headers["unchecked"]
    return Entry(
        id=name.replace("/", "-"), level=level, kind=headers["kind"], original=original,
        proposal={"kind": "replace_ir", "ir": ir, "assumes": assumes}, expect=expect, gate=headers["gate"] or None,
        why=headers["why"], witness=witness if expect == "reject" else None,
        tolerance=_tolerance(headers.get("tolerance", "exact")), more=more,
    )  # fmt: skip


def _tolerance(text: str) -> dict[str, Any]:
    mode, *numbers = text.split()
    if mode == "exact":
        return {"mode": mode, "nsz": "nsz" in numbers}
    return {"mode": mode, **dict(zip(("rtol", "atol", "factor"), map(float, numbers), strict=False))}


def write(entries: list[Entry], folder: Path) -> Iterator[Path]:
    """Write each entry as ``folder/ID.json``, in the form of the public corpus; yields the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        path = folder / f"{entry.id}.json"
        path.write_text(json.dumps(entry.to_json(), indent=1))
        yield path


def main() -> None:
    """``python test/agents/corpus.py OUT [--level LEVEL] [--only TEXT]``: the entries as JSON files in OUT."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--level")
    parser.add_argument("--only", default="", help="entries whose id contains this")
    options = parser.parse_args()
    chosen = [entry for entry in load(options.level) if options.only in entry.id]
    print(f"{len(list(write(chosen, options.out)))} entries written to {options.out}")


if __name__ == "__main__":
    main()
