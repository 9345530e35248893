"""Further readers that are fuzzed: what commands keep for later, what clusters, benches and tenders leave."""

import json
import shutil
from pathlib import Path
from typing import Any

import benched
import fake_peers
import mam_copy
import numpy as np
import planted_power
import pytest
import swept
from reader import Reader
from results import command
from small_network import describe
from synthetic import write_run
from tender import made_up

from spikemark.bench import kernel_bench, kernels
from spikemark.bench.peers import compare, content
from spikemark.caches import simulated_caches
from spikemark.cli import options
from spikemark.core import places
from spikemark.energy import kept
from spikemark.network import named_files
from spikemark.prediction import asked
from spikemark.prediction.ledger import sources
from spikemark.prediction.partition import divide, graph
from spikemark.prediction.partition.methods import METHODS
from spikemark.presets import mam_data, voxels
from spikemark.records import kernel, record
from spikemark.running import campaign, durations, jobs, slurm_profile
from spikemark.scorep import files
from spikemark.tender import acceptance, bundle, checked, manifest, received_bids

BENCHED = Path("here") / "sweep"  # an experiment, beside which tables of benches lie
RANKS = 4


# Of runs


def _kernel(folder: Path) -> None:
    fields = ["processor_s", "involuntary", "voluntary", "faults"]
    node = {"node": 0, "hardware_threads": 4, "interval_s": 0.01, "readings": 9, "events": 9, "read_s": 1e-4,
            "sampling_cost": 0.01, "looked_s": 9.0, "full": False, "may_trace": True, "tracers": "osnoise",
            "missing": None, "processes": [{"name": "backup", "core": 1, "used_s": 1.5}]}  # fmt: skip
    about = {"interval_s": 0.01, "cycle_read_s": 1e-6, "fields": fields, "nodes": [node]}
    write_run(folder, ranks=2, cycles=40, kernel=about | {"node_of_rank": [0, 0]})
    np.save(folder / "kernel.npy", np.ones((2, 40, len(fields)), np.float32))
    rows = [f"0,{at / 100:.6f},1,softirqs,TIMER,{at}" for at in range(9)]
    (folder / "kernel.csv").write_text("\n".join([",".join(kernel.COLUMNS), *rows]) + "\n")


def _counted(folder: Path) -> Any:
    found = kernel.load(record.load(folder))
    return [found.about, found.cycles, found.counts.values.tolist()]


def _power(folder: Path) -> None:
    results, runs = swept.planned(folder)
    planted = planted_power.Planted()
    planted.run(results.run(runs[0].id))
    times = planted.times(2.0)
    planted_power.write_csv(folder / "meter.csv", planted_power.T0 + times, {"n [W]": planted.watts(times)})
    kept.keep(record.load(results.run(runs[0].id)), folder / "meter.csv", channels=None, offset_s=0.0,
              align="times", at_wall_percent=None)  # fmt: skip


def _measured(folder: Path) -> Any:
    found = kept.of_run(record.load(next(iter((folder / "runs").iterdir()))))
    return [found.gross_j.value, found.idle_w.value, found.duration_s]


def _caches(folder: Path) -> None:
    (folder / "sweep").mkdir()
    benched.write_caches(folder / "sweep", "a")


def _settings(folder: Path) -> None:
    (folder / files.SETTINGS).write_text("SCOREP_ENABLE_PROFILING=true\nSCOREP_ENABLE_TRACING='false'\n")
    (folder / files.PROFILE).write_bytes(b"")


# Of benches and other simulators


def _benches(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_bench, "folder", lambda *_: folder)
        benched.write_kernels(folder / "sweep")


def _peers(folder: Path) -> None:
    def says(threads: int, _: int) -> dict:
        return fake_peers.figures(threads=threads)

    programs = [fake_peers.Fake(name, says) for name in ("miniapp", "peer")]
    plan = fake_peers.experiment(folder / "experiment", repetitions=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spikemark.core.launch.available_cores", lambda: 4)
        compare.compare(plan, folder / "peers", tuple(programs), fake_peers.QUICK, lambda line: None)


# Of networks, placements and predictions


def _network(folder: Path) -> None:
    (folder / "run.json").write_text(json.dumps(describe(areas=3)))


def _asked(folder: Path) -> Any:
    found = asked.of_file(folder / "run.json")
    return [found.title, found.description, found.named]


def _voxels(folder: Path) -> None:
    (folder / "voxels.json").write_text(
        json.dumps(voxels.describe(form="graph", voxels=27, neurons=540, indegree=20))
    )


def _divided(folder: Path, made: Path | None) -> Any:
    described = folder / "run.json"
    if not described.exists():
        described.write_text(json.dumps(describe(areas=4, neurons=50)))
    found = divide.divide(
        graph.load(described),
        RANKS,
        METHODS["genetic"],
        time_limit_s=0.0,
        kept=made,
        clock=iter(range(10**9)).__next__,
    )
    return [found.placement.ranks, found.placement.per_rank, found.finished]


def _ordered(folder: Path) -> None:
    (folder / "order.json").write_text(json.dumps({"a": [3, 1, 0, 2], "b": {"table": [[0, 1], [2, 3]]}}))


def _predicted(folder: Path) -> None:
    network = ["mam-benchmark", "--option", "areas=2", "--option", "neurons_per_area=200"]
    words = ["--option", "indegree=20", "--machine", "jureca-dc", "--ranks", "2", "--threads", "1"]
    (folder / "machine.json").write_text(json.dumps(command("predict", *network, *words)))


def _replayed(folder: Path) -> None:
    run = write_run(folder / "run", ranks=2, cycles=400)
    (folder / "whatif.json").write_text(json.dumps(command("whatif", run)))
    words = ["--schedule", "structure_aware", "--delay-ratio", "10"]
    (folder / "schedule.json").write_text(json.dumps(command("predict", run, *words)))


def _sources(folder: Path) -> Any:
    base = record.load(folder / "run")
    given = sources.Given(base=base, change="halve-jitter")
    return [sources.found(folder / f"{name}.json", given) for name in ("whatif", "schedule")]


def _areas(folder: Path) -> None:
    mam_copy.write(folder)
    np.save(folder / "K_prime_original.npy", np.full((14, 14), 3.0))


# Of clusters


def _slurm(folder: Path) -> None:
    path = places.root() / "workflows" / "profiles" / "slurm" / slurm_profile.FILE
    shutil.copy(path, folder / "slurm.yaml")


def _campaign(folder: Path) -> None:
    results, runs = swept.planned(folder)
    swept.write(results, runs[0], cycles=10)
    results.campaign.write_text(json.dumps(campaign.Campaign(budget=2.0).content()))
    jobs.keep(results, jobs.Submitted("7", 2, 3600.0, None))
    jobs.keep_end(results, "7", 60.0, "done", None)


def _followed(folder: Path) -> Any:
    results = swept.Results(folder)
    found, plan = campaign.of(results), results.read_plan()
    told = [(job.id, job.nodes, job.node_hours) for job in jobs.all_of(results)]
    return [
        found.content(),
        told,
        jobs.used_h(results),
        durations.Durations(plan.runs, results).total(plan.runs),
    ]


# Of tenders


def _whole_bundle(folder: Path) -> None:
    """That of made_up.py, with everything that a tender has."""
    made_up.write(folder)
    path = folder / "bundle" / bundle.TENDER
    tender = json.loads(path.read_text())
    (rule,) = tender["runs"]
    rule |= {"scaling": "fixed", "share_of_memory": None, "warm_up_cycles": 10, "minimum_seconds": 0.1}
    target = {"network": "x", "real_time_factor": 1.0, "joules_per_synaptic_event": None}
    tender |= {"quick": True, "created": "2029-01-01T00:00:00Z", "commit": "0" * 40, "target": target}
    tender["categories"]["base"]["never"] = ["seed"]
    tender["power"] |= {"levels": ["node"], "idle_seconds": 0.5}
    path.write_text(json.dumps(tender | {"reference_memory_gb": 1.0}))
    manifest.write(folder / "bundle")


def _offer(folder: Path) -> None:
    made_up.write(folder)
    path = folder / "answer" / "commitment.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"machine": "x"}))


def _bundle(folder: Path) -> Any:
    """As a buyer would seal it who means harm."""
    manifest.write(folder / "bundle")
    found = bundle.read(folder / "bundle")
    return [found.tender, [found.read_expected(rule) for rule in found.tender.runs]]


def _offered(folder: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checked, "checked", lambda *_: checked.Checked("VALID"))
        (bid,) = received_bids.read([folder / "answer"], None)
    return [bid.name, bid.category, bid.quick, [str(one) for one in bid.evidence.values()]]


def _expected(folder: Path) -> None:
    _whole_bundle(folder)
    found = bundle.read(folder / "bundle")
    made = {"kind": acceptance.KIND, "format_version": acceptance.VERSION, "bundle_sha256": found.sha256}
    made |= {"run": "bench-small", "seed": 7, "model_ms": 30.0, "checksum": "0" * 16, "totals": {}}
    (folder / "expect.json").write_text(json.dumps(made))


CAMPAIGN = {"campaign": "campaign.json", "jobs of a campaign": "jobs/*.json"}
READERS: dict[str, Reader] = {
    **{name: Reader(_kernel, name, _counted) for name in ("kernel.csv", "kernel.npy")},
    "kept power": Reader(_power, "power/*", _measured),
    "simulated caches": Reader(
        _caches, "sweep/cachesim/*", lambda f: simulated_caches.read(f / "sweep" / "cachesim" / "a.json")
    ),
    "bench tables": Reader(
        _benches, "*.parquet", lambda f: kernels.read(f / kernel_bench.TABLE).to_dict("list"), apart=True
    ),
    "peers.json": Reader(_peers, "peers/peers.json", lambda f: content.read(f / "peers" / content.FILE)),
    "network of a question": Reader(_network, "run.json", _asked),
    "description with settings": Reader(
        _network, "run.json", lambda f: options.read_description(f / "run.json", ["time.simulate_ms=5"])
    ),
    "settings of Score-P": Reader(_settings, "scorep.cfg", lambda f: list(files.found(f))),
    "voxel graph": Reader(_voxels, "*.json", lambda f: graph.load(f / "voxels.json").sizes),
    "state of a partition": Reader(
        lambda f: _divided(f, f / "state.npz"), "state.npz", lambda f: _divided(f, f / "state.npz")
    ),
    "order of ranks": Reader(_ordered, "*.json", lambda f: named_files.digest(f / "order.json#b")),
    "prediction on a machine": Reader(
        _predicted, "*.json", lambda f: sources.found(f / "machine.json", sources.Given())
    ),
    "prediction from a run": Reader(_replayed, "*.json", _sources),
    "data of the multi-area model": Reader(
        _areas, "**/*.*", lambda f: vars(mam_data.read(str(f)))
    ),
    "Slurm profile": Reader(_slurm, "*.yaml", lambda f: slurm_profile.read(f / "slurm.yaml")),
    **{name: Reader(_campaign, files, _followed) for name, files in CAMPAIGN.items()},
    "tender bundle": Reader(_whole_bundle, "bundle/**/*.json", _bundle),
    "tender offer": Reader(_offer, "answer/*.json", _offered),
    "acceptance": Reader(
        _expected, "expect.json",
        lambda f: acceptance._expected(
            bundle.read(f / "bundle"), acceptance.Asked(seed=7), f / "expect.json"
        ),
    ),
}  # fmt: skip
