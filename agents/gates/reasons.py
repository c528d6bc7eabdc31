"""Why a proposal can be rejected: every reason code, and the record with which a gate says so."""

from __future__ import annotations

import dataclasses
from typing import Any

#: reason code -> what it means; those of the timing gate are in ``kc.agents.gates.timing``
REASONS: dict[str, str] = {
    "accepted": "every gate was passed",
    "parse.message": "the proposal is no message of the protocol: a field is missing, unknown or of the wrong type",
    "parse.syntax": "the IR does not parse",
    "parse.crash": "reading or checking the IR crashed the compiler",
    "parse.time": "reading or checking the IR ran past its time limit",
    "parse.memory": "reading or checking the IR ran out of memory",
    "parse.size": "the text is longer than any region needs",
    "parse.realize": "the proposal's own form (schedule, source, library …) could not be turned into IR",
    "parse.module": "the proposal's module does not parse or verify",
    "parse.ptx": "the PTX cannot be read",
    "parse.asm": "the assembly cannot be read",
    "parse.source": "the source code cannot be compiled",
    "verify.compile": "the program with the proposal in it could not be compiled, though the gates had passed it",
    "verify.ptx": "the PTX breaks a rule of the assembler, or of how kc launches it",
    "verify.asm": "the assembler refuses the assembly, or its object is not the code of a function",
    "verify.script": "the transform script does not apply to the region",
    "verify.guard": "the guard cannot be put before the proposal",
    "verify.triton": "the Triton source does not compile to a kernel that can be launched",
    "verify.invalid": "the IR parses, but an op or the structure breaks a rule of its dialect",
    "level.op": "an op that has no place at this level",
    "level.invariant": "a type or structure that has no place at this level",
    "level.forbidden": "an op that no stranger may bring, at any level",
    "level.directive": "a directive that the assembly of a function has no use for",
    "level.instruction": "an instruction or operand that is not for functions, or that the target does not have",
    "level.kind": "this kind of proposal has no meaning for a region of this level",
    "level.schedule": "no schedule of the target fits the region",
    "level.script": "the script leaves the region at another level than it may",
    "level.target": "the proposal is for another target than the program",
    "level.higher": "the proposal stands at a level above that of its region",
    "signature.main": "there is no public function @main with a body",
    "signature.types": "the types of @main's arguments or results differ from the region's",
    "signature.arguments": "attributes of @main's arguments differ from the region's",
    "signature.type": "the type of @main is not that of the region at the proposal's level",
    "signature.sizes": "the proposal needs sizes that the region does not fix",
    "signature.results": "the proposal gives other results than the region",
    "signature.global": "the proposal's device code lacks or adds variables of the module",
    "signature.clock": "the proposal reads a clock",
    "signature.convention": "the code does not keep the calling convention: registers, stack, flags, MXCSR",
    "signature.attributes": "an attribute on a function or on the module that the region does not have",
    "signature.symbols": "a public symbol beside @main, or something without a symbol at the top of the module",
    "signature.external": "a function without a body",
    "signature.reserved": "a name that the compiler, its runtime or the C library owns",
    "signature.state": "a global that can be written: nothing may last from one call to the next",
    "signature.effects": "an op with effects beyond buffers: input and output, random numbers, unknown calls",
    "assumptions.undeclared": "'assumes' names something that the contract does not grant",
    "assumptions.claims": "an attribute on @main or its arguments claims more than the contract grants",
    "assumptions.flag": "a flag on an op (fast math, nsw, exact, in-bounds …) assumes what the contract does not grant",
    "assumptions.guard": "the guard is no condition on sizes, or never holds",
    "resource.recursion": "functions call each other in a circle",
    "resource.stack": "stack memory in a loop, or more of it than a stack holds",
    "resource.allocation": "allocates out of proportion to what the region needs",
    "resource.time": "a call did not end, or took out of proportion longer than the original",
    "resource.memory": "a call ran out of memory",
    "resource.leak": "memory is allocated and never freed",
    "resource.crash": "a call crashed the process",
    "resource.block": "the launch asks for blocks that cannot be had, or for others than the kernel's",
    "resource.cluster": "the kernel asks for clusters of blocks, which kc does not launch",
    "resource.shared": "the kernel asks for more shared memory than there is",
    "resource.triton": "the Triton kernel asks for resources that cannot be had",
    "resource.device": "the proposal has to be judged on a machine that has the device",
    "resource.unsupported": "the proposal cannot be run here, so it cannot be shown to be right",
    "aliasing.read-only": "an argument that is only to be read is written",
    "aliasing.bounds": "memory outside of a buffer is read or written",
    "aliasing.heap": "heap misuse: write outside of an allocation, double or wrong free, use after free",
    "aliasing.uninitialised": "the result depends on memory that nobody wrote",
    "aliasing.abort": "a call stopped in a check that fails (or a division that traps) where the original ends well",
    "race.conflict": "iterations or threads that run at the same time touch the same element, one of them writing",
    "race.order": "the result depends on the order in which parallel iterations run",
    "race.barrier": "threads disagree about a barrier or a shuffle, or signal without a fence",
    "numeric.shape": "a result has another shape or type",
    "numeric.integer": "integers or booleans differ",
    "numeric.nan": "NaN stands where the original has a number, or the other way round",
    "numeric.inf": "an infinity stands where the original has another value, or the other way round",
    "numeric.zero": "the sign of a zero differs",
    "numeric.value": "numbers differ, and nothing in the contract allows it",
    "numeric.undefined": "a result hangs on a shift by too much, or on a float that its integer type cannot hold",
    "numeric.error": "the error is larger than what the contract's allowances cover",
    "numeric.nondeterministic": "the same call gave two results",
}


@dataclasses.dataclass(frozen=True)
class Rejection:
    """The word of one gate: ``reason`` is a key of ``REASONS`` and starts with the name of its gate."""

    reason: str
    message: str
    witness: dict[str, Any] | None = None
    op: str | None = None

    @property
    def gate(self) -> str:
        """Name of the gate."""
        return self.reason.partition(".")[0]
