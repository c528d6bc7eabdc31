"""The static gates, each alone: what it rejects, and the near miss that it lets pass."""

from __future__ import annotations

import re

import pytest

from kc.agents.contract import Contract
from kc.agents.gates import aliasing, assumptions, level, race, resource, signature
from kc.agents.gates.case import Case, main_of
from kc.agents.gates.parse import parse
from kc.agents.gates.reasons import Rejection
from kc.context import make_context

SIGNATURE = '@main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out})'
HEAD = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
"""
LOOP = """
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %y[%i] : memref<?xf32>
  }
"""


def region(body: str = LOOP, more: str = "", attributes: str = "", arguments: str = SIGNATURE) -> str:
    return f"module {{\nfunc.func {arguments} {attributes} {{{HEAD}{body}\n  return\n}}\n{more}\n}}"


def case(proposal: str, original: str | None = None, at: str = "loops", assumes: tuple = (), guard: str | None = None):
    context = make_context()
    first, second = parse(original or region(), context), parse(proposal, context)
    assert not isinstance(first, Rejection), first
    assert not isinstance(second, Rejection), second
    main = main_of(first)
    assert main is not None
    return Case(first, second, at, Contract.of(main), assumes, guard)


def reason(found: Rejection | None) -> str | None:
    return found.reason if found is not None else None


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("module {", "parse.syntax"),
        ("", None),
        ("\0", "parse.syntax"),
        (region("  %v = memref.load %y[%q] : memref<?xf32>"), "parse.syntax"),
        (region('  "no.such"() : () -> ()'), "parse.syntax"),
        (
            region("  memref.store %v, %y[%c0] : memref<?xf32>\n  %v = memref.load %x[%c0] : memref<?xf32>"),
            "verify.invalid",
        ),
        ("module { func.func private @f() func.func private @f() }", "verify.invalid"),
        (region(), None),
    ],
)
def test_parse_and_verify(text, want):
    found = parse(text, make_context())
    assert (found.reason if isinstance(found, Rejection) else None) == want


@pytest.mark.parametrize(
    ("body", "want"),
    [
        (LOOP, None),
        ("  %u = builtin.unrealized_conversion_cast %x : memref<?xf32> to memref<?xi32>", "level.forbidden"),
        ("  %a = memref.extract_aligned_pointer_as_index %x : memref<?xf32> -> index", "level.forbidden"),
        ('  llvm.inline_asm has_side_effects "nop", "" : () -> ()', "level.forbidden"),
        ("  %q = ub.poison : f32", "level.forbidden"),
        ("  %p = llvm.mlir.zero : !llvm.ptr", "level.op"),
        ("  gpu.barrier", "level.op"),
        ("  %f = arith.constant 1.0 : f32\n  %z = complex.create %f, %f : complex<f32>", "level.op"),
        ("  linalg.copy ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)", "level.op"),
        ("  %t = tensor.empty() : tensor<4xf32>", "level.op"),
        ("  vector.print %n : index", None),  # its effects are the signature gate's
    ],
)
def test_level(body, want):
    assert reason(level.check(case(region(body)))) == want


def test_an_op_of_the_original_is_legal_in_its_proposal():
    body = "  linalg.copy ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)"
    assert level.check(case(region(body), region(body))) is None


PRIVATE = "func.func private @{name}(%v: f32) -> f32 {{ return %v : f32 }}"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (region(more=PRIVATE.format(name="step")), None),
        (region(more=PRIVATE.format(name="step").replace("private ", "")), "signature.symbols"),
        (region(more="func.func private @step(f32) -> f32"), "signature.external"),
        (region(more=PRIVATE.format(name="memrefCopy")), "signature.reserved"),
        (region(more=PRIVATE.format(name="expf")), "signature.reserved"),
        (region(more=PRIVATE.format(name="div")), None),
        (region(more=PRIVATE.format(name="cumsum")), None),
        (region(more=PRIVATE.format(name="kc_parallel_for")), "signature.reserved"),
        (region(more=PRIVATE.format(name="_mlir_ciface_main")), "signature.reserved"),
        (region(more='memref.global "private" @g : memref<1xi32> = dense<0>'), "signature.state"),
        (region(more='memref.global "private" @g : memref<1xi32>'), "signature.state"),
        (region(more='memref.global "private" constant @g : memref<1xi32> = dense<0>'), None),
        (region(arguments="@other(%x: memref<?xf32>, %y: memref<?xf32>)"), "signature.main"),
        (region(arguments="private @main(%x: memref<?xf32>, %y: memref<?xf32>)"), "signature.main"),
        (region(arguments="@main(%x: memref<?xf32>, %y: memref<?xf64>)", body=""), "signature.types"),
        (region(arguments="@main(%x: memref<?xf32> {llvm.noalias}, %y: memref<?xf32>)"), "signature.arguments"),
        (region(attributes='attributes {passthrough = ["noinline"]}'), "signature.attributes"),
        (region(more="func.func private @s(%v: f32 {llvm.noundef}) { return }"), "signature.attributes"),
        (
            region(more="func.func private @s(%v: f32) -> (f32 {llvm.noundef}) { return %v : f32 }"),
            "signature.attributes",
        ),
        (region(attributes="attributes {llvm.emit_c_interface}"), "signature.attributes"),
        (
            region(more=PRIVATE.format(name="s").replace("-> f32 {", "-> f32 attributes {llvm.emit_c_interface} {", 1)),
            "signature.attributes",
        ),
        (region("  vector.print %n : index"), "signature.effects"),
        (region('  cf.assert %t, "no"'.join(["  %t = arith.constant true\n", ""])), "signature.effects"),
        (region().replace("module {", 'module attributes {llvm.data_layout = "e"} {'), "signature.attributes"),
    ],
)
def test_signature(text, want):
    assert reason(signature.check(case(text))) == want


LOW = """
llvm.func MAIN(%x: !llvm.ptr, %n: i64) MORE {
  llvm.call CALL @step(%x) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func internal STEP(%x: !llvm.ptr) ATTRIBUTES {
  llvm.return
}
"""


def low(main="@main", step="@step", call="", more="", attributes=""):
    text = LOW.replace("MAIN", main).replace("STEP", step).replace("CALL", call)
    return text.replace("MORE", more).replace("ATTRIBUTES", attributes)


@pytest.mark.parametrize(
    ("proposal", "original", "want"),
    [
        (low(), low(), None),
        (low(step="local_unnamed_addr @step").replace("internal", "private"), low(), None),
        (low("fastcc @main"), low(), "signature.attributes"),
        (low("weak @main"), low(), "signature.attributes"),
        (low("weak @main"), low("weak @main"), None),
        (low("available_externally @main"), low(), "signature.attributes"),
        (low("hidden @main"), low(), "signature.attributes"),
        (low("unnamed_addr @main"), low(), "signature.attributes"),
        (low(more="attributes {llvm.emit_c_interface}"), low(), "signature.attributes"),
        (low(more="attributes {llvm.emit_c_interface}"), low(more="attributes {llvm.emit_c_interface}"), None),
        (low(), low(more="attributes {llvm.emit_c_interface}"), "signature.attributes"),
        (low(step="fastcc @step", call="fastcc"), low(), "signature.attributes"),
        (low(call="fastcc"), low(), "signature.attributes"),
        (low(step="hidden @step"), low(), "signature.attributes"),
        (low(attributes="attributes {llvm.emit_c_interface}"), low(), "signature.attributes"),
    ],
)
def test_conventions(proposal, original, want):
    assert reason(signature.check(case(proposal, original, at="llvm"))) == want


GRANTED = 'attributes {kc.allow = ["reassoc"], kc.facts = ["N % 8 == 0"], kc.sizes = {N = array<i64: 8, 80>}}'


@pytest.mark.parametrize(
    ("assumes", "guard", "want"),
    [
        (("reassoc", "N % 4 == 0", "N >= 1"), None, None),
        (("contract",), None, "assumptions.undeclared"),
        (("N % 16 == 0",), None, "assumptions.undeclared"),
        (("N % 16 == 0",), "N % 16 == 0", None),
        ((), "x == 3", "assumptions.guard"),
        ((), "__import__('os')", "assumptions.guard"),
    ],
)
def test_assumptions(assumes, guard, want):
    text = region(attributes=GRANTED)
    assert reason(assumptions.check(case(region(), text, assumes=assumes, guard=guard))) == want


def test_a_guard_about_dimensions_without_names():
    """It is told how they get names."""
    text = region(arguments="@main(%x: memref<?xf32>, %y: memref<?xf32>)")
    rejected = assumptions.check(case(text, text, guard="d0 % 2 == 0"))
    assert reason(rejected) == "assumptions.guard"
    assert "names 'd0'; the dimensions have no names" in rejected.message and "kc.dims" in rejected.message


@pytest.mark.parametrize(
    ("proposal", "want"),
    [
        (region(attributes=GRANTED), None),
        (region(attributes='attributes {kc.allow = ["nnan"]}'), "assumptions.claims"),
        (region(attributes="attributes {kc.sizes = {N = array<i64: 8, 64>}}"), "assumptions.claims"),
        (region(attributes="attributes {kc.sizes = {N = array<i64: 0, 90>}}"), None),
        (region(arguments=SIGNATURE.replace('["N"]}', '["N"], kc.inout}', 1)), "assumptions.claims"),
        (region(arguments=SIGNATURE.replace("kc.out", "kc.out, kc.may_alias = 0 : i64")), "assumptions.claims"),
        (region(arguments="@main(%x: memref<?xf32>, %y: memref<?xf32>)"), None),
    ],
)
def test_claims_in_the_proposals_own_contract(proposal, want):
    assert reason(assumptions.check(case(proposal, region(attributes=GRANTED)))) == want


def flagged(op: str) -> str:
    return region(LOOP.replace("%w = arith.addf %v, %v : f32", op))


@pytest.mark.parametrize(
    ("op", "want"),
    [
        ("%w = arith.addf %v, %v fastmath<reassoc> : f32", None),
        ("%w = arith.addf %v, %v fastmath<nnan> : f32", "assumptions.flag"),
        ("%w = arith.addf %v, %v fastmath<fast> : f32", "assumptions.flag"),
        ("%w = arith.addf %v, %v : f32\n %j = arith.addi %i, %c1 overflow<nsw> : index", None),
        ("%w = arith.addf %v, %v : f32\n %j = arith.subi %i, %c1 overflow<nuw> : index", "assumptions.flag"),
        (
            "%w = arith.addf %v, %v : f32\n %k = arith.index_cast %i : index to i8\n"
            " %j = arith.addi %k, %k overflow<nsw> : i8",
            "assumptions.flag",
        ),
        ("%w = arith.addf %v, %v : f32\n %j = arith.divui %i, %c1 exact : index", "assumptions.flag"),
        ("%w = arith.addf %v, %v : f32\n %a = memref.assume_alignment %x, 64 : memref<?xf32>", "assumptions.flag"),
    ],
)
def test_flags(op, want):
    assert reason(assumptions.check(case(flagged(op), region(attributes=GRANTED)))) == want


@pytest.mark.parametrize(
    "op",
    [
        "llvm.add %a, %b overflow<nsw> : i32",
        "llvm.shl %a, %b overflow<nuw> : i32",
        "llvm.udiv exact %a, %b : i32",
        "llvm.or disjoint %a, %b : i32",
        '"llvm.intr.ctlz"(%a) <{is_zero_poison = true}> : (i32) -> i32',
        '"llvm.intr.abs"(%a) <{is_int_min_poison = true}> : (i32) -> i32',
    ],
)
def test_flags_of_llvm(op):
    """Some are numbers of the op's own and no attributes."""
    flagged = "llvm.func @main(%a: i32, %b: i32) { %r = OP llvm.return }".replace("OP", op + "\n")
    assert reason(assumptions.check(case(flagged, flagged, at="llvm"))) is None
    plain = re.sub(
        r" overflow<\w+>| exact| disjoint|(?<= = )true", lambda m: "false" if m[0] == "true" else "", flagged
    )
    assert reason(assumptions.check(case(flagged, plain, at="llvm"))) == "assumptions.flag"
    assert reason(assumptions.check(case(plain, flagged, at="llvm"))) is None


def test_a_flag_of_the_original_is_no_claim():
    text = flagged("%w = arith.addf %v, %v fastmath<nnan> : f32")
    assert assumptions.check(case(text, text)) is None


CALL = "  func.call @go(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()"
GO = "func.func private @go(%s: memref<?xf32>, %t: memref<?xf32>) {{ {body} return }}"
STORE = "%c = arith.constant 0 : index %v = arith.constant 0.0 : f32 memref.store %v, %{to}[%c] : memref<?xf32>"


SCATTER = """
func.func @main(%t: tensor<12xf32>, %u: tensor<UPDATES>, %i: tensor<4xi32>) -> tensor<12xf32>
    attributes {kc.facts = ["unique(arg2)", "sorted(arg2)"]} {
INDICES
  %r = "stablehlo.scatter"(%t, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<WINDOW,
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, FLAG = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<12xf32>, tensor<4x1xi32>, tensor<UPDATES>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}
"""
ARGUMENT = "%j = stablehlo.reshape %i : (tensor<4xi32>) -> tensor<4x1xi32>"
GRID = "%q = stablehlo.iota dim = 1 : tensor<2x2xi32>\n"
SPREAD = """%k = stablehlo.iota dim = 0 : tensor<4x1xi32>
%q = stablehlo.iota dim = 1 : tensor<4x1xi32>
%f = stablehlo.constant dense<FACTOR> : tensor<4x1xi32>
%j = stablehlo.multiply %k, %f : tensor<4x1xi32>"""
PERMUTED = """%k = stablehlo.iota dim = 0 : tensor<4xi32>
%o:2 = "stablehlo.sort"(%i, %k) <{dimension = 0 : i64, is_stable = true}> ({
^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
  %l = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %l : tensor<i1>
}) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
%j = stablehlo.reshape %o#1 : (tensor<4xi32>) -> tensor<4x1xi32>"""
THROUGH = """%w = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xTYPE>
%v = stablehlo.convert %w : (tensor<4xTYPE>) -> tensor<4xi32>
%j = stablehlo.reshape %v : (tensor<4xi32>) -> tensor<4x1xi32>"""


@pytest.mark.parametrize("flag", ["unique_indices", "indices_are_sorted"])
@pytest.mark.parametrize(
    ("indices", "granted"),
    [
        (ARGUMENT, True),
        (THROUGH.replace("TYPE", "i64"), False),  # what comes back from i64 may be cut
        (THROUGH.replace("TYPE", "i8"), False),
        (THROUGH.replace("TYPE", "bf16"), False),
        (THROUGH.replace("TYPE", "ui32"), False),
        ("%j = stablehlo.iota dim = 0 : tensor<4x1xi32>", True),
        ("%j = stablehlo.iota dim = 1 : tensor<4x1xi32>", "indices_are_sorted"),  # four times 0
        (ARGUMENT.replace("%i : (tensor<4xi32>)", "%q : (tensor<2x2xi32>)").replace("%j", GRID + "%j"), False),
        ("%j = stablehlo.constant dense<0> : tensor<4x1xi32>", "indices_are_sorted"),
        ("%j = stablehlo.constant dense<[[3], [0], [1], [2]]> : tensor<4x1xi32>", "unique_indices"),
        ("%j = stablehlo.constant dense<[[0], [3], [1], [3]]> : tensor<4x1xi32>", False),
        (SPREAD.replace("FACTOR", "3"), True),
        (SPREAD.replace("FACTOR", "-1"), "unique_indices"),
        (SPREAD.replace("FACTOR", "0"), "indices_are_sorted"),
        (SPREAD.replace("FACTOR", "1431655766"), "unique_indices"),  # wraps round
        (PERMUTED, "unique_indices"),
        (PERMUTED.replace("(%i, %k)", "(%k, %i)"), False),
    ],
)
def test_flags_of_indices(indices, granted, flag):
    text = (
        SCATTER.replace("INDICES", indices).replace("UPDATES", "4xf32").replace("WINDOW", "inserted_window_dims = [0]")
    )
    found = assumptions.check(
        case(
            text.replace("FLAG", flag),
            text.replace("FLAG = true", "FLAG = false").replace("FLAG", flag),
            at="stablehlo",
        )
    )
    assert reason(found) == (None if granted in (True, flag) else "assumptions.flag")


SORT_OF_THREE = """
func.func @main(%x: tensor<16xKIND>, %v: tensor<16xf32>) -> tensor<16xf32> attributes {kc.facts = [FACTS]} {
  %i = stablehlo.iota dim = 0 : tensor<16xi32>
  %s:3 = "stablehlo.sort"(%x, %v, %i) <{dimension = 0 : i64, is_stable = STABLE}> ({
  ^bb0(%a: tensor<KIND>, %b: tensor<KIND>, %p: tensor<f32>, %q: tensor<f32>, %m: tensor<i32>, %n: tensor<i32>):
    %l = stablehlo.compare LT, %a, %b, TYPE : (tensor<KIND>, tensor<KIND>) -> tensor<i1>
    %e = stablehlo.compare EQ, %a, %b, TYPE : (tensor<KIND>, tensor<KIND>) -> tensor<i1>
    %t = stablehlo.compare LT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %u = stablehlo.and %e, %t : tensor<i1>
    %c = stablehlo.or %l, %u : tensor<i1>
    stablehlo.return ANSWER : tensor<i1>
  }) : (tensor<16xKIND>, tensor<16xf32>, tensor<16xi32>) -> (tensor<16xKIND>, tensor<16xf32>, tensor<16xi32>)
  return %s#1 : tensor<16xf32>
}
"""


@pytest.mark.parametrize(
    ("kind", "order", "answer", "facts", "decided"),
    [
        ("i32", "SIGNED", "%c", "", True),  # where keys are equal, their places decide
        ("i32", "SIGNED", "%l", "", False),
        ("i32", "SIGNED", "%l", '"unique(arg0)"', True),
        ("i32", "SIGNED", "%l", '"unique(arg1)"', False),
        ("i32", "SIGNED", "%t", "", True),
        ("i32", "SIGNED", "%e", '"unique(arg0)"', False),
        ("f32", "FLOAT", "%c", "", False),  # nothing tells NaN from a number
        ("f32", "FLOAT", "%l", '"unique(arg0)"', False),
        ("f32", "TOTALORDER", "%c", "", True),
        ("f32", "TOTALORDER", "%l", '"unique(arg0)"', True),
    ],
)
def test_sorts_that_need_no_stability(kind, order, answer, facts, decided):
    text = SORT_OF_THREE.replace("KIND", kind).replace("TYPE", order)
    text = text.replace("FACTS", facts).replace("ANSWER", answer)
    found = assumptions.check(case(text.replace("STABLE", "false"), text.replace("STABLE", "true"), at="stablehlo"))
    assert reason(found) == (None if decided else "assumptions.flag")


def test_windows_of_distinct_indices_may_overlap():
    text = (
        SCATTER.replace("INDICES", ARGUMENT).replace("UPDATES", "4x3xf32").replace("WINDOW", "update_window_dims = [1]")
    )
    plain = text.replace("FLAG = true", "unique_indices = false")
    assert (
        reason(assumptions.check(case(text.replace("FLAG", "unique_indices"), plain, at="stablehlo")))
        == "assumptions.flag"
    )
    assert reason(assumptions.check(case(text.replace("FLAG", "indices_are_sorted"), plain, at="stablehlo"))) is None


PRODUCT = """
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]PRECISION
      : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
"""


@pytest.mark.parametrize(
    ("mine", "theirs", "want"),
    [
        ("", "", None),
        (", precision = [HIGHEST, HIGHEST]", "", None),
        ("", ", precision = [HIGHEST, HIGHEST]", "assumptions.flag"),
        (", precision = [HIGHEST, HIGH]", ", precision = [HIGHEST, HIGHEST]", "assumptions.flag"),
        (", precision = [HIGH, HIGHEST]", ", precision = [HIGHEST, HIGH]", None),
    ],
)
def test_less_precision_than_the_region_asks_for(mine, theirs, want):
    mine, theirs = (PRODUCT.replace("PRECISION", text) for text in (mine, theirs))
    assert reason(assumptions.check(case(mine, theirs, at="stablehlo"))) == want


@pytest.mark.parametrize(
    ("body", "more", "want"),
    [
        (LOOP, "", None),
        ("  %s = memref.alloca() : memref<8xf32>\n", "", None),
        ("  %s = memref.alloca() : memref<1000000xf32>\n", "", "resource.stack"),
        ("  scf.for %i = %c0 to %n step %c1 {\n %s = memref.alloca() : memref<8xf32>\n }", "", None),
        ("  scf.for %i = %c0 to %n step %c1 {\n %s = memref.alloca() : memref<800xf32>\n }", "", "resource.stack"),
        ("  scf.while : () -> () { %t = arith.constant false\n scf.condition(%t) } do {\n"
         "    %s = memref.alloca() : memref<8xf32>\n scf.yield }", "", "resource.stack"),
        (
            "  scf.for %i = %c0 to %n step %c1 {\n memref.alloca_scope {\n"
            "    %s = memref.alloca() : memref<8xf32>\n }\n }",
            "",
            None,
        ),
        ("  %s = memref.alloca(%n) : memref<?xf32>", "", None),
        (CALL, GO.format(body="func.call @go(%s, %t) : (memref<?xf32>, memref<?xf32>) -> ()"), "resource.recursion"),
        (CALL, GO.format(body=""), None),
    ],
)
def test_resource(body, more, want):
    assert reason(resource.check(case(region(body, more)))) == want


@pytest.mark.parametrize(
    ("body", "more", "want"),
    [
        (LOOP, "", None),
        (LOOP.replace("%w, %y", "%w, %x"), "", "aliasing.read-only"),
        (CALL, GO.format(body=STORE.format(to="t")), None),
        (CALL, GO.format(body=STORE.format(to="s")), "aliasing.read-only"),
        (
            "  %s = memref.subview %x[0] [1] [1] : memref<?xf32> to memref<1xf32, strided<[1]>>\n"
            "  %z = arith.constant 0.0 : f32\n  memref.store %z, %s[%c0] : memref<1xf32, strided<[1]>>",
            "",
            "aliasing.read-only",
        ),
        (
            "  %b = arith.cmpi eq, %n, %c1 : index\n  %s = arith.select %b, %x, %y : memref<?xf32>\n"
            "  memref.copy %x, %s : memref<?xf32> to memref<?xf32>",
            "",
            "aliasing.read-only",
        ),
        ("  memref.copy %x, %y : memref<?xf32> to memref<?xf32>", "", None),
        ("  memref.dealloc %x : memref<?xf32>", "", "aliasing.read-only"),
    ],
)
def test_aliasing(body, more, want):
    assert reason(aliasing.check(case(region(body, more)))) == want


SORT = """module {{ func.func @main(%x: tensor<8xi32>, %v: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {{
  %s:2 = "stablehlo.sort"(%x, %v) <{{dimension = 0 : i64, is_stable = {stable}}}> ({{
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %l = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }}) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>)
  return %s#0, %s#1 : tensor<8xi32>, tensor<8xi32> }} }}"""


def test_an_unstable_sort_in_place_of_a_stable_one():
    stable, unstable = SORT.format(stable="true"), SORT.format(stable="false")
    assert reason(assumptions.check(case(unstable, stable, "stablehlo"))) == "assumptions.flag"
    assert assumptions.check(case(unstable, unstable, "stablehlo")) is None
    assert assumptions.check(case(stable, unstable, "stablehlo")) is None


def summed(kind: str) -> str:
    return f"""func.func @main(%x: tensor<4x8xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {{
      %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                           iterator_types = ["parallel", "{kind}"]}}
          ins(%x : tensor<4x8xf32>) outs(%e : tensor<4xf32>) {{
      ^bb0(%p: f32, %o: f32):
        %s = arith.addf %o, %p : f32
        linalg.yield %s : f32
      }} -> tensor<4xf32>
      return %r : tensor<4xf32> }}"""


def test_a_sum_whose_iterator_is_called_parallel():
    right, wrong = summed("reduction"), summed("parallel")
    assert reason(race.check(case(wrong, right, "linalg"))) == "race.conflict"
    assert race.check(case(right, right, "linalg")) is None
    assert race.check(case(wrong, wrong, "linalg")) is None  # the region's own word


@pytest.mark.parametrize(
    ("combine", "allow", "want"),
    [
        ("%c = arith.addf %a, %b : f32", "reassoc", None),
        ("%c = arith.addf %b, %a : f32", "reassoc", None),
        ("%c = arith.addf %a, %b : f32", "contract", "race.order"),
        ("%c = arith.subf %a, %b : f32", "reassoc", "race.order"),
        ("%c = arith.maximumf %a, %b : f32", "contract", None),
        ("%c = arith.addf %a, %a : f32", "reassoc", "race.order"),
        ("%d = arith.addf %a, %b : f32\n %c = arith.addf %d, %b : f32", "reassoc", "race.order"),
    ],
)
def test_partial_results_may_be_put_together_in_any_order(combine, allow, want):
    body = f"""  %z = arith.constant 0.0 : f32
      %s = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {{
        %v = memref.load %x[%i] : memref<?xf32>
        scf.reduce(%v : f32) {{
        ^bb0(%a: f32, %b: f32):
          {combine}
          scf.reduce.return %c : f32
        }}
      }}
      memref.store %s, %y[%c0] : memref<?xf32>"""
    original = region(attributes=f'attributes {{kc.allow = ["{allow}"]}}')
    assert reason(race.check(case(region(body), original))) == want
