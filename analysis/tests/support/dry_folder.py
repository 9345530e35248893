"""Made-up dry runs: ranks of a synthetic run, written in this process or by a stand-in for the mini-app."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import stand_in
import synthetic
from small_network import describe

from spikemark.core import places
from spikemark.launch.process import Finished
from spikemark.running import dry_run
from spikemark.running.dry_run import carry_out, plan

AREAS, CYCLES = 8, 400
UNMEASURED = ("synchronise", "exchange")
OF_OTHERS = ("messages", "bytes_sent", "simulate_s")


def description(**changes) -> dict:
    """A network of equal areas, one for each rank."""
    found = describe(areas=AREAS)
    found["time"]["simulate_ms"] = 0.1 * CYCLES
    return found | changes


def write_rank(
    folder, description: dict, rank: int, of: int, *, threads: int = 1, began_s: float = 0.0, **made
) -> Path:
    """The record of one rank of a dry run; `made` goes to synthetic.write_run, as for the real run."""
    ways = {name: description[name] for name in ("schedule", "placement", "delay_ratio")}
    cycles = round(description["time"]["simulate_ms"] / description["time"]["cycle_ms"])
    folder = synthetic.write_run(
        folder, ranks=of, threads=threads, description=description, cycles=cycles, **ways, **made
    )
    times = np.load(folder / "cycles.npy")[rank : rank + 1]
    table = pd.read_csv(folder / "ranks.csv", dtype=str)[rank : rank + 1]
    table.assign(**dict.fromkeys(OF_OTHERS, ""), checksum=f"{rank:016x}").to_csv(
        folder / "ranks.csv", index=False
    )

    def change(record):
        for place, name in enumerate(record["phases"]):
            sums = float(times[0, :, place].sum())
            about = {"mean_s": sums, "max_s": sums}
            if name in UNMEASURED:
                times[:, :, place] = np.nan
                about = {"mean_s": None, "max_s": None, "reason": "alone: the other ranks are made up"}
            record["timing"]["phases"][name] = about
        seconds = float(np.nansum(times))
        record["timing"] |= {"simulate_started_s": began_s, "simulate_ended_s": began_s + seconds}
        record["timing"] |= {"simulate_s": None, "real_time_factor": None}
        about = {
            "rank": rank, "of": of, "spikes": "exact", "rate_hz": None, "routes": "exact", "words": 1000,
            "compute_s": seconds, "inbox_s": 1e-3, "prepare_s": 1e-3,
        }  # fmt: skip
        record |= {"kind": "dry_run", "checksum": None, "spike_checksum": None}
        record |= {"description": description, "dry_run": about}

    synthetic.edit(folder, change)
    np.save(folder / "cycles.npy", times)
    return folder


def main(arguments: list[str], refuse: int | None = None, fail: int | None = None, **made) -> int:
    """As `miniapp --as-rank`. `refuse`, `fail`: ranks for which the program does that."""
    run, *rest = arguments
    given = dict(zip(rest[::2], rest[1::2], strict=True))
    if "--explain" in arguments:  # the real program says how much memory a rank takes
        real = [str(places.root() / "build" / "miniapp"), *arguments]
        return subprocess.run(real, env={**os.environ, "SPIKEMARK_MINIAPP": real[0]}).returncode
    rank, of = int(given["--as-rank"]), int(given["--of"])
    for status, bad, line in (
        (2, refuse, "--of: a word cannot name so many lists; allowed: D up to 5"),
        (1, fail, "the disk is full"),
    ):
        if rank == bad:
            print(f"miniapp: {line}", file=sys.stderr)
            return status
    threads = int(os.environ["OMP_NUM_THREADS"])
    folder = write_rank(given["--out"], json.loads(Path(run).read_text()), rank, of, threads=threads, **made)
    if "--rate" in given:
        drawn = {"spikes": "drawn", "rate_hz": float(given["--rate"])}
        synthetic.edit(folder, lambda record: record["dry_run"].update(drawn))
    return 0


def program(path: Path, **made) -> Path:
    """An executable that takes the arguments of `miniapp --as-rank`."""
    lines = ["import sys", f"sys.path[:0] = {sys.path!r}", "import dry_folder"]
    return stand_in.script(path, "\n".join([*lines, f"sys.exit(dry_folder.main(sys.argv[1:], **{made!r}))"]))


def in_process(monkeypatch, calls: list | None = None, refuse=None, fail=None, **made) -> None:
    """Ranks are written by this process. `calls` takes the groups; `made` goes to `write_run`."""

    def together(starts) -> list[Finished]:
        if calls is not None:
            calls.append([int(one.command[one.command.index("--as-rank") + 1]) for one in starts])
        found = []
        for one in starts:
            with monkeypatch.context() as inside:
                inside.setenv("OMP_NUM_THREADS", one.environment["OMP_NUM_THREADS"])
                status = main(one.command[1:], refuse=refuse, fail=fail, **made)
            said = {0: "", 1: "miniapp: the disk is full", 2: "miniapp: --of: too many"}[status]
            found.append(Finished(status, "", said))
        return found

    monkeypatch.setattr(dry_run, "together", together)
    monkeypatch.setattr("spikemark.running.dry_run.places.program", lambda _: Path("/miniapp"))


def write(monkeypatch, out: Path, *, of: int = AREAS, sample: int = 3, n: int = 1, **made):
    """The dry run of `sample` ranks, as `spikemark dryrun` leaves it."""
    run = made.pop("description", None) or description()
    in_process(monkeypatch, **made)
    return carry_out(plan(run, of, 1, n, sample), out)
