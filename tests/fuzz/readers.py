"""The readers that are fuzzed, each with real files and with what it does with them.

A new reader is an entry in READERS. The tests and `make fuzz` loop over them.
"""

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import compared
import dry_folder
import fake_exchanges
import fake_scorep
import foreign_logs
import mam_copy
import numpy as np
import pandas as pd
import planted_power
import pytest
import swept
import yaml
from reading import Reader, command
from small_network import describe
from synthetic import compute_times, job, write_run
from tender import offered

from spikemark import machines
from spikemark.cli import options
from spikemark.core.reading import read_json
from spikemark.diff import history
from spikemark.measuring import cachesim, energy, exchanges, meter, scorep
from spikemark.models.published import papers
from spikemark.network import description, named_files, placement_file
from spikemark.network.placement import PLACEMENTS, ranges
from spikemark.network.presets import mam_data, voxels
from spikemark.prediction import anchors, points, question
from spikemark.prediction.partition import graph
from spikemark.records import dry_run, imported, record
from spikemark.records.frames import configurations, load_folder
from spikemark.running import experiments
from spikemark.tender import acceptance, check, formats

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "workflows" / "experiments"
SMOKE = yaml.safe_dump(yaml.safe_load((EXPERIMENTS / "smoke.yaml").read_text()))
REAL_NEST = ROOT / "analysis" / "tests" / "data" / "nest-3.10"
CALLED = {"otf2": {"communicate": "MPI_Alltoall", "wait": "MPI_Barrier"}}
RUNS = "nodes,ranks,threads,real_time_factor,communicate\n1,2,64,60,\n2,4,64,31,3.5\n4,8,64,16.5,2.5\n"
POINTS = "\n".join(papers.path("points").read_text().splitlines()[:7])
CACHES = {"synaptic_events": 1000, "first_accesses": 200, "misses": 250, "predicted": 240.0}


def text(name: str, content: str | Callable[[], Any]) -> Callable[[Path], Any]:
    """Makes one file; what is no text becomes JSON."""
    return lambda folder: (folder / name).write_text(
        content if isinstance(content, str) else json.dumps(content())
    )


def patched(made: Callable[[pytest.MonkeyPatch], Any]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        return made(patch)


def times(ranks: int = 3, cycles: int = 30) -> np.ndarray:
    return compute_times(ranks, cycles, mean_s=1e-3, cv=0.1, ar1=0.5, rank_sd=0.03, seed=2)


# Runs


def one_run(folder: Path) -> None:
    write_run(folder, ranks=2, cycles=40, rank_sd=0.2, launch=job(1))


def loaded(folder: Path) -> Any:
    run = record.load(folder)
    with np.errstate(all="raise"):
        waiting, compute = run.waiting(), run.compute()
    return [
        run.record, run.ranks.astype(object).where(run.ranks.notna(), None).values.tolist(), compute, waiting,
        run.delay_ratio, run.window, run.node_of_rank, run.schedule, run.placement,
        run.launched, run.spent_s("waiting"), run.spent_s("deliver"),
    ]  # fmt: skip


def two_runs(folder: Path) -> None:
    for name in ("a", "b"):
        compared.run(folder / name, cycles=40, rank_sd=0.2, launch=job(1))


def entries(folder: Path) -> None:
    for name, mean_s in (("a", 1e-4), ("b", 2e-4)):
        history.add(folder / "history", [compared.run(folder / "runs" / name, cycles=40, mean_s=mean_s)])


def sweep(folder: Path) -> None:
    results, runs = swept.planned(folder)
    swept.write(results, runs[0], cycles=10)


def gathered(folder: Path) -> Any:
    found = load_folder(folder)
    return [len(found.missing), found.left_out, found.failed, list(configurations(found.runs))]


def dry_rank(folder: Path) -> None:
    run = describe(areas=4)
    run["time"]["simulate_ms"] = 4
    dry_folder.write_rank(folder, run, 1, 4)


def expanded(folder: Path) -> Any:
    chosen = experiments.load(folder / "smoke.yaml")
    runs = experiments.expand(chosen) if experiments.number(chosen) < 200 else []
    return [run.without_description() for run in runs]


# Energy, caches, Score-P


def own_energy(folder: Path) -> None:
    planted = planted_power.Planted()
    planted.run(folder, energy=planted_power.energy_fields(planted))
    planted_power.write_own(folder, planted, interval_s=1.0)


def power(path: Path) -> Path:
    planted = planted_power.Planted()
    found = planted.times(2.0)
    columns = {"node1 [W]": planted.watts(found), "node2 [W]": planted.watts(found) / 2}
    return planted_power.write_csv(path, planted_power.T0 + found, columns)


def traces(source: Any) -> Any:
    return [[name, one.time_s, one.power_w, one.counter_j] for name, one in source.items()]


def kept_power(folder: Path) -> None:
    results, runs = swept.planned(folder)
    planted_power.Planted().run(results.run(runs[0].id))
    energy.keep(record.load(results.run(runs[0].id)), power(folder / "meter.csv"), channels=["node1 [W]"],
                offset_s=0.0, align="times", at_wall_percent=None)  # fmt: skip


def measured(folder: Path) -> Any:
    found = energy.of_run(record.load(next(iter((folder / "runs").iterdir()))))
    return [found.gross_j.value, found.idle_w.value, found.duration_s]


def instrumented(folder: Path) -> None:
    run = record.load(write_run(folder / "record", ranks=2, cycles=20, rank_sd=0.3))
    fake_scorep.write(run, folder)


def seen(found: list) -> Any:
    return [[one.seconds, one.visits] for one in found]


def traced(folder: Path) -> Any:
    found = scorep.read_trace(folder / "traces.otf2", 2)
    return [seen(found), [one.waited_s for one in found]]


# Times of other programs


def kept_import(folder: Path) -> None:
    files = foreign_logs.table(folder, times())
    command("import", *files, "--unit", "s", "--cycle-ms", "0.1", "--out", folder / "mine")
    for path in files:
        path.unlink()


def importing(name: str) -> Callable[[Path], Any]:
    """Imports all files of a folder, as `spikemark import cycles` does, and reads what was written."""

    def read(folder: Path) -> Any:
        files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix != ".def")
        if name in ("nest", "structure-aware"):
            files = [p for p in files if "cycle" in p.name]
        found = imported.read(files, "s" if name == "table" else None, CALLED.get(name), form=name or None)
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        about = {"files": ["x"], "unit": "s", "skipped": 0, "cycle_ms": None, "reader": name}
        made = imported.save(out, found, about)
        if isinstance(made, imported.Sums):
            return made
        return [made.about, made.times, made.waiting, made.exchange, made.cautions]

    return read


def table(end: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        found, path = times(), folder / f"times.{end}"
        if end == "npy":
            return np.save(path, found)
        ranks, cycles = np.indices(found.shape)
        columns = {"rank": ranks, "cycle": cycles, "compute": found,
                   "communicate": foreign_logs.exchanged(found)}  # fmt: skip
        made = pd.DataFrame({name: part.ravel() for name, part in columns.items()})
        return made.to_csv(path, index=False) if end == "csv" else made.to_parquet(path)

    return make


def of_benches(folder: Path) -> None:
    path = exchanges.folder("here", folder) / exchanges.FILE
    path.parent.mkdir(parents=True)
    exchanges.ordered(exchanges.repetitions(fake_exchanges.content())[0]).to_csv(path, index=False)


# Networks, placements, machines


def placement(folder: Path) -> None:
    described = description.read(describe(areas=4, neurons=50))
    found = ranges(described.network, next(iter(PLACEMENTS)), 4)[0]
    placement_file.write(folder / "placement.json", found)


def placed(folder: Path) -> Any:
    found = placement_file.read(next(folder.iterdir()), 200)
    return [found.ranks, found.per_rank, found.merged().first, found.method]


def described(folder: Path) -> Any:
    found = description.read(read_json(folder / "run.json"), "run.json: ")
    return [found, found.neurons, graph.load(folder / "run.json").sizes]


def asked(folder: Path) -> Any:
    found = question.of_file(folder / "run.json")
    return [found.title, found.description, found.named]


def areas(folder: Path) -> None:
    mam_copy.write(folder)
    np.save(folder / "K_prime_original.npy", np.full((14, 14), 3.0))


def copy_of(path: Path) -> Callable[[Path], Any]:
    return lambda folder: shutil.copy(path, folder)


def values(found: Any) -> Any:
    return {path: [value.value, value.unit, value.kind] for path, value in found.values.items()}


def parts(folder: Path) -> Any:
    found = machines.load_any(folder / "simula-bath.yaml")
    return [values(found), [asdict(share) for share in machines.shares(found, 6)]]


# Tenders


def offer(folder: Path) -> None:
    """A tender and the answer of an honest bidder, which are made once, or were by others."""
    if offer.made is None:
        offer.kept = tempfile.TemporaryDirectory()
        offer.made = Path(offer.kept.name)
        offered.write(offer.made)
    shutil.copytree(offer.made, folder, dirs_exist_ok=True)


offer.made = None


def sealed(folder: Path) -> Any:
    """As a buyer would seal it who means harm."""
    formats.write_manifest(folder / "bundle")
    return formats.read_bundle(folder / "bundle").tender


def checked(folder: Path) -> Any:
    """What the checker says of an answer, whose manifest fits it."""
    if (folder / "answer" / formats.MANIFEST).is_file():
        formats.write_manifest(folder / "answer")
    report, found = check.check(folder / "answer", formats.read_bundle(folder / "bundle"))
    return [report.content(), found and found.bidder]


def secret(folder: Path) -> Any:
    return acceptance.read(folder / "bundle.secret.json", formats.read_bundle(folder / "bundle")).seed


NETWORK = text("run.json", lambda: describe(areas=3))
VOXELS = text("voxels.json", lambda: voxels.describe(form="graph", voxels=27, neurons=540, indegree=20))
ORDERS = text("order.json", lambda: {"a": [3, 1, 0, 2], "b": {"table": [[0, 1], [2, 3]]}})


def predicted(folder: Path) -> Any:
    """Own runs, and times of the first published run from them."""
    like = points.published()[0]
    own = points.own_runs(folder / "runs.csv", like)
    made = anchors.predict([like], own)
    return [[(run.nodes, run.cores, run.seconds) for run in own], made.total[0].tolist(), made.differs]


READERS: dict[str, Reader] = {
    "run record": Reader(one_run, "record.json", loaded),
    **{name: Reader(one_run, name, loaded) for name in ("launch.json", "ranks.csv", "cycles.npy")},
    "waiting": Reader(one_run, "*", lambda f: command("waiting", f)),
    "diff": Reader(two_runs, "b/*", lambda f: command("diff", f / "a", f / "b")),
    "history": Reader(entries, "history/*.jsonl", lambda f: command("diff", "--history", f / "history")),
    "energy.csv": Reader(own_energy, "energy.csv", lambda f: traces(energy.own(record.load(f)).traces)),
    "energy": Reader(own_energy, "*", lambda f: command("energy", f)),
    "power": Reader(lambda f: power(f / "power.csv"), "*", lambda f: traces(meter.read(f / "power.csv"))),
    "kept power": Reader(kept_power, "power/*", measured),
    "dry rank": Reader(dry_rank, "*", lambda f: [(one := dry_run.load_rank(f)).record, one.counts]),
    "dry run": Reader(
        lambda f: patched(lambda patch: dry_folder.write(patch, f / "dry")), "dry/*",
        lambda f: [(one := dry_run.load(f / "dry")).about, one.ranks],
    ),
    "imported": Reader(kept_import, "mine/*", lambda f: command("waiting", f / "mine")),
    **{e: Reader(table(e), "*", importing("table"), e == "parquet") for e in ("npy", "csv", "parquet")},
    "nest of NEST 3.10": Reader(
        lambda f: [shutil.copy(path, f) for path in REAL_NEST.iterdir() if path.suffix != ".md"], "*",
        importing("nest"),
    ),
    **{
        name: Reader(lambda f, write=write: write(f, times()), "*", importing(name))
        for name, write in foreign_logs.WRITERS.items() if name != "otf2"
    },
    "otf2": Reader(
        lambda f: foreign_logs.trace(f, times(2, 8)), "**/*.*",
        lambda f: imported.read([f / "traces.otf2"], None, CALLED["otf2"], form="otf2").columns, apart=True,
    ),
    "traces of Score-P": Reader(instrumented, "trace*/*.*", traced, apart=True),
    "cubex": Reader(instrumented, "*.cubex", lambda f: seen(scorep.read_profile(f / "profile.cubex", 2))),
    "simulated caches": Reader(text("a.json", lambda: CACHES), "*", lambda f: cachesim.read(f / "a.json")),
    "bench tables": Reader(
        of_benches, "bench/here/*.csv",
        lambda f: exchanges.read(exchanges.folder("here", f) / exchanges.FILE).to_dict("list"), apart=True,
    ),
    "placement": Reader(placement, "*", placed),
    "run description": Reader(NETWORK, "run.json", described),
    "network of a question": Reader(NETWORK, "run.json", asked),
    "description with settings": Reader(
        NETWORK, "run.json", lambda f: options.read_description(f / "run.json", ["time.simulate_ms=5"])
    ),
    "voxel graph": Reader(VOXELS, "*.json", lambda f: graph.load(f / "voxels.json").sizes),
    "order of ranks": Reader(ORDERS, "*.json", lambda f: named_files.digest(f / "order.json#b")),
    "data of the multi-area model": Reader(areas, "**/*.*", lambda f: vars(mam_data.read(str(f)))),
    "machine profile": Reader(
        copy_of(machines.folder() / "epyc-vm.yaml"), "*.yaml",
        lambda f: values(machines.load(f / "epyc-vm.yaml")),
    ),
    "machine of parts": Reader(copy_of(machines.folder() / "simula-bath.yaml"), "*.yaml", parts),
    "own runs": Reader(text("runs.csv", RUNS), "*", predicted),
    "points": Reader(
        text("points.csv", POINTS), "*",
        lambda f: [(run.version, run.cores, run.seconds, run.sd) for run in points.read(f / "points.csv")],
    ),
    "experiment": Reader(text("smoke.yaml", SMOKE), "*", expanded),
    "plan.json": Reader(sweep, "plan.json", gathered),
    "tender bundle": Reader(offer, "bundle/**/*.json", sealed),
    "tender answer": Reader(offer, "answer/**/*.*", checked),
    "secret of a tender": Reader(offer, "bundle.secret.json", secret),
}  # fmt: skip
