"""What the mini-app computes: checksums, counts, lanes, traffic and memory of 70 networks.

miniapp/expected.csv has a row per run (`run`) or dry run (`dry`), miniapp/explain.csv one per
`--explain`. Values of lanes are joined by `|`, those of levels by `/`; an empty field is not
compared. No number depends on the machine. Every run of one description has one checksum. Memory
may be smaller, or up to 5 % larger. Runs on more than four threads in all are for the night.
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
#: Columns that say what is run; all others are compared.
ASKED = ("id", "kind", "description", "set", "ranks", "threads", "arguments", "may_be_absent")
MAX_MEMORY_RATIO = 1.05
MAX_THREADS_BY_DAY = 4  # in all
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
                threads = int(case["ranks"]) * int(case["threads"])
                by_night = case["kind"] == "run" and threads > MAX_THREADS_BY_DAY
                marks = [pytest.mark.nightly] if by_night else []
                yield pytest.param(case, id=case["id"], marks=marks)


def text(value):
    return "" if value is None else str(value)


def texts(content, names, prefix=""):
    """Fields of a part of JSON as texts, by their names after a prefix."""
    return {f"{prefix}{name}": text(content.get(name)) for name in names}


def lanes(lane_records, columns):
    """Fields of all lanes, by column."""
    values = {}
    for column, field in columns.items():
        values[column] = "|".join(text(lane[field]) for lane in lane_records)
    return values


def levels(lane_records):
    """Fields of the levels of all lanes, by column."""
    values = {}
    for column, field in LEVELS.items():
        by_lane = []
        for lane in lane_records:
            by_lane.append("/".join(text(level[field]) for level in lane["levels"] or []))
        values[column] = "|".join(by_lane)
    return values


def of_run(folder):
    """What a record says, as columns of expected.csv."""
    record = json.loads((folder / "record.json").read_text())
    with open(folder / "ranks.csv", newline="") as file:
        first_rank = next(csv.DictReader(file))
    parts, synapses = record["memory"]["parts"], record["totals"]["synapses"]
    bytes_per_synapse = ""
    if synapses:
        bytes_per_synapse = f"{sum(parts[part] for part in PARTS) / synapses:.6g}"
    return {
        "checksum": record["checksum"] or first_rank["checksum"],
        "spike_checksum": text(record["spike_checksum"]),
        "placement": record["placement"]["name"],
        **texts(record["totals"], TOTALS),
        **lanes(record["lanes"], LANES | SENT),
        **levels(record["lanes"]),
        **texts(record["dry_run"] or {}, ("spikes", "routes", "words"), prefix="dry_"),
        "bytes_per_synapse": bytes_per_synapse,
    }


def of_explanation(output):
    """What --explain --json says, as columns of explain.csv."""
    explanation = json.loads(output)
    ranks, inputs = explanation["per_rank"], explanation["input"]
    values = {
        **texts(explanation["network"], ("neurons", "populations", "areas", "synapses")),
        **texts(explanation, ("placement", "schedule", "delay_ratio", "balance")),
        **texts(inputs["ring"], ("slots", "bits", "unit"), prefix="ring_"),
        **texts(inputs, ("bytes_per_synapse", "external_events_per_s")),
        **lanes(explanation["lanes"], LANES),
    }
    for name in ("neurons", "synapses", "memory_bytes", "building_bytes"):
        values[f"rank_{name}_most"] = text(max(rank[name] for rank in ranks))
    for part in ranks[0]["memory_parts"]:
        values[f"{part}_bytes"] = text(sum(rank["memory_parts"][part] for rank in ranks))
    return values


def same(column, expected, value):
    """Whether a value is the expected one, as far as the column is compared."""
    if "bytes" in column and column not in ("bytes_sent", "level_bytes"):
        return float(value or "inf") <= MAX_MEMORY_RATIO * float(expected)
    if expected == value:
        return True
    expected_parts, parts = expected.split("|"), value.split("|")
    if len(expected_parts) != len(parts):
        return False
    try:
        return all(
            math.isclose(float(first), float(second), rel_tol=1e-9, abs_tol=1e-12)
            for first, second in zip(expected_parts, parts, strict=True)
        )
    except ValueError:
        return False


def command(case, folder):
    """Arguments of the mini-app for a case; what it writes goes to `folder`/out."""
    path = FOLDER / case["description"]
    if path.suffix == ".gz":
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        path = folder / path.stem
    arguments = [path, *json.loads(case["arguments"])]
    for setting in json.loads(case["set"]):
        arguments += ["--set", setting]
    if case["kind"] == "explain":
        layout = ["--ranks", case["ranks"], "--threads", case["threads"]]
        return [*arguments, "--explain", "--json", *layout]
    return [*arguments, "--out", folder / "out"]


@pytest.mark.parametrize("case", list(cases()))
def test_case(case, tmp_path):
    ranks = case["ranks"] if case["kind"] == "run" and int(case["ranks"]) > 1 else None
    done = program.start(*command(case, tmp_path), ranks=ranks, threads=case["threads"])
    if done.returncode == 2 and case["may_be_absent"] and case["may_be_absent"] in done.stderr:
        return  # an exchange that this MPI library lacks
    assert done.returncode == 0, done.stderr
    is_explanation = case["kind"] == "explain"
    values = of_explanation(done.stdout) if is_explanation else of_run(tmp_path / "out")
    compared = {name: value for name, value in case.items() if value and name not in ASKED}
    wrong = {}
    for name, expected in compared.items():
        value = values.get(name, "")
        if not same(name, expected, value):
            wrong[name] = (expected, value)
    assert compared and not wrong
