# Measures the runs of one experiment with Snakemake, for batch systems that it knows: `spikemark sweep EXPERIMENT
# --profile FOLDER` writes the plan, starts this in the results folder, and collects and reports afterwards. Those two
# must also work when some runs failed, so they are not rules. This machine and Slurm need no workflow manager.


configfile: "plan.json"


include: "workflows/rules/measure.smk"
include: "workflows/rules/scorep.smk"


rule measured:
    default_target: True
    input:
        expand("runs/{id}/record.json", id=RUNS),
