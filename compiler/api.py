"""The public door: ``kc.compile``, ``kc.lower`` and ``kc.Executable``."""
from __future__ import annotations

import importlib
import io
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kc.errors import CompileError, InputError
from kc.pipelines.roads import road
from kc.pipelines.run import Hook, run_phases, up_to
from kc.targets import get_target

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.frontends import Loaded
    from kc.pipelines import Phase
    from kc.runtime import Program
    from kc.targets.base import Target

#: options that are not parameters of a phase
_DRIVER_OPTIONS = ("verify_levels",)
#: gives a compilation the session of its agents; by name, since agents stand above the compiler
_OPEN_SESSION = "kc.agents.session.opening:open_session"


class Executable:
    """A compiled program. Call it with arrays; look into it with ``stage``; keep it with ``save``.

    ``manifest`` and ``files`` are what an artifact holds; ``program`` is the ``kc.runtime.Program`` that is loaded from
    them on first use, so that code for a GPU can be made where there is none. ``session`` tells what agents did
    (``kc.agents.session.Session``: ``decisions``, ``remarks``), None where none took part.
    """

    session: Any = None

    def __init__(self, manifest: dict[str, Any], files: dict[str, bytes], entry: str, source: _Source):
        self.manifest, self.files, self.entry = manifest, files, entry
        self._source = source
        self._program: Program | None = None

    @property
    def program(self) -> Program:
        """The program as the runtime runs it."""
        if self._program is None:
            from kc.runtime import Program

            self._program = Program.from_manifest(self.manifest, self.files)
        return self._program

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Run the entry function. Arrays come back in the caller's kind: NumPy, PyTorch or JAX.

        Raises ``kc.runtime.ArgumentError`` when an argument's dtype, rank, shape or device does not fit.
        """
        return self.program.run(self.entry, *arrays)

    def run(self, entry: str, *arrays: Any) -> tuple[Any, ...]:
        """Run another public function of the program."""
        return self.program.run(entry, *arrays)

    @property
    def processes(self) -> int:
        """For how many processes the program is (``mhlo.num_replicas`` times ``mhlo.num_partitions`` of the module)."""
        return int(self.manifest.get("num_replicas", 1)) * int(self.manifest.get("num_partitions", 1))

    def run_parallel(self, arguments: Sequence[Sequence[Any]], **options: Any) -> list[tuple[Any, ...]]:
        """Run as several processes that work together, one per element of ``arguments``; gives the results of each.

        Options: ``replicas``, ``partitions``, ``entry``, ``timeout``, ``infeed``, ``outfeed``, ``channels``,
        ``devices``, as in ``kc.runtime.run_parallel``, which also runs different programs side by side.
        """
        return self.program.run_parallel(arguments, **{"entry": self.entry, **options})

    def stage(self, level: str) -> str:
        """The program's text at a level of the ladder (``stablehlo``, ``linalg`` … ``asm``) or after a phase.

        Lowered again from the source, so that a compilation does not pay for printing.
        """
        return self._source.stage(level)

    def forms(self) -> dict[str, Callable[[], bytes | str]]:
        """What the target can write the program as (``assembly``, ``object`` …): name -> function that makes it."""
        return self._source.target.forms(self._source.lowered, self.manifest, self.files)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artifact; raises InputError when ``path`` cannot be written, and then leaves nothing there."""
        from kc import artifact

        artifact.save(path, self.manifest, self.files)


class _Source:
    """What an executable was made from: a snapshot of the module, to be lowered again when somebody wants to look."""

    def __init__(self, loaded: Loaded, target: Target, options: Mapping[str, Any]):
        buffer = io.BytesIO()
        loaded.module.operation.write_bytecode(buffer)
        self._bytecode, self._level = buffer.getvalue(), loaded.level
        self.target, self._options = target, options
        #: gives the hooks that do again what agents did
        self.hooks: Callable[[], Sequence[Hook]] = tuple

    def module(self, context: ir.Context) -> ir.Module:
        """The source again."""
        from kc.context import parse_module

        return parse_module(self._bytecode, context)

    def lowered(self, stop: str) -> ir.Module:
        """The module at a level or after a phase."""
        from kc.context import make_context

        module = self.module(make_context())
        phases = up_to(road(self.target, self._level), stop, self._level)
        run_phases(module, phases, self._options, hooks=self.hooks())
        return module

    def stage(self, level: str) -> str:
        """See ``Executable.stage``."""
        if level in ("asm", "llvm-ir"):
            return self.target.text(self.lowered("llvm"), level)
        return to_text(self.lowered(level))


def to_text(module: ir.Module) -> str:
    """A module's text; constants above 64 elements and resources are elided."""
    return str(module.operation.get_asm(large_elements_limit=64, large_resource_limit=64))


def compile(
    source: Any,
    target: str = "cpu",
    entry: str = "main",
    agents: Sequence[Any] = (),
    options: Mapping[str, Any] | None = None,
    shapes: str = "dynamic",
    ledger: Any = None,
    ledger_mode: str = "ask",
    timing: bool = False,
) -> Executable:
    """Compile a program.

    ``source``: StableHLO or lower MLIR as text, bytecode, portable artifact (bytes), a path or an ``ir.Module``; or a
    ``torch.export.ExportedProgram``. ``target``: ``cpu``, ``nvptx:sm_90a`` …, see ``kc.targets``. ``agents`` take
    part: names (``linalg=file.py:Name``), ``kc.agents.Agent`` objects, functions of an observation; a function of two
    arguments is called at every hook point with it and the module (see ``kc.pipelines.run``). ``ledger``: path of the
    file that keeps what agents did; ``ledger_mode``: ``ask``, ``replay`` what it has and ask for the rest, or
    ``frozen``; ``timing``: an answer must be faster, too. ``options``: phase parameters by name, and
    ``verify_levels``.
    ``shapes``: one program for all sizes that the source leaves open (``dynamic``), or beside it a program for each set
    of argument shapes it is called with (``specialise``: a ``kc.specialise.SpecialisingExecutable``, which tells them).

    Raises InputError for a source that cannot be read or has no function ``entry``, UnsupportedError that lists every
    operation the target cannot do, CompileError when a pass fails.
    """
    from kc import context_pool, frontends

    if shapes not in ("dynamic", "specialise"):
        raise InputError(f"shapes is 'dynamic' or 'specialise', not {shapes!r}")
    if shapes == "dynamic" and not agents and ledger is None and target == "cpu" and context_pool.fits(source):
        with context_pool.kept_context(source) as context:
            return compile_loaded(frontends.load(source, entry, context), target, entry, options=options)
    loaded = frontends.load(source, entry)
    how: dict[str, Any] = {
        "agents": agents, "options": options, "ledger": ledger, "ledger_mode": ledger_mode, "timing": timing
    }  # fmt: skip
    if shapes == "specialise":
        from kc.specialise import specialising

        return specialising(loaded, target, entry, **how)
    return compile_loaded(loaded, target, entry, **how)


def compile_loaded(
    loaded: Loaded,
    target: str = "cpu",
    entry: str = "main",
    *,
    agents: Sequence[Any] = (),
    options: Mapping[str, Any] | None = None,
    observe: Callable[[Phase, float], None] | None = None,
    ledger: Any = None,
    ledger_mode: str = "ask",
    timing: bool = False,
) -> Executable:
    """``compile`` of a module that a front end has made; the module is used up.

    ``observe`` gets each phase and its CPU seconds. ``timing``: agents' answers must be faster, too.
    """
    chosen = get_target(target)
    phases = road(chosen, loaded.level)
    options = checked_options(options or {}, phases)
    from kc.census import check

    check(loaded.module, chosen)
    bind_weights(loaded.module)
    source = _Source(loaded, chosen, options)
    verify = str(options.get("verify_levels", "false")).lower() in ("1", "true")

    def descend(module: ir.Module, hooks: Sequence[Hook]) -> tuple[dict[str, Any], dict[str, bytes]]:
        run_phases(module, phases, options, hooks=hooks, verify_levels=verify, observe=observe)
        return chosen.generate(module, options)

    if ledger is None and not any(map(is_agent, agents)):
        return Executable(*descend(loaded.module, agents), entry, source)
    hooks, session = _session(
        agents, phases, loaded.module, target=chosen, options=options, entry=entry, ledger=ledger, mode=ledger_mode,
        timing=timing,
    )  # fmt: skip

    def again(part: Hook) -> tuple[dict[str, Any], dict[str, bytes]]:
        module = source.module(loaded.module.context)
        return descend(module, [part if hook is session else hook for hook in hooks])

    with session:
        try:
            made = descend(loaded.module, hooks)
        except CompileError as error:
            made = session.recover(error, again)
        session.finish()
        session.into(*made)
    source.hooks = lambda: [session.again() if hook == session else hook for hook in hooks]
    executable = Executable(*made, entry, source)
    executable.session = session
    return executable


def is_agent(part: Any) -> bool:
    """Whether ``part`` is for a session of agents, and no hook, which is called with a HookPoint and the module.

    A function that must be given one argument is an agent, which answers an observation.
    """
    if isinstance(part, str) or hasattr(part, "propose") or not callable(part):
        return True
    code = getattr(part, "__code__", None)
    if code is None:
        return False
    given = len(getattr(part, "__defaults__", None) or ()) + hasattr(part, "__self__")
    return bool(code.co_argcount - given == 1)


def _session(*parts: Any, **how: Any) -> tuple[Sequence[Hook], Any]:
    module, _, name = _OPEN_SESSION.partition(":")
    opened: tuple[Sequence[Hook], Any] = getattr(importlib.import_module(module), name)(*parts, **how)
    return opened


#: bytes of a constant that is a weight: it becomes a parameter at once, and no pass or snapshot holds it
_WEIGHT = 1 << 20


def bind_weights(module: ir.Module) -> None:
    """Make parameters of the constants of ``_WEIGHT`` bytes and more, wherever they may become ones."""
    from kc.bindings import ir
    from kc.pass_manager import run_pipeline
    from kc.rewrite import walk_ops

    for op in walk_ops(module.operation, ("stablehlo.constant", "arith.constant")):
        kind = op.results[0].type
        if isinstance(kind, ir.RankedTensorType) and math.prod(kind.shape) >= _WEIGHT // 16:
            run_pipeline(module, f"builtin.module(kc-externalize-constants{{threshold={_WEIGHT - 1}}})")
            return


def checked_options(options: Mapping[str, Any], phases: Sequence[Phase]) -> Mapping[str, Any]:
    import difflib

    known = sorted({name for phase in phases for name, _ in phase.defaults} | set(_DRIVER_OPTIONS))
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; known: {', '.join(known)}"
            raise InputError(f"no option is named '{name}'{hint}")
    return options


def lower(
    source: Any,
    to: str = "linalg",
    target: str = "cpu",
    entry: str = "main",
    options: Mapping[str, Any] | None = None,
    agents: Sequence[Any] = (),
    ledger: Any = None,
    ledger_mode: str = "ask",
    timing: bool = False,
) -> str:
    """The text of a program at level ``to`` (or after the phase of that name) of ``target``'s road.

    ``asm`` gives assembly or PTX. ``agents`` and the ledger as in ``compile``, as far as the road is gone. Raises as
    ``compile`` does.
    """
    from kc import frontends

    loaded = frontends.load(source, entry)
    chosen = get_target(target)
    phases = road(chosen, loaded.level)
    options = checked_options(options or {}, phases)
    kept = _Source(loaded, chosen, options)
    if ledger is None and not any(map(is_agent, agents)):
        kept.hooks = lambda: agents
        return kept.stage(to)
    hooks, session = _session(
        agents, phases, loaded.module, target=chosen, options=options, entry=entry, ledger=ledger, mode=ledger_mode,
        timing=timing,
    )  # fmt: skip
    kept.hooks = lambda: hooks
    with session:
        return kept.stage(to)
