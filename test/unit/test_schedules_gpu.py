"""Which GPU schedule a kernel gets, and how accesses are read; nothing is compiled."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import gpu_zoo as zoo

from kc.kernels.expr import Contraction, Coord, Dim, Load, Map, Operand, Output, Rows, Window
from kc.schedules.gpu.access import ONE, Extent, access, aligned, collapse, grouped, itemsize
from kc.schedules.gpu.attention import AttentionSchedule
from kc.schedules.gpu.attention.problem import score_scale
from kc.schedules.gpu.attention.split import AttentionSplitSchedule
from kc.schedules.gpu.columns import ColumnsSchedule
from kc.schedules.gpu.composite import pick_any
from kc.schedules.gpu.contraction import ContractionSchedule
from kc.schedules.gpu.contraction.padded import PaddedContractionSchedule, padded_parts
from kc.schedules.gpu.features import Features
from kc.schedules.gpu.map import MapSchedule
from kc.schedules.gpu.map_tiled import MapTiledSchedule
from kc.schedules.gpu.reduction import neutral
from kc.schedules.gpu.rows import RowsSchedule
from kc.schedules.gpu.rows_loop import RowsLoopSchedule
from kc.schedules.gpu.rows_split import RowsSplitSchedule
from kc.schedules.gpu.simt import SimtSchedule
from kc.schedules.gpu.window import WindowSchedule, as_contraction, patch_parts

HOPPER = Features()
AMPERE = Features("sm_80", 108, 163 << 10)


def _map(shape: tuple, dims: tuple[Dim, ...], *loads: Load) -> Map:
    operands = (*(Operand(shape, "f32") for _ in loads), Operand(shape, "f32", True, 0))
    return Map("k", operands, dims, (Output(len(loads), tuple(Coord(d) for d in range(len(dims))), loads[0]),))


def test_strides_of_dynamic_axes_are_products_of_loops() -> None:
    dims = (Dim(None, (0, 0)), Dim(None, (0, 1)), Dim(4))
    kernel = _map((None, None, 4), dims, zoo.load(0, 0, 1, 2))
    item = access(kernel, dims, kernel.outputs[0])
    assert item.strides == (Extent(4, (("dim", 1),)), Extent(4), ONE)


def test_an_open_axis_may_be_longer_than_its_loop() -> None:
    dims = (Dim(None, (0, 0)), Dim(None, (0, 1)))
    kernel = _map((None, None), dims, zoo.load(0, 0, 1), zoo.load(1, 0, 1))
    assert access(kernel, dims, zoo.load(0, 0, 1)).strides == (Extent(1, (("dim", 1),)), ONE)
    assert access(kernel, dims, zoo.load(1, 0, 1)).strides == (Extent(1, (("extent", 1, 1),)), ONE)
    assert access(kernel, dims, kernel.outputs[0]).strides == (Extent(1, (("dim", 1),)), ONE)


def test_loops_that_all_operands_walk_as_one_are_merged() -> None:
    dims = (Dim(None, (0, 0)), Dim(8), Dim(4))
    kernel = _map((None, 8, 4), dims, zoo.load(0, 0, 1, 2))
    items = [access(kernel, dims, node) for node in (kernel.outputs[0], zoo.load(0, 0, 1, 2))]
    assert collapse(dims, range(3), items).groups == ((0, 1, 2),)
    bias = dataclasses.replace(items[1], strides=(Extent(0), Extent(0), ONE))
    space = collapse(dims, range(3), [*items, bias])
    assert space.groups == ((0, 1), (2,))
    assert grouped(items[0], space).strides == (Extent(4), ONE)


def test_a_window_coordinate_adds_up_and_a_diagonal_does_too() -> None:
    dims = (Dim(5), Dim(3))
    operands = (Operand((12,), "f32"), Operand((5, 5), "f32"), Operand((5, 3), "f32", True, 0))
    window = Load(0, (Coord(0, 2, 1, ((1, 1),)),), "f32")
    kernel = Map("k", operands, dims, (Output(2, zoo.coords(0, 1), window),))
    item = access(kernel, dims, window)
    assert item.strides == (Extent(2), ONE) and item.constants == ((1, ONE),)
    assert not aligned(item, 4, 1)
    assert access(kernel, dims, zoo.load(1, 0, 0)).strides == (Extent(6), Extent(0))


@pytest.mark.parametrize("columns, vector", [(1024, 8), (1000, 8), (1004, 4), (1023, 1)])
def test_map_vector_divides_the_columns(columns: int, vector: int) -> None:
    assert MapSchedule.pick(zoo.bias_relu(16, columns, "bf16"), HOPPER) == MapSchedule(vector)


@pytest.mark.parametrize(
    "rows, columns, kind, wanted",
    [
        (8192, 8192, "f32", RowsSchedule(4, 512, 1)),
        (8192, 8192, "bf16", RowsSchedule(8, 256, 1)),
        (65536, 1000, "bf16", RowsSchedule(8, 32, 4)),
        (100, 7, "f32", RowsSchedule(1, 8, 16)),
        (4096, 32768, "bf16", RowsSchedule(8, 512, 1, True, 2)),
    ],
)
def test_rows_threads_follow_the_row(rows: int, columns: int, kind: str, wanted: RowsSchedule) -> None:
    assert RowsSchedule.pick(zoo.softmax(rows, columns, kind), HOPPER) == wanted


def test_rows_that_do_not_fit_into_registers_are_looped_over() -> None:
    assert isinstance(pick_any(zoo.softmax(200, 200_000, "f32"), HOPPER), RowsLoopSchedule)
    assert isinstance(pick_any(zoo.softmax(200, None, "f32"), HOPPER), RowsLoopSchedule)


def test_few_long_rows_are_cut_evenly() -> None:
    kernel = zoo.softmax(2, 1 << 20, "f32")
    assert RowsSplitSchedule.pick(kernel, HOPPER) is None  # its outputs vary along the row
    total = dataclasses.replace(
        kernel,
        operands=(kernel.operands[0], Operand((2,), "f32", True, 0)),
        outputs=(Output(1, zoo.coords(0), zoo.fold("arith.addf", zoo.load(0, 0, 1), 0.0)),),
    )
    found = pick_any(total, HOPPER)
    assert isinstance(found, RowsSplitSchedule) and (1 << 20) % found.pieces == 0
    parts, temporaries = found.parts(total)
    assert [part.kernel.name for part in parts] == ["softmax_pieces", "softmax_fold"]
    assert temporaries[0].shape == (2, found.pieces)


def test_tensor_core_tiles_fill_the_waves() -> None:
    def tile(m: int, n: int) -> tuple[int, int]:
        found = ContractionSchedule.pick(zoo.matmul(m, n, 1024), HOPPER)
        assert found is not None and found.tile.shared_bytes <= HOPPER.shared
        return found.tile.rows, found.tile.columns

    assert tile(8192, 8192) == (128, 256)
    assert tile(512, 512) == (128, 64)


@pytest.mark.parametrize(
    "kernel",
    [
        zoo.matmul(128, 128, 128, "f32"),  # no TF32 behind the user's back
        zoo.matmul(128, 128, 100),  # a row of the left factor is not a multiple of 16 bytes
        zoo.matmul(128, 100, 128),  # nor is one of the right factor
        zoo.matmul(128, 128, 128, lhs="mk", rhs="kn", kind="f64"),
    ],
)
def test_what_tensor_maps_cannot_describe_goes_to_ordinary_units(kernel: Contraction) -> None:
    assert ContractionSchedule.pick(kernel, HOPPER) is None
    assert isinstance(pick_any(kernel, HOPPER), SimtSchedule)


def test_tensor_cores_are_for_hopper() -> None:
    assert isinstance(pick_any(zoo.matmul(4096, 4096, 4096), HOPPER), ContractionSchedule)
    assert isinstance(pick_any(zoo.matmul(4096, 4096, 4096), AMPERE), SimtSchedule)
    assert isinstance(pick_any(zoo.attention(1, 2, 256, 64), HOPPER), AttentionSchedule)
    assert isinstance(pick_any(zoo.attention(1, 2, 256, 64), AMPERE), AttentionSplitSchedule)


def test_products_of_few_rows_are_computed_transposed() -> None:
    found = ContractionSchedule.pick(zoo.matmul(16, 4096, 4096, rhs="nk"), HOPPER)
    assert found is not None and found.transposed and (found.tile.rows, found.tile.columns) == (64, 16)
    found = ContractionSchedule.pick(zoo.matmul(128, 4096, 4096, rhs="nk"), HOPPER)
    assert found is not None and not found.transposed


def test_large_products_with_odd_rows_are_padded_first() -> None:
    kernel = zoo.matmul(1000, 1001, 1003)
    assert isinstance(pick_any(kernel, HOPPER), PaddedContractionSchedule)
    *copies, product = (padded_parts(kernel) or ((), ()))[0]
    assert [copy.kernel.operands[-1].shape for copy in copies] == [(1000, 1008), (1003, 1008)]
    assert isinstance(pick_any(product.kernel, HOPPER), ContractionSchedule)
    assert isinstance(pick_any(zoo.matmul(1000, 1001, 1003, "f32"), HOPPER), SimtSchedule)


def test_sums_along_a_strided_loop_have_neighbouring_rows_in_neighbouring_threads() -> None:
    def total(rows: int, columns: int | None) -> Rows:
        x = zoo.load(0, 1, 0)
        dims = (Dim(rows), Dim(columns, None if columns else (0, 0)))
        operands = (Operand((columns, rows), "f32"), Operand((rows,), "f32", True, 0))
        return Rows("k", operands, dims, 1, (Output(1, zoo.coords(0), zoo.fold("arith.addf", x, 0.0)),))

    assert pick_any(total(100_000, 64), HOPPER) == ColumnsSchedule(4, 16)
    assert pick_any(total(100_000, None), HOPPER) == ColumnsSchedule(4, 16)
    assert isinstance(pick_any(total(64, 100_000), HOPPER), RowsSplitSchedule)


def test_transposed_operands_go_through_tiles() -> None:
    def transpose(shape: tuple[int, int]) -> Map:
        operands = (Operand(shape[::-1], "bf16"), Operand(shape, "bf16", True, 0))
        output = Output(1, zoo.coords(0, 1), zoo.load(0, 1, 0, kind="bf16"))
        return Map("k", operands, (Dim(shape[0]), Dim(shape[1])), (output,))

    assert pick_any(transpose((100, 200)), HOPPER) == MapTiledSchedule(0, 2)
    assert isinstance(pick_any(transpose((100, 3)), HOPPER), MapSchedule)  # too narrow for a tile


def test_convolutions_become_products() -> None:
    image = Load(0, (Coord(0), Coord(1, 1, 0, ((3, 1),)), Coord(4)), "bf16")
    filters = zoo.load(1, 3, 4, 2, kind="bf16")
    body = zoo.apply("arith.mulf", zoo.widened(image), zoo.widened(filters))
    operands = (Operand((8, 66, 64), "bf16"), Operand((3, 64, 128), "bf16"), Operand((8, 64, 128), "f32", True, 0))
    dims = (Dim(8), Dim(64), Dim(128), Dim(3), Dim(64))
    output = Output(2, zoo.coords(0, 1, 2), zoo.Acc("f32"))
    kernel = Window("k", operands, dims, (0, 1, 2), (3, 4), "arith.addf", body, zoo.number(0.0), "f32", (output,))
    found = pick_any(kernel, HOPPER)
    assert isinstance(found, WindowSchedule) and found.patches
    product = as_contraction(kernel)
    assert product is not None and (product.m, product.n, product.k) == ((0, 1), (2,), (3, 4))
    (first, second), (patches,) = patch_parts(product) or ((), ())
    assert patches.shape == (8, 64, 3, 64) and isinstance(first.kernel, Map) and isinstance(second.kernel, Contraction)
    assert isinstance(pick_any(kernel, AMPERE), WindowSchedule)
    pooling = dataclasses.replace(kernel, reduce="arith.maximumf", body=image)
    assert pick_any(pooling, HOPPER) is None


def test_attention_of_other_depths_and_types_is_split() -> None:
    for kernel in (zoo.attention(1, 2, 256, 80), zoo.attention(1, 2, 256, 64, kind="f32")):
        found = pick_any(kernel, HOPPER)
        assert isinstance(found, AttentionSplitSchedule)
        assert len(found.parts(kernel)[0]) == 3


def test_a_scale_goes_into_the_exponential() -> None:
    assert score_scale(zoo.attention(1, 1, 64, 64).score) == 0.125
    assert score_scale(zoo.attention(1, 1, 64, 64, bias=True).score) is None


def test_neutral_elements() -> None:
    assert str(neutral("arith.addf", "f32")) == "-0.0"
    assert neutral("arith.maxsi", "i8") == -128 and neutral("arith.minsi", "i32") == 2**31 - 1
    assert neutral("arith.subf", "f32") is None


@pytest.mark.parametrize(
    ("kind", "size"),
    [("f64", 8), ("bf16", 2), ("i1", 1), ("i4", 1), ("f8E4M3", 1), ("f4E2M1FN", 1), ("index", 8), ("complex<f64>", 16)]
)
def test_size_of_an_element(kind: str, size: int) -> None:
    assert itemsize(kind) == size
