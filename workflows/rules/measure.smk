# One job is one run of the mini-app. A record depends on nothing but its absence: inputs are ancient, and no rule but
# `plan` has `params`, since a change of these would measure again. `exec` lets a run end with a killed Snakemake.


rule plan:
    input:
        ancient(FILES),
    output:
        HERE / "plan.json",
    log:
        HERE / "log/plan.log",
    localrule: True
    conda:
        environment
    params:
        digest=digests.digest([EXPERIMENT.model_dump(mode="json"), list(RUNS)]),
        config=json.dumps(dataclasses.asdict(CONFIG)),
    message:
        f"Plan {len(RUNS)} runs of {EXPERIMENT.name}"
    # A script or `run` of Snakemake does not start where the path of Python has a blank.
    shell:
        '"$SPIKEMARK_PYTHON" -m spikemark.running.sweeps {params.config:q} {output:q} 2> {log:q}'


if EXPERIMENT.machine is None:

    rule measure:
        input:
            ancient(HERE / "plan.json"),  # one for all runs: Snakemake looks at inputs often
        output:
            HERE / "runs/{id}/record.json",
        log:
            HERE / "log/{id}.log",
        priority: lambda wildcards: PRIORITY[wildcards.id]
        conda:
            environment
        threads: workflow.cores  # nothing runs beside it
        # For --executor slurm: one batch job for each run, alone on its nodes.
        resources:
            nodes=of_job("nodes"),
            tasks=of_job("tasks"),
            cpus_per_task=of_job("threads"),
            mem_mb=of_job("memory_mb"),
            runtime=of_job("runtime_min"),
            mpi=of_job("launcher", ""),
            slurm_extra=of_job("options", ""),
        message:
            "Measure {wildcards.id}"
        shell:
            'SPIKEMARK_PARENT=$SPIKEMARK_SNAKEMAKE exec "$SPIKEMARK_PYTHON" -m spikemark.cli.planned_run'
            ' "$(dirname {input:q})" {wildcards.id:q} 2> {log:q}'

else:

    # Modelled times do not change where several runs are simulated at once.
    rule simulate:
        input:
            ancient(HERE / "plan.json"),
        output:
            HERE / "runs/{id}/record.json",
        log:
            HERE / "log/{id}.log",
        priority: lambda wildcards: PRIORITY[wildcards.id]
        conda:
            environment
        threads: 1
        message:
            "Simulate {wildcards.id}"
        shell:
            'SPIKEMARK_PARENT=$SPIKEMARK_SNAKEMAKE exec "$SPIKEMARK_PYTHON" -m spikemark.cli.planned_run'
            ' "$(dirname {input:q})" {wildcards.id:q} 2> {log:q}'
