"""The child process: takes pickled batches on its standard input, answers on a pipe, and says where it is.

Run as ``python worker.py <file descriptor>``; the fuzzer's parent directory is put on the path.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path


def main() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from fuzz.check import check

    answers = os.fdopen(int(sys.argv[1]), "wb")

    def send(*message: object) -> None:
        pickle.dump(message, answers)
        answers.flush()

    send("ready", 0)
    while True:
        try:
            cases, target = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        send("done", check(cases, send, target))


if __name__ == "__main__":
    main()
