"""Registry ↔ file ↔ lit test ↔ invalid lit test ↔ docs: forgetting one of them when a pass is added is told here."""
from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import pytest

from kc import registry
from kc.errors import InputError, KcError
from kc.levels import LEVELS
from kc.pass_base import Pass, PassContext, make_pass
from kc.passes import REGISTRY
from kc.pipeline_text import parse_elements

ROOT = Path(__file__).resolve().parents[2]


def file_stems(name: str, folder: str) -> set[str]:
    """File names that a pass may have: its name, where words that repeat the folder may be left out at the front."""
    words = name.split("-")
    stems = {"_".join(words)}
    while len(words) > 1 and words[0] in ("kc", "convert", folder):
        words = words[1:]
        stems.add("_".join(words))
    return stems


def problems_of(name: str, path: str, docs: str, lit_files: set[str]) -> list[str]:
    """Everything that is missing about one registered pass."""
    module, _, _ = path.partition(":")
    _, _, folder, stem = ("kc.passes.?.?" if module.count(".") != 3 else module).split(".")
    if folder == "?":
        return [f"{module} is not kc.passes.<folder>.<file>"]
    try:
        cls = registry.find_pass(name)
    except Exception as error:
        return [f"cannot be loaded: {error}"]
    assert cls is not None
    found = []
    if stem not in file_stems(name, folder):
        found.append(f"file {folder}/{stem}.py should be {folder}/{'_'.join(name.split('-')[1:])}.py")
    if not inspect.getdoc(cls) or cls.__doc__ == Pass.__doc__:
        found.append("has no docstring")
    elif "%" not in (cls.__doc__ or ""):
        found.append("docstring shows no IR before and after")
    if not dataclasses.is_dataclass(cls) or not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        found.append("is not a frozen dataclass")
    for level in cls.level if isinstance(cls.level, tuple) else (cls.level,):
        if level not in LEVELS:
            found.append(f"level '{level}' is none of {', '.join(LEVELS)}")
    names = {name, name.removeprefix("kc-"), stem.replace("_", "-")}
    for suffix in ("", "-invalid"):
        if not any(f"{n}{suffix}.mlir" in lit_files for n in names):
            found.append(f"no lit file test/**/{name.removeprefix('kc-')}{suffix}.mlir")
    if f"`{name}`" not in docs:
        found.append("not in docs/passes.md: run python -m kc.tools.docs_passes")
    try:
        text = cls().spec()
        (leaf,) = parse_elements(text)
        if make_pass(cls, text, leaf) != cls():  # type: ignore[arg-type]
            found.append(f"'{text}' does not parse back to the pass with its defaults")
    except (TypeError, KcError) as error:
        found.append(f"its default form does not parse: {error}")
    return found


def test_every_pass_has_all_its_parts() -> None:
    page = ROOT / "docs" / "passes.md"
    docs = page.read_text() if page.exists() else ""
    lit_files = {p.name for p in (ROOT / "test").rglob("*.mlir")}
    problems = []
    for name, path in REGISTRY.items():
        problems += [f"{name}: {problem}" for problem in problems_of(name, path, docs, lit_files)]
    for file in sorted((ROOT / "passes").glob("*/*.py")):
        module = f"kc.passes.{file.parent.name}.{file.stem}"
        if not file.name.startswith("_") and not any(p.startswith(module + ":") for p in REGISTRY.values()):
            problems.append(f"passes/{file.parent.name}/{file.name}: no pass of it is registered")
    assert not problems, f"{len(problems)} things are missing:\n" + "\n".join(problems)


def test_registry_is_alphabetical() -> None:
    assert list(REGISTRY) == sorted(REGISTRY)


def test_native_names_are_passes_of_this_mlir() -> None:
    from kc.bindings import ir, passmanager
    from kc.native_passes import NATIVE_PASSES

    context, wrong = ir.Context(), []
    for name in NATIVE_PASSES:
        try:
            passmanager.PassManager("any", context=context).add(name)
        except ValueError as error:
            if "does not refer to a registered pass" in str(error):
                wrong.append(name)
    assert not wrong and len(NATIVE_PASSES) > 300
    assert {"canonicalize", "cse", "one-shot-bufferize", "stablehlo-legalize-to-linalg"} <= set(NATIVE_PASSES)
    assert not set(NATIVE_PASSES) & set(REGISTRY), "a pass of kc hides a native one"


@dataclasses.dataclass(frozen=True)
class Unnamed(Pass):
    def run(self, op: object, ctx: PassContext) -> None:  # type: ignore[override]
        return


def test_register_refuses_bad_names() -> None:
    with pytest.raises(InputError, match="has no name"):
        registry.register(Unnamed)
    taken = next(iter(REGISTRY))
    with pytest.raises(InputError, match=f"'{taken}' belongs to a pass of kc"):
        registry.register(type("Thief", (Unnamed,), {"name": taken}))
    first = type("First", (Unnamed,), {"name": "test-registry-twice"})
    registry.register(first)
    registry.register(first)
    with pytest.raises(InputError, match="two passes are named 'test-registry-twice'"):
        registry.register(type("Second", (Unnamed,), {"name": "test-registry-twice"}))


def test_register_refuses_options_without_dataclass() -> None:
    class Forgot(Pass):
        name = "test-registry-forgot"
        size: int = 3

    with pytest.raises(InputError, match=r"has options \(size\) and is no dataclass: write @dataclasses.dataclass"):
        registry.register(Forgot)


def test_load_pass_file_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        registry.load_pass_file(str(tmp_path / "none.py"))
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n")
    with pytest.raises(InputError, match="holds no pass"):
        registry.load_pass_file(str(empty))
    broken = tmp_path / "broken.py"
    broken.write_text("raise ValueError('not today')\n")
    with pytest.raises(InputError, match="raised ValueError while it was loaded: not today"):
        registry.load_pass_file(str(broken))


def test_entry_point_is_found_when_a_name_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with an entry point in the group kc.passes, as pip would lay it out."""
    (tmp_path / "kc_test_plugin.py").write_text(
        "import kc\n\n\n"
        "@kc.rewrite('arith.muli', level='linalg', name='test-plugin-pass')\n"
        "def plugin(op, rewriter):\n    '''Nothing.'''\n    return False\n\n\n"
        "Plugin = plugin.pass_class\n"
    )
    info = tmp_path / "kc_test_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kc-test-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kc.passes]\ntest-plugin-pass = kc_test_plugin:Plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_entry_points", None)
    from kc.context import make_context, parse_module
    from kc.pass_manager import PassManager

    assert registry.find_pass("test-plugin-pass") is None
    context = make_context()
    manager = PassManager.parse("builtin.module(func.func(cse,test-plugin-pass))", context)
    manager.run(parse_module("func.func @f() { return }", context))
    assert registry.find_pass("test-plugin-pass") is not None
