"""``triton``: a Triton kernel, compiled for the target by the package ``triton`` (extra ``kc[triton]``).

``parameters``: ``constants`` (values of ``tl.constexpr`` arguments), ``num_warps``, ``num_stages``, ``index`` (type of
sizes: ``i32`` or ``i64``). ``launch.arguments``: what the other arguments get, in order. Addresses count as aligned to
16 bytes, which Triton needs for wide accesses, only where ``assumes`` says so (``align(arg0,16)``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize import launch as launches
from kc.agents.realize import ptx_text, triton_source
from kc.agents.realize.compiled import compiled
from kc.agents.realize.device import answer, check_target
from kc.agents.realize.launch import Launch
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.region import Signature, Source

_TYPES = {"i1": "i1", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "index": "i64", "bf16": "bf16",
          "f16": "fp16", "f32": "fp32", "f64": "fp64", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5"}  # fmt: skip
_PARAMETERS = ("constants", "index", "num_stages", "num_warps")
_DIVISIBLE = 16  # bytes, or a multiple, that Triton makes use of


def triton(region: Source, proposal: Proposal, level: str, target: str) -> Realized:
    """A region answered with a Triton kernel."""
    assert proposal.source is not None
    chosen = check_target("triton", level, target)
    signature = Signature.of(region.function)
    functions = triton_source.check(proposal.source)
    parameters = _parameters(proposal.parameters or {})
    given = {**(proposal.launch or {})}
    entry = given.get("entry") or next(iter(reversed(functions)))
    if entry not in functions:
        raise ProtocolError(f"{entry!r} is no function of the source; there are {', '.join(functions)}", "launch.entry")
    for field in ("block", "shared"):
        if field in given:
            raise ProtocolError("follows from num_warps and the kernel: leave it out", f"launch.{field}")
    empty = ptx_text.Entry(entry, (), None, None, None)
    launch = launches.read({**given, "entry": entry, "block": [1]}, signature, {entry: empty})
    request = _request(proposal, functions, entry, launch, signature, parameters)
    done = compiled("kc.agents.realize.triton_child", {**request, "capability": chosen.capability})
    if "error" in done:
        raise RealizeError("verify", "verify.triton", f"Triton refuses the kernel: {done['error']}")
    for field, what in (("scratch", "scratch memory"), ("descriptors", "tensor descriptors made on the host")):
        if done[field]:
            raise RealizeError("resource", "resource.triton", f"the kernel needs {what}, which kc does not give")
    if done["clusters"] != 1:
        raise RealizeError(
            "resource", "resource.cluster", "the kernel asks for clusters of blocks, which kc does not launch"
        )
    module = ptx_text.read(done["ptx"])
    # the last two parameters are the addresses of scratch memory, which there is none of
    extra = len(module.entries[done["entry"]].parameters) - len(launch.arguments)
    launch = Launch(
        done["entry"],
        launch.grid,
        (done["threads"], 1, 1),
        done["shared"],
        (*launch.arguments, *[("number", 0)] * extra),
    )
    return answer(module, launch, signature, chosen)


def _parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in _PARAMETERS:
            raise ProtocolError(f"there are {', '.join(_PARAMETERS)}", f"parameters.{name}")
    made = {"constants": {}, "index": "i32", "num_stages": 3, "num_warps": 4, **given}
    if not isinstance(made["constants"], dict):
        raise ProtocolError("wants an object: name -> value", "parameters.constants")
    if made["index"] not in ("i32", "i64"):
        raise ProtocolError(f"is i32 or i64, not {made['index']!r}", "parameters.index")
    for name, values in (("num_warps", (1, 2, 4, 8, 16, 32)), ("num_stages", tuple(range(1, 9)))):
        if made[name] not in values:
            raise ProtocolError(f"{made[name]!r} is none of {', '.join(map(str, values))}", f"parameters.{name}")
    return made


def _request(
    proposal: Proposal,
    functions: Mapping[str, ast.FunctionDef],
    entry: str,
    launch: Launch,
    signature: Signature,
    parameters: Mapping[str, Any],
) -> dict[str, Any]:
    """What the child is asked."""
    assert proposal.source is not None
    names = [argument.arg for argument in functions[entry].args.args]
    constants = dict(parameters["constants"])
    for name, value in constants.items():
        if name not in names:
            raise ProtocolError(
                f"kernel '{entry}' has no such argument; it has {', '.join(names)}", f"parameters.constants.{name}"
            )
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise ProtocolError(f"{value!r} is no constant", f"parameters.constants.{name}")
    passed = [name for name in names if name not in constants]
    if len(passed) != len(launch.arguments):
        raise RealizeError(
            "signature",
            "signature.arguments",
            f"kernel '{entry}' takes {', '.join(passed)} beside constants; the launch gives {len(launch.arguments)}",
        )
    by_name = dict(zip(passed, launch.arguments, strict=True))
    types = {
        name: "constexpr" if name in constants else _type(by_name[name], signature, parameters["index"])
        for name in names
    }
    aligned = _aligned(proposal.assumes)
    divisible = [
        (number, _DIVISIBLE)
        for number, name in enumerate(names)
        if name in by_name and by_name[name][0] == "buffer" and by_name[name][1] in aligned
    ]
    return {
        "source": proposal.source,
        "entry": entry,
        "language": sorted(triton_source.language_paths(dict(functions), proposal.source)),
        "signature": types,
        "constants": constants,
        "divisible": divisible,
        "options": {"num_warps": parameters["num_warps"], "num_stages": parameters["num_stages"]},
    }


def _type(argument: tuple[str, Any], signature: Signature, index: str) -> str:
    kind, value = argument
    if kind == "buffer":
        buffer = signature.buffers[value]
        if buffer.element not in _TYPES:
            raise RealizeError("signature", "signature.type", f"Triton has no type for {buffer.element}")
        return _TYPES[buffer.element] if buffer.shape is None else f"*{_TYPES[buffer.element]}"
    if kind == "number" and isinstance(value, float):
        return "fp32"
    return index


def _aligned(assumes: tuple[str, ...]) -> set[int]:
    """The arguments that a proposal assumes to be aligned to 16 bytes or more."""
    found = (re.fullmatch(r"\s*align\(\s*arg(\d+)\s*,\s*(\d+)\s*\)\s*", text) for text in assumes)
    return {int(match[1]) for match in found if match and int(match[2]) % _DIVISIBLE == 0}
