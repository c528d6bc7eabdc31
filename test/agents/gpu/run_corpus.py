"""The gpu level's corpus on a GPU: artifacts are made where MLIR is, and run where the GPU is.

    python test/agents/gpu/run_corpus.py make DIR          compile every region and proposal; answers by the emulator
    python test/agents/gpu/run_corpus.py run DIR           on the GPU machine: kc.runtime, NumPy and PyTorch

Right proposals must give the region's answers. Wrong ones are run too, many times, to tell which the hardware shows:
a race may well give the right answer on it, so that is only reported.
"""
from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
_PHASES = ("gpu-outline", "gpu-device", "gpu-host")
_REPEATS = 200
_SECONDS = 40
_TYPES = {"i32": "int32", "f16": "float16", "f32": "float32"}


# ------------------------------------------------------------------------------------------------ where MLIR is


def with_entry(text: str) -> str:
    """A module at the gpu level whose ``@main`` takes the input arguments and returns new buffers for the others."""
    match = re.search(r"func\.func @main\((.*?)\)(?: attributes \{.*?\})? \{$", text, re.MULTILINE)
    assert match is not None, "a signature on one line"
    arguments = re.findall(r"%(\w+): (memref<([\d?x]+)x(\w+)>)(?: \{([^}]*)\})?", match[1])
    takes = [a for a in arguments if "kc.out" not in a[4]]
    gives = [a for a in arguments if "kc.out" in a[4]]

    def described(argument: tuple[str, ...]) -> dict[str, Any]:
        names = re.findall(r'"(\w+)"', argument[4])
        dims = argument[2].split("x")
        return {"dtype": argument[3], "shape": [int(d) if d != "?" else names[n] for n, d in enumerate(dims)]}

    signature = {
        "args": [{"name": a[0], **described(a), "kind": "input"} for a in takes],
        "results": [described(a) for a in gives],
    }
    lines = ["  %entry0 = arith.constant 0 : index"]
    symbols: dict[str, str] = {}
    for name, kind, _, _, told in takes:  # every unknown size of the corpus is the first of an argument
        for symbol in re.findall(r'"(\w+)"', told)[:1]:
            symbols[symbol] = f"%size_{symbol}"
            lines.append(f"  %size_{symbol} = memref.dim %{name}, %entry0 : {kind}")
    for name, kind, dims, _, told in gives:
        sizes = ", ".join(symbols[s] for s in re.findall(r'"(\w+)"', told)[: dims.count("?")])
        lines.append(f"  %{name} = memref.alloc({sizes}) {{alignment = 64 : i64}} : {kind}")
    values, kinds = ", ".join(f"%{a[0]}" for a in arguments), ", ".join(a[1] for a in arguments)
    lines.append(f"  func.call @body({values}) : ({kinds}) -> ()")
    lines.append(f"  return {', '.join('%' + a[0] for a in gives)} : {', '.join(a[1] for a in gives)}")
    head = ", ".join(f"%{a[0]}: {a[1]}" for a in takes)
    quoted = json.dumps(json.dumps(signature))[1:-1].replace('\\"', "\\22")
    entry = (
        f"func.func @main({head}) -> ({', '.join(a[1] for a in gives)}) attributes {{kc.signature = \"{quoted}\"}} {{\n"
        + "\n".join(lines) + "\n}\n"
    )  # fmt: skip
    body = text.replace("func.func @main(", "func.func private @body(")
    end = body.rstrip().rindex("}")
    made = body[:end] + entry + body[end:]
    if "gpu.container_module" not in made:
        made = made.replace("module {", "module attributes {gpu.container_module} {", 1)
    return made


def compiled(text: str, target: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Manifest and files of a module at the gpu level."""
    from kc.context import make_context, parse_module
    from kc.pipelines.run import run_phases
    from kc.targets import get_target

    chosen: Any = get_target(target)
    module = parse_module(with_entry(text), make_context(), "module")
    run_phases(module, [phase for phase in chosen.phases() if phase.name in _PHASES], {"chip": chosen.chip})
    made: tuple[dict[str, Any], dict[str, bytes]] = chosen.generate(module, {})
    return made


def make(folder: Path, target: str) -> None:
    """Compile all entries; draw inputs; answers of the original by the emulator."""
    sys.path.insert(0, str(HERE.parent))
    import corpus

    from kc import artifact
    from kc.agents.execution import Call, run

    folder.mkdir(parents=True, exist_ok=True)
    cases: list[dict[str, Any]] = []
    answers: dict[str, tuple[list[Any], Any]] = {}
    for entry in corpus.load("gpu"):
        programs = [(entry.id, entry.proposal["ir"])]
        if entry.original not in answers:
            programs.insert(0, (f"original-{len(answers)}", entry.original))
            head = entry.original.split(" {\n")[1]
            kinds = re.findall(r"%\w+: memref<([\d?x]+)x(\w+)>(?: \{([^}]*)\})?", head)
            shapes = [tuple(3 if d == "?" else int(d) for d in dims.split("x")) for dims, _, _ in kinds]
            if len(shapes[0]) == 1:
                shapes = [(95,) for _ in shapes]
            g = np.random.default_rng(len(answers))
            arrays = [g.integers(-9, 10, s).astype(_TYPES[k]) for s, (_, k, _) in zip(shapes, kinds, strict=True)]
            (outcome,) = run(entry.original, "gpu", [Call(tuple(arrays))])
            assert outcome.fault is None and not outcome.fatal, (entry.id, outcome)
            taken = [a for a, (_, _, told) in zip(arrays, kinds, strict=True) if "kc.out" not in told]
            answers[entry.original] = (taken, outcome.results[0])
        taken, want = answers[entry.original]
        for name, text in programs:
            try:
                artifact.save(folder / f"{name}.kca", *compiled(text, target))
            except Exception as error:
                print(f"{name}: does not compile: {type(error).__name__}: {str(error)[:300]}")
                continue
            given = {f"given{number}": array for number, array in enumerate(taken)}
            np.savez(folder / f"{name}.npz", want=want, **given)
            original = name != entry.id
            cases.append({"name": name, "expect": "accept" if original else entry.expect,
                          "kind": "original" if original else entry.kind})  # fmt: skip
    (folder / "cases.json").write_text(json.dumps(cases, indent=1))
    print(f"{len(cases)} programs in {folder}")


# ----------------------------------------------------------------------------------------------- where the GPU is


def one(path: Path) -> None:
    """Run one program ``_REPEATS`` times; print how often it differed."""
    sys.path.insert(0, str(ROOT / "test" / "integration" / "gpu"))
    from run_artifacts import find_kc

    find_kc()
    import torch

    import kc.runtime

    program = kc.runtime.load(path)
    arrays = np.load(path.with_suffix(".npz"))
    taken, want = [arrays[name] for name in sorted(arrays) if name.startswith("given")], arrays["want"]
    given = [torch.from_numpy(array).cuda() for array in taken]
    wrong = 0
    for number in range(_REPEATS):
        torch.full((1 << 16,), float(number), device="cuda")  # other bytes in free memory each time
        (got,) = program(*given)
        wrong += not np.array_equal(got.cpu().numpy(), want)
    kept = all(np.array_equal(there.cpu().numpy(), here) for there, here in zip(given, taken, strict=True))
    print(json.dumps({"wrong": wrong, "of": _REPEATS, "input": "kept" if kept else "changed"}))


def _tried(path: Path) -> str:
    """What a process of its own says of a program."""
    try:
        done = subprocess.run([sys.executable, __file__, "one", str(path)],
                              capture_output=True, text=True, timeout=_SECONDS, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"does not end within {_SECONDS} s"
    last = done.stdout.strip().split("\n")[-1]
    return last if done.returncode == 0 else "died: " + done.stderr.strip()[-200:]


def run_all(folder: Path, jobs: int, only: str) -> int:
    """Each program in a process of its own, ``jobs`` at a time; the number of right ones that fail."""
    bad, shown = 0, {"reject": 0, "accept": 0}
    cases = [case for case in json.loads((folder / "cases.json").read_text()) if only in case["name"]]
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(_tried, (folder / f"{case['name']}.kca" for case in cases)))
    for case, said in zip(cases, found, strict=True):
        clean = said.startswith('{"wrong": 0,') and "kept" in said
        shown[case["expect"]] += not clean
        bad += case["expect"] == "accept" and not clean
        print(f"{case['expect']:<7} {case['name']:<52} {case['kind']:<28} {said}", flush=True)
    count = sum(c["expect"] == "reject" for c in cases)
    print(f"right programs that fail: {bad}; wrong ones that the hardware shows: {shown['reject']} of {count}")
    return bad


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "run", "one"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="nvptx:sm_90a")
    parser.add_argument("--jobs", type=int, default=1, help="programs that run at a time")
    parser.add_argument("--only", default="", help="run programs whose names contain this")
    options = parser.parse_args()
    if options.what == "make":
        make(options.folder, options.target)
    elif options.what == "one":
        one(options.folder)
    else:
        return int(run_all(options.folder, options.jobs, options.only) > 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
