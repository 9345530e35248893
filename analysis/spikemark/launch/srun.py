"""Ranks as a step of a Slurm allocation."""

import os
import re
from collections.abc import Iterator, Mapping

from spikemark.core.errors import BadInput

from . import pmi, slurm
from .command import Launch
from .layout import Layout, Nodes, Spread, spread


def start(program: list[str], layout: Layout, nodes: Nodes) -> Launch:
    """Starts ranks as a step that is alone in the allocation; raises BadInput outside an allocation.

    The step takes all memory of the nodes it uses. No option of the job or of a step around this process
    passes on to the new step, such as a number of tasks or a distribution.
    """
    if not slurm.inside():
        raise BadInput("launcher: 'srun' is not allowed here: allowed inside an allocation of Slurm (salloc)")
    placed = spread(layout, nodes)
    bound = layout.binding != "none"
    step = [
        "srun",
        *pmi.option(program[0]),
        "--overlap",
        "--kill-on-bad-exit=1",  # else the others wait for a rank that is gone
        "--mem=0",
        f"--nodes={placed.nodes}",
        *([f"--nodelist={','.join(placed.names)}"] if placed.names else []),
        f"--ntasks={placed.ranks}",
        *_per_node(placed),
        # A number of CPUs per task would confine the step to these, even if no task is bound.
        *([f"--cpus-per-task={layout.threads}"] if bound else []),
        "--hint=nomultithread",
        f"--cpu-bind={'cores' if bound else 'none'}",
    ]
    environment = {"OMP_NUM_THREADS": str(layout.threads)}
    environment |= {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"} if bound else {"OMP_PROC_BIND": "false"}
    return Launch([*step, *program], environment, tuple(slurm.inherited(os.environ)), placed)


def _per_node(placed: Spread) -> list[str]:
    """Slurm ignores --ntasks-per-node where the last node gets fewer; a plane is a block of that size."""
    even = placed.ranks == placed.nodes * placed.ranks_per_node
    limit = [f"--ntasks-per-node={placed.ranks_per_node}"] if even else []
    if placed.distribution == "block" and not even:
        return [f"--distribution=plane={placed.ranks_per_node}"]
    return [*limit, f"--distribution={placed.distribution}:block"]


def nodes(environment: Mapping[str, str] = os.environ) -> Nodes:
    """The nodes of the allocation that this process is in, or those chosen of them, with their cores.

    All of them are taken to have as many hardware threads per core as the first one.
    """
    every = slurm.hosts(environment)
    names = tuple(name for name in every if name in slurm.chosen()) or every
    # A job with --hint=nomultithread or --threads-per-core is told the threads that it may use of each core.
    per_core = int(environment.get("SLURM_THREADS_PER_CORE") or slurm.cpus_per_core(names[0]))
    cpus = list(cpus_of_nodes(environment.get("SLURM_JOB_CPUS_PER_NODE", "1")))
    cpus += [cpus[-1]] * (len(every) - len(cpus))
    of = dict(zip(every, cpus, strict=False))
    cores = tuple(max(1, of[name] // per_core) for name in names)
    return Nodes(cores, f"job {environment['SLURM_JOB_ID']}", names)


def cpus_of_nodes(text: str) -> Iterator[int]:
    """The numbers in a list as Slurm writes it, such as 4(x2),2."""
    for number, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        yield from [int(number)] * int(times or 1)
