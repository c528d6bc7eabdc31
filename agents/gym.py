"""A Gymnasium environment: episodes are regions of programs, actions are proposals, reward is gated, measured speed-up.

    env = RegionEnv(["model.mlir"], level="linalg", actions="knobs")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

``info["observation"]`` is all that an agent is shown (``kc.agents.protocol``, as JSON), ``info["verdict"]`` what became
of the last proposal. A proposal that a gate rejects for what it is or computes gives ``penalty``; one that passes gives
the natural logarithm of its measured speed-up, negative when it is slower, and 0 when the measurement does not tell it
from 1. Needs the extra ``kc[gym]``.
"""
from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kc.agents.protocol import Observation, Proposal, ProtocolError, Verdict
from kc.agents.protocol.json_form import loads, told
from kc.errors import InputError

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise InputError(f"the environment needs an extra ({error}): pip install 'kc[gym]'") from None

#: most knobs of a schedule, and values of one, that an action can choose among
KNOBS, VALUES = 16, 32
#: characters of a proposal as text
TEXT = 1 << 16
#: figures of ``features``, in order: base-2 logarithms of these plus 1, but for ``attempts``
FEATURES = ("ops", "flops", "bytes", "roofline_ns", "arguments", "attempts")
ACTIONS = ("knobs", "proposals")
PENALTY = -1.0


class RegionEnv(gymnasium.Env[dict[str, Any], Any]):
    """``programs``: texts or paths. ``level``: where the regions stand. ``attempts``: proposals in an episode.

    ``actions``: ``knobs``, then an action is one index per knob of the region's schedule (``info["knobs"]`` names them
    and lists their values; an index counts modulo the number of values, and what is beyond the last knob does not
    matter), and regions without a schedule are left out; or ``proposals``, then it is a proposal as JSON text.
    ``judge``: in place of ``kc.agents.judge`` with the timing gate.

    Raises InputError when no program has a region of that sort.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - gymnasium's own form

    def __init__(
        self,
        programs: Sequence[str],
        level: str = "linalg",
        target: str = "cpu",
        actions: str = "knobs",
        attempts: int = 8,
        penalty: float = PENALTY,
        judge: Callable[..., Verdict] | None = None,
        render_mode: str | None = None,
    ):
        if actions not in ACTIONS:
            raise InputError(f"actions are {' or '.join(ACTIONS)}, not {actions!r}")
        if actions == "knobs" and level != "linalg":
            raise InputError("knobs are those of schedules, which kernels at level 'linalg' have")
        self.render_mode = render_mode
        self._target, self._actions, self._attempts, self._penalty = target, actions, attempts, penalty
        self._judge = judge or _judge
        self.regions = [o for program in programs for o in _regions(program, level, target)]
        self._spaces: list[Any] = [None] * len(self.regions)
        if actions == "knobs":
            from kc.agents.realize import knobs

            pairs = [(region, knobs(region.ir, target)) for region in self.regions]
            pairs = [(region, space) for region, space in pairs if space is not None and space.knobs]
            self.regions, self._spaces = [r for r, _ in pairs], [s for _, s in pairs]
        if not self.regions:
            raise InputError(f"the programs have no region at level '{level}' that actions of sort '{actions}' fit")
        self.action_space = (
            spaces.MultiDiscrete([VALUES] * KNOBS) if actions == "knobs"
            else spaces.Text(TEXT, min_length=0, charset=frozenset(map(chr, [10, *range(32, 127)])))
        )
        self.observation_space = spaces.Dict({
            "features": spaces.Box(0.0, np.inf, (len(FEATURES),), np.float32),
            "choices": spaces.MultiDiscrete([VALUES + 1] * KNOBS),
        })
        self._number = 0
        self._tried: list[dict[str, Any]] = []
        self._last: Verdict | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
        """Take up a region: a random one, or the one of number ``options["region"]``."""
        super().reset(seed=seed)
        chosen = (options or {}).get("region")
        self._number = int(self.np_random.integers(len(self.regions))) if chosen is None else int(chosen)
        self._tried, self._last = [], None
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Propose. The episode is terminated by a proposal to keep the region, truncated after ``attempts``."""
        region, proposal = self.regions[self._number], None
        try:
            proposal = self._proposal(action)
            seed = int(self.np_random.integers(1 << 62))
            verdict = self._judge(region.ir, proposal, level=region.level, target=self._target, timing=True, seed=seed)
        except ProtocolError as error:
            verdict = Verdict(False, "parse", "parse.message", str(error))
        reward = reward_of(verdict, self._penalty)
        kept = proposal is not None and proposal.kind == "keep"
        made = None if proposal is None else proposal.to_json()
        self._tried.append({"proposal": made, "verdict": verdict.to_json()})
        self._last = verdict
        truncated = not kept and len(self._tried) >= self._attempts
        return self._observation(), 0.0 if kept else reward, kept, truncated, self._info()

    def render(self) -> str | None:  # type: ignore[override]
        """The region and its last verdict in words."""
        if self.render_mode != "ansi":
            return None
        region, last = self.regions[self._number], self._last
        said = "nothing proposed" if last is None else f"{last.reason}: {last.message}".rstrip(": ")
        return f"@{region.name} ({region.kind}, {region.level}), {len(self._tried)} of {self._attempts}: {said}"

    def _proposal(self, action: Any) -> Proposal:
        """The proposal that an action stands for. Raises ProtocolError."""
        if self._actions == "proposals":
            return loads(Proposal, str(action))
        known = self._knobs()
        chosen = {name: values[int(index) % len(values)] for (name, values), index in zip(known, action, strict=False)}
        return Proposal("schedule", knobs=chosen)

    def _knobs(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Names and values of the knobs of this region's schedule, as far as actions reach."""
        space = self._spaces[self._number]
        if space is None:
            return []
        return [(name, tuple(knob.values)[:VALUES]) for name, knob in list(space.knobs.items())[:KNOBS]]

    def _observation(self) -> dict[str, Any]:
        region = self.regions[self._number]
        figures = (
            len(region.ops), region.flops or 0.0, region.bytes or 0.0, 1e3 * (region.roofline_us or 0.0),
            len(region.contract.get("arguments", ())),
        )
        features = [*(math.log2(1 + max(0.0, f)) for f in figures), float(len(self._tried))]
        choices = np.zeros(KNOBS, np.int64)
        for number, (_, values) in enumerate(self._knobs()):
            choices[number] = len(values)
        return {"features": np.array(features, np.float32), "choices": choices}

    def _info(self) -> dict[str, Any]:
        region = self.regions[self._number]
        # Anew every time: users keep what they are given.
        return copy.deepcopy({
            "region": region.name, "number": self._number, "observation": {**region.to_json(), "attempts": self._tried},
            "knobs": dict(self._knobs()), "verdict": None if self._last is None else self._last.to_json(),
        })


def reward_of(verdict: Verdict, penalty: float = PENALTY) -> float:
    """The reward for a verdict: see the module."""
    timing = verdict.timing or {}
    if verdict.accepted:
        return math.log(timing["speedup"]) if "speedup" in timing else 0.0
    if verdict.reason == "timing.slower":
        return math.log(timing["speedup"])
    if verdict.reason in ("timing.uncertain", "timing.small"):
        return 0.0
    return penalty


def _regions(program: str, level: str, target: str) -> list[Observation]:
    """The regions of a program when it stands at ``level``."""
    from kc.agents.bindings.workbench import Workbench

    bench = Workbench()
    if bench.load(program, target)["level"] != level:
        bench.step(level)
    return [Observation.from_json(bench.observe(region["name"])) for region in bench.regions()]


def _judge(*arguments: Any, **options: Any) -> Verdict:
    from kc.agents.gates.judge import judge

    return judge(*arguments, **options)


def action_of(proposal: Proposal) -> str:
    """The action (of ``actions="proposals"``) that stands for a proposal: JSON in ASCII."""
    return json.dumps(told(proposal.to_json()))


gymnasium.register(id="kc/Region-v0", entry_point="kc.agents.gym:RegionEnv")
