# With the target `scorep`: one run of each combination of the grid with the program instrumented for Score-P
# (docs/scorep.md), in scorep/ beside the timed runs, and after its timed run.

import json
import os


def instrumented():
    """Ids of the first repetition of the first seed of each combination."""
    chosen = {}
    for run in sorted(config["runs"], key=lambda run: (run["seed"], run["repetition"])):
        combination = [run["fields"], run["ranks"], run["threads"]]
        chosen.setdefault(json.dumps(combination, sort_keys=True), run["id"])
    return list(chosen.values())


rule scorep:
    input:
        expand("scorep/{id}/record/record.json", id=instrumented()),


rule scorep_run:
    input:
        ancient(os.environ.get("SPIKEMARK_MINIAPP_SCOREP", f"{workflow.basedir}/build-scorep/miniapp")),
        ancient("runs/{id}/record.json"),
    output:
        "scorep/{id}/record/record.json",
    log:
        "log/{id}.scorep.log",
    resources:
        machine=1,
        tasks=lambda wildcards: RUNS[wildcards.id]["ranks"],
        cpus_per_task=lambda wildcards: RUNS[wildcards.id]["threads"],
    params:
        python=sys.executable,
        launcher=config.get("launcher", ""),
    shell:
        "{params.python:q} -m spikemark run . {wildcards.id:q} --scorep --launcher={params.launcher:q} > {log:q} 2>&1"
