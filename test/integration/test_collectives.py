"""Collectives against NumPy, on processes that are threads: every op, strategy of groups, element types, failures."""
from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kc
from kc.runtime import ArgumentError, ExecutionError, custom_calls

RNG = np.random.default_rng(5)


def numbers(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
    return (RNG.standard_normal(shape) * 5).astype(dtype)


def groups(ids: list[list[int]]) -> str:
    return f"replica_groups = dense<{ids}> : tensor<{len(ids)}x{len(ids[0])}xi64>"


CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>"


def region(op: str, t: str) -> str:
    return (
        f"({{^bb0(%a: tensor<{t}>, %b: tensor<{t}>): %r = stablehlo.{op} %a, %b : tensor<{t}>\n"
        f"stablehlo.return %r : tensor<{t}>}})"
    )


def one(op: str, attributes: str, source: str, result: str, body: str = "") -> str:
    return (
        f"func.func @main(%x: {source}) -> {result} {{\n"
        f'  %r = "stablehlo.{op}"(%x) {body} {{{attributes}}} : ({source}) -> {result}\n  return %r : {result}\n}}\n'
    )


def run(source: str, inputs: list[Any], **options: Any) -> list[Any]:
    outs = kc.compile(source).run_parallel([(x,) for x in inputs], timeout=20, **options)
    return [out[0] for out in outs]


# ------------------------------------------------------------------------------------------------------ the ops


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i1", "i4", "complex<f64>", "f8E4M3FN"])
def test_all_gather(axis: int, dtype: str) -> None:
    numpy = {
        "f32": np.float32, "bf16": ml_dtypes.bfloat16, "i1": bool, "i4": ml_dtypes.int4, "complex<f64>": np.complex128,
        "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    }[dtype]  # fmt: skip
    xs = [numbers((2, 3)).astype(np.int8).astype(numpy) for _ in range(4)]
    shape = (4, 3) if axis == 0 else (2, 6)
    source = one(
        "all_gather", f"all_gather_dim = {axis} : i64, {groups([[2, 0], [1, 3]])}",
        f"tensor<2x3x{dtype}>", f"tensor<{shape[0]}x{shape[1]}x{dtype}>",
    )  # fmt: skip
    got = run(source, xs)
    for mine, order in ((0, (2, 0)), (2, (2, 0)), (1, (1, 3)), (3, (1, 3))):
        want = np.concatenate([xs[k] for k in order], axis)
        assert got[mine].dtype == want.dtype
        np.testing.assert_array_equal(got[mine].astype(np.complex128), want.astype(np.complex128))


@pytest.mark.parametrize("op", ["add", "multiply", "maximum", "subtract"])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "i32", "ui8"])
def test_all_reduce_folds_in_the_order_of_the_group(op: str, dtype: str) -> None:
    numpy = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "i32": np.int32, "ui8": np.uint8}[dtype]
    xs = [numbers((5, 7)).astype(numpy) for _ in range(3)]
    if dtype == "f32":
        xs[1][0, :3] = np.nan, np.inf, -0.0
    source = one("all_reduce", groups([[2, 0, 1]]), f"tensor<5x7x{dtype}>", f"tensor<5x7x{dtype}>", region(op, dtype))
    f = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "subtract": np.subtract}[op]
    wide = [x.astype(np.float32) if dtype in ("bf16", "f16") else x for x in xs]  # narrow floats are rounded once
    with np.errstate(all="ignore"):
        want = f(f(wide[2], wide[0]), wide[1]).astype(numpy)
    for got in run(source, xs):
        np.testing.assert_array_equal(got.view(f"u{want.itemsize}"), want.view(f"u{want.itemsize}"))


def test_sums_of_booleans_are_or() -> None:
    xs = [np.array([False, True, True, False]), np.array([False, True, False, True])]
    source = one("all_reduce", groups([[0, 1]]), "tensor<4xi1>", "tensor<4xi1>", region("add", "i1"))
    for got in run(source, xs):
        np.testing.assert_array_equal(got, xs[0] | xs[1])


def test_strategies_of_groups() -> None:
    xs = [np.full(2, 10.0 ** k, np.float32) for k in range(4)]  # processes (0,0) (0,1) (1,0) (1,1)
    sums = {
        groups([[0, 1]]): [101, 1010, 101, 1010],  # cross_replica
        f"{groups([[0, 1]])}, {CHANNEL}": [1111] * 4,  # cross_replica_and_partition
        f"{groups([[0, 3], [1, 2]])}, {CHANNEL}, use_global_device_ids": [1001, 110, 110, 1001],  # flattened_ids
        f"{groups([[0, -1], [1, -1]])}": [1, 10, 100, 1000],
    }
    for op in ("add", "maximum"):
        for attributes, want in sums.items():
            source = one("all_reduce", attributes, "tensor<2xf32>", "tensor<2xf32>", region(op, "f32"))
            got = [float(g[0]) for g in run(source, xs, replicas=2, partitions=2)]
            digits = [max(10 ** k for k in range(4) if str(w)[::-1][k : k + 1] == "1") for w in want]
            assert got == (want if op == "add" else digits), (op, attributes)


def test_cross_partition_groups() -> None:
    xs = [np.array([k, k + 10], np.int32) for k in range(4)]
    source = one(
        "all_to_all",
        f"split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, {groups([[1, 0]])}, {CHANNEL}",
        "tensor<2xi32>", "tensor<2xi32>",
    )  # fmt: skip
    got = [g.tolist() for g in run(source, xs, replicas=2, partitions=2)]
    assert got == [[11, 10], [1, 0], [13, 12], [3, 2]]


def test_reduce_scatter_and_wider_computation() -> None:
    xs = [numbers((3, 6, 2)).astype(ml_dtypes.bfloat16) for _ in range(3)]
    source = one(
        "reduce_scatter", f"scatter_dimension = 1 : i64, {groups([[0, 1, 2]])}", "tensor<3x6x2xbf16>",
        "tensor<3x2x2xf32>", region("add", "f32"),
    )  # fmt: skip
    total = sum(x.astype(np.float32) for x in xs)
    for k, got in enumerate(run(source, xs)):
        np.testing.assert_array_equal(got, total[:, 2 * k : 2 * k + 2])


def test_all_to_all_moves_axes() -> None:
    xs = [numbers((4, 6)) for _ in range(2)]
    source = one(
        "all_to_all",
        f"split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, {groups([[0, 1]])}",
        "tensor<4x6xf32>", "tensor<8x3xf32>",
    )  # fmt: skip
    for k, got in enumerate(run(source, xs)):
        np.testing.assert_array_equal(got, np.concatenate([x[:, 3 * k : 3 * k + 3] for x in xs]))


def test_permute_broadcast_and_rooted_reduce() -> None:
    xs = [numbers((3,)) for _ in range(4)]
    zero = np.zeros(3, np.float32)
    ring = one("collective_permute", "source_target_pairs = dense<[[0, 1], [1, 2], [2, 2]]> : tensor<3x2xi64>",
               "tensor<3xf32>", "tensor<3xf32>")  # fmt: skip
    with pytest.raises(kc.errors.KcError):  # two sources of one target
        kc.compile(ring)
    ring = ring.replace("[2, 2]", "[3, 3]")
    for got, want in zip(run(ring, xs), (zero, xs[0], xs[1], xs[3]), strict=True):
        np.testing.assert_array_equal(got, want)
    spread = one("collective_broadcast", groups([[3, 1]]), "tensor<3xf32>", "tensor<3xf32>")
    for got, want in zip(run(spread, xs), (zero, xs[3], zero, xs[3]), strict=True):
        np.testing.assert_array_equal(got, want)
    rooted = one("collective_reduce", groups([[2, 0], [1, 3]]), "tensor<3xf32>", "tensor<3xf32>", region("add", "f32"))
    for got, want in zip(run(rooted, xs), (zero, xs[1] + xs[3], xs[2] + xs[0], zero), strict=True):
        np.testing.assert_array_equal(got, want)


def test_cross_replica_sum_and_large_groups() -> None:
    xs = [numbers((1000,)) for _ in range(8)]
    ids = groups([list(range(8))])
    source = one("cross-replica-sum", ids, "tensor<1000xf32>", "tensor<1000xf32>")
    want = xs[0]
    for x in xs[1:]:
        want = want + x
    for got in run(source, xs):
        np.testing.assert_array_equal(got, want)
    nine = groups([list(range(9))])  # more than are read side by side
    source = one("all_reduce", nine, "tensor<2xf16>", "tensor<2xf16>", region("maximum", "f16"))
    ys = [np.array([k, -k], np.float16) for k in range(9)]
    assert [g.tolist() for g in run(source, ys)] == [[8, 0]] * 9


def test_dynamic_and_empty_shapes() -> None:
    source = one("all_reduce", groups([[0, 1]]), "tensor<?x3xf32>", "tensor<?x3xf32>", region("maximum", "f32"))
    exe = kc.compile(source)
    for rows in (0, 1, 5):
        xs = [numbers((rows, 3)) for _ in range(2)]
        for (got,) in exe.run_parallel([(x,) for x in xs]):
            np.testing.assert_array_equal(got, np.maximum(*xs))
    with pytest.raises(ExecutionError, match=r"one group do not agree: .* (12|24) bytes, .* (24|12) bytes"):
        exe.run_parallel([(numbers((1, 3)),), (numbers((2, 3)),)])


def test_sizes_that_do_not_fit_are_errors() -> None:
    """Where the shape is only known at run time: chunks that do not come out even, results of another size."""
    pair = groups([[0, 1]])
    scatter = one("reduce_scatter", f"scatter_dimension = 0 : i64, {pair}", "tensor<?xf32>", "tensor<?xf32>",
                  region("add", "f32"))  # fmt: skip
    gather = one("all_gather", f"all_gather_dim = 0 : i64, {pair}", "tensor<?xf32>", "tensor<8xf32>")
    reduce = one("all_reduce", pair, "tensor<?xf32>", "tensor<8xf32>", region("maximum", "f32"))
    for source, good, bad, text in (
        (scatter, 4, 5, r"dimension 0 of the operand has size 5, which 2 processes do not divide"),
        (gather, 4, 5, r"dimension 0 of the result has size 10, its type says 8"),
        (reduce, 8, 7, r"dimension 0 of the result has size 7, its type says 8"),
    ):
        xs = [numbers((good,)) for _ in range(2)]
        want = {scatter: sum(xs)[:2], gather: np.concatenate(xs), reduce: np.maximum(*xs)}[source]
        np.testing.assert_array_equal(run(source, xs)[0], want)
        with pytest.raises(ExecutionError, match=text):
            run(source, [numbers((bad,)) for _ in range(2)])


def test_ids_control_flow_and_order() -> None:
    """Collectives in a loop and in branches: none is hoisted, merged or dropped."""
    exe = kc.compile("""
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>, tensor<ui32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %step = stablehlo.constant dense<1> : tensor<i32>
      %w:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<2xf32>
      cond { %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
             stablehlo.return %p : tensor<i1> }
      do {
        %unused = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}
          : (tensor<2xf32>) -> tensor<2xf32>
        %r = "stablehlo.all_reduce"(%s) ({^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %t = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %t : tensor<f32>}) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
          : (tensor<2xf32>) -> tensor<2xf32>
        %n = stablehlo.add %i, %step : tensor<i32>
        stablehlo.return %n, %r : tensor<i32>, tensor<2xf32>
      }
      %replica = stablehlo.replica_id : tensor<ui32>
      %partition = stablehlo.partition_id : tensor<ui32>
      return %w#1, %replica, %partition : tensor<2xf32>, tensor<ui32>, tensor<ui32>
    }""")
    xs = [numbers((2,)) for _ in range(2)]
    for k, (total, replica, partition) in enumerate(exe.run_parallel([(x,) for x in xs])):
        np.testing.assert_array_equal(total, (xs[0] + xs[1]) * 4)
        assert (replica, partition) == (k, 0) and replica.dtype == np.uint32
    ids = [(int(r), int(p)) for _, r, p in exe.run_parallel([(x,) for x in xs], replicas=2, partitions=1)]
    assert ids == [(0, 0), (1, 0)]


def test_tuples_and_tokens_of_an_entry() -> None:
    exe = kc.compile("""
    func.func @main(%t: tuple<tensor<2xf32>, tensor<3xi32>>, %k: !stablehlo.token)
        -> (tuple<tensor<3xi32>, tuple<tensor<2xf32>>>, !stablehlo.token) {
      %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<2xf32>
      %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
      %i = stablehlo.tuple %a : tuple<tensor<2xf32>>
      %r = stablehlo.tuple %b, %i : tuple<tensor<3xi32>, tuple<tensor<2xf32>>>
      return %r, %k : tuple<tensor<3xi32>, tuple<tensor<2xf32>>>, !stablehlo.token
    }""")
    only_passed_on = kc.compile("func.func @main(%t: tuple<tensor<2xf32>>) -> tuple<tensor<2xf32>> { return %t : "
                                "tuple<tensor<2xf32>> }")  # fmt: skip
    x, n = numbers((2,)), np.arange(3, dtype=np.int32)
    np.testing.assert_array_equal(only_passed_on(x)[0], x)
    got = exe(x, n)
    assert len(got) == 2
    np.testing.assert_array_equal(got[0], n)
    np.testing.assert_array_equal(got[1], x)


# ---------------------------------------------------------------------------------- transfers and several programs


# column 8 of line 4 is the send's
TALK = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %s = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}
    : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %r:2 = "stablehlo.recv"(%s) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}
    : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %r#0 : tensor<4xf32>
}"""
ONE_WAY = """
func.func @main(%x: tensor<4xf32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %s = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>,
    is_host_transfer = true} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}"""
OTHER_WAY = """
func.func @main() -> tensor<4xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %r:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>,
    is_host_transfer = true} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %r#0 : tensor<4xf32>
}"""
FEED = """
func.func @main(%t: !stablehlo.token) -> (tensor<2xf32>, tensor<i32>, !stablehlo.token) {
  %f:3 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xf32>, tensor<i32>, !stablehlo.token)
  %o = "stablehlo.outfeed"(%f#1, %f#0, %f#2) : (tensor<i32>, tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %f#0, %f#1, %o : tensor<2xf32>, tensor<i32>, !stablehlo.token
}"""


def test_both_send_first() -> None:
    xs = [numbers((4,)) for _ in range(2)]
    for got, want in zip(run(TALK, xs), xs[::-1], strict=True):
        np.testing.assert_array_equal(got, want)


def test_two_programs_talk() -> None:
    x = numbers((4,))
    sender, receiver = kc.compile(ONE_WAY), kc.compile(OTHER_WAY)
    nothing, (got,) = kc.runtime.run_parallel([(sender, None, (x,)), (receiver, None, ())])
    assert nothing == ()
    np.testing.assert_array_equal(got, x)


def test_two_programs_in_one_collective() -> None:
    x = numbers((2,))
    programs = [
        kc.compile(
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
            f"  %c = stablehlo.constant dense<{factor}> : tensor<2xf32>\n"
            "  %y = stablehlo.multiply %x, %c : tensor<2xf32>\n"
            f'  %s = "stablehlo.all_reduce"(%y) {region("add", "f32")} {{{groups([[0, 1]])}}}\n'
            "    : (tensor<2xf32>) -> tensor<2xf32>\n  return %s : tensor<2xf32>\n}"
        )
        for factor in (2.0, 3.0)
    ]
    for (got,) in kc.runtime.run_parallel([(program, None, (x,)) for program in programs]):
        np.testing.assert_array_equal(got, 2 * x + 3 * x)


LOOP = """
func.func @main(%t0: !stablehlo.token, %n: tensor<i32>) -> (!stablehlo.token, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<2xf32>
  %w:3 = stablehlo.while(%i = %zero, %s = %z, %t = %t0) : tensor<i32>, tensor<2xf32>, !stablehlo.token
  cond { %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
         stablehlo.return %p : tensor<i1> }
  do {
    %f:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    %a = stablehlo.add %s, %f#0 : tensor<2xf32>
    %bit = stablehlo.and %i, %one : tensor<i32>
    %even = stablehlo.compare EQ, %bit, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %u = "stablehlo.if"(%even) ({
      %o = "stablehlo.outfeed"(%a, %f#1) : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
      stablehlo.return %o : !stablehlo.token
    }, { stablehlo.return %f#1 : !stablehlo.token }) : (tensor<i1>) -> !stablehlo.token
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %a, %u : tensor<i32>, tensor<2xf32>, !stablehlo.token
  }
  return %w#2, %w#1 : !stablehlo.token, tensor<2xf32>
}"""


def test_tokens_through_control_flow() -> None:
    out: list[kc.runtime.Message] = []
    feed = [np.array([k, 1], np.float32) for k in range(5)]
    ((total,),) = kc.compile(LOOP).run_parallel([(np.int32(5),)], infeed=feed, outfeed=out)
    np.testing.assert_array_equal(total, [10, 5])
    assert [m.arrays[0].tolist() for m in out] == [[0, 1], [3, 3], [10, 5]]


def test_channels_to_and_from_the_host() -> None:
    x = numbers((4,))
    channels: dict[int, list[Any]] = {}
    kc.compile(ONE_WAY).run_parallel([(x,)], channels=channels)
    np.testing.assert_array_equal(channels[5][0], x)
    ((got,),) = kc.compile(OTHER_WAY).run_parallel([()], channels=channels)
    np.testing.assert_array_equal(got, x)
    assert channels == {}
    with pytest.raises(ExecutionError, match=r"wants f32\[4\], but the next message is f32\[3\]"):
        kc.compile(OTHER_WAY).run_parallel([()], channels={5: [numbers((3,))]})


def test_infeed_and_outfeed() -> None:
    exe = kc.compile(FEED)
    items = [(np.array([k, -k], np.float32), np.int32(k)) for k in range(3)]
    out: list[kc.runtime.Message] = []
    got = exe.run_parallel([()] * 3, infeed={k: [items[k]] for k in range(3)}, outfeed=out)
    for k in range(3):
        np.testing.assert_array_equal(got[k][0], items[k][0])
        assert got[k][1] == k
    assert sorted(m.process for m in out) == [(0, 0), (1, 0), (2, 0)]
    assert all(int(m.arrays[0]) == m.process[0] and m.arrays[1][1] == -m.process[0] for m in out)
    with pytest.raises(ExecutionError, match=r"stablehlo.infeed at line 3, column \d+: the infeed is empty"):
        exe.run_parallel([()])
    with pytest.raises(ExecutionError, match=r"wants f32\[2\], but the next message is i32\[2\]"):
        exe.run_parallel([()], infeed=[(np.zeros(2, np.int32), np.int32(1))])
    with pytest.raises(ExecutionError, match="talks to the host: call the program with run_parallel"):
        exe()


def test_a_message_that_nobody_takes_is_told() -> None:
    both, back = "[[0, 1], [1, 0]]> : tensor<2x2xi64>}\n    : (!", "[[1, 0]]> : tensor<1x2xi64>}\n    : (!"
    source = TALK.replace(both, back)
    with pytest.raises(ExecutionError, match=r"stablehlo.send at line 4, column 8 sent a message that no process"):
        run(source, [numbers((4,)) for _ in range(2)])


# ------------------------------------------------------------------------------------------------------ failures

MIXED = """
func.func @gather(%x: tensor<2xf32>) -> tensor<4xf32> {
  %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<2xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
func.func @reduce(%x: tensor<2xf32>) -> tensor<2xf32> {
  %g = "stablehlo.all_reduce"(%x) ({^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>}) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<2xf32>) -> tensor<2xf32>
  return %g : tensor<2xf32>
}
func.func @nothing(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
"""


def two(inputs: list[Any], outputs: list[Any], attributes: Any) -> None:
    if (inputs[0] < 0).any():
        raise ValueError("no negative numbers")
    outputs[0][:] = 2 * inputs[0]
    outputs[1][:] = 1


custom_calls.register("kc_test_two", two, replace=True)


@pytest.fixture(scope="module")
def mixed() -> kc.Executable:
    return kc.compile(MIXED, entry="gather")


def test_a_deadlock_is_told_at_once(mixed: kc.Executable) -> None:
    started = time.monotonic()
    with pytest.raises(
        ExecutionError,
        match=r"deadlock: no process can go on; there wait \(0, 0\), which is in stablehlo.all_gather at line 3, "
        "column 8; the others have finished",
    ):
        mixed.run_parallel([(numbers((2,)),)] * 2, entry=["gather", "nothing"], timeout=30)
    assert time.monotonic() - started < 5


def test_a_wait_ends_with_the_clock(mixed: kc.Executable) -> None:
    """A process that computes on and on is no deadlock; the message says who came and who did not."""
    x = numbers((2,))
    with pytest.raises(
        ExecutionError,
        match=r"process \(0, 0\) has waited 0.3 s in stablehlo.all_gather at line 3, column 8 for \(1, 0\), which is "
        r"computing; arrived: \(0, 0\)",
    ):
        kc.runtime.run_parallel([(mixed, "gather", (x,)), (_Slow(), None, ())], timeout=0.3)


class _Slow:
    """Stands in for a program whose process does not come in time."""

    def __init__(self) -> None:
        self.program = self
        self.on_gpu = False

    def _find(self, name: str | None) -> Any:
        return self

    def __call__(self) -> tuple[Any, ...]:
        time.sleep(1)
        return ()


def test_processes_that_do_not_agree(mixed: kc.Executable) -> None:
    with pytest.raises(ExecutionError, match=r"do not agree: \(\d, 0\) is in stablehlo.all_(gather|reduce) at line"):
        mixed.run_parallel([(numbers((2,)),)] * 2, entry=["gather", "reduce"], timeout=30)


def test_a_failure_wakes_the_others(mixed: kc.Executable) -> None:
    started = time.monotonic()
    with pytest.raises(ArgumentError, match=r"process \(1, 0\): argument 0 .*: expected f32\[2\], got f32\[3\]"):
        mixed.run_parallel([(numbers((2,)),), (numbers((3,)),)], timeout=30)
    assert time.monotonic() - started < 5


def test_a_failing_program_wakes_the_others() -> None:
    """A check of sizes fails in one process while the other one waits for it."""
    exe = kc.compile(
        "func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {\n"
        "  %s = stablehlo.add %x, %y : tensor<?xf32>\n"
        f'  %r = "stablehlo.all_reduce"(%s) {region("add", "f32")} {{{groups([[0, 1]])}}}\n'
        "    : (tensor<?xf32>) -> tensor<?xf32>\n"
        "  return %r : tensor<?xf32>\n}"
    )
    x = numbers((3,))
    started = time.monotonic()
    with pytest.raises(ExecutionError, match=r"process \(1, 0\): 'stablehlo.add' at -:2:8: .* has size"):
        exe.run_parallel([(x, x), (x, numbers((4,)))], timeout=30)
    assert time.monotonic() - started < 5
    np.testing.assert_array_equal(exe.run_parallel([(x, x)] * 2)[1][0], 4 * x)


def test_an_exception_in_a_custom_call_wakes_the_others() -> None:
    """Which also gives its results as a tuple."""
    exe = kc.compile(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %t = stablehlo.custom_call @kc_test_two(%x) : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<1xi32>>\n"
        "  %y = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tensor<1xi32>>) -> tensor<2xf32>\n"
        f'  %r = "stablehlo.all_reduce"(%y) {region("add", "f32")} {{{groups([[0, 1]])}}}\n'
        "    : (tensor<2xf32>) -> tensor<2xf32>\n  return %r : tensor<2xf32>\n}"
    )
    for got in exe.run_parallel([(np.full(2, k, np.float32),) for k in (1, 2)]):
        np.testing.assert_array_equal(got[0], [6, 6])
    started = time.monotonic()
    with pytest.raises(ExecutionError, match=r"process \(1, 0\): .*no negative numbers"):
        exe.run_parallel([(np.full(2, k, np.float32),) for k in (1, -2)], timeout=30)
    assert time.monotonic() - started < 5


def test_the_grid_must_fit(mixed: kc.Executable) -> None:
    with pytest.raises(ExecutionError, match="names number 1, but there are 1 replicas here; run the program with"):
        mixed(numbers((2,)))
    with pytest.raises(ExecutionError, match=r"process \(2, 0\) is in none of the replica groups"):
        mixed.run_parallel([(numbers((2,)),)] * 3)
    with pytest.raises(ArgumentError, match="3 processes do not fill a grid of 2 replicas by 2 partitions"):
        mixed.run_parallel([(numbers((2,)),)] * 3, replicas=2, partitions=2)
    with pytest.raises(ArgumentError, match="a timeout of 0 seconds"):
        mixed.run_parallel([(numbers((2,)),)] * 2, timeout=0)


def test_many_runs(mixed: kc.Executable) -> None:
    xs = [numbers((2,)) for _ in range(2)]
    want = np.concatenate(xs)
    for _ in range(200):
        for (got,) in mixed.run_parallel([(x,) for x in xs], timeout=20):
            np.testing.assert_array_equal(got, want)


# ------------------------------------------------------------------------- the ops of the reference interpreter


def test_run_parallel_as_an_op(capfd: pytest.CaptureFixture[str]) -> None:
    exe = kc.compile("""
    func.func private @f(%x: tensor<2xf32>) -> (tensor<ui32>, tensor<2xf32>, tensor<300xf32>) {
      %id = stablehlo.partition_id : tensor<ui32>
      interpreter.print %x : tensor<2xf32>
      %t = stablehlo.create_token : !stablehlo.token
      %f:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
      %s = "stablehlo.all_reduce"(%f#0) ({^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %r = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %r : tensor<f32>}) {
          replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2xf32>) -> tensor<2xf32>
      %big = stablehlo.constant dense<BIG> : tensor<300xf32>
      return %id, %s, %big : tensor<ui32>, tensor<2xf32>, tensor<300xf32>
    }
    func.func @feed0() -> tensor<2xf32> {
      %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      return %c : tensor<2xf32>
    }
    func.func @feed1() -> tensor<2xf32> {
      %c = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
      return %c : tensor<2xf32>
    }
    func.func @main(%x: tensor<2xf32>, %u: tensor<2x1xui8>)
        -> (tensor<ui32>, tensor<2xf32>, tensor<ui32>, tensor<300xf32>) {
      interpreter.print %u : tensor<2x1xui8>
      %r:6 = "interpreter.run_parallel"(%x, %x) {programs = [[@f, @f]], infeed = [@feed0, @feed1]}
        : (tensor<2xf32>, tensor<2xf32>)
        -> (tensor<ui32>, tensor<2xf32>, tensor<300xf32>, tensor<ui32>, tensor<2xf32>, tensor<300xf32>)
      return %r#0, %r#1, %r#3, %r#5 : tensor<ui32>, tensor<2xf32>, tensor<ui32>, tensor<300xf32>
    }""".replace("BIG", str([float(k) for k in range(300)])))
    first, total, second, big = exe(np.array([0.5, -0.0], np.float32), np.array([[200], [3]], np.uint8))
    assert (first, second) == (0, 1)
    np.testing.assert_array_equal(total, [11, 22])
    np.testing.assert_array_equal(big, np.arange(300))
    x = "tensor<2xf32> {\n  [5.000000e-01, -0.000000e+00]\n}\n"
    assert capfd.readouterr().out == "tensor<2x1xui8> {\n  [\n    [200],\n    [3]\n  ]\n}\n" + 2 * x


# ---------------------------------------------------------------------------------------------- programs from JAX

SHARD_MAP = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
import kc
jax.config.update("jax_use_shardy_partitioner", False)
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
def body(a, w):
    number = jax.lax.axis_index("x") * 2 + jax.lax.axis_index("y")
    return (
        jax.lax.psum(a @ w, "x") + number,
        jax.lax.all_gather(a, "y", axis=1, tiled=True),
        jax.lax.ppermute(a, "x", [(0, 1), (1, 0)]),
        jax.lax.all_to_all(a, "y", 0, 1, tiled=True),
        jax.lax.psum_scatter(jnp.sin(a), "x", scatter_dimension=0, tiled=True),
        jax.lax.pmax(a, ("x", "y")),
    )
specs = (P("y"), P("y", "x"), P("y", "x"), P("y", "x"), P("y", "x"), P())
mapped = jax.shard_map(body, mesh=mesh, in_specs=(P("y", "x"), P("x")), out_specs=specs, check_vma=False)
f = jax.jit(lambda a, w: tuple(2 * v for v in mapped(a + 1, w)))
rng = np.random.default_rng(3)
a, w = rng.standard_normal((8, 4), np.float32), rng.standard_normal((4, 6), np.float32)
exe = kc.compile(f.lower(a, w).as_text())
for out in exe.run_parallel([(a, w)] * 4):
    for got, want in zip(out, f(a, w), strict=True):
        np.testing.assert_allclose(got, np.asarray(want), rtol=1e-6, atol=1e-6)
try:
    exe.run_parallel([(a, w)] * 3)
except kc.runtime.ArgumentError as error:
    assert "the program is for 4 partitions" in str(error), error
else:
    raise AssertionError("three processes ran")
g = jax.pmap(lambda x: x / jax.lax.psum(x, "i"), axis_name="i")
x = rng.standard_normal((4, 5), np.float32)
for (got,) in kc.compile(g.lower(x).as_text()).run_parallel([(x,)] * 4):
    np.testing.assert_allclose(got, np.asarray(g(x)), rtol=1e-6)
for got, want in zip(kc.jit(f)(a, w), f(a, w), strict=True):  # as many processes as the mesh has devices
    assert isinstance(got, np.ndarray)
    np.testing.assert_allclose(got, np.asarray(want), rtol=1e-6, atol=1e-6)
assert isinstance(kc.jit(f)(jnp.asarray(a), jnp.asarray(w))[0], jax.Array)
print("same as JAX")
"""


def test_shard_map_and_pmap() -> None:
    """On four devices of the host, which JAX must be told before it starts."""
    pytest.importorskip("jax")
    done = subprocess.run([sys.executable, "-c", SHARD_MAP], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "same as JAX\n", done.stderr
