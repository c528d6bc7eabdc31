"""Parameters (big constants that stand beside a module) as plain data that crosses processes."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

    from kc.bindings import ir

#: number -> (runtime's name of the element type, shape, bytes)
Params = dict[int, tuple[str, tuple[int, ...], bytes]]


def of(context: ir.Context) -> Params:
    """The parameters of a context."""
    from kc.params import ParamTable

    table = ParamTable.of(context)
    return {number: (table[number].dtype, tuple(table[number].shape), table[number].tobytes()) for number in table}


def restore(context: ir.Context, params: Params) -> None:
    """Give a new context the parameters of another one; numbers count up from 0, so they stay the same."""
    import numpy

    from kc.params import ParamTable

    table = ParamTable.of(context)
    for number in sorted(params):
        dtype, shape, data = params[number]
        table.add(numpy.frombuffer(data, numpy.uint8), dtype, shape)


def arrays(params: Params) -> dict[int, numpy.ndarray[Any, Any]]:
    """The parameters as arrays of their own type."""
    import numpy

    from kc.runtime import dtypes

    found = {}
    for number, (dtype, shape, data) in params.items():
        found[number] = numpy.frombuffer(data, dtypes.by_name(dtype).numpy).reshape(shape)
    return found
