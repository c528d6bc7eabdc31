"""The gate against proposals with known verdicts, and against mutants of them; the whole of both by option.

The tables over the whole corpus: ``python bench/gate_corpus.py``; the long fuzz: ``python test/agents/fuzz``.
"""
from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "fuzz")]
import corpus  # noqa: E402

ENTRIES = corpus.load()
#: one entry of each level, verdict and kind, in an order that mixes them; not those that take long to judge
CHOSEN = list({
    (e.level, e.expect, e.kind): e
    for e in random.Random(4).sample(ENTRIES, len(ENTRIES))
    if e.level != "gpu" or (e.expect == "reject" and "reassoc" not in e.original)  # the others: test_execution_tma.py
    if e.kind not in ("endless loop", "huge allocation", "stack")
}.values())  # fmt: skip


def test_files_are_read():
    assert len({e.id for e in ENTRIES}) == len(ENTRIES) >= 300
    assert {e.level for e in ENTRIES} == {"stablehlo", "linalg", "loops", "gpu"}
    accepts = sum(e.expect == "accept" for e in ENTRIES)
    assert 0.2 < accepts / len(ENTRIES) < 0.4
    assert all(e.gate for e in ENTRIES if e.expect == "reject")


def test_a_body_gets_signature_and_common_lines(tmp_path):
    folder = tmp_path / "loops"
    folder.mkdir()
    path = folder / "f.mlir"
    path.write_text(
        "// Nothing.\n// tolerance: close 1e-3 0\n#m = affine_map<(i) -> (i)>\nfunc.func @main(%x: memref<4xf32>) {\n"
        "  %c = arith.constant 0 : index\n  // common above\n  %d = arith.constant 1 : index\n  return\n}\n\n"
        "// ----- one\n// reject race: some kind\n// why: because\n// assumes: a; b\n"
        "  %e = arith.constant 2 : index\n// schedule\n  %f = arith.constant 3 : index\n"
    )
    (entry,) = corpus.read(path)
    assert entry.proposal["ir"] == (
        "#m = affine_map<(i) -> (i)>\nmodule {\nfunc.func @main(%x: memref<4xf32>) {\n  %c = arith.constant 0 : index\n"
        "  %e = arith.constant 2 : index\n  return\n}\n}\n"
    )
    assert "%f = arith.constant 3" in entry.witness["schedule_ir"] and "%d = " in entry.original
    assert (entry.id, entry.expect, entry.gate, entry.kind) == ("loops-f-one", "reject", "race", "some kind")
    assert entry.proposal["assumes"] == ["a", "b"] and entry.tolerance == {"mode": "close", "rtol": 1e-3, "atol": 0}


def test_a_bad_file_is_named(tmp_path):
    path = tmp_path / "f.mlir"
    path.write_text("func.func @main() {\n  return\n}\n// ----- one\n// accept: kind\n  return\n")
    with pytest.raises(corpus.CorpusError, match=r"f\.mlir: one: KeyError\('why'\)"):
        corpus.read(path)


@pytest.mark.timeout(280)
def test_no_wrong_proposal_is_accepted():
    """The same order each time; as many as fit into 40 seconds, for slow machines."""
    sys.path.insert(0, str(HERE.parent.parent / "bench"))
    import gate_corpus

    worker, scores, end = gate_corpus.Worker(120, seed=1), [], time.monotonic() + 40
    try:
        for entry in CHOSEN:
            if time.monotonic() < end:
                scores.append(worker.judge(entry.to_json()))
    finally:
        worker.close()
    assert not [(s.id, s.verdict, s.reason, s.message) for s in scores if not s.right]
    assert len(scores) >= 6


@pytest.mark.timeout(280)
def test_mutants_do_no_harm():
    from engine import Fuzzer

    fuzzer = Fuzzer([e for e in ENTRIES if e.level != "gpu"], seconds=20)
    fuzzer.run(seed=1, count=40)
    fuzzer.close()
    assert not fuzzer.findings
    assert sum(fuzzer.counts.values()) >= 4
