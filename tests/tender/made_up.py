"""A bundle and an answer without any run, whose files have the right form; for changing them at random."""

import csv
import json
from pathlib import Path

from synthetic import job, write_run
from tender import offered

from spikemark.tender import check, manifest
from spikemark.tender.check.answer import check_answer
from spikemark.tender.check.findings import REASONS

T0 = 1.8e9


def _record(folder: Path, seed: int) -> None:
    """A repetition with energy and all that records have today."""
    write_run(folder, ranks=2, cycles=300, rank_sd=0.2, seed=seed, nodes=["n", "n"], launch=job(1))
    record = json.loads((folder / "record.json").read_text())
    record["kind"] = "measured"
    timing, start = record["timing"], T0 + 100 * seed
    end = start + timing["simulate_s"]
    timing |= {"clock": "clock_gettime", "simulate_started_s": start, "simulate_ended_s": end}
    timing |= {
        "idle_before_s": [start - 1, start - 0.5],
        "idle_after_s": [end, end + 0.5],
        "clock_step_s": 0.0,
    }
    record["description"]["record"]["energy"] = True
    energy = {
        "source": "hwmon",
        "status": "ok",
        "gross_j": 100 * (end - start),
        "idle_power_w": 100.0,
        "net_j": 0.0,
    }
    energy |= {"duration_s": end - start, "readings": 0, "coverage": 1.0, "nodes": 1, "reason": None}
    channel = {
        "node": 0,
        "name": "power1",
        "event": "x",
        "unit": "W",
        "gross_j": energy["gross_j"],
        "failed": 0,
    }
    record["energy"] = energy | {"channels": [channel]}
    (folder / "record.json").write_text(json.dumps(record, indent=1))
    rows = [f"0,hwmon,power1,{start - 2 + n / 2:.6f},,100" for n in range(9)]
    (folder / "energy.csv").write_text(
        "\n".join(["node,source,channel,time_s,energy_j,power_w", *rows]) + "\n"
    )
    with open(folder / "ranks.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    for line, part in zip(lines, (record["checksum"], "0" * 16), strict=True):
        line |= {"checksum": part, "thread_wait_s": "0", "node": "0"}
    with open(folder / "ranks.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def write(folder: Path) -> None:
    """Both folders."""
    bundle, answer = folder / "bundle", folder / "answer"
    for k in (1, 2):
        _record(answer / "runs" / "bench-small" / str(k), k)
    record = json.loads((answer / "runs" / "bench-small" / "1" / "record.json").read_text())
    offered.write(bundle / "runs" / "bench-small.json", record["description"])
    counts = {name: record["totals"][name] for name in ("neurons", "synapses", "spikes", "synaptic_events")}
    times = [{"model_ms": 30.0, "checksum": None, **counts}]
    offered.write(
        bundle / "expected" / "bench-small.json",
        {**counts, "checksum": None, "tolerance": 0.5, "times": times},
    )
    (bundle / "source.tar.gz").write_bytes(b"sources")
    rule = {
        "name": "bench-small", "size": "small", "description": "runs/bench-small.json", "measured": True,
        "repetitions": 2, "counts": "median", "minimum_seconds": 0.0, "model_ms": [30.0], "nodes": 1,
    }  # fmt: skip
    offered.write(bundle / "tender.json", {
        "kind": "tender", "format_version": 1, "name": "x", "spikemark_version": "0.1.0", "runs": [rule],
        "source_sha256": manifest.sha256(bundle / "source.tar.gz"), "figures": ["real_time_factor"],
        "categories": {"base": {"changes": ["schedule"], "flags": ["-O*"]}}, "power": {"required": True},
        "plausibility": {"waiting": 0.05},
    })  # fmt: skip
    (bundle / "check.py").write_text(check.text())
    manifest.write(bundle)
    node = {
        "host": {"value": "n"},
        "governor": {"value": "performance"},
        "frequency_max_khz": {"value": "3000000"},
    }
    offered.write(
        answer / "environment.json", {"kind": "tender_environment", "nodes": [node], "software": {}}
    )
    offered.write(answer / "answer.json", {
        "kind": "tender_answer", "format_version": 1, "bidder": "x",
        "bundle_sha256": manifest.sha256(bundle / manifest.FILE),
        "category": "base", "created": "2040-01-01T00:00:00Z", "runs": [],
    })  # fmt: skip
    projected = {"run": "bench-small", "figure": "real_time_factor", "value": 1, "low": 0.5, "high": 2}
    offered.write(answer / "commitment.json", {
        "kind": "tender_commitment", "format_version": 1, "bidder": "x", "nodes": 1, "measured": [],
        "projected": [projected | {"method": "model", "assumes": ["x"]}],
        "committed": [{"run": "bench-small", "figure": "real_time_factor", "value": 0.5, "basis": "projected",
                       "better_than_evidence": 0.5}],
        "power": {"node_idle_w": 50.0, "node_limit_w": 200.0},
    })  # fmt: skip
    made = offered.Answer(answer, bundle)
    made.tell()
    made.seal()


def read(folder: Path):
    """What the checker says. A fault of its own is one of this function."""
    report = check_answer(str(folder / "answer"), str(folder / "bundle"))
    assert REASONS["fault"].number not in report.numbers
    assert report.text()
    return report.content()
