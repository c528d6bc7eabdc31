"""Small PyTorch programs on which compilers of this kind have failed, on the CPU, against PyTorch itself."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import kc.torch  # noqa: E402


class Pool(torch.nn.Module):
    def __init__(self, options: dict[str, Any]):
        super().__init__()
        self.options = options

    def forward(self, x: Any) -> Any:
        return torch.nn.functional.avg_pool2d(x, **self.options)


class Divide(torch.nn.Module):
    def __init__(self, mode: str):
        super().__init__()
        self.mode = mode

    def forward(self, x: Any, y: Any) -> Any:
        return torch.div(x, y, rounding_mode=self.mode)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 2, "stride": 2, "ceil_mode": True, "count_include_pad": False},
        {"kernel_size": 2, "stride": 2, "ceil_mode": True, "count_include_pad": True},
        {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": False},
        {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": True},
        {"kernel_size": (3, 2), "stride": (2, 3), "padding": (1, 0), "ceil_mode": True, "divisor_override": 4},
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [3, 6])
def test_averages_at_the_edge_count_what_is_there(options: dict[str, Any], size: int):
    x = torch.arange(2.0 * 3 * size * size).reshape(2, 3, size, size)
    x[0, 0] = 1.0
    torch.testing.assert_close(kc.torch.compile(Pool(options), (x,))(x), Pool(options)(x))


@pytest.mark.parametrize("mode", ["floor", "trunc"])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_the_quotient_that_does_not_fit(mode: str, dtype: Any):
    least = torch.iinfo(dtype).min
    x = torch.tensor([least, least, 7, -7, 7, -7, 0], dtype=dtype)
    y = torch.tensor([-1, 1, 2, 2, -2, -2, -3], dtype=dtype)
    found = kc.torch.compile(Divide(mode), (x, y))(x, y)
    wanted = [least, least, 3, -4 if mode == "floor" else -3, -4 if mode == "floor" else -3, 3, 0]
    assert found.tolist() == wanted
