"""What a model is told: its task, one region, and what became of its proposals."""
from __future__ import annotations

import json
from typing import Any

from kc.agents.builtin.chat.endpoints import Tool
from kc.agents.protocol import Observation, Proposal

#: most characters of a region's IR, of a witness, of an earlier proposal
_IR, _WITNESS, _EARLIER = 60_000, 4_000, 8_000

SYSTEM = """\
You rewrite one region of a program inside the compiler kc so that it runs faster and computes the same.

You are shown an MLIR module whose function @main is the region. Answer with ONE proposal, in one of these forms:

1. A fenced block of the new module, if you replace the IR (kind "replace_ir"):
```mlir
module { func.func @main(...) { ... } }
```
2. A fenced JSON object, for any kind:
```json
{"kind": "replace_ir", "ir": "...", "level": "linalg", "assumes": [], "rationale": "..."}
```
3. {"kind": "keep", "rationale": "..."} as such a block, if you see nothing better.

Rules, all checked by the compiler before anything is taken:
- @main keeps its name, its argument and result types and every attribute on it (kc.* included). Helpers are private.
- Only ops of the named dialects; no custom calls, external functions, side effects or casts past the type system.
- Write only buffers marked kc.out or kc.inout. Everything else is read-only.
- Sizes of dynamic dimensions may be anything in the declared range: 0, 1, and what no tile divides.
- What the contract does not allow matters: NaN, infinities, the sign of zero, denormals, integer wrap-around, the order
  of equal elements. Name in "assumes" what your form needs and the old one did not; it must be in the contract.
- The new form is run beside the old one on inputs that you do not see.
After a rejection you are told the gate, the reason and a counter-example: mend the fault or propose something else.
"""


def proposal_tool() -> Tool:
    """The tool ``propose``, for models that call functions: its arguments are a proposal."""
    text, names = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    properties: dict[str, Any] = {
        "kind": {"type": "string", "enum": ["keep", "replace_ir", "schedule"]}, "ir": text, "level": text,
        "knobs": {"type": "object"}, "script": text, "assumes": names, "guard": text, "rationale": text,
    }
    return Tool("propose", "Propose a new form of the region to the compiler.",
                {"type": "object", "properties": properties, "required": ["kind"]})


def first_message(observation: Observation) -> str:
    """The region, its contract, and everything that may help."""
    o = observation
    lines = [f"Region '{o.name}', kind {o.kind}, at level {o.level}, for target {o.target}.",
             f"Dialects that may be used at this level: {', '.join(sorted(_dialects(o.level)))}."]
    contract = o.contract
    lines.append(f"The contract allows: {', '.join(contract.get('allow', ())) or 'nothing beyond exact results'}.")
    if contract.get("facts"):
        lines.append(f"Known facts: {'; '.join(contract['facts'])}.")
    if contract.get("sizes"):
        ranges = (f"{name} in {low}..{high}" for name, (low, high) in contract["sizes"].items())
        lines.append(f"Sizes: {', '.join(ranges)}.")
    figures = {"floating-point operations": o.flops, "bytes": o.bytes, "shortest possible time in µs": o.roofline_us}
    lines += [f"{name}: {value:g}" for name, value in figures.items() if value is not None]
    if o.limits:
        lines.append(f"Limits of the target: {json.dumps(o.limits)}.")
    if o.default:
        lines.append(f"What the compiler would do: {json.dumps(o.default)}.")
    lines += [f"Remark: {remark}" for remark in o.remarks]
    lines += ["", "```mlir", _cut(o.ir, _IR), "```"]
    for attempt in o.attempts:
        earlier = _cut(json.dumps(attempt.get("proposal")), _EARLIER)
        lines += ["", f"Proposed before: {earlier}", verdict_message(attempt.get("verdict") or {})]
    return "\n".join(lines)


def _dialects(level: str) -> frozenset[str]:
    from kc.agents.gates.level import DIALECTS

    return DIALECTS.get(level, frozenset())


def verdict_message(verdict: dict[str, Any]) -> str:
    """A rejection in words, with its counter-example."""
    lines = [f"Rejected by gate '{verdict.get('gate')}', reason {verdict.get('reason')}: {verdict.get('message', '')}"]
    where = (verdict.get("witness") or {}).get("diverging") or {}
    if where.get("line"):
        lines.append(f"First op that diverges: {verdict['op']}, line {where['line']} of your text: {where['text']}")
    elif verdict.get("op"):
        lines.append(f"Op at fault: {verdict['op']}")
    if verdict.get("witness"):
        lines.append(f"Counter-example: {_cut(json.dumps(verdict['witness']), _WITNESS)}")
    if verdict.get("errors"):
        lines.append(f"Largest errors: {json.dumps(verdict['errors'])}")
    if verdict.get("timing"):
        lines.append(f"Timing: {json.dumps(verdict['timing'])}")
    return "\n".join(lines)


def repair_message(fault: str) -> str:
    """What a malformed answer gets back, once."""
    return f"That answer holds no proposal: {fault}. Answer with one fenced block in one of the forms above, complete."


def spoken(proposal: Proposal, text: str, calls: tuple[str, ...]) -> str:
    """An answer as it stands in the conversation: a call of the tool is told as the block that it could have been."""
    return text if not calls else f"{text}\n```json\n{json.dumps(proposal.to_json())}\n```".strip()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n… ({len(text) - most} more characters)"
