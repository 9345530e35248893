"""What is disturbed: commands that write results, what lies there before, and how a whole result is told."""

import hashlib
import json
from pathlib import Path
from typing import Any

from spikemark.core.reading import read_json
from spikemark.differences import entries
from spikemark.network import placement_file
from spikemark.records import dry_rank, dry_run, imported, record, run_files
from spikemark.records.results import Results
from spikemark.running import experiments, sweeps

from . import tender_subjects
from .subject import Parts, Subject, ran

RUN, EXPERIMENT, OUT, HISTORY, PLACEMENT = "run.json", "faults.yaml", "out", "history", "placement.json"
NEURONS, CYCLES, RANKS = 60, 100, 2


def description(seed: int = 1) -> dict[str, Any]:
    """Two areas of a few neurons for a few cycles."""
    delay = {"mean": 1.5, "sd": 0.75, "min": 1, "max": 2}
    fires = {"model": "ignore_and_fire", "rate_hz": 50}
    names = ("left", "right")
    return {
        "format_version": 1,
        "seed": seed,
        "delay_ratio": 10,
        "time": {"resolution_ms": 0.1, "cycle_ms": 0.1, "warmup_ms": 1, "simulate_ms": CYCLES / 10},
        "network": {
            "populations": [{"name": name, "size": NEURONS, "neuron": fires} for name in names],
            "projections": [
                {"source": source, "target": target, "indegree": 10, "delay": delay}
                for source in names
                for target in names
            ],
        },
        "record": {"cycles": True, "spikes": True},
    }


def _describe(folder: Path) -> None:
    (folder / RUN).write_text(json.dumps(description()))


# A run of the mini-app


def _records(folder: Path) -> Parts:
    out = folder / OUT
    if not out.exists() or not any(out.iterdir()):
        return {}
    return {"record": record.load(out).record.checksum}


def _recorded(folder: Path) -> None:
    """A run of another seed."""
    _describe(folder)
    ran([*_miniapp(folder), "--set", "seed=2"])


def _miniapp(folder: Path) -> list[str]:
    return ["miniapp", str(folder / RUN), "--out", str(folder / OUT)]


# A results folder


def _results(folder: Path) -> Results:
    return Results(folder / "faults" / "here")


def experiment(folder: Path) -> experiments.Experiment:
    """Writes an experiment of three runs, and reads it."""
    _describe(folder)
    (folder / EXPERIMENT).write_text(
        f"name: faults\ntitle: Three short runs\ndescription: {RUN}\nranks: {RANKS}\nseeds: 1\n"
        "grid:\n  - schedule: [conventional, placement_only, structure_aware]\n"
        "shuffle_seed: 1\ntime_limit_s: 60\n"
    )
    return experiments.load(folder / EXPERIMENT)


def _planned(folder: Path) -> None:
    found = experiment(folder)
    sweeps.plan(found, experiments.expand(found), _results(folder))


def _runs(folder: Path) -> Parts:
    found = {}
    for path in sorted(_results(folder).path.glob("runs/*")):
        if any(path.iterdir()):
            found[path.name] = record.load(path).record.checksum
            read_json(path / run_files.LAUNCH)
    return found


def _run(folder: Path) -> list[str]:
    first = _results(folder).read_plan().runs[0].id
    return ["spikemark", "run", str(_results(folder).path), first]


def _sweep(folder: Path) -> list[str]:
    return ["spikemark", "sweep", str(folder / EXPERIMENT), "--machine", "here", "--results", str(folder)]


# A dry run


def _dry(folder: Path) -> Parts:
    found = {}
    for path in sorted((folder / OUT / dry_run.EACH).glob("*")):
        found[f"rank {path.name}"] = dry_rank.load(path).row["checksum"]
    if (folder / OUT / dry_run.ABOUT).exists():
        found["all"] = str(dry_run.load(folder / OUT).timed.tolist())
    return found


def _dryrun(folder: Path) -> list[str]:
    words = ["--of", "4", "--sample", "2", "--threads", "1", "--out", str(folder / OUT)]
    return ["spikemark", "dryrun", str(folder / RUN), *words]


# Imported cycle times, and placements


def _table(folder: Path, slower: float = 1.0) -> None:
    for rank in range(RANKS):
        lines = [f"{slower * (1 + rank + cycle % 7)},{1 + cycle % 3}" for cycle in range(CYCLES)]
        (folder / f"rank-{rank}.csv").write_text("\n".join(["compute,communicate", *lines]) + "\n")


def _import(folder: Path) -> list[str]:
    files = [str(folder / f"rank-{rank}.csv") for rank in range(RANKS)]
    return ["spikemark", "import", "cycles", *files, "--unit", "ms", "--out", str(folder / OUT)]


def _imported(folder: Path) -> Parts:
    if not (folder / OUT / imported.ABOUT).exists():
        return {}
    found = imported.load(folder / OUT)
    said = found.about.model_dump_json().encode()
    return {"import": hashlib.sha256(said + found.times.tobytes()).hexdigest()}


def _imported_before(folder: Path) -> None:
    _table(folder, 2.0)
    files = [folder / f"rank-{rank}.csv" for rank in range(RANKS)]
    found = imported.read(files, "ms")
    about = {"files": ["before"], "unit": "ms", "skipped": 0, "cycle_ms": None, "reader": "table"}
    imported.save(folder / OUT, found, about)
    _table(folder)


def _placed(folder: Path) -> Parts:
    path = folder / PLACEMENT
    if not path.exists():
        return {}
    placement_file.read(path, 2 * NEURONS)
    return {"placement": hashlib.sha256(path.read_bytes()).hexdigest()}


def _placed_before(folder: Path) -> None:
    _describe(folder)
    earlier = placement_file.Placement.of(RANKS, [NEURONS, 2 * NEURONS], [1, 0], method="before")
    placement_file.write(folder / PLACEMENT, earlier)


def _partition(folder: Path) -> list[str]:
    words = ["--ranks", str(RANKS), "--method", "greedy_swap", "--out", str(folder / PLACEMENT)]
    return ["spikemark", "partition", str(folder / RUN), *words]


# A history


def _kept(folder: Path) -> None:
    """A history of one run, and the record of another one that nothing disturbed."""
    _describe(folder)
    for seed, out in ((2, "before"), (1, OUT)):
        ran(["miniapp", str(folder / RUN), "--out", str(folder / out), "--set", f"seed={seed}"])
        path = folder / out / run_files.RECORD
        content = read_json(path)
        content["warnings"], content["host"]["foreign_load"] = [], 0.0
        path.write_text(json.dumps(content))
    entries.add(folder / HISTORY, [folder / "before"])


def _entries(folder: Path) -> Parts:
    found = {}
    for path in sorted((folder / HISTORY).glob(f"*{entries.END}")):
        for number, entry in enumerate(entries.read(path)):
            found[f"entry {number}"] = hashlib.sha256(entry.model_dump_json().encode()).hexdigest()
    return found


def _add(folder: Path) -> list[str]:
    return ["spikemark", "history", "add", str(folder / HISTORY), str(folder / OUT)]


SUBJECTS = (
    Subject("a run of the mini-app", _describe, _miniapp, _records, most=40, output=OUT),
    Subject("`spikemark run`", _planned, _run, _runs, keeps=True),
    Subject("`dryrun` of two ranks", _describe, _dryrun, _dry, keeps=True, output=OUT),
    Subject("`import` in place of another", _imported_before, _import, _imported, output=OUT),
    Subject("`partition` in place of another", _placed_before, _partition, _placed, output=PLACEMENT),
    Subject("a sweep of three runs", experiment, _sweep, _runs, keeps=True, most=3),
    Subject("a run of the mini-app in place of another", _recorded, _miniapp, _records, most=10, output=OUT),
    Subject("`history add`", _kept, _add, _entries, output=HISTORY),
    Subject("`import`", _table, _import, _imported, output=OUT),
    Subject("`partition`", _describe, _partition, _placed, output=PLACEMENT),
    *tender_subjects.SUBJECTS,
)
