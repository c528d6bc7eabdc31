"""The levels of the ladder, each with an executable spec: which ops, types and structure a module there may have.

To allow an op or a dialect at a level, add it to that level's entry in ``LEVELS``: a dialect to ``dialects``, single
ops to ``ops``; ``forbidden`` takes ops out of a dialect again. An invariant is a function in ``level_invariants``. The
spec is for whole modules; inside ``gpu.module`` the ops in ``device`` are legal too. What a schedule built beside a
kernel is further down already and is checked at level ``gpu``, wherever the module stands.
"""
from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kc.diagnostics import Diagnostic, DiagnosticSink, location_of
from kc.errors import InputError, LevelError

if TYPE_CHECKING:
    from kc.bindings import ir

#: (op, what is wrong with it)
Finding = tuple["ir.Operation", str]


class Level(NamedTuple):
    """One level. Names of dialects and ops are MLIR's; ``types`` are dialect names of types beside the builtin ones."""

    name: str
    summary: str
    dialects: frozenset[str]
    ops: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    #: dialects that are legal inside gpu.module only
    device: frozenset[str] = frozenset()
    #: names of functions in kc.level_invariants
    invariants: tuple[str, ...] = ()

    def allows(self, op: str, on_device: bool = False) -> bool:
        """Whether an op of this name is legal at this level."""
        if op in self.forbidden:
            return False
        dialect = op.partition(".")[0]
        return op in self.ops or dialect in self.dialects or (on_device and dialect in self.device)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SCALAR = "arith math complex cf scf func builtin index ub"

LEVELS: dict[str, Level] = {
    level.name: level
    for level in (
        Level(
            "torch",
            "PyTorch programs: decomposition and module state",
            dialects=_names("torch torch_c func builtin ml_program"),
            types=_names("torch"),
        ),
        Level(
            "stablehlo",
            "StableHLO graphs: algebra, graph shape, composites, library calls",
            dialects=_names("stablehlo chlo interpreter func builtin shape"),
            # what stands beside the graph: shape arithmetic, checks of sizes, and weights bound as parameters
            ops=_names(
                "arith.constant arith.addi arith.subi arith.muli arith.divsi arith.maxsi arith.cmpi arith.ori "
                "arith.index_cast tensor.cast tensor.dim tensor.from_elements tensor.extract"
            ),
            types=_names("stablehlo shape quant"),
            invariants=("tensors_only",),
        ),
        Level(
            "linalg",
            "linalg on tensors: fusion, kernel boundaries, tile sizes, layout, numerics",
            dialects=_names(f"linalg tensor shape {_SCALAR}"),
            # cf.assert carries checks of shapes; a control-flow graph has no place before bufferization
            forbidden=_names("cf.br cf.cond_br cf.switch"),
            ops=_names("bufferization.alloc_tensor bufferization.materialize_in_destination"),
            invariants=("tensors_only", "kernels_are_outlined"),
        ),
        Level(
            "loops",
            "loops over buffers: loop order, vectors, memory, threads",
            dialects=_names(f"memref vector affine omp linalg {_SCALAR}"),
            # scalars and pointers of the host ABI: calls into the runtime
            ops=_names("llvm.mlir.addressof llvm.mlir.global llvm.func llvm.call llvm.mlir.zero llvm.return"),
            types=_names("llvm"),
            invariants=("no_tensors",),
        ),
        Level(
            "gpu",
            "grids and blocks: shared memory, tensor cores, pipelining",
            dialects=_names(f"gpu memref vector affine linalg llvm {_SCALAR}"),
            device=_names("nvvm rocdl nvgpu"),
            types=_names("llvm gpu nvgpu"),
            invariants=("no_tensors",),
        ),
        Level(
            "llvm",
            "LLVM dialect: instructions and addressing",
            dialects=_names("llvm builtin omp"),
            ops=_names("gpu.module gpu.binary"),
            device=_names("nvvm rocdl"),
            forbidden=_names("builtin.unrealized_conversion_cast"),
            types=_names("llvm"),
            invariants=("no_tensors", "llvm_types_only"),
        ),
        Level("asm", "text or an object: nothing of it is MLIR", dialects=_names("")),
    )
}


def level_named(name: str) -> Level:
    """The level of that name; raises InputError that lists the levels otherwise."""
    level = LEVELS.get(name)
    if level is None:
        near = difflib.get_close_matches(name, LEVELS, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise InputError(f"no level is named '{name}'; the levels are {', '.join(LEVELS)}{hint}")
    return level


def verify_level(module: ir.Module | ir.Operation, name: str, sink: DiagnosticSink | None = None) -> None:
    """Check that a module stands at the level ``name``.

    Each illegal op, type and broken invariant is emitted as an error into ``sink``. Raises LevelError with all of
    them, InputError when there is no such level.
    """
    level = level_named(name)
    sink = DiagnosticSink() if sink is None else sink
    before = len(sink.diagnostics)
    for op, message in check_level(module.operation, level):
        sink.emit(Diagnostic("error", location_of(op), message))
    found = sink.diagnostics[before:]
    if found:
        count = f"{len(found)} thing{'s' if len(found) > 1 else ''}"
        raise LevelError(f"the module does not stand at level '{name}': {count} out of place", found)


def check_level(root: ir.Operation, level: Level) -> Iterator[Finding]:
    """Everything in ``root`` that is illegal at ``level``, in order."""
    from kc import level_invariants
    from kc.bindings import ir

    if level.name == "asm":
        yield root, "level 'asm' is text or an object file, not an MLIR module"
        return
    ops: list[tuple[ir.Operation, bool]] = []
    devices: list[ir.Operation] = []
    scheduled: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        operation = op.operation
        if level.name in ("linalg", "loops") and operation != root and level_invariants.is_scheduled(operation):
            scheduled.append(operation)
            return ir.WalkResult.SKIP
        if operation.name == "gpu.module":
            devices.append(operation)
        ops.append((operation, bool(devices) and level_invariants.is_inside(operation, devices[-1])))
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    for op in scheduled:  # what a schedule builds beside a kernel is further down already
        yield from check_level(op, LEVELS["gpu"])
    checks: list[Callable[[ir.Operation, bool], Iterator[str]]] = [
        getattr(level_invariants, name) for name in level.invariants
    ]
    types = level_invariants.TypeCheck(level.types)
    for op, on_device in ops:
        if not level.allows(op.name, on_device):
            yield op, f"'{op.name}' is illegal at level '{level.name}'{_hint(op.name, level)}"
            continue
        for message in (*types(op), *(m for check in checks for m in check(op, on_device))):
            yield op, f"{message} (level '{level.name}')"


def _hint(op: str, level: Level) -> str:
    """Where the op would be legal."""
    homes = [other.name for other in LEVELS.values() if other.name != level.name and other.allows(op, True)]
    return f"; it is legal at {' and '.join(homes)}" if homes else ""
