"""Constants of a MiB and more become parameters before anything is lowered: one copy, and none in any text."""
from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import kc
from kc import params
from kc.context import make_context, parse_module

COUNT = 1 << 18  # of f32: 1 MiB
KIND = f"tensor<{COUNT}xf32>"
DATA = np.random.default_rng(0).standard_normal(COUNT, dtype=np.float32)
BLOB = f'{{-# dialect_resources: {{ builtin: {{ big: "0x04000000{DATA.tobytes().hex()}" }} }} #-}}'


def program(value: str, kind: str = KIND) -> str:
    return f"""func.func @main(%x: {kind}) -> {kind} {{
      %c = stablehlo.constant {value} : {kind}
      %y = stablehlo.add %x, %c : {kind}
      return %y : {kind}
    }}\n"""


def sources() -> dict[str, Any]:
    dense = program(f'dense<"0x{DATA.tobytes().hex()}">')
    resource = program("dense_resource<big>") + BLOB
    buffer = io.BytesIO()
    parse_module(resource, make_context()).operation.write_bytecode(buffer)
    return {"dense": dense, "resource": resource, "module": parse_module(dense, make_context()),
            "bytecode": buffer.getvalue()}  # fmt: skip


@pytest.mark.parametrize("form", ["dense", "resource", "module", "bytecode"])
def test_a_big_constant_is_a_parameter_in_every_form(form: str) -> None:
    executable = kc.compile(sources()[form])
    assert len(executable._source._bytecode) < 10_000, "the snapshot holds the constant"
    (file,) = (entry["file"] for entry in executable.manifest["params"])
    assert executable.files[file] == DATA.tobytes()
    assert len(executable.stage("linalg")) < 10_000
    x = np.ones(COUNT, np.float32)
    np.testing.assert_array_equal(executable(x)[0], x + DATA)


@pytest.mark.parametrize(("kind", "dtype"), [("ui8", "uint8"), ("i64", "int64"), ("complex<f32>", "complex64")])
def test_other_element_types(kind: str, dtype: str) -> None:
    count = (1 << 20) // np.dtype(dtype).itemsize
    data = np.arange(count).astype(dtype)
    text = program(f'dense<"0x{data.tobytes().hex()}">', f"tensor<{count}x{kind}>")
    executable = kc.compile(text)
    assert len(executable.manifest["params"]) == 1
    np.testing.assert_array_equal(executable(data)[0], data + data)


def test_a_resource_is_read_without_text(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_module(program("dense_resource<big>") + BLOB, make_context())
    constant = module.body.operations[0].regions[0].blocks[0].operations[0].operation
    monkeypatch.setattr(params, "re", None)  # what the text would be searched with
    assert params.constant_bytes(constant, "value", DATA.nbytes) == DATA.tobytes()


def test_a_parameter_gives_its_bytes_without_a_copy() -> None:
    data = bytes(64)
    table = params.ParamTable()
    assert table[table.add_constant(data, "f32", (16,))].tobytes() is data
    assert table[table.add(np.zeros(4, np.float32))].tobytes() == bytes(16)


def test_a_splat_stays() -> None:
    executable = kc.compile(program("dense<2.0>"))
    assert not executable.manifest["params"]
    assert "kc.param" not in executable.stage("stablehlo")
