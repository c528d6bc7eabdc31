"""Transform ops of kc's own, for scripts of the transform dialect: ``kc_transform``.

``kc_transform.schedule`` chooses one of kc's schedules for a kernel, with knobs; upstream's ops do everything else::

    transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
      %kernel = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
      "kc_transform.schedule"(%kernel) {schedule = "rows", knobs = {unroll = 4 : i64}} : (!transform.any_op) -> ()
      transform.yield
    }
"""

from typing import Any

from kc.bindings import ext, ir, transform

#: on a function: the choice, ``{schedule, knobs}``
CHOICE = "kc.schedule"


class KcTransform(ext.Dialect, name="kc_transform"):  # type: ignore[call-arg, misc]
    """See the module."""

    @classmethod
    def load(cls) -> None:
        """Load into the current context, with what the interpreter asks of the ops."""
        super().load()
        _Apply.attach(ScheduleOp.OPERATION_NAME)
        _Effects.attach(ScheduleOp.OPERATION_NAME)


class ScheduleOp(KcTransform.Operation, name="schedule"):  # type: ignore[name-defined, call-arg, misc]
    """Gives each function of the handle the attribute ``kc.schedule``: the schedule of that name with these knobs."""

    target: ext.Operand[transform.AnyOpType]
    schedule: ir.StringAttr
    knobs: ir.DictAttr


class _Apply(transform.TransformOpInterface):
    @staticmethod
    def apply(op: Any, rewriter: Any, results: Any, state: Any) -> Any:
        for payload in state.get_payload_ops(op.target):
            payload.attributes[CHOICE] = ir.DictAttr.get({"schedule": op.schedule, "knobs": op.knobs}, payload.context)
        return transform.DiagnosedSilenceableFailure.Success

    @staticmethod
    def allow_repeated_handle_operands(op: Any) -> bool:
        return False


class _Effects(ir.MemoryEffectsOpInterface):
    @staticmethod
    def get_effects(op: Any, effects: Any) -> None:
        transform.only_reads_handle(op.op_operands, effects)
        transform.modifies_payload(effects)
