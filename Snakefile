# Plans, measures, collects and reports one experiment:
#
#     snakemake --config experiment=demo [repetitions=1]
#     snakemake --configfile workflows/experiments/demo.yaml [--config repetitions=1]
#
# `--config` changes fields of the experiment, those of its runs as in --config 'set={time.simulate_ms: 300}';
# results=FOLDER puts its results elsewhere. Snakemake reads profiles/default by itself. `spikemark schema config` prints
# all fields. Another workflow uses this one as a module, with a `config:` of its own. docs/sweeps.md says more.

import dataclasses
import json
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod

from spikemark.core import digests
from spikemark.core.errors import BadInput
from spikemark.records.results import Results
from spikemark.running import experiments, job_size, sweeps


include: "workflows/rules/common.smk"


rule all:
    default_target: True
    input:
        RECORDS,  # else a missing record would not be measured where there is a report already
        HERE / "report.html",
        HERE / "summary.parquet",
    localrule: True


rule measured:
    input:
        HERE / "plan.json",
        RECORDS,
    localrule: True


include: "workflows/rules/measure.smk"
include: "workflows/rules/scorep.smk"
include: "workflows/rules/report.smk"


# Else every finished run adds a timer that looks at all waiting runs each second from then on. A test holds the name.
# A job that ends sends SIGTERM, which Snakemake's own handler would not always survive.
onstart:
    workflow.scheduler.job_rate_limiter = None
    sweeps.end_on_sigterm(workflow.scheduler.exit_gracefully)


# Also reached if runs failed: the report says which are missing. Whoever interrupts does not wait for it.
onerror:
    files = [log] if isinstance(log, str) else log
    texts = [Path(file).read_text(errors="replace") for file in files]
    if any("Terminating processes on user request" in text for text in texts):
        print("interrupted: the same command continues from here", file=sys.stderr)
    elif (HERE / "plan.json").exists():
        shell('"$SPIKEMARK_PYTHON" -m spikemark report {HERE:q} || true')
    else:
        print(
            f"{HERE}/plan.json is not there: see {HERE}/log/plan.log, and whether the disk is full",
            file=sys.stderr,
        )
