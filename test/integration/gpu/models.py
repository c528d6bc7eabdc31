"""The models of issue 2 on a GPU, from JAX and PyTorch, against float64.

    python test/integration/gpu/models.py make DIR     where MLIR is installed: artifacts and answers
    python test/integration/gpu/models.py run DIR      on the GPU: needs kc.runtime and PyTorch only

``make`` writes, for each model, front end, dtype and {static, dynamic} batch, an artifact, the inputs of one or more
calls and their float64 answers; ``run`` loads them and prints the largest error of each. It fails when one is above its
bound.
"""
from __future__ import annotations

import argparse
import copy
import json
import sys
from pathlib import Path
from typing import Any

import numpy

HERE = Path(__file__).resolve().parent
#: largest absolute difference over the largest absolute value of the reference
BOUNDS = {"float32": 5e-6, "bfloat16": 3e-2}
STATIC, DYNAMIC = (3,), (1, 2, 5)


Calls = list[tuple[list[Any], list[Any]]]


def save_case(folder: Path, tag: str, executable: Any, calls: Calls, index: list[Any]) -> None:
    """One artifact with its calls: (inputs, expected) each; bfloat16 is kept as its bits."""
    executable.save(folder / f"{tag}.kca")
    arrays: dict[str, Any] = {}
    entry: dict[str, Any] = {"tag": tag, "dtypes": [], "calls": []}
    for number, (inputs, expected) in enumerate(calls):
        entry["dtypes"] = [str(x.dtype) for x in inputs]
        for position, value in enumerate(inputs):
            arrays[f"{number}_in{position}"] = value.view(numpy.uint16) if str(value.dtype) == "bfloat16" else value
        for position, value in enumerate(expected):
            arrays[f"{number}_out{position}"] = numpy.asarray(value)
        entry["calls"].append([len(inputs), len(expected)])
    numpy.savez(folder / f"{tag}.npz", **arrays)
    index.append(entry)


def make_torch(folder: Path, target: str, index: list[Any], only: str) -> None:
    """Artifacts of the PyTorch models."""
    sys.path.insert(0, str(HERE.parent))
    import torch
    from torch_models import MODELS

    import kc.torch
    from kc.frontends.torch import to_numpy

    for name, model in MODELS.items():
        for dtype in (torch.float32, torch.bfloat16):
            for batches in (STATIC, DYNAMIC):
                tag = f"torch-{name}-{str(dtype)[6:]}-{'dynamic' if batches is DYNAMIC else 'static'}"
                if only not in tag:
                    continue
                torch.manual_seed(0)
                narrow = model.make().eval().to(dtype)
                wide = copy.deepcopy(narrow).double()
                dynamic = model.dynamic() if batches is DYNAMIC else None
                compiled = kc.torch.compile(narrow, _cast(model.inputs(3), dtype), target, dynamic_shapes=dynamic)
                calls = []
                for batch in batches:
                    inputs = _cast(model.inputs(batch), dtype)
                    with torch.no_grad():
                        answer = wide(*_cast(inputs, torch.float64))
                    calls.append(([to_numpy(x) for x in inputs], [answer.numpy()]))
                save_case(folder, tag, compiled.executable, calls, index)
                print(tag, flush=True)


def _cast(values: Any, dtype: Any) -> Any:
    return tuple(v.to(dtype) if v.is_floating_point() else v for v in values)


def make_jax(folder: Path, target: str, index: list[Any], only: str) -> None:
    """Artifacts of the JAX models."""
    sys.path.insert(0, str(HERE.parent))
    import jax
    import ml_dtypes
    from jax_models import MAKERS

    import kc

    def cast(values: Any, dtype: Any) -> Any:
        floats = (numpy.dtype("float32"), numpy.dtype(ml_dtypes.bfloat16))
        return jax.tree.map(lambda x: x.astype(dtype) if x.dtype in floats else x, values)

    for name, make in MAKERS.items():
        model = make()
        for dtype in (numpy.dtype("float32"), numpy.dtype(ml_dtypes.bfloat16)):
            for batches in (STATIC, DYNAMIC):
                tag = f"jax-{name}-{dtype}-{'dynamic' if batches is DYNAMIC else 'static'}"
                if only not in tag:
                    continue
                params = cast(model.params, dtype)
                shapes = (None, *model.polymorphic) if batches is DYNAMIC else None
                jitted = kc.jit(model.fn, target=target, polymorphic_shapes=shapes)
                executable = jitted.compiled(params, *cast(model.data(3), dtype))
                calls = []
                for batch in batches:
                    data = cast(model.data(batch), dtype)
                    answers = model.reference(cast(params, numpy.float64), *cast(data, numpy.float64))
                    calls.append((jax.tree.leaves((params, *data)), jax.tree.leaves(answers)))
                save_case(folder, tag, executable, calls, index)
                print(tag, flush=True)


def run(folder: Path, only: str) -> int:
    """Run every artifact on the GPU; the number of cases above their bound, or failing."""
    import torch

    import kc.runtime

    failed = 0
    for entry in json.loads((folder / "index.json").read_text()):
        if only not in entry["tag"]:
            continue
        dtype = next(d for d in BOUNDS if f"-{d}-" in entry["tag"])
        arrays = numpy.load(folder / f"{entry['tag']}.npz")
        worst, exact, problem = 0.0, True, ""
        try:
            program = kc.runtime.load(folder / f"{entry['tag']}.kca")
            for number, (inputs, outputs) in enumerate(entry["calls"]):
                given = [_tensor(arrays[f"{number}_in{i}"], d) for i, d in enumerate(entry["dtypes"][:inputs])]
                results = program(*given)
                for position in range(outputs):
                    want, got = arrays[f"{number}_out{position}"], results[position]
                    assert tuple(got.shape) == want.shape, f"shape {tuple(got.shape)}, expected {want.shape}"
                    if got.dtype.is_floating_point and want.size:
                        difference = numpy.abs(got.double().cpu().numpy() - want).max()
                        worst = larger(worst, float(difference / max(numpy.abs(want).max(), numpy.finfo(float).tiny)))
                    else:
                        exact &= bool((got.cpu().numpy() == want).all())
                    assert got.device.type == "cuda"
        except Exception as error:  # one bad model must not hide the others
            problem = f"{type(error).__name__}: {str(error)[:300]}"
        bad = bool(problem) or not worst < BOUNDS[dtype] or not exact
        failed += bad
        verdict = problem or ("" if exact else "integers differ ") + ("FAILED" if bad else "ok")
        print(f"{entry['tag']:40} {worst:.2e}  {verdict}", flush=True)
    print(f"{failed} failed")
    torch.cuda.synchronize()
    return failed


def larger(worst: float, error: float) -> float:
    """The larger of two errors; NaN, once seen, stays (Python's ``max`` would forget it)."""
    return error if error != error or error > worst else worst


def _tensor(array: Any, dtype: str) -> Any:
    import torch

    if dtype == "bfloat16":
        return torch.from_numpy(array.view(numpy.int16)).view(torch.bfloat16).cuda()
    return torch.from_numpy(array).cuda()


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("make", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="nvptx:sm_90a")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if args.mode == "run":
        return int(run(args.folder, args.only) > 0)
    args.folder.mkdir(parents=True, exist_ok=True)
    index: list[Any] = []
    make_torch(args.folder, args.target, index, args.only)
    make_jax(args.folder, args.target, index, args.only)
    (args.folder / "index.json").write_text(json.dumps(index))
    return 0


if __name__ == "__main__":
    sys.exit(main())
