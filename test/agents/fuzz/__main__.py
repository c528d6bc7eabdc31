"""``python test/agents/fuzz [--count 1000] [--seed 1] [--seconds S] [--level LEVEL] [--replay ID:SEED]``."""
from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import corpus  # noqa: E402
from engine import Fuzzer  # noqa: E402
from mutations import mutate  # noqa: E402


def _short(message: object) -> str:
    try:
        return repr(message)
    except RecursionError:
        return "a message too deep to be shown"


def main() -> int:
    """Fuzz, or show one mutant; exit status 1 when something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--level")
    parser.add_argument("--replay", help="print the mutant of an entry: ID:SEED")
    options = parser.parse_args()
    entries = corpus.load(options.level)
    if options.replay:
        name, _, seed = options.replay.rpartition(":")
        (entry,) = [e for e in entries if e.id == name]
        mutant = mutate(entry, int(seed))
        shown = mutant.proposal["ir"] if mutant.how == "text" else _short(mutant.proposal)
        print(f"// original\n{entry.original}\n// mutant ({mutant.how})\n{shown}")
        return 0
    start = time.monotonic()
    fuzzer = Fuzzer(entries, seconds=options.seconds)
    fuzzer.run(options.seed, options.count)
    fuzzer.close()
    done = sum(fuzzer.counts.values())
    print(f"{done} mutants in {time.monotonic() - start:.0f} s, the longest took {fuzzer.longest:.1f} s")
    for name, count in sorted(fuzzer.counts.items(), key=lambda item: -item[1]):
        print(f"  {count:>5}  {name}")
    print("accepted mutants, looked at again:", dict(fuzzer.rechecks))
    for found in fuzzer.findings:
        print(f"{found.kind}: {found.entry}:{found.seed}: {found.message[:300]}")
    return 1 if fuzzer.findings else 0


if __name__ == "__main__":
    sys.exit(main())
