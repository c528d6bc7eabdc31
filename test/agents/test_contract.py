"""The contract in a region's IR, and what follows from it."""

from __future__ import annotations

import pytest

from kc.agents.contract import ArgumentContract, Contract
from kc.agents.facts import parse_fact
from kc.context import make_context, parse_module
from kc.errors import InputError

TEXT = """
func.func @main(%x: memref<?x?xf32> {kc.dims = ["M", "K"], llvm.noalias},
                %i: memref<?xi32> {kc.dims = ["M"], kc.range = array<i64: 0, 31>},
                %y: memref<?xf32> {kc.dims = ["M"], kc.out, kc.may_alias = 3 : i64},
                %z: memref<?xf32> {kc.inout})
    attributes {kc.allow = ["afn", "reassoc"], kc.facts = ["K % 8 == 0", "align(arg0,64)", "unique(arg1)"],
                kc.sizes = {M = array<i64: 1, 100>}} {
  return
}
"""


def contract_of(text: str) -> Contract:
    module = parse_module(text, make_context())
    return Contract.of(module.body.operations[0])


def test_what_is_written_is_read():
    found = contract_of(TEXT)
    assert found.allow == {"afn", "reassoc"}
    assert found.facts == ("K % 8 == 0", "align(arg0,64)", "unique(arg1)")
    assert dict(found.sizes) == {"M": (1, 100)}
    assert found.size_range("M") == (1, 100) and found.size_range("K") == (0, 64)
    assert found.arguments == (
        ArgumentContract(("M", "K")),
        ArgumentContract(("M",), (0, 31)),
        ArgumentContract(("M",), None, True, False, 3),
        ArgumentContract(inout=True),
    )


def test_writing_it_again_changes_nothing_and_keeps_other_attributes():
    module = parse_module(TEXT, make_context())
    before = str(module)
    function = module.body.operations[0]
    Contract.of(function).write(function)
    assert str(module) == before and "llvm.noalias" in before
    Contract(arguments=(ArgumentContract(),) * 4).write(function)
    assert "kc." not in str(module) and "llvm.noalias" in str(module)


def test_json_round_trip():
    found = contract_of(TEXT)
    assert Contract.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    ("assumption", "granted"),
    [
        ("reassoc", True),
        ("approx", True),
        ("afn", True),
        ("arcp", True),
        ("contract", False),
        ("nnan", False),
        ("fast", False),
        ("K % 8 == 0", True),
        ("K%4==0", True),
        ("K % 16 == 0", False),
        ("M % 2 == 0", False),
        ("K % 4 == 1", False),
        ("align(arg0, 16)", True),
        ("align(arg0,128)", False),
        ("align(arg1,4)", False),
        ("unique(arg1)", True),
        ("unique(arg0)", False),
        ("M >= 1", True),
        ("M <= 100", True),
        ("M < 100", False),
        ("M == 1", False),
        ("K <= 64", True),
        ("K >= 1", False),
        ("N <= 5", False),
        ("nonnegative(arg1)", True),
        ("positive(arg1)", False),
        ("noalias(arg0,arg3)", True),
        ("noalias(arg2,arg3)", False),
        ("no such thing", False),
        ("reassoc ", False),
    ],
)
def test_grants(assumption, granted):
    assert contract_of(TEXT).grants(assumption) is granted


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ("{kc.range = array<i64: 3>}", "pair"),
        ("{kc.range = array<i64: 3, 1>}", "empty"),
        ("{kc.dims = [1]}", "list of strings"),
        ("{kc.may_alias = 7 : i64}", "names argument 7"),
    ],
)
def test_malformed_attributes_are_named(attribute, words):
    with pytest.raises(InputError, match=words):
        contract_of(f"func.func @main(%x: memref<?xi32> {attribute}) {{ return }}")


def test_facts_hold_for_sizes():
    assert parse_fact("M % 4 == 1").holds({"M": 5}) and not parse_fact("M % 4 == 1").holds({"M": 4})
    assert parse_fact("M <= N").holds({"M": 2, "N": 2}) and not parse_fact("M < N").holds({"M": 2, "N": 2})
    assert parse_fact("M == 3").holds({"N": 1})  # of a dimension that is not there it says nothing
