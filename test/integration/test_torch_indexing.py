"""PyTorch programs that scatter, sort and scan, through kc on the CPU, against PyTorch itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import kc.errors  # noqa: E402
import kc.runtime  # noqa: E402
import kc.torch  # noqa: E402

NAN, INF = float("nan"), float("inf")


class Function(torch.nn.Module):
    """A function as a module, which is what torch.export takes."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def run(function: Callable[..., Any], *arguments: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What kc computes; the arguments must stay as they are."""
    before = [a.clone() for a in arguments]
    result = kc.torch.compile(Function(function), arguments)(*arguments)
    for old, new in zip(before, arguments, strict=True):
        assert torch.equal(torch.nan_to_num(old), torch.nan_to_num(new))
    return result if isinstance(result, tuple) else (result,)


def check(function: Callable[..., Any], *arguments: torch.Tensor, rtol: float = 1e-5) -> None:
    wanted = function(*arguments)
    wanted = tuple(wanted) if isinstance(wanted, (tuple, list)) else (wanted,)
    found = run(function, *arguments)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted, strict=True):
        torch.testing.assert_close(f, w, rtol=rtol, atol=1e-6, equal_nan=True)


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


def places(size: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, size, shape, generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize("dim", [0, 1])
def test_scatter_add_counts_duplicates(dim: int) -> None:
    index = places(3, 4, 5)
    assert len(index.select(1 - dim, 0).unique()) < index.shape[dim]
    check(lambda x, i, v: x.scatter_add(dim, i, v), numbers(4, 5), index, numbers(4, 5))


def test_scatter_overwrites() -> None:
    index = torch.tensor([[0, 1, 2], [3, 0, 4]])
    check(lambda x, i, v: x.scatter(0, i, v), numbers(5, 3), index, numbers(3, 4))


@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin", "mean"])
def test_scatter_reduce(reduce: str) -> None:
    check(lambda x, i, v: x.scatter_reduce(1, i, v, reduce), numbers(3, 5), places(5, 3, 7), numbers(3, 7))


@pytest.mark.parametrize("accumulate", [False, True])
def test_index_put_wraps_negative_indices(accumulate: bool) -> None:
    index = torch.tensor([0, -1, 2])
    check(lambda x, i, v: x.index_put((i,), v, accumulate), numbers(5, 3), index, numbers(3, 3))


def test_index_put_accumulates_in_two_dimensions() -> None:
    rows, columns = torch.tensor([0, -1, 0, 0]), torch.tensor([1, 2, 1, -1])
    check(lambda x, i, j, v: x.index_put((i, j), v, True), numbers(5, 3), rows, columns, numbers(4))


def test_index_add() -> None:
    check(lambda x, i, v: x.index_add(1, i, v, alpha=2), numbers(3, 5), torch.tensor([1, 1, 4]), numbers(3, 3))


@pytest.mark.parametrize("index", [5, -6, 2**40])
def test_index_out_of_range_is_an_error(index: int) -> None:
    compiled = kc.torch.compile(
        Function(lambda x, i, v: x.index_put((i,), v)), (numbers(5), torch.tensor([0]), numbers(1))
    )
    with pytest.raises(kc.runtime.ExecutionError, match="index of a scatter is out of range"):
        compiled(numbers(5), torch.tensor([index]), numbers(1))


class Words(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(11, 8, padding_idx=0)
        self.norm = torch.nn.LayerNorm(8)
        self.out = torch.nn.Linear(8, 11)

    def forward(self, words: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        hidden = torch.nn.functional.gelu(self.norm(self.table(words)).mean(1))
        return torch.nn.functional.cross_entropy(self.out(hidden), target, ignore_index=3)


def test_gradients_of_embedding_and_cross_entropy() -> None:
    torch.manual_seed(0)
    model = Words()
    wide = copy.deepcopy(model).double()
    words, target = places(11, 6, 4), torch.tensor([1, 3, 10, 0, 3, 1])
    loss = torch.compile(model, backend="kc")(words, target)
    loss.backward()
    reference = wide(words, target)
    reference.backward()
    torch.testing.assert_close(loss.double(), reference, rtol=1e-5, atol=1e-6)
    for name, parameter in model.named_parameters():
        grad = wide.get_parameter(name).grad
        torch.testing.assert_close(parameter.grad.double(), grad, rtol=1e-4, atol=1e-6, msg=name)
    assert model.table.weight.grad.abs().sum() > 0


def check_sort(values: torch.Tensor, dim: int, descending: bool) -> None:
    """kc's sort is always a stable one."""
    wanted = torch.sort(values, dim=dim, descending=descending, stable=True)
    found = run(lambda x: torch.sort(x, dim=dim, descending=descending), values)
    torch.testing.assert_close(found, tuple(wanted), rtol=0, atol=0, equal_nan=True)


SPECIAL = torch.tensor([1.0, NAN, -1.0, INF, NAN, 0.0, -INF, 1.0, -0.0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_with_nan_largest(descending: bool, dtype: torch.dtype) -> None:
    check_sort(SPECIAL.to(dtype), 0, descending)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_sort_of_integers_keeps_ties_in_order(dim: int, descending: bool, dtype: torch.dtype) -> None:
    check_sort((places(4, 9, 6) - 2).to(dtype), dim, descending)


@pytest.mark.parametrize("descending", [False, True])
def test_sort_of_booleans(descending: bool) -> None:
    check_sort(torch.tensor([True, False, True, False, False]), 0, descending)


@pytest.mark.parametrize("largest", [False, True])
def test_topk(largest: bool) -> None:
    check(lambda x: torch.topk(x, 3, dim=0, largest=largest), numbers(17, 4))
    values = run(lambda x: torch.topk(x, 4, largest=largest), SPECIAL)[0]  # torch leaves the order of ties open
    torch.testing.assert_close(values, torch.topk(SPECIAL, 4, largest=largest)[0], equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
def test_sort_of_bytes_is_refused(dtype: torch.dtype) -> None:
    with pytest.raises(kc.errors.KcError, match="int8 and uint8 cannot be told apart"):
        run(torch.sort, torch.tensor([1, 100], dtype=dtype))


@pytest.mark.parametrize("size", [1, 2, 37])
@pytest.mark.parametrize("dim", [0, 1])
def test_cumulative_sums_and_products(size: int, dim: int) -> None:
    check(lambda x: (torch.cumsum(x, dim), torch.cumprod(x, dim)), numbers(3, size))
    check(lambda x: torch.cumsum(x, dim), places(5, 3, size).int())
    check(lambda x: torch.cumsum(x, dim), places(2, 3, size).bool())


def test_cumsum_keeps_nan_behind_it() -> None:
    check(lambda x: torch.cumsum(x, 0), torch.tensor([1.0, 2.0, NAN, 3.0]))


def test_cumsum_of_bfloat16_is_summed_in_float32() -> None:
    values = torch.ones(600, dtype=torch.bfloat16)  # a bfloat16 sum would stop at 256
    check(lambda x: torch.cumsum(x, 0), values, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logcumsumexp_does_not_overflow(dtype: torch.dtype) -> None:
    rows = [100.0, 200.0, -300.0, 5.0], [-INF, -INF, 1.0, 1.0], [-1e4, 0.5, INF, INF], [1.0, NAN, 2.0, 3.0]
    values = torch.tensor(rows)
    check(lambda x: torch.logcumsumexp(x, 1), values.to(dtype))
    check(lambda x: torch.log(torch.cumsum(torch.exp(x), 0)), numbers(9, 4).to(dtype))
