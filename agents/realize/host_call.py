"""Answers that call a function of the runtime: ``@main`` on buffers, and the call in the form that kc's own have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kc.agents.realize.device import escaped
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.region import Signature, Value


def host_call(
    signature: Signature,
    target: str,
    inputs: Sequence[int],
    outputs: Sequence[int],
    attributes: Mapping[str, Any],
    gpu: bool,
) -> Realized:
    """The answer that calls the custom call ``target`` with buffers of the region, by number.

    The function gets what ``passes.linalg.bind_host_calls`` passes: a block of words with the call's number, then of
    each buffer its address and its sizes.
    """
    order = [*inputs, *outputs]
    for number in order:
        if signature.buffers[number].shape is None:
            raise RealizeError(
                "signature", "signature.type", f"argument {number} is no tensor: a library cannot get it"
            )
    types = [signature.buffers[number].buffer() for number in order]
    all_types = [value.buffer() for value in signature.buffers]
    lines, words = _words([signature.buffers[number] for number in order], types)
    described = {
        "number": -1,
        "target": target,
        "operands": [_buffer(signature.buffers[n], words[k]) for k, n in enumerate(inputs)],
        "results": [_buffer(signature.buffers[n], words[len(inputs) + k]) for k, n in enumerate(outputs)],
        "attributes": dict(attributes),
        "place": "",
    }
    header = ", ".join(f"%a{number}: {type_}" for number, type_ in enumerate(all_types))
    inner = ", ".join(f"%b{number}: {type_}" for number, type_ in enumerate(types))
    passed = ", ".join(f"%a{number}" for number in order)
    body, told = "\n    ".join(lines), escaped(json.dumps(described))
    text = f"""module {{
  llvm.func @kc_custom_call(!llvm.ptr)
  func.func @main({header}) attributes {{kc.impl}} {{
    call @call({passed}) : ({", ".join(types)}) -> ()
    return
  }}
  func.func private @call({inner}) attributes {{kc.impl, no_inline, kc.custom_call = "{told}"}} {{
    {body}
    llvm.call @kc_custom_call(%slot) : (!llvm.ptr) -> ()
    return
  }}
}}
"""
    return Realized("loops", text, answer=text, needs="gpu" if gpu else "cpu", runs="kc")


def _words(values: Sequence[Value], types: Sequence[str]) -> tuple[list[str], list[int]]:
    """The operations that fill the block of words ``%slot``, and where each buffer's words begin."""
    lines = ["%w0 = arith.constant {kc.number} -1 : i64"]
    begins, count = [], 1
    for number, (value, type_) in enumerate(zip(values, types, strict=True)):
        begins.append(count)
        lines.append(f"%p{number} = memref.extract_aligned_pointer_as_index %b{number} : {type_} -> index")
        lines.append(f"%w{count} = arith.index_cast %p{number} : index to i64")
        count += 1
        for axis, size in enumerate(value.shape or ()):
            if size is None:
                lines.append(f"%i{count} = arith.constant {axis} : index")
                lines.append(f"%d{count} = memref.dim %b{number}, %i{count} : {type_}")
                lines.append(f"%w{count} = arith.index_cast %d{count} : index to i64")
            else:
                lines.append(f"%w{count} = arith.constant {size} : i64")
            count += 1
    lines += [f"%count = arith.constant {count} : i64", "%slot = llvm.alloca %count x i64 : (i64) -> !llvm.ptr"]
    for word in range(count):
        lines.append(f"%g{word} = llvm.getelementptr %slot[{word}] : (!llvm.ptr) -> !llvm.ptr, i64")
        lines.append(f"llvm.store %w{word}, %g{word} : i64, !llvm.ptr")
    return lines, begins


def _buffer(value: Value, word: int) -> dict[str, Any]:
    rank = len(value.shape or ())
    names = {"complex<f32>": "complex64", "complex<f64>": "complex128"}
    dtype = "u" + value.element if value.unsigned else names.get(value.element, value.element)
    return {"dtype": dtype, "layout": list(range(rank))[::-1], "word": word}
