"""Contexts that are handed from one compilation to the next: when they are, and that nothing shows through."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kc
from kc import context_pool, pass_manager
from kc.context import make_context, parse_module
from kc.errors import InputError, KcError

ADD = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
SINE = ADD.replace("stablehlo.add %a, %a", "stablehlo.sine %a")
X = np.array([0.5, -2.0, np.inf, 0.0], np.float32)


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    context_pool._start_anew()
    yield
    context_pool._start_anew()


def kept() -> list[Any]:
    return [entry.context for entry in context_pool._free]


def test_the_next_compilation_gets_the_context() -> None:
    assert np.array_equal(kc.compile(ADD)(X)[0], X + X)
    (first,) = kept()
    program = kc.compile(SINE)
    assert kept() == [first] and context_pool._free[0].uses == 2
    with np.errstate(invalid="ignore"):
        assert np.allclose(program(X)[0], np.sin(X), equal_nan=True)
    assert "stablehlo.sine" in program.stage("stablehlo") and kept() == [first]


def test_same_code_as_from_a_new_context() -> None:
    """With the dialects, constants and pass managers of other programs around."""
    new = kc.compile(SINE)
    for source in (ADD, SINE.replace("4x", "5x"), ADD.replace("f32", "i8")):
        kc.compile(source)
    again = kc.compile(SINE)
    assert context_pool._free[0].uses == 5
    assert new.manifest == again.manifest and new.files == again.files


def test_an_error_ends_a_context() -> None:
    kc.compile(ADD)
    for bad in (ADD.replace("add %a, %a", "add %a, %b"), ADD.replace("@main", "@other")):
        with pytest.raises(KcError):
            kc.compile(bad)
        assert kept() == []
        kc.compile(ADD)


def test_messages_show_their_own_source() -> None:
    kc.compile(ADD)
    with pytest.raises(KcError) as caught:
        kc.compile("// a second program\n" + ADD.replace("add %a, %a", "add %a, %b"))
    assert "-:4:" in str(caught.value)
    (text,) = set(caught.value.sources.values())  # type: ignore[attr-defined]
    assert text.startswith("// a second program")


def test_who_looks_in_gets_a_context_of_his_own() -> None:
    seen: list[Any] = []
    kc.compile(ADD, agents=[lambda point, module: seen.append(module)])
    kc.compile(ADD, shapes="specialise")
    kc.compile(parse_module(ADD, make_context()))
    assert kept() == [] and seen


def test_a_module_that_is_still_held_keeps_its_context() -> None:
    with context_pool.kept_context(ADD) as context:
        module = parse_module(ADD, context)
    assert kept() == [] and context not in pass_manager._kept and "stablehlo.add" in str(module)


def test_resources_and_long_texts_are_not_taken() -> None:
    """A resource is found by name in a context: another program's would be taken for a missing one."""
    missing = ADD.replace("%a, %a", "%a, %c").replace(
        "{\n", "{\n  %c = stablehlo.constant dense_resource<w> : tensor<4xf32>\n", 1
    )
    given = missing + '{-# dialect_resources: { builtin: { w: "0x040000000000803F0000004000004040000080BF" } } #-}'
    assert np.array_equal(kc.compile(given)(X)[0], X + np.array([1, 2, 3, -1], np.float32))
    with pytest.raises(InputError, match=r"'stablehlo\.constant' has no contents"):
        kc.compile(missing)
    assert not context_pool.fits(ADD + "//" + "x" * context_pool._LONGEST) and kept() == []
    assert not context_pool.fits("main.mlir") and not context_pool.fits(ADD.encode())


def test_parameters_end_a_context() -> None:
    from kc.params import ParamTable

    with context_pool.kept_context(ADD) as context:
        ParamTable.of(context).add(X)
    assert kept() == []


def test_a_pass_registered_in_between_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's pass may take the name of one of MLIR's, which kc's pipelines then mean too."""
    from typing import ClassVar

    from kc import registry
    from kc.pass_base import Pass

    ran: list[str] = []

    class Instead(Pass):
        name: ClassVar[str] = "cse"
        anchor: ClassVar[str] = "any"

        def run(self, op: Any, ctx: Any) -> None:
            ran.append(op.name)

    kc.compile(ADD)
    monkeypatch.setattr(registry, "_user", {})
    registry.register(Instead)
    kc.compile(ADD)
    assert ran and context_pool._free[0].uses == 2


def test_a_context_serves_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_pool, "_USES", 2)
    kc.compile(ADD)
    first = kept()
    kc.compile(ADD)
    assert first and kept() == []
    with context_pool.kept_context(ADD), context_pool.kept_context(ADD), context_pool.kept_context(ADD):
        pass
    assert len(kept()) == context_pool._FREE


def test_threads_never_share_one() -> None:
    inside = threading.Barrier(2)
    contexts: list[Any] = []

    def work() -> None:
        with context_pool.kept_context(ADD) as context:
            contexts.append(context)
            inside.wait(timeout=20)

    kc.compile(ADD)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(contexts) == 2 and contexts[0] is not contexts[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_a_forked_process_starts_without_any() -> None:
    kc.compile(ADD)
    assert kept()
    child = os.fork()
    if child == 0:
        os._exit(0 if not kept() else 1)
    assert os.waitpid(child, 0)[1] == 0 and kept()
