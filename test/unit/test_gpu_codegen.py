"""From general kernels to PTX, cubins and an artifact's files: what can be checked without a GPU."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kc.codegen import ptx_check
from kc.errors import CompileError, InputError, UnsupportedError
from kc.pipelines.roads import road
from kc.pipelines.run import run_phases
from kc.targets import get_target
from kc.targets.nvptx import NvptxTarget

needs_ptxas = pytest.mark.skipif(ptx_check.find_ptxas() is None, reason="no ptxas")

FLOATS = [
    "absf",
    "ceil",
    "floor",
    "round",
    "roundeven",
    "sqrt",
    "trunc",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "cbrt",
    "rsqrt",
]
PAIRS = [
    "math.copysign",
    "math.powf",
    "math.atan2",
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
    "arith.remf",
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.divf",
]
INTEGERS = [
    "addi",
    "subi",
    "muli",
    "divsi",
    "divui",
    "remsi",
    "remui",
    "ceildivsi",
    "ceildivui",
    "floordivsi",
    "shli",
    "shrsi",
    "shrui",
    "andi",
    "ori",
    "xori",
    "maxsi",
    "minsi",
    "maxui",
    "minui",
]


def every_op(element: str) -> str:
    """A module with one elementwise op per scalar op on ``element``, all results summed up."""
    lines: list[str] = []
    combine = "arith.addf" if element[0] in "fb" else "arith.xori"
    state = {"sum": "%x", "count": 0}

    def add(op: str, *operands: str) -> None:
        state["count"] += 1
        value, total = f"%v{state['count']}", f"%s{state['count']}"
        lines.append(f"{value} = {op} {', '.join(operands)} : {element}")
        lines.append(f"{total} = {combine} {state['sum']}, {value} : {element}")
        state["sum"] = total

    if element[0] in "fb":
        for name in FLOATS:
            add(f"math.{name}", "%x")
        for name in PAIRS:
            add(name, "%x", state["sum"])
        add("math.fma", "%x", "%x", "%x")
        add("arith.negf", "%x")
        for name in ("isnan", "isinf", "isfinite", "isnormal"):
            lines.append(f"%t{name} = math.{name} %x : {element}")
            lines.append(f"%f{name} = arith.uitofp %t{name} : i1 to {element}")
            add("arith.addf", f"%f{name}", "%x")
    else:
        for name in () if element == "i1" else ("absi", "ctlz", "cttz", "ctpop"):
            add(f"math.{name}", "%x")
        for name in INTEGERS:
            add(f"arith.{name}", "%x", state["sum"])
    body = "\n    ".join(lines)
    return f"""
#one = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<?x{element}>) -> tensor<?x{element}> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x{element}>
  %e = tensor.empty(%n) : tensor<?x{element}>
  %r = linalg.generic {{indexing_maps = [#one, #one], iterator_types = ["parallel"]}}
      ins(%a : tensor<?x{element}>) outs(%e : tensor<?x{element}>) {{
  ^bb0(%x: {element}, %o: {element}):
    {body}
    linalg.yield {state["sum"]} : {element}
  }} -> tensor<?x{element}>
  return %r : tensor<?x{element}>
}}
"""


def generate(text: str, target: NvptxTarget) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The artifact of a module at the linalg level, all of it on the general road."""
    from kc.context import make_context, parse_module

    module = parse_module(text, make_context(), "test.mlir")
    phases = [phase for phase in road(target, "linalg") if phase.name not in ("form-kernels", "gpu-schedule")]
    run_phases(module, phases)
    return target.generate(module, {})


@needs_ptxas
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16", "i1", "i8", "i32", "i64", "index"])
def test_every_scalar_op_assembles(element: str, chip: str) -> None:
    """No op is left to a library, and ptxas takes the result."""
    _, files = generate(every_op(element), NvptxTarget(chip=chip, cubin="always"))
    assert files["kernels.cubin"][:4] == b"\x7fELF"


@needs_ptxas
@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ"])
def test_small_floats_assemble(element: str) -> None:
    text = f"""
func.func @main(%a: tensor<64x{element}>) -> tensor<64x{element}> {{
  %e = tensor.empty() : tensor<64x{element}>
  %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]}}
      ins(%a : tensor<64x{element}>) outs(%e : tensor<64x{element}>) {{
  ^bb0(%x: {element}, %o: {element}):
    %s = arith.addf %x, %x : {element}
    %w = arith.extf %s : {element} to f32
    %m = arith.mulf %w, %w : f32
    %t = arith.truncf %m : f32 to {element}
    linalg.yield %t : {element}
  }} -> tensor<64x{element}>
  return %r : tensor<64x{element}>
}}
"""
    _, files = generate(text, NvptxTarget(cubin="always"))
    assert files["kernels.cubin"][:4] == b"\x7fELF"


def test_manifest_describes_the_program() -> None:
    manifest, files = generate(every_op("f32"), NvptxTarget(cubin="never"))
    json.dumps(manifest)
    assert manifest["target"] == "nvptx" and manifest["chip"] == "sm_90a"
    (argument,) = manifest["entries"]["main"]["args"]
    assert (argument["dtype"], argument["shape"], argument["kind"]) == ("f32", [None], "input")
    assert manifest["kernels"] == [{"name": "main_0", "module": "kernels.ptx", "threads": 256, "smem": 0, "regs": 0}]
    assert set(files) == {"host.o", "kernels.ptx"}
    ptx = files["kernels.ptx"].decode()
    assert ".target sm_90a" in ptx and ".entry main_0(" in ptx and ".extern .func" not in ptx


@needs_ptxas
def test_report_of_ptxas() -> None:
    manifest, _files = generate(every_op("i32"), NvptxTarget(cubin="always"))
    assert manifest["kernels"][0]["regs"] > 0 and manifest["kernels"][0]["module"] == "kernels.cubin"
    ptx = NvptxTarget(cubin="never")
    _, texts = generate(every_op("i32"), ptx)
    done = ptx_check.assemble(texts["kernels.ptx"].decode(), "sm_90a")
    report = done.kernels["main_0"]
    assert report.registers == manifest["kernels"][0]["regs"] and report.spill_stores == 0 and not done.problems()
    with pytest.raises(CompileError, match="ptxas refuses the PTX for sm_90a"):
        ptx_check.assemble(texts["kernels.ptx"].decode().replace("ret;", "return;"), "sm_90a")


LOG = """ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ...
ptxas info    : Compiling entry function 'k1' for 'sm_90a'
ptxas info    : Function properties for k1
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 2048 bytes smem
ptxas info    : Compiling entry function 'k2' for 'sm_90a'
ptxas info    : Function properties for k2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
"""


def test_spills_and_serialisation_are_problems() -> None:
    kernels = ptx_check.parse_report(LOG)
    assert kernels["k1"] == ptx_check.KernelReport("k1", 255, 8, 12, 16, 2048)
    assert kernels["k2"] == ptx_check.KernelReport("k2", 12, 0, 0, 0, 0)
    done = ptx_check.Assembled(b"", kernels, ptx_check.parse_notes(LOG))
    assert len(done.notes) == 1 and "C7510" in done.notes[0]
    assert done.problems() == ["k1 spills 8 bytes of registers", done.notes[0]]


def test_an_unknown_function_is_told() -> None:
    text = """
declare float @__nv_expf(float)
define void @k(ptr %p) "nvvm.kernel" {
  %x = load float, ptr %p
  %y = call float @__nv_expf(float %x)
  store float %y, ptr %p
  ret void
}
"""
    with pytest.raises(UnsupportedError, match=r"the device code calls __nv_expf, which nothing defines"):
        NvptxTarget().ptx(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nvptx:sm_70", "'sm_70' is not a chip that kc compiles for"),
        ("nvptx:hopper", "takes a chip such as sm_90a, not 'hopper'"),
        ("nvptx:cubin=maybe", "option 'cubin' of target 'nvptx' is auto, always or never, not 'maybe'"),
        ("nvptx:strict=true;cubin=never", "strict needs what ptxas says"),
        ("nvptx:arch=sm_90", "has no option 'arch'"),
    ],
)
def test_bad_targets(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        get_target(text)


def test_target_text() -> None:
    target = get_target("nvptx:sm_80")
    assert isinstance(target, NvptxTarget) and target.chip == "sm_80" and get_target(target.spec) == target
    assert get_target("nvptx").limits()["shared_bytes"] == 227 * 1024


MLP = """
func.func @main(%x: tensor<?x64xbf16>, %w: tensor<64x128xbf16>, %b: tensor<128xbf16>)
    -> (tensor<?x128xbf16>, tensor<?x128xi32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<?x64xbf16>, tensor<64x128xbf16>) -> tensor<?x128xbf16>
  %c0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x64xbf16>) -> tensor<i32>
  %r = stablehlo.reshape %c0 : (tensor<i32>) -> tensor<1xi32>
  %n = stablehlo.constant dense<128> : tensor<1xi32>
  %s = stablehlo.concatenate %r, %n, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %1 = stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [1] : (tensor<128xbf16>, tensor<2xi32>) -> tensor<?x128xbf16>
  %2 = stablehlo.add %0, %1 : tensor<?x128xbf16>
  %3 = stablehlo.tanh %2 : tensor<?x128xbf16>
  %4 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<?x128xi32>
  %5 = "stablehlo.sort"(%4) ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %l = stablehlo.compare GT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<?x128xi32>) -> tensor<?x128xi32>
  return %3, %5 : tensor<?x128xbf16>, tensor<?x128xi32>
}
"""


@needs_ptxas
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_scheduled_and_general_kernels_in_one_program(chip: str) -> None:
    import kc

    executable = kc.compile(MLP, target=f"nvptx:{chip};strict=true;cubin=always")
    names = [kernel["name"] for kernel in executable.manifest["kernels"]]
    assert any("_k" in name for name in names) and any("_k" not in name for name in names)
    assert all(executable.files[kernel["module"]][:4] == b"\x7fELF" for kernel in executable.manifest["kernels"])
    shapes = [argument["shape"][-1] for argument in executable.manifest["entries"]["main"]["args"]]
    assert shapes == [64, 128, 128]


@pytest.mark.parametrize("level", ["linalg", "loops", "gpu", "llvm", "asm"])
def test_every_level_can_be_looked_at(level: str) -> None:
    import kc

    text = kc.lower(MLP, to=level, target="nvptx", options=None if level == "asm" else {"verify_levels": "true"})
    assert {
        "linalg": "linalg.",
        "loops": "memref.",
        "gpu": "gpu.launch_func",
        "llvm": "kc_gpu_launch",
        "asm": ".visible .entry",
    }[level] in text
