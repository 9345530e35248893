"""`spikemark calibrate`: the profile of this host."""

from pathlib import Path
from typing import Annotated

import typer

from .output import fail, interrupted, say, short, warn


def calibrate(
    name: Annotated[
        str | None, typer.Option(help="Name of the machine instead of that of its processor.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write instead of machines/NAME.yaml.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Take a minute instead of a few, for wider intervals.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Measure this machine and write its profile.

    Measures kernels, exchanges, jitter and power. Leave the machine alone meanwhile. What cannot be measured
    is left out, and the profile says why.
    """
    from spikemark import calibration
    from spikemark.bench.kernel_bench import BenchFailed
    from spikemark.running.measure import RunFailed

    try:
        effort = calibration.QUICK if quick else calibration.FULL
        outcome = calibration.calibrate(name, out, effort, force, say)
    except (BenchFailed, RunFailed) as reason:
        fail(f"calibrate failed: {reason}")
    except KeyboardInterrupt:
        interrupted("nothing was written")
    warn(outcome.warnings)
    typer.echo(f"{short(outcome.path)}, {len(outcome.unknown)} values unknown, listed there")
