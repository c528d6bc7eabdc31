"""kc's own agents from end to end: through the gates, in compiled programs that still compute the right thing."""
from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kc
from kc.agents.builtin import BUILTIN, make
from kc.agents.builtin.patterns import PatternsAgent
from kc.agents.contract import Contract
from kc.agents.protocol import Observation
from kc.context import make_context, parse_module
from kc.errors import CompileError, InputError

sys.path.insert(0, str(Path(__file__).parent))
from llm_server import Server

SIMPLE = """func.func @main(%a: tensor<4x2xf32>, %b: tensor<4x2xf32>) -> tensor<8xf32> {
  %n = stablehlo.negate %b : tensor<4x2xf32>
  %0 = stablehlo.subtract %a, %n : tensor<4x2xf32>
  %c = stablehlo.constant dense<8.0> : tensor<4x2xf32>
  %1 = stablehlo.divide %0, %c : tensor<4x2xf32>
  %2 = stablehlo.reshape %1 : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %3 = stablehlo.reshape %2 : (tensor<2x4xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}"""
DOUBLE = """func.func @main(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  %0 = stablehlo.negate %a : tensor<5xf32>
  %1 = stablehlo.negate %0 : tensor<5xf32>
  %2 = stablehlo.subtract %1, %b : tensor<5xf32>
  return %2 : tensor<5xf32>
}"""
WRONG_RULE = """import kc
from kc.bindings import ir

@kc.rewrite("stablehlo.subtract", level="stablehlo", name="subtract-is-symmetric")
def subtract_is_symmetric(op, rewriter):
    '''x - y -> |y - x|, which is wrong.'''
    x, y = op.operands
    with rewriter.ip, op.location:
        new = ir.Operation.create("stablehlo.subtract", results=[x.type], operands=[y, x],
                                  attributes={"kc_test.done": ir.UnitAttr.get()})
        done = ir.Operation.create("stablehlo.abs", results=[x.type], operands=[new.result])
    if "kc_test.done" in op.attributes:
        return False
    rewriter.replace_op(op, done)
"""
NEGATE_NEGATE = (Path(kc.agents.__file__).parent / "builtin" / "rules" / "stablehlo.mlir").read_text()


def observe(text: str, level: str = "stablehlo", identity: str = "0" * 64) -> Observation:
    module = parse_module(text, make_context())
    contract = Contract.of(module.body.operations[0])
    return Observation(level=level, at="x", name="main", kind="function", identity=identity, ir=text,
                       contract=contract.to_json())


def decided(exe: Any) -> tuple[Any, dict[str, Any]]:
    """The one decision of a compilation, and its proposal."""
    assert exe.session.remarks == []
    (decision,) = exe.session.decisions
    return decision, (decision.attempt.proposal or {}) if decision.attempt else {}


# ------------------------------------------------------------------------------------------------------- by name


def test_agents_are_made_by_name() -> None:
    assert set(BUILTIN) == {"algebra", "llm", "patterns", "router", "schedule-search"}
    made = make("schedule-search{seconds=3.5 model=false sampler=random}", ["linalg"])
    assert (made.seconds, made.model, made.sampler) == (3.5, False, "random")  # type: ignore[attr-defined]
    assert make("algebra{rounds=4}").rounds == 4  # type: ignore[attr-defined]
    for spec, said in (
        ("paterns", "did you mean 'patterns'"), ("algebra{round=3}", "did you mean 'rounds'"),
        ("algebra{rounds=many}", "wants int"), ("algebra{rounds=3", "no closing brace"),
        ("patterns{rules=/nosuch.py}", "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            make(spec)


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from kc.agents.builtin.search.candidates import Candidates
    from kc.agents.realize.knob_space import KnobSpace

    real = importlib.util.find_spec
    gone = ("egglog", "openai", "optuna")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name in gone else real(name, *a))
    for name in gone:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"kc\[algebra\]"):
        kc.compile(SIMPLE, agents=["algebra"])
    with pytest.raises(InputError, match=r"package 'optuna': pip install 'kc\[search\]'"):
        make("schedule-search{sampler=tpe}")
    assert make("schedule-search{sampler=tpe seconds=0}").name == "schedule-search"
    with pytest.raises(InputError, match=r"kc\[llm\]"):
        make("llm{model=m}")
    with pytest.raises(InputError, match=r"kc\[search\]"):
        Candidates(KnobSpace("rows", (), "cpu", {}))


# ------------------------------------------------------------------------------------------------------ patterns


def test_patterns_pass_the_gates() -> None:
    exe = kc.compile(SIMPLE, agents=["stablehlo=patterns"])
    decision, proposal = decided(exe)
    assert decision.accepted
    for name in ("subtract_negate", "reshape_reshape", "divide-power-of-two"):
        assert name in proposal["rationale"]
    a, b = (np.random.default_rng(s).normal(size=(4, 2)).astype(np.float32) for s in (1, 2))
    np.testing.assert_array_equal(exe(a, b)[0], ((a + b) / 8).reshape(8))


def test_a_wrong_rule_is_found_and_left_out(tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.mlir"
    wrong.write_text(WRONG_RULE)
    right.write_text(NEGATE_NEGATE)
    agent = f"stablehlo=patterns{{rules={wrong},{right}}}"
    exe = kc.compile(DOUBLE, agents=[agent], ledger=tmp_path / "l.jsonl")
    decision, proposal = decided(exe)
    assert decision.accepted and proposal["rationale"] == "rules that fired: negate_negate"
    lines = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    assert any("numeric" in json.dumps(line) for line in lines)  # the first proposal, with its counter-example
    a, b = (np.random.default_rng(s).normal(size=5).astype(np.float32) for s in (1, 2))
    np.testing.assert_array_equal(exe(a, b)[0], a - b)


def test_assumptions_of_rules_must_be_granted() -> None:
    text = """func.func @main(%x: f32) -> f32 attributes {ALLOW} {
      %one = arith.constant 1.0 : f32
      %s = math.sqrt %x : f32
      %q = arith.divf %one, %s : f32
      return %q : f32
    }"""
    assert make("patterns").propose(observe(text.replace("attributes {ALLOW}", ""), "linalg")) is None
    granted = observe(text.replace("ALLOW", 'kc.allow = ["approx"]'), "linalg")
    proposal = make("patterns").propose(granted)
    assert proposal is not None and proposal.assumes == ("approx",) and "math.rsqrt" in (proposal.ir or "")


@pytest.mark.parametrize(
    ("name", "rule", "said"),
    [
        ("a.py", "import os\nimport kc\n@kc.rewrite('stablehlo.negate', level='stablehlo')\n"
                 "def dies(op, rewriter):\n    os.abort()\n", "SIGABRT"),
        ("b.py", "import kc\n@kc.rewrite('stablehlo.negate', level='stablehlo')\n"
                 "def raises(op, rewriter):\n    raise KeyError('no')\n", "KeyError"),
        ("c.py", "import kc\n@kc.rewrite('stablehlo.negate', level='stablehlo')\n"
                 "def hangs(op, rewriter):\n    while True: pass\n", "time"),
        ("d.py", "x = 1\n", "holds no pass"),
        ("e.mlir", 'pdl.pattern @p : benefit(1) { %x = pdl.operand\n '
                   'pdl.apply_native_constraint "lucky"(%x : !pdl.value)\n '
                   '%r = pdl.operation "stablehlo.negate"(%x : !pdl.value)\n pdl.rewrite %r { pdl.erase %r } }',
         "no native constraint 'lucky'"),
        ("f.mlir", "module {}", "holds no pdl.pattern"),
        ("g.txt", "", "neither a .py file"),
    ],
)
def test_rules_that_go_wrong_end_in_words(tmp_path: Path, name: str, rule: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(rule)
    agent = PatternsAgent(rules=(str(path),), seconds=1.0)
    with pytest.raises((CompileError, InputError), match=said):
        agent.propose(observe(DOUBLE))


def test_native_constraints_and_interpreted_pdl(tmp_path: Path) -> None:
    path = tmp_path / "r.mlir"
    path.write_text("""pdl.pattern @only_integers : benefit(1) {
      %t = pdl.type
      %x = pdl.operand : %t
      pdl.apply_native_constraint "is_integer"(%x : !pdl.value)
      %i = pdl.operation "stablehlo.negate"(%x : !pdl.value) -> (%t : !pdl.type)
      %y = pdl.result 0 of %i
      %r = pdl.operation "stablehlo.negate"(%y : !pdl.value) -> (%t : !pdl.type)
      pdl.rewrite %r { pdl.replace %r with (%x : !pdl.value) }
    }""")
    assert PatternsAgent(rules=(str(path),)).propose(observe(DOUBLE)) is None
    found = PatternsAgent(rules=(str(path),)).propose(observe(DOUBLE.replace("f32", "i32")))
    assert found is not None and "negate" not in (found.ir or "")


# ------------------------------------------------------------------------------------------------------- algebra

CHAIN = """func.func @main(%a: tensor<8x6xf32>, %b: tensor<6x8xf32>, %v: tensor<8x1xf32>) -> tensor<8x1xf32>
    ALLOW {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  return %1 : tensor<8x1xf32>
}"""


def test_algebra_reorders_a_chain_of_products_where_it_may() -> None:
    pytest.importorskip("egglog")
    allow = 'attributes {kc.allow = ["reassoc", "contract", "nnan", "ninf"]}'
    exe = kc.compile(CHAIN.replace("ALLOW", allow), agents=["algebra"])
    decision, proposal = decided(exe)
    assert decision.accepted, decision.attempt and decision.attempt.verdict
    assert set(proposal["assumes"]) == {"reassoc", "nnan", "ninf"} and "8x8" not in proposal["ir"]
    rng = np.random.default_rng(0)
    a, b, v = (rng.normal(size=s).astype(np.float32) for s in ((8, 6), (6, 8), (8, 1)))
    np.testing.assert_allclose(exe(a, b, v)[0], a @ b @ v, rtol=1e-3, atol=1e-3)
    assert make("algebra").propose(observe(CHAIN.replace("ALLOW", ""))) is None


def test_algebra_needs_no_licence_for_exact_rules() -> None:
    pytest.importorskip("egglog")
    text = """func.func @main(%x: tensor<7xf32>) -> tensor<64x7xf32> {
      %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<7xf32>) -> tensor<64x7xf32>
      %1 = stablehlo.exponential %0 : tensor<64x7xf32>
      %2 = stablehlo.negate %1 : tensor<64x7xf32>
      return %2 : tensor<64x7xf32>
    }"""
    exe = kc.compile(text, agents=["algebra"])
    decision, proposal = decided(exe)
    assert decision.accepted and "assumes" not in proposal
    assert "stablehlo.exponential %arg0 : tensor<7xf32>" in proposal["ir"]
    x = np.linspace(-2, 2, 7, dtype=np.float32)
    np.testing.assert_allclose(exe(x)[0], np.broadcast_to(-np.exp(x), (64, 7)), rtol=1e-6)


def test_ops_without_a_term_stay_where_they_are() -> None:
    pytest.importorskip("egglog")
    text = """func.func @main(%x: tensor<8xf32>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %0 = stablehlo.negate %x : tensor<8xf32>
      %1 = stablehlo.negate %0 : tensor<8xf32>
      %2 = "stablehlo.case"(%n) ({
        %4 = stablehlo.negate %1 : tensor<8xf32>
        stablehlo.return %4 : tensor<8xf32>
      }, {
        stablehlo.return %0 : tensor<8xf32>
      }) : (tensor<i32>) -> tensor<8xf32>
      %3 = stablehlo.abs %2 : tensor<8xf32>
      %5 = stablehlo.abs %3 : tensor<8xf32>
      return %5, %1 : tensor<8xf32>, tensor<8xf32>
    }"""
    proposal = make("algebra").propose(observe(text))
    assert proposal is not None and proposal.ir is not None
    assert proposal.ir.count("stablehlo.negate") == 1 and proposal.ir.count("stablehlo.abs") == 1
    assert kc.agents.judge(text, proposal, level="stablehlo").accepted


def test_a_wrong_rule_of_a_user_is_rejected(tmp_path: Path) -> None:
    pytest.importorskip("egglog")
    path = tmp_path / "wrong.egg"
    path.write_text('(rewrite (Un "negate" x) x :ruleset exact :name "minus-is-plus")')
    agent = make(f"algebra{{rules={path}}}")
    exe = kc.compile(DOUBLE.replace("%1 = stablehlo.negate %0", "%1 = stablehlo.exponential %0"), agents=[agent],
                     ledger=tmp_path / "l.jsonl")
    (decision,) = exe.session.decisions
    assert not decision.accepted and exe.session.remarks == []
    assert "numeric" in (tmp_path / "l.jsonl").read_text()
    path.write_text("(rewrite (Nosuch x) x)")
    with pytest.raises(CompileError, match="a rule of equality saturation is wrong"):
        make(f"algebra{{rules={path}}}").propose(observe(DOUBLE))


# ----------------------------------------------------------------------------------- schedules, models, decisions

ROWS = """func.func @main(%x: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<64x48xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<64x48xf32>, tensor<f32>) -> tensor<64xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<64xf32>) -> tensor<64x48xf32>
  %q = stablehlo.divide %e, %sb : tensor<64x48xf32>
  return %q : tensor<64x48xf32>
}"""


@pytest.fixture
def tuned(tmp_path: Path) -> str:
    """A tuning database that says that lanes=8 is good for ROWS."""
    from kc.agents.builtin.search.kernels import key_of
    from kc.agents.builtin.tuning_db import Point, TuningDatabase
    from kc.tools.commands.tune import kernels

    (observation,) = kernels(ROWS)
    path = str(tmp_path / "t.sqlite")
    with TuningDatabase(path) as database:
        knobs = {**observation.default["knobs"], "lanes": 8}
        database.add(key_of(observation, {}), Point("rows", knobs, 1.5, 10.0, 15.0, 41))
        assert observation.default["knobs"]["lanes"] != 8
    return path


def test_a_schedule_from_the_database_is_taken(tuned: str) -> None:
    exe = kc.compile(ROWS, agents=[f"schedule-search{{seconds=0 database={tuned}}}"])
    decision, proposal = decided(exe)
    assert decision.accepted, decision.attempt and decision.attempt.verdict
    assert (proposal["kind"], proposal["knobs"]) == ("schedule", {"lanes": 8})
    assert "1.50 times as fast" in proposal["rationale"] and "tuning database" in proposal["rationale"]
    x = np.random.default_rng(0).normal(size=(64, 48)).astype(np.float32)
    np.testing.assert_allclose(exe(x)[0], np.exp(x) / np.exp(x).sum(1, keepdims=True), rtol=1e-5)


def test_a_model_repairs_its_proposal_and_the_talk_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij")
    lines = [line for line in DOUBLE.splitlines() if "negate" not in line]
    right = "\n".join(lines).replace("%1, %b", "%a, %b")
    wrong = right.replace("%a, %b :", "%b, %a :")
    with Server([f"```mlir\n{wrong}\n```", f"```mlir\n{right}\n```"]) as server:
        agent = f"stablehlo=llm{{model=m url={server.url}/v1}}"
        exe = kc.compile(DOUBLE, agents=[agent], ledger=tmp_path / "kc-agents.jsonl")
        decision, proposal = decided(exe)
        assert decision.accepted and "negate" not in proposal["ir"]
        assert "numeric" in server.said(1) and "Counter-example" in server.said(1)
    assert "negate" in (tmp_path / "kc-agents.llm.jsonl").read_text()
    np.testing.assert_array_equal(exe(np.ones(5, np.float32), np.zeros(5, np.float32))[0], np.ones(5, np.float32))


def test_the_router_says_at_once_which_ways_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    real, gone = importlib.util.find_spec, ["triton", "jax", "egglog", "sklearn"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name in gone else real(name, *a))
    notes = "\n".join(make("router").notes)
    assert "way 'stablehlo_out' is off: 'jax' is not installed (pip install 'kc[jax]')" in notes
    assert "way 'schedule' is off: 'sklearn' is not installed (pip install 'kc[search]')" in notes
    assert "way 'replace_ir' is left to 'patterns' and the delegates: 'egglog'" in notes
    assert "way 'triton' is off: none of kc's agents writes Triton" in notes and "kc[triton]" in notes
    assert "library" not in notes
    exe = kc.compile(ROWS, agents=["router{least_us=1000000 threads=1}"])
    assert [r for r in exe.session.remarks if r.startswith("agent 'router': way 'stablehlo_out' is off")]
    with pytest.raises(InputError, match=r"'stablehlo_out', and cannot.*kc\[jax\]"):
        make("router{use=stablehlo_out}")
    with pytest.raises(InputError, match=r"did you mean 'schedule'\?"):
        make("router{use=schedules}")
    assert "left to the delegates" in "\n".join(make("router{use=schedule delegates=patterns}").notes)
    assert make("router{use=schedule seconds=0}").notes == []
    gone.clear()
    assert [n.split("'")[1] for n in make("router").notes] == ["triton"]


def test_the_router_says_why_it_leaves_a_region(tmp_path: Path) -> None:
    exe = kc.compile(ROWS, agents=["router{least_us=1000000 threads=1}"], ledger=tmp_path / "l.jsonl")
    (decision,) = exe.session.decisions
    assert not decision.accepted and decision.attempt is not None and decision.attempt.proposal is not None
    assert decision.attempt.proposal["kind"] == "keep"
    assert "not worth the trouble" in decision.attempt.proposal["rationale"]
    assert "not worth the trouble" in (tmp_path / "l.jsonl").read_text()
