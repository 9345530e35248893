"""Writes a synthetic results folder: a plan, records for some of its runs, logs for those that
failed.
"""

import json
from pathlib import Path

from synthetic import describe, write_run

# A line of a plan that states nothing else.
LINE = {
    "id": "ab",
    "label": "x",
    "ranks": 1,
    "threads": 1,
    "seed": 1,
    "repetition": 1,
    "fields": {},
}
PLAIN = ("conventional", "placement_only")
COMPLETE, ABSENT = "complete", "absent"  # any other state is the reason of a failure


def run(
    schedule: str = "conventional", delay_ratio: int = 1, ranks: int = 2, seed: int = 1, **options
) -> dict:
    """One run of the plan. `state`, and whatever `synthetic.write_run` takes, go into `options`."""
    words = {"D": delay_ratio, "ranks": ranks, "seed": seed}
    if "repetition" in options:
        words["repetition"] = options["repetition"]
    label = " ".join([schedule, *(f"{name}={value}" for name, value in words.items())])
    named = {"schedule": schedule, "delay_ratio": delay_ratio, "ranks": ranks, "seed": seed}
    return {"label": label, **named, **options}


def grid(
    ranks=(1, 2), ratios=(1, 2, 5, 10), seeds=(1, 2, 3), schedules=PLAIN, **options
) -> list[dict]:
    """The runs of an experiment like `demo`."""
    pairs = [(s, 1) for s in schedules] + [("structure_aware", d) for d in ratios]
    return [run(s, d, r, seed, **options) for r in ranks for s, d in pairs for seed in seeds]


def write_experiment(folder: Path, runs: list[dict], **plan) -> Path:
    """Write `folder`/demo/here with plan.json, runs/ and failed/, and return it."""
    results = Path(folder) / "demo" / "here"
    results.mkdir(parents=True, exist_ok=True)
    network = describe(areas=2, neurons=100, indegree=20, delay_ratio=10)
    lines = []
    for position, options in enumerate(runs):
        options = dict(options)
        id = f"{position:012x}"
        label, state = options.pop("label"), options.pop("state", COMPLETE)
        repetition, fields = options.pop("repetition", 1), options.pop("fields", {})
        fields = {"schedule": options["schedule"], "delay_ratio": options["delay_ratio"], **fields}
        lines.append(
            {
                "id": id,
                "label": label,
                "ranks": options["ranks"],
                "threads": options.get("threads", 1),
                "seed": options["seed"],
                "repetition": repetition,
                "fields": fields,
            }
        )
        if state == COMPLETE:
            if "exchange" in options:
                own = options.get("description", network)
                options["description"] = own | {"exchange": options["exchange"]}
            record = write_run(
                results / "runs" / id, **{"description": network, "mean_s": 30e-6, **options}
            )
            description = json.loads((record / "record.json").read_text())["description"]
            (results / "descriptions").mkdir(exist_ok=True)
            (results / "descriptions" / f"{id}.json").write_text(json.dumps(description))
        elif state != ABSENT:
            log = results / "failed" / f"{id}.log"
            log.parent.mkdir(exist_ok=True)
            log.write_text(f"{state}\nmore of the log\n")
    content = {
        "format_version": 1,
        "machine": "here",
        "shuffle_seed": 7,
        "runs": lines,
        "experiment": {"name": "demo", "title": "Schedules on this machine", "shuffle_seed": 7},
        **plan,
    }
    (results / "plan.json").write_text(json.dumps(content))
    return results
