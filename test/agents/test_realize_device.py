"""PTX, CUDA C++ and Triton as proposals: compiled without a GPU, checked, refused where they reach outside."""

from __future__ import annotations

import importlib.util

import pytest

from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize import RealizeError, build, device_ptx, expressions, ptx_text, realize, triton_source
from kc.codegen import ptx_check

GPU = "nvptx:sm_90a"
KERNEL = """
func.func @main(%x: tensor<?x128xf32> {kc.dims = ["M", "N"]}, %y: tensor<?x128xf32>, %s: f32) -> tensor<?x128xf32>
    attributes {kc.kind = "map"} {
  %e = linalg.exp ins(%x : tensor<?x128xf32>) outs(%y : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %e : tensor<?x128xf32>
}
""".replace(", %y: tensor<?x128xf32>, %s: f32)", ", %s: f32, %y: tensor<?x128xf32>)")
FUNCTION = """
func.func @main(%x: tensor<?x128xf32> {kc.dims = ["M", "N"]}) -> tensor<?x128xf32> {
  %e = stablehlo.exponential %x : tensor<?x128xf32>
  return %e : tensor<?x128xf32>
}
"""
PTX = """
.version 8.8
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 .ptr .global .align 1 x, .param .u64 y, .param .u32 n)
.maxntid 256, 1, 1
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %a<6>;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p ret;
  ld.param.u64 %a1, [x]; ld.param.u64 %a2, [y];
  mul.wide.u32 %a3, %r5, 4;
  add.s64 %a4, %a1, %a3; add.s64 %a5, %a2, %a3;
  ld.global.b32 %r1, [%a4];
  st.global.b32 [%a5], %r1;
  ret;
}
"""
LAUNCH = {"grid": ["ceildiv(M * N, 256)"], "block": [256], "arguments": ["arg0", "arg2", "M * N"]}
CUDA = """
extern "C" __global__ void k(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = expf(x[i]);
}
"""

needs_ptxas = pytest.mark.skipif(ptx_check.find_ptxas() is None, reason="no ptxas")
needs_nvrtc = pytest.mark.skipif(
    importlib.import_module("kc.agents.realize.nvrtc").find() is None, reason="no NVRTC: pip install 'kc[cuda]'"
)
needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="no Triton")


def ptx(source: str = PTX, **launch: object) -> Proposal:
    return Proposal("ptx", source=source, launch={**LAUNCH, **launch})


@needs_ptxas
def test_ptx_in_a_kernel_and_in_a_function() -> None:
    realized = realize(KERNEL, ptx(), "linalg", GPU)
    assert (realized.level, realized.needs, realized.runs) == ("gpu", "gpu", "kc")
    assert realized.files["device.ptx"].decode() == PTX
    (kernel,) = build(KERNEL, realized, GPU).manifest["kernels"]
    assert (kernel["name"], kernel["threads"]) == ("copy", 256)
    function = realize(FUNCTION, ptx(arguments=["arg0", "out0", "M * N"]), "stablehlo", GPU)
    exe = build(FUNCTION, function, GPU)
    assert [row["name"] for row in exe.manifest["kernels"]] == ["copy"]


@pytest.mark.parametrize(
    ("change", "reason", "said"),
    [
        (("ld.param.u32 %r1, [n];", "mov.u32 %r1, %clock;"), "signature.clock", "%clock"),
        ((".visible", ".global .u32 seen;\n.visible"), "signature.global", "keeps no state"),
        ((".visible", ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n.visible"),
         "signature.external", "'vprintf'"),
        ((".version 8.8", ""), "parse.ptx", ".version"),
        ((", .param .u32 n", ", .param .u64 n, .param .u32 m"), "signature.arguments", "4 parameters, the launch"),
        ((".param .u64 y", ".param .u32 y"), "signature.arguments", "64-bit address"),
        ((".param .u32 n", ".param .f32 n"), "signature.arguments", "a size is an integer"),
        ((".maxntid 256, 1, 1", ".maxntid 128, 1, 1"), "resource.block", "1 to 128"),
        ((".maxntid 256, 1, 1", ".reqntid 128, 1, 1"), "resource.block", "1 to 128"),
        (("ret;\n}", "nonsense;\n}"), "verify.ptx", "ptxas refuses"),
    ],
)  # fmt: skip
def test_ptx_that_has_no_place(change: tuple[str, str], reason: str, said: str) -> None:
    if reason == "verify.ptx" and ptx_check.find_ptxas() is None:
        pytest.skip("no ptxas")
    with pytest.raises(RealizeError, match=said) as caught:
        realize(KERNEL, ptx(PTX.replace(*change)), "linalg", GPU)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("launch", "field", "said"),
    [
        ({"grid": ["Q"]}, "launch.grid[0]", "no dimension is named 'Q'; there are M, N"),
        ({"grid": ["__import__('os')"]}, "launch.grid[0]", "is none of"),
        ({"grid": ["dim(arg0, 2)"]}, "launch.grid[0]", "none has number 2"),
        ({"block": [1, 1, 1, 1]}, "launch.block", "one to three"),
        ({"arguments": ["arg7", "arg1", 1]}, "launch.arguments[0]", "no 'arg7'"),
        ({"entry": "other"}, "launch.entry", "there are copy"),
        ({"stream": 3}, "launch.stream", "a launch has"),
        ({"shared": -1}, "launch.shared", "negative"),
    ],
)
def test_launches_that_are_none(launch: dict, field: str, said: str) -> None:
    with pytest.raises(ProtocolError, match=said.replace("(", "\\(")) as caught:
        realize(KERNEL, ptx(**launch), "linalg", GPU)
    assert caught.value.field == field


def test_too_much_shared_memory() -> None:
    with pytest.raises(RealizeError, match="300000 bytes of shared memory"):
        realize(KERNEL, ptx(shared=300_000), "linalg", GPU)


def test_device_code_needs_a_gpu_as_target() -> None:
    with pytest.raises(RealizeError, match="code for NVIDIA GPUs"):
        realize(KERNEL, ptx(), "linalg", "cpu")


@pytest.mark.parametrize(
    ("text", "sizes", "value"),
    [("ceildiv(M, 128) * N", (300, 7), 21), ("M - N", (3, 7), 0), ("min(M, 4) % N + 2 // 2", (9, 3), 2), (5, (1, 1), 5),
     ("dim(arg0, 1) + dim(M)", (4, 6), 10), ("M // N", (4, 0), None)],
)  # fmt: skip
def test_expressions(text: object, sizes: tuple[int, int], value: int | None) -> None:
    size = expressions.parse(text, "x", {"M": (0, 0), "N": (0, 1)}, [2])
    assert expressions.evaluate(size, lambda argument, axis: sizes[axis]) == value


def test_entries_of_ptx() -> None:
    (entry,) = ptx_text.read(PTX).entries.values()
    assert [p.size for p in entry.parameters] == [8, 8, 4]
    assert entry.most_threads == 256


@needs_nvrtc
@needs_ptxas
def test_cuda() -> None:
    realized = realize(KERNEL, Proposal("cuda", source=CUDA, launch=LAUNCH), "linalg", GPU)
    assert [row["name"] for row in build(KERNEL, realized, GPU).manifest["kernels"]] == ["k"]
    for bad, said in (
        (CUDA.replace("expf(x[i])", 'printf("%d", i)'), "vprintf"),
        (CUDA.replace("float *y", "flaot *y"), "NVRTC refuses"),
        ('#include "/etc/passwd"\n' + CUDA, "only CUDA's own headers"),
        ("#define H </etc/passwd>\n#include H\n" + CUDA, "only CUDA's own headers"),
    ):
        with pytest.raises(RealizeError, match=said):
            realize(KERNEL, Proposal("cuda", source=bad, launch=LAUNCH), "linalg", GPU)


TRITON = """
import triton
import triton.language as tl

@triton.jit
def soft(x, y, N, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + r * N + c, mask=c < N, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * N + c, v / tl.sum(v, 0), mask=c < N)
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os\n" + TRITON, "imports something"),
        (TRITON + "\nprint(3)\n", "neither an import"),
        (TRITON.replace("tl.program_id(0)", "x.__class__"), "private name"),
        (TRITON.replace("tl.program_id(0)", "open('f')"), "uses 'open'"),
        (TRITON.replace("tl.program_id(0)", "tl.core.os"), "not for kernels"),
        (TRITON.replace("tl.program_id(0)", "tl"), "uses 'tl'"),
        (TRITON.replace("@triton.jit", "@print"), "without @triton.jit"),
        (TRITON.replace("B: tl.constexpr", "B: print('hi')"), "annotation"),
        (TRITON.replace("N, B", "N=print('hi'), B"), "no constant|no Python"),
        (TRITON.replace("    c = ", "    tl.exp = (lambda: 0)\n    c = "), "form that kernels do not need"),
        ("x = [1]\n" + TRITON, "no constant"),
    ],
)
def test_triton_sources_that_reach_outside(source: str, said: str) -> None:
    with pytest.raises(RealizeError, match=said):
        triton_source.check(source)


@needs_triton
@needs_ptxas
def test_triton() -> None:
    proposal = Proposal(
        "triton",
        source=TRITON,
        launch={"grid": ["M"], "arguments": ["arg0", "arg2", 128]},
        parameters={"constants": {"B": 128}},
        assumes=("align(arg0,16)",),
    )
    realized = realize(KERNEL, proposal, "linalg", GPU)
    (kernel,) = build(KERNEL, realized, GPU).manifest["kernels"]
    assert (kernel["name"], kernel["threads"]) == ("soft", 128)
    with pytest.raises(ProtocolError, match="no such argument"):
        realize(
            KERNEL,
            Proposal("triton", source=TRITON, launch=proposal.launch, parameters={"constants": {"C": 1}}),
            "linalg",
            GPU,
        )


@needs_ptxas
def test_edited_ptx() -> None:
    (text,) = device_ptx(FUNCTION, GPU).values()
    assert realize(text, Proposal("ptx", source=text.replace("ret;", "ret; ")), "asm", GPU).level == "asm"
    for bad, said in (
        (text.replace(".entry main", ".entry other"), "has the kernels main"),
        (text.replace("\n.visible", "\n.global .u32 seen;\n.visible", 1), "keeps no state"),
        (text.replace(".maxntid 256", ".maxntid 128"), "smaller blocks"),
    ):
        with pytest.raises(RealizeError, match=said):
            realize(text, Proposal("ptx", source=bad), "asm", GPU)
