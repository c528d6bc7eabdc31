"""A server on this machine that speaks the wire formats of OpenAI's chat completions and Anthropic's messages.

It plays a script: for each request the next step, the last one for all that follow. A step is text (the answer),
``Call(arguments)`` (a call of the tool), or one of the faults below.
"""
from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of the tool ``propose``."""

    arguments: str


@dataclasses.dataclass(frozen=True)
class Status:
    """An HTTP error."""

    code: int
    headers: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True)
class Broken:
    """A stream that ends in the middle of ``text``; ``garbage`` comes last."""

    text: str
    garbage: str = ""


@dataclasses.dataclass(frozen=True)
class Silent:
    """No word for so many seconds."""

    seconds: float


@dataclasses.dataclass(frozen=True)
class Cut:
    """An answer that ended at the limit of its length."""

    text: str


class Server:
    """Use as a context manager; ``requests`` holds what came: path, headers, body, time."""

    def __init__(self, script: Sequence[Any], usage: bool = True):
        self.script, self.usage = list(script), usage
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    number = len(outer.requests)
                    outer.requests.append({"path": self.path, "headers": headers, "body": body,
                                           "time": time.monotonic()})
                step = outer.script[min(number, len(outer.script) - 1)]
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self._play(step, "anthropic" if self.path.endswith("/messages") else "openai")

            def _play(self, step: Any, wire: str) -> None:
                if isinstance(step, Silent):
                    time.sleep(step.seconds)
                    return
                if isinstance(step, Status):
                    fault = {"type": "e", "message": f"status {step.code}"}
                    data = json.dumps({"type": "error", "error": fault}).encode()
                    self.send_response(step.code)
                    for name, value in step.headers:
                        self.send_header(name, value)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                events = list((anthropic_events if wire == "anthropic" else openai_events)(step, outer.usage))
                if isinstance(step, Broken):
                    events = [*events[: len(events) // 2], step.garbage]
                for event in events:
                    self.wfile.write(event.encode())
                    self.wfile.flush()

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def said(self, number: int) -> str:
        """All text of a request's messages."""
        return json.dumps(self.requests[number]["body"]["messages"])

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._server.shutdown()
        self._server.server_close()


def pieces(text: str) -> list[str]:
    """Text in the small parts of a stream."""
    return [text[i:i + 17] for i in range(0, len(text), 17)]


def openai_events(step: Any, usage: bool) -> Iterator[str]:
    """Chunks of a chat completion."""
    def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> str:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]
        data = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
        return f"data: {json.dumps({**data, **more})}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    if isinstance(step, Call):
        head = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "propose", "arguments": ""}}
        yield chunk({"tool_calls": [head]})
        for part in pieces(step.arguments):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
        yield chunk({}, "tool_calls")
    else:
        text = step if isinstance(step, str) else step.text
        for part in pieces(text):
            yield chunk({"content": part})
        yield chunk({}, "length" if isinstance(step, Cut) else "stop")
    if usage:
        yield chunk(None, usage={"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200})
    yield "data: [DONE]\n\n"


def anthropic_events(step: Any, usage: bool) -> Iterator[str]:
    """Events of a message."""
    def event(kind: str, **data: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"

    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": None,
               "stop_sequence": None, "usage": {"input_tokens": 1000, "output_tokens": 1}}
    yield event("message_start", message=message)
    yield event("ping")
    if isinstance(step, Call):
        block = {"type": "tool_use", "id": "toolu_1", "name": "propose", "input": {}}
        parts = [{"type": "input_json_delta", "partial_json": part} for part in pieces(step.arguments)]
        reason = "tool_use"
    else:
        block = {"type": "text", "text": ""}
        text = step if isinstance(step, str) else step.text
        parts = [{"type": "text_delta", "text": part} for part in pieces(text)]
        reason = "max_tokens" if isinstance(step, Cut) else "end_turn"
    yield event("content_block_start", index=0, content_block=block)
    for part in parts:
        yield event("content_block_delta", index=0, delta=part)
    yield event("content_block_stop", index=0)
    yield event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 200})
    yield event("message_stop")
