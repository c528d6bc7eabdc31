"""lit configuration: ``lit test`` runs every .mlir file below this folder that has a RUN line."""
import os
import shutil
import sys

import lit.formats

config.name = "kc"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["unit", "integration", "Inputs", "Output"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
config.test_exec_root = os.environ.get("KC_LIT_OUTPUT") or os.path.join(os.path.dirname(__file__), "..", "build", "lit")  # noqa: F821
_bin = os.path.dirname(sys.executable)
_filecheck = os.environ.get("FILECHECK") or shutil.which("FileCheck") or os.path.join(_bin, "filecheck")
config.substitutions.append((r"\bFileCheck\b", _filecheck))  # noqa: F821
config.substitutions.append((r"\bkc-opt\b", os.path.join(_bin, "kc-opt")))  # noqa: F821
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"  # noqa: F821
