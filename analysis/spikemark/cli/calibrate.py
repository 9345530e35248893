"""`spikemark calibrate`: writes the profile of this host."""

from pathlib import Path
from typing import Annotated

import typer

from .output import fail, interrupted, say, short, warn


def calibrate(
    name: Annotated[
        str | None, typer.Option(help="Name of the machine, instead of the name of its processor.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write instead of machines/NAME.yaml.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Take one minute instead of several; intervals become wider.")
    ] = False,
    nodes: Annotated[
        int | None,
        typer.Option(help="How many nodes of the Slurm allocation to measure.", show_default="one"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Measure this machine and write its profile.

    Measures kernels, exchanges, jitter and power; with several nodes also the network between them, and how
    much the nodes differ. This takes two to five minutes; do not use the machine meanwhile. What cannot be
    measured is left out, and the profile says why.
    """
    from spikemark import calibration
    from spikemark.bench.kernel_bench import BenchFailed
    from spikemark.running.measure import RunFailed

    try:
        effort = calibration.QUICK if quick else calibration.FULL
        outcome = calibration.calibrate(name, out, effort, force, say, nodes)
    except (BenchFailed, RunFailed) as reason:
        fail(f"calibrate failed: {reason}")
    except KeyboardInterrupt:
        interrupted("nothing was written")
    warn(outcome.warnings)
    typer.echo(f"{short(outcome.path)}, {len(outcome.unknown)} values unknown, listed there")
