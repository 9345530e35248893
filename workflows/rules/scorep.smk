# With the target `scorep`: one run of each combination of the grid with the program instrumented for Score-P
# (docs/energy-and-traces.md), in scorep/ beside the timed runs, and after its timed run.


rule scorep:
    input:
        expand(HERE / "scorep/{id}/record/record.json", id=INSTRUMENTED),
    localrule: True


rule scorep_run:
    input:
        program=ancient(instrumented_program),
        plan=ancient(HERE / "plan.json"),
        timed=ancient(HERE / "runs/{id}/record.json"),
    output:
        HERE / "scorep/{id}/record/record.json",
    log:
        HERE / "log/{id}.scorep.log",
    conda:
        environment
    threads: workflow.cores
    message:
        "Measure {wildcards.id} with Score-P"
    shell:
        'SPIKEMARK_PARENT=$SPIKEMARK_SNAKEMAKE exec "$SPIKEMARK_PYTHON" -m spikemark run "$(dirname {input.plan:q})" {wildcards.id:q} --scorep 2> {log:q}'
