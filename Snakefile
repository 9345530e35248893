# Plans, measures, collects and reports one experiment:
#
#     snakemake --configfile workflows/experiments/demo.yaml [--config repetitions=1]
#
# `--config` changes fields of the experiment; results=FOLDER puts its results elsewhere. Snakemake reads
# profiles/default by itself. docs/sweeps.md says more.

import json
import os
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

from spikemark.core.errors import BadInput
from spikemark.running import experiments, possible, sweeps


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
onstart:
    workflow.scheduler.job_rate_limiter = None


# Also reached if runs failed: the report says which are missing.
onerror:
    shell('"$PYTHON" -m spikemark report {HERE:q} || true')
