# With the target `scorep`: one run of each combination of the grid with the program instrumented for Score-P
# (docs/scorep.md), in scorep/ beside the timed runs, and after its timed run.

import json
import os

from snakemake.exceptions import WorkflowError


def instrumented():
    """Ids of the first repetition of the first seed of each combination."""
    chosen = {}
    for run in sorted(config["runs"], key=lambda run: (run["seed"], run["repetition"])):
        combination = [run["fields"], run["ranks"], run["threads"]]
        chosen.setdefault(json.dumps(combination, sort_keys=True), run["id"])
    return list(chosen.values())


def instrumented_program(wildcards):
    """The program, of which there must be one before anything runs."""
    path = os.environ.get("SPIKEMARK_MINIAPP_SCOREP", f"{workflow.basedir}/build-scorep/miniapp")
    if not os.access(path, os.X_OK):
        raise WorkflowError(
            f"{path}: no executable file; build it as docs/scorep.md says, or name one in SPIKEMARK_MINIAPP_SCOREP"
        )
    return path


rule scorep:
    input:
        expand("scorep/{id}/record/record.json", id=instrumented()),


rule scorep_run:
    input:
        ancient(instrumented_program),
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
