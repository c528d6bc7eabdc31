"""Checked rewriting: what would crash the process is an exception; patterns, conversions and the decorator work."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kc
from kc.bindings import arith, ir
from kc.context import load_all_dialects, make_context, parse_module
from kc.pass_manager import run_pipeline
from kc.rewrite import (
    ConversionTarget,
    RewriteError,
    RewritePattern,
    Rewriter,
    TypeConverter,
    apply_full_conversion,
    apply_partial_conversion,
    apply_patterns_greedily,
    erase_op,
    replace_op,
    walk_and_apply,
    walk_ops,
)

SOURCE = """
func.func @f(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  %d = arith.addi %c, %b : i32
  return %d : i32
}
"""


@pytest.fixture
def module() -> Any:
    context = make_context()
    load_all_dialects(context)
    with context:
        yield parse_module(SOURCE, context)


def names(module: ir.Module) -> list[str]:
    return [op.name for op in walk_ops(module) if op.name.startswith("arith.")]


def to_sub(op: Any, rewriter: Rewriter) -> None:
    with rewriter.ip:
        new = arith.subi(op.lhs, op.rhs)
    rewriter.replace_op(op, new)


def test_walk_ops_is_a_snapshot_outermost_first(module: ir.Module) -> None:
    assert [op.name for op in walk_ops(module)] == ["func.func", "arith.addi", "arith.addi", "func.return"]
    assert [op.name for op in walk_ops(module, "func.return")] == ["func.return"]
    assert len(walk_ops(module, ("func.func", "arith.addi"))) == 3


def test_replace_by_hand(module: ir.Module) -> None:
    for op in walk_ops(module, "arith.addi"):
        with ir.InsertionPoint(op):
            new = arith.muli(op.operands[0], op.operands[1], loc=op.location)
        replace_op(op, new)
    assert names(module) == ["arith.muli", "arith.muli"]
    assert module.operation.verify()


def test_by_hand_checks(module: ir.Module) -> None:
    first, second = walk_ops(module, "arith.addi")
    with pytest.raises(RewriteError, match="has 1 results, but 0 values"):
        replace_op(first, [])
    with ir.InsertionPoint(first), first.location:
        wrong = arith.constant(ir.F32Type.get(), 1.0)
    with pytest.raises(RewriteError, match="is to be replaced by i32, the replacement has f32"):
        replace_op(first, wrong)
    with pytest.raises(RewriteError, match="its own result"):
        replace_op(first, first)
    with pytest.raises(RewriteError, match=r"result 0 is still used by 'arith\.addi'"):
        erase_op(first)
    replace_op(second, second.operands[0])
    erase_op(wrong.owner)
    assert names(module) == ["arith.addi"]


def test_greedy_patterns(module: ir.Module) -> None:
    assert apply_patterns_greedily(module, [RewritePattern.of("arith.addi", to_sub)]) == 2
    assert names(module) == ["arith.subi", "arith.subi"]
    assert all(str(op.location) != "loc(unknown)" for op in walk_ops(module, "arith.subi"))


def test_walk_driver_and_class_pattern(module: ir.Module) -> None:
    class Second(RewritePattern):
        root = "arith.addi"

        def match_and_rewrite(self, op: Any, rewriter: Rewriter) -> bool | None:
            if isinstance(op.lhs, ir.BlockArgument):
                return False
            return to_sub(op, rewriter)

    assert walk_and_apply(module, [Second()]) == 1
    assert names(module) == ["arith.addi", "arith.subi"]


def test_modify_in_place(module: ir.Module) -> None:
    def mark(op: Any, rewriter: Rewriter) -> bool | None:
        if "seen" in op.attributes:
            return False
        op.attributes["seen"] = ir.UnitAttr.get()
        rewriter.modified(op)
        return None

    assert apply_patterns_greedily(module, [RewritePattern.of("arith.addi", mark)]) == 2


def use_after_erase(op: Any, rewriter: Rewriter) -> None:
    to_sub(op, rewriter)
    rewriter.erase_op(op)


def change_then_refuse(op: Any, rewriter: Rewriter) -> bool:
    to_sub(op, rewriter)
    return False


def again(op: Any, rewriter: Rewriter) -> None:
    with rewriter.ip:
        new = arith.addi(op.lhs, op.rhs)
    rewriter.replace_op(op, new)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda op, rewriter: rewriter.replace_op(op, []), "has 1 results, but 0 values"),
        (lambda op, rewriter: rewriter.replace_op(op, op), "its own result"),
        (lambda op, rewriter: rewriter.erase_op(op), "still used by"),
        (use_after_erase, "already replaced or erased"),
        (change_then_refuse, "changed the IR and then said no match"),
        (again, r"patterns still match after 10 rounds \(again\)"),
    ],
)
def test_mistakes_in_patterns_are_errors(module: ir.Module, function: Callable[..., Any], message: str) -> None:
    with pytest.raises(RewriteError, match=message):
        apply_patterns_greedily(module, [RewritePattern.of("arith.addi", function)])


def test_exceptions_keep_their_type(module: ir.Module) -> None:
    def boom(op: Any, rewriter: Rewriter) -> None:
        raise KeyError("boom")

    with pytest.raises(KeyError, match="boom"):
        apply_patterns_greedily(module, [RewritePattern.of("arith.addi", boom)])


def test_partial_conversion_with_types(module: ir.Module) -> None:
    wide = ir.IntegerType.get_signless(64)
    # the converter's functions are temporaries: MLIR would call freed memory if nobody kept them
    converter = TypeConverter(lambda kind: wide if kind == ir.IntegerType.get_signless(32) else None)

    def multiply(op: Any, adaptor: Any, rewriter: Any) -> None:
        with rewriter.ip:
            new = arith.muli(adaptor.lhs, adaptor.rhs)
        assert rewriter.convert_type(op.result.type) == wide == new.type
        rewriter.replace_op(op, new)

    def function(op: Any, adaptor: Any, rewriter: Any) -> None:
        """Widen the arguments; the result stays, so that a cast stands before the return."""
        inputs = [rewriter.convert_type(kind) for kind in op.type.inputs]
        rewriter.convert_region_types(op.regions[0])
        op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, op.type.results))

    target = ConversionTarget(module.context, illegal="func.func arith.addi", legal="arith.muli func.return")
    apply_partial_conversion(module, {"func.func": function, "arith.addi": multiply}, target, converter)
    assert module.operation.verify()
    assert names(module) == ["arith.muli", "arith.muli"]
    assert "(%arg0: i64, %arg1: i64) -> i32" in str(module)
    assert str(module).count("unrealized_conversion_cast") == 1


def test_conversion_failure_names_the_op(module: ir.Module) -> None:
    target = ConversionTarget(module.context, illegal="arith", legal="func builtin")
    with pytest.raises(ir.MLIRError, match=r"failed to legalize operation 'arith.addi'"):
        apply_full_conversion(module, {"arith.addi": lambda op, adaptor, rewriter: False}, target)


def test_decorator_makes_a_pass() -> None:
    @kc.rewrite("arith.addi", "arith.subi", level="linalg", name="test-to-mul")
    def to_mul(op: Any, rewriter: Rewriter) -> None:
        """Everything becomes a product."""
        with rewriter.ip:
            new = arith.muli(op.operands[0], op.operands[1])
        rewriter.replace_op(op, new)

    cls = to_mul.pass_class  # type: ignore[attr-defined]
    assert (cls.name, cls.level, cls.anchor) == ("test-to-mul", "linalg", "any")
    assert cls.__doc__ == "Everything becomes a product."
    module = parse_module(SOURCE.replace("%d = arith.addi", "%d = arith.subi"), make_context())
    run_pipeline(module, "builtin.module(func.func(test-to-mul))")
    assert names(module) == ["arith.muli", "arith.muli"]

    @kc.rewrite("arith.addi")
    def test_default_name(op: Any, rewriter: Rewriter) -> bool:
        return False

    assert test_default_name.pass_class.name == "test-default-name"  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="needs the names of ops"):
        kc.rewrite(to_mul)


def test_kc_rewrite_is_module_and_decorator() -> None:
    import kc.rewrite as module

    assert kc.rewrite is module and callable(module)
    assert module.walk_ops is walk_ops
