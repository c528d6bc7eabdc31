"""The protocol: round trips, its schema, and texts from strangers, which are messages or a ProtocolError."""
from __future__ import annotations

import dataclasses
import json
import math
import typing
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kc.agents import protocol
from kc.agents.protocol import Observation, Proposal, ProtocolError, Verdict, dumps, loads, schema

DOCS = Path(__file__).resolve().parents[2] / "docs" / "agents"
VALIDATOR = jsonschema.Draft202012Validator(schema.schema())

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
number = st.floats(allow_nan=False, allow_infinity=False)
integer = st.integers(-(2**63), 2**64 - 1)
plain = st.recursive(
    st.none() | st.booleans() | integer | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
things = st.dictionaries(text, plain, max_size=3)
maybe = st.none()

observations = st.builds(
    Observation, level=text, at=text, name=text, kind=text, identity=text, ir=text,
    ops=st.lists(things, max_size=2).map(tuple), target=text, limits=st.dictionaries(text, integer, max_size=2),
    contract=things, flops=maybe | number, bytes=maybe | number, roofline_us=maybe | number, default=things,
    remarks=st.lists(text, max_size=2).map(tuple), attempts=st.lists(things, max_size=2).map(tuple),
)
verdicts = st.builds(
    Verdict, accepted=st.booleans(), gate=maybe | st.sampled_from(protocol.GATES), reason=text, message=text,
    witness=maybe | things, op=maybe | text, errors=maybe | st.dictionaries(text, number, max_size=2),
    timing=maybe | things, seconds=st.dictionaries(text, number, max_size=2), runs=integer,
)


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    kind = draw(st.sampled_from(typing.get_args(protocol.Kind)))
    fields: dict[str, Any] = {
        "ir": maybe | text, "level": maybe | text, "knobs": maybe | things, "script": maybe | text,
        "source": maybe | text, "launch": maybe | things, "library": maybe | text, "parameters": maybe | things,
        "assumes": st.lists(text, max_size=2).map(tuple), "guard": maybe | text, "rationale": text,
    }
    if protocol.NEEDS[kind]:
        name = protocol.NEEDS[kind][0]
        fields[name] = things if name == "knobs" else text
    return Proposal(kind=kind, **{name: draw(strategy) for name, strategy in fields.items()})


@settings(max_examples=20, deadline=None)
@given(observations | proposals() | verdicts)
def test_round_trip(message: Any) -> None:
    cls = type(message)
    assert loads(cls, dumps(message)) == message
    assert cls.from_json(message.to_json()) == message
    assert loads(cls, dumps(message, defaults=False)) == message
    data = json.loads(dumps(message))
    VALIDATOR.validate(data)
    whole = {"$ref": f"#/$defs/{cls.__name__}", "$defs": schema.schema()["$defs"]}
    jsonschema.Draft202012Validator(whole).validate(data)


def test_numbers_that_json_does_not_have() -> None:
    witness = {"got": math.nan, "all": [-math.inf]}
    verdict = Verdict(False, "numeric", "numeric.nan", errors={"ulp": math.inf}, witness=witness)
    told = json.loads(dumps(verdict))
    assert told["errors"] == {"ulp": "Infinity"}
    assert told["witness"] == {"got": "NaN", "all": ["-Infinity"]}
    VALIDATOR.validate(told)
    again = loads(Verdict, dumps(verdict))
    assert again.errors == verdict.errors and json.loads(dumps(again)) == told
    assert repr(Verdict.from_json(verdict.to_json())) == repr(verdict)  # NaN is not equal to itself
    with pytest.raises(ProtocolError, match=r"knobs.a\[0\]: nan"):
        Proposal.from_json({"kind": "schedule", "knobs": {"a": [math.nan]}})


# ----------------------------------------------------------------------------------------------------- strangers' texts

HOSTILE = [
    "", " ", "\x00", "{", "[]", "null", "1", '"keep"', "{}", "[" * 100_000, '{"a":' * 100_000, "NaN",
    '{"kind": "keep", "version": 1e400}', '{"kind": "keep", "version": true}', '{"kind": "keep", "version": "1"}',
    '{"kind": "keep", "version": ' + "9" * 5000 + "}", '{"kind": NaN}', '{"kind": "keep", "knobs": {"a": Infinity}}',
    '{"kind": "keep", "knobs": {"a": ' + "9" * 5000 + "}}", '{"kind": "keep", "knobs": {"a": 36893488147419103232}}',
    '{"kind": "keep", "knobs": {"a": 1e999}}', '{"kind": "keep", "knobs": ' + '{"a":' * 200 + "1" + "}" * 201,
    '{"kind": "keep", "ir": "x", "ir": 3}',
    '{"kind": ["keep"]}', '{"kind": {"keep": 1}}', '{"kind": "Keep"}', '{"kind": "keep", "ir": 3}',
    '{"kind": "keep", "rationale": "\\ud800"}', '{"kind": "keep", "\\ud800": 1}',
    '{"kind": "keep", "assumes": "reassoc"}',
    '{"kind": "keep", "knobs": {"\\udfff": 1}}', '{"kind": "keep", "assumes": [1]}', '{"kind": "keep", "unknown": 1}',
    '{"kind": "replace_ir"}', '{"kind": "replace_ir", "ir": null}', '{"kind": "schedule", "source": ""}',
    '{"kind": "keep", "launch": []}', '{"kind": "' + "k" * 10_000_000 + '"}', b"\xff\xfe", b"\x00\x00\x00\x00",
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text(hostile: str | bytes) -> None:
    with pytest.raises(ProtocolError) as caught:
        loads(Proposal, hostile)
    assert len(str(caught.value)) < 1000
    str(caught.value).encode()


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60) | st.binary(max_size=60) | plain.map(json.dumps) | proposals().map(dumps).flatmap(
    lambda s: st.integers(0, max(len(s) - 1, 0)).map(lambda at: s[:at] + s[at + 1:])
))
def test_any_text(stranger: str | bytes) -> None:
    try:
        assert isinstance(loads(Proposal, stranger), Proposal)
    except ProtocolError as error:
        str(error).encode()


@settings(max_examples=50, deadline=None)
@given(proposals(), st.sampled_from([f.name for f in dataclasses.fields(Proposal)]), plain)
def test_reader_and_schema_agree(proposal: Proposal, field: str, value: Any) -> None:
    """A message with one field replaced by anything: reader and schema take the same ones."""
    data = {**json.loads(dumps(proposal)), field: value}
    valid = VALIDATOR.is_valid(data)
    try:
        Proposal.from_json(data)
    except ProtocolError:
        assert not valid or field == "version"  # 1.0 is the integer 1 for a schema
    else:
        assert valid


def test_error_names_the_field() -> None:
    for data, field in (
        ({"kind": "keep", "launch": {"grid": [1, {"x": math.nan}]}}, "launch.grid[1].x"),
        ({"kind": "keep", "assumes": ["a", 2]}, "assumes[1]"),
        ({"kind": "keep", "gaurd": "M % 2 == 0"}, "gaurd"),
    ):
        with pytest.raises(ProtocolError) as caught:
            Proposal.from_json(data)
        assert caught.value.field == field
    assert "did you mean 'guard'" in str(caught.value)


# -------------------------------------------------------------------------------------------------------- documentation


def test_every_field_is_described() -> None:
    jsonschema.Draft202012Validator.check_schema(schema.schema())
    for cls in schema.MESSAGES:
        for name, described in schema.message_schema(cls)["properties"].items():
            assert described.get("description"), f"{cls.__name__}.{name} has no comment in agents/protocol/messages.py"


def test_published_files_are_fresh() -> None:
    from kc.tools import docs_agents

    for name, wanted in docs_agents.files().items():
        stale = f"docs/agents/{name} is stale: run python -m kc.tools.docs_agents"
        assert (DOCS / name).read_text(encoding="utf-8") == wanted, stale


def test_a_text_beyond_all_measure_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r"ir: has 16,777,217 characters; the most is 16,777,216"):
        Proposal("replace_ir", ir="x" * (protocol.LONGEST + 1))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"guard": "M" * 3000}, "guard: has 3,000 characters; the most is 2,000"),
        ({"assumes": ["nnan"] * 3000}, "assumes: has 15,000 characters"),
        ({"library": "x" * 101}, "library: has 101"),
        ({"rationale": "y" * 100_001}, "rationale: has 100,001"),
        ({"parameters": {"a": [{"b": "z" * (1 << 20)}]}}, "parameters: is longer than 1,048,576"),
        ({"knobs": {str(n): n for n in range(200_000)}}, "knobs: is longer than"),
    ],
)
def test_texts_that_messages_quote_are_short(fields: dict, said: str) -> None:
    with pytest.raises(ProtocolError, match=said):
        Proposal.from_json({"kind": "library", "library": "blas", **fields})
