"""``python test/fuzz``: run the fuzzer; see ``--help`` and README.md."""

from __future__ import annotations

import argparse
import pickle
import sys
from pathlib import Path


def main() -> int:
    from fuzz import corpus
    from fuzz.engine import Fuzzer
    from fuzz.families import FAMILIES
    from fuzz.runner import Runner

    parser = argparse.ArgumentParser(prog="python test/fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="modules to run (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="first seed; a round of modules per seed")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this long")
    parser.add_argument("--families", default=",".join(FAMILIES), help="comma-separated (default: all: %(default)s)")
    parser.add_argument(
        "--batch", type=int, default=8, help="programs that are compiled together (default: %(default)s)"
    )
    parser.add_argument("--shrink", type=float, default=60, help="seconds to shrink a finding; 0: go on at once")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a batch; longer is a hang")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--out", type=Path, help="folder for findings (.mlir to read, .pickle to run again)")
    parser.add_argument("--report", type=Path, help="append a JSON line about the run to this file")
    parser.add_argument("--again", type=Path, nargs="*", help="run these .pickle files and nothing else")
    parser.add_argument("--keep", type=Path, help="put this .pickle into the corpus")
    parser.add_argument("--name", help="with --keep: name of the file in the corpus")
    parser.add_argument("--about", default="", help="with --keep: what was wrong")
    options = parser.parse_args()
    if options.keep:
        corpus.save(corpus.FOLDER / f"{options.name}.json", pickle.loads(options.keep.read_bytes()), options.about)
        return 0

    runner = Runner(options.limit, options.target)
    if options.again is not None:
        bad = 0
        for path in options.again:
            (verdict,) = runner.run([pickle.loads(path.read_bytes())])
            bad += verdict.bad
            print(f"{path}: {verdict.kind} {verdict.message}")
        runner.close()
        return 1 if bad else 0
    families = options.families.split(",")
    unknown = [f for f in families if f not in FAMILIES]
    if unknown:
        parser.error(f"unknown families {unknown}; known: {', '.join(FAMILIES)}")
    fuzzer = Fuzzer(runner, families, options.batch, options.shrink, options.out)
    fuzzer.run(options.seed, options.count, options.seconds)
    for finding in fuzzer.findings:
        print(f"{finding.verdict.kind} (seed {finding.seed}): {finding.verdict.message}\n{finding.case.text}\n")
    print(fuzzer.report())
    if options.report:
        with options.report.open("a") as file:
            file.write(fuzzer.report() + "\n")
    return 1 if fuzzer.findings else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    sys.exit(main())
