"""The wire of the MCP server: whatever a client writes, it gets an answer, and no line fills the memory.

The SDK drops a line that it cannot read, and whoever wrote it waits for ever; and it reads a line whole, however long
it is. So lines pass through here first: ``guarded`` puts a pipe in the place of stdin and one in that of stdout, and
threads between them and the client. Lines that are no JSON-RPC are answered at once.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import threading
from collections.abc import Iterator
from typing import Any

#: bytes of a line: a program of some MiB as a JSON string
_MIB = 64
LINE_BYTES = _MIB << 20
_CHUNK = 1 << 20
#: a line, or what there is of it
_LINES = re.compile(rb"[^\n]*\n|[^\n]+")
#: what ends the server's lines: the SDK keeps its end of the pipe open
_END = b"\0\n"
#: the number of a message, where it stands in front
_NUMBER = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*([0-9]{1,18}|"[^"\\]{1,80}")\s*,')
#: error codes of JSON-RPC
_PARSE, _INVALID = -32700, -32600


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Within, descriptors 0 and 1 are pipes; afterwards what was written has gone out."""
    wire_in, wire_out = os.dup(0), os.dup(1)
    from_client, to_server = os.pipe()
    from_server, to_client = os.pipe()
    os.dup2(from_client, 0)
    os.dup2(to_client, 1)
    os.close(from_client)
    out = _Out(wire_out)
    reader = threading.Thread(target=_read, args=(wire_in, to_server, out), daemon=True)
    writer = threading.Thread(target=_write, args=(from_server, out), daemon=True)
    reader.start()
    writer.start()
    try:
        yield
    finally:
        os.write(to_client, _END)
        writer.join()
        os.dup2(wire_out, 1)
        os.dup2(wire_in, 0)
        os.close(to_client)


class _Out:
    """The client's end: lines go out whole."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._lock = descriptor, threading.Lock()

    def line(self, data: bytes) -> None:
        """Write a line; the client may be gone."""
        view = memoryview(data)
        with self._lock, contextlib.suppress(OSError):
            while view:
                view = view[os.write(self._descriptor, view) :]


def _read(wire: int, to_server: int, out: _Out) -> None:
    """Pass on what the client says, line by line, until it says no more."""
    buffer, skipping = bytearray(), False
    with contextlib.suppress(OSError):
        while chunk := os.read(wire, _CHUNK):
            for part in _LINES.findall(chunk):
                if not skipping:
                    buffer += part
                if len(buffer) > LINE_BYTES:
                    out.line(_error(_number(bytes(buffer[:200])), _INVALID, f"a message has at most {_MIB} MiB"))
                    buffer.clear()
                    skipping = True
                if part.endswith(b"\n"):
                    if not skipping:
                        _pass(bytes(buffer), to_server, out)
                    buffer.clear()
                    skipping = False
        if buffer:
            _pass(bytes(buffer), to_server, out)
    os.close(to_server)


def _pass(line: bytes, to_server: int, out: _Out) -> None:
    """Hand on a line that is a message, answer one that is none; raises OSError when the server is gone."""
    if not line.strip():
        return
    wrong = problem(line)
    if wrong is not None:
        out.line(wrong)
        return
    view = memoryview(line.rstrip(b"\r\n") + b"\n")
    while view:
        view = view[os.write(to_server, view) :]


def problem(line: bytes) -> bytes | None:
    """The answer to a line that is no JSON-RPC message; None when it is one, as far as can be seen here."""
    try:
        message = json.loads(line.decode())
    except UnicodeDecodeError as error:
        return _error(_number(line), _PARSE, f"no UTF-8 at byte {error.start}")
    except RecursionError:
        return _error(_number(line), _PARSE, "lists and objects nest too deep")
    except ValueError as error:
        return _error(_number(line), _PARSE, f"no JSON: {str(error)[:200]}")
    if not isinstance(message, dict):
        return _error(None, _INVALID, f"a message is a JSON object, not {type(message).__name__}")
    number = message.get("id")
    if b"\\ud" in line.lower():
        try:
            json.dumps(message, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return _error(number, _INVALID, "a string holds half of a surrogate pair, which is no character")
    return None


def _number(line: bytes) -> Any:
    found = _NUMBER.match(line)
    try:
        return json.loads(found[1]) if found else None
    except ValueError:  # a string of bytes that are no UTF-8
        return None


def _error(number: Any, code: int, message: str) -> bytes:
    known = number if isinstance(number, (int, str)) and len(str(number)) < 100 else None
    return json.dumps({"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}).encode() + b"\n"


def _write(from_server: int, out: _Out) -> None:
    """Pass on what the server says, line by line."""
    buffer = bytearray()
    while chunk := os.read(from_server, _CHUNK):
        buffer += chunk
        ended = buffer.endswith(_END)
        end = buffer.rfind(b"\n") + 1 - (len(_END) if ended else 0)
        if end > 0:
            out.line(bytes(buffer[:end]))
            del buffer[:end]
        if ended:
            break
    os.close(from_server)
