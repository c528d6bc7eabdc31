"""A compilation that is walked by hand: step and rewind phases, look at regions, propose, compare, measure, build.

What the MCP server shows of kc, without MCP. Proposals take the road of every agent (``kc.agents.session``:
observation, gates, ledger, splice), so ``kc compile FILE --ledger L --frozen`` gives the same program with nobody
present. Methods take and return JSON values and raise KcError; a ``Workbench`` is used by one thread.
"""
from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc import api
from kc.agents.bindings.walk import NAME, VERSION, Walk
from kc.agents.contract import Contract
from kc.agents.protocol import Observation, Proposal, Verdict
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir

#: lines of a diff that are shown at most
DIFF_LINES = 2000


def _check_path(path: str) -> None:
    if not path or "\0" in path:
        raise InputError("the path is empty" if not path else "the path holds a NUL character")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"cannot write to '{path}': it is no regular file")


class Workbench(Walk):
    """See above."""

    # ---------------------------------------------------------------------------------------------------- looking

    def regions(self) -> list[dict[str, Any]]:
        """The regions of the program as it stands: what a proposal may be about."""
        return [
            {
                "name": o.name, "kind": o.kind, "level": o.level, "identity": o.identity, "ops": len(o.ops),
                "flops": o.flops, "bytes": o.bytes, "roofline_us": o.roofline_us, "default": o.default,
                "remarks": list(o.remarks),
            }
            for o in self._observations()
        ]

    def observe(self, region: str) -> dict[str, Any]:
        """All that an agent is shown of a region, its attempts so far included."""
        seen = self._observation(region)
        attempts = [
            {"proposal": a.proposal, "verdict": a.verdict}
            for a in self._ledger.attempts(seen.identity, NAME, VERSION) if a.proposal is not None
        ]
        return dataclasses.replace(seen, attempts=tuple(attempts)).to_json()

    def text(self, point: str | None = None) -> str:
        """The program's text now, or as it left a point (``start``, a phase); big constants are elided.

        ``PHASE:arrived`` is the text before any proposal was accepted there; ``asm`` and ``llvm-ir`` are made from the
        program as it would be built.
        """
        self._need()
        if point in ("asm", "llvm-ir"):
            return self._target.text(self._built_module(), point)
        if point is None or point == "now":
            return api.to_text(self._module)
        name, _, when = point.partition(":")
        position = self._find(name, every=True)
        if position > self._position or when not in ("", "arrived"):
            raise InputError(f"the program has not been at '{point}' yet; it stands {self._moments[self._position]}")
        if position == self._position and not when:
            return api.to_text(self._module)
        kept = self._arrived[position].module if when else self._left.get(position, self._arrived[position].module)
        return api.to_text(self._parse(kept))

    def diff(self, before: str, after: str = "now") -> str:
        """What changed between two points, as a unified diff of their texts."""
        one, two = (self.text(point).splitlines() for point in (before, after))
        lines = list(difflib.unified_diff(one, two, before, after, lineterm="", n=3))
        if len(lines) > DIFF_LINES:
            lines = [*lines[:DIFF_LINES], f"... {len(lines) - DIFF_LINES} lines more"]
        return "\n".join(lines)

    def explain(self, region: str | None = None) -> dict[str, Any]:
        """Every attempt of this session with its verdict; of a region that is named, the numerics it is held to."""
        self._need()
        from kc.agents.gates import explain_numerics

        contract = None if region is None else Contract.from_json(self._observation(region).contract)
        attempts = [
            {
                "outcome": a.outcome, "at": a.at, "region": self._name_of(a.identity), "identity": a.identity,
                "proposal": a.proposal, "verdict": a.verdict,
            }
            for a in self._ledger.entries() if a.agent == NAME and a.proposal is not None
        ]
        return {
            "attempts": attempts, "accepted": list(self._edits),
            "numerics": None if contract is None else explain_numerics(contract),
        }

    # --------------------------------------------------------------------------------------------------- proposing

    def propose(self, region: str, proposal: Mapping[str, Any]) -> dict[str, Any]:
        """Judge a proposal for a region; what is accepted takes the region's place at once.

        The result has ``verdict``, ``accepted`` (whether it is part of the program now) and ``remarks``.
        """
        made = Proposal.from_json(dict(proposal))
        self._observation(region)
        if any(e["region"] == region and e["position"] == self._position for e in self._edits):
            raise InputError(
                f"region '{region}' was replaced at this moment already: rewind('undo') to answer it anew, or step on"
            )
        if made.kind == "keep":
            return {"verdict": Verdict(True, message="left as it is").to_json(), "accepted": False, "remarks": []}
        return self._answer(region, made)

    # ------------------------------------------------------------------------------------------- building, measuring

    def build(self, path: str | None = None) -> dict[str, Any]:
        """Go the rest of the road with what was accepted, and write the artifact to ``path`` when one is given.

        The build is entered into the ledger. The program stays where it stands.
        """
        if path is not None:
            _check_path(path)
        manifest, files = self._artifact()
        if path is not None:
            from kc import artifact

            artifact.save(path, manifest, files)
        return {
            "path": path, "ledger": str(self._ledger.path), "entries": list(manifest["entries"]),
            "agents": list(manifest.get("agents", ())), "bytes": sum(len(data) for data in files.values()),
        }

    def save_ledger(self, path: str) -> dict[str, Any]:
        """Copy the ledger to ``path``, with an entry for the program as it would be built now."""
        _check_path(path)
        self._artifact()
        source = self._ledger.path
        assert source is not None
        try:
            Path(path).write_bytes(Path(source).read_bytes())
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from None
        return {"path": path, "lines": Path(path).read_bytes().count(b"\n")}

    def profile(self, sizes: Mapping[str, int] | None = None, seconds: float = 2.0) -> dict[str, Any]:
        """Time of one call of the whole program, and of each kernel by itself, in µs on typical (or given) sizes."""
        from kc.agents.bindings import profile

        self._need()
        if self._target.name != "cpu":
            raise InputError("only programs for the CPU are timed here: save the artifact and measure it on the device")
        kernels = self._at("after:form-kernels", lambda: [(o.name, o.kind, o.ir) for o in self._observations()])
        return profile.profile(self._artifact(), kernels, self._entry, sizes, seconds, self._report)

    # ------------------------------------------------------------------------------------------------------- inside

    def _observations(self) -> list[Observation]:
        """What can be seen of every region, now. Nothing is noted of it."""
        self._need()
        kept = self._memory()
        self._ask()
        self._remember(kept)
        return self._desk.seen

    def _observation(self, region: str) -> Observation:
        found = {o.name: o for o in self._observations()}
        if region not in found:
            near = difflib.get_close_matches(region, found, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(found) or 'none'}"
            raise InputError(f"no region is named '{region}' {self._moments[self._position]}{hint}")
        return found[region]

    def _name_of(self, identity: str) -> str:
        region = self._ledger.region(identity)
        return identity[:12] if region is None else region.name

    def _artifact(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The program as it would be built now, entered into the ledger."""
        self._need()

        def generate() -> tuple[dict[str, Any], dict[str, bytes]]:
            self._note_rest()
            made = self._target.generate(self._module, self._options)
            self._stand.points = frozenset(str(e["at"]) for e in self._edits)
            self._session.finish()
            self._session.into(*made)
            return made

        return self._at(self._moments[-1], generate)

    def _built_module(self) -> ir.Module:
        return self._at(self._moments[-1], lambda: self._parse(self._state().module))
