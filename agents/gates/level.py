"""Gate ``level``: only ops of the proposal's level, and none by which a stranger could leave it.

Stricter than ``kc.levels``, whose lists have room for what kc's own passes put beside the main thing. An op that the
original holds is legal in its proposal too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kc.agents.gates.case import Case, place, walk
from kc.agents.gates.reasons import Rejection

if TYPE_CHECKING:
    from kc.bindings import ir

_SCALAR = "builtin func arith math complex scf"

#: level -> dialects that a stranger may use there
DIALECTS: dict[str, frozenset[str]] = {
    level: frozenset(names.split())
    for level, names in {
        "torch": "builtin func torch torch_c",
        "stablehlo": "builtin func stablehlo chlo",
        "linalg": f"{_SCALAR} linalg tensor",
        "loops": f"{_SCALAR} cf memref vector affine omp",
        "gpu": f"{_SCALAR} cf memref vector affine gpu index",
        "llvm": "builtin llvm",
    }.items()
}
#: dialects that are legal inside of gpu.module besides
DEVICE = frozenset({"nvvm", "rocdl", "nvgpu", "llvm"})

#: ops that are never a stranger's to bring: ways round the type system, to addresses, foreign code and undefined values
FORBIDDEN = frozenset(
    [
        "builtin.unrealized_conversion_cast",
        "llvm.inttoptr",
        "llvm.ptrtoint",
        "llvm.inline_asm",
        "llvm.call_intrinsic",
        "nvvm.inline_ptx",
        "llvm.mlir.alias",
        "llvm.mlir.ifunc",
        "llvm.mlir.global_ctors",
        "llvm.mlir.global_dtors",
        "llvm.blockaddress",
        "llvm.blocktag",
        "llvm.indirectbr",
        "llvm.invoke",
        "llvm.landingpad",
        "llvm.resume",
        "llvm.va_arg",
        "llvm.intr.vastart",
        "llvm.intr.assume",
        "llvm.intr.trap",
        "llvm.intr.debugtrap",
        "llvm.intr.ubsantrap",
        "llvm.intr.threadlocal.address",
        "llvm.comdat",
        "llvm.linker_options",
        "llvm.module_flags",
        "llvm.unreachable",
        "memref.extract_aligned_pointer_as_index",
        "func.call_indirect",
        "func.constant",
        "ub.poison",
        "ub.unreachable",
    ]
)

#: calls of which only the original's own are known to be harmless
_CALLS = frozenset({"stablehlo.custom_call", "llvm.call"})


def check(case: Case) -> Rejection | None:
    """The first op or type that has no place at ``case.level``."""
    for op, on_device in _ops(case.proposal.operation):
        if op.name in FORBIDDEN and op.name not in case.original_ops and not case.ours:
            return Rejection("level.forbidden", f"{place(op)}: no proposal may bring this op", op=op.name)
        if op.name in _CALLS or op.name in case.original_ops or case.ours:
            continue
        dialect = op.name.partition(".")[0]
        known = dialect in DIALECTS[case.level] and (dialect != "complex" or case.level != "loops" or _complex(case))
        if not known and not (on_device and dialect in DEVICE):
            homes = [level for level, names in DIALECTS.items() if dialect in names]
            hint = f"; it is legal at {' and '.join(homes)}" if homes else ""
            return Rejection("level.op", f"{place(op)} is illegal at level '{case.level}'{hint}", op=op.name)
    return _invariants(case)


def _complex(case: Case) -> bool:
    """Whether the region has complex numbers: loops over pairs of floats are no reason to bring them."""
    return "complex<" in str(case.original.operation)


def _invariants(case: Case) -> Rejection | None:
    """What ``kc.levels`` asks of types and structure (its lists of ops are wider than those above)."""
    from kc.levels import LEVELS, check_level

    for op, message in check_level(case.proposal.operation, LEVELS[case.level]):
        if f"'{op.name}' is illegal" in message:
            if op.name in case.original_ops:
                continue
            return Rejection("level.op", f"{place(op)}: {message}", op=op.name)
        return Rejection("level.invariant", f"{place(op)}: {message}", op=op.name)
    return None


def _ops(root: ir.Operation) -> Iterator[tuple[ir.Operation, bool]]:
    """Every op, and whether it stands on the device."""
    for op in root.regions[0].blocks[0].operations:
        device = op.operation.name == "gpu.module"
        yield op.operation, False
        for inner in walk(op.operation):
            yield inner, device
