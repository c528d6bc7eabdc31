"""``kc.kernels.analyze`` against an independent evaluation: upstream's loops run by LLVM's JIT (``kernel_tools``)."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kc.bindings import ir
from kc.context import make_context
from kc.kernels import analyze, identity
from kc.kernels import expr as E
from kc.kernels.reference import evaluate
from kc.kernels.text import kernel_text

sys.path.insert(0, str(Path(__file__).parent))
from kernel_tools import random_array, run_linalg

ID2 = "affine_map<(i, j) -> (i, j)>"
ROW = "affine_map<(i, j) -> (i)>"
COL = "affine_map<(i, j) -> (j)>"


@pytest.fixture(scope="module")
def context():  # type: ignore[no-untyped-def]
    context = make_context()
    with context, ir.Location.unknown():
        yield context


_ALIVE: list[ir.Module] = []  # an op's handle does not keep its module alive


def function_of(text: str) -> Any:
    """The first function of a module."""
    _ALIVE.append(ir.Module.parse(text))
    return _ALIVE[-1].body.operations[0]


def elementwise(
    out: str, ins: dict[str, str], types: dict[str, str], result: str, body: str, maps: dict[str, str]
) -> str:
    """One two-loop elementwise generic: ``ins`` name -> body argument, ``types`` name -> tensor type."""
    element = lambda t: t[t.rindex("x") + 1 : -1]  # noqa: E731
    names = ", ".join(ins)
    arguments = ", ".join(f"%{arg}: {element(types[name])}" for name, arg in ins.items())
    all_maps = ", ".join([*(maps.get(name, ID2) for name in ins), ID2])
    return (
        f"linalg.generic {{indexing_maps = [{all_maps}], iterator_types = [\"parallel\", \"parallel\"]}} "
        f"ins({names} : {', '.join(types[name] for name in ins)}) outs({out} : {result}) {{\n"
        f"^bb0({arguments}, %old: {element(result)}):\n{body}\n}} -> {result}"
    )


def check(text: str, family: type[E.Kernel], special: bool = False, tolerance: float = 2e-6) -> Any:
    """Analyses the first function, asserts its family, and compares the kernel's meaning with what the linalg
    computes.
    """
    func = function_of(text)
    kernel = analyze(func)
    assert isinstance(kernel, family), kernel_text(kernel)
    rng = np.random.default_rng(7)
    arguments = [
        1 if o.shape is None else random_array(rng, [3 if n is None else n for n in o.shape], o.type)
        for o in kernel.operands
    ]
    if special:  # NaN, infinities and a negative zero in every float input
        for argument in arguments:
            if isinstance(argument, np.ndarray) and argument.dtype.kind == "f" and argument.size > 8:
                argument.reshape(-1)[:4] = [np.nan, np.inf, -np.inf, -0.0]
    name = ir.StringAttr(func.attributes["sym_name"]).value
    for got, want in zip(evaluate(kernel, arguments), run_linalg(text, name, arguments), strict=True):
        np.testing.assert_array_equal(np.isnan(got.astype(np.float64)), np.isnan(want.astype(np.float64)))
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance)
    return kernel


def softmax_text(guard: str = "") -> str:
    types = {"%x": "tensor<5x7xf32>", "%m": "tensor<5xf32>", "%e": "tensor<5x7xf32>", "%n": "tensor<5xf32>"}
    exponent = "%s = arith.subf %a, %b : f32\n%t = math.exp %s : f32\nlinalg.yield %t : f32"
    quotient = "%s = arith.divf %a, %b : f32\nlinalg.yield %s : f32"
    e = elementwise("%empty", {"%x": "a", "%m": "b"}, types, "tensor<5x7xf32>", exponent, {"%m": ROW})
    r = elementwise("%out", {"%e": "a", "%n": "b"}, types, "tensor<5x7xf32>", quotient, {"%n": ROW})
    return f"""func.func private @f(%x: tensor<5x7xf32>, %out: tensor<5x7xf32>) -> tensor<5x7xf32> {{
      %zero = arith.constant 0.0 : f32
      %ninf = arith.constant 0xFF800000 : f32
      %v = tensor.empty() : tensor<5xf32>
      %empty = tensor.empty() : tensor<5x7xf32>
      %i = linalg.fill ins(%ninf : f32) outs(%v : tensor<5xf32>) -> tensor<5xf32>
      %z = linalg.fill ins(%zero : f32) outs(%v : tensor<5xf32>) -> tensor<5xf32>
      %m = linalg.reduce {{ arith.maximumf }} ins(%x : tensor<5x7xf32>) outs(%i : tensor<5xf32>) dimensions = [1]
      %e = {e}
      %n = linalg.reduce {{ arith.addf }} ins(%e : tensor<5x7xf32>) outs(%z : tensor<5xf32>) dimensions = [1]
      %r = {r}
      return %r : tensor<5x7xf32>
    }}"""


def test_softmax_is_rows(context: ir.Context) -> None:
    kernel = check(softmax_text(), E.Rows)
    assert kernel.ncols == 1 and [dim.size for dim in kernel.dims] == [5, 7]
    check(softmax_text(), E.Rows, special=True)


def contraction_text(batch: str = "8", m_type: str = "f32", extra: str = "") -> str:
    return f"""func.func private @f(%x: tensor<{batch}x6x{m_type}>, %w: tensor<6x4x{m_type}>, %b: tensor<4xf32>,
        %out: tensor<{batch}x4xf32>) -> tensor<{batch}x4xf32> {{
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%out : tensor<{batch}x4xf32>) -> tensor<{batch}x4xf32>
      %m = linalg.matmul ins(%x, %w : tensor<{batch}x6x{m_type}>, tensor<6x4x{m_type}>) outs(%f : tensor<{batch}x4xf32>)
        -> tensor<{batch}x4xf32>
      %r = linalg.generic {{indexing_maps = [{ID2}, {COL}, {ID2}], iterator_types = ["parallel", "parallel"]}}
        ins(%m, %b : tensor<{batch}x4xf32>, tensor<4xf32>) outs(%out : tensor<{batch}x4xf32>) {{
      ^bb0(%p: f32, %q: f32, %old: f32):
        %s = arith.addf %p, %q : f32
        %t = math.tanh %s : f32
        linalg.yield %t : f32
      }} -> tensor<{batch}x4xf32>
      return %r : tensor<{batch}x4xf32>
    }}"""


@pytest.mark.parametrize("element", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("batch", ["8", "?"])
def test_contraction_with_epilogue(context: ir.Context, batch: str, element: str) -> None:
    kernel = check(contraction_text(batch, element), E.Contraction)
    assert (kernel.m, kernel.n, kernel.k, kernel.batch) == ((0,), (1,), (2,), ())
    assert kernel.acc_type == "f32"
    assert kernel.dims[0] == E.Dim(None if batch == "?" else 8, (0, 0))


def test_contraction_with_nan_and_infinities(context: ir.Context) -> None:
    check(contraction_text(), E.Contraction, special=True)


def test_convolution_is_a_window_and_pointwise_a_contraction(context: ir.Context) -> None:
    def text(kernel: int, out: int) -> str:
        types = f"tensor<2x6x6x3xf32>, tensor<{kernel}x{kernel}x3x4xf32>"
        result = f"tensor<2x{out}x{out}x4xf32>"
        arguments = f"%x: tensor<2x6x6x3xf32>, %w: tensor<{kernel}x{kernel}x3x4xf32>, %o: {result}"
        return f"""func.func private @f({arguments}) -> {result} {{
          %zero = arith.constant 0.0 : f32
          %f = linalg.fill ins(%zero : f32) outs(%o : {result}) -> {result}
          %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : {types}) outs(%f : {result}) -> {result}
          return %r : {result}
        }}"""

    window = check(text(3, 4), E.Window)
    assert len(window.out) == 4 and len(window.window) == 3
    check(text(1, 6), E.Contraction)


def test_a_column_captured_by_a_square_shape_is_not_rows(context: ir.Context) -> None:
    """max over j of (x @ y)[i, j] with equal extents everywhere: the inner sum must not take the outer loop's number.
    """
    text = """func.func private @f(%x: tensor<5x5xf32>, %y: tensor<5x5xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
      %zero = arith.constant 0.0 : f32
      %ninf = arith.constant 0xFF800000 : f32
      %e = tensor.empty() : tensor<5x5xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
      %i = linalg.fill ins(%ninf : f32) outs(%o : tensor<5xf32>) -> tensor<5xf32>
      %p = linalg.matmul ins(%x, %y : tensor<5x5xf32>, tensor<5x5xf32>) outs(%z : tensor<5x5xf32>) -> tensor<5x5xf32>
      %m = linalg.reduce { arith.maximumf } ins(%p : tensor<5x5xf32>) outs(%i : tensor<5xf32>) dimensions = [1]
      return %m : tensor<5xf32>
    }"""
    kernel = analyze(function_of(text))
    assert isinstance(kernel, E.General), kernel_text(kernel)


def test_select_maximum_is_not_taken_for_maximumf(context: ir.Context) -> None:
    """``select(a > acc, a, acc)`` ignores NaN, ``maximumf`` does not."""
    text = """func.func private @f(%x: tensor<5x5xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
      %ninf = arith.constant 0xFF800000 : f32
      %i = linalg.fill ins(%ninf : f32) outs(%o : tensor<5xf32>) -> tensor<5xf32>
      %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x5xf32>) outs(%i : tensor<5xf32>) {
      ^bb0(%a: f32, %acc: f32):
        %c = arith.cmpf ogt, %a, %acc : f32
        %s = arith.select %c, %a, %acc : f32
        linalg.yield %s : f32
      } -> tensor<5xf32>
      return %m : tensor<5xf32>
    }"""
    kernel = analyze(function_of(text))
    assert isinstance(kernel, E.General) and "arith.select" in kernel.reason


def test_a_fold_of_another_running_value_is_not_read(context: ir.Context) -> None:
    """The second sum weighs with the maximum so far: neither loop order nor initial value may be assumed."""
    text = """func.func private @f(%x: tensor<5x5xf32>, %m: tensor<5xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
      %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
          affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<5x5xf32>) outs(%m, %o : tensor<5xf32>, tensor<5xf32>) {
      ^bb0(%a: f32, %top: f32, %acc: f32):
        %t = arith.maximumf %a, %top : f32
        %d = arith.subf %a, %top : f32
        %s = arith.addf %acc, %d : f32
        linalg.yield %t, %s : f32, f32
      } -> (tensor<5xf32>, tensor<5xf32>)
      return %r#1 : tensor<5xf32>
    }"""
    kernel = analyze(function_of(text))
    assert isinstance(kernel, E.General) and "another accumulator" in kernel.reason


def test_reversed_reads_are_a_map(context: ir.Context) -> None:
    text = """func.func private @f(%x: tensor<5xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
      %c4 = arith.constant 4 : index
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          outs(%o : tensor<5xf32>) {
      ^bb0(%old: f32):
        %i = linalg.index 0 : index
        %j = arith.subi %c4, %i : index
        %a = tensor.extract %x[%j] : tensor<5xf32>
        linalg.yield %a : f32
      } -> tensor<5xf32>
      return %r : tensor<5xf32>
    }"""
    kernel = check(text, E.Map)
    assert kernel.outputs[0].expr.coords == (E.Coord(0, -1, 4),)


def test_identity_ignores_names_and_tells_bodies_apart(context: ir.Context) -> None:
    def of(text: str, options: dict[str, Any] | None = None, target: str = "cpu") -> str:
        return identity(function_of(text), target, options)

    base = of(contraction_text())
    assert base == of(contraction_text().replace("@f(", "@other(").replace("%x", "%renamed"))
    assert len(base) == 64 and base != of(contraction_text().replace("math.tanh", "math.exp"))
    assert base != of(contraction_text(), target="nvptx") and base != of(contraction_text(), {"opt": 2})


# ------------------------------------------------------------------------------------------------ random kernels

_UNARY = ["math.tanh", "math.absf", "arith.negf", "math.exp"]
_BINARY = ["arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf"]
_FOLDS = [("arith.addf", "0.0"), ("arith.maximumf", "0xFF800000"), ("arith.minimumf", "0x7F800000")]


def random_ops(
    rng: np.random.Generator, rows: int, columns: int, products: bool = False
) -> tuple[str, list[str], list[str]]:
    """Random elementwise ops, broadcasts and row folds (and products, if square) of ``%x``, ``%y`` and ``%r``.

    Returns the ops as text, the names of the full-size values and those of the vectors, in order.
    """
    full, vector = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    lines, wide, narrow = [f"%ef = tensor.empty() : {full}", f"%ev = tensor.empty() : {vector}"], ["%x", "%y"], ["%r"]
    for number in range(int(rng.integers(4, 10))):
        kind = rng.integers(0, 7 if products else 6)
        first = wide[rng.integers(0, len(wide))]
        second = narrow[rng.integers(0, len(narrow))] if kind in (1, 2) else wide[rng.integers(0, len(wide))]
        if kind in (0, 5):
            op, init = _FOLDS[rng.integers(0, len(_FOLDS))]
            lines.append(f"%c{number} = arith.constant {init} : f32")
            lines.append(f"%i{number} = linalg.fill ins(%c{number} : f32) outs(%ev : {vector}) -> {vector}")
            operands = f"ins({first} : {full}) outs(%i{number} : {vector})"
            lines.append(f"%v{number} = linalg.reduce {{ {op} }} {operands} dimensions = [1]")
            narrow.append(f"%v{number}")
            continue
        if kind == 6:
            lines.append(f"%c{number} = arith.constant 0.0 : f32")
            lines.append(f"%i{number} = linalg.fill ins(%c{number} : f32) outs(%ef : {full}) -> {full}")
            operands = f"ins({first}, {second} : {full}, {full}) outs(%i{number} : {full})"
            lines.append(f"%w{number} = linalg.matmul {operands} -> {full}")
            wide.append(f"%w{number}")
            continue
        binary, unary = _BINARY[rng.integers(0, len(_BINARY))], _UNARY[rng.integers(0, len(_UNARY))]
        body = f"%s = {binary} %a, %b : f32\n%t = {unary} %s : f32\nlinalg.yield %t : f32"
        ins, types = {first: "a", second: "b"}, {first: full, second: vector if kind in (1, 2) else full}
        if first == second:
            ins, body = {first: "a"}, f"%t = {unary} %a : f32\nlinalg.yield %t : f32"
        maps = {second: ROW} if kind in (1, 2) else {}
        lines.append(f"%w{number} = {elementwise('%ef', ins, types, full, body, maps)}")
        wide.append(f"%w{number}")
    return "\n".join(lines), wide, narrow


def random_program(rng: np.random.Generator, rows: int, columns: int) -> str:
    """A kernel function of random ops: one result of the last full-size value and the last vector."""
    full, vector = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    body, wide, narrow = random_ops(rng, rows, columns)
    last = {wide[-1]: "a", narrow[-1]: "b"}
    types = {wide[-1]: full, narrow[-1]: vector}
    add = "%s = arith.addf %a, %b : f32\nlinalg.yield %s : f32"
    result = elementwise("%out", last, types, full, add, {narrow[-1]: ROW})
    return (
        f"func.func private @f(%x: {full}, %y: {full}, %r: {vector}, %out: {full}) -> {full} {{\n"
        f"{body}\n%done = {result}\nreturn %done : {full}\n}}"
    )


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_mean_what_their_linalg_computes(context: ir.Context, seed: int) -> None:
    rng = np.random.default_rng(seed)
    square = bool(rng.integers(0, 2))  # equal extents hide mistaken loops from the extent checks
    text = random_program(rng, 6, 6 if square else 9)
    kernel = analyze(function_of(text))
    if isinstance(kernel, E.General):
        assert kernel.reason
        return
    check(text, type(kernel), special=bool(seed % 2), tolerance=2e-5)


def test_random_programs_are_mostly_understood(context: ir.Context) -> None:
    kinds = [E.kind(analyze(function_of(random_program(np.random.default_rng(s), 6, 9)))) for s in range(40)]
    assert kinds.count("general") <= 12 and kinds.count("rows") >= 15 and kinds.count("map") >= 3, kinds
