"""Diagnostics: rendering, locations, capture, and what happens to them when things go wrong."""
from __future__ import annotations

from pathlib import Path

import pytest

from kc.bindings import ir
from kc.context import load_dialect, make_context, parse_module, verify
from kc.diagnostics import Diagnostic, DiagnosticSink, Location, capture, from_mlir, location_of, render
from kc.errors import CompileError, InputError
from kc.record import Record

SOURCE = "func.func @f(%a: i32) -> i32 {\n\t%b = arith.addi %a, %q : i32\n  return %b : i32\n}\n"


def test_render_shows_line_caret_and_notes() -> None:
    note = Diagnostic("note", Location("x.mlir", 1, 1), "see here")
    shown = render(Diagnostic("error", Location("x.mlir", 2, 5), "bad", (note,)), {"x.mlir": "first\nabc\tdef\nthird"})
    assert shown == "x.mlir:2:5: error: bad\nabc\tdef\n   \t^\nx.mlir:1:1: note: see here\nfirst\n^"


def test_render_without_source_or_place() -> None:
    assert render(Diagnostic("warning", None, "hm")) == "<unknown>:0: warning: hm"
    assert render(Diagnostic("error", Location("/no/such", 3, 1), "x")) == "/no/such:3:1: error: x"
    assert render(Diagnostic("error", Location("a", 9, 1), "x"), {"a": "one line"}) == "a:9:1: error: x"
    assert render(Diagnostic("error", Location("a.mlirbc", 0, 0), "x")) == "a.mlirbc: error: x"


def test_render_cuts_a_very_long_line_around_the_caret() -> None:
    line = "a" * 5000 + "X" + "b" * 5000
    _, shown, caret = render(Diagnostic("error", Location("a", 1, 5001), "x"), {"a": line}).split("\n")
    assert len(shown) < 200 and shown[caret.index("^")] == "X"


def test_parse_error_has_file_place_and_line() -> None:
    with pytest.raises(InputError) as caught:
        parse_module(SOURCE, make_context(), "prog.mlir")
    assert str(caught.value) == (
        "prog.mlir is not a valid MLIR module\n"
        "prog.mlir:2:22: error: use of undeclared SSA value name\n"
        "\t%b = arith.addi %a, %q : i32\n\t                    ^"
    )


@pytest.mark.parametrize(
    "source", [b"ML\xefR\x00garbage", b"\x00\x01\x02", "module {", "%"], ids=["bytecode", "bytes", "open", "%"]
)
def test_bad_sources_are_input_errors(source: str | bytes) -> None:
    with pytest.raises(InputError, match="is not a valid MLIR module") as caught:
        parse_module(source, make_context())
    assert caught.value.diagnostics or ":" in caught.value.message


def test_truncated_bytecode(tmp_path: Path) -> None:
    import io

    buffer = io.BytesIO()
    parse_module("func.func @f() { return }", make_context()).operation.write_bytecode(buffer)
    data = buffer.getvalue()
    for size in range(4, len(data) - 1, 7):
        with pytest.raises(InputError):
            parse_module(data[:size], make_context())


def test_file_names_reach_locations(tmp_path: Path) -> None:
    path = tmp_path / "p.mlir"
    path.write_text("func.func @f() {\n  return\n}\n")
    module = parse_module(path.read_text(), make_context(), str(path))
    assert location_of(module.body.operations[0]) == Location(str(path), 1, 1)


def test_location_of_everything() -> None:
    context = make_context()
    with context:
        place = ir.Location.file("f.py", 3, 4)
        assert location_of(place) == Location("f.py", 3, 4)
        assert location_of(ir.Location.name("x", place)) == Location("f.py", 3, 4)
        assert location_of(ir.Location.fused([ir.Location.unknown(), place])) == Location("f.py", 3, 4)
        call = ir.Location.callsite(ir.Location.file("g.py", 7, 8), [place])
        assert location_of(call) == Location("g.py", 7, 8)
        assert location_of(ir.Location.unknown()) is None
        assert location_of(None) is None
    module = parse_module("func.func @f(%a: i32) -> i32 {\n  return %a : i32\n}", context)
    function = module.body.operations[0]
    assert location_of(function.operation) == Location("-", 1, 1)
    assert location_of(function.regions[0].blocks[0].arguments[0]) == Location("-", 1, 14)
    constant = parse_module("func.func @g() {\n  %c = arith.constant 1 : i32\n  return\n}", context)
    value = constant.body.operations[0].regions[0].blocks[0].operations[0].results[0]
    assert location_of(value) == Location("-", 2, 8)
    assert location_of(module) == Location("-", 0, 0)


def test_capture_nests_and_restores() -> None:
    context = make_context()
    outer, inner = DiagnosticSink(), DiagnosticSink(rename={"-": "named"})
    with capture(context, outer):
        with capture(context, inner):
            ir.Location.file("-", 1, 2, context=context).emit_error("inside")
        ir.Location.unknown(context).emit_error("outside")
    assert [str(d.location) for d in inner.diagnostics] == ["named:1:2"]
    assert [d.message for d in outer.diagnostics] == ["outside"]
    assert context.emit_error_diagnostics is False
    with pytest.raises(ir.MLIRError, match="invalid SSA name"):
        ir.Module.parse("%", context=context)


def test_what_a_pass_says_later_has_its_source_line() -> None:
    from kc.pass_manager import run_pipeline

    context = make_context()
    source = "func.func @f(%a: tensor<4xf32>) {\n  %0 = stablehlo.abs %a : tensor<4xf32>\n  return\n}"
    module = parse_module(source, context, "x")
    pipeline = "builtin.module(torch-verify-linalg-on-tensors-backend-contract)"
    with pytest.raises(CompileError, match=r"x:2:8: error: .*\n  %0 = stablehlo.abs %a : tensor<4xf32>\n       \^"):
        run_pipeline(module, pipeline)
    # with a second text of that name in the context, a place in "-" could be in either
    parse_module("func.func @g() { return }", context, "y")
    with pytest.raises(CompileError, match=r"-:2:8: error: ") as caught:
        run_pipeline(module, pipeline)
    assert "stablehlo.abs %a : tensor<4xf32>\n       ^" not in str(caught.value)


def test_verify_says_what_is_wrong() -> None:
    module = parse_module("func.func @f(%a: i32) { return }", make_context())
    function = module.body.operations[0]
    with module.context:
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))
    with pytest.raises(CompileError, match=r"the module does not verify\n.*entry block must have 0 arguments"):
        verify(module)


@pytest.mark.parametrize("name", ["chlo", "vhlo", "torch", "torch_c", "tm_tensor", "stablehlo", "arith", "nvvm", "omp"])
def test_every_dialect_can_be_loaded(name: str) -> None:
    context = make_context()
    assert not context.is_dialect_loaded(name)
    load_dialect(context, name)
    assert context.is_dialect_loaded(name)


def test_dialects_that_the_source_mentions_are_there() -> None:
    source = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    source += "  %0 = chlo.tan %a : tensor<4xf32> -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"
    assert "chlo.tan" in str(parse_module(source, make_context()))
    with pytest.raises(InputError, match="no dialect is named 'nosuch'"):
        load_dialect(make_context(), "nosuch")


class Point(Record):
    x: int
    y: int = 2


def test_records() -> None:
    assert Point(1) == Point(x=1, y=2) and hash(Point(1)) == hash(Point(1, 2)) and Point(1) != Point(2)
    assert repr(Point(1)) == "Point(x=1, y=2)" and Point(1).replace(y=5) == Point(1, 5)
    with pytest.raises(AttributeError, match="cannot be changed"):
        Point(1).x = 3  # type: ignore[misc]
    for bad in (lambda: Point(), lambda: Point(1, 2, 3), lambda: Point(1, x=1), lambda: Point(1, z=1)):  # type: ignore
        with pytest.raises(TypeError):
            bad()


def test_a_message_that_is_not_utf8():
    class Damaged:
        notes = ()
        severity = ir.DiagnosticSeverity.ERROR

        def __init__(self, location: ir.Location):
            self.location = location

        @property
        def message(self) -> str:
            raise RuntimeError("nanobind::detail::str_from_cstr_and_size(): conversion error!")

    with make_context():
        assert "UTF-8" in from_mlir(Damaged(ir.Location.unknown())).message
