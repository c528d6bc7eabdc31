"""``run``: the executor of each level."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from kc.agents.execution.calls import Call, Checks, Outcome
from kc.agents.execution.errors import ExecutionError


def run(
    module_text: str, level: str, calls: Sequence[Call], *, target: str = "cpu", checks: Checks | None = None
) -> Iterator[Outcome]:
    """Compile ``module_text``, which stands at ``level``, and make each call; one outcome per call, in order.

    At level asm the text is that of a ``machine_code.Code``. Raises ExecutionError when the module cannot be run at
    all, InputError when it does not parse.
    """
    checks = checks or Checks()
    if level == "stablehlo":
        from kc.agents.execution import graph

        return graph.run(module_text, calls, checks)
    if level in ("linalg", "loops", "llvm"):
        from kc.agents.execution import native

        return native.run(module_text, level, calls, checks)
    if level == "asm":
        from kc.agents.execution import machine_code

        return machine_code.run(module_text, calls, checks)
    if level == "gpu":
        from kc.agents.execution.grid.run import run as emulate
        from kc.context import make_context, parse_module

        return emulate(parse_module(module_text, make_context(), "module"), calls, checks)
    raise ExecutionError("unsupported", f"no executor for level '{level}' and target '{target}'; there are stablehlo, "
                         "linalg, loops, gpu, llvm and asm")
