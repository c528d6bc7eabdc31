"""kc as an MCP server: a coding agent walks a program down the ladder, proposes, and gets verdicts.

``kc mcp [FILE]`` serves over stdio with the official SDK (extra ``kc[mcp]``). The server holds one program at a time,
in a process of its own (``kc.agents.bindings.remote``): what a proposal makes crash there is an error message here.
"""
from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from kc import __version__
from kc.agents.bindings import wire
from kc.agents.bindings.remote import Remote
from kc.agents.gates import REASONS
from kc.agents.protocol import Observation, Proposal, Verdict, schema
from kc.errors import InputError, KcError

try:
    import anyio.from_thread
    import anyio.to_thread
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import Field, WithJsonSchema
    from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

    from kc.agents.bindings.tools import Server
except ImportError as error:
    raise InputError(f"the MCP server needs an extra ({error}): pip install 'kc[mcp]'") from None

#: lines of IR that one call shows, unless told otherwise
LINES = 400

INSTRUCTIONS = """\
kc compiles tensor programs down a ladder of MLIR levels, phase by phase. Load a program, step to the level where you \
want to work (list_levels), look at its regions (list_regions, read_region), and propose something better for one of \
them (propose): usually {"kind": "replace_ir", "ir": MODULE}, a module whose @main has the signature of the region's \
@main, with its attributes; or {"kind": "schedule", "knobs": {...}} for a kernel at linalg. Every proposal is judged: \
gates check its form, what it assumes, and what it computes on hostile inputs (NaN, infinities, zero and odd sizes). A \
rejection names the gate and shows the smallest counter-example; mend the proposal and try again. What is accepted is \
part of the program at once. Then step on, profile, build. kc://docs/protocol has the fields, kc://docs/reasons the \
reason codes. All is kept in a ledger: `kc compile FILE --ledger LEDGER --frozen` builds the same program again."""

ProposalJson = Annotated[dict[str, Any], WithJsonSchema(schema.message_schema(Proposal))]
VerdictJson = Annotated[dict[str, Any], WithJsonSchema(schema.message_schema(Verdict))]
ObservationJson = Annotated[dict[str, Any], WithJsonSchema(schema.message_schema(Observation))]

PhaseInfo = TypedDict("PhaseInfo", {"name": str, "description": str, "from": str, "to": str, "done": bool})


class Status(TypedDict):
    """Where the program stands."""

    target: str
    entry: str
    level: str
    moment: str
    phases: list[PhaseInfo]
    accepted: list[dict[str, Any]]
    ledger: str
    remarks: list[str]


class LevelInfo(TypedDict):
    """A level that the road passes, and the moment at which it is the agent's."""

    level: str
    moment: str
    description: str
    here: bool


class RegionInfo(TypedDict):
    """A region in short; ``default`` is what the compiler would do with it."""

    name: str
    kind: str
    level: str
    identity: str
    ops: int
    flops: float | None
    bytes: float | None
    roofline_us: float | None
    default: dict[str, Any]
    remarks: list[str]


class Text(TypedDict):
    """Lines of a text: ``first`` is the number of the first one shown, ``total`` of all."""

    text: str
    first: int
    total: int


class Outcome(TypedDict):
    """What became of a proposal; ``accepted``: it is part of the program now."""

    verdict: VerdictJson | None
    accepted: bool
    remarks: list[str]


class Built(TypedDict):
    """An artifact that was built; ``agents``: hashes of the ledger entries that it holds."""

    path: str | None
    ledger: str
    entries: list[str]
    agents: list[str]
    bytes: int


def make_server(remote: Remote) -> Server:
    """The server over one workbench, which it closes in the end."""

    @contextlib.asynccontextmanager
    async def lifespan(server: MCPServer[None]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(remote.close)

    server = Server(
        "kc", instructions=INSTRUCTIONS, version=__version__, lifespan=lifespan, log_level="WARNING"
    )

    async def call(method: str, context: Context[Any, Any] | None = None, **params: Any) -> Any:
        def report(done: int, total: int, what: str) -> None:
            if context is not None:
                with contextlib.suppress(Exception):  # nobody listens any more: the call was cancelled
                    anyio.from_thread.run(context.report_progress, done, total, what)

        work = functools.partial(remote.call, method, report, **params)
        try:  # abandoned when the client is gone: closing the workbench then ends the thread
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except KcError as error:
            raise ToolError(str(error)) from None

    _add_walking(server, call)
    _add_looking(server, call)
    _add_working(server, call)
    _add_resources(server, call)
    return server


Call = Callable[..., Any]


def _add_walking(server: Server, call: Call) -> None:
    """Tools that load a program and move along its road."""

    @server.tool()
    async def load_program(
        context: Context[Any, Any],
        source: Annotated[str, Field(description="path of a file with the program, or its text (StableHLO, linalg …)")],
        target: Annotated[str, Field(description="'cpu', 'nvptx:sm_90a' …")] = "cpu",
        entry: Annotated[str, Field(description="name of the entry function")] = "main",
        options: Annotated[dict[str, str] | None, Field(description="phase parameters by name")] = None,
    ) -> Status:
        """Take up a program, in place of the one before. It stands at the start of its road."""
        return await call("load", context, source=source, target=target, entry=entry, options=options)

    @server.tool()
    async def status() -> Status:
        """Where the program stands: level, moment, phases done and to come, proposals accepted so far."""
        return await call("status")

    @server.tool()
    async def list_levels() -> list[LevelInfo]:
        """The levels that the program's road passes, and which one it stands at."""
        return await call("levels")

    @server.tool()
    async def step(
        context: Context[Any, Any],
        to: Annotated[str | None, Field(description="a phase, or a level to reach; null: one phase")] = None,
    ) -> Status:
        """Run the next phase, or all phases up to a phase or level."""
        return await call("step", context, to=to)

    @server.tool()
    async def rewind(
        to: Annotated[str, Field(description="'start', a phase (right after it), a level, or 'undo' (one proposal)")],
    ) -> Status:
        """Go back. What was accepted from there on is dropped from the program; the ledger keeps it."""
        return await call("rewind", to=to)


def _add_looking(server: Server, call: Call) -> None:
    """Tools that read."""

    @server.tool()
    async def list_regions() -> list[RegionInfo]:
        """The regions of the program as it stands: functions, or kernels once they are formed."""
        return await call("regions")

    @server.tool()
    async def read_region(region: Annotated[str, Field(description="name of the region")]) -> ObservationJson:
        """All about a region: its IR as a module with @main, contract, ops, costs, remarks, earlier attempts."""
        return await call("observe", region=region)

    @server.tool()
    async def read_ir(
        point: Annotated[
            str,
            Field(description="'now', 'start', a phase (as it was left), 'PHASE:arrived', 'llvm-ir' or 'asm'"),
        ] = "now",
        first: Annotated[int, Field(description="number of the first line to show", ge=1)] = 1,
        lines: Annotated[int, Field(description="how many lines to show", ge=1, le=10_000)] = LINES,
    ) -> Text:
        """The program's text at a point of its road; big constants are elided."""
        found = (await call("text", point=point)).splitlines()
        return {"text": "\n".join(found[first - 1 : first - 1 + lines]), "first": first, "total": len(found)}

    @server.tool()
    async def diff(
        before: Annotated[str, Field(description="a point such as 'start' or a phase, as of read_ir")],
        after: Annotated[str, Field(description="a point, as of read_ir")] = "now",
    ) -> str:
        """What changed in the program between two points, as a unified diff."""
        return await call("diff", before=before, after=after) or "no difference"

    @server.tool()
    async def explain(
        region: Annotated[str | None, Field(description="also tell the numerics that this region is held to")] = None,
    ) -> dict[str, Any]:
        """Every proposal of this session and why it was accepted or rejected."""
        return await call("explain", region=region)


def _add_working(server: Server, call: Call) -> None:
    """Tools that judge, measure and build."""

    @server.tool()
    async def propose(
        context: Context[Any, Any],
        region: Annotated[str, Field(description="name of the region")],
        proposal: ProposalJson,
    ) -> Outcome:
        """Judge a proposal for a region; when every gate accepts it, it takes the region's place at once."""
        return await call("propose", context, region=region, proposal=proposal)

    @server.tool()
    async def profile(
        context: Context[Any, Any],
        sizes: Annotated[
            dict[str, Annotated[int, Field(ge=0)]] | None,
            Field(description="extents of open dimensions by name; a kernel's names are those in its region's IR"),
        ] = None,
        seconds: Annotated[float, Field(description="time to spend on each figure", gt=0, le=60)] = 2.0,
    ) -> dict[str, Any]:
        """Time a call of the whole program and each kernel by itself (µs, median and 95 % interval)."""
        return await call("profile", context, sizes=sizes, seconds=seconds)

    @server.tool()
    async def build(
        context: Context[Any, Any],
        path: Annotated[str | None, Field(description="file to write the artifact (.kca) to")] = None,
    ) -> Built:
        """Compile the program with what was accepted, write the artifact, and enter the build into the ledger."""
        return await call("build", context, path=path)

    @server.tool()
    async def save_ledger(path: Annotated[str, Field(description="file to write")]) -> dict[str, Any]:
        """Copy the ledger of this session, so that `kc compile --ledger … --frozen` gives the same program."""
        return await call("save_ledger", path=path)


def _add_resources(server: Server, call: Call) -> None:
    """Texts to read: the program at its points, regions, and documentation."""

    @server.resource("kc://ir/{point}", mime_type="text/x-mlir")
    async def ir_at(point: str) -> str:
        """The program's text at a point: now, start, or a phase."""
        return str(await call("text", point=point))

    @server.resource("kc://region/{name}", mime_type="text/x-mlir")
    async def region_ir(name: str) -> str:
        """The IR of a region as a module with @main."""
        return str((await call("observe", region=name))["ir"])

    @server.resource("kc://docs/protocol", mime_type="application/schema+json")
    def protocol() -> str:
        """JSON Schema of observations, proposals and verdicts."""
        return json.dumps(schema.schema(), indent=1)

    @server.resource("kc://docs/reasons", mime_type="text/markdown")
    def reasons() -> str:
        """Every reason for which a proposal can be rejected."""
        return "\n".join(f"- `{reason}`: {meaning}" for reason, meaning in REASONS.items())

    @server.resource("kc://docs/guide", mime_type="text/markdown")
    def guide() -> str:
        """How to work with this server."""
        return INSTRUCTIONS


def serve(remote: Remote) -> None:
    """Serve over stdin and stdout until the client is gone, or SIGTERM comes."""

    def stop(number: int, frame: object) -> None:
        remote.close()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    server = make_server(remote)
    with wire.guarded():
        server.run("stdio")
