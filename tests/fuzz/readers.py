"""The readers that are fuzzed, each with real files and with what it does with them.

Of a changed file a reader says in one line what is wrong (BadInput), or it returns a valid result: one whose
numbers JSON can hold. A new reader is an entry in READERS, here or in kept_readers.py. The tests and
`make fuzz` loop over them, and a test asks that every module that reads files is reached by one of them.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import compared
import dry_folder
import dry_record
import fake_scorep
import foreign_logs
import kept_readers
import numpy as np
import pandas as pd
import planted_power
import predicted
import pytest
import swept
import yaml
from reader import Reader
from results import command
from small_network import describe
from synthetic import compute_times, job, write_run
from tender import made_up

from spikemark import machines
from spikemark.core.reading import read_json
from spikemark.differences import entries
from spikemark.energy import own
from spikemark.energy.power_csv import read_power
from spikemark.network import description, placement_file
from spikemark.network.placement import PLACEMENTS
from spikemark.prediction.ledger import chain, show
from spikemark.prediction.ledger.score import score
from spikemark.prediction.partition import graph, placement
from spikemark.presets import music_config
from spikemark.records import dry_rank, dry_run, imported, record
from spikemark.records.gather import gather
from spikemark.running import experiments
from spikemark.scorep import profile, trace

ROOT = Path(__file__).parents[2]
DATA = ROOT / "analysis" / "tests" / "data"


def _run(folder: Path) -> None:
    write_run(folder, ranks=2, cycles=40, rank_sd=0.2, launch=job(1))


def _loaded(folder: Path) -> Any:
    run = record.load(folder)
    with np.errstate(all="raise"):
        waiting, compute = run.waiting(), run.compute()
    return [
        run.record, run.ranks.astype(object).where(run.ranks.notna(), None).values.tolist(), compute, waiting,
        run.delay_ratio, run.window, run.waits, run.cpus, run.node_of_rank, run.schedule, run.placement,
        run.launched, run.spent_s("waiting"), run.spent_s("deliver"),
    ]  # fmt: skip


def _energy(folder: Path) -> None:
    planted = planted_power.Planted()
    planted.run(folder, energy=planted_power.energy_fields(planted))
    planted_power.write_own(folder, planted, interval_s=1.0)


def _traces(source: Any) -> Any:
    return [[name, one.time_s, one.power_w, one.counter_j] for name, one in source.items()]


def _power(folder: Path) -> None:
    planted = planted_power.Planted()
    times = planted.times(2.0)
    columns = {"node1 [W]": planted.watts(times), "node2 [W]": planted.watts(times) / 2}
    planted_power.write_csv(folder / "power.csv", planted_power.T0 + times, columns)


def _dry_rank(folder: Path) -> None:
    run = describe(areas=4)
    run["time"]["simulate_ms"] = 4
    dry_record.write_rank(folder, run, 1, 4)


def _dry_run(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        dry_folder.write(patch, folder / "dry", description=dry_folder.description())


def _ledger(folder: Path) -> None:
    run = record.load(write_run(folder / "run", ranks=2, cycles=40))
    for factor in (1.0, 2.0):
        chain.add(folder / "ledger.jsonl", [predicted.content(run, factor)])


def _scored(folder: Path) -> Any:
    made = score(chain.read(folder / "ledger.jsonl"), [folder / "run"])
    return [show.content(made), show.table(made).cells]


def _imported(folder: Path) -> None:
    files = foreign_logs.table(folder, _times())
    command("import", "cycles", *files, "--unit", "s", "--cycle-ms", "0.1", "--out", folder / "mine")
    for path in files:
        path.unlink()


def _times(ranks: int = 3, cycles: int = 30) -> np.ndarray:
    return compute_times(ranks, cycles, mean_s=1e-3, cv=0.1, ar1=0.5, rank_sd=0.03, seed=2)


MUSIC = "np=2\n[A]\nbinary=./a\n[B]\nnp=3\nA.out -> B.in [128]\nB.out -> A.in [7]\n"
CALLED = {"otf2": {"communicate": "MPI_Alltoall", "wait": "MPI_Barrier"}}


def _import(name: str) -> Callable[[Path], Any]:
    """Imports all files of a folder, as `spikemark import cycles` does, and reads what was written."""

    def read(folder: Path) -> Any:
        files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix != ".def")
        if name in ("nest", "structure-aware"):
            files = [p for p in files if "cycle" in p.name]
        found = imported.read(files, "s" if name == "table" else None, CALLED.get(name), form=name or None)
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        if isinstance(found, imported.Sums):
            imported.save_sums(out, found)
            return imported.sums_in(out)
        about = {"files": ["x"], "unit": "s", "skipped": 0, "cycle_ms": None, "reader": name}
        made = imported.save(out, found, about)
        return [made.about, made.times, made.waiting, made.implied, made.exchange, made.cautions]

    return read


def _import_trace(folder: Path) -> Any:
    return imported.read([folder / "traces.otf2"], None, CALLED["otf2"], form="otf2").columns


def _real_nest(folder: Path) -> None:
    shutil.copytree(DATA / "nest-3.10", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.md"))


def _table(end: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        times, path = _times(), folder / f"times.{end}"
        if end == "npy":
            return np.save(path, times)
        ranks, cycles = np.indices(times.shape)
        columns = {
            "rank": ranks,
            "cycle": cycles,
            "compute": times,
            "communicate": foreign_logs.exchanged(times),
        }
        table = pd.DataFrame({name: part.ravel() for name, part in columns.items()})
        return table.to_csv(path, index=False) if end == "csv" else table.to_parquet(path)

    return make


def _scorep(folder: Path) -> None:
    run = record.load(write_run(folder / "record", ranks=2, cycles=20, rank_sd=0.3))
    fake_scorep.write(run, folder)


def _seen(found: list) -> Any:
    return [[one.seconds, one.visits, one.counts] for one in found]


def _traced(folder: Path) -> Any:
    found = trace.read(folder / "traces.otf2", 2)
    return [_seen(found), [one.waited_s for one in found]]


def _placement(end: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        described = description.read(describe(areas=4, neurons=50))
        placement_file.write(
            folder / f"placement{end}", placement.of_rule(described, next(iter(PLACEMENTS)), 4)
        )

    return make


def _placed(folder: Path) -> Any:
    found = placement_file.read(next(folder.iterdir()), 200)
    return [found.ranks, found.per_rank, found.merged().first, found.method]


def _described(folder: Path) -> Any:
    found = description.read(read_json(folder / "run.json"), "run.json: ")
    return [found, found.neurons, graph.load(folder / "run.json").sizes]


def _machine(name: str) -> Callable[[Path], Any]:
    return lambda folder: shutil.copy(machines.folder() / f"{name}.yaml", folder)


def _values(found: Any) -> Any:
    return {path: [value.value, value.unit, value.kind] for path, value in found.values.items()}


def _parts(folder: Path) -> Any:
    found = machines.load_any(folder / "simula-bath.yaml")
    return [_values(found), [asdict(share) for share in machines.shares(found, 6)]]


def _experiment(folder: Path) -> None:
    content = yaml.safe_load((ROOT / "workflows" / "experiments" / "smoke.yaml").read_text())
    (folder / "smoke.yaml").write_text(yaml.safe_dump(content))


def _expanded(folder: Path) -> Any:
    chosen = experiments.load(folder / "smoke.yaml")
    runs = experiments.expand(chosen) if experiments._number(chosen) < 200 else []
    return [run.without_description() for run in runs]


def _sweep(folder: Path) -> None:
    results, runs = swept.planned(folder)
    swept.write(results, runs[0], cycles=10)


def _gathered(folder: Path) -> Any:
    found = gather(folder)
    return [found.progress, found.left_out, found.failed, [m.configuration.label for m in found.runs]]


def _two_runs(folder: Path) -> None:
    for name in ("a", "b"):
        compared.run(folder / name, cycles=40, rank_sd=0.2, launch=job(1))


def _history(folder: Path) -> None:
    for name, mean_s in (("a", 1e-4), ("b", 2e-4)):
        entries.add(folder / "history", [compared.run(folder / "runs" / name, cycles=40, mean_s=mean_s)])


READERS: dict[str, Reader] = {
    "run record": Reader(_run, "record.json", _loaded),
    **{name: Reader(_run, name, _loaded) for name in ("launch.json", "ranks.csv", "cycles.npy")},
    "budget": Reader(_run, "*", lambda folder: command("budget", folder)),
    "diff": Reader(_two_runs, "b/*", lambda folder: command("diff", folder / "a", folder / "b")),
    "history": Reader(_history, "history/*.jsonl", lambda folder: command("history", folder / "history")),
    "energy.csv": Reader(_energy, "energy.csv", lambda f: _traces(own.source(record.load(f)).traces)),
    "energy": Reader(_energy, "*", lambda folder: command("energy", folder)),
    "power": Reader(_power, "power.csv", lambda f: _traces(read_power(f / "power.csv").channels)),
    "dry rank": Reader(_dry_rank, "*", lambda f: [(one := dry_rank.load(f)).record, one.row, one.span]),
    "dry run": Reader(_dry_run, "dry/*", lambda f: [(one := dry_run.load(f / "dry")).about, one.ranks]),
    "ledger": Reader(_ledger, "ledger.jsonl", _scored),
    "imported": Reader(_imported, "mine/*", lambda folder: command("budget", folder / "mine")),
    **{
        end: Reader(_table(end), "*", _import("table"), apart=end == "parquet")
        for end in ("npy", "csv", "parquet")
    },
    "nest of NEST 3.10": Reader(_real_nest, "*", _import("nest")),
    **{
        name: Reader(lambda folder, write=write: write(folder, _times()), "*", _import(name))
        for name, write in foreign_logs.WRITERS.items()
        if name != "otf2"
    },
    "otf2": Reader(lambda f: foreign_logs.trace(f, _times(2, 8)), "**/*.*", _import_trace, apart=True),
    "traces of Score-P": Reader(_scorep, "trace*/*.*", _traced, apart=True),
    "cubex": Reader(_scorep, "*.cubex", lambda folder: _seen(profile.read(folder / "profile.cubex", 2))),
    **{f"placement{end}": Reader(_placement(end), "*", _placed) for end in (".json", ".npz")},
    "run description": Reader(
        lambda f: (f / "run.json").write_text(json.dumps(describe(areas=3))), "run.json", _described
    ),
    "machine profile": Reader(
        _machine("epyc-vm"), "*.yaml", lambda f: _values(machines.load(f / "epyc-vm.yaml"))
    ),
    "machine of parts": Reader(_machine("simula-bath"), "*.yaml", _parts),
    "experiment": Reader(_experiment, "*.yaml", _expanded),
    "plan.json": Reader(_sweep, "plan.json", _gathered),
    "tender answer": Reader(made_up.write, "**/*.*", made_up.read),
    "MUSIC configuration": Reader(
        lambda f: (f / "model.music").write_text(MUSIC),
        "*.music",
        lambda f: [str(music_config.read(f / "model.music")), "read"],
    ),
    **kept_readers.READERS,
}  # fmt: skip
