"""The agent ``llm``: asks a language model for a better form of a region, and lets it mend what the gates reject.

    export ANTHROPIC_API_KEY=…
    kc compile model.mlir --agent 'linalg=llm{provider=anthropic model=NAME tokens=50000}' --ledger kc-agents.jsonl

The model sees the observation only; it calls nothing and runs nothing. Its answers are data that pass the same gates as
everybody's.
"""
from __future__ import annotations

import dataclasses
import os

from kc.agents.base import Agent, Budget
from kc.agents.builtin.chat import answer, endpoints, prompt
from kc.agents.builtin.chat.endpoints import Endpoint, Message
from kc.agents.builtin.chat.spending import Spending, read_price
from kc.agents.builtin.chat.transcript import Transcript
from kc.agents.protocol import Observation, Proposal, Verdict


@dataclasses.dataclass
class LanguageModelAgent(Agent):
    """Asks a language model, one conversation per region: proposal, verdict, proposal … until one is accepted.

    ``provider``: ``openai`` (and what speaks its wire format, at ``url``) or ``anthropic``. ``key_variable``: name of
    the environment variable with the key (default ``OPENAI_API_KEY``, ``ANTHROPIC_API_KEY``). ``tokens``, ``dollars``
    (0: no bound; needs ``prices``, a JSON file, see ``chat.spending.read_price``), ``candidates`` (proposals per
    region), ``seconds``: budget of a whole compilation. ``answer_tokens``: limit of one answer. ``timeout``: seconds
    that a request may stay without a word. ``retries``: of requests that fail in a way that passes. ``tools``: offer
    the model a function to call. ``transcript``: file for what is said; beside the ledger when there is one, else none.
    """

    provider: str = "openai"
    model: str = ""
    url: str = ""
    key_variable: str = ""
    tokens: int = 100_000
    dollars: float = 0.0
    prices: str = ""
    candidates: int = 4
    seconds: float = 900.0
    answer_tokens: int = 8_192
    timeout: float = 120.0
    retries: int = 4
    tools: bool = True
    transcript: str = ""

    name = "llm"
    levels = ("linalg",)

    def __post_init__(self) -> None:
        self.version = f"1 {self.provider} {self.model}"
        self.budget = Budget(self.seconds, self.candidates, self.tokens)
        price = read_price(self.prices, self.model) if self.prices else None
        self.spending = Spending(self.tokens, self.dollars or None, price)
        endpoints.check(self.provider, self.model, self.key_variable)  # what is missing is said at once
        self._endpoint: Endpoint | None = None
        self._talks: dict[str, list[Message]] = {}
        self._file = Transcript(self.transcript)

    def _connect(self) -> Endpoint:
        return endpoints.connect(
            self.provider, self.model, url=self.url, key_variable=self.key_variable, seconds=self.timeout,
            retries=self.retries, tool=prompt.proposal_tool() if self.tools else None,
        )

    def beside(self, ledger: str) -> None:
        """Keep the transcript beside the ledger of that path, unless a place was named."""
        if not self.transcript:
            self._file = Transcript(f"{os.path.splitext(ledger)[0]}.llm.jsonl")

    def propose(self, observation: Observation) -> Proposal | None:
        """The model's next proposal; None when it keeps the region, the budget is used up, or it cannot answer.

        Raises EndpointError when the endpoint fails for good.
        """
        talk = self._talks.get(observation.identity)
        if talk is None:
            talk = self._talks[observation.identity] = [_user(prompt.first_message(observation))]
            self._file.write("region", observation.name, identity=observation.identity, model=self.model,
                             provider=self.provider, system=prompt.SYSTEM, message=talk[0]["content"])
        elif talk[-1]["role"] != "user":
            return None  # the last proposal has no verdict yet
        for turn in range(2):
            reply = self._ask(observation, talk)
            if reply is None:
                talk.append(_assistant(""))
                return None
            try:
                proposal = answer.read(reply, observation.level)
            except answer.AnswerError as fault:
                if turn:
                    break
                talk += [_assistant(reply.text or "(nothing)"), _user(prompt.repair_message(str(fault)))]
                self._file.write("malformed", observation.name, fault=str(fault))
                continue
            talk.append(_assistant(prompt.spoken(proposal, reply.text, reply.calls) or "(nothing)"))
            return None if proposal.kind == "keep" else proposal
        self._file.write("given up", observation.name, reason="two malformed answers in a row")
        talk.append(_assistant(""))
        return None

    def _ask(self, observation: Observation, talk: list[Message]) -> endpoints.Reply | None:
        """The model's answer to what was said last; None when the budget does not reach for it."""
        said = prompt.SYSTEM + "".join(message["content"] for message in talk)
        room = self.spending.room(said, self.answer_tokens)
        if not room:
            self._file.write("budget", observation.name, tokens=self.spending.tokens, dollars=self.spending.dollars)
            return None
        if self._endpoint is None:
            self._endpoint = self._connect()
        try:
            reply = endpoints.ask_again(self._endpoint, prompt.SYSTEM, talk, room)
        except endpoints.EndpointError as error:
            self._file.write("failed", observation.name, error=error.message)
            raise
        spent, made = self.spending.add(said, reply)
        self._file.write("answer", observation.name, text=reply.text, calls=list(reply.calls), stop=reply.stop,
                         input_tokens=spent, output_tokens=made, dollars=round(self.spending.dollars, 6))
        return reply

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        """A rejection goes back to the model the next time it is asked."""
        told = verdict.to_json()
        self._file.write("verdict", observation.name, verdict=told)
        talk = self._talks.get(observation.identity)
        if talk and not verdict.accepted:
            talk.append(_user(prompt.verdict_message(told)))

    def close(self) -> None:
        """End the connection."""
        if self._endpoint is not None:
            self._endpoint.close()
            self._endpoint = None


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}
