"""What the mini-app computes: checksums, counts, lanes, traffic and memory of 70 networks.

miniapp/expected.csv has a row per run (`run`) or dry run (`dry`), miniapp/explain.csv one per `--explain`.
Values of lanes are joined by `|`, those of levels by `/`; an empty field is not compared. No number depends
on the machine. Every run of one description has one checksum. Memory may be smaller, or up to 5 % larger.
Runs on more than four threads in all are for the night.
"""

import csv
import gzip
import json
import math
from pathlib import Path

import program
import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "miniapp"
ASKED = ("id", "kind", "description", "set", "ranks", "threads", "arguments", "may_be_absent")
MEMORY = 1.05
BUSY = 4  # threads in all
TOTALS = ("neurons", "synapses", "spikes", "synaptic_events", "external_events", "first_accesses")
LANES = {
    "lanes": "name",
    "lane_periods": "period",
    "lane_lags": "lag",
    "lane_exchanges": "exchange",
    "lane_synapses": "synapses",
    "lane_slack_ms": "slack",
}
SENT = {
    "lane_windows": "windows",
    "spikes_sent": "spikes_sent",
    "messages": "messages",
    "bytes_sent": "bytes_sent",
}
LEVELS = {"level_messages": "messages", "level_words": "words", "level_bytes": "bytes_sent"}
PARTS = ("neurons", "synapses", "lists", "routes", "ring")  # buffers depend on when messages arrive


def cases():
    for table in ("expected.csv", "explain.csv"):
        with open(FOLDER / table, newline="") as file:
            for case in csv.DictReader(file):
                late = case["kind"] == "run" and int(case["ranks"]) * int(case["threads"]) > BUSY
                yield pytest.param(case, id=case["id"], marks=[pytest.mark.nightly] if late else [])


def text(value):
    return "" if value is None else str(value)


def lanes(record, columns):
    return {
        column: "|".join(text(lane[field]) for lane in record["lanes"]) for column, field in columns.items()
    }


def of_run(folder):
    """What a record says, as columns of expected.csv."""
    record = json.loads((folder / "record.json").read_text())
    with open(folder / "ranks.csv", newline="") as file:
        own = next(csv.DictReader(file))["checksum"]
    dry, parts, synapses = record["dry_run"] or {}, record["memory"]["parts"], record["totals"]["synapses"]
    found = {"checksum": record["checksum"] or own, "spike_checksum": text(record["spike_checksum"])}
    found |= {"placement": record["placement"]["name"]} | {
        name: text(record["totals"][name]) for name in TOTALS
    }
    found |= lanes(record, LANES | SENT)
    for column, field in LEVELS.items():
        levels = [[text(level[field]) for level in lane["levels"] or []] for lane in record["lanes"]]
        found[column] = "|".join("/".join(lane) for lane in levels)
    found |= {f"dry_{name}": text(dry.get(name)) for name in ("spikes", "routes", "words")}
    found["bytes_per_synapse"] = f"{sum(parts[p] for p in PARTS) / synapses:.6g}" if synapses else ""
    return found


def of_explanation(output):
    """What --explain --json says, as columns of explain.csv."""
    said = json.loads(output)
    ranks = said["per_rank"]
    found = {name: text(said["network"][name]) for name in ("neurons", "populations", "areas", "synapses")}
    found |= {name: text(said[name]) for name in ("placement", "schedule", "delay_ratio", "balance")}
    found |= {f"ring_{name}": text(said["input"]["ring"][name]) for name in ("slots", "bits", "unit")}
    found |= {name: text(said["input"][name]) for name in ("bytes_per_synapse", "external_events_per_s")}
    found |= lanes(said, LANES)
    for name in ("neurons", "synapses", "memory_bytes", "building_bytes"):
        found[f"rank_{name}_most"] = text(max(rank[name] for rank in ranks))
    return found | {
        f"{p}_bytes": text(sum(r["memory_parts"][p] for r in ranks)) for p in ranks[0]["memory_parts"]
    }


def same(column, expected, found):
    if "bytes" in column and column not in ("bytes_sent", "level_bytes"):
        return float(found or "inf") <= MEMORY * float(expected)
    try:
        pairs = zip(expected.split("|"), found.split("|"), strict=True)
        return expected == found or all(
            math.isclose(float(e), float(f), rel_tol=1e-9, abs_tol=1e-12) for e, f in pairs
        )
    except ValueError:
        return False


@pytest.mark.parametrize("case", list(cases()))
def test_case(case, tmp_path):
    path = FOLDER / case["description"]
    if path.suffix == ".gz":
        (tmp_path / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        path = tmp_path / path.stem
    arguments = [path, *json.loads(case["arguments"])]
    arguments += [part for field in json.loads(case["set"]) for part in ("--set", field)]
    explain = ["--explain", "--json", "--ranks", case["ranks"], "--threads", case["threads"]]
    arguments += explain if case["kind"] == "explain" else ["--out", tmp_path / "out"]
    ranks = case["ranks"] if case["kind"] == "run" and int(case["ranks"]) > 1 else None
    done = program.start(*arguments, ranks=ranks, threads=case["threads"])
    if done.returncode == 2 and case["may_be_absent"] and case["may_be_absent"] in done.stderr:
        return  # an exchange that this MPI library lacks
    assert done.returncode == 0, done.stderr
    found = of_explanation(done.stdout) if case["kind"] == "explain" else of_run(tmp_path / "out")
    compared = {name: value for name, value in case.items() if value and name not in ASKED}
    wrong = {n: (v, found.get(n, "")) for n, v in compared.items() if not same(n, v, found.get(n, ""))}
    assert compared and not wrong
