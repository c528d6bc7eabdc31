"""``kc-convert-stablehlo-transfers``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.conversion._attrs import boolean
from kc.passes.conversion._collective_call import (
    call_runtime,
    channel_of,
    dtype_of,
    groups_of,
    groups_text,
)
from kc.passes.conversion._emit import Emitter, element, ranked
from kc.passes.conversion._scalar import unsigned_flags
from kc.rewrite import walk_ops

_TOKENS = frozenset(("stablehlo.after_all", "stablehlo.create_token"))


@dataclasses.dataclass(frozen=True)
class ConvertStablehloTransfers(Pass):
    """``send``, ``recv``, ``infeed``, ``outfeed`` to host calls of libkc_runtime, one per array; tokens go.

    Host calls keep the order in which they stand, which tokens only repeat: ``kc-flatten-tuples`` has put them in line.
    Before / after::

        %r:2 = "stablehlo.recv"(%token) {channel_handle = <handle = 1, type = 3>} -> (tensor<4xf32>, !stablehlo.token)

        %r = call @kc_recv_0(%empty) : (tensor<4xf32>) -> tensor<4xf32>
    """

    name: ClassVar[str] = "kc-convert-stablehlo-transfers"
    level: ClassVar[tuple[str, str]] = ("stablehlo", "linalg")
    dialects: ClassVar[tuple[str, ...]] = ("func", "tensor")
    converts: ClassVar[frozenset[str]] = frozenset(
        f"stablehlo.{name}" for name in ("after_all", "create_token", "infeed", "outfeed", "recv", "send")
    )

    def acts_on(self) -> frozenset[str]:
        return self.converts

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        found = walk_ops(op, self.converts)
        tokens = [o for o in found if o.name in _TOKENS]
        for transfer in found:
            if transfer.name not in _TOKENS:
                _convert(transfer, ctx)
        for token in reversed(tokens):
            if any(True for _ in token.results[0].uses):
                ctx.error(
                    token,
                    "this token is handed on to an op that cannot be converted",
                    ["nearest thing that works: kc-flatten-tuples before this pass"],
                )
            token.erase()


def _convert(op: ir.Operation, ctx: PassContext) -> None:
    kind = op.name.partition(".")[2]
    token = op.results[len(op.results) - 1]
    if any(True for _ in token.uses):
        ctx.error(
            op,
            f"the token of '{op.name}' is used",
            ["nearest thing that works: kc-flatten-tuples before this pass"],
        )
    e = Emitter.before(op)
    flags = unsigned_flags(op, len(op.operands) + len(op.results))
    fields: dict[str, object] = {}
    if kind in ("send", "recv"):
        fields = {
            "channel": channel_of(op),
            "host": int(boolean(op, "is_host_transfer")),
            "groups": groups_text(groups_of(op, "source_target_pairs", ctx)),
        }
    outgoing = kind in ("send", "outfeed")
    values = list(op.operands)[:-1] if outgoing else list(op.results)[:-1]
    first = 0 if outgoing else len(op.operands)
    made = []
    for number, value in enumerate(values):
        part = {
            **fields,
            "type": dtype_of(element(value), flags[first + number]),
            "part": number,
            "parts": len(values),
        }
        if outgoing:
            call_runtime(e, op, f"kc_{kind}", part, [value], [], [])
        else:
            made += call_runtime(e, op, f"kc_{kind}", part, [], [value.type], [list(ranked(value).shape)])
    for value, new in zip(op.results, made, strict=False):  # the token, last, has no uses
        value.replace_all_uses_with(new)
    op.erase()
