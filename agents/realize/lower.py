"""``replace_ir``: a region answered with IR of its own level or of one below."""

from __future__ import annotations

from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.region import Signature, Source, parse_proposed

LADDER = ("torch", "stablehlo", "linalg", "loops", "gpu", "llvm", "asm")


def replace_ir(region: Source, proposal: Proposal, level: str, target: str) -> Realized:
    """IR at the region's level stays as it is; IR below is an answer."""
    assert proposal.ir is not None
    wanted = proposal.level or level
    if wanted not in LADDER:
        raise ProtocolError(f"no level is named '{wanted}'; there are {', '.join(LADDER)}", "level")
    if LADDER.index(wanted) < LADDER.index(level):
        raise ProtocolError(f"'{wanted}' lies above the region's level '{level}'", "level")
    if wanted == level:
        return Realized(level, proposal.ir)
    gpu = target.partition(":")[0] == "nvptx"
    if wanted not in _answers(level, gpu):
        raise ProtocolError(
            f"a region at level '{level}' can be answered at {', '.join((level, *_answers(level, gpu)))} "
            f"for target '{target}', not at '{wanted}'",
            "level",
        )
    source = parse_proposed(proposal.ir)
    check_signature(region, source, wanted)
    return Realized(wanted, proposal.ir, answer=proposal.ir, needs="gpu" if gpu and wanted == "gpu" else "cpu")


def _answers(level: str, gpu: bool) -> tuple[str, ...]:
    """The levels below ``level`` from which an answer can be taken over."""
    below = ("linalg", "loops", "gpu") if gpu else ("linalg", "loops")
    if level in ("torch", "stablehlo"):
        return below
    if level == "linalg":
        return below[1:]
    return below[2:] if level == "loops" else ()


def check_signature(region: Source, proposed: Source, level: str) -> None:
    """Raises RealizeError unless ``@main`` of ``proposed`` (at ``level``) has the region's signature there."""
    from kc.bindings import ir

    signature = Signature.of(region.function)
    kind = ir.FunctionType(ir.TypeAttr(proposed.function.attributes["function_type"]).value)
    if level == "linalg":
        inputs = [value.tensor() for value in signature.arguments]
        results = [value.tensor() for value in signature.results]
    else:
        inputs, results = [value.buffer() for value in signature.buffers], []
    given = [str(type_) for type_ in kind.inputs], [str(type_) for type_ in kind.results]
    if given == (inputs, results):
        return
    wanted = f"({', '.join(inputs)}) -> ({', '.join(results)})"
    how = "" if level == "linalg" else ": tensors as memrefs of identity layout, destinations last, no results"
    raise RealizeError(
        "signature", "signature.type", f"@main has type {kind}; at level '{level}' the region has {wanted}{how}"
    )
