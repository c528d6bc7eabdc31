"""What setuptools is told against what is on the disk."""
from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = {"kc": "compiler", **{f"kc.{name}": name for name in ("agents", "dialects", "passes", "tools")}}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def packages_on_disk() -> list[str]:
    """Every folder with Python files under the five source folders."""
    found = set()
    for package, folder in FOLDERS.items():
        for file in (ROOT / folder).rglob("*.py"):
            parts = file.parent.relative_to(ROOT / folder).parts
            found.add(".".join((package, *parts)))
    return sorted(found)


def test_every_package_is_listed(project: dict[str, Any]) -> None:
    assert project["tool"]["setuptools"]["packages"] == packages_on_disk()
    assert project["tool"]["setuptools"]["package-dir"] == FOLDERS


def test_every_package_has_an_init() -> None:
    for package in packages_on_disk():
        top = max((name for name in FOLDERS if package == name or package.startswith(f"{name}.")), key=len)
        folder = ROOT / FOLDERS[top] / package[len(top) :].strip(".").replace(".", "/")
        assert (folder / "__init__.py").exists(), f"{folder} has no __init__.py"


def test_data_files_are_listed(project: dict[str, Any]) -> None:
    """Files that are neither Python nor C++ get into the wheel only if a pattern names them."""
    patterns = project["tool"]["setuptools"]["package-data"]
    command = ["git", "ls-files", *FOLDERS.values()]
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    for line in tracked.stdout.splitlines():
        path = Path(line)
        if path.suffix in (".py", ".cpp", ".h") or path.name == "README.md":
            continue
        package = next(name for name, folder in FOLDERS.items() if folder == path.parts[0])
        inside = path.relative_to(path.parts[0])
        assert any(inside.match(pattern) for pattern in patterns.get(package, ())), f"{line} would not be shipped"


def test_licence(project: dict[str, Any]) -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text and "LLVM Exceptions to the Apache 2.0 License" in text
    assert project["project"]["license"] == "Apache-2.0 WITH LLVM-exception"
    assert project["project"]["license-files"] == ["LICENSE"]


def test_version_is_the_same_everywhere(project: dict[str, Any]) -> None:
    import kc

    assert kc.__version__ == project["project"]["version"]


def test_scripts_exist(project: dict[str, Any]) -> None:
    import importlib

    for target in project["project"]["scripts"].values():
        module, _, function = target.partition(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_interface_version_of_the_library() -> None:
    from kc.runtime.library import _FUNCTIONS, ABI_VERSION

    header = (ROOT / "compiler" / "runtime" / "src" / "kc_runtime.h").read_text()
    assert re.search(r"#define KC_ABI_VERSION (\d+)", header)[1] == str(ABI_VERSION)  # type: ignore[index]
    exported = set(re.findall(r"KC_EXPORT [\w *]*?(kc_\w+)\(", header))
    assert exported - {"kc_dlpack_capsule_destructor"} == set(_FUNCTIONS)


def test_editable_and_wheel_use_the_cmake_step(project: dict[str, Any]) -> None:
    """setuptools finds the command class although kc is not importable yet: by the package-dir table."""
    from setuptools.config.expand import resolve_class  # what setuptools itself calls

    path = project["tool"]["setuptools"]["cmdclass"]["build_py"]
    found = resolve_class(path, project["tool"]["setuptools"]["package-dir"], str(ROOT))
    from setuptools.command.build_py import build_py

    assert issubclass(found, build_py)


def test_build_without_a_compiler_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from setuptools.errors import CompileError

    from kc.tools import build_runtime

    monkeypatch.setattr(build_runtime.shutil, "which", lambda name: None)
    monkeypatch.setattr(build_runtime.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(CompileError, match="cmake is missing"):
        build_runtime.build({"kc_runtime": tmp_path})
    monkeypatch.setattr(build_runtime, "_program", lambda name: "/usr/bin/false")
    with pytest.raises(CompileError, match=r"a C\+\+17 compiler is missing"):
        build_runtime.build({"kc_runtime": tmp_path})
    monkeypatch.setattr(build_runtime.shutil, "which", lambda name: "/usr/bin/" + name)
    with pytest.raises(CompileError, match=r"/usr/bin/false -S .* failed"):
        build_runtime.build({"kc_runtime": tmp_path})


def test_ci_runs_the_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    wanted = re.search(r'grep -m 1 -F "(.+)" README\.md', script)
    assert wanted is not None
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if wanted[1] in line]
    assert lines == ["python3 -m pip install '.[test]' && pytest"]
    assert subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=False).returncode == 0
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_dev_links(tmp_path: Path) -> None:
    from kc.tools.dev_links import make_links

    for folder in ("compiler/runtime", "dialects", "passes", "agents", "tools"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "compiler" / "__init__.py").write_text("marker = 'linked'\n")
    (tmp_path / "compiler" / "gone.py").write_text("")
    make_links(tmp_path)
    (tmp_path / "compiler" / "gone.py").unlink()
    links = make_links(tmp_path)
    assert sorted(path.name for path in (links / "kc").iterdir()) == [
        "__init__.py", "agents", "dialects", "passes", "runtime", "tools",
    ]  # fmt: skip
    code = "import kc, kc.runtime, kc.passes; print(kc.marker)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(links)!r}); {code}"], stdout=subprocess.PIPE,
        check=True,
    )
    assert done.stdout == b"linked\n"
