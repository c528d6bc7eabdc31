"""``kc-expand-switches``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import arith, ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import replace_op, walk_ops


@dataclasses.dataclass(frozen=True)
class ExpandSwitches(Pass):
    """``scf.index_switch`` that yields tensors becomes a chain of ``scf.if``.

    ``one-shot-bufferize`` does not see that a result of ``scf.index_switch`` may be one of the yielded buffers: it lets
    a later op write to that buffer in place, and what the switch chose changes under its reader. ``scf.if`` it gets
    right. Before / after::

        %r = scf.index_switch %i -> tensor<4xi32>
        case 0 { scf.yield %a : tensor<4xi32> }
        default { scf.yield %b : tensor<4xi32> }

        %p = arith.cmpi eq, %i, %c0 : index
        %r = scf.if %p -> (tensor<4xi32>) {
          scf.yield %a : tensor<4xi32>
        } else {
          scf.yield %b : tensor<4xi32>
        }
    """

    name: ClassVar[str] = "kc-expand-switches"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "scf")

    def acts_on(self) -> frozenset[str]:
        """See ``Pass.acts_on``."""
        return frozenset({"scf.index_switch"})

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        # innermost first: a block that moves takes expanded ops along
        for switch in reversed(walk_ops(op, ["scf.index_switch"])):
            if any(isinstance(r.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for r in switch.results):
                _expand(switch)


def _expand(switch: ir.Operation) -> None:
    types = [r.type for r in switch.results]
    selector = switch.operands[0]
    default, *regions = switch.regions
    cases = list(ir.DenseI64ArrayAttr(switch.attributes["cases"]))
    outermost: ir.Operation | None = None
    point = ir.InsertionPoint(switch)
    for case, region in zip(cases, regions, strict=True):
        with point, switch.location:
            index = arith.constant(ir.IndexType.get(), case)
            is_case = arith.cmpi(arith.CmpIPredicate.eq, selector, index)
            branch = ir.Operation.create("scf.if", results=types, operands=[is_case], regions=2)
            region.blocks[0].append_to(branch.regions[0])
            if outermost is None:
                outermost = branch
            else:
                ir.Operation.create("scf.yield", operands=list(branch.results))
        if case != cases[-1]:
            point = ir.InsertionPoint(branch.regions[1].blocks.append())
        else:
            default.blocks[0].append_to(branch.regions[1])
    if outermost is not None:
        replace_op(switch, list(outermost.results))
        return
    # no case but the default: its ops stand for the switch
    *body, end = list(default.blocks[0].operations)
    for view in body:
        view.operation.move_before(switch)
    replace_op(switch, list(end.operation.operands))
