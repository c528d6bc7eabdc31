"""PyTorch models through kc on the CPU, against the same models in float64.

The error is the largest absolute difference over the largest absolute value of the reference. Bounds: 2e-6 in float32
(sums of a few hundred terms), 2e-2 in bfloat16 (8 bits of mantissa, a few roundings deep).
"""
from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))
from torch_models import MLP, MODELS, Model  # noqa: E402

import kc.torch  # noqa: E402

BOUNDS = {torch.float32: 2e-6, torch.bfloat16: 2e-2}
DTYPES = [torch.float32, torch.bfloat16]


def error(result: torch.Tensor, reference: torch.Tensor) -> float:
    """Largest absolute difference over the largest absolute value of the reference."""
    return float((result.double() - reference.double()).abs().max() / reference.double().abs().max())


def cast(values: tuple[torch.Tensor, ...], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    return tuple(v.to(dtype) if v.is_floating_point() else v for v in values)


def make(model: Model, dtype: torch.dtype) -> tuple[torch.nn.Module, torch.nn.Module]:
    """The module in ``dtype``, and the same weights in float64."""
    torch.manual_seed(0)
    narrow = model.make().eval().to(dtype)
    return narrow, copy.deepcopy(narrow).double()


def check(model: Model, name: str, compiled: Any, wide: torch.nn.Module, inputs: Any, dtype: torch.dtype) -> None:
    result = compiled(*inputs)
    with torch.no_grad():
        reference = wide(*cast(inputs, torch.float64))
    assert result.shape == reference.shape
    if not model.floats:
        assert torch.equal(result, reference)
        return
    assert result.dtype == dtype
    found = error(result, reference)
    print(f"{name} {dtype} {found:.2e}")
    assert found < BOUNDS[dtype]


@pytest.mark.parametrize("dtype", DTYPES, ids=["f32", "bf16"])
@pytest.mark.parametrize("name", MODELS)
def test_static(name: str, dtype: torch.dtype) -> None:
    model = MODELS[name]
    narrow, wide = make(model, dtype)
    inputs = cast(model.inputs(3), dtype)
    check(model, name, kc.torch.compile(narrow, inputs), wide, inputs, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=["f32", "bf16"])
@pytest.mark.parametrize("name", MODELS)
def test_dynamic_batch(name: str, dtype: torch.dtype) -> None:
    model = MODELS[name]
    narrow, wide = make(model, dtype)
    compiled = kc.torch.compile(narrow, cast(model.inputs(3), dtype), dynamic_shapes=model.dynamic())
    for batch in (1, 2, 5):
        check(model, name, compiled, wide, cast(model.inputs(batch), dtype), dtype)


def test_two_dynamic_sizes() -> None:
    """A linear layer with two dynamic leading sizes, which the importer gets wrong when it is decomposed."""
    layer = torch.nn.Linear(16, 4)
    sizes = {0: torch.export.Dim("b", min=1), 1: torch.export.Dim("s", min=1)}
    compiled = kc.torch.compile(layer, (torch.randn(2, 8, 16),), dynamic_shapes=(sizes,))
    for shape in ((2, 8, 16), (3, 1, 16), (1, 7, 16)):
        x = torch.randn(shape)
        assert error(compiled(x), layer.double()(x.double())) < 2e-6
        layer.float()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_torch_compile_trains(dynamic: bool) -> None:
    """Forward and backward of the MLP through ``torch.compile``, gradients against float64."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = MLP()
    wide = copy.deepcopy(model).double()
    compiled = torch.compile(model, backend="kc", dynamic=dynamic)
    for batch in (4, 6):
        x, target = torch.randn(batch, 64), torch.rand(batch, 32)
        for module, function, dtype in ((model, compiled, torch.float32), (wide, wide, torch.float64)):
            module.zero_grad()
            loss = ((function(x.to(dtype)) - target.to(dtype)) ** 2).sum()
            loss.backward()
        for (name, got), want in zip(model.named_parameters(), wide.parameters(), strict=True):
            assert error(got.grad, want.grad) < 1e-5, name


def test_batch_norm_updates_its_statistics() -> None:
    torch.manual_seed(0)
    norm = torch.nn.BatchNorm1d(8).train()
    eager = copy.deepcopy(norm)
    compiled = kc.torch.compile(norm, (torch.randn(16, 8),))
    for _ in range(2):
        x = torch.randn(16, 8)
        assert error(compiled(x), eager(x)) < 2e-6
    assert error(norm.running_mean, eager.running_mean) < 2e-6
    assert error(norm.running_var, eager.running_var) < 2e-6
    assert norm.num_batches_tracked == 2


def test_same_tensor_twice_as_example() -> None:
    """Example inputs that are one object stay separate inputs."""

    class Product(torch.nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a @ b

    x = torch.randn(4, 4)
    compiled = kc.torch.compile(Product(), (x, x))
    a, b = torch.randn(4, 4), torch.randn(4, 4)
    assert error(compiled(a, b), a.double() @ b.double()) < 2e-6


def test_index_out_of_range_is_an_error() -> None:
    compiled = kc.torch.compile(torch.nn.Embedding(10, 4), (torch.zeros(3, dtype=torch.int64),))
    with pytest.raises(Exception, match="index must be smaller than dim size"):
        compiled(torch.tensor([1, 12, 3]))


def test_structure_and_constants_are_checked() -> None:
    class Scale(torch.nn.Module):
        def forward(self, x: torch.Tensor, power: int) -> dict[str, Any]:
            return {"y": x**power, "x": x, "none": None}

    compiled = kc.torch.compile(Scale(), (torch.ones(3), 2))
    x = torch.arange(3.0)
    result = compiled(x, 2)
    assert torch.equal(result["y"], x * x) and result["x"] is x and result["none"] is None
    with pytest.raises(kc.KcError, match="compiled for 2"):
        compiled(x, 3)
    with pytest.raises(kc.KcError, match="structure"):
        compiled(x)


def test_unsigned_bytes_keep_their_type() -> None:
    class Invert(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return 255 - x, x.float() / 2

    compiled = kc.torch.compile(Invert(), (torch.zeros(4, dtype=torch.uint8),))
    x = torch.tensor([0, 1, 200, 255], dtype=torch.uint8)
    inverted, halves = compiled(x)
    assert inverted.dtype == torch.uint8 and torch.equal(inverted, 255 - x)
    assert torch.equal(halves, x.float() / 2)


def test_arg_max_finds_the_first_nan() -> None:
    class Extremes(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x.argmax(-1), x.argmin(-1), *x.max(-1), *x.min(-1)

    nan = float("nan")
    x = torch.tensor([[1.0, nan, 3.0, nan], [2.0, 2.0, -1.0, -1.0], [nan, 5.0, 6.0, 7.0]])
    compiled = kc.torch.compile(Extremes(), (torch.zeros(3, 4),))
    for got, want in zip(compiled(x), Extremes()(x), strict=True):
        assert torch.equal(torch.nan_to_num(got, 99) if got.is_floating_point() else got,
                           torch.nan_to_num(want, 99) if want.is_floating_point() else want)


class Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Any):
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


NAN = float("nan")
FLOATS = torch.tensor([1.0, NAN, 3.0, 4.0, -5.0]), torch.tensor([2.0, 2.0, NAN, 1.0, -0.0])
INTEGERS = torch.tensor([7, -7, 7, -7, 0]), torch.tensor([2, 2, -2, -2, 3])
BYTES = torch.tensor([[0, 100, 200, 255]], dtype=torch.uint8)
SPECIAL = {
    "maximum": (torch.maximum, FLOATS),
    "minimum": (torch.minimum, FLOATS),
    "maximum-integers": (torch.maximum, INTEGERS),
    "clamp": (lambda a, b: (a.clamp(-1, 1), a.clamp(min=b), a.clamp_max(2), b.clamp_min(0.5)), FLOATS),
    "floor-divide": (lambda a, b: (a // b, a % b, torch.fmod(a, b), torch.div(a, b, rounding_mode="trunc")), INTEGERS),
    "smallest-by-minus-one": (lambda a, b: a // b, (torch.tensor([-(2**31)] * 3, dtype=torch.int32),
                                                    torch.tensor([-1] * 3, dtype=torch.int32))),
    "bytes": (lambda a: (a + 200, a * 3, a >> 1, -a, a > 100, a // 3, a % 7, a.float()), (BYTES,)),
    "bytes-and-others": (lambda a, b: (a * b, a % b, a * 1.5, b * a), (BYTES, torch.tensor([[70000, 3, -4, 5]]))),
    "byte-sums": (lambda a: (a.sum(), a.sum(1), a.prod(), a.cumsum(1), a.max(1)[0]), (BYTES,)),
    "stable-sort": (lambda a: (*torch.sort(a, stable=True), a.argsort(descending=True, stable=True)),
                    (torch.tensor([[3.0, 1.0, 2.0, 1.0, NAN, 3.0]]),)),
    "negative-pad": (lambda a: torch.nn.functional.pad(a, (1, 2, -1, 1)), (torch.arange(40.0).view(2, 4, 5),)),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_values_are_those_of_eager(name: str) -> None:
    """NaN, integer edges and unsigned bytes, bit for bit."""
    function, inputs = SPECIAL[name]
    results, answers = kc.torch.compile(Call(function), inputs)(*inputs), function(*inputs)
    for got, want in zip(*map(torch.utils._pytree.tree_leaves, (results, answers)), strict=True):
        assert got.dtype == want.dtype and torch.allclose(got, want, rtol=0, atol=0, equal_nan=True), (got, want)


def test_division_by_zero_does_not_trap() -> None:
    a, b = INTEGERS
    compiled = kc.torch.compile(Call(lambda a, b: (a // b, a % b, torch.fmod(a, b))), INTEGERS)
    assert [r.shape for r in compiled(a, torch.zeros_like(b))] == [a.shape] * 3


def test_group_norm() -> None:
    torch.manual_seed(0)
    norm, x = torch.nn.GroupNorm(2, 6), torch.randn(3, 6, 5, 7)
    torch.nn.init.normal_(norm.weight)
    assert error(kc.torch.compile(norm, (x,))(x), norm.double()(x.double())) < 2e-6
