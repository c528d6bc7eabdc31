"""kc's own dialects, which are made in Python, are there when a source or a pass needs them.

No ``from __future__ import annotations`` here: MLIR's dialect classes read the annotations of their fields as types.
"""
import dataclasses
import io
import sys
import types
from typing import Any, ClassVar

import pytest

from kc import dialects
from kc.bindings import ir
from kc.context import load_dialect, make_context, parse_module
from kc.errors import InputError
from kc.levels import LEVELS, check_level
from kc.pass_base import Pass, PassContext
from kc.pass_manager import PassManager
from kc.registry import register
from kc.rewrite import replace_op, walk_ops

SOURCE = 'func.func @f(%a: i32) -> i32 {\n  %0 = "kc_test.twice"(%a) : (i32) -> i32\n  return %0 : i32\n}'


@pytest.fixture
def kc_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dialect ``kc_test`` with one op, registered as kc's own are: by a line in the table."""
    from kc.bindings import ext

    class KcTest(ext.Dialect, name="kc_test"):
        pass

    class TwiceOp(KcTest.Operation, name="twice", traits=[ext.Pure]):  # type: ignore[name-defined]
        """Two times an integer."""

        value: ext.Operand[Any]
        result: ext.Result[Any]

        def verify_invariants(self) -> bool:
            if self.value.type == self.result.type:
                return True
            self.location.emit_error("'kc_test.twice' op changes the type")
            return False

    module = types.ModuleType("kc_test_dialect")
    module.KcTest = KcTest  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kc_test_dialect", module)
    monkeypatch.setitem(dialects.DIALECTS, "kc_test", "kc_test_dialect:KcTest")


@pytest.mark.usefixtures("kc_test")
def test_loaded_when_the_source_mentions_it() -> None:
    module = parse_module(SOURCE, make_context())
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    again = parse_module(buffer.getvalue(), make_context())
    assert str(again) == str(module)
    wrong = SOURCE.replace("(i32) -> i32\n  return %0", "(i32) -> i64\n  return %a")
    with pytest.raises(InputError, match="op changes the type"):
        parse_module(wrong, make_context())


@pytest.mark.usefixtures("kc_test")
def test_loaded_when_asked_for_and_only_once() -> None:
    context = make_context(dialects=("kc_test", "chlo"))
    assert context.is_dialect_loaded("kc_test") and context.is_dialect_loaded("chlo")
    load_dialect(context, "kc_test")


@pytest.mark.usefixtures("kc_test")
def test_loaded_for_the_passes_that_make_its_ops() -> None:
    @register
    @dataclasses.dataclass(frozen=True)
    class Double(Pass):
        """``arith.addi %a, %a`` to ``kc_test.twice``."""

        name: ClassVar[str] = "test-double"
        dialects: ClassVar[tuple[str, ...]] = ("kc_test",)

        def run(self, op: ir.Operation, ctx: PassContext) -> None:
            for add in walk_ops(op, "arith.addi"):
                kind, place = add.results[0].type, ir.InsertionPoint(add)
                operands = [add.operands[0]]
                replace_op(add, ir.Operation.create("kc_test.twice", [kind], operands, loc=add.location, ip=place))

    source = SOURCE.replace('"kc_test.twice"(%a) : (i32) -> i32', "arith.addi %a, %a : i32")
    module = parse_module(source, make_context())
    PassManager.parse("builtin.module(test-double,canonicalize)", module.context).run(module)
    assert '"kc_test.twice"(%arg0)' in str(module)
    found = [message for _, message in check_level(module.operation, LEVELS["linalg"])]
    assert found == ["'kc_test.twice' is illegal at level 'linalg'"]


def test_unregistered_ops_only_when_allowed() -> None:
    source = SOURCE.replace("kc_test", "mystery")
    assert "mystery.twice" in str(parse_module(source, make_context(allow_unregistered=True)))
    with pytest.raises(InputError, match="unregistered"):
        parse_module(source, make_context())
