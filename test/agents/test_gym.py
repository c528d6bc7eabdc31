"""The Gymnasium environment: gymnasium's own checker, random actions, and what is rewarded."""
from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from kc.agents.gym import KNOBS, PENALTY, RegionEnv, action_of, reward_of
from kc.agents.protocol import Proposal, Verdict
from kc.errors import InputError

DOT = """func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""
NEGATE = """func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.negate %x : tensor<64xf32>
  %1 = stablehlo.negate %0 : tensor<64xf32>
  return %1 : tensor<64xf32>
}
"""


class Judge:
    """A judge that keeps what it was asked and says the same to all."""

    def __init__(self, verdict: Verdict):
        self.verdict, self.asked = verdict, []  # type: ignore[var-annotated]

    def __call__(self, original: str, proposal: Proposal, **options: Any) -> Verdict:
        self.asked.append((original, proposal, options))
        return self.verdict


@pytest.mark.parametrize("actions", ["knobs", "proposals"])
@pytest.mark.filterwarnings("ignore:.*")  # gymnasium's opinions on spaces without an upper bound
def test_checker(actions: str) -> None:
    judge = Judge(Verdict(True, timing={"speedup": 2.0}))
    level = "linalg" if actions == "knobs" else "stablehlo"
    env = RegionEnv([DOT], level=level, actions=actions, judge=judge, render_mode="ansi")
    check_env(env)
    assert bool(judge.asked) == (actions == "knobs")  # random text is no proposal, and is not judged


def test_random_actions() -> None:
    judge = Judge(Verdict(True, timing={"speedup": 2.0}))
    env = RegionEnv([DOT, NEGATE], actions="knobs", attempts=3, judge=judge)
    observation, info = env.reset(seed=5)
    assert env.observation_space.contains(observation)
    assert info["observation"]["ir"] and info["knobs"]
    env.action_space.seed(5)
    for number in range(1, 4):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(observation) and observation["features"][-1] == number
        assert reward == pytest.approx(math.log(2)) and not terminated and truncated == (number == 3)
    assert len(info["observation"]["attempts"]) == 3
    original, proposal, options = judge.asked[0]
    assert "@main" in original and options["timing"] and options["level"] == "linalg"
    assert proposal.kind == "schedule" and set(proposal.knobs) == set(info["knobs"])
    assert all(value in info["knobs"][name] for name, value in proposal.knobs.items())


def test_same_seed_same_episode() -> None:
    judge = Judge(Verdict(True))
    envs = [RegionEnv([DOT, NEGATE], level="stablehlo", actions="proposals", judge=judge) for _ in range(2)]
    regions = [[env.reset(seed=seed)[1]["number"] for seed in range(12)] for env in envs]
    assert regions[0] == regions[1] and len(set(regions[0])) == 2
    assert envs[0].reset(options={"region": 1})[1]["number"] == 1


def test_text_actions_are_judged() -> None:
    """Real gates: garbage, a wrong rewrite, a right one (too small to be measured faster, perhaps), and keeping."""
    env = RegionEnv([NEGATE], level="stablehlo", actions="proposals", attempts=9, render_mode="ansi")
    _, info = env.reset(seed=1)
    text = info["observation"]["ir"]
    _, reward, *_, info = env.step("{")
    assert reward == PENALTY and info["verdict"]["reason"] == "parse.message"
    wrong = text.replace("stablehlo.negate %0", "stablehlo.abs %0")
    _, reward, *_, info = env.step(action_of(Proposal("replace_ir", ir=wrong)))
    assert reward == PENALTY and info["verdict"]["gate"] == "numeric"
    assert "numeric." in str(env.render())
    _, reward, terminated, truncated, info = env.step(action_of(Proposal("keep", rationale="é")))
    assert (reward, terminated, truncated) == (0.0, True, False)


def test_knobs_are_judged() -> None:
    """Real gates: a random schedule is legal and right or not, and is measured if it is."""
    env = RegionEnv([DOT], actions="knobs", attempts=1)
    env.reset(seed=2)
    env.action_space.seed(2)
    _, reward, _, truncated, info = env.step(env.action_space.sample())
    verdict = info["verdict"]
    assert truncated and math.isfinite(reward)
    assert verdict["accepted"] or verdict["gate"] in ("parse", "timing"), verdict
    assert (verdict["timing"] is None) == (reward == PENALTY), (reward, verdict)


def test_rewards() -> None:
    def rejected(reason: str, **timing: Any) -> Verdict:
        return Verdict(False, "timing", reason, timing=timing or None)

    assert reward_of(Verdict(True, timing={"speedup": 4.0})) == pytest.approx(math.log(4))
    assert reward_of(rejected("timing.slower", speedup=0.5)) == pytest.approx(-math.log(2))
    assert reward_of(rejected("timing.uncertain", speedup=1.5)) == 0.0
    assert reward_of(rejected("timing.results")) == PENALTY  # a cheat pays nothing
    assert reward_of(rejected("timing.impossible", speedup=100.0), -3.0) == -3.0
    assert reward_of(Verdict(False, "race", "race.conflict")) == PENALTY


def test_made_by_name() -> None:
    env = gymnasium.make("kc/Region-v0", programs=[DOT], disable_env_checker=True)
    assert env.action_space.shape == (KNOBS,)
    env.close()


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="actions are knobs or proposals"):
        RegionEnv([DOT], actions="guesses")
    with pytest.raises(InputError, match="level 'linalg'"):
        RegionEnv([DOT], level="stablehlo")
    with pytest.raises(InputError, match="no region at level 'linalg'"):
        RegionEnv([])


def test_without_the_extra() -> None:
    code = "import sys; sys.modules['gymnasium'] = None\nimport kc.agents.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'kc[gym]'" in done.stderr
