# One job is one run of the mini-app, real or simulated, in a single process. A record is never made again just because
# something else changed.

import sys

RUNS = {run["id"]: {**run, "priority": -place} for place, run in enumerate(config["runs"])}


rule measure:
    input:
        ancient("descriptions/{id}.json"),
    output:
        "runs/{id}/record.json",
    log:
        "log/{id}.log",
    # The plan's order: measured first means higher priority.
    priority: lambda wildcards: RUNS[wildcards.id]["priority"]
    resources:
        machine=1,
        tasks=lambda wildcards: 1 if RUNS[wildcards.id].get("machine") else RUNS[wildcards.id]["ranks"],
        cpus_per_task=lambda wildcards: RUNS[wildcards.id]["threads"],
    params:
        python=sys.executable,
        launcher=config.get("launcher", ""),
    shell:
        "{params.python:q} -m spikemark run . {wildcards.id:q} --launcher={params.launcher:q} > {log:q} 2>&1"
