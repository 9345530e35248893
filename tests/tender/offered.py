"""A bundle and an honest answer, made from real runs with a planted meter, and the tools of a cheater."""

import contextlib
import csv
import json
import shutil
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import program

from spikemark.presets import PRESETS
from spikemark.tender import check, environment, figures, manifest, new, sizes
from spikemark.tender.check import machine
from spikemark.tender.fields import Tender, content

CHANNELS_W, KHZ = (120.0, 30.0), (1_200_000, 2_600_000)
MODEL_MS, RUN_MS = [1000.0, 500.0, 250.0], 500.0
NEURONS = {"bench-small": 1000, "bench-medium": 1500}
REPETITIONS = {"bench-small": 3, "bench-medium": 2}
MINIMUM_S = 0.01
RECORD = {"cycles": True, "barrier": True, "energy": True, "energy_interval_s": 0.01, "idle_pause_s": 0.3}
RECORD["energy_sensors"] = [f"hwmon0/power{n}" for n in range(1, len(CHANNELS_W) + 1)]
INJECT = {"mean_us": 20.0, "sd_us": 2.0}  # so that a run lasts 0.1 s on a fast machine, too
COMPUTE = ("deliver", "update", "thread_wait", "inject", "collocate")


def write(path: Path, value) -> None:
    """A JSON file, in a folder that is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1))


def described(name: str) -> dict:
    """The run description of a bench network."""
    given = {"areas": 2, "neurons_per_area": NEURONS[name], "indegree": 100, "rate": 10.0}
    made = PRESETS["mam-benchmark"].describe(**given)
    made["time"] |= {"simulate_ms": MODEL_MS[0], "warmup_ms": 200.0}
    return made | {"record": RECORD | {"spikes": name == "bench-small"}, "inject": INJECT}


def planted_sysfs(root: Path) -> Path:
    """A tree for /sys with a meter of two channels of constant power and frequency limits."""
    chip = root / "class" / "hwmon" / "hwmon0"
    chip.mkdir(parents=True)
    for number, watts in enumerate(CHANNELS_W, 1):
        (chip / f"power{number}_input").write_text(f"{watts * 1e6:.0f}\n")
    limits = root / "devices" / "system" / "cpu" / "cpu0" / "cpufreq"
    limits.mkdir(parents=True)
    (limits / "scaling_governor").write_text("performance\n")
    (limits / "scaling_min_freq").write_text(f"{KHZ[0]}\n")
    (limits / "scaling_max_freq").write_text(f"{KHZ[1]}\n")
    return root


def measured(out: Path, description: Path, sysfs: Path) -> dict:
    """One repetition with its launch.json; its record."""
    began = time.time()
    chosen = program.sets(time__simulate_ms=RUN_MS)
    record = program.record_of(out, *chosen, description=description, ranks=2, SPIKEMARK_SYSFS=str(sysfs))
    about = {"launcher": "mpirun", "command": ["mpirun"], "environment": {"OMP_NUM_THREADS": "1"}}
    write(out / "launch.json", about | {"began_s": began, "wall_s": time.time() - began, "allocation": None})
    return record


def bundle_and_answer(root: Path) -> tuple[Path, Path]:
    """Runs the mini-app five times and writes both folders."""
    bundle, answer = root / "bundle", root / "answer"
    sysfs = planted_sysfs(root / "sys")
    records = {}
    for name, count in REPETITIONS.items():
        write(bundle / "runs" / f"{name}.json", described(name))
        for k in range(1, count + 1):
            record = measured(answer / "runs" / name / str(k), bundle / "runs" / f"{name}.json", sysfs)
            records.setdefault(name, record)
    write(bundle / "runs" / "target.json", described("bench-small"))
    (bundle / "source.tar.gz").write_bytes(b"the sources of the tests")
    (bundle / "RULES.md").write_text("Rules.\n")
    (bundle / "check.py").write_text(check.text())
    _write_tender(bundle, records)
    manifest.write(bundle)
    made = records["bench-small"]["provenance"]
    disclosed = environment.read_node(root / "no system", {})
    software = {name: {"value": None, "reason": "not in this test"} for name in machine.OF_PROGRAM}
    software |= {name: {"value": made[name]} for name in machine.PROGRAM if made[name] is not None}
    node = {
        "host": socket.gethostname(), "processor": records["bench-small"]["host"]["cpu"],
        "governor": "performance", "frequency_min_khz": str(KHZ[0]), "frequency_max_khz": str(KHZ[1]),
        "variables": {"OMP_NUM_THREADS": "1"},
    }  # fmt: skip
    disclosed |= {name: {"value": value} for name, value in node.items()}
    write(
        answer / "environment.json",
        {"kind": "tender_environment", "format_version": 1, "software": software, "nodes": [disclosed]},
    )
    write(answer / "answer.json", {
        "kind": "tender_answer", "format_version": 1,
        "bundle_sha256": manifest.sha256(bundle / manifest.FILE), "tender": "tried",
        "bidder": "an honest one", "category": "base",
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "runs": [],
    })  # fmt: skip
    write(answer / "commitment.json", {
        "kind": "tender_commitment", "format_version": 1, "bidder": "an honest one", "machine": "vm",
        "nodes": 1,
        "price": {"currency": "EUR", "total": 1.0}, "measured": [],
        "projected": [{"run": "target", "figure": "real_time_factor", "value": 2.0, "low": 1.5, "high": 2.5,
                       "method": "model", "assumes": ["the same network"]}],
        "power": {"node_idle_w": 100.0, "node_limit_w": 400.0},
    })  # fmt: skip
    of = Answer(answer, bundle)
    of.tell()
    of.seal()
    return bundle, answer


def _write_tender(bundle: Path, records: dict) -> None:
    runs = []
    for name in (*NEURONS, "target"):
        runs.append({
            "name": name, "size": name.removeprefix("bench-"), "description": f"runs/{name}.json",
            "scaling": "as in the tests", "share_of_memory": None, "measured": name in NEURONS,
            "repetitions": REPETITIONS.get(name, 1), "counts": "median", "minimum_seconds": MINIMUM_S,
            "warm_up_cycles": 2000, "model_ms": MODEL_MS, "nodes": 1,
        })  # fmt: skip
        known = sizes.expected(json.loads((bundle / "runs" / f"{name}.json").read_text()), MODEL_MS)
        if name == "bench-small":  # the buyer has run it
            known["times"][1]["checksum"] = records[name]["checksum"]
        if name == "bench-medium":  # nobody knows
            for of_time in (known, *known["times"]):
                of_time["synaptic_events"] = None
        write(bundle / "expected" / f"{name}.json", known)
    made = records["bench-small"]["provenance"]
    write(bundle / "tender.json", content(Tender.model_validate({
        "kind": "tender", "format_version": 1, "name": "tried", "quick": False,
        "created": "2026-01-01T00:00:00Z",
        "spikemark_version": made["version"], "commit": made["commit"] or "", "reference_memory_gb": 1.0,
        "source_sha256": manifest.sha256(bundle / "source.tar.gz"),
        "target": {"network": "x", "real_time_factor": None, "joules_per_synaptic_event": None},
        "figures": ["real_time_factor", "joules_per_synaptic_event"], "runs": runs,
        "categories": {
            "base": {"changes": [], "flags": new.FLAGS, "never": []},
            "optimised": {"changes": new.CHANGES, "flags": new.OPTIMISED_FLAGS, "never": []},
        },
        "power": {"required": True, "levels": ["node"], "idle_seconds": 0.3},
        "plausibility": {"phase_sum": 0.001, "waiting": 0.05, "clock": 0.01, "events": 0.0, "energy": 0.05},
    })))  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """An answer and its bundle, with what a cheater needs to change both and hide it."""

    path: Path
    bundle: Path

    def run(self, name: str = "bench-small", k: int = 1) -> Path:
        """The folder of a repetition."""
        return self.path / "runs" / name / str(k)

    @property
    def runs(self) -> list[Path]:
        """The folders of all repetitions."""
        return sorted(path.parent for path in self.path.glob("runs/*/*/record.json"))

    @contextlib.contextmanager
    def edit(self, file: Path | str):
        """The content of a JSON file, which is written back."""
        path = self.path / file
        value = json.loads(path.read_text())
        yield value
        write(path, value)

    def times(self, run: Path) -> np.ndarray:
        """cycles.npy as float64."""
        return np.load(run / "cycles.npy").astype(np.float64)

    def lines(self, run: Path) -> list[dict]:
        """ranks.csv."""
        with open(run / "ranks.csv", newline="") as file:
            return list(csv.DictReader(file))

    def put_lines(self, run: Path, lines: list[dict]) -> None:
        """Writes ranks.csv."""
        with open(run / "ranks.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)

    def put_times(self, run: Path, times: np.ndarray, clocks: bool = True) -> None:
        """Writes cycle times and everything that follows from them; with `clocks` also when the run ended."""
        np.save(run / "cycles.npy", times.astype(np.float32))
        lines, spent = self.lines(run), times.sum(axis=(1, 2))
        with self.edit(run / "record.json") as record:
            phases = record["phases"]
            totals = times.sum(axis=1)
            for line, own, seconds in zip(lines, totals, spent, strict=True):
                line["simulate_s"] = f"{seconds:.12g}"
                line["thread_wait_s"] = f"{own[phases.index('thread_wait')]:.12g}"
            timing = record["timing"]
            timing["timer_overhead"] *= timing["simulate_s"] / spent.max()
            timing["simulate_s"] = float(spent.max())
            timing["real_time_factor"] = timing["simulate_s"] / timing["model_s"]
            for place, phase in enumerate(phases):
                own = totals[:, place]
                timing["phases"][phase] = {"mean_s": float(own.mean()), "max_s": float(own.max())}
            if clocks:
                self.end(record, timing["simulate_started_s"] + timing["simulate_s"])
        self.put_lines(run, lines)

    def end(self, record: dict, at: float) -> None:
        """Moves the end of the measured part, the pause after it, and the energy that lay before."""
        timing, energy = record["timing"], record["energy"]
        moved = at - timing["simulate_ended_s"]
        timing["simulate_ended_s"] = at
        timing["idle_after_s"] = [t + moved for t in timing["idle_after_s"]]
        share = (at - timing["simulate_started_s"]) / energy["duration_s"]
        energy["duration_s"] *= share
        for name in ("gross_j", "net_j"):
            energy[name] *= share
        for channel in energy["channels"]:
            channel["gross_j"] *= share
        energy["readings"] = round(energy["readings"] * share)

    def tell(self) -> None:
        """Writes the figures of answer and commitment anew from the records."""
        with self.edit("answer.json") as answer, self.edit("commitment.json") as commitment:
            chosen = {run["name"]: run["set"] for run in answer["runs"]}
            answer["runs"], commitment["measured"] = [], []
            for folder in sorted((self.path / "runs").iterdir()):
                repetitions = []
                for path in sorted(folder.iterdir(), key=lambda p: int(p.name)):
                    record = json.loads((path / "record.json").read_text())
                    timing, energy = record["timing"], record["energy"]
                    joules = energy and energy["gross_j"] / record["totals"]["synaptic_events"]
                    repetitions.append({
                        "folder": f"runs/{folder.name}/{path.name}",
                        "started": record["provenance"]["started"],
                        "simulate_s": timing["simulate_s"], "real_time_factor": timing["real_time_factor"],
                        "joules_per_synaptic_event": joules, "reason": None if energy else "no meter",
                    })  # fmt: skip
                layout = {name: record[name] for name in ("ranks", "threads")}
                found = figures.of_repetitions(repetitions)
                answer["runs"].append({
                    "name": folder.name, "layout": layout | {"nodes": record["host"]["nodes"]},
                    "set": chosen.get(folder.name, {}), "repetitions": repetitions, "figure": found,
                    "model_ms": record["description"]["time"]["simulate_ms"],
                })  # fmt: skip
                commitment["measured"] += [
                    {"run": folder.name, "figure": name, "value": found[name] and found[name]["value"]}
                    for name in ("real_time_factor", "joules_per_synaptic_event")
                ]

    def seal(self) -> None:
        """Writes the manifest anew."""
        manifest.write(self.path, bundle_sha256=manifest.sha256(self.bundle / manifest.FILE))

    def copy(self, to: Path) -> "Answer":
        """A copy of answer and bundle to be changed."""
        shutil.copytree(self.path, to / "answer")
        shutil.copytree(self.bundle, to / "bundle")
        return Answer(to / "answer", to / "bundle")
