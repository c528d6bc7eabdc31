"""Which kernels the models become: a table, so that a fusion that is lost, or won, shows."""
from __future__ import annotations

import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import kc

sys.path.insert(0, str(Path(__file__).parent))
import jax_models

# c contraction, r rows, m map, a attention, w window, g general; in the order in which main calls them
JAX = {
    "mlp": "c c r",
    "norms": "r",
    "encoder": "r c c c a c r c c",
    "convnet": "g w g w g w g c w w r c",
    "generate": "m m m m g c c g m r m",
    "train": "c c m g r g r c r r c c",
}
TORCH = {
    "mlp": "c c r",
    "norms": "r",
    "block": "r c a c r c c",
    "resnet": "g w g w g w g w w r c",
    "generator": " ".join(["g r c g"] * 4),
}


def table(source: object) -> str:
    """The kinds of a program's kernels on the CPU's road, one letter each."""
    text = kc.lower(source, to="form-kernels", target="cpu")
    found = re.findall(r'func\.func private @\w+_k(\d+)\(.*kc\.kind = "(\w+)"', text)
    return " ".join(kind[0] for _, kind in sorted(found, key=lambda item: int(item[0])))


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("name", JAX)
def test_jax(name: str, dtype: str) -> None:
    jax = pytest.importorskip("jax")
    model = jax_models.MAKERS[name]()
    narrow = {"f32": np.float32, "bf16": ml_dtypes.bfloat16}[dtype]
    arguments = jax.tree.map(lambda a: a.astype(narrow) if a.dtype == np.float32 else a, (model.params, *model.data(5)))
    kinds = table(jax.jit(model.fn).lower(*arguments).as_text())
    print(f"jax {name} {dtype}: {kinds}")
    assert kinds == JAX[name]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", TORCH)
def test_torch(name: str, dynamic: bool) -> None:
    pytest.importorskip("torch")
    import torch_models

    from kc.frontends import torch as frontend

    model = torch_models.MODELS[name]
    program = frontend.export(model.make().eval(), model.inputs(3), None, model.dynamic() if dynamic else None)
    kinds = table(program)
    print(f"torch {name} {'dynamic' if dynamic else 'static'}: {kinds}")
    assert kinds == TORCH[name]
