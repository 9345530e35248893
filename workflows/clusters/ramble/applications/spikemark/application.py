# ruff: noqa: F403, F405 (Ramble's applications take its words from one module)
"""Ramble application: an experiment of Spikemark, with its figures of merit.

    ramble repo add workflows/clusters/ramble
    ramble workspace create spikemark -c workflows/clusters/ramble/ramble.yaml
    ramble -w spikemark workspace setup
    ramble -w spikemark on
    ramble -w spikemark workspace analyze

Benchpark takes the same file. The command `spikemark` must be in the path where the experiment
runs, and the mini-app must be there too, or be named by SPIKEMARK_MINIAPP. `spikemark sweep`
starts the ranks itself, one run after another, on the nodes of the job.
"""

from ramble.appkit import *

FIGURES = "{experiment_run_dir}/figures.jsonl"
UNITS = {
    "real_time_factor": "",
    "time_per_synaptic_event": "ns",
    "waiting_share": "",
    "energy_per_synaptic_event": "uJ",
}


class Spikemark(ExecutableApplication):
    """A spiking network that times every phase of every cycle on every rank."""

    name = "spikemark"
    tags("neuroscience", "mpi", "openmp")

    executable(
        "sweep",
        "spikemark sweep {experiment} --machine here --results {experiment_run_dir}/results",
        use_mpi=False,
    )
    executable(
        "figures",
        "spikemark export {experiment_run_dir}/results/{experiment}/here --format figures"
        f" --output {FIGURES}",
        use_mpi=False,
    )
    workload("sweep", executables=["sweep", "figures"])
    workload_variable(
        "experiment",
        default="smoke",
        description="Name of a file in workflows/experiments",
        workloads=["sweep"],
    )

    figure_of_merit_context(
        "configuration",
        regex=r'.*"configuration": "(?P<configuration>[^"]+)"',
        output_format="{configuration}",
    )
    for figure, unit in UNITS.items():
        figure_of_merit(
            figure,
            log_file=FIGURES,
            fom_regex=rf'.*"{figure}": {{"value": (?P<value>[-+.e0-9]+)',
            group_name="value",
            units=unit,
            contexts=["configuration"],
        )

    success_criteria("there are figures", mode="string", match=r'.*"configuration"', file=FIGURES)
    success_criteria(
        "all runs of a network find the same spikes",
        mode="string",
        anti_match=r'.*"checksums_agree": (false|null)',
        file=FIGURES,
    )
