"""The pass manager as a library: mixed nesting, failures, instrumentation, cost."""
from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import ClassVar

import pytest

from kc import registry
from kc.bindings import ir, passmanager
from kc.context import make_context, parse_module
from kc.diagnostics import Diagnostic, DiagnosticSink
from kc.errors import CompileError, InputError, PassFailure, PipelineError, UnsupportedError
from kc.instrumentation import Instrumentation, PassEvent
from kc.pass_base import Pass, PassContext
from kc.pass_manager import PassManager, run_pipeline

SOURCE = """
func.func @a(%x: i32) -> i32 {
  %c = arith.constant 0 : i32
  %y = arith.addi %x, %c : i32
  return %y : i32
}
gpu.module @device {
  gpu.func @k(%x: i32) {
    gpu.return
  }
  gpu.func @l() {
    gpu.return
  }
}
func.func @b() {
  return
}
"""

LOG: list[str] = []


@dataclasses.dataclass(frozen=True)
class Log(Pass):
    """Write the symbol of the op and a word to LOG."""

    name: ClassVar[str] = "test-log"
    anchor: ClassVar[str] = "any"
    dialects: ClassVar[tuple[str, ...]] = ()
    word: str = ""

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        symbol = str(op.attributes["sym_name"]).strip('"') if "sym_name" in op.attributes else op.name
        LOG.append(f"{self.word}{symbol}:{sum(1 for _ in ops_in(op))}")


def ops_in(op: ir.Operation) -> list[str]:
    names: list[str] = []
    op.walk(lambda inner: (names.append(inner.operation.name), ir.WalkResult.ADVANCE)[1])
    return names


@dataclasses.dataclass(frozen=True)
class Fail(Pass):
    """Fail on the function named ``on`` in the way ``how``."""

    name: ClassVar[str] = "test-fail"
    anchor: ClassVar[str] = "func.func"
    how: str = "error"
    on: str = "b"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        if str(op.attributes["sym_name"]) != f'"{self.on}"':
            return
        if self.how == "error":
            ctx.error(op, "cannot", ["because"])
        elif self.how == "unsupported":
            raise UnsupportedError("'x.y' is not supported; use 'x.z'")
        elif self.how == "nested":
            ctx.run_pipeline(op, "func.func(test-fail{on=b})")
        elif self.how == "interrupt":
            raise KeyboardInterrupt
        raise ValueError("a mistake")


registry.register(Log)
registry.register(Fail)


@pytest.fixture
def module() -> ir.Module:
    LOG.clear()
    return parse_module(SOURCE, make_context())


def test_order_of_mixed_nesting_is_that_of_mlir(module: ir.Module) -> None:
    """Per op, all passes of a group run before the next op is begun; native passes take part in the order."""
    text = (
        "builtin.module(test-log,func.func(test-log{word=1},canonicalize,test-log{word=2}),"
        "gpu.module(test-log,gpu.func(test-log{word=3},cse)),test-log)"
    )
    run_pipeline(module, text)
    assert LOG == [
        "builtin.module:12", "1a:4", "2a:2", "1b:2", "2b:2", "device:5", "3k:2", "3l:2", "builtin.module:10",
    ]  # fmt: skip


def test_any_group(module: ir.Module) -> None:
    run_pipeline(module, "any(any(test-log))")
    assert LOG == ["a:4", "device:5", "b:2"]


def test_runs_on_a_nested_op_too(module: ir.Module) -> None:
    function = module.body.operations[0].operation
    PassManager.parse("func.func(canonicalize,test-log)", module.context).run(function)
    assert LOG == ["a:2"]
    with pytest.raises(PipelineError, match=r"runs on 'func\.func', but it was given a 'builtin.module'"):
        run_pipeline(module, "func.func(cse)")


def test_wrong_ops_are_refused(module: ir.Module) -> None:
    elsewhere = parse_module(SOURCE, make_context())
    with pytest.raises(InputError, match="another context"):
        PassManager.parse("builtin.module(cse)", module.context).run(elsewhere)
    with pytest.raises(PipelineError, match=r"'test-fail' runs on 'func\.func', not on 'any'"):
        PassManager.parse("builtin.module(any(test-fail))", module.context)


def test_flags_nest_under_the_op_of_the_pass(module: ir.Module) -> None:
    manager = PassManager.parse_flags(
        ["cse", "chlo-legalize-to-stablehlo", "test-fail{on=nobody}", "test-log"], module.context
    )
    assert str(manager) == (
        "builtin.module(cse,func.func(chlo-legalize-to-stablehlo),func.func(test-fail{on=nobody}),test-log)"
    )
    manager.run(module)


def test_ctx_error(module: ir.Module) -> None:
    sink = DiagnosticSink()
    with pytest.raises(PassFailure) as caught:
        run_pipeline(module, "builtin.module(func.func(test-fail,test-log))", sink=sink)
    error = caught.value
    assert error.pass_name == "test-fail" and error.message == "pass 'test-fail' failed"
    assert [(d.severity, d.message) for d in error.diagnostics] == [("error", "cannot")]
    assert error.diagnostics[0].location is not None and error.diagnostics[0].location.line == 15
    assert error.diagnostics[0].notes[0].message == "because"
    assert sink.diagnostics == list(error.diagnostics)
    assert LOG == ["a:4"]  # what came after the failure did not run


def failure(module: ir.Module, pipeline: str) -> tuple[CompileError, list[Diagnostic]]:
    sink = DiagnosticSink()
    with pytest.raises(CompileError) as caught:
        run_pipeline(module, pipeline, sink=sink)
    return caught.value, sink.diagnostics


def test_every_way_to_fail_is_told_once(module: ir.Module) -> None:
    error, told = failure(module, "builtin.module(func.func(test-fail{how=bug}))")
    assert error.is_bug and isinstance(error.__cause__, ValueError)
    assert [d.message for d in told] == ["pass 'test-fail' raised ValueError: a mistake (a bug in the pass)"]

    error, told = failure(module, "builtin.module(func.func(test-fail{how=unsupported}))")
    assert isinstance(error, UnsupportedError) and error.pass_name == "test-fail" and not error.is_bug
    assert [d.message for d in told] == ["'x.y' is not supported; use 'x.z'"]

    error, told = failure(module, "builtin.module(func.func(test-fail{how=nested}))")
    assert [d.message for d in told] == ["cannot"] and not error.is_bug


def test_native_failure_names_the_pass() -> None:
    context = make_context()
    source = "func.func @f(%a: tensor<4xf32>) { %0 = stablehlo.abs %a : tensor<4xf32> return }"
    module = parse_module(source, context)
    sink = DiagnosticSink()
    name = "torch-verify-linalg-on-tensors-backend-contract"
    with pytest.raises(CompileError, match=f"pass '{name}' failed") as caught:
        PassManager.parse(f"builtin.module({name})", context).run(module, sink=sink)
    assert caught.value.pass_name == name
    assert "stablehlo.abs" in sink.diagnostics[0].message


def test_interrupts_pass_through(module: ir.Module) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_pipeline(module, "builtin.module(func.func(test-fail{how=interrupt}))")


def test_warnings_of_native_passes_reach_the_sink() -> None:
    """Location.emit_error is all that the bindings can emit; a native remark comes through the handler."""
    module = parse_module("func.func @f() { return }", make_context())
    sink = DiagnosticSink()
    run_pipeline(module, "builtin.module(nosuch.op(cse))", sink=sink)
    assert [d.severity for d in sink.diagnostics] == ["warning"]


def test_invalid_ir_is_found_unless_switched_off(module: ir.Module) -> None:
    @dataclasses.dataclass(frozen=True)
    class Break(Pass):
        name: ClassVar[str] = "test-break"
        anchor: ClassVar[str] = "func.func"

        def run(self, op: ir.Operation, ctx: PassContext) -> None:
            op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], [], context=ctx.context))

    registry.register(Break)
    manager = PassManager.parse("builtin.module(func.func(test-break))", module.context)
    with pytest.raises(CompileError, match="pass 'test-break' left IR that does not verify"):
        manager.run(module, sink=DiagnosticSink())
    manager.run(module, sink=DiagnosticSink(), verify="never")


class Recorder(Instrumentation):
    def __init__(self) -> None:
        self.events: list[str] = []

    def before_pass(self, event: PassEvent) -> None:
        self.events.append(f"before {event.pipeline()}")

    def after_pass(self, event: PassEvent) -> None:
        self.events.append(f"after {event.leaf.name}")

    def after_failure(self, event: PassEvent, error: BaseException) -> None:
        self.events.append(f"failed {event.leaf.name}: {type(error).__name__}")


def test_instrumentation_sees_every_pass(module: ir.Module) -> None:
    recorder = Recorder()
    manager = PassManager.parse("builtin.module(cse,gpu.module(gpu.func(cse)),func.func(test-fail))", module.context)
    with pytest.raises(PassFailure):
        manager.run(module, sink=DiagnosticSink(), instrumentations=[recorder])
    assert recorder.events == [
        "before builtin.module(cse)", "after cse",
        "before builtin.module(gpu.module(gpu.func(cse)))", "after cse",
        "before builtin.module(gpu.module(gpu.func(cse)))", "after cse",
        "before builtin.module(func.func(test-fail))", "after test-fail",
        "before builtin.module(func.func(test-fail))", "failed test-fail: PassFailure",
    ]  # fmt: skip


def test_instrumented_result_is_the_same() -> None:
    text = "builtin.module(canonicalize,func.func(cse,canonicalize),symbol-dce)"
    plain, watched = (parse_module(SOURCE, make_context()) for _ in range(2))
    run_pipeline(plain, text)
    PassManager.parse(text, watched.context).run(watched, instrumentations=[Instrumentation()])
    assert str(plain) == str(watched)


def best_time(work: Callable[[], object], runs: int = 30) -> float:
    times = []
    for _ in range(runs):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def test_overhead_over_a_native_manager_is_small() -> None:
    """Parse and run of a small native pipeline: at most 1 ms and twice the native time, in CPU time."""
    module = parse_module(SOURCE, make_context())
    text = "builtin.module(canonicalize,func.func(cse,canonicalize{max-iterations=3}),cse)"
    run_pipeline(module, text)
    native = best_time(lambda: passmanager.PassManager.parse(text, module.context).run(module.operation))
    ours = best_time(lambda: run_pipeline(module, text))
    assert ours < 2 * native + 1e-3, f"kc {ours * 1e3:.2f} ms, native {native * 1e3:.2f} ms"
