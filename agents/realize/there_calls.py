"""The calls of a pack (see ``kc.agents.realize.there``), in the process that this module is the main program of."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
_MARGIN, _POISONS = 4096, (0xA5, 0xFF)


class Pack:
    """A folder, read."""

    def __init__(self, folder: Path) -> None:
        from kc.agents.gates.policy import Policy
        from kc.runtime import load

        self.data = json.loads((folder / "pack.json").read_text())
        self.blob = (folder / "calls.bin").read_bytes()
        self.original, self.proposal = (load(folder / f"{name}.kca") for name in ("original", "proposal"))
        self.policy = Policy(frozenset(self.data["policy"]["allow"]), self.data["policy"]["unit"])
        self.gpu = self.data["target"].startswith("nvptx")

    def array(self, place: dict[str, Any]) -> Array:
        """The array that a description is of."""
        kind = place["dtype"]
        dtype = np.dtype(getattr(ml_dtypes, kind) if hasattr(ml_dtypes, kind) else kind)
        size = int(np.prod(place["shape"], dtype=np.int64)) * dtype.itemsize
        flat = np.frombuffer(self.blob[place["at"] : place["at"] + size], dtype)
        return flat.reshape(place["shape"]).copy()


class Arguments:
    """The arguments of one call: on a GPU with PyTorch inside of larger tensors whose margins are watched."""

    def __init__(self, arrays: Sequence[Array], gpu: bool) -> None:
        self.before = [array.copy() for array in arrays]
        self.passed: list[Any] = list(arrays)
        self._held: list[Any] = []
        if gpu and _torch() is not None:
            self.passed = [self._put(array) for array in arrays]

    def _put(self, array: Array) -> Any:
        torch = _torch()
        size = array.nbytes
        held = torch.full((size + 2 * _MARGIN,), 0xA5, dtype=torch.uint8, device="cuda")
        inner = held[_MARGIN : _MARGIN + size]
        if size:
            inner.copy_(torch.from_numpy(np.ascontiguousarray(array).reshape(-1).view(np.uint8)))
        self._held.append(held)
        return inner.view(_torch_type(array.dtype)).reshape(array.shape) if size else _empty(array)

    def problem(self) -> tuple[str, str] | None:
        """What a call did to its arguments or beside them: reason and message."""
        for number, array in enumerate(self.before):
            if not self._held:
                now = np.asarray(self.passed[number])
                margins = True
            else:
                data = self._held[number].cpu().numpy()
                inner = data[_MARGIN : _MARGIN + array.nbytes]
                now = inner.view(array.dtype).reshape(array.shape) if array.nbytes else array
                margins = bool((data[:_MARGIN] == 0xA5).all() and (data[_MARGIN + array.nbytes :] == 0xA5).all())
            if not margins:
                return "aliasing.bounds", f"memory around argument {number} was changed"
            if now.tobytes() != array.tobytes():
                return "aliasing.read-only", f"argument {number}, which is read-only, was changed"
        return None


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def _torch_type(dtype: np.dtype[Any]) -> Any:
    names = {"bool": "bool", "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2"}
    return getattr(_torch(), names.get(dtype.name, dtype.name))


def _empty(array: Array) -> Any:
    return _torch().empty(array.shape, dtype=_torch_type(array.dtype), device="cuda")


def _host(value: Any) -> Array:
    """A result as a NumPy array."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "cpu"):  # a tensor
        name = str(value.dtype).removeprefix("torch.")
        torch, data = _torch(), value.contiguous().cpu()
        raw = data.reshape(-1).view(torch.uint8).numpy() if data.numel() else np.empty(0, np.uint8)
        dtype = np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)
        return raw.view(dtype).reshape(tuple(value.shape))
    return np.asarray(value)


def _poison(results: Sequence[Array], byte: int) -> None:
    """Let memory of the results' sizes hold ``byte`` everywhere, and give it back: the next call's results get it."""
    from kc.runtime import cuda

    torch = _torch()
    stream = torch.cuda.current_stream().cuda_stream if torch is not None else cuda.own_stream(0)
    held = []
    for array in results:
        for size in {array.nbytes, -(-array.nbytes // 256) * 256} - {0}:
            bytes_ = np.full(size, byte, np.uint8)
            held.append(cuda.Buffer(0, stream, bytes_.ctypes.data, size))
    cuda.synchronize(0, stream)
    held.clear()


def run(pack: Pack) -> dict[str, Any]:
    """All calls: original and proposal, then the proposal again in another order. The verdict as JSON."""
    from kc.agents.gates import compare
    from kc.agents.gates.compare import Errors

    errors, runs = Errors(), 0
    first: list[tuple[Array, ...]] = []
    rows = pack.data["calls"]
    for row in rows:
        arrays = [pack.array(place) for place in row["arguments"]]
        references = [[pack.array(place) for place in run_] for run_ in row["references"]]
        want = tuple(map(_host, pack.original(*Arguments(arrays, pack.gpu).passed)))
        got, problem = _call(pack, arrays, want, _POISONS[0])
        runs += 1
        if problem is None and got is not None:
            difference = compare.exact(got, want, pack.policy)
            if difference is not None and not pack.policy.exact:
                difference = compare.bounded(
                    got, want, references, pack.policy, row["length"], errors, huge=row["huge"]
                )
            problem = None if difference is None else (difference.reason, str(difference))
        if problem is not None:
            return _rejected(problem, row, runs, errors)
        assert got is not None
        first.append(got)
    order = np.random.default_rng(pack.data["seed"]).permutation(len(rows))
    for number in order:
        row = rows[number]
        got, problem = _call(pack, [pack.array(place) for place in row["arguments"]], first[number], _POISONS[1])
        runs += 1
        if (
            problem is None
            and got is not None
            and any(a.tobytes() != b.tobytes() for a, b in zip(got, first[number], strict=True))
        ):
            problem = "aliasing.uninitialised", "a second call over memory that held other bytes gave other results"
        if problem is not None:
            return _rejected(problem, row, runs, errors)
    told = {"ulp": errors.ulp, "original_ulp": errors.original_ulp}
    return {"accepted": True, "gate": None, "reason": "accepted", "message": "", "runs": runs, "errors": told}


def _call(
    pack: Pack, arrays: Sequence[Array], like: Sequence[Array], byte: int
) -> tuple[tuple[Array, ...] | None, tuple[str, str] | None]:
    """One call of the proposal: results, and what was wrong with it."""
    from kc.runtime import RuntimeFailure

    if pack.gpu:
        _poison(like, byte)
    arguments = Arguments(arrays, pack.gpu)
    try:
        got = tuple(map(_host, pack.proposal(*arguments.passed)))
    except RuntimeFailure as error:
        reason = "aliasing.bounds" if "illegal" in str(error) else "resource.crash"
        if isinstance(error.__cause__, RuntimeFailure):  # of a library: it is not there, or cannot do that
            reason = "resource.unsupported"
        return None, (reason, str(error)[:1000])
    return got, arguments.problem()


def _rejected(problem: tuple[str, str], row: dict[str, Any], runs: int, errors: Any) -> dict[str, Any]:
    reason, message = problem
    return {
        "accepted": False,
        "gate": reason.partition(".")[0],
        "reason": reason,
        "message": f"{message} (call with {row['why']}, sizes {row['sizes']})",
        "witness": {"sizes": row["sizes"], "why": row["why"]},
        "runs": runs,
        "errors": {"ulp": errors.ulp, "original_ulp": errors.original_ulp},
    }


def main() -> None:
    """``FOLDER ANSWER [--only-proposal N]``: the latter makes N calls and compares nothing."""
    from kc.runtime import RuntimeFailure

    try:
        pack = Pack(Path(sys.argv[1]))
    except RuntimeFailure as error:  # no device, or no such library
        message = f"the programs cannot be loaded: {error}"[:1000]
        found = {"accepted": False, "gate": "resource", "reason": "resource.unsupported", "message": message}
        Path(sys.argv[2]).write_text(json.dumps(found))
        return
    if "--only-proposal" in sys.argv:
        most = int(sys.argv[sys.argv.index("--only-proposal") + 1])
        rows = sorted(pack.data["calls"], key=lambda row: -sum(row["sizes"].values()))[:most]
        for row in rows:
            arguments = Arguments([pack.array(place) for place in row["arguments"]], pack.gpu)
            _ = [_host(value) for value in pack.proposal(*arguments.passed)]
        return
    Path(sys.argv[2]).write_text(json.dumps(run(pack)))


if __name__ == "__main__":
    main()
