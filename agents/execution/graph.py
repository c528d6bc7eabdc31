"""Level stablehlo: the reference interpreter of StableHLO, or kc's own road where the interpreter is wrong or absent.

The two round differently, so that an original and its proposal must go the same way: ``engine`` says which, for both
texts at once, and ``Checks.engine`` fixes it.
"""
from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution import literals
from kc.agents.execution.calls import Call, Checks, Engine, Outcome
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.signature import Kind, Signature
from kc.errors import KcError

if TYPE_CHECKING:
    from kc.bindings import ir

#: without the simplification that comes with inlining: an endless loop whose result nobody reads is one all the same
_PREPARE = (
    "builtin.module(func.func(chlo-legalize-to-stablehlo,stablehlo-legalize-composite-to-call),"
    "inline{default-pipeline=})"
)
#: what the interpreter (StableHLO 1.19) does not run, aborts on or gets wrong; found by kc's fuzzer
_NOT_INTERPRETED = re.compile(
    r"stablehlo\.(custom_call|cholesky|batch_norm_\w+|real_dynamic_slice|select_and_scatter|triangular_solve|fft|rng"
    r"|infeed|outfeed|send|recv|all_\w+|reduce_scatter|collective_\w+|partition_id|replica_id|convolution)\b"
    r"|TOTALORDER|!quant\.|\bx?f[468]E\d|tensor<[^>]*\?|complex<"
)


#: a run of more takes the interpreter more than 0.1 s
_MOST_WORK = 30_000


def engine(*texts: str) -> Engine:
    """How to run these modules, so that all of them go the same way."""
    return "interpreter" if all(interpretable(t) and _work(t) <= _MOST_WORK for t in texts) else "road"


def interpretable(text: str) -> bool:
    """Whether the interpreter runs a module and gets it right, however long it takes."""
    indexed = re.search(r"stablehlo\.(gather|scatter|dynamic_slice|dynamic_update_slice)", text)
    return not _NOT_INTERPRETED.search(text) and not (indexed and re.search(r"x?ui\d+", text))


def _work(text: str) -> int:
    """Elements and multiplications of one run, roughly: what the interpreter takes 1 to 4 µs each for."""
    from kc.bindings import ir
    from kc.context import make_context, parse_module
    from kc.errors import InputError
    from kc.rewrite import walk_ops

    def size(value: ir.Value) -> int:
        kind = value.type
        return math.prod(kind.shape) if isinstance(kind, ir.RankedTensorType) and kind.has_static_shape else 1

    try:
        module = parse_module(text, make_context(), "module")
    except InputError:
        return 0  # whoever runs it says so
    total = 0
    for op in walk_ops(module):
        if not op.results:
            continue
        made = size(op.results[0])
        if op.name == "stablehlo.dot_general" and made:
            left, right = (size(value) for value in op.operands)
            if not left * right:
                return _MOST_WORK + 1  # a sum over nothing, on which the interpreter aborts
            # batch dimensions count twice below the root: less than there is, never more
            total += math.isqrt(left * right * made)
        elif op.name in ("stablehlo.reduce", "stablehlo.sort"):
            total += sum(map(size, op.operands))
        elif op.name == "stablehlo.reduce_window":
            window = ir.DenseI64ArrayAttr(op.attributes["window_dimensions"])
            total += made * math.prod(window)
        else:
            total += made
    return total


def run(text: str, calls: Sequence[Call], checks: Checks) -> Iterator[Outcome]:
    """See ``kc.agents.execution``. The interpreter cannot be ended in a call, nor survive an abort of its own."""
    from kc.agents.execution import resources
    from kc.context import make_context, parse_module

    module = parse_module(text, make_context(), "module")
    resources.spell_out(module)
    signature = Signature.of(module, checks.roles)
    if (checks.engine or engine(text)) == "interpreter":
        yield from _interpret(module, signature, calls)
    else:
        yield from _by_road(module, signature, calls, checks)


def _interpret(module: ir.Module, signature: Signature, calls: Sequence[Call]) -> Iterator[Outcome]:
    from kc.bindings import ir, stablehlo_api
    from kc.pass_manager import run_pipeline

    try:
        run_pipeline(module, _PREPARE)
    except KcError as error:
        raise ExecutionError("compile", f"the module cannot be prepared for the interpreter: {error}") from error
    for call in calls:
        started = time.process_time()
        with module.context, ir.Location.unknown():
            given = [
                ir.Attribute.parse(literals.write(array, kind))
                for array, kind in zip(call.arguments, signature.arguments, strict=True)
            ]
            try:
                made = stablehlo_api.eval_module(module, given)
            except (RuntimeError, ValueError, TypeError) as error:
                raise ExecutionError("unsupported", f"the interpreter cannot run the module: {error}") from None
            results = tuple(_array(value, kind) for value, kind in zip(made, signature.results, strict=True))
        yield Outcome(results=results, seconds=time.process_time() - started)


def _array(value: Any, kind: Kind) -> np.ndarray:
    try:
        return np.array(value).astype(kind.dtype)
    except (TypeError, ValueError, RuntimeError):  # element types without a buffer interface
        return literals.read(str(value))


def _by_road(module: ir.Module, signature: Signature, calls: Sequence[Call], checks: Checks) -> Iterator[Outcome]:
    from kc.agents.execution.native import Program
    from kc.pipelines import linalg, stablehlo
    from kc.pipelines.run import run_phases

    try:
        run_phases(module, [*stablehlo.PHASES, linalg.CLEAN_UP])
    except KcError as error:
        raise ExecutionError("compile", f"the module cannot be brought to linalg: {error}") from error
    program = Program(module, "linalg", checks, signature)
    for call in calls:
        yield program.call(call)
