"""Made-up dry runs: one rank's part of a synthetic run, and a program that writes it as the mini-app does."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import stand_in
import synthetic

NULLED = "alone: the other ranks are made up"
UNMEASURED = ("synchronise", "exchange")
OF_OTHERS = ("messages", "bytes_sent", "simulate_s")


def write_rank(
    folder, description: dict, rank: int, of: int, *, threads: int = 1, began_s: float = 0.0, **made
) -> Path:
    """The record of one rank of a dry run; `made` goes to synthetic.write_run, as for the real run."""
    folder = synthetic.write_run(
        folder, ranks=of, threads=threads, description=description,
        cycles=round(description["time"]["simulate_ms"] / description["time"]["cycle_ms"]),
        schedule=description["schedule"], placement=description["placement"],
        delay_ratio=description["delay_ratio"], **made,
    )  # fmt: skip
    record = json.loads((folder / "record.json").read_text())
    times = np.load(folder / "cycles.npy")[rank : rank + 1]
    for name in UNMEASURED:
        times[:, :, record["phases"].index(name)] = np.nan
        record["timing"]["phases"][name] = {"mean_s": None, "max_s": None, "reason": NULLED}
    np.save(folder / "cycles.npy", times)
    for name, sums in zip(record["phases"], times[0].sum(axis=0), strict=True):
        if name not in UNMEASURED:
            record["timing"]["phases"][name] = {"mean_s": float(sums), "max_s": float(sums)}
    with open(folder / "ranks.csv", newline="") as stream:
        row = list(csv.DictReader(stream))[rank]
    row |= dict.fromkeys(OF_OTHERS, "") | {"checksum": f"{rank:016x}"}
    with open(folder / "ranks.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(row), lineterminator="\n")
        writer.writeheader()
        writer.writerow(row)
    seconds = float(np.nansum(times))
    record["timing"] |= {"simulate_started_s": began_s, "simulate_ended_s": began_s + seconds}
    record["timing"] |= {"simulate_s": None, "real_time_factor": None}
    record |= {
        "kind": "dry_run", "checksum": None, "spike_checksum": None,
        "description": description,
        "dry_run": {
            "rank": rank, "of": of, "spikes": "exact", "rate_hz": None, "routes": "exact",
            "compute_s": seconds, "inbox_s": 1e-3, "prepare_s": 1e-3, "words": 1000,
        },
    }  # fmt: skip
    (folder / "record.json").write_text(json.dumps(record))
    return folder


PROGRAM = """
import os, sys
sys.path[:0] = {paths!r}
import dry_record
sys.exit(dry_record.main(sys.argv[1:], **{made!r}))
"""


def program(path: Path, **made) -> Path:
    """An executable that takes the arguments of `miniapp --as-rank`."""
    return stand_in.script(path, PROGRAM.format(paths=sys.path, made=made))


def main(arguments: list[str], refuse: int | None = None, fail: int | None = None, **made) -> int:
    """Write the record that is asked for. `refuse`, `fail`: ranks for which the program does that."""
    import os

    run, *rest = arguments
    given = dict(zip(rest[::2], rest[1::2], strict=True))
    rank, of = int(given["--as-rank"]), int(given["--of"])
    if rank == refuse:
        print("miniapp: --of: a word cannot name so many lists; allowed: D up to 5", file=sys.stderr)
        return 2
    if rank == fail:
        print("miniapp: the disk is full", file=sys.stderr)
        return 1
    np.array([5, 10], dtype=np.uint32).tofile(given["--progress"])
    threads = int(os.environ["OMP_NUM_THREADS"])
    write_rank(given["--out"], json.loads(Path(run).read_text()), rank, of, threads=threads, **made)
    if "--rate" in given:
        path = Path(given["--out"]) / "record.json"
        record = json.loads(path.read_text())
        record["dry_run"] |= {"spikes": "drawn", "rate_hz": float(given["--rate"])}
        path.write_text(json.dumps(record))
    return 0
