"""Folders for a while that do not stay behind when a process is killed.

``Folder`` is ``tempfile.TemporaryDirectory`` with a mark in it: a file on which the process holds a lock (``flock``),
which the kernel takes away when the process ends, however it ends. The first ``Folder`` of a process removes the marked
folders of this user whose lock nobody holds. A process id would not do: it means nothing in another container with the
same ``/tmp``, and is given again.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator

#: what the names of all folders begin with, and the name of the mark
PREFIX, MARK = "kc-", ".kc-owner"

_swept = False


class Folder(tempfile.TemporaryDirectory[str]):
    """A folder under the system's folder for temporary files; ``use`` is part of its name (``kc-USE-…``)."""

    def __init__(self, use: str) -> None:
        global _swept
        if not _swept:
            _swept = True
            sweep()
        super().__init__(prefix=f"{PREFIX}{use}-")
        descriptor = os.open(os.path.join(self.name, f"{MARK}.new"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._mark = os.fdopen(descriptor, "rb+")
        with contextlib.suppress(OSError):  # a file system without locks: the folder then counts as nobody's
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # under its name only when it is locked: nobody finds it in between
            os.rename(os.path.join(self.name, f"{MARK}.new"), os.path.join(self.name, MARK))

    def cleanup(self) -> None:
        """Remove the folder."""
        try:
            super().cleanup()
        finally:
            self._mark.close()


def sweep() -> list[str]:
    """Remove the folders that killed processes of this user left behind; returns their paths."""
    removed = []
    for path in _marked():
        with contextlib.suppress(OSError):
            descriptor = os.open(os.path.join(path, MARK), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
                removed.append(path)
            finally:
                os.close(descriptor)
    return removed


def _marked() -> Iterator[str]:
    """Paths of this user's folders that may have a mark."""
    try:
        with os.scandir(tempfile.gettempdir()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if (
                        entry.name.startswith(PREFIX)
                        and entry.is_dir(follow_symlinks=False)
                        and entry.stat(follow_symlinks=False).st_uid == os.getuid()
                    ):
                        yield entry.path
    except OSError:
        return
