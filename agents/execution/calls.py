"""What a run is asked and what it answers: plain data (NumPy arrays inside) that crosses processes by pickle."""
from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np

#: what a function may do with an argument: read it; write it whole (its bytes are uninitialised at entry); update it
Role = Literal["in", "out", "inout"]
Order = Literal["forward", "reversed", "interleaved"]
#: at level stablehlo: StableHLO's reference interpreter, or kc's road to linalg and on
Engine = Literal["interpreter", "road"]


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of ``@main``.

    ``arguments``: an array per argument, in the order of the signature, of the argument's own type (0-d for scalars;
    ``index`` as int64, ``i1`` as bool). The one of an ``out`` buffer tells its shape only: the buffer is poisoned.
    """

    arguments: tuple[np.ndarray, ...]
    #: (argument, the earlier argument whose buffer it is too)
    aliases: tuple[tuple[int, int], ...] = ()
    #: byte with which everything is filled that nobody wrote: margins, gaps, ``out`` buffers, fresh allocations
    poison: int = 0xA5
    #: side on which a page that may not be touched meets the buffers
    guard: Literal["none", "before", "after"] = "none"
    #: whether buffers whose type has a strided layout with free strides are laid out with gaps
    strided: bool = False


@dataclasses.dataclass(frozen=True)
class Checks:
    """How calls are watched. Nothing here changes what a right module computes."""

    #: what each argument is; None: read from the module's attributes ``kc.out``, ``kc.inout`` (GATE passes those of the
    #: original, so that a proposal cannot promote an argument)
    roles: tuple[Role, ...] | None = None
    #: a call before every access: bounds, uninitialised reads, writes to ``in`` buffers, use after free, races
    #: (levels linalg and loops; at the gpu level it is always so)
    instrument: bool = False
    #: in which order the iterations of parallel loops run
    order: Order = "forward"
    #: at level stablehlo; None: as the module wants it. Original and proposal must have the same: see ``engine``
    engine: Engine | None = None
    #: bytes to which each argument's buffer is aligned; None: to its elements and no better
    alignments: tuple[int, ...] | None = None
    #: results that MLIR leaves undefined become numbers of their own (levels linalg and loops; see ``undefined``)
    undefined: bool = False
    #: pages of ``in`` buffers cannot be written: a write ends the call with ``Outcome.fault``
    protect: bool = True
    #: wall time of one call, and bytes that it may hold allocated at one time
    seconds: float = 10.0
    allocation: int = 1 << 30
    #: at most so many findings of each sort are kept per call
    findings: int = 8


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that an instrumented run saw.

    ``kind``: ``bounds``, ``beyond``, ``uninitialised``, ``read-only``, ``freed`` (use after free), ``race``,
    ``barrier``, ``shuffle``, ``fence``.
    """

    kind: str
    #: the op and where it stands (``memref.store at line 12:5``)
    op: str
    place: str
    #: what was touched: ``argument 2``, ``allocation 1 (line 4)``, ``shared @tile``
    buffer: str
    #: byte offset from the start of the buffer, and size of the access in bytes
    offset: int = 0
    size: int = 0
    #: iterations of the parallel loops (or block and thread) that touched it, of a race the other's too
    iteration: tuple[int, ...] = ()
    other_op: str = ""
    other_place: str = ""
    other_iteration: tuple[int, ...] = ()
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON values, without what is empty."""
        given = {k: v for k, v in dataclasses.asdict(self).items() if v not in ("", ())}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}


@dataclasses.dataclass(frozen=True)
class Fault:
    """Why a call did not come to its end: ``kind`` and, of a bad access, which buffer it was next to."""

    #: ``read-only`` (write to an ``in`` buffer), ``bounds`` (a guard page), ``memory`` (any other bad address),
    #: ``stack`` (overflow), ``time``, ``allocation`` (over the limit), ``arithmetic`` (trap of a division), ``abort``
    #: (``cf.assert`` that failed, or a check of the runtime), ``barrier`` (threads that wait forever), ``signal``
    kind: str
    message: str
    #: argument concerned, where it can be told
    argument: int | None = None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one call did.

    ``results``: the function's results, then every ``out`` and ``inout`` buffer in the order of the signature. Empty
    when the call ended with a ``fault``.
    """

    results: tuple[np.ndarray, ...] = ()
    fault: Fault | None = None
    #: ``in`` arguments whose bytes changed (those that share a buffer with a writable one left out)
    mutated: tuple[int, ...] = ()
    #: arguments with a changed byte in a margin or a gap
    outside: tuple[int, ...] = ()
    #: allocations of the call that were not freed (0 at level linalg, where nothing frees)
    leaked: int = 0
    #: what the allocator saw: ``red-zone`` (write outside of an allocation), ``wrong-free`` (double, or of no
    #: allocation), ``use-after-free`` (a freed block changed)
    heap: tuple[str, ...] = ()
    #: largest number of bytes allocated at one time
    peak: int = 0
    #: of instrumented runs. No right module gives one of these: accesses outside of a buffer (or in a gap) and after
    #: its end; writes to what may only be read; races
    bounds: tuple[Finding, ...] = ()
    writes: tuple[Finding, ...] = ()
    races: tuple[Finding, ...] = ()
    #: these are for the judge to weigh: reads of what nobody wrote (harmless when the value is masked away), and
    #: indices outside of their dimension whose address lies in the buffer
    uninitialised: tuple[Finding, ...] = ()
    beyond: tuple[Finding, ...] = ()
    #: gpu level: barriers and shuffles that not all threads reach, flags without a fence
    divergence: tuple[Finding, ...] = ()
    #: CPU seconds of the process: what a busy machine does not lengthen
    seconds: float = 0.0

    @property
    def fatal(self) -> tuple[Finding, ...]:
        """The findings that no right module gives."""
        return (*self.bounds, *self.writes, *self.races, *self.divergence)
