"""The gate at level torch: original and proposal are lowered by kc's road and judged at linalg."""

from __future__ import annotations

import pytest

from kc.agents.gates.judge import judge
from kc.errors import InputError

KIND = "!torch.vtensor<[3,4],f32>"


def program(body: str, kind: str = KIND) -> str:
    return f"func.func @main(%x: {kind}, %y: {kind}) -> {kind} {{\n %one = torch.constant.int 1\n{body} }}"


ADD = program(f" %0 = torch.aten.add.Tensor %x, %y, %one : {KIND}, {KIND}, !torch.int -> {KIND}\n return %0 : {KIND}\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ADD.replace("%x, %y, %one", "%y, %x, %one"), None),
        (ADD.replace("aten.add", "aten.sub"), "numeric.value"),
        (ADD.replace("[3,4]", "[4,3]"), "signature.types"),
        (ADD.replace("return", "retrun"), "parse.syntax"),
        (program(f"return %x : {KIND}\n").replace("torch.constant.int 1", 'torch.constant.str "a"'), "numeric.value"),
        (ADD.replace(" return", " %z = stablehlo.constant dense<1> : tensor<i32>\n return"), "level.op"),
    ],
)
def test_verdicts(text: str, reason: str | None) -> None:
    verdict = judge(ADD, {"kind": "replace_ir", "ir": text}, level="torch", seed=1)
    assert verdict.accepted == (reason is None), verdict
    assert reason is None or verdict.reason.partition(".")[0] == reason.partition(".")[0], verdict


def test_original_that_has_no_road() -> None:
    with pytest.raises(InputError, match="cannot be lowered to level 'linalg'"):
        judge("func.func @main(%x: !torch.int) -> !torch.int { return %x : !torch.int", {"kind": "keep"}, level="torch")


def test_stranger_below_torch_is_no_friend() -> None:
    """IR of linalg that an agent sends for a torch region is looked at as strictly as any."""
    text = (
        "func.func @main(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {\n"
        "  %0 = builtin.unrealized_conversion_cast %x : tensor<3x4xf32> to tensor<3x4xf32>\n"
        "  return %0 : tensor<3x4xf32>\n}"
    )
    verdict = judge(ADD, {"kind": "replace_ir", "ir": text, "level": "linalg"}, level="torch")
    assert not verdict.accepted and verdict.reason.startswith("level."), verdict
