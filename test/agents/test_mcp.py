"""The MCP server, asked by the SDK's own client: in memory, and over stdio as ``kc mcp`` serves it."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from kc.agents.bindings.mcp import make_server
from kc.agents.bindings.remote import Remote

PROGRAM = """func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x16xf32>
  %1 = stablehlo.negate %0 : tensor<8x16xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.tanh %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
"""
TOOLS = {
    "load_program", "status", "list_levels", "step", "rewind", "list_regions", "read_region", "read_ir", "diff",
    "explain", "propose", "profile", "build", "save_ledger",
}


class Agent:
    """The client of a coding agent. ``ask`` gives a tool's structured result, ``refused`` the text of its error."""

    def __init__(self, client: Client, tools: dict[str, Any]):
        self.client, self.tools = client, tools
        self.progress: list[tuple[float, float | None, str | None]] = []

    async def ask(self, tool: str, **arguments: Any) -> Any:
        async def heard(done: float, total: float | None, what: str | None) -> None:
            self.progress.append((done, total, what))

        answer = await self.client.call_tool(tool, arguments, progress_callback=heard)
        assert not answer.is_error, answer.content
        result = answer.structured_content
        assert result is not None
        jsonschema.validate(result, self.tools[tool].output_schema)
        return result["result"] if set(result) == {"result"} else result

    async def refused(self, tool: str, **arguments: Any) -> str:
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error
        return str(answer.content[0].text)

    async def read(self, uri: str) -> str:
        return str((await self.client.read_resource(uri)).contents[0].text)


@asynccontextmanager
async def connected(transport: Any) -> AsyncIterator[Agent]:
    async with Client(transport) as client:
        yield Agent(client, {tool.name: tool for tool in (await client.list_tools()).tools})


def in_memory(test: Callable[[Agent, Remote], Awaitable[None]], **options: Any) -> None:
    """Run ``test`` with a client that is connected to a server in this process."""
    async def run() -> None:
        remote = Remote(**options)
        async with connected(make_server(remote)) as agent:
            await test(agent, remote)

    anyio.run(run)


def better(text: str) -> str:
    """A region without its double negation."""
    lines = [line for line in text.splitlines() if "stablehlo.negate" not in line]
    return "\n".join(lines).replace("dot_general %1", "dot_general %arg0")


def test_a_session_over_stdio(tmp_path: Path) -> None:
    """What a coding agent does: look, propose (wrongly, then rightly), step, build; then the frozen build."""
    (tmp_path / "program.mlir").write_text(PROGRAM)
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "kc.tools.kc", "mcp", "program.mlir", "--ledger", "ledger.jsonl"],
        cwd=str(tmp_path), env=dict(os.environ),
    )

    async def run() -> None:
        async with connected(stdio_client(server)) as agent:
            assert set(agent.tools) == TOOLS
            assert agent.client.server_info is not None
            assert agent.client.server_info.name == "kc"
            assert "propose" in str(agent.client.instructions)
            status = await agent.ask("status")
            assert (status["level"], status["moment"]) == ("stablehlo", "before:stablehlo-normalize")
            levels = await agent.ask("list_levels")
            assert [level["level"] for level in levels] == ["stablehlo", "linalg", "loops", "llvm"]
            (region,) = await agent.ask("list_regions")
            assert (region["name"], region["ops"]) == ("main", 5)
            seen = await agent.ask("read_region", region="main")
            assert seen["contract"]["allow"] == ["contract", "reassoc"]

            wrong = {"kind": "replace_ir", "ir": better(seen["ir"]).replace("tanh", "sine")}
            outcome = await agent.ask("propose", region="main", proposal=wrong)
            assert not outcome["accepted"] and outcome["verdict"]["gate"] == "numeric"
            assert outcome["verdict"]["witness"]
            right = {"kind": "replace_ir", "ir": better(seen["ir"])}
            outcome = await agent.ask("propose", region="main", proposal=right)
            assert outcome["accepted"] and outcome["verdict"]["accepted"] and outcome["verdict"]["runs"] > 10
            assert len((await agent.ask("read_region", region="main"))["ops"]) == 3
            assert "-    %0 = stablehlo.negate" in await agent.ask("diff", before="start:arrived")

            status = await agent.ask("step", to="linalg")
            assert status["moment"] == "after:form-kernels"
            assert agent.progress and agent.progress[-1][2] == "form-kernels"
            (kernel,) = await agent.ask("list_regions")
            assert kernel["kind"] == "contraction"
            assert "linalg" in await agent.read("kc://ir/now") and "negate" not in await agent.read("kc://ir/start")
            assert "@main(" in await agent.read(f"kc://region/{kernel['name']}")
            built = await agent.ask("build", path="built.kca")
            assert len(built["agents"]) == 1 and built["entries"] == ["main"]
            reasons = [a["verdict"]["reason"] for a in (await agent.ask("explain"))["attempts"]]
            assert reasons[0].startswith("numeric.") and reasons[-1] == "accepted"
            assert (await agent.ask("save_ledger", path="copy.jsonl"))["lines"] > 2

    anyio.run(run)
    command = [sys.executable, "-m", "kc.tools.kc", "compile", "program.mlir", "-o", "again.kca"]
    subprocess.run([*command, "--ledger", "copy.jsonl", "--frozen"], cwd=tmp_path, check=True)
    assert (tmp_path / "again.kca").read_bytes() == (tmp_path / "built.kca").read_bytes()


def test_walking(tmp_path: Path) -> None:
    async def walk(agent: Agent, remote: Remote) -> None:
        assert "load one first" in await agent.refused("status")
        assert "cannot read 'nowhere.mlir'" in await agent.refused("load_program", source="nowhere.mlir")
        assert "no option is named 'grian'; did you mean 'grain'" in await agent.refused(
            "load_program", source=PROGRAM, options={"grian": "1"})
        await agent.ask("load_program", source=PROGRAM)
        assert "did you mean 'form-kernels'" in await agent.refused("step", to="from-kernels")
        assert "no region is named 'man'" in await agent.refused("read_region", region="man")
        start = (await agent.ask("read_ir"))["text"]
        await agent.ask("step")
        await agent.ask("step", to="loops")
        assert "lies behind" in await agent.refused("step", to="linalg")
        assert {r["level"] for r in await agent.ask("list_regions")} == {"loops"}
        page = await agent.ask("read_ir", point="form-kernels", first=2, lines=3)
        assert len(page["text"].splitlines()) == 3 and page["total"] > 5
        assert "has not been at 'cpu-llvm' yet" in await agent.refused("read_ir", point="cpu-llvm")
        assert "define" in (await agent.ask("read_ir", point="llvm-ir"))["text"]
        assert (await agent.ask("rewind", to="start"))["level"] == "stablehlo"
        assert (await agent.ask("read_ir"))["text"] == start
        assert "lies ahead" in await agent.refused("rewind", to="linalg")
        assert "nothing was accepted" in await agent.refused("rewind", to="undo")
        await agent.ask("step", to="cpu-llvm")
        assert "end of the road" in await agent.refused("step")

    in_memory(walk)


def test_arguments_that_do_not_fit() -> None:
    """Each is an error in kc's words that names the tool and the argument; no program is needed to be told."""
    async def misuse(agent: Agent, remote: Remote) -> None:
        assert all(tool.input_schema["additionalProperties"] is False for tool in agent.tools.values())
        for tool, arguments, message in [
            ("build", {"output": "a.kca"}, "tool 'build' has no argument 'output'; known: path"),
            ("read_ir", {"level": "linalg"}, "tool 'read_ir' has no argument 'level'; known: point, first, lines"),
            ("read_ir", {"pointt": "now"}, "tool 'read_ir' has no argument 'pointt'; did you mean 'point'?"),
            ("profile", {"region": "main"}, "tool 'profile' has no argument 'region'; known: sizes, seconds"),
            ("status", {"context": 1}, "tool 'status' has no argument 'context'; it takes none"),
            ("load_program", {"source": PROGRAM, "context": 1}, "no argument 'context'; known: source, target"),
            ("diff", {}, "tool 'diff' needs 'before': a point such as 'start' or a phase, as of read_ir"),
            ("diff", {"before": 3}, "tool 'diff': 'before' must be a string, not 3: a point"),
            ("step", {"to": ["loops"]}, """tool 'step': 'to' must be a string, not ["loops"]"""),
            ("read_ir", {"lines": 0}, "'lines' must be an integer, at least 1 and at most 10000, not 0"),
            ("read_ir", {"first": "x", "lines": 1.5}, "'first' must be an integer, at least 1, not \"x\": number"),
            ("profile", {"sizes": {"N": -1}}, "'sizes.N' must be an integer, at least 0, not -1"),
            ("profile", {"sizes": 1}, "'sizes' must be a JSON object whose values are each an integer"),
            ("load_program", {"source": PROGRAM, "options": {"grain": 1}}, "'options.grain' must be a string, not 1"),
            ("propose", {"region": "main", "proposal": "keep"}, """'proposal' must be a JSON object, not "keep\""""),
            ("propose", {}, "tool 'propose' needs 'region': name of the region\ntool 'propose' needs 'proposal'"),
            ("buld", {}, "no tool is named 'buld'; did you mean 'build'?"),
        ]:
            said = await agent.refused(tool, **arguments)
            assert message in said and "pydantic" not in said, (tool, arguments, said)
        assert "load one first" in await agent.refused("read_ir", lines=5)  # these do fit

    in_memory(misuse)


def test_profile_refuses_sizes_of_no_dimension() -> None:
    async def profile(agent: Agent, remote: Remote) -> None:
        text = PROGRAM.replace("<8x", "<?x").replace("<?x16xf32>,", """<?x16xf32> {kc.dims = ["rows", "16"]},""", 1)
        await agent.ask("load_program", source=text)
        said = await agent.refused("profile", sizes={"rows": 8, "M": 8})
        assert "no dimension is named 'M'; open are rows" in said
        timed = await agent.ask("profile", sizes={"rows": 8}, seconds=0.05)
        assert timed["kernels"][0]["shapes"][0] == [8, 16]

    in_memory(profile)


def test_proposals_at_linalg(tmp_path: Path) -> None:
    async def propose(agent: Agent, remote: Remote) -> None:
        await agent.ask("load_program", source=PROGRAM)
        await agent.ask("step", to="linalg")
        kernel = (await agent.ask("list_regions"))[-1]
        name, ir = kernel["name"], (await agent.ask("read_region", region=kernel["name"]))["ir"]
        assert "kind: 'steal' is none of" in await agent.refused("propose", region=name, proposal={"kind": "steal"})
        assert "ir: a proposal of kind 'replace_ir' needs it" in await agent.refused(
            "propose", region=name, proposal={"kind": "replace_ir"})
        outcome = await agent.ask("propose", region=name, proposal={"kind": "keep"})
        assert outcome["verdict"]["accepted"] and not outcome["accepted"]
        outcome = await agent.ask("propose", region=name, proposal={"kind": "replace_ir", "ir": "module {"})
        assert outcome["verdict"]["reason"] == "parse.syntax"
        outcome = await agent.ask("propose", region=name, proposal={"kind": "replace_ir", "ir": ir})
        assert outcome["accepted"], outcome
        again = {"kind": "replace_ir", "ir": ir.replace("math.tanh", "math.tanh ")}
        assert "rewind('undo')" in await agent.refused("propose", region=name, proposal=again)
        status = await agent.ask("rewind", to="undo")
        assert status["accepted"] == [] and status["moment"] == "after:form-kernels"
        told = await agent.ask("explain", region=name)
        assert "rounding may differ" in told["numerics"] and len(told["attempts"]) >= 2
        profile = await agent.ask("profile", seconds=0.1)
        assert profile["program"]["us"] > 0 and profile["kernels"][0]["us"] > 0

    in_memory(propose)


def test_a_crash_of_the_compiler_is_an_error_message() -> None:
    """The program stands where it stood, in a new process; also when the process dies between two calls."""
    async def crash(agent: Agent, remote: Remote) -> None:
        await agent.ask("load_program", source=PROGRAM)
        await agent.ask("step", to="linalg")
        for _ in range(2):
            assert remote._process is not None
            os.kill(remote._process.pid, signal.SIGSEGV)
            message = await agent.refused("list_regions")
            assert "SIGSEGV" in message and "stands where it stood" in message
            assert (await agent.ask("status"))["moment"] == "after:form-kernels"
        remote._seconds = 0.05
        assert "did not answer in time" in await agent.refused("build")
        remote._seconds = 60.0
        await agent.ask("load_program", source=PROGRAM)

    in_memory(crash)


def test_timing_is_wanted(tmp_path: Path) -> None:
    async def slow(agent: Agent, remote: Remote) -> None:
        await agent.ask("load_program", source=PROGRAM)
        seen = await agent.ask("read_region", region="main")
        proposal = {"kind": "replace_ir", "ir": seen["ir"]}
        outcome = await agent.ask("propose", region="main", proposal=proposal)
        assert not outcome["accepted"], outcome
        assert outcome["verdict"]["gate"] == "timing" and outcome["verdict"]["timing"], outcome

    in_memory(slow, timing=True)


def test_documents() -> None:
    async def read(agent: Agent, remote: Remote) -> None:
        assert {r.uri for r in (await agent.client.list_resources()).resources} >= {"kc://docs/protocol", "kc://docs/guide"}
        templates = {t.uri_template for t in (await agent.client.list_resource_templates()).resource_templates}
        assert templates == {"kc://ir/{point}", "kc://region/{name}"}
        assert json.loads(await agent.read("kc://docs/protocol"))["$schema"].endswith("2020-12/schema")
        assert "`numeric.nan`" in await agent.read("kc://docs/reasons")
        with pytest.raises(MCPError):
            await agent.read("kc://ir/now")  # no program
        for tool in agent.tools.values():
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert tool.description and tool.output_schema
            for name, property_ in tool.input_schema["properties"].items():
                assert "description" in property_, f"{tool.name}.{name}"

    in_memory(read)


def test_without_the_extra(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "from kc.tools.kc import main; sys.exit(main(['mcp']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "pip install 'kc[mcp]'" in done.stderr
