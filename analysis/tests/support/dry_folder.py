"""Made-up dry runs: ranks of a synthetic run, written here or by a stand-in for the mini-app."""

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
from spikemark.launch.process import FinishedProgram
from spikemark.running import dry_run
from spikemark.running.dry_run import carry_out, plan

AREAS, CYCLES = 8, 400
UNMEASURED = ("synchronise", "exchange")
OF_OTHERS = ("messages", "bytes_sent", "simulate_s")


def description(**changes) -> dict:
    """A network of equal areas, one for each rank."""
    network = describe(areas=AREAS)
    network["time"]["simulate_ms"] = 0.1 * CYCLES
    return network | changes


def write_rank(
    folder,
    description: dict,
    rank: int,
    ranks: int,
    *,
    threads: int = 1,
    began_s: float = 0.0,
    **options,
) -> Path:
    """Writes the record of one rank of a dry run.

    `options` go to synthetic.write_run, as for the real run.
    """
    cycles = round(description["time"]["simulate_ms"] / description["time"]["cycle_ms"])
    folder = synthetic.write_run(
        folder,
        ranks=ranks,
        threads=threads,
        description=description,
        cycles=cycles,
        schedule=description["schedule"],
        placement=description["placement"],
        delay_ratio=description["delay_ratio"],
        **options,
    )
    times = np.load(folder / "cycles.npy")[rank : rank + 1]
    table = pd.read_csv(folder / "ranks.csv", dtype=str)[rank : rank + 1]
    table = table.assign(**dict.fromkeys(OF_OTHERS, ""), checksum=f"{rank:016x}")
    table.to_csv(folder / "ranks.csv", index=False)

    def change(record):
        for place, name in enumerate(record["phases"]):
            phase_s = float(times[0, :, place].sum())
            record["timing"]["phases"][name] = {"mean_s": phase_s, "max_s": phase_s}
            if name in UNMEASURED:
                times[:, :, place] = np.nan
                record["timing"]["phases"][name] = {
                    "mean_s": None,
                    "max_s": None,
                    "reason": "alone: the other ranks are made up",
                }
        seconds = float(np.nansum(times))
        record["timing"] |= {
            "simulate_started_s": began_s,
            "simulate_ended_s": began_s + seconds,
            "simulate_s": None,
            "real_time_factor": None,
        }
        record |= {
            "kind": "dry_run",
            "checksum": None,
            "spike_checksum": None,
            "description": description,
            "dry_run": {
                "rank": rank,
                "of": ranks,
                "spikes": "exact",
                "rate_hz": None,
                "routes": "exact",
                "words": 1000,
                "compute_s": seconds,
                "inbox_s": 1e-3,
                "prepare_s": 1e-3,
            },
        }

    synthetic.edit(folder, change)
    np.save(folder / "cycles.npy", times)
    return folder


def main(
    arguments: list[str], refuse: int | None = None, fail: int | None = None, **options
) -> int:
    """Does what `miniapp --as-rank` does. `refuse`, `fail`: ranks for which the program does so."""
    run, *words = arguments
    if "--explain" in arguments:  # the real program says how much memory a rank takes
        miniapp = str(places.root() / "build" / "miniapp")
        environment = {**os.environ, "SPIKEMARK_MINIAPP": miniapp}
        return subprocess.run([miniapp, *arguments], env=environment).returncode
    values = dict(zip(words[::2], words[1::2], strict=True))
    rank = int(values["--as-rank"])
    if rank == refuse:
        line = "--of: a word cannot name so many lists; allowed: D up to 5"
        print(f"miniapp: {line}", file=sys.stderr)
        return 2
    if rank == fail:
        print("miniapp: the disk is full", file=sys.stderr)
        return 1
    folder = write_rank(
        values["--out"],
        json.loads(Path(run).read_text()),
        rank,
        int(values["--of"]),
        threads=int(os.environ["OMP_NUM_THREADS"]),
        **options,
    )
    if "--rate" in values:
        drawn = {"spikes": "drawn", "rate_hz": float(values["--rate"])}
        synthetic.edit(folder, lambda record: record["dry_run"].update(drawn))
    return 0


def program(path: Path, **options) -> Path:
    """An executable that takes the arguments of `miniapp --as-rank`."""
    lines = [
        "import sys",
        f"sys.path[:0] = {sys.path!r}",
        "import dry_folder",
        f"sys.exit(dry_folder.main(sys.argv[1:], **{options!r}))",
    ]
    return stand_in.script(path, "\n".join(lines))


#: What a rank prints, by its exit status.
ERRORS = {0: "", 1: "miniapp: the disk is full", 2: "miniapp: --of: too many"}


def in_process(monkeypatch, calls: list | None = None, refuse=None, fail=None, **options) -> None:
    """Ranks are written by this process.

    `calls` takes the groups of ranks that are started together; `options` go to `write_rank`.
    """

    def together(starts) -> list[FinishedProgram]:
        if calls is not None:
            calls.append([_rank(start.command) for start in starts])
        finished = []
        for start in starts:
            with monkeypatch.context() as inside:
                inside.setenv("OMP_NUM_THREADS", start.environment["OMP_NUM_THREADS"])
                status = main(start.command[1:], refuse=refuse, fail=fail, **options)
            finished.append(FinishedProgram(status, "", ERRORS[status]))
        return finished

    monkeypatch.setattr(dry_run, "together", together)
    monkeypatch.setattr("spikemark.running.dry_run.places.program", lambda _: Path("/miniapp"))


def _rank(command: list[str]) -> int:
    """The rank that a command is about."""
    return int(command[command.index("--as-rank") + 1])


def write(monkeypatch, out: Path, *, of: int = AREAS, sample: int = 3, n: int = 1, **options):
    """The dry run of `sample` ranks, as `spikemark dryrun` leaves it."""
    run = options.pop("description", None) or description()
    in_process(monkeypatch, **options)
    return carry_out(plan(run, of, 1, n, sample), out)
