"""Regions: what is found at each level, extraction, splicing, and the contract that kc writes."""

from __future__ import annotations

import pytest

from kc.agents import Contract
from kc.agents.regions import Region, SpliceError, extract, find, identity, splice
from kc.agents.regions.buffers import Overlap
from kc.agents.regions.known import contract_of, destinations, note_buffers
from kc.bindings import ir
from kc.context import make_context, parse_module
from kc.pass_manager import run_pipeline

KERNELS = """
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<?x8xf32> {kc.dims = ["batch", "8"]}) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = call @k0(%x, %n, %e) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  %z = call @k1(%y, %e) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}
func.func private @k0(%x: tensor<?x8xf32>, %n: index, %out: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {kc.kernel, kc.kind = "map"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%out : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = func.call @twice(%a) : (f32) -> f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @k1(%x: tensor<?x8xf32>, %out: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {kc.kernel, kc.kind = "map", kc.impl = @k1__impl} {
  return %out : tensor<?x8xf32>
}
func.func private @k1__impl(%x: memref<?x8xf32>, %out: memref<?x8xf32>) attributes {kc.impl} { return }
func.func private @twice(%a: f32) -> f32 {
  %0 = arith.addf %a, %a fastmath<contract> : f32
  return %0 : f32
}
"""


def parse(text: str) -> ir.Module:
    return parse_module(text, make_context())


def only(module: ir.Module, level: str, name: str) -> Region:
    (found,) = [region for region in find(module, level) if region.name == name]
    return found


def names(text: str, level: str) -> list[str]:
    return [region.name for region in find(parse(text), level)]


def test_find_by_level() -> None:
    assert names(KERNELS, "linalg") == ["k0"]
    assert names(KERNELS.replace("kc.kernel, ", "").replace(", kc.impl = @k1__impl", ""), "linalg") == [
        "twice", "k0", "k1", "main"
    ]  # fmt: skip
    functions = "func.func @a(%x: f32) -> f32 { %0 = call @b(%x) : (f32) -> f32\n return %0 : f32 }\n" + (
        "func.func private @b(%x: f32) -> f32 { return %x : f32 }\nfunc.func private @c(f32) -> f32"
    )
    for level in ("torch", "stablehlo"):
        assert names(functions, level) == ["b", "a"]
    loops = """
    func.func @main(%a: memref<4xf32>) { call @k(%a) : (memref<4xf32>) -> ()
      call @k2__impl(%a) : (memref<4xf32>) -> ()
      return }
    func.func private @k(%a: memref<4xf32>) attributes {kc.kernel} { return }
    func.func private @k2__impl(%a: memref<4xf32>) attributes {kc.impl} {
      call @k2__part(%a) : (memref<4xf32>) -> ()
      return }
    func.func private @k2__part(%a: memref<4xf32>) attributes {kc.impl} { return }
    """
    assert names(loops, "loops") == ["k", "k2__impl"]


def test_extraction_is_a_module_of_its_own() -> None:
    module = parse(KERNELS)
    region = only(module, "linalg", "k0")
    text = extract(region, contract_of(region))
    again = parse(text)
    functions = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in again.body.operations}
    assert list(functions) == ["main", "twice"]
    assert 'kc.kind = "map"' in text and "kc.kernel" not in text and "private @twice" in text
    contract = Contract.of(functions["main"])
    assert [a.dims for a in contract.arguments] == [("batch", "8"), ("batch",), ("batch", "8")]
    assert contract.size_range("batch") == (0, 1 << 47) and contract.allow == {"contract"}
    other = parse("\n\n" + KERNELS.replace("@k0", "@other"))
    same = only(other, "linalg", "other")
    assert extract(same, contract_of(same)) == text, "name and place in the file do not count"
    assert identity("linalg", text, "cpu") != identity("linalg", text, "cpu", {"fma": "false"})


def test_splice_keeps_the_region_and_renames_helpers() -> None:
    module = parse(KERNELS)
    region = only(module, "linalg", "k0")
    text = extract(region, contract_of(region)).replace("arith.addf", "arith.mulf")
    new = splice(region, text, "me")
    shown = str(module)
    assert "@k0__twice" in shown and "private @twice" in shown and shown.count("arith.mulf") == 1
    assert 'attributes {kc.kernel, kc.kind = "map"}' in shown and "kc.sizes" not in shown
    assert all("agent me" in str(op.location) for op in new.operation.regions[0].blocks[0].operations)
    again = only(module, "linalg", "k0")
    splice(again, extract(again, contract_of(again)), "you")
    assert module.operation.verify()


def test_splice_pins_results_to_destinations() -> None:
    module = parse(KERNELS)
    region = only(module, "linalg", "k0")
    text = (
        "func.func @main(%x: tensor<?x8xf32>, %n: index, %out: tensor<?x8xf32>) -> tensor<?x8xf32> {\n"
        "  return %x : tensor<?x8xf32>\n}"
    )
    splice(region, text, "me")
    assert "linalg.copy" in str(module)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @other() { return }", "has a function @main"),
        ("func.func @main() { return }", "has type"),
        ("module @inner { }\nfunc.func @main() { return }", "has type"),
        ("llvm.func @main() { llvm.return }", "cannot be replaced by a 'llvm.func'"),
    ],
)
def test_splice_refuses(text: str, message: str) -> None:
    module = parse(KERNELS)
    before = str(module)
    with pytest.raises(SpliceError, match=message):
        splice(only(module, "linalg", "k0"), text, "me")
    assert str(module) == before


def test_splice_undoes_what_does_not_verify() -> None:
    """A call of a symbol that is nowhere is found only in the program."""
    module = parse(KERNELS)
    before = str(module)
    region = only(module, "linalg", "k0")
    text = extract(region, contract_of(region)).replace("func.func private @twice", "func.func private @once")
    with pytest.raises(Exception, match=r"twice|valid"):
        splice(region, text, "me")
    assert str(module) == before


def test_contract_of_numerics() -> None:
    def allow(body: str, target: str = "cpu", **options: str) -> set[str]:
        module = parse(f"func.func @f(%a: tensor<4x4xf32>, %i: tensor<4x4xi32>) -> tensor<4x4xf32> {{ {body} }}")
        level = "stablehlo" if "stablehlo" in body else "linalg"
        return set(contract_of(only(module, level, "f"), target, options).allow)

    dot = (
        "%0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] "
        ": (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> return %0 : tensor<4x4xf32>"
    )
    assert allow(dot) == {"reassoc", "contract"} and allow(dot, **{"strict-fp": "true"}) == {"contract"}
    integers = (
        dot.replace("%a, %a", "%i, %i").replace("xf32", "xi32").replace("%0 : tensor<4x4xi32>", "%a : tensor<4x4xf32>")
    )
    assert allow(integers) == set()
    tanh = "%0 = stablehlo.tanh %a : tensor<4x4xf32> return %0 : tensor<4x4xf32>"
    assert allow(tanh) == set() and allow(tanh, "nvptx:sm_90a") == {"approx"}
    matmul = (
        "%0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) "
        "-> tensor<4x4xf32> return %0 : tensor<4x4xf32>"
    )
    assert allow(matmul) == {"reassoc", "contract"}


def test_ranges_that_hold_by_construction() -> None:
    text = """
    func.func @main(%x: tensor<9xf32>, %i: tensor<4xi32>) -> tensor<4xi32> {
      %lo = stablehlo.constant dense<0> : tensor<i32>
      %hi = stablehlo.constant dense<8> : tensor<i32>
      %c = stablehlo.clamp %lo, %i, %hi : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
      %t = stablehlo.constant dense<[3, -1, 7, 2]> : tensor<4xi32>
      %n = stablehlo.iota dim = 0 : tensor<4xi32>
      %m = stablehlo.maximum %n, %t : tensor<4xi32>
      %r = call @f(%c, %t, %n, %m, %i)
          : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      return %r : tensor<4xi32>
    }
    func.func private @f(%a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<4xi32>, %d: tensor<4xi32>, %e: tensor<4xi32>)
        -> tensor<4xi32> { return %a : tensor<4xi32> }
    """
    module = parse(text)
    contract = contract_of(only(module, "stablehlo", "f"))
    assert [a.range for a in contract.arguments] == [(0, 8), (-1, 7), (0, 3), (0, 7), None]
    second = "%q = call @f(%i, %t, %n, %m, %i)\n : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, "
    second += "tensor<4xi32>) -> tensor<4xi32>\n return %q"
    twice = parse(text.replace("return %r", second))
    assert contract_of(only(twice, "stablehlo", "f")).arguments[0].range is None, "every call counts"
    assert contract_of(only(module, "stablehlo", "main")).arguments[1].range is None, "the caller is the user"


LOOPS = """
func.func @main(%x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  call @k(%x, SECOND, %a) : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
  return %a : memref<?xf32>
}
func.func private @k(%x: memref<?xf32>, %y: memref<?xf32>, %out: memref<?xf32>) attributes {kc.kernel} {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<?xf32>
  call @store(%v, %out) : (f32, memref<?xf32>) -> ()
  return
}
func.func private @store(%v: f32, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  memref.store %v, %out[%c0] : memref<?xf32>
  return
}
"""


def test_contract_of_buffers() -> None:
    plain = contract_of(only(parse(LOOPS.replace("SECOND", "%x")), "loops", "k"))
    assert [(a.out, a.inout, a.may_alias) for a in plain.arguments] == [
        (False, False, None), (False, False, None), (False, True, None)
    ]  # fmt: skip
    assert [a.dims for a in plain.arguments] == [("d0",)] * 3, "all are as long as %x in every call"
    same = contract_of(only(parse(LOOPS.replace("SECOND", "%a")), "loops", "k"))
    assert [a.may_alias for a in same.arguments] == [None, None, 1]
    part = "%s"
    sliced = LOOPS.replace(
        "  call @k(", "  %s = memref.subview %a[0][%n][1] : memref<?xf32> to memref<?xf32>\n  call @k("
    )
    with pytest.raises(Overlap, match="arguments 1 and 2 of '@k' may overlap"):
        contract_of(only(parse(sliced.replace("SECOND", part)), "loops", "k"))


def test_destinations_of_kernels_are_told_apart() -> None:
    module = parse(KERNELS.replace("func.call @twice(%a) : (f32) -> f32", "arith.negf %a : f32"))
    region = only(module, "linalg", "k0")
    told = destinations(region.operation, contract_of(region))
    assert [(a.out, a.inout) for a in told.arguments] == [(False, False), (False, False), (True, False)]
    reads = parse(KERNELS.replace("func.call @twice(%a) : (f32) -> f32", "arith.addf %a, %b : f32"))
    region = only(reads, "linalg", "k0")
    told = destinations(region.operation, contract_of(region))
    assert [(a.out, a.inout) for a in told.arguments] == [(False, False), (False, False), (False, True)]


def test_llvm_regions_tell_their_buffers() -> None:
    module = parse(LOOPS.replace("SECOND", "%x"))
    region = only(module, "loops", "k")
    contract = contract_of(region)
    note_buffers(region.operation)
    run_pipeline(module, "builtin.module(finalize-memref-to-llvm,convert-to-llvm,reconcile-unrealized-casts)")
    (found,) = find(module, "llvm")
    told = contract_of(found, remembered={"k": contract})
    text = extract(found, told)
    assert 'kc.buffers = ["memref<?xf32>", "memref<?xf32>", "memref<?xf32>"]' in text and "llvm.func @main" in text
    assert [number for number, a in enumerate(told.arguments) if a.inout] == [10]
    assert told.arguments[5].dims == ("d0",) and len(told.arguments) == 15
    splice(found, text, "me")
    assert module.operation.verify()


GPU = """
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @one(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
      gpu.return
    }
    gpu.func @other(%x: memref<?xf32>) kernel { gpu.return }
  }
  func.func @main(%x: memref<?xf32>) -> memref<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %m = arith.muli %n, %n : index
    %y = memref.alloc(%n) : memref<?xf32>
    gpu.launch_func @kernels::@one blocks in (%m, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%n : index, %x : memref<?xf32>, %y : memref<?xf32>)
    return %y : memref<?xf32>
  }
}
"""


def test_launches_in_host_code_are_regions() -> None:
    module = parse(GPU)
    before = str(module)
    (region,) = find(module, "gpu")
    contract = contract_of(region)
    text = extract(region, contract)
    assert str(module) == before and "@other" not in text and "gpu.container_module" in text
    assert "func.func @main(%arg0: memref<?xf32> {kc.dims" in text and "arith.muli" in text
    assert [(a.inout, a.dims) for a in contract.arguments] == [(False, ("d0",)), (True, ("d0",))]
    splice(region, text.replace("@kernels", "@mine"), "me")
    shown = str(module)
    assert "call @one_launch(%arg0, %alloc)" in shown and "@one_launch__mine::@one" in shown
    assert "gpu.launch_func  @kernels" not in shown and module.operation.verify()


def test_extents_are_one_where_a_loop_runs_over_both() -> None:
    """Also where the body reads a table, and where an extent comes in as a number beside the arrays."""
    module = parse("""
#m = affine_map<(d0, d1) -> (d0)>
#n = affine_map<(d0, d1) -> (d0, d1)>
func.func private @k(%i: tensor<?xi32>, %n: index, %t: tensor<8x4xf32>, %o: tensor<?x4xf32>) -> tensor<?x4xf32>
    attributes {kc.kernel} {
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %0 = linalg.generic {indexing_maps = [#m, #n], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<?xi32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %r = arith.index_cast %in : i32 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %t[%r, %c] : tensor<8x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  %1 = linalg.exp ins(%0 : tensor<?x4xf32>) outs(%o : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}""")
    contract = contract_of(only(module, "linalg", "k"), "cpu")
    assert [a.dims for a in contract.arguments] == [("d0",), ("d0",), ("8", "4"), ("d0", "4")]
