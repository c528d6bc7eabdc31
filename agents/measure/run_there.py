"""Measure on this machine, which needs no compiler: ``python -m kc.agents.measure.run_there JOB.json [RESULT.json]``.

The job is that of ``kc.agents.measure.rounds.Job`` as JSON; paths in it are relative to the job's folder. The result
has ``measurement`` and ``machine``, the figures of this machine that the roofline floor needs.
"""
from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kc.agents.measure.machine import machine
from kc.agents.measure.rounds import Job, measure


def run(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Measure a job whose paths are relative to ``folder``."""
    for name in ("original", "proposal"):
        job = {**job, name: {**job[name], "path": str(folder.resolve() / job[name]["path"])}}
    made = Job.from_json(job)
    return {"measurement": measure(made).to_json(), "machine": machine(made.device).to_json()}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code is 0 whenever there is a result."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not 1 <= len(given) <= 2:
        sys.stderr.write(__doc__ or "")
        return 2
    path = Path(given[0])
    text = json.dumps(run(json.loads(path.read_text()), path.parent), indent=1) + "\n"
    if len(given) == 2:
        Path(given[1]).write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
