"""Sessions: who is asked where, what becomes of answers, ledger modes, and that agents cannot break a compilation."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kc
from kc.agents import Agent, Budget, LedgerError, Match, Observation, Proposal, Verdict
from kc.agents.ledger import Ledger, report
from kc.errors import InputError

TANH = """
func.func @main(%x: tensor<?x64xf32>, %w: tensor<64x32xf32>) -> tensor<?x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
  %1 = stablehlo.tanh %0 : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}
"""
X = np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((64, 32)).astype(np.float32) / 8


class Swap(Agent):
    """Answers with the region's own text, one op changed for another."""

    name = "swap"
    levels = ("linalg",)

    def __init__(self, old: str = "math.tanh", new: str = "math.exp", **attributes: Any):
        self.old, self.new = old, new
        self.seen: list[Observation] = []
        self.verdicts: list[Verdict] = []
        for name, value in attributes.items():
            setattr(self, name, value)

    def propose(self, observation: Observation) -> Proposal | None:
        self.seen.append(observation)
        if self.old not in observation.ir or len(observation.attempts) > 1:
            return None
        text = observation.ir.replace(self.old, self.new)
        return Proposal("replace_ir", ir=text + "// again\n" * len(observation.attempts))

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        self.verdicts.append(verdict)


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> list[Verdict]:
    """Verdicts that the gates give, in turn; the last one again and again. Gates have tests of their own."""
    given = [Verdict(True)]

    def judge(original: str, proposal: Proposal, **how: Any) -> Verdict:
        return given.pop(0) if len(given) > 1 else given[0]

    monkeypatch.setattr("kc.agents.session.converse.gates", judge)
    return given


def run(exe: kc.Executable) -> np.ndarray:
    """The result for X and W."""
    (result,) = exe(X, W)
    return np.asarray(result)


def is_tanh(exe: kc.Executable) -> bool:
    return bool(np.allclose(run(exe), np.tanh(X @ W), atol=1e-5))


def is_exp(exe: kc.Executable) -> bool:
    return bool(np.allclose(run(exe), np.exp(X @ W), rtol=1e-4))


def test_accepted_answer_stands_in_the_program(verdicts: list[Verdict]) -> None:
    agent = Swap()
    exe = kc.compile(TANH, agents=[agent])
    assert is_exp(exe)
    (seen,) = agent.seen
    assert (seen.level, seen.at, seen.kind, seen.name) == ("linalg", "after:form-kernels", "contraction", "main_k0")
    assert seen.flops == 2 * 256 * 64 * 32 + 20 * 256 * 32 and seen.bytes and seen.default["schedule"] == "contraction"
    assert 'kc.dims = ["d0", "64"]' in seen.ir and 'kc.allow = ["contract", "reassoc"]' in seen.ir
    assert [str(d) for d in exe.session.decisions] == ["@main_k0 (linalg): replace_ir of 'swap' accepted"]
    assert "math.exp" in exe.stage("form-kernels") and "math.exp" in exe.stage("linalg")
    assert agent.verdicts == [Verdict(True)]


def test_rejected_answers_leave_no_trace(verdicts: list[Verdict]) -> None:
    verdicts[:] = [Verdict(False, "numeric", "numeric.value", "differs")]
    agent = Swap()
    exe = kc.compile(TANH, agents=[agent])
    assert is_tanh(exe)
    assert [len(o.attempts) for o in agent.seen] == [0, 1, 2]
    assert agent.seen[2].attempts[0]["verdict"]["reason"] == "numeric.value"
    assert exe.files == kc.compile(TANH).files and exe.manifest == kc.compile(TANH).manifest


def test_second_answer_may_be_accepted(verdicts: list[Verdict]) -> None:
    verdicts[:] = [Verdict(False, "parse", "parse.syntax", "no"), Verdict(True)]
    agent = Swap()
    assert is_exp(kc.compile(TANH, agents=[agent])) and len(agent.seen) == 2


def test_budget_of_candidates(verdicts: list[Verdict]) -> None:
    verdicts[:] = [Verdict(False, "parse", "parse.syntax", "no")]
    agent = Swap(budget=Budget(candidates=1))
    exe = kc.compile(TANH, agents=[agent])
    assert len(agent.seen) == 1
    assert [str(d) for d in exe.session.decisions] == [
        "@main_k0 (linalg): 1 proposal of 'swap' rejected, last: parse.syntax: no; its budget of 1 proposal is used up"
    ]


def test_budgets_that_are_used_up_are_told_apart(verdicts: list[Verdict], tmp_path: Path) -> None:
    """From an agent that has no more; a replay asks again where there is more to spend than there was."""
    path = tmp_path / "agents.jsonl"
    verdicts[:] = [Verdict(False, "numeric", "numeric.value", "result 0[0] is 2")]
    exe = kc.compile(TANH, agents=[Swap(budget=Budget(candidates=2))], ledger=path)
    (decision,) = exe.session.decisions
    assert [a.outcome for a in decision.tried] == ["rejected"] * 2 and decision.attempt is not None
    assert (decision.attempt.outcome, decision.attempt.ended) == ("stopped", {"candidates": 2})
    told = "\n".join(report.explain(Ledger(path).entries()))
    assert "swap 1 was asked no further: its budget of 2 proposals is used up" in told and "no proposal" not in told
    for candidates, asked in ((2, 0), (1, 0), (8, 1), (8, 0)):  # shown what it tried, it has no more
        agent = Swap(budget=Budget(candidates=candidates))
        kc.compile(TANH, agents=[agent], ledger=path, ledger_mode="replay")
        assert len(agent.seen) == asked
    assert Ledger(path).entries()[-1].outcome == "declined"
    frozen = kc.compile(TANH, ledger=path, ledger_mode="frozen")
    assert is_tanh(frozen) and "2 proposals of 'swap' rejected" in str(frozen.session.decisions[0])


def test_used_up_seconds_settle_nothing_for_a_replay(verdicts: list[Verdict], tmp_path: Path) -> None:
    path = tmp_path / "agents.jsonl"
    slow = Swap(budget=Budget(seconds=0.2))
    slow.propose = lambda observation: time.sleep(20)  # type: ignore[method-assign,assignment,return-value]
    exe = kc.compile(TANH, agents=[slow], ledger=path)
    assert "its budget of 0.2 seconds is used up" in str(exe.session.decisions[0])
    assert is_tanh(kc.compile(TANH, ledger=path, ledger_mode="frozen"))
    assert is_exp(kc.compile(TANH, agents=[Swap()], ledger=path, ledger_mode="replay"))


def test_an_agent_that_repeats_itself_is_not_asked_further(verdicts: list[Verdict], tmp_path: Path) -> None:
    verdicts[:] = [Verdict(False, "numeric", "numeric.value", "result 0[0] is 2\nwitness")]
    agent = Swap()
    agent.propose = lambda o: Proposal(  # type: ignore[method-assign]
        "replace_ir", ir=o.ir.replace("math.tanh", "math.exp"), rationale=f"attempt {len(o.attempts)}"
    )
    exe = kc.compile(TANH, agents=[agent], ledger=tmp_path / "agents.jsonl")
    assert [a.outcome for a in Ledger(tmp_path / "agents.jsonl").entries()] == ["rejected", "stopped"]
    assert str(exe.session.decisions[0]) == (
        "@main_k0 (linalg): 1 proposal of 'swap' rejected, last: numeric.value: result 0[0] is 2; "
        "it gave a rejected proposal again"
    )
    assert "it gave the same proposal again" in exe.session.remarks[0]


def test_an_agent_that_fails_after_a_rejection(verdicts: list[Verdict]) -> None:
    """What was rejected is told, though nothing is settled."""
    verdicts[:] = [Verdict(False, "parse", "parse.syntax", "no")]
    agent = Swap()
    first = agent.propose
    agent.propose = lambda o: 1 / 0 if o.attempts else first(o)  # type: ignore[method-assign,return-value]
    exe = kc.compile(TANH, agents=[agent])
    assert [str(d) for d in exe.session.decisions] == [
        "@main_k0 (linalg): 1 proposal of 'swap' rejected, last: parse.syntax: no"
    ]
    assert exe.session.decisions[0].attempt is None and "ZeroDivisionError" in exe.session.remarks[0]


def test_agents_one_after_the_other(verdicts: list[Verdict]) -> None:
    first, second = Swap(name="first"), Swap("math.exp", "math.cos", name="second")
    exe = kc.compile(TANH, agents=[first, second])
    assert np.allclose(run(exe), np.cos(X @ W), atol=1e-5)
    assert first.seen[0].identity != second.seen[0].identity


def test_match(verdicts: list[Verdict]) -> None:
    for match, asked in (
        (Match(names=("other*",)), 0),
        (Match(kinds=("contraction",)), 1),
        (Match(kinds=("map",)), 0),
        (Match(most_ops=3), 0),
        (Match(when=lambda o: "math.tanh" in o.ir), 1),
        (Match(when=lambda o: 1 / 0), 0),  # type: ignore[arg-type,return-value]
    ):
        agent = Swap(match=match)
        exe = kc.compile(TANH, agents=[agent])
        assert len(agent.seen) == asked
    assert exe.session.remarks == ["agent 'swap': its match raised ZeroDivisionError: division by zero"]


@pytest.mark.parametrize(
    ("answer", "remark"),
    [
        (lambda o: 1 / 0, "propose raised ZeroDivisionError: division by zero"),
        (lambda o: sys.exit(3), "propose raised SystemExit: 3"),
        (lambda o: time.sleep(30), "propose took longer than the 0.3 seconds that were left of its budget"),
        (lambda o: {"kind": "replace_ir"}, "a proposal of kind 'replace_ir' needs it"),
        (lambda o: {"kind": "magic"}, "kind: 'magic' is none of"),
        (lambda o: 7, "a proposal is a JSON object, not int"),
    ],
)
def test_errors_of_an_agent_are_remarks(verdicts: list[Verdict], answer: Any, remark: str) -> None:
    agent = Swap(budget=Budget(seconds=0.3))
    agent.propose = answer  # type: ignore[method-assign]
    exe = kc.compile(TANH, agents=[agent])
    assert is_tanh(exe) and not any(d.accepted or d.tried for d in exe.session.decisions)
    assert len(exe.session.remarks) >= 1 and remark in exe.session.remarks[0]


def test_answer_that_does_not_fit_is_left_out(verdicts: list[Verdict], tmp_path: Path) -> None:
    wrong = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
    agent = Swap()
    agent.propose = lambda observation: Proposal("replace_ir", ir=wrong)  # type: ignore[method-assign]
    exe = kc.compile(TANH, agents=[agent], ledger=tmp_path / "agents.jsonl")
    assert is_tanh(exe) and "has type" in exe.session.remarks[0] and not exe.session.decisions[0].accepted
    assert is_tanh(kc.compile(TANH, ledger=tmp_path / "agents.jsonl", ledger_mode="frozen"))


def test_replay_judges_stale_answers_again(
    verdicts: list[Verdict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "agents.jsonl"
    kc.compile(TANH, agents=[Swap()], ledger=path)
    monkeypatch.setattr("kc.agents.ledger.stale.gates_revision", lambda: 1 << 20)
    silent = Swap()
    assert is_exp(kc.compile(TANH, agents=[silent], ledger=path, ledger_mode="replay")) and not silent.seen
    monkeypatch.setattr("kc.agents.ledger.stale.gates_revision", lambda: 1 << 21)
    verdicts[:] = [Verdict(False, "numeric", "numeric.value", "the new rules find it")]
    asked = Swap()
    assert is_tanh(kc.compile(TANH, agents=[asked], ledger=path, ledger_mode="replay")) and asked.seen


def test_a_larger_budget_goes_on_where_the_smaller_one_ended(verdicts: list[Verdict], tmp_path: Path) -> None:
    """The agent is shown what it tried, with the verdicts, and asked for as many as are left."""
    path = tmp_path / "agents.jsonl"
    verdicts[:] = [Verdict(False, "numeric", "numeric.value", f"wrong {n}") for n in range(9)]

    class Numbers(Agent):
        """Proposes as its number of attempts tells; or, as one that does not look at these, counts by itself."""

        name, levels = "numbers", ("linalg",)

        def __init__(self, candidates: int, counts: bool = False):
            self.budget, self.counts, self.seen = Budget(candidates=candidates), counts, []

        def propose(self, observation: Observation) -> Proposal | None:
            number = len(self.seen) if self.counts else len(observation.attempts)
            self.seen.append([a["verdict"]["message"] for a in observation.attempts])
            return Proposal("replace_ir", ir=f"{observation.ir}// {number}")

    first = Numbers(2)
    kc.compile(TANH, agents=[first], ledger=path)
    assert first.seen == [[], ["wrong 0"]]
    second = Numbers(4)
    exe = kc.compile(TANH, agents=[second], ledger=path, ledger_mode="replay")
    assert second.seen == [["wrong 0", "wrong 1"], ["wrong 0", "wrong 1", "wrong 2"]]
    (decision,) = exe.session.decisions
    assert decision.attempt is not None and decision.attempt.ended == {"candidates": 4} and len(decision.tried) == 2
    third = Numbers(6, counts=True)
    kc.compile(TANH, agents=[third], ledger=path, ledger_mode="replay")
    assert [len(seen) for seen in third.seen] == [4, 4, 4, 4, 4, 5]  # four that are known, two that are new
    asked = Numbers(6)
    kc.compile(TANH, agents=[asked], ledger=path, ledger_mode="ask")
    assert asked.seen[0] == []


TWO = """
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @g(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @h(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.cosine %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @h(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.sine %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


class Three(Agent):
    """Answers each of the three functions by something else; the one for @g is such as kc cannot compile."""

    name, levels = "three", ("stablehlo",)

    def __init__(self) -> None:
        self.changes = {"tanh": "negate", "cosine": "sqrt", "sine": "abs"}
        self.seen: list[tuple[str, list[str]]] = []

    def propose(self, observation: Observation) -> Proposal | None:
        if observation.name == "main":
            return None
        self.seen.append((observation.name, [a["verdict"]["reason"] for a in observation.attempts]))
        if observation.attempts:
            return None
        old = observation.ir.split("stablehlo.")[1].split()[0]
        return Proposal("replace_ir", ir=observation.ir.replace(f"stablehlo.{old}", f"stablehlo.{self.changes[old]}"))


@pytest.fixture
def no_roots(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A compiler that fails at square roots; how often it was started."""
    from kc.errors import CompileError
    from kc.targets.cpu import CpuTarget

    generate, calls = CpuTarget.generate, []

    def fails(self: CpuTarget, module: Any, options: Any) -> Any:
        calls.append(1)
        if "sqrt" in str(module):
            raise CompileError("no such instruction")
        return generate(self, module, options)

    monkeypatch.setattr(CpuTarget, "generate", fails)
    return calls


def test_only_the_answer_that_kc_cannot_compile_is_taken_back(
    verdicts: list[Verdict], no_roots: list[int], tmp_path: Path
) -> None:
    """Gates let pass only what compiles; should they ever not, the program is compiled without that answer."""
    path, agent = tmp_path / "agents.jsonl", Three()
    exe = kc.compile(TWO, agents=[agent], ledger=path)
    x = np.linspace(0, 1, 8, dtype=np.float32)
    for got, want in zip(exe(x), (-x, np.cos(x), np.abs(x)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert exe.session.remarks == ["agent 'three', region '@g': taken back: no such instruction"]
    assert [d.region for d in exe.session.decisions if d.accepted] == ["f", "h"]
    assert agent.seen == [("f", []), ("g", []), ("h", []), ("g", ["verify.compile"])]
    assert len(no_roots) == 5  # all, none, the first, the first two, and what remains
    entries = [a for a in Ledger(path).entries() if a.name == "g"]
    assert [a.outcome for a in entries] == ["accepted", "rejected", "stopped", "declined"]
    assert entries[2].ended == {"taken_back": "no such instruction", "attempt": entries[0].hash}
    assert report.ended(entries[2]) == f"its proposal {entries[0].hash[:12]} was taken back: no such instruction"
    frozen = kc.compile(TWO, ledger=path, ledger_mode="frozen")
    assert frozen.files == exe.files and frozen.manifest == exe.manifest
    replayed = kc.compile(TWO, agents=[Three()], ledger=path, ledger_mode="replay")
    assert replayed.files == exe.files and not replayed.session.remarks


def test_a_frozen_build_names_the_answer_that_kc_cannot_compile(
    verdicts: list[Verdict], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    from kc.errors import CompileError

    path = tmp_path / "agents.jsonl"
    exe = kc.compile(TWO, agents=[Three()], ledger=path)  # with a compiler that knows square roots
    (blamed,) = [d.attempt.hash for d in exe.session.decisions if d.region == "g" and d.attempt]
    request.getfixturevalue("no_roots")
    with pytest.raises(CompileError, match=rf"agent 'three' for region '@g' \(attempt {blamed[:12]}\): no such instr"):
        kc.compile(TWO, ledger=path, ledger_mode="frozen")


def test_a_program_that_kc_cannot_compile_at_all_keeps_its_answers(
    verdicts: list[Verdict], no_roots: list[int], tmp_path: Path
) -> None:
    from kc.errors import CompileError

    rooted = TWO.replace("call @g(%x)", "call @g(%y)")
    rooted = rooted.replace("  %1", "  %y = stablehlo.sqrt %x : tensor<8xf32>\n  %1", 1)
    with pytest.raises(CompileError, match="no such instruction"):
        kc.compile(rooted, agents=[Three()], ledger=tmp_path / "agents.jsonl")
    assert "stopped" not in {a.outcome for a in Ledger(tmp_path / "agents.jsonl").entries()}
    assert len(no_roots) == 2


def test_functions_and_hooks(verdicts: list[Verdict]) -> None:
    points = []
    exe = kc.compile(
        TANH,
        agents=[
            lambda point, module: points.append((point.when, point.phase.name)),
            lambda o: {"kind": "replace_ir", "ir": o.ir.replace("math.tanh", "math.exp")},
        ],
    )
    assert is_exp(exe) and points[0] == ("before", "stablehlo-normalize") and points[-1] == ("after", "cpu-llvm")
    with pytest.raises(InputError, match="agents are names"):
        kc.compile(TANH, agents=[7])


def test_moments(verdicts: list[Verdict]) -> None:
    agent = Swap("nothing", levels=("stablehlo", "linalg", "loops", "before:cpu-bufferize", "torch", "gpu"))
    kc.compile(TANH, agents=[agent])
    assert [(o.level, o.at) for o in agent.seen] == [
        ("stablehlo", "before:stablehlo-normalize"),
        ("linalg", "after:form-kernels"),
        ("loops", "after:cpu-loops"),
    ]
    with pytest.raises(InputError, match="did you mean 'before:form-kernels'"):
        kc.compile(TANH, agents=[Swap(levels=("before:form-kernel",))])


CALLS = """
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = call @f(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = stablehlo.add %0, %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
func.func private @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
"""
CUBES = """
func.func @main(%x: memref<?x8xf32>, %out: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = vector.load %x[%i, %c0] : memref<?x8xf32>, vector<8xf32>
    %s = arith.mulf %v, %v : vector<8xf32>
    %c = arith.mulf %s, %v : vector<8xf32>
    vector.store %c, %out[%i, %c0] : memref<?x8xf32>, vector<8xf32>
  }
  return
}
"""


@pytest.mark.parametrize(("guard", "even", "odd"), [(None, 3, 3), ("d0 % 2 == 0", 3, 2)])
def test_answer_of_a_lower_level_runs_with_its_neighbours(
    verdicts: list[Verdict], guard: str | None, even: int, odd: int
) -> None:
    """A function of StableHLO is answered with loops, for all sizes or for even ones; the answer shows which ran."""

    class Cubes(Swap):
        def propose(self, observation: Observation) -> Proposal | None:
            if observation.name != "f" or observation.attempts:
                return None
            return Proposal("replace_ir", ir=CUBES, level="loops", guard=guard)

    exe = kc.compile(CALLS, agents=[Cubes(levels=("stablehlo",))])
    assert not exe.session.remarks
    for rows, power in ((4, even), (5, odd)):
        x = np.random.default_rng(2).standard_normal((rows, 8)).astype(np.float32)
        (result,) = exe(x)
        assert np.allclose(result, 2 * x**power, rtol=1e-5)


def test_gpu_and_asm_without_a_device(verdicts: list[Verdict]) -> None:
    source, target = CALLS.replace("multiply %x, %x", "sine %x"), "nvptx:sm_90a;cubin=never"
    plain = kc.compile(source, target)
    swapped = kc.compile(source, target, agents=[Swap("math.sin", "math.cos", levels=("gpu",))])
    assert [str(d) for d in swapped.session.decisions] == ["@main_k0__impl (gpu): replace_ir of 'swap' accepted"]
    (ptx,) = [name for name in plain.files if name.endswith(".ptx")]
    assert any(swapped.files[name] != plain.files.get(name) for name in swapped.files if name.endswith(".ptx"))
    edited = kc.compile(
        source, target, agents=[Swap("// Generated by LLVM", "// Edited, once by LLVM", levels=("asm",))]
    )
    assert b"// Edited" in edited.files[ptx] and not edited.session.remarks


def test_ledger_replay_and_frozen(verdicts: list[Verdict], tmp_path: Path) -> None:
    path = tmp_path / "agents.jsonl"
    first = kc.compile(TANH, agents=[Swap()], ledger=path)
    silent = Swap()
    again = kc.compile(TANH, agents=[silent], ledger=path, ledger_mode="replay")
    assert not silent.seen and again.files == first.files and again.manifest == first.manifest
    frozen = kc.compile(TANH, ledger=path, ledger_mode="frozen")
    assert first.manifest["agents"] == [first.session.used[0].hash]
    frozen.save(tmp_path / "frozen.kca")
    first.save(tmp_path / "first.kca")
    assert (tmp_path / "frozen.kca").read_bytes() == (tmp_path / "first.kca").read_bytes()
    (result,) = kc.runtime.load(tmp_path / "frozen.kca")(X, W)
    assert np.allclose(result, np.exp(X @ W), rtol=1e-4)
    assert frozen.files == first.files and frozen.manifest == first.manifest and is_exp(frozen)
    with pytest.raises(LedgerError, match="main_k0"):
        kc.compile(TANH.replace("tanh", "sine"), ledger=path, ledger_mode="frozen")
    with pytest.raises(LedgerError, match="main_k0"):
        kc.compile(TANH, agents=[Swap(name="newcomer")], ledger=path, ledger_mode="frozen")
    with pytest.raises(InputError, match="ask, replay, frozen, verified"):
        kc.compile(TANH, ledger=path, ledger_mode="cold")


def test_a_verified_build_judges_what_the_ledger_has(
    verdicts: list[Verdict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line is believed that fits its hash, whoever wrote it; but not in a verified build."""
    from kc.agents.session.verifying import accepted, verify

    path = tmp_path / "agents.jsonl"
    kc.compile(TANH, agents=[Swap()], ledger=path)
    monkeypatch.undo()
    assert is_exp(kc.compile(TANH, ledger=path, ledger_mode="frozen"))
    with pytest.raises(LedgerError, match=r"region '@main_k0'.*agent 'swap'.*is not accepted: numeric\."):
        kc.compile(TANH, ledger=path, ledger_mode="verified")
    ledger = Ledger(path)
    (found,) = verify(ledger, accepted(ledger))
    assert found.outcome == "differs" and found.message.startswith("numeric.")

    good = tmp_path / "good.jsonl"
    first = kc.compile(TANH, agents=[Swap("math.tanh", "math.tanh", match=Match(kinds=("contraction",)))], ledger=good)
    assert [d.accepted for d in first.session.decisions] == [True]
    assert kc.compile(TANH, ledger=good, ledger_mode="verified").files == first.files
    ledger = Ledger(good)
    assert [found.outcome for found in verify(ledger, accepted(ledger), seed=1)] == ["same"]
    (attempt,) = ledger.entries()
    ledger.take_back(attempt, ValueError("so"))
    assert accepted(ledger) == []


def test_without_agents_nothing_of_them_is_loaded() -> None:
    code = (
        "import sys, kc\n"
        f"exe = kc.compile({TANH!r})\n"
        f"hooked = kc.compile({TANH!r}, agents=[lambda point, module: None])\n"
        "assert exe.files == hooked.files and exe.manifest == hooked.manifest and exe.session is None\n"
        "assert not [name for name in sys.modules if name.startswith('kc.agents')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
