"""The PyTorch models that kc must run (issue 2, "Real inputs"), at sizes that a test can afford.

Each entry of ``MODELS`` gives a module in eval mode and example inputs; ``dynamic`` says which axes of which inputs are
the batch. Every module is exported with its weights in float32 and cast by the test.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class MLP(nn.Module):
    """(a) Two layers, GELU between them, softmax at the end."""

    def __init__(self, inner: int = 64, hidden: int = 128, outer: int = 32):
        super().__init__()
        self.up, self.down = nn.Linear(inner, hidden), nn.Linear(hidden, outer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.down(functional.gelu(self.up(x))), -1)


class Norms(nn.Module):
    """(b) Layer norm, then RMS norm."""

    def __init__(self, width: int = 96):
        super().__init__()
        self.layer, self.rms = nn.LayerNorm(width), nn.RMSNorm(width, eps=1e-6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.rms(self.layer(x) + x)


class Block(nn.Module):
    """(c) A transformer encoder block with masked multi-head attention."""

    def __init__(self, width: int = 64, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).chunk(3, -1)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        out = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        x = x + self.proj(out.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class ResNet(nn.Module):
    """(d) A small residual net, NCHW: convolutions, batch norm, max and average pooling, residual adds."""

    def __init__(self, width: int = 8, classes: int = 10):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, stride=2, padding=1, bias=False)
        self.norm0 = nn.BatchNorm2d(width)
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(width)
        self.head = nn.Linear(width, classes)
        for norm in (self.norm0, self.norm1, self.norm2):
            nn.init.uniform_(norm.running_mean, -0.1, 0.1)
            nn.init.uniform_(norm.running_var, 0.5, 1.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu(self.norm0(self.stem(x)))
        x = functional.max_pool2d(x, 3, stride=2, padding=1)
        y = functional.relu(self.norm1(self.conv1(x)))
        x = functional.relu(self.norm2(self.conv2(y)) + x)
        x = functional.avg_pool2d(x, 2)
        return self.head(x.mean((2, 3)))


class Generator(nn.Module):
    """(e) An embedding lookup and a greedy loop that appends tokens; the loop is unrolled by PyTorch's export."""

    def __init__(self, vocabulary: int = 32, width: int = 16, steps: int = 4):
        super().__init__()
        self.table, self.mix, self.steps = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary), steps

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        for _ in range(self.steps):
            state = self.table(tokens).mean(1)
            following = self.mix(torch.tanh(state)).argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, following], 1)
        return tokens


@dataclasses.dataclass(frozen=True)
class Model:
    """``inputs(batch)`` makes example inputs; ``dynamic`` is torch.export's ``dynamic_shapes`` with a batch symbol."""

    make: Callable[[], nn.Module]
    inputs: Callable[[int], tuple[torch.Tensor, ...]]
    batched: int = 1
    floats: bool = True

    def dynamic(self) -> tuple[Any, ...]:
        batch = torch.export.Dim("batch", min=1, max=4096)
        return tuple({0: batch} for _ in range(self.batched))


def _block_inputs(batch: int) -> tuple[torch.Tensor, ...]:
    mask = torch.ones(batch, 24, dtype=torch.bool)
    mask[:, 17:] = False
    return torch.randn(batch, 24, 64), mask


MODELS = {
    "mlp": Model(MLP, lambda b: (torch.randn(b, 64),)),
    "norms": Model(Norms, lambda b: (torch.randn(b, 20, 96),)),
    "block": Model(Block, _block_inputs, batched=2),
    "resnet": Model(ResNet, lambda b: (torch.randn(b, 3, 32, 32),)),
    "generator": Model(Generator, lambda b: (torch.randint(0, 32, (b, 5)),), floats=False),
}
