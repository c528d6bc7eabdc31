"""The census: every op of StableHLO and CHLO is decided on, every unsupported thing is told, and where it stands."""
# ruff: noqa: E501 (lines of MLIR)

from __future__ import annotations

import mmap
import re
from pathlib import Path

import pytest

from kc import bindings
from kc.census import _supported, census
from kc.context import load_dialect, make_context, parse_module

#: ops that the wheel registers, whose name in a list of supported ones says nothing
_BY_TARGET = {"stablehlo.custom_call"}
#: ops that kc refuses on purpose (the census gives its reason)
_UNSUPPORTED: set[str] = set()


def registered_ops() -> list[str]:
    """The names of all ops of StableHLO and CHLO in the bindings: what looks like one in the library, and is one."""
    context = make_context()
    for dialect in ("stablehlo", "chlo"):
        load_dialect(context, dialect)
    folder = Path(bindings.ir.__file__).parent / "_mlir_libs"
    library = max(folder.glob("*.so*"), key=lambda path: path.stat().st_size)
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        names = set(re.findall(rb"\0((?:stablehlo|chlo)\.[a-z_0-9-]+)(?=\0)", content))
    return sorted(name for name in map(bytes.decode, names) if context.is_registered_operation(name))


def test_every_op_is_decided_on():
    """A new op upstream shows up here: it has to be converted, or to get a reason in the census."""
    ops = registered_ops()
    assert len(ops) > 150  # as long as names are found at all
    decided = _supported() | _UNSUPPORTED | _BY_TARGET
    assert [op for op in ops if op not in decided] == []


def test_no_decision_is_on_an_op_that_does_not_exist():
    ops = set(registered_ops())
    named = {op for op in _supported() | _UNSUPPORTED if op.startswith(("stablehlo.", "chlo."))}
    assert sorted(named - ops) == []


def found(text: str) -> list[str]:
    return [str(entry) for entry in census(parse_module(text, make_context()))]


def test_all_at_once_in_regions_and_private_functions():
    text = """
    func.func private @inner(%x: tensor<4x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>>) {
      return
    }
    func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
      %0 = "stablehlo.if"(%p) ({
        %1 = stablehlo.custom_call @nobody_knows(%x) : (tensor<4xf32>) -> tensor<4xf32>
        stablehlo.return %1 : tensor<4xf32>
      }, {
        stablehlo.return %x : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @other(%x: tensor<3xi7>) -> tensor<2xcomplex<f16>> {
      %0 = "test.none"() : () -> tensor<2xcomplex<f16>>
      return %0 : tensor<2xcomplex<f16>>
    }"""
    context = make_context()
    context.allow_unregistered_dialects = True
    entries = census(parse_module(text, context))
    assert [(entry.op, entry.diagnostic.location.line) for entry in entries] == [
        ("func.func", 2), ("stablehlo.custom_call @nobody_knows", 7), ("func.func", 14),
    ]  # fmt: skip
    assert "!quant.uniform<i8:f32:{0:2}" in entries[0].why
    assert "i7" in entries[2].why


@pytest.mark.parametrize("element", ["f8E8M0FNU", "f4E2M1FN", "i2", "ui4", "complex<f64>", "index", "i1"])
def test_types_that_can_be_compiled(element: str):
    assert (
        found(f"func.func @main(%x: tensor<3x{element}>) -> tensor<3x{element}> {{ return %x : tensor<3x{element}> }}")
        == []
    )


def test_an_index_select_of_unknown_shape():
    (text,) = found("""
    func.func @main(%x: tensor<?x3xf32>, %i: tensor<2xi32>) -> tensor<?x2xf32> {
      %r = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x2xf32>
      return %r : tensor<?x2xf32>
    }""")
    assert "only known at run time" in text


def test_a_remainder_of_complex_numbers():
    (text,) = found("""
    func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
      %r = stablehlo.remainder %x, %x : tensor<2xcomplex<f32>>
      return %r : tensor<2xcomplex<f32>>
    }""")
    assert "leaves the remainder of complex numbers open" in text


def test_a_composite_without_a_decomposition():
    (text,) = found("""
    func.func private @elsewhere(tensor<3xf32>) -> tensor<3xf32>
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %r = stablehlo.composite "their.op" %x {decomposition = @elsewhere} : (tensor<3xf32>) -> tensor<3xf32>
      return %r : tensor<3xf32>
    }""")
    assert "its decomposition 'elsewhere' is only declared" in text
