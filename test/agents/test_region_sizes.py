"""What a program says of its sizes, from its source down to the regions, the gate, and the check at the call."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kc
from kc.agents import Agent, Contract, Proposal
from kc.agents.regions import find
from kc.agents.regions.known import contract_of
from kc.agents.regions.sizes import known
from kc.bindings import ir
from kc.context import make_context, parse_module
from kc.runtime import ArgumentError

#: doubles eight elements at a time, and no rest
EIGHTS = """
func.func @main(%x: memref<?xf32>, EXTENTS%out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %two = arith.constant dense<2.0> : vector<8xf32>
  scf.for %i = %c0 to %n step %c8 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<8xf32>
    %d = arith.mulf %v, %two : vector<8xf32>
    vector.store %d, %out[%i] : memref<?xf32>, vector<8xf32>
  }
  return
}
"""


class Eights(Agent):
    """Answers kernels of one array with ``EIGHTS``."""

    name, version, levels = "eights", "1", ("linalg",)

    def __init__(self, assumes=()):
        self.seen, self.verdicts, self.assumes = [], [], assumes

    def propose(self, observation):
        if observation.attempts:
            return None
        self.seen.append(observation)
        head = re.search(r"@main\((.*?)\) ->", observation.ir)[1]
        extents = "".join(f"%e{k}: index, " for k in range(head.count(": index")))
        text = EIGHTS.replace("EXTENTS", extents)
        return Proposal("replace_ir", ir=text, level="loops", assumes=list(self.assumes))

    def learn(self, observation, proposal, verdict):
        self.verdicts.append(verdict)


def contract(observation) -> Contract:
    module = parse_module(observation.ir, make_context())
    return Contract.of(next(iter(module.body.operations)))


@pytest.mark.parametrize(("multiple", "accepted"), [(8, True), (4, False), (1, False)])
def test_torch_export(multiple, accepted):
    """A loop without a rest is right only where the exported sizes have none, and calls are held to these."""
    torch = pytest.importorskip("torch")

    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2.0

    length = torch.export.Dim("length", min=2, max=40)
    shape = multiple * length if multiple > 1 else length
    exported = torch.export.export(Double(), (torch.ones(16 * multiple),), dynamic_shapes=({0: shape},), strict=False)
    agent = Eights([f"d0 % {multiple} == 0"] if multiple > 1 else [])
    program = kc.compile(exported, agents=[agent])
    (seen,) = agent.seen
    told = contract(seen)
    name = "d0" if multiple > 1 else "length"
    assert told.arguments[0].dims == (name,)
    assert told.sizes[name][1] == 40 * multiple
    assert told.grants(f"{name} <= {40 * multiple}") and not told.grants(f"{name} <= {40 * multiple - 1}")
    assert [v.accepted for v in agent.verdicts][:1] == [accepted], agent.verdicts
    x = np.arange(24 * multiple, dtype=np.float32)
    assert np.array_equal(program(x)[0], x * 2)
    with pytest.raises(ArgumentError, match=f"'{name}' must be .* at most {40 * multiple}"):
        program(np.ones(48 * multiple, np.float32))
    if multiple > 1:
        with pytest.raises(ArgumentError, match=f"with d0 % {multiple} == 0; 'd0' is {16 * multiple - 1}"):
            program(np.ones(16 * multiple - 1, np.float32))


def test_torch_names_and_derived_sizes():
    torch = pytest.importorskip("torch")
    import kc.torch as kc_torch

    class Both(torch.nn.Module):
        def forward(self, x, y):
            return torch.relu(x), torch.relu(y.reshape(-1, 4) * 2)

    rows = torch.export.Dim("rows", min=4, max=64)
    agent = Eights()
    compiled = kc_torch.compile(
        Both(), (torch.ones(8, 6), torch.ones(32)), dynamic_shapes=({0: rows}, {0: 4 * rows}), agents=[agent]
    )
    kernels = [contract(seen) for seen in agent.seen]
    assert [k.arguments[0].dims for k in kernels] == [("rows", "6"), ("rows", "4")]
    assert all(k.sizes["rows"] == (4, 64) for k in kernels)
    entry = compiled.executable.manifest["entries"]["main"]
    assert entry["dims"]["rows"] == {"min": 4, "max": 64}
    assert "d0 == 4 * rows" in [c["text"] for c in entry["conditions"]]
    with pytest.raises(ArgumentError, match=r"d0 == 4 \* rows; 'd0' is 36 .*'rows' is 8"):
        compiled(torch.ones(8, 6), torch.ones(36))
    with pytest.raises(ArgumentError, match="'rows' must be at least 4 and at most 64"):
        compiled(torch.ones(3, 6), torch.ones(12))


@pytest.mark.parametrize("constrained", [True, False])
def test_jax_export(constrained):
    """The constraints of ``jax.export`` reach the kernel, and calls are held to them."""
    jax = pytest.importorskip("jax")
    from jax import export

    constraints = ["n >= 8", "mod(n, 8) == 0", "n <= 4096"] if constrained else []
    (spec,) = export.symbolic_args_specs(
        (jax.ShapeDtypeStruct((8,), jax.numpy.float32),), ("n",), constraints=constraints
    )
    exported = export.export(jax.jit(lambda x: x * 2.0), platforms=("cpu",))(spec)
    agent = Eights(["n % 8 == 0"] if constrained else [])
    program = kc.compile(bytes(exported.mlir_module_serialized), agents=[agent])
    (seen,) = agent.seen
    told = contract(seen)
    assert told.arguments[0].dims == ("n",)
    assert told.sizes["n"] == ((8, 4096) if constrained else (1, 1 << 47))
    assert told.facts == (("n % 8 == 0",) if constrained else ())
    assert [v.accepted for v in agent.verdicts][:1] == [constrained], agent.verdicts
    x = np.arange(24, dtype=np.float32)
    assert np.array_equal(program(x)[0], x * 2)
    with pytest.raises(ArgumentError, match="'n' must be at least"):
        program(x[:0])
    if constrained:
        with pytest.raises(ArgumentError, match="n % 8 == 0; 'n' is 12"):
            program(x[:12])
        with pytest.raises(ArgumentError, match="at most 4096"):
            program(np.ones(4104, np.float32))


def test_kc_jit_names_sizes():
    jax = pytest.importorskip("jax")
    run = kc.jit(lambda x, y: x @ y, polymorphic_shapes=("b, 4", "4, 2*b"))
    program = run.compiled(jax.ShapeDtypeStruct((3, 4), "float32"), jax.ShapeDtypeStruct((4, 6), "float32"))
    entry = program.manifest["entries"]["main"]
    assert [a["shape"] for a in entry["args"]] == [["b", 4], [4, "d0"]]
    assert [c["text"] for c in entry["conditions"]] == ["d0 == 2 * b"]
    with pytest.raises(ArgumentError, match=r"d0 == 2 \* b"):
        program(np.ones((3, 4), np.float32), np.ones((4, 5), np.float32))


BOUNDED = """
func.func @main(%x: tensor<?xf32, #stablehlo.bounds<40>>, %y: tensor<?xf32>) -> tensor<?xf32, #stablehlo.bounds<40>> {
  %0 = stablehlo.add %x, %x : tensor<?xf32, #stablehlo.bounds<40>>
  return %0 : tensor<?xf32, #stablehlo.bounds<40>>
}
"""


def test_bounded_types():
    """A bound is checked by the program itself: kernels behind that check may rely on it."""
    agent = Eights()
    agent.levels = ("stablehlo", "linalg")
    program = kc.compile(BOUNDED, agents=[agent])
    above, kernel = (contract(seen) for seen in (agent.seen[0], agent.seen[-1]))
    assert above.sizes == {"d0": (0, 40), "d1": (0, 1 << 47)}
    assert kernel.sizes[kernel.arguments[0].dims[0]] == (0, 40)
    assert program(np.ones(40, np.float32), np.ones(3, np.float32))[0].shape == (40,)
    with pytest.raises(kc.runtime.ExecutionError, match="bounds it by 40"):
        program(np.ones(41, np.float32), np.ones(3, np.float32))


def test_specialised_programs_are_held_to_it_too():
    text = """func.func @main(%x: tensor<?xf32> {kc.dims = ["N"]}) -> tensor<?xf32>
        attributes {kc.sizes = {N = array<i64: 2, 9>}, kc.facts = ["N % 2 == 0"]} {
      %0 = stablehlo.add %x, %x : tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    for program in (kc.compile(text), kc.compile(text, shapes="specialise")):
        assert program(np.ones(4, np.float32))[0].shape == (4,)
        for wrong, words in ((10, "at most 9"), (3, "N % 2 == 0; 'N' is 3")):
            with pytest.raises(ArgumentError, match=words):
                program(np.ones(wrong, np.float32))


HOST = """
func.func @main(%x: tensor<?x8xf32> {kc.dims = ["rows", "8"]}, %y: tensor<?xf32> {kc.dims = ["len"]}) -> tensor<?xf32>
    attributes {kc.sizes = {rows = array<i64: 2, 100>, len = array<i64: 0, 50>}, kc.facts = ["len <= rows"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %len = tensor.dim %y, %c0 : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
  %both = arith.addi %rows, %len : index
  %e = tensor.empty(%both) : tensor<?xf32>
  %third = arith.divsi %rows, %c3 : index
  %t = tensor.empty(%third) : tensor<?xf32>
  %r = call @k(%flat, %x, %y, %e, %t) : (tensor<?xf32>, tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    -> tensor<?xf32>
  SECOND
  return %r : tensor<?xf32>
}
func.func private @k(%a: tensor<?xf32>, %b: tensor<?x8xf32>, %c: tensor<?xf32>, %d: tensor<?xf32>, %out: tensor<?xf32>)
    -> tensor<?xf32> attributes {kc.kernel, kc.kind = "map"} {
  return %out : tensor<?xf32>
}
"""
#: a call with other arguments, where less holds
SECOND = """%q = call @k(%y, %x, %y, %e, %t) : (tensor<?xf32>, tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>,
    tensor<?xf32>) -> tensor<?xf32>"""


def of_kernel(text):
    module = parse_module(text, make_context())
    (region,) = [r for r in find(module, "linalg") if r.name == "k"]
    return contract_of(region), known(region.operation, region.module)


def test_sizes_are_followed_to_a_kernel():
    found, _ = of_kernel(HOST.replace("SECOND", ""))
    assert [a.dims for a in found.arguments] == [("d0",), ("rows", "8"), ("len",), ("d1",), ("d2",)]
    assert found.sizes == {"d0": (16, 800), "rows": (2, 100), "len": (0, 50), "d1": (2, 150), "d2": (0, 33)}
    yes = ("d0 % 8 == 0", "d0 == 8 * rows", "len <= rows", "rows <= d1", "len <= d1", "d2 <= rows", "d0 % 4 == 0")
    for fact in yes:
        assert found.grants(fact), fact
    for fact in ("d0 % 16 == 0", "rows <= len", "d1 <= rows", "rows % 2 == 0", "rows <= 99", "d2 >= 1"):
        assert not found.grants(fact), fact


def test_only_what_holds_in_every_call():
    found, _ = of_kernel(HOST.replace("SECOND", SECOND))
    names = [a.dims for a in found.arguments]
    assert names[1] == ("rows", "8") and names[2] == ("len",) and names[0] not in (names[2], ("rows",))
    assert found.sizes[names[0][0]] == (0, 800)
    assert not found.grants(f"{names[0][0]} % 8 == 0") and not found.grants(f"{names[0][0]} == 8 * rows")
    assert found.grants("len <= rows")


def test_an_entry_point_that_the_program_calls_is_not_held_to_what_it_says():
    """The runtime checks calls from outside only."""
    inner = HOST.replace("SECOND", "").replace("@main", "@inner")
    outer = """func.func @main(%x: tensor<?x8xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %r = call @inner(%x, %y) : (tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }"""
    found, _ = of_kernel(inner + outer)
    assert found.sizes["rows"] == (0, 1 << 47) and not found.grants("len <= rows") and found.grants("d0 == 8 * rows")


def test_names_that_no_argument_has_are_not_relied_on():
    """Nothing is checked of a name that no open extent has."""
    text = HOST.replace("SECOND", "").replace('{kc.dims = ["len"]}', "")
    found, _ = of_kernel(text)
    assert not found.grants("rows <= d1") or found.sizes["rows"] == (2, 100)
    assert "len <= rows" not in found.facts and "len" not in found.sizes


def test_below_tensors():
    """The same stands on the buffers, with their alignment, and on the pointers that these become."""
    seen = []

    class Look(Agent):
        name, version, levels = "look", "1", ("loops", "llvm")

        def propose(self, observation):
            seen.append(observation)

    text = """func.func @main(%x: tensor<?xf32> {kc.dims = ["N"]}) -> tensor<?xf32>
        attributes {kc.sizes = {N = array<i64: 0, 512>}, kc.facts = ["N % 8 == 0"]} {
      %0 = stablehlo.exponential %x : tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    kc.compile(text, agents=[Look()])
    loops, llvm = seen
    told = contract(loops)
    assert told.arguments[0].dims == ("N",) and told.sizes == {"N": (0, 512)}
    last = len(told.arguments) - 1
    assert told.facts == ("N % 8 == 0", f"align(arg{last},64)") and told.arguments[last].out
    from kc.agents.gates.reading import read

    lower = read(parse_module(llvm.ir, make_context())).contract
    assert lower.facts == told.facts and lower.sizes == told.sizes  # by arguments as they were on buffers
    assert contract(llvm).facts[1] != told.facts[1]


ARENA = """
func.func @main(%x: memref<16xf32>) -> memref<16xf32> {
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %arena = memref.alloc() {alignment = 64 : i64} : memref<256xi8>
  %a = memref.view %arena[%c64][] : memref<256xi8> to memref<16xf32>
  %b = memref.view %arena[%c8][] : memref<256xi8> to memref<16xf32>
  call @k(%x, %a, %b) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
  return %a : memref<16xf32>
}
func.func private @k(%x: memref<16xf32>, %a: memref<16xf32>, %b: memref<16xf32>) attributes {kc.kernel} {
  return
}
"""


@pytest.mark.parametrize(
    ("target", "facts"), [("cpu", ("align(arg1,64)",)), ("nvptx:sm_90a", ("align(arg0,16)", "align(arg1,64)"))]
)
def test_alignment(target, facts):
    """A caller's array may start anywhere on the CPU; what lies in an arena, where its offset says."""
    module = parse_module(ARENA, make_context())
    (region,) = find(module, "loops")
    assert contract_of(region, target).facts == facts


def test_merged_kernels_tell_no_more_than_all_their_calls():
    """Equal kernels become one after they were looked at: what was known of the first does not hold for the other."""
    seen = []

    class Look(Agent):
        name, version, levels = "look", "1", ("linalg", "loops")

        def propose(self, observation):
            seen.append(observation)

    text = """func.func @main(%x: tensor<?xf32> {kc.dims = ["N"]}, %y: tensor<?xf32> {kc.dims = ["M"]})
        -> (tensor<?xf32>, tensor<?xf32>)
        attributes {kc.sizes = {N = array<i64: 0, 64>, M = array<i64: 0, 4096>}, kc.facts = ["N % 8 == 0"]} {
      %0 = stablehlo.exponential %x : tensor<?xf32>
      %1 = stablehlo.exponential %y : tensor<?xf32>
      return %0, %1 : tensor<?xf32>, tensor<?xf32>
    }"""
    kc.compile(text, agents=[Look()])
    above = [contract(o) for o in seen if o.level == "linalg"]
    (below,) = [contract(o) for o in seen if o.level == "loops"]
    assert [c.arguments[0].dims for c in above] == [("N",), ("M",)]
    (name,) = below.sizes
    assert below.sizes[name] == (0, 4096) and not below.grants(f"{name} % 8 == 0")


def test_no_agent_no_difference():
    """Looking for what is known changes nothing."""
    module = parse_module(HOST.replace("SECOND", ""), make_context())
    before = str(module)
    (region,) = [r for r in find(module, "linalg") if r.name == "k"]
    contract_of(region)
    assert str(module) == before and isinstance(region.operation, ir.Operation)
