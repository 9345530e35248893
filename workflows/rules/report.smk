rule collect:
    input:
        plan=HERE / "plan.json",
        records=RECORDS,
    output:
        HERE / "summary.parquet",
        HERE / "phases.parquet",
    log:
        HERE / "log/collect.log",
    localrule: True
    conda:
        environment
    message:
        f"Collect the runs of {EXPERIMENT.name}"
    shell:
        '"$SPIKEMARK_PYTHON" -m spikemark collect "$(dirname {input.plan:q})" > {log:q} 2>&1'


rule report:
    input:
        tables=HERE / "summary.parquet",  # both read all records: one after the other
        plan=HERE / "plan.json",
        records=RECORDS,
    output:
        report(HERE / "report.html", category="Spikemark"),
    log:
        HERE / "log/report.log",
    localrule: True
    conda:
        environment
    message:
        f"Write {HERE}/report.html"
    shell:
        '"$SPIKEMARK_PYTHON" -m spikemark report "$(dirname {input.plan:q})" 2>&1 | tee {log:q}'
