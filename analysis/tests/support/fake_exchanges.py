"""Stands in for build/bench_exchange: JSON of its form, and a program that gives it."""

import json
from pathlib import Path

import numpy as np
from fake_bench import calls  # noqa: F401
from stand_in import script

SIZES = (4, 8, 16, 20, 40, 80, 160, 4096, 20480, 40960)
LINES = {"alltoall": (1e-6, 2e-9), "shared": (3e-7, 1e-9)}  # latency (s), seconds per byte


def content(ranks=2, sizes=SIZES, lines=LINES, repetitions=3, noise=0.01, **changes) -> dict:
    """What exchanges would give of which the times are the lines, with noise."""
    generator = np.random.default_rng(ranks)
    cases, measurements = [], []
    chosen = [(name, n) for name in lines for n in sizes]
    for number, (name, n) in enumerate(chosen):
        alpha, beta = lines[name]
        times = (alpha + beta * n) * np.exp(generator.normal(0, noise, repetitions))
        cases.append({"exchange": name, "bytes": n})
        measurements += [
            {"case": number, "repetition": i, "rounds": 7, "barrier_s": 5e-7, "exchange_s": t}
            for i, t in enumerate(times)
        ]
    generator.shuffle(measurements)
    return {
        "kind": "exchange times",
        "format_version": 2,
        "ranks": ranks,
        "nodes": 1,
        "oversubscribed": False,
        "provenance": {"mpi_library": "MPI of the tests", "commit": None},
        "repetitions": repetitions,
        "min_time_s": 0.02,
        "seed": 7,
        "skipped": [{"exchange": "self", "reason": "serves at most 1 rank(s)"}],
        "cases": cases,
        "measurements": measurements,
        **changes,
    }


PROGRAM = """
import json, os, sys
if os.environ["OMPI_COMM_WORLD_RANK"] != "0":
    sys.exit({others})
ranks = int(os.environ["OMPI_COMM_WORLD_SIZE"])
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
with open({here!r} + "/called", "a") as log:
    print(json.dumps([ranks, options]), file=log)
{action}
content = json.load(open({here!r} + "/content.json"))
content["ranks"] = ranks
print(json.dumps(content))
"""


def write_program(folder: Path, given: dict, action: str = "", others: int = 0) -> Path:
    """An executable that gives `given` after the Python statement `action`; other ranks end with
    `others`.
    """
    (folder / "content.json").write_text(json.dumps(given))
    return script(
        folder / "bench_exchange", PROGRAM.format(here=str(folder), action=action, others=others)
    )
