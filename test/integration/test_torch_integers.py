"""Integers among the inputs of graphs from PyTorch: extents of tensors at hand, and those that no tensor has."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def folded(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x @ w, -1).view(x.shape[0] * 2, -1).sum(0)


def cut(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (x @ w).relu().reshape(-1)[: x.shape[0]] * x.shape[0]


def doubled(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, x], 0) @ w / x.shape[0]


def mean(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Whose gradient needs an extent that no tensor of the backward graph has."""
    return torch.stack([x, x * 2]).mean(1) @ w


@pytest.mark.parametrize("function", [folded, cut, doubled, mean])
def test_gradients_with_open_sizes(function: Function) -> None:
    compiled = torch.compile(function, backend="kc", dynamic=True)
    generator = torch.Generator().manual_seed(3)
    for rows in (3, 5, 2):
        x, w = (torch.randn(*s, generator=generator, requires_grad=True) for s in ((rows, 8), (8, 4)))
        wanted = torch.autograd.grad(function(x.double(), w.double()).square().sum(), (x, w))
        got = torch.autograd.grad(compiled(x, w).square().sum(), (x, w))
        for one, other in zip(got, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-4)
    torch._dynamo.reset()


def test_integer_inputs_of_exported_programs() -> None:
    import kc.torch

    class Scaled(torch.nn.Module):
        def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
            return x * n

    n = torch.export.Dim.DYNAMIC
    program = torch.export.export(Scaled(), (torch.ones(3), 7), dynamic_shapes={"x": None, "n": n})
    compiled = kc.torch.compile(program, ())
    for number in (7, 2, 100):
        torch.testing.assert_close(compiled(torch.arange(3.0), number), torch.arange(3.0) * number)
