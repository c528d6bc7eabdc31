"""lit configuration: ``lit test`` runs every .mlir file below this folder that has a RUN line.

FileCheck is the one that ``FILECHECK`` names, else LLVM's from PATH, else PyPI's ``filecheck``. ``KC_LIT_PLAIN=1``
starts every command as a process of its own (lit's ShTest) instead of forking.
"""
import glob
import importlib.util
import os
import shutil
import sys

import lit.formats

config = globals()["config"]  # put there by lit

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.dirname(sys.executable)

config.name = "kc"
config.suffixes = [".mlir"]
config.excludes = ["unit", "integration", "agents", "Inputs", "Output"]
config.test_source_root = HERE
config.test_exec_root = os.environ.get("KC_LIT_OUTPUT") or os.path.join(os.path.dirname(HERE), "build", "lit")
config.environment["PATH"] = os.pathsep.join([BIN, os.environ.get("PATH", "")])
for name in ("HOME", "PYTHONPATH", "TMPDIR", "KC_CACHE_DIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

if os.environ.get("KC_LIT_PLAIN"):
    config.test_format = lit.formats.ShTest(execute_external=False)
else:
    sys.path.insert(0, HERE)
    import kc_lit

    kc_lit.preload()
    config.test_format = kc_lit.ForkTest()

filecheck = os.environ.get("FILECHECK") or shutil.which("FileCheck") or os.path.join(BIN, "filecheck")
config.substitutions.append((r"(?<![\w/.-])FileCheck(?![\w/.-])", filecheck))


def ptxas() -> str | None:
    """ptxas from PATH or from a PyPI wheel."""
    found = shutil.which("ptxas")
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        found = found or next(iter(sorted(glob.glob(os.path.join(folder, "*", "bin", "ptxas")))), None)
    return found


if ptxas():
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas()))
for extra in ("torch", "jax", "llvmlite"):
    if importlib.util.find_spec(extra):
        config.available_features.add(extra)
if "PyPI" not in filecheck and os.path.basename(filecheck) != "filecheck":
    config.available_features.add("llvm-filecheck")
