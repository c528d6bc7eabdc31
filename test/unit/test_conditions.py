"""Conditions on sizes: what is read, what it is worth, and what the runtime is told."""

from __future__ import annotations

import pytest

from kc import conditions
from kc.runtime import ArgumentError, LoadError
from kc.runtime.signature import read_entry


@pytest.mark.parametrize(
    ("text", "shown", "names"),
    [
        ("N % 8 == 0", "N % 8 == 0", ("N",)),
        ("d0==4*rows+1", "d0 == 4 * rows + 1", ("d0", "rows")),
        ("2 * (m + n) <= 8 * (n // 3)", "2 * (m + n) <= 8 * (n // 3)", ("m", "n")),
        ("n - (m - 1) > -3", "n - (m - 1) > -3", ("n", "m")),
    ],
)
def test_reads_and_writes(text: str, shown: str, names: tuple[str, ...]) -> None:
    found = conditions.parse(text)
    assert found is not None and str(found) == shown and found.names == names
    assert conditions.parse(str(found)) == found


@pytest.mark.parametrize(
    "text", ["align(arg0,64)", "N", "N % M == 0", "N / 2 == 1", "3 == 3", "N ** 2 == 4", "a < b < c", "N[0] == 1",
             "N == 1.5", "__import__('os') == 1", "(" * 400 + "N" + ")" * 400 + "==1", ""],
)  # fmt: skip
def test_other_texts_are_no_conditions(text: str) -> None:
    assert conditions.parse(text) is None


def test_the_runtime_evaluates_the_same() -> None:
    for text in ("N % 8 == M", "N == 4 * M - 1", "N // 3 < M + 2", "M != N"):
        found = conditions.parse(text)
        assert found is not None
        entry = {
            "args": [{"dtype": "f32", "shape": ["N", "M"]}],
            "conditions": [{"text": text, "tree": found.to_json()}],
        }
        signature = read_entry("main", entry, 0)
        for n in range(12):
            for m in range(12):
                if found.holds({"N": n, "M": m}):
                    signature.check_shapes([(n, m)])
                    continue
                with pytest.raises(ArgumentError) as error:
                    signature.check_shapes([(n, m)])
                assert text in str(error.value) and f"'N' is {n}" in str(error.value) and error.value.index == 0


def test_a_malformed_condition_in_a_manifest_is_named() -> None:
    with pytest.raises(LoadError, match=r"entry 'main'.*no condition"):
        read_entry("main", {"conditions": [{"tree": ["**", "N", 2]}]}, 0)
