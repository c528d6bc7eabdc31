"""Regions and their solutions in the JSON of FlashInfer-Bench: Definition, Solution, Trace.

The format is that of github.com/flashinfer-ai/flashinfer-bench at v0.1.2 and the 98 commits after it (40e6ca78, April
2026): ``docs/flashinfer-trace/*.mdx``, ``flashinfer_bench/data/*.py``. A folder is a trace set::

    definitions/<op_type>/<name>.json
    solutions/<author>/<op_type>/<definition>/<name>.json
    traces/<author>/<op_type>/<definition>.jsonl

- A region is a definition: its contract's dimensions are the axes, its reference is Python that runs the region's IR
  by kc at its own level (``callables``). Element types that the format does not have (f64, complex, unsigned) keep a
  region out.
- An accepted proposal is a solution in Python, whose sources hold the proposal (``proposal.json``, which ``read`` takes
  back) and its code.
- Its verdict is a trace. The format wants a relative error and a latency of a passed evaluation: the error is the
  verdict's largest one in units in the last place times the type's spacing; where nothing was timed the trace has no
  evaluation.
"""
from __future__ import annotations

import ast
import json
import re
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc.agents.ledger import Attempt, Ledger, Region, report
from kc.agents.ledger.diff import newest
from kc.agents.protocol import Proposal, ProtocolError
from kc.errors import InputError, KcError

if TYPE_CHECKING:
    from kc.agents.contract import Contract
    from kc.agents.execution.signature import Signature

#: element type in MLIR -> the format's name for it
DTYPES = {
    "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2",
    "f4E2M1FN": "float4_e2m1", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "i1": "bool",
    "index": "int64",
}  # fmt: skip
#: spacing of floats around 1, of the types that a result can have
_SPACING = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7, "f8E4M3FN": 2.0**-3, "f8E5M2": 2.0**-2, "f4E2M1FN": 0.5}
_SOURCES = {"ptx": "kernel.ptx", "cuda": "kernel.cu", "triton": "kernel.py"}


def export(ledger: Ledger, chosen: Iterable[Attempt], folder: str) -> tuple[list[Path], list[tuple[Attempt, str]]]:
    """Write what settles each region and was accepted; returns the files written, and what was left out with why.

    Raises InputError when the folder cannot be written.
    """
    root = Path(folder)
    files: dict[Path, str] = {}
    traces: dict[Path, list[str]] = {}
    skipped: list[tuple[Attempt, str]] = []
    for attempt in newest(chosen):
        if attempt.outcome != "accepted" or (attempt.proposal or {}).get("kind") == "keep":
            continue
        region = ledger.region(attempt.identity)
        if region is None or region.level == "asm":
            skipped.append((attempt, "the ledger does not have the region's IR" if region is None else "it is no MLIR"))
            continue
        try:
            made = definition(region)
            trace = trace_of(attempt, region, made)
        except KcError as error:
            skipped.append((attempt, error.message))
            continue
        solved = solution(attempt, made)
        kind, name, author = made["op_type"], made["name"], solved["author"]
        files[root / "definitions" / kind / f"{name}.json"] = _text(made)
        files[root / "solutions" / author / kind / name / f"{solved['name']}.json"] = _text(solved)
        traces.setdefault(root / "traces" / author / kind / f"{name}.jsonl", []).append(json.dumps(trace))
    files.update({path: "".join(f"{line}\n" for line in lines) for path, lines in traces.items()})
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror}") from None
    return list(files), skipped


def definition(region: Region) -> dict[str, Any]:
    """A region as a Definition. Raises InputError when the format cannot tell it."""
    signature, contract = _signature(region)
    axes: dict[str, dict[str, Any]] = {}
    inputs: dict[str, dict[str, Any]] = {}
    outputs: dict[str, dict[str, Any]] = {}
    for number, (kind, role) in enumerate(zip(signature.arguments, signature.roles, strict=True)):
        dims = contract.arguments[number].dims if number < len(contract.arguments) else ()
        spec = _tensor(kind, dims, contract, axes, f"arg{number}")
        if role != "out":
            inputs[f"arg{number}"] = spec
        if role != "in":
            outputs[f"arg{number}_out"] = spec
    results = {
        f"result{number}": _tensor(kind, (), contract, axes, f"result{number}")
        for number, kind in enumerate(signature.results)
    }
    return {
        "name": f"kc_{_word(region.name)}_{region.identity[:8]}",
        "op_type": _word(region.kind) or "function",
        "axes": axes,
        "inputs": inputs,
        "outputs": {**results, **outputs},
        "reference": _reference(region, list(inputs)),
        "tags": [f"kc:level:{region.level}", f"kc:target:{region.target}", f"kc:identity:{region.identity}"],
        "description": f"Region @{region.name} of a program compiled by kc. Contract: {json.dumps(region.contract)}",
        "constraints": [fact for fact in contract.facts if re.fullmatch(r"[\w %=<>!+*/-]+", fact)],
    }


def solution(attempt: Attempt, made: dict[str, Any]) -> dict[str, Any]:
    """An accepted proposal as a Solution of the definition ``made``."""
    proposal: dict[str, Any] = dict(attempt.proposal or {})
    names = list(made["inputs"])
    sources = [
        {"path": "main.py", "content": _MAIN.format(arguments=", ".join(names))},
        {"path": "proposal.json", "content": json.dumps(proposal, indent=1)},
        {"path": "region.json", "content": json.dumps({"level": attempt.level, "target": attempt.target,
                                                       "ir": _ir_of(made["reference"])}, indent=1)},
    ]  # fmt: skip
    if proposal.get("source"):
        sources.append({"path": _SOURCES[proposal["kind"]], "content": str(proposal["source"])})
    return {
        "name": f"{made['name']}_{_word(attempt.agent)}_{attempt.hash[:8]}",
        "definition": made["name"],
        "author": _word(attempt.agent) or "agent",
        "spec": {
            "language": "python",
            "target_hardware": ["cpu" if attempt.target.startswith("cpu") else "cuda"],
            "entry_point": "main.py::run",
            "dependencies": ["kc"],
            "destination_passing_style": False,
        },
        "sources": sources,
        "description": str(proposal.get("rationale", "")) or None,
    }


def trace_of(attempt: Attempt, region: Region, made: dict[str, Any]) -> dict[str, Any]:
    """The verdict on an accepted proposal as a Trace."""
    verdict = attempt.verdict or {}
    timing = verdict.get("timing") or {}
    sizes = dict(timing.get("sizes") or {})
    signature, contract = _signature(region)
    axes = {}
    for name, axis in made["axes"].items():
        if axis["type"] == "var":
            axes[name] = int(sizes.get(name, contract.size_range(name)[1]))
    workload = {
        "axes": axes,
        "inputs": {name: {"type": "random"} for name in made["inputs"]},
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, attempt.hash)),
    }
    evaluation = None
    timed = timing.get("original_us") is not None and timing.get("proposal_us") is not None
    if timed and all(name in sizes for name in axes):
        ulp = float((verdict.get("errors") or {}).get("ulp", 0.0))
        floats = [_SPACING[k.element] for k in (*signature.results, *signature.arguments) if k.element in _SPACING]
        evaluation = {
            "status": "PASSED",
            "environment": {
                "hardware": report.where(attempt),
                "libs": {"kc": attempt.kc or "unknown"},
            },
            "timestamp": attempt.time,
            "log": str(verdict.get("message", "")),
            "correctness": {
                "max_relative_error": ulp * (floats[0] if floats else 0.0),
                "max_absolute_error": "NaN",  # not measured
                "extra": {"ulp": ulp, "runs": int(verdict.get("runs", 0))},
            },
            "performance": {
                "latency_ms": timing["proposal_us"] / 1000,
                "reference_latency_ms": timing["original_us"] / 1000,
                "speedup_factor": timing["original_us"] / timing["proposal_us"],
            },
        }
    return {
        "definition": made["name"], "workload": workload, "solution": solution(attempt, made)["name"],
        "evaluation": evaluation,
    }  # fmt: skip


def read(path: str | Path) -> Proposal:
    """The proposal of a Solution file that ``export`` wrote.

    Raises InputError for a solution without ``proposal.json``: one written by hand has host code around its kernel,
    which is no proposal of kc's.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        sources = {source["path"]: source["content"] for source in data["sources"]}
        if "proposal.json" not in sources:
            raise InputError(f"{path}: has no proposal.json among its sources: it was not written by kc")
        return Proposal.from_json(json.loads(sources["proposal.json"]))
    except ProtocolError as error:
        raise InputError(f"{path}: the proposal is none: {error.message}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is no Solution of FlashInfer-Bench: {error}") from None


def _signature(region: Region) -> tuple[Signature, Contract]:
    from kc.agents.contract import Contract
    from kc.agents.execution.signature import Signature, main_of
    from kc.context import make_context, parse_module

    module = parse_module(region.ir, make_context(), region.name)
    return Signature.of(module), Contract.of(main_of(module))


def _tensor(
    kind: Any, dims: tuple[str, ...], contract: Contract, axes: dict[str, dict[str, Any]], owner: str
) -> dict[str, Any]:
    """A TensorSpec; enters its axes. Raises InputError for an element type that the format does not have."""
    dtype = DTYPES.get(kind.element)
    if dtype is None or kind.form == "pointer":
        raise InputError(f"FlashInfer-Bench has no dtype for '{kind.text}' ({owner})")
    if kind.form == "scalar":
        return {"shape": None, "dtype": dtype}
    shape = []
    for position, extent in enumerate(kind.shape):
        if extent is not None:
            name = f"d{extent}"
            axes.setdefault(name, {"type": "const", "value": extent})
        else:
            name = dims[position] if position < len(dims) else _like(axes, owner, position)
            axes.setdefault(name, {"type": "var"})
        shape.append(name)
    return {"shape": shape, "dtype": dtype}


def _like(axes: dict[str, dict[str, Any]], owner: str, position: int) -> str:
    """A name for an open extent that the contract does not name: of a result, the one open axis where there is one."""
    named = [name for name, axis in axes.items() if axis["type"] == "var"]
    return named[0] if len(named) == 1 else f"{owner}_d{position}"


def _reference(region: Region, names: list[str]) -> str:
    return _REFERENCE.format(level=region.level, ir=repr(region.ir), arguments=", ".join(names))


def _ir_of(reference: str) -> str:
    line = next(line for line in reference.splitlines() if line.startswith("IR = "))
    return str(ast.literal_eval(line[len("IR = ") :]))


def _word(text: str) -> str:
    return re.sub(r"\W", "_", text).strip("_").lower()


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2) + "\n"


_REFERENCE = '''"""The region's IR, run by kc at its own level without any schedule."""
LEVEL = "{level}"
IR = {ir}


def run({arguments}):
    from kc.agents.export.callables import region

    return region(IR, LEVEL)({arguments})
'''
_MAIN = '''"""The proposal, realized by kc and run by its runtime."""
import json
from pathlib import Path


def run({arguments}):
    from kc.agents.export.callables import proposal

    folder = Path(__file__).parent
    told = json.loads((folder / "region.json").read_text())
    return proposal(told["ir"], told["level"], told["target"], (folder / "proposal.json").read_text())({arguments})
'''
