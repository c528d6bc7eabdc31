"""``agents``: ask agents about the regions of a module, in the middle of any pipeline."""

from __future__ import annotations

import dataclasses
import importlib
from typing import TYPE_CHECKING, ClassVar

from kc.errors import KcError
from kc.pass_base import Pass

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.pass_base import PassContext

#: ``run(module, options) -> (what was settled, what went wrong, number of replacements)``; by name, since agents stand
#: above passes
_RUN = "kc.agents.session.in_pipeline:run"


@dataclasses.dataclass(frozen=True)
class AskAgents(Pass):
    """Show each region of a module to agents, and put what they propose and the gates accept in its place.

    ``at``: the level that the module stands at. ``use``: the agents, as ``--agent`` of ``kc compile`` names them; when
    none is named, those that ``kc-opt --agent`` gave for the level. ``names``: glob patterns of the functions to ask
    about. ``kinds``: the kinds of kernels. ``target``: what the regions are compiled and judged for. ``ledger``,
    ``mode``: the file that keeps the answers, and ``ask``, ``replay`` or ``frozen``. What was settled and what went
    wrong become remarks. With ``use="double.py:Double"``, an agent that writes ``2 * x`` as ``x + x``::

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %two = stablehlo.constant dense<2.0> : tensor<4xf32>
          %0 = stablehlo.multiply %x, %two : tensor<4xf32>
          return %0 : tensor<4xf32>

    becomes::

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.add %x, %x : tensor<4xf32>
          return %0 : tensor<4xf32>
    """

    name: ClassVar[str] = "agents"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ()

    at: str = "linalg"
    use: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    target: str = "cpu"
    ledger: str | None = None
    mode: str | None = None

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        module, _, attribute = _RUN.partition(":")
        ask = getattr(importlib.import_module(module), attribute)
        try:
            settled, wrong, replaced = ask(op, self)
        except KcError as error:
            ctx.error(op, str(error))
        for text in (*settled, *wrong):
            ctx.remark(op, text)
        ctx.count("regions-replaced", replaced)
