"""The StableHLO front end: what it reads, what it refuses and in which words; the census."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kc.census import census, check
from kc.context import make_context, parse_module
from kc.errors import InputError, UnsupportedError
from kc.frontends import stablehlo

TEXT = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @other(%x: tensor<2xi32>) -> tensor<2xi32> {
  return %x : tensor<2xi32>
}
"""


def bytecode() -> bytes:
    buffer = io.BytesIO()
    parse_module(TEXT, make_context()).operation.write_bytecode(buffer)
    return buffer.getvalue()


def artifact(version: str | None = None) -> bytes:
    return stablehlo.save_portable_artifact(parse_module(TEXT, make_context()), version)


def plain(module) -> str:
    return module.operation.get_asm(enable_debug_info=False)


def test_text_bytecode_artifact_and_module_give_the_same(tmp_path: Path):
    expected = plain(parse_module(TEXT, make_context()))
    (tmp_path / "m.mlir").write_text(TEXT)
    (tmp_path / "m.mlirbc").write_bytes(bytecode())
    (tmp_path / "m.vhlo").write_bytes(artifact("1.0.0"))
    for source in (
        TEXT,
        bytecode(),
        artifact(),
        artifact("1.0.0"),
        tmp_path / "m.mlir",
        str(tmp_path / "m.mlir"),
        tmp_path / "m.mlirbc",
        tmp_path / "m.vhlo",
        parse_module(TEXT, make_context()),
    ):
        assert plain(stablehlo.load(source)) == expected


def test_locations_name_the_file(tmp_path: Path):
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    module = stablehlo.load(path)
    tanh = module.body.operations[0].operation.regions[0].blocks[0].operations[0].operation
    assert f'"{path}":2:8' in str(tanh.location)


def test_a_module_of_jax():
    jax = pytest.importorskip("jax")
    lowered = jax.jit(lambda x: jax.scipy.special.erf(x)).lower(jax.ShapeDtypeStruct((3,), "float32"))
    assert "chlo.erf" in plain(stablehlo.load(lowered.compiler_ir("stablehlo")))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("module.mlir", "cannot read 'module.mlir': No such file"),
        ("", "is empty"),
        ("func.func @main() { nonsense }", "is not a valid MLIR module"),
        (b"\x00\x01\xff", "neither MLIR text nor MLIR bytecode"),
        (3, "cannot read a builtins.int"),
        (
            "func.func @main(%a: tensor<2xf32>) { %0 = tosa.abs %a : (tensor<2xf32>) -> tensor<2xf32> return }",
            "kc does not lower the dialect 'tosa'",
        ),
    ],
)
def test_what_is_refused(source, message: str):
    with pytest.raises(InputError) as caught:
        stablehlo.load(source)
    assert message in str(caught.value)


@pytest.mark.parametrize("make", [bytecode, artifact])
@pytest.mark.parametrize("part", [0.2, 0.6, 0.95])
def test_truncated(make, part: float):
    data = make()
    with pytest.raises(InputError, match="it is cut short, damaged"):
        stablehlo.load(data[: int(part * len(data))])


def test_entry():
    assert stablehlo.load(TEXT, "other")
    with pytest.raises(InputError, match="no function 'mian'; its public functions are 'main', 'other'"):
        stablehlo.load(TEXT, "mian")
    with pytest.raises(InputError, match="'twice' is private; the public functions of the module are 'main', 'other'"):
        stablehlo.load(TEXT, "twice")


@pytest.mark.parametrize("callee", ["main", "there"])
def test_recursion(callee: str):
    text = f"""
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = call @{callee}(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }}
    func.func private @there(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = call @back(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }}
    func.func private @back(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = call @there(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }}"""
    with pytest.raises(UnsupportedError, match="recursive"):
        stablehlo.load(text)


def test_an_op_that_is_too_new_for_a_version():
    module = parse_module(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.tan %x : tensor<2xf32>\n"
        "  return %0 : tensor<2xf32>\n}",
        make_context(),
    )
    assert stablehlo.save_portable_artifact(module)
    with pytest.raises(InputError, match=r"cannot be written as a StableHLO 1\.0\.0 portable artifact"):
        stablehlo.save_portable_artifact(module, "1.0.0")


CENSUS = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %1 = stablehlo.custom_call @lapack_sgetrf(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.custom_call @somewhere(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


def test_census_lists_everything_at_once():
    found = census(stablehlo.load(CENSUS))
    assert [entry.op for entry in found] == ["stablehlo.custom_call @lapack_sgetrf", "stablehlo.custom_call @somewhere"]
    assert str(found[0]).startswith("-:3:8: error: 'stablehlo.custom_call @lapack_sgetrf' cannot be compiled")
    assert "nearest thing that works: 'lapack_sgetrf_ffi' or" in str(found[0])
    with pytest.raises(UnsupportedError) as caught:
        check(stablehlo.load(CENSUS))
    assert "2 operations" in str(caught.value) and len(caught.value.diagnostics) == 2


def test_census_of_what_can_be_compiled():
    assert census(stablehlo.load(TEXT)) == []


def test_annotations_of_shardy_are_dropped() -> None:
    """Attributes that only say how a partitioner may share out an op; ops of the dialect are another matter (below)."""
    module = stablehlo.load(
        "func.func @main(%x: tensor<4xf32> {sdy.hint = #sdy.anything<x>, kc.name = 1 : i32}) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.negate %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i])>} : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}"
    )
    text = str(module)
    assert "sdy" not in text and "kc.name" in text and "stablehlo.negate" in text



def test_shardy_is_told_apart() -> None:
    with pytest.raises(InputError, match=r"Shardy's dialect .*jax_use_shardy_partitioner"):
        stablehlo.load('module {\n  sdy.mesh @m = <["x"=2]>\n  func.func @main() { return }\n}')
