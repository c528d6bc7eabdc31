"""What a conversation costs, in tokens and in money, against what may be spent."""
from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from kc.agents.builtin.chat.endpoints import Reply
from kc.errors import InputError

#: characters of English or MLIR text to a token, on the low side: to tell a cost beforehand, or where nobody counts
_CHARACTERS = 3


@dataclasses.dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Dollars."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


def read_price(path: str, model: str) -> Price:
    """The price of a model in the user's table ``{"MODEL": {"input": 3.0, "output": 15.0}}`` (dollars for 10^6 tokens).

    Raises InputError when the table cannot be read or does not have the model.
    """
    try:
        table = json.loads(Path(path).read_text())
        entry = table[model]
        price = Price(float(entry["input"]), float(entry["output"]))
    except OSError as error:
        raise InputError(f"cannot read prices from '{path}': {error.strerror}") from None
    except KeyError as error:
        known = ", ".join(table) if isinstance(table, dict) else "nothing"
        raise InputError(f"'{path}' has no price {error} for '{model}' (it has {known})") from None
    except (ValueError, TypeError) as error:
        raise InputError(f"'{path}' is no table of prices: {error}") from None
    if price.input < 0 or price.output < 0:
        raise InputError(f"'{path}' has a negative price for '{model}'")
    return price


def estimate(text: str) -> int:
    """Tokens that ``text`` has about; rather too many."""
    return len(text) // _CHARACTERS + 1


@dataclasses.dataclass
class Spending:
    """Tokens and dollars used so far, and how many may be: ``dollars`` is None for no bound in money."""

    most_tokens: int
    most_dollars: float | None = None
    price: Price | None = None
    tokens: int = 0
    dollars: float = 0.0

    def __post_init__(self) -> None:
        if self.most_dollars is not None and self.price is None:
            raise InputError("a budget in dollars needs a table of prices: llm{dollars=… prices=FILE}")

    def room(self, prompt: str, answer: int) -> int:
        """Tokens that the answer to ``prompt`` may have, at most ``answer``; 0 when there is not enough left."""
        asked = estimate(prompt)
        room = min(answer, self.most_tokens - self.tokens - asked)
        if self.most_dollars is not None and self.price is not None and self.price.output > 0:
            left = self.most_dollars - self.dollars - self.price.of(asked, 0)
            room = min(room, int(left * 1e6 / self.price.output))
        elif self.most_dollars is not None and self.price is not None:
            room = room if self.dollars + self.price.of(asked, 0) <= self.most_dollars else 0
        return room if room >= min(answer, 256) else 0

    def add(self, prompt: str, reply: Reply) -> tuple[int, int]:
        """Book an answer; gives its tokens in and out. What the endpoint does not count is estimated."""
        spent = estimate(prompt) if reply.input_tokens is None else reply.input_tokens
        written = reply.text + "".join(reply.calls)
        made = estimate(written) if reply.output_tokens is None else reply.output_tokens
        self.tokens += spent + made
        if self.price is not None:
            self.dollars += self.price.of(spent, made)
        return spent, made
