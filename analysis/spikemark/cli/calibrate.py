"""`spikemark calibrate`: writes the profile of this host."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .output import fail, interrupted, say, short, warn


def calibrate(
    name: Annotated[
        str | None, typer.Option(help="Name of the machine, instead of the name of its processor.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write instead of machines/NAME.yaml.")] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Take one or two minutes instead of several; intervals become wider."),
    ] = False,
    nodes: Annotated[
        int | None,
        typer.Option(help="How many nodes of the Slurm allocation to measure.", show_default="one"),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NODES",
            help="Measure these nodes of the Slurm allocation, such as arm=n[3-4], as a part of a machine of"
            " unequal nodes; may be repeated.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Measure this machine and write its profile.

    Measures kernels, exchanges, jitter and power; with several nodes also the network between them, and how
    much the nodes differ. This takes three to six minutes; do not use the machine meanwhile. What cannot be
    measured is left out, and the profile says why.

    With --part, each part gets a profile, NAME-PART.yaml. Several parts also get NAME.yaml, the file of a
    machine of parts, with what was measured between them.
    """
    from spikemark import calibration
    from spikemark.bench.kernel_bench import BenchFailed
    from spikemark.running.measure import RunFailed

    try:
        effort = calibration.QUICK if quick else calibration.FULL
        if not part:
            outcomes = [calibration.calibrate(name, out, effort, force, say, nodes)]
        elif nodes is not None:
            raise BadInput(f"--nodes: {nodes}; allowed without --part, which names its nodes")
        else:
            outcomes = calibration.calibrate_parts(part, name, out, effort, force, say)
    except (BenchFailed, RunFailed) as reason:
        fail(f"calibrate failed: {reason}")
    except KeyboardInterrupt:
        interrupted("nothing was written")
    for outcome in outcomes:
        warn(outcome.warnings)
        typer.echo(f"{short(outcome.path)}, {len(outcome.unknown)} values unknown, listed there")
