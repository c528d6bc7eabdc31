"""The parser of pipeline text against MLIR's own, and its errors."""
from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

import pytest

from kc.bindings import ir, passmanager
from kc.errors import PipelineError
from kc.pass_base import Pass, make_pass
from kc.pipeline_text import Leaf, Nest, leaves, parse_elements, parse_options, parse_pipeline

VALID = [
    "builtin.module()",
    "builtin.module(cse)",
    "any(cse)",
    " builtin.module ( cse , canonicalize { max-iterations=3 } ) ",
    "builtin.module(canonicalize,func.func(cse,canonicalize{max-iterations=3}),gpu.module(gpu.func(cse)))",
    "builtin.module(inline{op-pipelines={func.func(canonicalize,cse)} max-iterations=2})",
    "builtin.module(one-shot-bufferize{bufferize-function-boundaries unknown-type-conversion=identity-layout-map})",
    "builtin.module(\n  func.func(\n    cse\n  )\n)",
    'builtin.module(canonicalize{filter-dialects="arith,func"})',
]

INVALID = [
    ("", 0, "must be wrapped"),
    ("cse", 0, "must be wrapped"),
    ("builtin.module(cse),builtin.module(cse)", 0, "must be wrapped"),
    ("builtin.module(cse", 14, r"'\(' is never closed"),
    ("builtin.module(cse))", 19, r"'\)' closes nothing"),
    ("builtin.module(cse;cse)", 18, "expected ','"),
    ("builtin.module(cse,)", 19, "expected the name"),
    ("builtin.module(,cse)", 15, "expected the name"),
    ("builtin.module(canonicalize{a={b})", 27, r"'\{' is never closed"),
    ("builtin.module(canonicalize{a='b})", 27, r"'\{' is never closed"),
    ("builtin.module(cse{}x)", 20, "expected ','"),
    ("builtin.module(1cse)", 15, "expected the name"),
]


@pytest.mark.parametrize("text", VALID)
def test_agrees_with_mlir(text: str) -> None:
    """What the tree says in text is, to MLIR, the same pipeline as the original."""
    context = ir.Context()
    again = parse_pipeline(text).text
    assert str(passmanager.PassManager.parse(again, context)) == str(passmanager.PassManager.parse(text, context))
    assert parse_pipeline(again).text == again


@pytest.mark.parametrize(("text", "position", "message"), INVALID)
def test_errors_have_positions(text: str, position: int, message: str) -> None:
    with pytest.raises(PipelineError, match=message) as caught:
        parse_pipeline(text)
    assert caught.value.position == position


def test_tree_and_positions() -> None:
    text = "builtin.module(cse, func.func(kc-a{x={y z} q='}'}))"
    tree = parse_pipeline(text)
    assert [leaf.name for leaf in leaves(tree)] == ["cse", "kc-a"]
    nest = tree.body[1]
    assert isinstance(nest, Nest) and nest.anchor == "func.func" and text[nest.start : nest.end].endswith("}'})")
    leaf = nest.body[0]
    assert isinstance(leaf, Leaf) and leaf.options == "x={y z} q='}'"
    assert text[leaf.options_start :].startswith("x={y z}")
    found = parse_options(text, leaf.options_start, leaf.options_start + len(leaf.options))
    assert [(o.key, o.value) for o in found] == [("x", "y z"), ("q", "}")]
    assert text[found[1].value_start] == "'"


def test_caret_into_a_pipeline_of_several_lines() -> None:
    with pytest.raises(PipelineError) as caught:
        parse_pipeline("builtin.module(\n\tcse,\n\tfunc.func(cse;)\n)")
    assert str(caught.value) == "<pipeline>:3:15: error: expected ',' here\n\tfunc.func(cse;)\n\t             ^"


@dataclasses.dataclass(frozen=True)
class Everything(Pass):
    """One option of each type."""

    name: ClassVar[str] = "test-everything"
    number: int = 1
    ratio: float = 0.5
    flag: bool = False
    text: str = ""
    mode: Literal["a", "b"] = "a"
    depth: Literal[0, 1, 2] = 2
    sizes: tuple[int, ...] = ()
    names: tuple[str, ...] = ("x",)
    limit: int | None = None


@pytest.mark.parametrize(
    "value",
    [
        Everything(),
        Everything(number=-7, ratio=1e-30, flag=True, mode="b", depth=0, sizes=(1, -2, 3), names=(), limit=0),
        Everything(text="two words", names=("a", "b-c")),
        Everything(text='with "quotes" and {braces}'),
        Everything(text="it's", sizes=(5,)),
        Everything(text="a,b=(c)"),
        Everything(text="none"),
    ],
    ids=str,
)
def test_a_pass_parses_back_to_itself(value: Everything) -> None:
    text = value.spec()
    (leaf,) = parse_elements(text)
    assert isinstance(leaf, Leaf)
    assert make_pass(Everything, text, leaf) == value
    assert parse_pipeline(f"builtin.module({text})").body[0].text == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("number", "wants an integer, got nothing"),
        ("number=1.5", "wants an integer, got '1.5'"),
        ("ratio=fast", "wants a number"),
        ("flag=maybe", "wants true or false, got 'maybe'"),
        ("mode=c", "wants one of a, b, got 'c'"),
        ("sizes=1,,2", "wants a comma-separated list of an integer"),
        ("limit=few", "wants an integer or none"),
        ("nmber=1", r"no option 'nmber' \(it has number, ratio"),
        ("flag flag", "option 'flag' is given twice"),
        ("=3", "expected an option"),
        ("sizes=[1", r"'\{' is never closed"),
    ],
)
def test_wrong_options(options: str, message: str) -> None:
    text = f"test-everything{{{options}}}"
    with pytest.raises(PipelineError, match=message):
        elements = parse_elements(text)
        assert isinstance(elements[0], Leaf)
        make_pass(Everything, text, elements[0])


def test_required_option_and_check_between_options() -> None:
    @dataclasses.dataclass(frozen=True)
    class Strict(Pass):
        name: ClassVar[str] = "test-strict"
        size: int
        step: int = 1

        def __post_init__(self) -> None:
            if self.size % self.step:
                raise ValueError("size must be a multiple of step")

    def make(text: str) -> Pass:
        (leaf,) = parse_elements(text)
        assert isinstance(leaf, Leaf)
        return make_pass(Strict, text, leaf)

    assert make("test-strict{size=4 step=2}") == Strict(4, 2)
    with pytest.raises(PipelineError, match="needs the option 'size'"):
        make("test-strict{step=2}")
    with pytest.raises(PipelineError, match="size must be a multiple of step"):
        make("test-strict{size=3 step=2}")
