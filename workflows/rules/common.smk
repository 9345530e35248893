# What the rules share: the experiment, its runs in their order, and where their files are.

if not workflow.configfiles:
    found = Path(workflow.basedir, "workflows", "experiments").glob("*.yaml")
    known = " ".join(sorted(path.stem for path in found))
    raise WorkflowError(f"add --configfile workflows/experiments/NAME.yaml; NAME is one of: {known}")
FILE = Path(workflow.configfiles[0])
try:
    EXPERIMENT = experiments.of_config(config, FILE)
    RUNS = {run.id: run for run in possible.sift(EXPERIMENT, experiments.expand(EXPERIMENT)).runs}
    HERE = Path(os.path.relpath(config.get("results") or sweeps.folder(EXPERIMENT, None, None).path))
except BadInput as refused:
    raise WorkflowError(str(refused)) from None
RECORDS = [HERE / "runs" / id / "record.json" for id in RUNS]
PRIORITY = {id: -place for place, id in enumerate(RUNS)}  # the plan's order: first means higher priority
# The first repetition of the first seed of each combination.
FIRST = sorted(RUNS.values(), key=lambda run: (-run.seed, -run.repetition))
INSTRUMENTED = {str([run.fields, run.ranks, run.threads]): run.id for run in FIRST}.values()


def instrumented_program(wildcards):
    """The program, of which there must be one before anything runs."""
    path = os.environ.get("SPIKEMARK_MINIAPP_SCOREP", f"{workflow.basedir}/build-scorep/miniapp")
    if not os.access(path, os.X_OK):
        raise WorkflowError(
            f"{path}: no program; build it as docs/energy-and-traces.md says, or name it in SPIKEMARK_MINIAPP_SCOREP"
        )
    return path


# The Python that Snakemake runs in, whether it is in the PATH or not; a run notes if Snakemake is gone.
shell.prefix(
    f"PYTHON={shlex.quote(sys.executable)} SPIKEMARK_PARENT={os.getpid()}; export SPIKEMARK_PARENT; "
)
