"""The families of operations, and the strategy of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from .builder import Builder, Choices
from .ops import (
    contraction,
    control,
    convert,
    dynamic,
    elementwise,
    indexing,
    movement,
    norm,
    quantized,
    reduction,
    solvers,
    sorting,
)
from .program import Program

Generator = Callable[[Builder], None]

#: name -> generators; a generator's weight is how often it stands here
FAMILIES: dict[str, tuple[Generator, ...]] = {
    "elementwise": (elementwise.binary, elementwise.unary, elementwise.binary, elementwise.complex_parts),
    "function": (elementwise.function, elementwise.function, elementwise.absolute_complex),
    "select": (elementwise.compare, elementwise.select, elementwise.clamp),
    "movement": (
        movement.broadcast,
        movement.reshape,
        movement.transpose,
        movement.slice_,
        movement.pad,
        movement.concatenate,
        movement.reverse,
        movement.iota,
        movement.barrier,
    ),
    "dynamic_slice": (movement.dynamic_slice, movement.dynamic_update_slice),
    "convert": (convert.convert, convert.convert, convert.reduce_precision),
    "bitcast": (convert.bitcast,),
    "reduction": (reduction.reduce, reduction.reduce, reduction.arg_reduce),
    "window": (reduction.reduce_window, reduction.cumulative, reduction.select_and_scatter),
    "gather": (indexing.gather,),
    "scatter": (indexing.scatter,),
    "sort": (sorting.sort, sorting.top_k),
    "contraction": (contraction.dot_general, contraction.dot_general, contraction.convolution),
    "control": (control.if_, control.while_, control.call, control.case),
    "solver": (solvers.fft, solvers.triangular_solve, solvers.cholesky),
    "norm": (norm.inference, norm.training, norm.gradient),
    "quantized": (quantized.chain, quantized.chain, quantized.dot),
    "dynamic": (
        dynamic.broadcast,
        dynamic.reshape,
        dynamic.iota,
        dynamic.pad,
        dynamic.slice_,
        dynamic.gather,
        dynamic.dimension_size,
    ),
}

#: families whose results the specification does not fix bit for bit
INEXACT = ("function", "solver", "norm")
#: families that have no meaning in f64
NARROW = ("bitcast", "quantized")
#: families that take unknown dimensions
SHAPELESS = ("elementwise", "function", "select", "movement", "convert", "reduction", "contraction", "sort", "dynamic")

#: families whose operations the interpreter runs in good time on large arrays
LARGE = ("elementwise", "select", "movement", "reduction")

MAX_OPS = 12


@st.composite
def programs(draw: Callable[[st.SearchStrategy[Any]], Any], families: Sequence[str] = tuple(FAMILIES)) -> Program:
    """Random programs of 1 to 12 operations of the families."""
    return build(Choices(draw), families)


def build(choices: Choices, families: Sequence[str]) -> Program:
    """The program that these choices make."""
    builder = Builder(choices)
    dynamic = "dynamic" in families and choices.chance(20)
    open_to = [f for f in families if f not in (INEXACT if builder.exact else NARROW)]
    open_to = [f for f in open_to if f in SHAPELESS] if dynamic else [f for f in open_to if f != "dynamic"]
    open_to = open_to or list(families)
    if not set(open_to) - set(INEXACT):
        builder.exact = False
    builder.dynamic = dynamic
    if choices.chance(3) and set(LARGE) & set(open_to):
        builder.large = True
        open_to = [f for f in open_to if f in LARGE]
    # a program dwells on few families, so that their operations meet
    focus = [choices.one_of(open_to) for _ in range(3)]
    for _ in range(choices.integer(1, 4 if builder.large else MAX_OPS)):
        family = choices.one_of(focus) if choices.chance(70) else choices.one_of(open_to)
        builder.families.append(family)
        choices.one_of(FAMILIES[family])(builder)
        if len(builder.ops) > 3 * MAX_OPS:
            break
    if not any(op.constant is None for op in builder.ops):
        elementwise.unary(builder)
    return builder.program()
