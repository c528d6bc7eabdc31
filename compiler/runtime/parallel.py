"""Programs as processes that work together: a thread each, which meet in collectives and talk through channels."""
from __future__ import annotations

import ctypes
import dataclasses
import os
import threading
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.runtime import dtypes, nccl
from kc.runtime.errors import ArgumentError, ExecutionError
from kc.runtime.library import library
from kc.runtime.thread_device import set_default_device

if TYPE_CHECKING:
    from kc.runtime.program import Program

_TIMEOUT = 60.0


@dataclasses.dataclass(frozen=True)
class Message:
    """What a process sent to the host: ``process`` is its (replica, partition), ``arrays`` NumPy arrays."""

    process: tuple[int, int]
    arrays: tuple[Any, ...]


def run_program(
    program: Program,
    arguments: Sequence[Sequence[object]],
    *,
    entry: str | Sequence[str] | None = None,
    replicas: int | None = None,
    partitions: int | None = None,
    **options: Any,
) -> list[tuple[Any, ...]]:
    """``run_parallel`` of one program; see ``Program.run_parallel``."""
    count = len(arguments)
    names = [entry] * count if entry is None or isinstance(entry, str) else list(entry)
    if len(names) != count:
        raise ArgumentError(f"{len(names)} entries are named for {count} processes")
    if replicas is None and partitions is None:
        partitions = max(1, int(program.manifest.get("num_partitions", 1)))
        if count % partitions:
            raise ArgumentError(
                f"the program is for {partitions} partitions; arguments for {count} processes do not fill a grid of "
                "them (give replicas and partitions to choose another one)"
            )
    if replicas is None:
        replicas = count // max(1, partitions or 1)
    elif partitions is None:
        partitions = count // max(1, replicas)
    processes = [(program, name, arrays) for name, arrays in zip(names, arguments, strict=True)]
    return run_parallel(processes, replicas=replicas, partitions=partitions, **options)


def run_parallel(
    processes: Sequence[tuple[Any, str | None, Sequence[object]]],
    *,
    replicas: int | None = None,
    partitions: int | None = None,
    timeout: float | None = None,
    infeed: Sequence[Any] | Mapping[int, Sequence[Any]] = (),
    outfeed: MutableSequence[Message] | None = None,
    channels: MutableMapping[int, list[Any]] | None = None,
    devices: Sequence[int] | None = None,
) -> list[tuple[Any, ...]]:
    """Run processes side by side and give the results of each, in their order.

    ``processes``: program (or executable), entry point (None for the default one) and arguments of each. The programs
    may differ: then they talk through ``send`` and ``recv``, or join in the same collectives. Process number
    ``replica * partitions + partition`` is (replica, partition) of the grid; without ``replicas`` and ``partitions``
    all are replicas.

    ``timeout``: seconds that a process waits for another one (``KC_COLLECTIVE_TIMEOUT``, else 60). ``infeed``: arrays
    that ``infeed`` ops read in order, whichever process comes first; or for each process number a sequence of its own.
    An element may be a tuple, for an op with several results. ``outfeed``: a list that gets a ``Message`` for every
    ``outfeed`` (without one, the values are dropped). ``channels``: by channel id, arrays that ``recv`` reads from the
    host; afterwards the arrays that were sent to the host and received by no process. ``devices``: the GPU of each
    process (its number, as far as there are so many), for programs for a GPU.

    Raises ``ArgumentError`` when arguments do not fit, ``ExecutionError`` when a process fails, when the processes wait
    for each other (which is noticed at once), when one has waited too long (the message names the op, its place, who
    came and who did not), and when a message was never received. If one process fails, all end.
    """
    count = len(processes)
    if count == 0:
        raise ArgumentError("there is no process to run")
    replicas = replicas if replicas is not None else count // (partitions or 1)
    partitions = partitions if partitions is not None else count // max(1, replicas)
    if replicas < 1 or partitions < 1 or replicas * partitions != count:
        raise ArgumentError(f"{count} processes do not fill a grid of {replicas} replicas by {partitions} partitions")
    limit = _timeout(timeout)
    entries = [getattr(program, "program", program)._find(name) for program, name, _ in processes]
    run = _Run(replicas, partitions, limit)
    try:
        run.feed(infeed, channels or {})
        results = run.execute(entries, [arrays for _, _, arrays in processes], devices)
        sent = run.collect()
    finally:
        run.close()
    lost = [name for name in sent if ">" in name]
    if lost:
        raise ExecutionError(f"{sent[lost[0]][0][1]} sent a message that no process has received")
    if outfeed is not None:
        outfeed.extend(message for message, _ in sent.get("outfeed", ()))
    if channels is not None:
        channels.clear()
        for name, messages in sent.items():
            if name.startswith("channel "):
                channels[int(name.split()[1])] = [array for message, _ in messages for array in message.arrays]
    return results


def _timeout(given: float | None) -> float:
    if given is None:
        text = os.environ.get("KC_COLLECTIVE_TIMEOUT", "")
        try:
            given = float(text) if text else _TIMEOUT
        except ValueError:
            raise ArgumentError(f"KC_COLLECTIVE_TIMEOUT is {text!r}, not a number of seconds") from None
    if not 0 < given < 1e9:
        raise ArgumentError(f"a timeout of {given} seconds: it must be more than 0")
    return float(given)


class _Run:
    """One grid from start to end."""

    def __init__(self, replicas: int, partitions: int, timeout: float) -> None:
        self._lib = library()
        self._partitions, self._count = partitions, replicas * partitions
        self._grid = self._lib.kc_grid_new(replicas, partitions, timeout)

    def close(self) -> None:
        self._lib.kc_grid_free(self._grid)

    def name(self, index: int) -> tuple[int, int]:
        """(replica, partition)."""
        return divmod(index, self._partitions)

    def feed(self, infeed: Sequence[Any] | Mapping[int, Sequence[Any]], channels: Mapping[int, Sequence[Any]]) -> None:
        """Fill the queues that processes read."""
        if isinstance(infeed, Mapping):
            for index, arrays in infeed.items():
                if not 0 <= index < self._count:
                    raise ArgumentError(f"infeed for process {index}, but there are {self._count}")
                for array in arrays:
                    self._post(f"infeed/{index}", array)
        else:
            for array in infeed:
                self._post("infeed", array)
        for channel, arrays in channels.items():
            for array in arrays:
                self._post(f"channel {channel}", array)

    def _post(self, box: str, item: Any) -> None:
        for array in item if isinstance(item, tuple) else (item,):
            data = np.ascontiguousarray(array).reshape(np.shape(array))
            dtype = dtypes.of_numpy(data.dtype)
            if dtype is None:
                raise ArgumentError(f"{box}: kc has no element type {data.dtype}")
            shape = (ctypes.c_int64 * max(1, data.ndim))(*data.shape)
            self._lib.kc_grid_post(
                self._grid, box.encode(), dtype.name.encode(), data.ctypes.data, data.nbytes, data.ndim, shape
            )

    def execute(
        self, entries: Sequence[Any], arguments: Sequence[Sequence[object]], devices: Sequence[int] | None
    ) -> list[tuple[Any, ...]]:
        """Run every entry on a thread; raises what the first process that failed raised."""
        results: list[Any] = [None] * self._count
        errors: dict[int, BaseException] = {}

        def work(index: int, device: int) -> None:
            lib, message = self._lib, b""
            set_default_device(device)
            lib.kc_grid_enter(self._grid, index)
            try:
                results[index] = entries[index](*arguments[index])
            except BaseException as error:  # whatever it is, the others must not wait for this process
                errors[index] = error
                message = str(error).encode()
            finally:
                lib.kc_grid_leave(self._grid, index, index in errors, message)

        places = self._devices(entries, devices)
        if any(entry.on_gpu for entry in entries):
            nccl.locate()
            own = len(set(places)) == len(places) and all(entry.on_gpu for entry in entries)
            self._lib.kc_grid_devices(self._grid, (ctypes.c_int32 * self._count)(*places), own)
        threads = [
            threading.Thread(target=work, args=(index, place), name=f"kc process {index}")
            for index, place in enumerate(places)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)  # in pieces, so that an interrupt of the user's gets through
        except BaseException:
            self._lib.kc_grid_fail(self._grid, 0, b"interrupted")
            for thread in threads:
                thread.join()
            raise
        if errors:
            self._raise(errors)
        return results

    def _devices(self, entries: Sequence[Any], devices: Sequence[int] | None) -> list[int]:
        if devices is not None:
            if len(devices) != self._count:
                raise ArgumentError(f"{len(devices)} devices are named for {self._count} processes")
            return list(devices)
        if not any(entry.on_gpu for entry in entries):
            return [0] * self._count
        from kc.runtime import cuda

        there = max(1, cuda.device_count())
        return [index % there for index in range(self._count)]

    def _raise(self, errors: Mapping[int, BaseException]) -> None:
        failure = self._lib.kc_grid_failure(self._grid).decode(errors="replace")
        for index, error in sorted(errors.items()):
            if isinstance(error, ArgumentError):
                raise ArgumentError(f"process {self.name(index)}: {error}", error.index, error.name) from error
            if not isinstance(error, ExecutionError):
                raise error
        first = next((e for _, e in sorted(errors.items()) if str(e) in failure), None)
        raise ExecutionError(failure or str(first)) from (first.__cause__ if first is not None else None)

    def collect(self) -> dict[str, list[tuple[Message, str]]]:
        """What is left in the queues: name -> messages, each with the place that sent it."""
        found: dict[str, list[tuple[Message, str]]] = {}
        boxes = self._lib.kc_grid_boxes(self._grid).decode()
        for box in boxes.split("\n") if boxes else ():
            if box.startswith("infeed"):
                continue
            while (taken := self._take(box)) is not None:
                array, sender, part, where = taken
                if sender < 0:
                    continue  # the host's own, which nobody wanted
                whole = found.setdefault(box, [])
                mine = [k for k, (m, _) in enumerate(whole) if m.process == self.name(sender)]
                if part and mine and len(whole[mine[-1]][0].arrays) == part:  # another array of the same op
                    before = whole[mine[-1]][0]
                    whole[mine[-1]] = (Message(before.process, (*before.arrays, array)), where)
                else:
                    whole.append((Message(self.name(sender), (array,)), where))
        return found

    def _take(self, box: str) -> tuple[Any, int, int, str] | None:
        out = (ctypes.c_int64 * 5)()
        data, shape = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_int64)()
        text = self._lib.kc_grid_take(self._grid, box.encode(), out, ctypes.byref(data), ctypes.byref(shape))
        if text is None:
            return None
        name, _, where = text.decode(errors="replace").partition("\n")
        nbytes, rank, sender, part, _ = out
        raw = ctypes.string_at(data, nbytes) if nbytes else b""
        sizes = tuple(shape[k] for k in range(rank))
        array = np.frombuffer(bytearray(raw), dtypes.by_name(name).numpy).reshape(sizes)
        return array, sender, part, where
