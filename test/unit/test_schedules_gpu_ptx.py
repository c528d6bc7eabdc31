"""GPU schedules down to PTX, and what ptxas says of it: no spills, no serialised tensor cores, the instructions
meant."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import gpu_zoo as zoo

from kc.bindings import ir
from kc.codegen import emit, llvm_ir, ptx_check
from kc.context import make_context
from kc.kernels.expr import Kernel
from kc.pass_manager import run_pipeline
from kc.pipelines.nvptx import PHASES
from kc.schedules.gpu.composite import pick_any
from kc.schedules.gpu.features import Features
from kc.targets.nvptx import PTX_FEATURES

DEVICE = next(phase for phase in PHASES if phase.name == "gpu-device").text()
KERNELS = {
    "softmax_bf16": zoo.softmax(8192, 8192, "bf16"),
    "softmax_long": zoo.softmax(4096, 32768, "bf16"),
    "softmax_dynamic": zoo.softmax(None, 1000, "f32"),
    "layer_norm": zoo.layer_norm(16384, 4096, "bf16"),
    "layer_norm_long": zoo.layer_norm(8192, 12288, "bf16"),
    "bias_relu": zoo.bias_relu(None, 4096, "bf16"),
    "positions": zoo.positions(30, 41),
    "matmul_f32": zoo.matmul(1000, 900, 77, "f32"),
    "matmul_open_k": zoo.matmul(1000, 900, None, "f32"),
    "matmul_bf16": zoo.matmul(4096, 4096, 4096),
    "matmul_gelu": zoo.matmul(4096, 4096, 4096, rhs="nk", epilogue="gelu"),
    "matmul_dynamic": zoo.matmul(None, 1032, 1048, lhs="mk", epilogue="bias", result="f32"),
    "matmul_few_rows": zoo.matmul(16, 4096, 4096, rhs="nk", epilogue="gelu"),
    "attention_split": zoo.attention(1, 2, 200, 80),
    "attention": zoo.attention(2, 4, 1024, 128),
    "attention_bias": zoo.attention(2, 4, 1000, 64, causal=False, layout="bshd", bias=True),
}
needs_ptxas = pytest.mark.skipif(ptx_check.find_ptxas() is None, reason="no ptxas")


@functools.cache
def ptx(name: str, chip: str = "sm_90a") -> tuple[str, ...]:
    """PTX of each device module that the schedule of kernel ``name`` builds."""
    kernel: Kernel = KERNELS[name]
    features = Features() if chip == "sm_90a" else Features(chip, 108, 163 << 10)
    with make_context():
        module = ir.Module.parse("module {}")
        schedule = pick_any(kernel, features)
        assert schedule is not None
        schedule.build(kernel, module.operation)
        assert module.operation.verify()
        run_pipeline(module, DEVICE)
        devices = [op.operation for op in module.body.operations if op.operation.name == "gpu.module"]
        return tuple(emit.ptx(llvm_ir.translate(device), chip, PTX_FEATURES) for device in devices)


@needs_ptxas
@pytest.mark.parametrize("name", KERNELS)
def test_hopper_kernels_assemble_without_spills_or_serialisation(name: str) -> None:
    for text in ptx(name):
        assembled = ptx_check.assemble(text, "sm_90a")
        assert not assembled.problems()
        assert assembled.kernels


@needs_ptxas
@pytest.mark.parametrize("name", ["softmax_bf16", "layer_norm", "bias_relu", "matmul_f32"])
def test_the_others_assemble_for_ampere(name: str) -> None:
    for text in ptx(name, "sm_80"):
        assert not ptx_check.assemble(text, "sm_80").problems()


def _count(pattern: str, text: str) -> int:
    return len(re.findall(pattern, text))


def test_a_product_issues_four_wgmma_a_step_and_stores_by_bulk_copies() -> None:
    (text,) = ptx("matmul_bf16")
    assert _count(r"wgmma\.mma_async\.sync\.aligned\.m64n256k16\.f32\.bf16\.bf16", text) in (
        4,
        8,
    )  # LLVM may peel a step
    assert _count(r"cp\.async\.bulk\.tensor\.\dd\.global\.shared::cta", text) == 4  # one for 64 columns
    assert _count(r"setmaxnreg", text) == 2


def test_a_tanh_free_gelu_uses_two_special_functions_an_element() -> None:
    (text,) = ptx("matmul_gelu")
    elements = 128 * 256 // 256  # of a consumer thread
    assert _count(r"ex2\.approx\.ftz\.f32", text) == elements
    assert _count(r"rcp\.approx\.ftz\.f32", text) == elements
    assert "call" not in re.sub(r"//.*", "", text)


def test_attention_keeps_probabilities_in_registers() -> None:
    (text,) = ptx("attention")
    # the value product takes its left factor from registers: four of them before the descriptor
    assert _count(r"wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.bf16\.bf16", text) >= 8 + 8 + 8
    assert _count(r"atom\.[\w.]*inc", text) == 1


def test_rows_load_16_bytes_at_a_time() -> None:
    (text,) = ptx("softmax_bf16")
    assert _count(r"ld\.global\.nc\.v4\.[bu]32", text) == 4
    assert _count(r"st\.global\.v4\.[bu]32", text) == 4
    assert _count(r"bar\.sync|barrier", text) == 2  # one for the maximum, one for the sum
