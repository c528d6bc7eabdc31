"""Who imports whom: tools → agents → driver → core → bindings; the runtime stands alone.

The imports are read from the source, those inside functions too: a lazy import still is a dependency.
"""
from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: modules of compiler/ that are the core; everything else there is the driver (or the runtime)
CORE = {
    "answers", "bindings", "builder", "conditions", "context", "conversion", "dataflow", "diagnostics", "errors",
    "instrumentation", "kernels", "lazy", "level_invariants", "levels", "native_passes", "params", "pass_base",
    "pass_manager", "pass_plan", "pass_run", "pass_statistics", "pipeline_errors", "pipeline_text", "record",
    "registry", "reproducer", "rewrite", "schedules", "timing",
}  # fmt: skip
#: layer -> the layers that it may import
MAY_IMPORT = {
    "runtime": {"runtime"},
    "bindings": {"bindings"},
    "core": {"core", "bindings", "registry-data"},
    "passes": {"passes", "core", "bindings", "registry-data"},
    "dialects": {"dialects", "core", "bindings", "registry-data"},
    "driver": {"driver", "core", "bindings", "registry-data", "runtime"},
    "agents": {"agents", "driver", "core", "bindings", "registry-data", "runtime"},
    "tools": {"tools", "agents", "driver", "core", "bindings", "registry-data", "runtime", "passes", "dialects"},
}
#: heavy packages -> modules that may import them at the top of a file; what imports such a module does so in a function
HEAVY = {
    "torch": re.compile(r"kc\.torch|kc\.frontends\.(torch|fx)(_\w+)?"),
    "jax": re.compile(r"kc\.frontends\.jax(_\w+)?"),
    "llvmlite": re.compile(r"(?!)"),  # none
}


def modules() -> dict[str, Path]:
    """Module name -> file, for every Python file of kc."""
    found = {}
    for folder, prefix in (("compiler", "kc"), ("dialects", "kc.dialects"), ("passes", "kc.passes"),
                           ("agents", "kc.agents"), ("tools", "kc.tools")):  # fmt: skip
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = list(path.relative_to(ROOT / folder).with_suffix("").parts)
            if parts[-1] == "__init__":
                parts.pop()
            found[".".join([prefix, *parts])] = path
    return found


def layer(module: str) -> str:
    """The layer of a module of kc."""
    parts = module.split(".")
    if module in ("kc.passes", "kc.dialects"):
        return "registry-data"  # names only: the lazy registries
    if len(parts) == 1:
        return "driver"
    if parts[1] in ("passes", "dialects", "agents", "tools", "runtime", "bindings"):
        return parts[1]
    return "core" if parts[1] in CORE else "driver"


def imports(module: str, path: Path, known: dict[str, Path]) -> list[tuple[str, int, bool]]:
    """(imported module, line, whether the import is at the top of the file) of each import in a file."""
    found: list[tuple[str, int, bool]] = []
    tree = ast.parse(path.read_text())

    def visit(node: ast.AST, top: bool) -> None:
        for child in ast.iter_child_nodes(node):
            inside = top and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.Import):
                found.extend((alias.name, child.lineno, top) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
                    base = ".".join([*package[: len(package) - child.level + 1], *([base] if base else [])])
                for alias in child.names:
                    name = f"{base}.{alias.name}"
                    found.append((name if name in known else base, child.lineno, top))
            visit(child, inside)

    visit(tree, True)
    return found


def test_direction_of_imports() -> None:
    known, problems = modules(), []
    for module, path in known.items():
        if module == "kc":  # its exports are lazy
            continue
        here = layer(module)
        allowed = MAY_IMPORT.get(here, set())
        for name, line, _ in imports(module, path, known):
            if name != "kc" and not name.startswith("kc."):
                continue
            there = layer(name)
            if name == "kc" and here != "runtime":
                continue  # __version__ and lazy exports
            if there not in allowed and not (here == "registry-data" and there == here):
                problems.append(f"{path.relative_to(ROOT)}:{line}: {here} must not import {name} ({there})")
    assert not problems, "\n".join(problems)


def test_only_bindings_imports_torch_mlir() -> None:
    known, problems = modules(), []
    for module, path in known.items():
        for name, line, top in imports(module, path, known):
            package = name.partition(".")[0]
            if package == "torch_mlir" and module != "kc.bindings":
                problems.append(f"{path.relative_to(ROOT)}:{line}: only compiler/bindings.py imports torch_mlir")
            for heavy, users in HEAVY.items():
                if top and not users.fullmatch(module) and (package == heavy or users.fullmatch(name)):
                    problems.append(f"{path.relative_to(ROOT)}:{line}: import {name} inside a function, not at the top")
    assert not problems, "\n".join(problems)


def loaded_after(code: str) -> set[str]:
    """The packages in sys.modules after ``code`` ran in a fresh interpreter."""
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(shown.stdout.split())


def test_import_kc_is_light() -> None:
    loaded = loaded_after("import kc")
    heavy = {"torch_mlir", "torch", "jax", "numpy", "llvmlite", "dataclasses", "argparse", "kc.bindings"}
    assert not loaded & heavy


def test_core_does_not_import_numpy_or_dialects() -> None:
    loaded = loaded_after(
        "import kc.pass_manager, kc.context\n"
        "c = kc.context.make_context()\n"
        "m = kc.context.parse_module('func.func @f(%a: i32) -> i32 { return %a : i32 }', c)\n"
        "kc.pass_manager.run_pipeline(m, 'builtin.module(func.func(cse))')"
    )
    assert "numpy" not in loaded
    assert not {name for name in loaded if name.startswith("torch_mlir.dialects.")}


def test_numpy_builders_work_after_deferral() -> None:
    """MLIR's ir.py skips four attribute builders when numpy is hidden from it; kc has them again."""
    code = (
        "from kc.bindings import ir\n"
        "c = ir.Context()\n"
        "for name in ('F64ElementsAttr', 'I32ElementsAttr', 'I64ElementsAttr', 'IndexElementsAttr'):\n"
        "    attribute = ir.AttrBuilder.get(name)([1, 2], context=c)\n"
        "    assert '[1' in str(attribute), attribute\n"
    )
    assert "numpy" in loaded_after(code)
