"""A made-up dry run as a folder, quickly: ranks are written in this process instead of by the mini-app."""

from pathlib import Path

import dry_record
from small_network import describe

from spikemark.core.process import Finished
from spikemark.running.dry_run import start
from spikemark.running.dry_run.carry_out import carry_out
from spikemark.running.dry_run.plan import plan

AREAS, CYCLES = 8, 400


def description(**changes) -> dict:
    """A network of equal areas, one for each rank."""
    found = describe(areas=AREAS)
    found["time"]["simulate_ms"] = 0.1 * CYCLES
    return found | changes


def in_process(monkeypatch, calls: list | None = None, refuse=None, fail=None, **made) -> None:
    """Ranks are written by this process. `calls` takes the groups; `made` goes to `write_run`."""

    def watched(starts, wave, place, advance=None) -> list[Finished]:
        if calls is not None:
            calls.append(list(wave))
        found = []
        for one in starts:
            with monkeypatch.context() as inside:
                inside.setenv("OMP_NUM_THREADS", one.environment["OMP_NUM_THREADS"])
                status = dry_record.main(one.command[1:], refuse=refuse, fail=fail, **made)
            said = {0: "", 1: "miniapp: the disk is full", 2: "miniapp: --of: too many"}[status]
            found.append(Finished(status, "", said))
        if advance:
            advance(5 * len(wave))
        return found

    monkeypatch.setattr(start, "watched", watched)
    monkeypatch.setattr("spikemark.running.dry_run.carry_out.places.program", lambda _: Path("/miniapp"))


def write(monkeypatch, out: Path, *, of: int = AREAS, sample: int = 3, n: int = 1, **made):
    """The dry run of `sample` ranks, as `spikemark dryrun` leaves it."""
    run = made.pop("description", None) or description()
    in_process(monkeypatch, **made)
    return carry_out(plan(run, of, 1, n, sample), out)
