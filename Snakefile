# Measures the runs of one experiment. `spikemark sweep` writes the plan, starts this in the results folder, and
# collects and reports afterwards: those two must also work when some runs failed, so they are not rules.


configfile: "plan.json"


include: "workflows/rules/measure.smk"
include: "workflows/rules/scorep.smk"


rule measured:
    default_target: True
    input:
        expand("runs/{id}/record.json", id=RUNS),
