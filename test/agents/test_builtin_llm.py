"""The agent ``llm`` against a local server that speaks both wire formats."""
from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kc.agents import Observation, Proposal, Verdict
from kc.agents.builtin.chat import answer
from kc.agents.builtin.chat.endpoints import EndpointError, Reply
from kc.agents.builtin.chat.transcript import redact
from kc.agents.builtin.llm import LanguageModelAgent
from kc.errors import InputError

pytest.importorskip("openai")
pytest.importorskip("anthropic")

sys.path.insert(0, str(Path(__file__).parent))
from llm_server import Broken, Call, Cut, Server, Silent, Status

KEY = "sk-test-0123456789abcdefghij"
IR = """func.func @main(%x: tensor<?xf32> {kc.dims = ["N"]}, %out: tensor<?xf32> {kc.dims = ["N"]}) -> tensor<?xf32> {
  %0 = linalg.negf ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
GOOD = f"The same, shorter.\n```mlir\n{IR}\n```\nDone."
KEEP = '```json\n{"kind": "keep", "rationale": "it is best as it is"}\n```'


def observation(**more: Any) -> Observation:
    contract = {"allow": ["nsz"], "facts": ["N % 4 == 0"], "sizes": {"N": [0, 64]}, "arguments": []}
    return Observation(level="linalg", at="after:form-kernels", name="k", kind="map", identity="ab" * 32, ir=IR,
                       contract=contract, flops=64.0, **more)


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(f"{request.param.upper()}_API_KEY", KEY)
    return str(request.param)


def agent(server: Server, provider: str, **options: Any) -> LanguageModelAgent:
    url = server.url + ("/v1" if provider == "openai" else "")
    return LanguageModelAgent(**{"provider": provider, "model": "m", "url": url, "timeout": 5.0, **options})


def test_a_streamed_block_becomes_a_proposal(provider: str) -> None:
    with Server([GOOD]) as server:
        made = agent(server, provider)
        proposal = made.propose(observation())
        assert proposal is not None and proposal.kind == "replace_ir" and proposal.level == "linalg"
        assert proposal.ir is not None and proposal.ir.strip() == IR
        (request,) = server.requests
        told = server.said(0)
        for part in ("linalg.negf", "nsz", "N % 4 == 0", "N in 0..64", "tensor"):
            assert part in told
        assert request["body"]["stream"] is True
        header = request["headers"].get("authorization") or request["headers"].get("x-api-key")
        assert header and KEY in header
        assert KEY not in json.dumps(request["body"])
        assert (made.spending.tokens, made.spending.dollars) == (1200, 0.0)
        made.close()


def test_a_call_of_the_tool_becomes_a_proposal(provider: str) -> None:
    wanted = {"kind": "replace_ir", "ir": IR, "assumes": ["nsz"], "rationale": "r"}
    with Server([Call(json.dumps(wanted)), KEEP]) as server:
        made = agent(server, provider)
        proposal = made.propose(observation())
        assert proposal == Proposal("replace_ir", ir=IR, level="linalg", assumes=("nsz",), rationale="r")
        assert [t.get("name") or t["function"]["name"] for t in server.requests[0]["body"]["tools"]] == ["propose"]
        made.learn(observation(), proposal, Verdict(False, "numeric", "numeric.value", "no"))
        assert made.propose(observation()) is None
        assert "linalg.negf" in json.dumps(server.requests[1]["body"]["messages"][1])  # the call, told as text
        made.close()


def test_a_verdict_with_its_counter_example_goes_back(provider: str) -> None:
    with Server([GOOD, KEEP]) as server:
        made = agent(server, provider)
        first = made.propose(observation())
        assert first is not None
        assert made.propose(observation()) is None  # not judged yet: the model is not asked
        assert len(server.requests) == 1
        verdict = Verdict(False, "numeric", "numeric.nan", "NaN at [3]", witness={"sizes": {"N": 5}, "index": [3]})
        made.learn(observation(), first, verdict)
        assert made.propose(observation()) is None  # it keeps the region
        roles = [message["role"] for message in server.requests[1]["body"]["messages"]]
        assert roles[-3:] == ["user", "assistant", "user"]
        last = server.requests[1]["body"]["messages"][-1]["content"]
        for part in ("numeric.nan", "NaN at [3]", '"N": 5'):
            assert part in json.dumps(last) or part in last
        made.close()


def test_rate_limits_are_waited_out(provider: str) -> None:
    with Server([Status(429, (("Retry-After", "1"),)), Status(503), GOOD]) as server:
        made = agent(server, provider)
        assert made.propose(observation()) is not None
        times = [request["time"] for request in server.requests]
        assert len(times) == 3 and times[1] - times[0] >= 0.95
        made.close()


def test_an_endpoint_that_fails_for_good(provider: str) -> None:
    with Server([Status(500)]) as server:
        made = agent(server, provider, retries=1)
        with pytest.raises(EndpointError, match="500"):
            made.propose(observation())
        assert len(server.requests) == 2
        made.close()
    with Server([Status(401)]) as server:
        made = agent(server, provider)
        with pytest.raises(EndpointError, match="401"):
            made.propose(observation())
        assert len(server.requests) == 1  # a wrong key is not tried again
        made.close()


def test_nobody_listens(provider: str) -> None:
    with Server([GOOD]) as server:
        made = agent(server, provider, retries=0)
    with pytest.raises(EndpointError, match="connection failed"):
        made.propose(observation())
    made.close()


def test_a_malformed_answer_is_repaired_once(provider: str) -> None:
    with Server(["I would fuse the loops.", GOOD]) as server:
        made = agent(server, provider)
        assert made.propose(observation()) is not None
        assert "no fenced block" in server.said(1)
        made.close()
    with Server(["no", "still no", GOOD]) as server:
        made = agent(server, provider)
        assert made.propose(observation()) is None
        assert len(server.requests) == 2
        made.close()


def test_an_answer_that_was_cut_is_no_proposal(provider: str) -> None:
    with Server([Cut(GOOD), GOOD]) as server:
        made = agent(server, provider)
        assert made.propose(observation()) is not None
        assert "cut at the limit" in server.said(1)
        made.close()


@pytest.mark.parametrize("garbage", ["", "data: {\"id\": \n\n"])
def test_a_stream_that_breaks_off_is_asked_for_again(provider: str, garbage: str) -> None:
    with Server([Broken(GOOD, garbage), GOOD]) as server:
        made = agent(server, provider)
        proposal = made.propose(observation())
        assert proposal is not None and proposal.ir is not None and proposal.ir.strip() == IR
        assert server.requests[0]["body"] == server.requests[1]["body"]
        made.close()


def test_a_stream_that_always_breaks_off_is_an_error(provider: str) -> None:
    with Server([Broken(GOOD)]) as server:
        made = agent(server, provider)
        with pytest.raises(EndpointError, match=r"broke off|connection failed"):
            made.propose(observation())
        assert len(server.requests) == 3
        made.close()


def test_silence_ends(provider: str) -> None:
    with Server([Silent(1.5)]) as server:
        made = agent(server, provider, timeout=0.3, retries=0)
        started = time.monotonic()
        with pytest.raises(EndpointError, match="in time"):
            made.propose(observation())
        assert time.monotonic() - started < 1.4
        made.close()


def test_the_budget_in_tokens(provider: str) -> None:
    with Server([GOOD]) as server:
        made = agent(server, provider, tokens=3000, answer_tokens=1000)
        first = made.propose(observation())
        assert first is not None
        assert server.requests[0]["body"].get("max_tokens") == 1000
        assert made.spending.tokens == 1200
        made.learn(observation(), first, Verdict(False, "numeric", "numeric.nan", "x" * 6000))
        assert made.propose(observation()) is None  # what was said and what may be answered would be too much
        assert len(server.requests) == 1
        made.close()


def test_the_budget_in_money(provider: str, tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"m": {"input": 3.0, "output": 15.0}}))
    with Server([GOOD]) as server:
        made = agent(server, provider, dollars=0.02, prices=str(prices))
        first = made.propose(observation())
        assert first is not None
        assert made.spending.dollars == pytest.approx(1000 * 3e-6 + 200 * 15e-6)
        assert server.requests[0]["body"]["max_tokens"] * 15e-6 < 0.02
        made.spending.dollars = 0.019
        made.learn(observation(), first, Verdict(False, "numeric", "numeric.nan", "no"))
        assert made.propose(observation()) is None
        assert len(server.requests) == 1
        made.close()


def test_tokens_are_estimated_where_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Server([GOOD], usage=False) as server:
        made = agent(server, "openai")
        assert made.propose(observation()) is not None
        assert made.spending.tokens > len(IR) // 4
        made.close()


def test_the_transcript_holds_the_talk_and_no_secret(provider: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "hunter22")
    leaky = f"The key is {KEY}, hunter22, Bearer abcdefghijkl.\n{GOOD}"
    with Server([leaky, KEEP]) as server:
        made = agent(server, provider)
        made.beside(str(tmp_path / "kc-agents.jsonl"))
        proposal = made.propose(observation())
        assert proposal is not None
        made.learn(observation(), proposal, Verdict(False, "numeric", "numeric.nan", "NaN"))
        made.propose(observation())
        made.close()
    path = tmp_path / "kc-agents.llm.jsonl"
    text = path.read_text()
    assert [json.loads(line)["event"] for line in text.splitlines()] == ["region", "answer", "verdict", "answer"]
    assert "numeric.nan" in text and "linalg.negf" in text and "[redacted]" in text
    for secret in (KEY, "hunter22", "abcdefghijkl"):
        assert secret not in text
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_what_is_missing_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        LanguageModelAgent(model="m")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(InputError, match="needs a model"):
        LanguageModelAgent()
    with pytest.raises(InputError, match="openai, anthropic"):
        LanguageModelAgent(provider="acme", model="m")
    with pytest.raises(InputError, match="table of prices"):
        LanguageModelAgent(model="m", dollars=1.0)
    table = tmp_path / "p.json"
    table.write_text('{"other": {"input": 1, "output": 1}}')
    with pytest.raises(InputError, match="no price"):
        LanguageModelAgent(model="m", dollars=1.0, prices=str(table))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```json\n{\"kind\": \"replace_ir\"}\n```", "needs it"),
        ("```json\n{\"kind\": \"magic\"}\n```", "malformed"),
        ("```json\n{\"kind\": \n```", "no valid JSON"),
        ("```json\n[1]\n```", "malformed"),
        ("```mlir\nmodule {}\n```", "no function @main"),
        ("```mlir\nfunc.func @main", "not closed"),
        ("", "no fenced block"),
    ],
)
def test_malformed_answers_name_the_fault(text: str, fault: str) -> None:
    with pytest.raises(answer.AnswerError, match=fault):
        answer.read(Reply(text, (), "end", 1, 1), "linalg")


def test_the_last_block_counts() -> None:
    text = "First:\n```mlir\nfunc.func @main() { bad }\n```\nBetter:\n```mlir\nfunc.func @main() { return }\n```\n"
    proposal = answer.read(Reply(text, (), "end", 1, 1), "linalg")
    assert proposal.ir == "func.func @main() { return }\n"
    assert answer.read(Reply('{"kind": "keep"}', (), "end", 1, 1), "linalg").kind == "keep"


def test_redaction_reaches_every_string() -> None:
    value = {"a": ["x sk-abcdefghijklmnop y", {"k SECRETVALUE": 1}], "b": 2, "c": None}
    clean = redact(value, {"MY_PASSWORD": "SECRETVALUE", "PATH": "/bin", "SHORT_KEY": "ab"})
    assert clean == {"a": ["x [redacted] y", {"k [redacted]": 1}], "b": 2, "c": None}
