# One job is one run of the mini-app. A record depends on nothing but its absence: inputs are ancient, and no rule but
# `plan` has `params`, since a change of these would measure again. `exec` lets a run end with a killed Snakemake.


rule plan:
    input:
        ancient(FILE),
    output:
        HERE / "plan.json",
    log:
        HERE / "log/plan.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        digest=experiments.digest([EXPERIMENT.model_dump(mode="json"), list(RUNS)]),
        config=json.dumps(config),
    # A script or `run` of Snakemake does not start where the path of Python has a blank.
    shell:
        '"$PYTHON" -m spikemark.running.sweeps {input:q} {params.config:q} {output:q} 2> {log:q}'


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
            "../../environment.yml"
        threads: workflow.cores  # nothing runs beside it
        shell:
            'exec "$PYTHON" -m spikemark run "$(dirname {input:q})" {wildcards.id:q} 2> {log:q}'

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
            "../../environment.yml"
        threads: 1
        shell:
            'exec "$PYTHON" -m spikemark run "$(dirname {input:q})" {wildcards.id:q} 2> {log:q}'
