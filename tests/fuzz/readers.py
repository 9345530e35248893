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
from spikemark.measuring import cachesim, energy, exchanges, meter_file, scorep_files
from spikemark.measuring.kept_power import keep
from spikemark.network import description, named_files, placement_file
from spikemark.network.placement import PLACEMENTS, ranges
from spikemark.network.presets import mam_data, voxels
from spikemark.prediction import anchors, points, question
from spikemark.prediction.partition import graph
from spikemark.records import dry_run, imported, record
from spikemark.records.frames import configurations, load_folder
from spikemark.running import experiments
from spikemark_tender import acceptance, check, formats

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "workflows" / "experiments"
SMOKE = yaml.safe_dump(yaml.safe_load((EXPERIMENTS / "smoke.yaml").read_text()))
REAL_NEST = ROOT / "analysis" / "tests" / "data" / "nest-3.10"
CALLED = {"otf2": {"communicate": "MPI_Alltoall", "wait": "MPI_Barrier"}}
RUNS = (
    "nodes,ranks,threads,real_time_factor,communicate\n1,2,64,60,\n2,4,64,31,3.5\n4,8,64,16.5,2.5\n"
)
POINTS = "\n".join(points.POINTS.read_text().splitlines()[:7])
CACHES = {"synaptic_events": 1000, "first_accesses": 200, "misses": 250, "predicted": 240.0}


def text(name: str, content: str | Callable[[], Any]) -> Callable[[Path], Any]:
    """Makes one file; what is no text becomes JSON."""

    def make(folder: Path) -> None:
        words = content if isinstance(content, str) else json.dumps(content())
        (folder / name).write_text(words)

    return make


def dry_run_folder(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        dry_folder.write(patch, folder / "dry")


def times(ranks: int = 3, cycles: int = 30) -> np.ndarray:
    return compute_times(ranks, cycles, mean_s=1e-3, cv=0.1, ar1=0.5, rank_sd=0.03, seed=2)


# Runs


def one_run(folder: Path) -> None:
    write_run(folder, ranks=2, cycles=40, rank_sd=0.2, launch=job(1))


def loaded(folder: Path) -> Any:
    run = record.load_run(folder)
    with np.errstate(all="raise"):
        waiting, compute = run.waiting(), run.compute()
    return [
        run.record,
        run.ranks.astype(object).where(run.ranks.notna(), None).values.tolist(),
        compute,
        waiting,
        run.delay_ratio,
        run.window,
        run.node_of_rank,
        run.schedule,
        run.placement,
        run.launched,
        run.spent_s("waiting"),
        run.spent_s("deliver"),
    ]


def two_runs(folder: Path) -> None:
    for name in ("a", "b"):
        compared.run(folder / name, cycles=40, rank_sd=0.2, launch=job(1))


def entries(folder: Path) -> None:
    for name, mean_s in (("a", 1e-2), ("b", 2e-2)):
        run = compared.run(folder / "runs" / name, cycles=40, mean_s=mean_s)
        history.add(folder / "history", [run])


def sweep(folder: Path) -> None:
    results, runs = swept.planned(folder)
    swept.write(results, runs[0], cycles=10)


def gathered(folder: Path) -> Any:
    frames = load_folder(folder)
    return [len(frames.missing), frames.left_out, frames.failed, list(configurations(frames.runs))]


def dry_rank(folder: Path) -> None:
    run = describe(areas=4)
    run["time"]["simulate_ms"] = 4
    dry_folder.write_rank(folder, run, 1, 4)


def dry_counts(folder: Path) -> Any:
    rank = dry_run.load_rank(folder)
    return [rank.record, rank.counts]


def dry_ranks(folder: Path) -> Any:
    run = dry_run.load_dry_run(folder / "dry")
    return [run.about, run.ranks]


def expanded(folder: Path) -> Any:
    experiment = experiments.load_experiment(folder / "smoke.yaml")
    if experiments.number(experiment) >= 200:
        return []
    return [run.without_description() for run in experiments.expand(experiment)]


# Energy, caches, Score-P


def own_energy(folder: Path) -> None:
    planted = planted_power.Planted()
    planted.run(folder, energy=planted_power.energy_fields(planted))
    planted_power.write_own(folder, planted, interval_s=1.0)


def power(path: Path) -> Path:
    planted = planted_power.Planted()
    times_s = planted.times(2.0)
    watts = planted.watts(times_s)
    columns = {"node1 [W]": watts, "node2 [W]": watts / 2}
    return planted_power.write_csv(path, planted_power.T0 + times_s, columns)


def traces(source: Any) -> Any:
    return [[name, trace.time_s, trace.power_w, trace.counter_j] for name, trace in source.items()]


def kept_power(folder: Path) -> None:
    results, runs = swept.planned(folder)
    planted_power.Planted().run(results.run(runs[0].id))
    keep(
        record.load_run(results.run(runs[0].id)),
        power(folder / "meter.csv"),
        channels=["node1 [W]"],
        offset_s=0.0,
        align="times",
        at_wall_percent=None,
    )


def measured(folder: Path) -> Any:
    (run,) = (folder / "runs").iterdir()
    result = energy.of_run(record.load_run(run))
    return [result.gross_j.value, result.idle_w.value, result.duration_s]


def instrumented(folder: Path) -> None:
    run = record.load_run(write_run(folder / "record", ranks=2, cycles=20, rank_sd=0.3))
    fake_scorep.write(run, folder)


def profiled(folder: Path) -> Any:
    ranks = scorep_files.read_profile(folder / "profile.cubex", 2)
    return [[rank.seconds, rank.visits] for rank in ranks]


def traced(folder: Path) -> Any:
    ranks = scorep_files.read_trace(folder / "traces.otf2", 2)
    return [[rank.seconds, rank.visits, rank.waited_s] for rank in ranks]


# Times of other programs


def kept_import(folder: Path) -> None:
    files = foreign_logs.table(folder, times())
    command("import", *files, "--unit", "s", "--cycle-ms", "0.1", "--out", folder / "mine")
    for path in files:
        path.unlink()


def importing(name: str) -> Callable[[Path], Any]:
    """Imports all files of a folder, as `spikemark import cycles` does, and reads the result."""

    def read(folder: Path) -> Any:
        files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix != ".def")
        if name in ("nest", "structure-aware"):
            files = [p for p in files if "cycle" in p.name]
        unit = "s" if name == "table" else None
        times_of_program = imported.read_times(files, unit, CALLED.get(name), form=name or None)
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        about = {"files": ["x"], "unit": "s", "skipped": 0, "cycle_ms": None, "reader": name}
        run = imported.save(out, times_of_program, about)
        if isinstance(run, imported.Sums):
            return run
        return [run.about, run.times, run.waiting, run.exchange, run.cautions]

    return read


def table(end: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        compute, path = times(), folder / f"times.{end}"
        if end == "npy":
            np.save(path, compute)
            return
        ranks, cycles = np.indices(compute.shape)
        columns = {
            "rank": ranks,
            "cycle": cycles,
            "compute": compute,
            "communicate": foreign_logs.exchanged(compute),
        }
        frame = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
        if end == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)

    return make


def of_benches(folder: Path) -> None:
    path = exchanges.folder("here", folder) / exchanges.FILE
    path.parent.mkdir(parents=True)
    times_of_exchanges, _ = exchanges.repetitions(fake_exchanges.content())
    times_of_exchanges.to_csv(path, index=False)


# Networks, placements, machines


def placement(folder: Path) -> None:
    network = description.read_description(describe(areas=4, neurons=50)).network
    first_name, *_ = PLACEMENTS
    ranges_of_ranks, _ = ranges(network, first_name, 4)
    placement_file.write(folder / "placement.json", ranges_of_ranks)


def placed(folder: Path) -> Any:
    result = placement_file.read_placement(next(folder.iterdir()), 200)
    return [result.ranks, result.per_rank, result.merged().first, result.method]


def described(folder: Path) -> Any:
    network = description.read_description(read_json(folder / "run.json"), "run.json: ")
    return [network, network.neurons, graph.load(folder / "run.json").sizes]


def asked(folder: Path) -> Any:
    network = question.of_file(folder / "run.json")
    return [network.title, network.description, network.named]


def areas(folder: Path) -> None:
    mam_copy.write(folder)
    np.save(folder / "K_prime_original.npy", np.full((14, 14), 3.0))


def copy_of(path: Path) -> Callable[[Path], Any]:
    return lambda folder: shutil.copy(path, folder)


def values(machine: Any) -> Any:
    return {path: [value.value, value.unit, value.kind] for path, value in machine.values.items()}


def parts(folder: Path) -> Any:
    machine = machines.load_any(folder / "simula-bath.yaml")
    return [values(machine), [asdict(share) for share in machines.shares(machine, 6)]]


# Tenders


class HonestOffer:
    """Makes a copy of a tender and of the answer of an honest bidder."""

    def __init__(self) -> None:
        self.folder: Path | None = None  #: where they are; made at the first copy
        self.temporary: tempfile.TemporaryDirectory | None = None

    def __call__(self, folder: Path) -> None:
        if self.folder is None:
            self.temporary = tempfile.TemporaryDirectory()
            self.folder = Path(self.temporary.name)
            offered.write(self.folder)
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)


offer = HonestOffer()


def sealed(folder: Path) -> Any:
    """As a buyer would seal it who means harm."""
    formats.write_manifest(folder / "bundle")
    return formats.read_bundle(folder / "bundle").tender


def checked(folder: Path) -> Any:
    """What the checker says of an answer, whose manifest fits it."""
    if (folder / "answer" / formats.MANIFEST).is_file():
        formats.write_manifest(folder / "answer")
    report, answer = check.check(folder / "answer", formats.read_bundle(folder / "bundle"))
    return [report.content(), answer and answer.bidder]


def secret(folder: Path) -> Any:
    bundle = formats.read_bundle(folder / "bundle")
    return acceptance._read_secret(folder / "bundle.secret.json", bundle).seed


NETWORK = text("run.json", lambda: describe(areas=3))
VOXELS = text(
    "voxels.json", lambda: voxels.describe(form="graph", voxels=27, neurons=540, indegree=20)
)
ORDERS = text("order.json", lambda: {"a": [3, 1, 0, 2], "b": {"table": [[0, 1], [2, 3]]}})


def predicted(folder: Path) -> Any:
    """Own runs, and times of the first published run from them."""
    published = points.published()[0]
    runs = points.own_runs(folder / "runs.csv", published)
    prediction = anchors.predict([published], runs)
    return [
        [(run.nodes, run.cores, run.seconds) for run in runs],
        prediction.total[0].tolist(),
        prediction.differs,
    ]


READERS: dict[str, Reader] = {
    "run record": Reader(one_run, "record.json", loaded),
    **{name: Reader(one_run, name, loaded) for name in ("launch.json", "ranks.csv", "cycles.npy")},
    "waiting": Reader(one_run, "*", lambda f: command("waiting", f)),
    "diff": Reader(two_runs, "b/*", lambda f: command("diff", f / "a", f / "b")),
    "history": Reader(
        entries, "history/*.jsonl", lambda f: command("diff", "--history", f / "history")
    ),
    "energy.csv": Reader(
        own_energy, "energy.csv", lambda f: traces(energy.power_traces(f / "energy.csv"))
    ),
    "energy": Reader(own_energy, "*", lambda f: command("energy", f)),
    "power": Reader(
        lambda f: power(f / "power.csv"),
        "*",
        lambda f: traces(meter_file.read_power(f / "power.csv", ["node1", "node2"])),
    ),
    "kept power": Reader(kept_power, "power/*", measured),
    "dry rank": Reader(dry_rank, "*", dry_counts),
    "dry run": Reader(
        dry_run_folder,
        "dry/*",
        dry_ranks,
    ),
    "imported": Reader(kept_import, "mine/*", lambda f: command("waiting", f / "mine")),
    "npy": Reader(table("npy"), "*", importing("table")),
    "csv": Reader(table("csv"), "*", importing("table")),
    "parquet": Reader(table("parquet"), "*", importing("table"), apart=True),
    "nest of NEST 3.10": Reader(
        lambda f: [shutil.copy(path, f) for path in REAL_NEST.iterdir() if path.suffix != ".md"],
        "*",
        importing("nest"),
    ),
    **{
        name: Reader(lambda f, write=write: write(f, times()), "*", importing(name))
        for name, write in foreign_logs.WRITERS.items()
        if name != "otf2"
    },
    "otf2": Reader(
        lambda f: foreign_logs.trace(f, times(2, 8)),
        "**/*.*",
        lambda f: (
            imported.read_times([f / "traces.otf2"], None, CALLED["otf2"], form="otf2").columns
        ),
        apart=True,
    ),
    "traces of Score-P": Reader(instrumented, "trace*/*.*", traced, apart=True),
    "cubex": Reader(instrumented, "*.cubex", profiled),
    "simulated caches": Reader(
        text("a.json", lambda: CACHES), "*", lambda f: cachesim.read_totals(f / "a.json")
    ),
    "bench tables": Reader(
        of_benches,
        "bench/here/*.csv",
        lambda f: exchanges.read_exchange_times(
            exchanges.folder("here", f) / exchanges.FILE
        ).to_dict("list"),
        apart=True,
    ),
    "placement": Reader(placement, "*", placed),
    "run description": Reader(NETWORK, "run.json", described),
    "network of a question": Reader(NETWORK, "run.json", asked),
    "description with settings": Reader(
        NETWORK,
        "run.json",
        lambda f: options.read_description(f / "run.json", ["time.simulate_ms=5"]),
    ),
    "voxel graph": Reader(VOXELS, "*.json", lambda f: graph.load(f / "voxels.json").sizes),
    "order of ranks": Reader(ORDERS, "*.json", lambda f: named_files.digest(f / "order.json#b")),
    "data of the multi-area model": Reader(
        areas, "**/*.*", lambda f: vars(mam_data.read_areas(str(f)))
    ),
    "machine profile": Reader(
        copy_of(machines.folder() / "epyc-vm.yaml"),
        "*.yaml",
        lambda f: values(machines.load(f / "epyc-vm.yaml")),
    ),
    "machine of parts": Reader(copy_of(machines.folder() / "simula-bath.yaml"), "*.yaml", parts),
    "own runs": Reader(text("runs.csv", RUNS), "*", predicted),
    "points": Reader(
        text("points.csv", POINTS),
        "*",
        lambda f: [
            (run.version, run.cores, run.seconds, run.sd) for run in points.read(f / "points.csv")
        ],
    ),
    "experiment": Reader(text("smoke.yaml", SMOKE), "*", expanded),
    "plan.json": Reader(sweep, "plan.json", gathered),
    "tender bundle": Reader(offer, "bundle/**/*.json", sealed),
    "tender answer": Reader(offer, "answer/**/*.*", checked),
    "secret of a tender": Reader(offer, "bundle.secret.json", secret),
}
