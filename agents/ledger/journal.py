"""The file of a ledger: how lines are appended so that none is lost, and read so that none is believed that is broken.

- An append takes an exclusive ``flock`` on the file and is one ``write`` to a descriptor opened with ``O_APPEND``,
  followed by ``fsync`` (of the folder too when the file is new): what ``append`` returned from survives a crash.
- A write that a crash cut short leaves a last line without its newline. Readers leave it out and say so; the next
  append cuts it off under the lock (or ends it, if nothing but the newline is missing). Whole lines are never touched.
- ``rewrite`` (pruning) makes a new file beside the old one and renames it, under the lock of the old one. A writer that
  waited for that lock sees that the path now is another file, and takes that one.
"""
from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import glob
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence

from kc.agents.ledger import lines
from kc.agents.ledger.errors import LedgerError

#: what git leaves in a file when two branches appended to it: both sides are right
_CONFLICT = (b"<<<<<<< ", b"=======", b">>>>>>> ", b"||||||| ")


@dataclasses.dataclass(frozen=True)
class Problem:
    """A line that was left out: its number (from 1), why, and whether rewriting the file must keep it."""

    line: int
    message: str
    keep: bool = False
    text: bytes = b""


@dataclasses.dataclass
class Scan:
    """What was read, and up to where: ``offset`` is behind the last newline, ``count`` the number of lines before."""

    offset: int = 0
    count: int = 0
    lines: list[lines.Line] = dataclasses.field(default_factory=list)
    problems: list[Problem] = dataclasses.field(default_factory=list)
    #: identity of the file that was read: device and inode
    file: tuple[int, int] | None = None


class Journal:
    """The file at ``path``, which need not exist yet."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.path.abspath(os.fspath(path))

    def read(self, since: Scan | None = None) -> Scan:
        """The lines of the file; those behind ``since`` when the file still is the one that it was made of.

        An empty result when there is no file. Raises LedgerError when it cannot be read.
        """
        self._check()
        try:
            with open(self.path, "rb") as file:
                with contextlib.suppress(OSError):  # some network file systems have no locks; reading does no harm
                    fcntl.flock(file.fileno(), fcntl.LOCK_SH)
                return _scan(file.fileno(), since)
        except FileNotFoundError:
            return Scan()
        except OSError as error:
            raise LedgerError(f"cannot read the ledger '{self.path}': {error.strerror}") from error

    def append(self, made: Callable[[Scan], Sequence[lines.Line]], since: Scan) -> Scan:
        """Append the lines that ``made`` gives when told, under the lock, what others appended behind ``since``.

        Returns that scan, with the new lines in it. Raises LedgerError when the file cannot be written; it then holds
        what it held before.
        """
        try:
            with self._locked() as (descriptor, created):
                news = _scan(descriptor, since)
                added = list(made(news))
                if not added:
                    return news
                data = "".join(lines.text_of(line) + "\n" for line in added).encode("ascii")
                start = _mend(descriptor, news, self.path)
                try:
                    _write(descriptor, data)
                    os.fsync(descriptor)
                except OSError:
                    os.ftruncate(descriptor, start)
                    raise
                if created:
                    _sync_folder(self.path)
                news.offset = start + len(data)
                news.count += len(added)
                news.lines.extend(added)
                return news
        except OSError as error:
            raise LedgerError(f"cannot write the ledger '{self.path}': {error.strerror}") from error

    def rewrite(self, keep: Callable[[Scan], Sequence[lines.Line]], then: Callable[[], None] = lambda: None) -> Scan:
        """Replace the file by one with the lines that ``keep`` chooses of what it holds, whole or not at all; do
        ``then`` afterwards, still under the lock.

        Lines of a newer kc are kept as they are, in front; a torn last line goes. Raises LedgerError.
        """
        try:
            with self._locked() as (descriptor, _):
                held = _scan(descriptor, None)
                chosen = keep(held)
                newer = [problem.text + b"\n" for problem in held.problems if problem.keep]
                data = b"".join(newer) + "".join(lines.text_of(line) + "\n" for line in chosen).encode("ascii")
                folder, prefix = os.path.dirname(self.path), f".kc-ledger-{os.path.basename(self.path)}-"
                for left in glob.glob(os.path.join(glob.escape(folder), f"{glob.escape(prefix)}????????")):
                    os.unlink(left)  # of a process that was killed just here: the lock is ours
                handle, temporary = tempfile.mkstemp(prefix=prefix, dir=folder)
                try:
                    with os.fdopen(handle, "wb") as file:
                        file.write(data)
                        file.flush()
                        os.fchmod(file.fileno(), os.fstat(descriptor).st_mode & 0o777)
                        os.fsync(file.fileno())
                    os.replace(temporary, self.path)
                except BaseException:
                    with contextlib.suppress(OSError):
                        os.unlink(temporary)
                    raise
                _sync_folder(self.path)
                then()
                return held
        except OSError as error:
            raise LedgerError(f"cannot write the ledger '{self.path}': {error.strerror}") from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[tuple[int, bool]]:
        """(descriptor of the file with an exclusive lock on it, whether it is new); no other writer is inside."""
        self._check()
        while True:
            created = not os.path.exists(self.path)
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if not self._is(descriptor):
                    continue  # it was replaced while we waited
                yield descriptor, created
                return
            finally:
                os.close(descriptor)

    def _check(self) -> None:
        """Raises LedgerError for what can be opened and is no file of lines: reading may have no end."""
        if os.path.exists(self.path) and not os.path.isfile(self.path) and not os.path.isdir(self.path):
            raise LedgerError(f"cannot use the ledger '{self.path}': it is no regular file")

    def _is(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False


def _scan(descriptor: int, since: Scan | None) -> Scan:
    status = os.fstat(descriptor)
    identity = (status.st_dev, status.st_ino)
    if since is None or since.file != identity or since.offset > status.st_size:
        since = Scan()
    result = Scan(since.offset, since.count, file=identity)
    rest = _read(descriptor, since.offset, status.st_size)
    *whole, torn = rest.split(b"\n")
    for raw in whole:
        result.count += 1
        _take(raw.rstrip(b"\r"), result)
    result.offset += len(rest) - len(torn)
    if torn.strip():
        what = f"the last line ({len(torn)} bytes) has no end: a write was cut short"
        result.problems.append(Problem(result.count + 1, what))
    return result


def _take(raw: bytes, result: Scan) -> None:
    if not raw.strip():
        return
    if raw.startswith(_CONFLICT):
        result.problems.append(Problem(result.count, "a mark of a git conflict; the lines of both sides are read"))
        return
    try:
        result.lines.append(lines.parse(raw.decode("utf-8")))
    except UnicodeDecodeError as error:
        result.problems.append(Problem(result.count, f"no UTF-8: {error.reason}"))
    except lines.LineError as error:
        result.problems.append(Problem(result.count, str(error), error.newer, raw))


def _read(descriptor: int, start: int, end: int) -> bytes:
    parts = []
    while start < end:
        part = os.pread(descriptor, min(end - start, 1 << 24), start)
        if not part:
            break
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _mend(descriptor: int, scan: Scan, path: str) -> int:
    """See that the file ends with a whole line, and warn of what was cut off; returns its size then."""
    size = os.fstat(descriptor).st_size
    tail = _read(descriptor, scan.offset, size)
    if not tail:
        return size
    scan.problems = [problem for problem in scan.problems if problem.line <= scan.count]
    try:
        scan.lines.append(lines.parse(tail.decode("utf-8")))
    except (UnicodeDecodeError, lines.LineError):
        warnings.warn(f"{path}: cut off a last line of {len(tail)} bytes whose write was cut short", stacklevel=2)
        os.ftruncate(descriptor, scan.offset)
        return scan.offset
    _write(descriptor, b"\n")  # only the newline was missing
    scan.count += 1
    return size + 1


def _write(descriptor: int, data: bytes) -> None:
    """One write; the rest where the system took only a part (no other writer is inside)."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _sync_folder(path: str) -> None:
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
