# What the rules share: the experiment, its runs in their order, and where their files are.
# Names in capitals belong to this workflow or, where it is used as a module, to the module alone.

IS_MODULE = not workflow.modifier.is_main_snakefile()
WHERE = f"module {__name__}: " if IS_MODULE else ""  # begins what is said of a configuration
FILES = [] if IS_MODULE else workflow.configfiles
SETTINGS = [] if IS_MODULE else list(workflow.config_settings.config_args or [])
if len(FILES) > 1:
    raise WorkflowError(
        "several files after --configfile; expected one experiment, changed with --config"
    )
CONFIG = sweeps.WorkflowConfig(
    file=str(FILES[0]) if FILES else None,
    settings=SETTINGS,  # texts NAME=VALUE, as typed after --config
    of_module=dict(config) if IS_MODULE else None,
)
try:
    if not CONFIG.read():
        experiment_files = Path(workflow.basedir, "workflows", "experiments").glob("*.yaml")
        names = " ".join(sorted(path.stem for path in experiment_files))
        raise WorkflowError(
            f"{WHERE}which experiment? Expected --config experiment=NAME, --configfile FILE.yaml or, in a module, config:; NAME is one of: {names}"
        )
    EXPERIMENT = CONFIG.experiment()
    HERE = Path(
        os.path.relpath(CONFIG.read().get("results") or sweeps.folder(EXPERIMENT, None, None).path)
    )
    PLANNED = sweeps.planned(EXPERIMENT, Results(HERE))
except BadInput as refused:
    raise WorkflowError(f"{WHERE}{refused}") from None
RUNS = {run.id: run for run in PLANNED.runs}
RECORDS = [HERE / "runs" / id / "record.json" for id in RUNS]
PRIORITY = {
    id: -place for place, id in enumerate(RUNS)
}  # the plan's order: first means higher priority
# The first repetition of the first seed of each combination.
FIRST = sorted(RUNS.values(), key=lambda run: (-run.seed, -run.repetition))
INSTRUMENTED = {str([run.fields, run.ranks, run.threads]): run.id for run in FIRST}.values()


def of_job(name, nothing=0):
    """A resource of a run: what its batch job asks for, where there is a job for each run.

    On this machine it asks for nothing, since a run has all of it.
    """

    def value(wildcards):
        if workflow.dryrun or not workflow.non_local_exec:
            return nothing
        job = job_size.job_size(RUNS[wildcards.id], EXPERIMENT.time_limit_s)
        return getattr(job, name)

    return value


def environment(wildcards):
    """The conda environment of a command: that of environment.yml, where Snakemake is to use one."""
    return "spikemark" if IS_CONDA else None


def instrumented_program(wildcards):
    """The program, of which there must be one before anything runs."""
    path = os.environ.get("SPIKEMARK_MINIAPP_SCOREP", f"{workflow.basedir}/build-scorep/miniapp")
    if not os.access(path, os.X_OK):
        raise WorkflowError(
            f"{path}: no program; build it as docs/energy-and-traces.md says, or name it in SPIKEMARK_MINIAPP_SCOREP"
        )
    return path


# The Python of a command: that which Snakemake runs in, whether it is in the PATH or not; with
# `--software-deployment-method conda`, that of the environment. A run notes if Snakemake is gone.
IS_CONDA = DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method
os.environ.update(
    SPIKEMARK_PYTHON="python" if IS_CONDA else sys.executable,
    SPIKEMARK_SNAKEMAKE=str(os.getpid()),
)
