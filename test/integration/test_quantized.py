# ruff: noqa: E501 (lines of MLIR)
"""Quantised programs on the CPU against the definitions of the specification, computed in f64 with NumPy."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

import kc

sys.path.insert(0, str(Path(__file__).parent))
from stablehlo_oracle import DTYPES, tensor


@dataclasses.dataclass(frozen=True)
class Q:
    """A quantised element type. ``scales`` and ``zeros`` per tensor (one) or per axis."""

    storage: str = "i8"
    expressed: str = "f32"
    scales: tuple = (0.5,)
    zeros: tuple = (0,)
    low: int | None = None
    high: int | None = None
    axis: int | None = None

    @property
    def bits(self) -> int:
        return int(self.storage.lstrip("iu"))

    @property
    def range(self) -> tuple[int, int]:
        unsigned = self.storage.startswith("u")
        low, high = (0, (1 << self.bits) - 1) if unsigned else (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1)
        return low if self.low is None else self.low, high if self.high is None else self.high

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(DTYPES[self.storage.replace("u", "ui")])

    def __str__(self) -> str:
        limits = "" if self.low is None else f"<{self.low}:{self.high}>"
        pairs = [f"{s}:{z}" for s, z in zip(np.ravel(self.scales), np.ravel(self.zeros), strict=True)]
        if self.axis is not None:
            return f"!quant.uniform<{self.storage}{limits}:{self.expressed}:{self.axis}, {{{', '.join(pairs)}}}>"
        return f"!quant.uniform<{self.storage}{limits}:{self.expressed}, {pairs[0]}>"

    def tensor(self, shape: tuple[int, ...]) -> str:
        return tensor(shape, str(self))

    def spread(self, numbers: tuple, shape: tuple[int, ...]) -> np.ndarray:
        array = np.array(numbers, np.float64)
        if self.axis is None:
            return np.full(shape, array[0])
        return np.broadcast_to(array.reshape([-1 if a == self.axis else 1 for a in range(len(shape))]), shape)

    def real(self, stored: np.ndarray) -> np.ndarray:
        return (stored.astype(np.float64) - self.spread(self.zeros, stored.shape)) * self.spread(
            self.scales, stored.shape
        )

    def near(self, real: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The stored numbers, and those that an error of a few f32 roundings could give instead."""
        scaled = real / self.spread(self.scales, real.shape) + self.spread(self.zeros, real.shape)
        width = {"f32": 2.0**-20, "f64": 2.0**-48, "f16": 2.0**-8, "bf16": 2.0**-5}[self.expressed]
        slack = width * np.maximum(1, np.abs(np.nan_to_num(scaled, posinf=1.0, neginf=1.0)))
        low, high = self.range
        return tuple(np.rint(np.clip(scaled + d, low, high)) for d in (-slack, slack))

    def random(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        low, high = self.range
        picked = rng.integers(low, high, shape, dtype=np.int64, endpoint=True)
        flat = picked.reshape(-1)
        flat[:2] = (low, high)[: flat.size]
        return picked.astype(np.int64 if self.storage[0] == "i" else np.uint64).astype(self.dtype)


def run(text: str, *arrays: np.ndarray) -> np.ndarray:
    return np.asarray(kc.compile(text)(*arrays)[0])


def check(q: Q, actual: np.ndarray, real: np.ndarray) -> None:
    assert actual.dtype == q.dtype and actual.shape == real.shape
    low, high = q.near(real)
    wrong = ~((actual.astype(np.float64) >= low) & (actual.astype(np.float64) <= high))
    where = np.argwhere(wrong)[:3].tolist()
    assert not wrong.any(), f"{q}: {actual[wrong][:3]} instead of {low[wrong][:3]} at {where}"


TYPES = [
    Q(scales=(0.1,), zeros=(-3,)),
    Q("u8", scales=(0.25,), zeros=(100,)),
    Q("i4", scales=(0.5,), zeros=(2,)),
    Q("u4", scales=(0.5,), zeros=(7,)),
    Q("i2", scales=(1.5,), zeros=(-1,)),
    Q("i16", scales=(0.003,), zeros=(1000,)),
    Q("u16", scales=(0.003,), zeros=(30000,)),
    Q("i32", scales=(0.0001,), zeros=(12345,)),
    Q("i8", "f16", scales=(0.5,), zeros=(4,)),
    Q("i8", "bf16", scales=(0.25,), zeros=(-8,)),
    Q("i8", "f64", scales=(0.1,), zeros=(5,)),
    Q(scales=(0.1,), zeros=(0,), low=-100, high=50),
    Q("u8", scales=(0.1,), zeros=(20,), low=10, high=200),
    Q(scales=(0.1, 0.25, 0.5), zeros=(0, -5, 7), axis=1),
    Q("u8", scales=(0.1, 0.25, 0.5, 2.0), zeros=(3, 128, 255, 0), axis=0),
]


@pytest.mark.parametrize("q", TYPES, ids=str)
def test_quantize_and_dequantize(q: Q):
    rng = np.random.default_rng(0)
    shape, float_type = (4, 3), np.dtype(DTYPES[q.expressed])
    low, high = (q.real(np.full(shape, limit)) for limit in q.range)
    real = (low + (high - low) * rng.uniform(-0.1, 1.1, shape)).astype(float_type)
    real.reshape(-1)[:2] = np.inf, -np.inf
    stored = q.random(rng, shape)
    f, t = tensor(shape, q.expressed), q.tensor(shape)
    text = f"""func.func @main(%x: {f}, %q: {t}) -> ({t}, {f}) {{
      %0 = stablehlo.uniform_quantize %x : ({f}) -> {t}
      %1 = stablehlo.uniform_dequantize %q : ({t}) -> {f}
      return %0, %1 : {t}, {f}
    }}"""
    made, back = (np.asarray(r) for r in kc.compile(text)(real, stored))
    check(q, made, real.astype(np.float64))
    eps = {"f32": 2.0**-22, "f64": 2.0**-50, "f16": 2.0**-9, "bf16": 2.0**-6}[q.expressed]
    np.testing.assert_allclose(back.astype(np.float64), q.real(stored), rtol=eps)


def test_requantize():
    rng = np.random.default_rng(1)
    kinds = [
        Q(scales=(0.1,), zeros=(-3,)),
        Q(scales=(0.25,), zeros=(9,)),
        Q(scales=(0.1, 0.25, 0.5), zeros=(0, -5, 7), axis=1),
        Q(scales=(0.1, 0.25, 0.5, 2.0), zeros=(3, 9, -9, 0), axis=0),
    ]
    for a, b in itertools.permutations(kinds, 2):
        x = a.random(rng, (4, 3))
        s, t = a.tensor(x.shape), b.tensor(x.shape)
        text = f"""func.func @main(%x: {s}) -> {t} {{
          %0 = stablehlo.uniform_quantize %x : ({s}) -> {t}
          return %0 : {t}
        }}"""
        check(b, run(text, x), a.real(x))


UNARY = {
    "abs": np.abs, "ceil": np.ceil, "cosine": np.cos, "exponential": np.exp, "floor": np.floor, "negate": np.negative,
    "round_nearest_even": np.rint, "sign": np.sign, "sine": np.sin, "tanh": np.tanh,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip
BINARY = {
    "add": np.add, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply, "subtract": np.subtract,
    "atan2": np.arctan2,
}  # fmt: skip


@pytest.mark.parametrize("q", [TYPES[0], TYPES[1], TYPES[2], TYPES[12], TYPES[13]], ids=str)
def test_elementwise(q: Q):
    rng = np.random.default_rng(2)
    shape = (5, 3)
    x, y, t = q.random(rng, shape), q.random(rng, shape), q.tensor(shape)
    other = dataclasses.replace(q, scales=tuple(2 * s for s in q.scales))  # the result's scale
    o = other.tensor(shape)
    per_tensor = q.axis is None
    unary = {k: v for k, v in UNARY.items() if per_tensor}
    binary = {k: v for k, v in BINARY.items() if per_tensor or k == "add"}
    lines, names = [], []
    for op in unary:
        lines.append(f"%{op} = stablehlo.{op} %x : ({t}) -> {o}")
    for op in binary:
        lines.append(f'%{op} = "stablehlo.{op}"(%x, %y) : ({t}, {t}) -> {o}')
    names = [*unary, *binary]
    text = f"func.func @main(%x: {t}, %y: {t}) -> ({', '.join([o] * len(names))}) {{\n" + "\n".join(lines)
    text += f"\nreturn {', '.join('%' + n for n in names)} : {', '.join([o] * len(names))}\n}}"
    results = [np.asarray(r) for r in kc.compile(text)(x, y)]
    for name, actual in zip(names, results, strict=True):
        real = unary[name](q.real(x)) if name in unary else binary[name](q.real(x), q.real(y))
        check(other, actual, real)


def test_compare_select_and_clamp():
    rng = np.random.default_rng(3)
    a, b = Q("u8", scales=(0.5,), zeros=(100,)), Q("u8", scales=(0.25,), zeros=(3,))
    shape = (40,)
    x, y, z = a.random(rng, shape), a.random(rng, shape), b.random(rng, shape)
    s, t, flag = a.tensor(shape), b.tensor(shape), tensor(shape, "i1")
    text = f"""func.func @main(%x: {s}, %y: {s}, %z: {t}) -> ({flag}, {flag}, {s}, {s}) {{
      %0 = stablehlo.compare LT, %x, %y : ({s}, {s}) -> {flag}
      %1 = stablehlo.compare GE, %x, %z : ({s}, {t}) -> {flag}
      %2 = stablehlo.select %0, %x, %y : {flag}, {s}
      %3 = stablehlo.clamp %x, %y, %2 : {s}
      return %0, %1, %2, %3 : {flag}, {flag}, {s}, {s}
    }}"""
    less, most, picked, clamped = (np.asarray(r) for r in kc.compile(text)(x, y, z))
    np.testing.assert_array_equal(less, x < y)
    np.testing.assert_array_equal(most, a.real(x) >= b.real(z))
    np.testing.assert_array_equal(picked, np.where(x < y, x, y))
    np.testing.assert_array_equal(clamped, np.minimum(np.maximum(y, x), np.where(x < y, x, y)))


DOTS = [
    (Q(scales=(0.1,)), Q(scales=(0.02,)), Q(scales=(0.3,), zeros=(5,))),
    (Q(scales=(0.1,), zeros=(-9,)), Q(scales=(0.02,)), Q("i32", scales=(0.001,))),
    (Q("u8", scales=(0.1,), zeros=(128,)), Q("u8", scales=(0.02,)), Q("u8", scales=(0.9,), zeros=(100,))),
    (Q("i4", scales=(0.5,), zeros=(1,)), Q("i4", scales=(0.25,)), Q("i4", scales=(2.0,))),
    (Q("i16", scales=(0.001,)), Q("i16", scales=(0.002,)), Q("i16", scales=(0.5,))),
    (
        Q(scales=(0.1,)),
        Q(scales=(0.02, 0.1, 0.3), zeros=(0, 0, 0), axis=1),
        Q(scales=(0.3, 0.4, 0.5), zeros=(1, 2, 3), axis=1),
    ),
    (
        Q(scales=(0.1,)),
        Q(scales=(0.02, 0.1, 0.3), zeros=(0, 0, 0), axis=1),
        Q("i32", scales=(0.002, 0.01, 0.03), zeros=(0, 0, 0), axis=1),
    ),
]


@pytest.mark.parametrize("types", DOTS, ids=lambda t: " ".join(map(str, t)))
def test_dot_general(types: tuple[Q, Q, Q]):
    rng = np.random.default_rng(4)
    left, right, out = types
    x, y = left.random(rng, (5, 17)), right.random(rng, (17, 3))
    a, b, c = left.tensor(x.shape), right.tensor(y.shape), out.tensor((5, 3))
    text = f"""func.func @main(%x: {a}, %y: {b}) -> {c} {{
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}
      return %0 : {c}
    }}"""
    check(out, run(text, x, y), left.real(x) @ right.real(y))


@pytest.mark.parametrize(
    "right", [Q(scales=(0.1,)), Q("u8", scales=(0.5,)), Q("i4", scales=(0.5,)), DOTS[5][1]], ids=str
)
def test_hybrid_dot(right: Q):
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((5, 4)).astype(np.float32), right.random(rng, (4, 3))
    a, b, c = tensor(x.shape, "f32"), right.tensor(y.shape), tensor((5, 3), "f32")
    text = f"""func.func @main(%x: {a}, %y: {b}) -> {c} {{
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}
      return %0 : {c}
    }}"""
    np.testing.assert_allclose(run(text, x, y), x.astype(np.float64) @ right.real(y), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "types",
    [DOTS[0], DOTS[2], (DOTS[5][0], dataclasses.replace(DOTS[5][1], axis=2), dataclasses.replace(DOTS[5][2], axis=2))],
    ids=lambda t: " ".join(map(str, t)),
)
@pytest.mark.parametrize("hybrid", [False, True])
def test_convolution(types: tuple[Q, Q, Q], hybrid: bool):
    rng = np.random.default_rng(6)
    left, right, out = types
    x, w = left.random(rng, (2, 6, 2)), right.random(rng, (3, 2, 3))
    real = left.real(x)
    if hybrid:
        x = real.astype(np.float32)
    a, b = tensor(x.shape, "f32") if hybrid else left.tensor(x.shape), right.tensor(w.shape)
    c = tensor((2, 7, 3), "f32") if hybrid else out.tensor((2, 7, 3))
    text = f"""func.func @main(%x: {a}, %w: {b}) -> {c} {{
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{pad = [[1, 2]]}}
        {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({a}, {b}) -> {c}
      return %0 : {c}
    }}"""
    padded = np.pad(real, ((0, 0), (1, 2), (0, 0)))
    expected = sum(padded[:, k : k + 7] @ right.real(w)[k] for k in range(3))
    actual = run(text, x, w)
    if hybrid:
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-3)
    else:
        check(out, actual, expected)


def test_movement_and_control_flow_on_stored_numbers():
    rng = np.random.default_rng(7)
    q = Q("u8", scales=(0.5,), zeros=(128,))
    x = q.random(rng, (4, 6))
    t, scalar = q.tensor((4, 6)), q.tensor(())
    text = f"""func.func @main(%x: {t}, %p: tensor<i1>) -> ({q.tensor((6, 4))}, {q.tensor((4, 3))}, {q.tensor((6, 8))}, {t}, {q.tensor((4,))}, {t}) {{
      %c = stablehlo.constant() <{{value = dense<-56> : tensor<i8>}}> : () -> {scalar}
      %0 = stablehlo.transpose %x, dims = [1, 0] : ({t}) -> {q.tensor((6, 4))}
      %1 = stablehlo.slice %x [0:4, 0:6:2] : ({t}) -> {q.tensor((4, 3))}
      %2 = stablehlo.pad %x, %c, low = [1, 1], high = [1, 1], interior = [0, 0] : ({t}, {scalar}) -> {q.tensor((6, 8))}
      %3 = "stablehlo.if"(%p) ({{
        %r = stablehlo.reverse %x, dims = [1] : {t}
        stablehlo.return %r : {t}
      }}, {{
        stablehlo.return %x : {t}
      }}) : (tensor<i1>) -> {t}
      %4 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : ({t}, {scalar}) -> {q.tensor((4,))}
      %5 = "stablehlo.sort"(%x) <{{dimension = 1 : i64}}> ({{
      ^bb0(%a: {scalar}, %b: {scalar}):
        %l = stablehlo.compare LT, %a, %b : ({scalar}, {scalar}) -> tensor<i1>
        stablehlo.return %l : tensor<i1>
      }}) : ({t}) -> {t}
      return %0, %1, %2, %3, %4, %5 : {q.tensor((6, 4))}, {q.tensor((4, 3))}, {q.tensor((6, 8))}, {t}, {q.tensor((4,))}, {t}
    }}"""
    found = [np.asarray(r) for r in kc.compile(text)(x, np.array(True))]
    np.testing.assert_array_equal(found[0], x.T)
    np.testing.assert_array_equal(found[1], x[:, ::2])
    np.testing.assert_array_equal(found[2], np.pad(x, 1, constant_values=200))
    np.testing.assert_array_equal(found[3], x[:, ::-1])
    np.testing.assert_array_equal(found[4], np.maximum(x.max(1), 200))
    np.testing.assert_array_equal(found[5], np.sort(x, 1))


def test_a_reduction_in_quantised_steps():
    """Each step of the region rounds and clamps, as the region says."""
    rng = np.random.default_rng(8)
    q = Q(scales=(0.5,), zeros=(3,))
    x = q.random(rng, (7, 3))
    t, scalar = q.tensor(x.shape), q.tensor(())
    text = f"""func.func @main(%x: {t}) -> {q.tensor((3,))} {{
      %c = stablehlo.constant() <{{value = dense<3> : tensor<i8>}}> : () -> {scalar}
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : ({t}, {scalar}) -> {q.tensor((3,))}
      return %0 : {q.tensor((3,))}
    }}"""
    total = np.full(3, 3)
    for row in x.astype(int):
        total = np.clip(total + row - 3, -128, 127)
    np.testing.assert_array_equal(run(text, x), total)


@pytest.mark.parametrize("q", [TYPES[1], TYPES[13]], ids=str)
def test_sizes_known_at_run_time(q: Q):
    rng = np.random.default_rng(9)
    t, f = tensor((), str(q)).replace("<", "<?x3x", 1), "tensor<?x3xf32>"
    text = f"""func.func @main(%x: {t}) -> ({f}, {t}) {{
      %0 = stablehlo.uniform_dequantize %x : ({t}) -> {f}
      %1 = stablehlo.add %x, %x : ({t}, {t}) -> {t}
      return %0, %1 : {f}, {t}
    }}"""
    exe = kc.compile(text)
    for n in (0, 1, 6):
        x = q.random(rng, (n, 3))
        real, doubled = (np.asarray(r) for r in exe(x))
        np.testing.assert_allclose(real, q.real(x), rtol=1e-6)
        check(q, doubled, 2 * q.real(x))
