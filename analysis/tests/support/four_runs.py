"""A plan of four runs that differ only in their repetition, and records with what a worker looks at."""

from pathlib import Path

from spikemark.core.files import write_json
from spikemark.records.plan import PLAN_VERSION
from spikemark.records.results import Results

IDS = ["a", "b", "c", "d"]


def plan(path: Path, guess_s: float = 10.0) -> Results:
    results = Results(path)
    line = {"ranks": 1, "threads": 1, "seed": 1, "fields": {}, "guess_s": guess_s}
    runs = [{**line, "id": id, "label": f"run {id}", "repetition": n + 1} for n, id in enumerate(IDS)]
    experiment = {"name": "x", "title": "x"}
    content = {"format_version": PLAN_VERSION, "experiment": experiment, "machine": "m", "shuffle_seed": 1}
    write_json(results.plan, {**content, "runs": runs})
    return results


def finish(results: Results, id: str, wall_s: float = 1.0) -> Path:
    write_json(results.run(id) / "record.json", {})
    write_json(results.run(id) / "launch.json", {"wall_s": wall_s})
    return results.run(id)
