"""Artifacts: written whole or not at all, loaded without the compiler, damage noticed."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import argument, compile_c, entry, result

from kc import artifact
from kc.errors import InputError
from kc.runtime import LoadError, Program, container, load

SOURCE = """
void kc_entry_main(void **args) {
  D1 *x = args[0], *w = args[1]; int64_t n = x->size[0]; float *p = _mlir_memref_to_llvm_alloc(4 * n);
  for (int64_t i = 0; i < n; i++) p[i] = ((float *)x->data)[i] + ((float *)w->data)[i];
  give1(args[2], p, n);
}
"""
WEIGHTS = np.arange(300, dtype=np.float32)
MANIFEST: dict[str, Any] = {
    "version": 1, "target": "cpu", "triple": "x86_64-unknown-linux-gnu", "objects": ["main.o"],
    "entries": {
        "main": entry([argument("x", "f32", (300,)), {**argument("w", "f32", (300,)), "kind": "param"}], [result()])
    },
    "params": [{"file": "params/0.bin", "dtype": "f32", "shape": [300]}],
}  # fmt: skip


@pytest.fixture(scope="module")
def files() -> dict[str, Any]:
    return {"main.o": compile_c(SOURCE), "params/0.bin": WEIGHTS, "note.txt": "äöü".encode()}


@pytest.fixture
def saved(tmp_path: Path, files: dict[str, Any]) -> Path:
    path = tmp_path / "model.kca"
    artifact.save(path, MANIFEST, files)
    return path


def test_round_trip(saved: Path) -> None:
    program = load(saved)
    x = np.ones(300, np.float32)
    np.testing.assert_array_equal(program(x)[0], x + WEIGHTS)
    assert program.manifest == MANIFEST
    assert bytes(program.files["note.txt"]).decode() == "äöü"  # type: ignore[arg-type]
    assert [path.name for path in saved.parent.iterdir()] == ["model.kca"]
    assert saved.stat().st_mode & 0o777 == 0o666 & ~artifact._umask()
    # A file that is saved again is loaded again: views into the mapped file are as good as bytes.
    again = saved.with_name("again.kca")
    artifact.save(again, program.manifest, program.files)
    assert again.read_bytes() == saved.read_bytes(), "the same program gives the same bytes"
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("manifest.json")) == MANIFEST


def test_members_are_aligned(saved: Path) -> None:
    _, members = container.read(saved)
    whole = saved.read_bytes()
    for data in members.values():
        address = np.frombuffer(data, np.uint8).__array_interface__["data"][0]
        assert address % container.ALIGNMENT == 0
        assert bytes(data) in whole


def test_saving_over_a_file_replaces_it(saved: Path, files: dict[str, Any]) -> None:
    program = load(saved)  # has the old file mapped
    artifact.save(saved, {**MANIFEST, "stages": ["new"]}, files)
    assert program(np.zeros(300, np.float32))[0].tolist() == WEIGHTS.tolist()
    assert load(saved).manifest["stages"] == ["new"]


LOADER = """
import sys
for name in {blocked!r}:
    sys.modules[name] = None  # importing it raises ImportError
import numpy as np
import kc.runtime
(y,) = kc.runtime.load({path!r})(np.ones(300, np.float32))
assert y[:3].tolist() == [1, 2, 3], y
heavy = [name for name in sys.modules if sys.modules[name] is not None
         and name.split(".")[0] in ("torch_mlir", "mlir", "llvmlite", "torch", "jax", "jaxlib")]
assert heavy == [], heavy
foreign = [name for name in sys.modules if name.startswith("kc.") and not name.startswith("kc.runtime")
           and name != "kc.lazy"]
assert foreign == [], foreign
print("ran")
"""


@pytest.mark.parametrize("blocked", [(), ("torch_mlir", "llvmlite", "torch", "jax", "ml_dtypes")])
def test_loading_imports_no_compiler(saved: Path, blocked: tuple[str, ...]) -> None:
    code = LOADER.format(path=str(saved), blocked=blocked)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_every_truncation_is_noticed(saved: Path) -> None:
    data = saved.read_bytes()
    broken = saved.with_name("broken.kca")
    for size in [*range(0, len(data), 37), len(data) - 1]:
        broken.write_bytes(data[:size])
        with pytest.raises(LoadError, match=re.escape(f"'{broken}'")):
            load(broken)


def test_changed_bytes_are_noticed(saved: Path) -> None:
    """Each byte of the members' contents is under a checksum."""
    data = saved.read_bytes()
    _, members = container.read(saved)
    broken = saved.with_name("broken.kca")
    for contents in members.values():
        at = data.index(bytes(contents))
        for offset in range(0, len(contents), max(1, len(contents) // 5)):
            changed = bytearray(data)
            changed[at + offset] ^= 0x10
            broken.write_bytes(changed)
            with pytest.raises(LoadError, match="damaged: the checksum of"):
                load(broken)


def test_large_members_are_not_read_at_load(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is their damage noticed then."""
    data = bytearray(saved.read_bytes())
    data[data.index(WEIGHTS.tobytes()) + 4 * 299 + 3] ^= 0x80  # the sign of the last weight
    broken = saved.with_name("broken.kca")
    broken.write_bytes(data)
    with pytest.raises(LoadError, match=r"checksum of 'params/0\.bin'"):
        load(broken)
    monkeypatch.setattr(container, "CHECKED", 0)
    assert load(broken)(np.zeros(300, np.float32))[0][-1] == -299


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.kca")
    plain = tmp_path / "plain.zip"
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("a.txt", "text")
    with pytest.raises(LoadError, match=r"no kc artifact: it has no manifest\.json"):
        load(plain)
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", "{}" * 100)
    with pytest.raises(LoadError, match="is compressed"):
        load(plain)
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("manifest.json", "{")
    with pytest.raises(LoadError, match="is no JSON"):
        load(plain)


def test_newer_version(tmp_path: Path, files: dict[str, Any]) -> None:
    artifact.save(tmp_path / "new.kca", {**MANIFEST, "version": 2}, files)
    with pytest.raises(LoadError, match="manifest version 2; this runtime reads version 1"):
        load(tmp_path / "new.kca")


def test_unwritable_paths(tmp_path: Path, files: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "no" / "such" / "model.kca"
    message = f"cannot write the artifact '{missing}': No such file or directory"
    with pytest.raises(InputError, match=re.escape(message)):
        artifact.save(missing, MANIFEST, files)
    with pytest.raises(InputError, match="is a directory"):
        artifact.save(tmp_path, MANIFEST, files)
    with pytest.raises(InputError, match="cannot write the artifact"):
        artifact.save("/proc/model.kca", MANIFEST, files)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="No space left on device"):
        artifact.save(tmp_path / "model.kca", MANIFEST, files)
    assert list(tmp_path.iterdir()) == [], "nothing half-written is left"


def test_failure_while_writing_leaves_the_old_file(saved: Path, files: dict[str, Any]) -> None:
    before = saved.read_bytes()
    with pytest.raises(TypeError):
        artifact.save(saved, MANIFEST, {**files, "note.txt": object()})
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["model.kca"]


def test_names_are_checked(tmp_path: Path, files: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"files that are not there: params/0\.bin"):
        artifact.save(tmp_path / "a", MANIFEST, {"main.o": b""})
    for name in ("../up", "/absolute", "manifest.json", ""):
        with pytest.raises(ValueError, match="no name for a file"):
            artifact.save(tmp_path / "a", MANIFEST, {**files, name: b""})


def test_program_keeps_the_file_mapped(saved: Path) -> None:
    program = load(saved)
    saved.unlink()
    assert isinstance(program, Program)
    np.testing.assert_array_equal(program(np.zeros(300, np.float32))[0], WEIGHTS)


def test_what_is_no_regular_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """As root, ``-o /dev/null`` would else leave a file in the place of the device."""
    import stat
    import threading

    from kc import artifact
    from kc.tools.commands import _common

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    artifact.save(tmp_path / "file.kca", {"objects": []}, {"a": b"data"})
    for write, wanted in (
        (lambda: artifact.save(pipe, {"objects": []}, {"a": b"data"}), (tmp_path / "file.kca").read_bytes()),
        (lambda: _common.write(str(pipe), "text"), b"text"),
    ):
        got: list[bytes] = []
        reader = threading.Thread(target=lambda got=got: got.append(pipe.read_bytes()))
        reader.start()
        write()
        reader.join(10)
        assert got == [wanted] and stat.S_ISFIFO(pipe.stat().st_mode)
