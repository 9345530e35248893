"""`spikemark calibrate`: the profile of this host."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from .output import list_lines, short

INTERRUPTED = 130


def calibrate(
    name: Annotated[str | None, typer.Option(help="Name of the machine, instead of its processor's.")] = None,
    out: Annotated[Path | None, typer.Option(help="File instead of machines/NAME.yaml.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A minute, and wider intervals, instead of a few minutes.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Measure this machine and write its profile: kernels, exchanges, jitter, power.

    Leave the machine alone meanwhile. What cannot be measured here is left out, with the reason.
    """
    from spikemark import calibration
    from spikemark.bench.kernel_bench import BenchFailed
    from spikemark.running.measure import RunFailed

    def say(line: str) -> None:
        typer.echo(line, err=True)

    try:
        effort = calibration.QUICK if quick else calibration.FULL
        outcome = calibration.calibrate(name, out, effort, force, say)
    except (BenchFailed, RunFailed) as reason:
        typer.echo(f"calibrate failed: {reason}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        print("spikemark: interrupted: nothing was written", file=sys.stderr)
        sys.exit(INTERRUPTED)
    list_lines([f"warning: {line}" for line in outcome.warnings])
    typer.echo(f"{short(outcome.path)}, {len(outcome.unknown)} values unknown, listed there")
