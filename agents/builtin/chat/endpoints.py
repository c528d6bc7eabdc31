"""The two wire formats, each through its vendor's SDK: OpenAI's chat completions (and whatever speaks them) and
Anthropic's messages.

Answers are streamed. The SDKs wait and try again after 429 (as ``Retry-After`` says), 5xx and lost connections; here an
answer that breaks off half-way is asked for again. Keys come from the environment and go nowhere but to the SDK.
"""
from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import time
from collections.abc import Sequence
from typing import Any, Protocol

from kc.agents.builtin.chat.transcript import redact
from kc.errors import CompileError, InputError

Message = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Tool:
    """A function that the model may call instead of writing: ``parameters`` is its JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Reply:
    """One answer: its text, the arguments (JSON text) of calls of the tool, and tokens as the endpoint counts them
    (None: it did not say). ``stop``: ``end``, ``tool``, or ``length`` when it was cut."""

    text: str
    calls: tuple[str, ...]
    stop: str
    input_tokens: int | None
    output_tokens: int | None


class EndpointError(CompileError):
    """The endpoint gave no answer. ``again``: whether asking once more may help."""

    def __init__(self, message: str, again: bool = False):
        super().__init__(message)
        self.again = again


class Endpoint(Protocol):
    """Something that answers."""

    def ask(self, system: str, messages: Sequence[Message], most_tokens: int) -> Reply:
        """One answer; raises EndpointError."""

    def close(self) -> None:
        """End connections."""


_KINDS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def check(provider: str, model: str, key_variable: str = "") -> str:
    """The key, if everything is there that an endpoint needs; raises InputError when the SDK, the key or the model's
    name is missing."""
    if provider not in _KINDS:
        raise InputError(f"the agent 'llm' knows the providers {', '.join(_KINDS)}, not '{provider}'")
    if not model:
        raise InputError("the agent 'llm' needs a model: llm{model=NAME}")
    if importlib.util.find_spec(provider) is None:
        raise InputError(f"the agent 'llm' needs the package '{provider}': pip install 'kc[llm]'")
    variable = key_variable or _KINDS[provider]
    key = os.environ.get(variable, "")
    if not key:
        raise InputError(f"the agent 'llm' reads its key from the environment variable {variable}, which is not set")
    return key


def connect(
    provider: str, model: str, *, url: str = "", key_variable: str = "", seconds: float = 120.0, retries: int = 4,
    tool: Tool | None = None,
) -> Endpoint:
    """The endpoint. ``url``: of a compatible server; ``key_variable``: environment variable of the key;
    ``seconds``: of one request without a word; ``retries``: of requests that fail in a way that passes.

    Raises InputError as ``check`` does.
    """
    key = check(provider, model, key_variable)
    if provider == "openai":
        return OpenAIEndpoint(model, key, url, seconds, retries, tool)
    return AnthropicEndpoint(model, key, url, seconds, retries, tool)


def ask_again(
    endpoint: Endpoint, system: str, messages: Sequence[Message], most_tokens: int, tries: int = 3, pause: float = 0.5
) -> Reply:
    """``endpoint.ask``, once more after a failure that passes (an answer that broke off); raises EndpointError."""
    for number in range(tries):
        try:
            return endpoint.ask(system, messages, most_tokens)
        except EndpointError as error:
            if not error.again or number == tries - 1:
                raise
            time.sleep(pause * 2**number)
    raise AssertionError("unreachable")


class OpenAIEndpoint:
    """Chat completions."""

    def __init__(self, model: str, key: str, url: str, seconds: float, retries: int, tool: Tool | None):
        import openai

        self.model, self.tool = model, tool
        # servers that are not OpenAI's own know the older name of the limit only
        self._limit = "max_tokens" if url else "max_completion_tokens"
        self._client = openai.OpenAI(api_key=key, base_url=url or None, timeout=seconds, max_retries=retries)
        self._status, self._other = openai.APIStatusError, openai.OpenAIError

    def ask(self, system: str, messages: Sequence[Message], most_tokens: int) -> Reply:
        """See ``Endpoint``."""
        extra: dict[str, Any] = {self._limit: most_tokens}
        if self.tool is not None:
            extra["tools"] = [{"type": "function", "function": dataclasses.asdict(self.tool)}]
        text: list[str] = []
        calls: dict[int, list[str]] = {}
        finish, usage = None, None
        try:
            stream = self._client.chat.completions.create(
                model=self.model, messages=[{"role": "system", "content": system}, *messages],  # type: ignore[list-item]
                stream=True, stream_options={"include_usage": True}, **extra,
            )
            with stream:
                for chunk in stream:
                    usage = getattr(chunk, "usage", None) or usage
                    for choice in chunk.choices[:1]:
                        text.append(choice.delta.content or "")
                        for call in choice.delta.tool_calls or ():
                            calls.setdefault(call.index, []).append((call.function and call.function.arguments) or "")
                        finish = choice.finish_reason or finish
        except Exception as error:
            raise _failure(error, self._status, self._other) from error
        if finish is None:
            raise EndpointError("the answer broke off before its end", again=True)
        return Reply(
            "".join(text), tuple("".join(parts) for _, parts in sorted(calls.items())),
            {"length": "length", "tool_calls": "tool"}.get(finish, "end"),
            usage.prompt_tokens if usage else None, usage.completion_tokens if usage else None,
        )

    def close(self) -> None:
        """See ``Endpoint``."""
        self._client.close()


class AnthropicEndpoint:
    """Messages."""

    def __init__(self, model: str, key: str, url: str, seconds: float, retries: int, tool: Tool | None):
        import anthropic

        self.model, self.tool = model, tool
        self._client = anthropic.Anthropic(api_key=key, base_url=url or None, timeout=seconds, max_retries=retries)
        self._status, self._other = anthropic.APIStatusError, anthropic.AnthropicError

    def ask(self, system: str, messages: Sequence[Message], most_tokens: int) -> Reply:
        """See ``Endpoint``."""
        extra: dict[str, Any] = {}
        if self.tool is not None:
            tool = self.tool
            extra["tools"] = [{"name": tool.name, "description": tool.description, "input_schema": tool.parameters}]
        text: list[str] = []
        calls: dict[int, list[str]] = {}
        finish, spent, made, ended = None, None, None, False
        try:
            stream = self._client.messages.create(
                model=self.model, system=system, messages=list(messages), max_tokens=most_tokens,  # type: ignore[arg-type]
                stream=True, **extra,
            )
            with stream:
                for event in stream:
                    if event.type == "message_start":
                        spent = event.message.usage.input_tokens
                    elif event.type == "content_block_start" and event.content_block.type == "tool_use":
                        calls[event.index] = []
                    elif event.type == "content_block_delta":
                        if event.delta.type == "text_delta":
                            text.append(event.delta.text)
                        elif event.delta.type == "input_json_delta":
                            calls.setdefault(event.index, []).append(event.delta.partial_json)
                    elif event.type == "message_delta":
                        finish, made = event.delta.stop_reason or finish, event.usage.output_tokens
                    elif event.type == "message_stop":
                        ended = True
        except Exception as error:
            raise _failure(error, self._status, self._other) from error
        if not ended or finish is None:
            raise EndpointError("the answer broke off before its end", again=True)
        return Reply(
            "".join(text), tuple("".join(parts) for _, parts in sorted(calls.items())),
            {"max_tokens": "length", "tool_use": "tool"}.get(finish, "end"), spent, made,
        )

    def close(self) -> None:
        """See ``Endpoint``."""
        self._client.close()


def _failure(error: Exception, status: Any, other: Any) -> Exception:
    """What to raise for an exception of an SDK; anything that is no failure of the endpoint comes back as it is."""
    said = redact(f"{type(error).__name__}: {error}")[:300]
    if isinstance(error, status):
        code = error.status_code  # type: ignore[attr-defined]
        return EndpointError(f"the endpoint answered {code}: {said}", again=code < 400)  # an error inside of a stream
    if "Timeout" in type(error).__name__:
        return EndpointError(f"the endpoint did not answer in time: {said}")
    lost = isinstance(error, (other, json.JSONDecodeError, UnicodeDecodeError, OSError))
    if lost or "httpx" in type(error).__module__:
        return EndpointError(f"the connection failed: {said}", again=True)
    if isinstance(error, (AttributeError, TypeError, KeyError, IndexError)):
        return EndpointError(f"the endpoint does not speak this wire format: {said}")
    return error
