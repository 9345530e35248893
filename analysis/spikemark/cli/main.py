"""The command line `spikemark`. Each command is a thin face on an importable function.

Exit status: 0 done, 1 ran but something failed, 2 bad input (one line on standard error), 130 interrupted.
"""

import atexit
import gc
import os
import signal
import sys
from typing import Annotated

import typer

from spikemark.core.errors import BadInput, is_bad_input, option_complaint, plain

from . import history, import_cycles, ledger, preset, tender
from .advise import advise
from .bench import bench
from .budget import budget
from .cachesim import cachesim
from .calibrate import calibrate
from .collect import collect
from .compare import compare
from .coverage import coverage
from .diff import diff
from .dryrun import dryrun
from .energy import energy
from .export import export
from .fit import fit
from .groups import Groups
from .machine import machine
from .noise import noise
from .output import INTERRUPTED, interrupt, why_ended
from .partition import partition
from .peers import peers
from .predict import HELP, Predict, other_schedule
from .report import report
from .run import run
from .scorep import scorep
from .simulate import simulate
from .study import study
from .sweep import sweep
from .traffic import traffic
from .whatif import Whatif, whatif
from .work import work

COMPLETION = "_SPIKEMARK_COMPLETE"  # set by a shell that asks for completions

app = typer.Typer(
    cls=Groups,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="Shows where the time between two spike exchanges goes, and how another schedule would change that.",
    epilog="`spikemark COMMAND --help` explains a command. `spikemark --install-completion` teaches bash, zsh"
    " or fish to complete commands, options and names; `spikemark --show-completion` only prints how.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from spikemark import __version__

        typer.echo(f"spikemark {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


ANSWER, RUN = "Answer a question", "Run and report"
DESCRIBE, MEASURE = "Describe networks and machines", "Measure this machine"
RECORDS = "Work with records"

# Panels, and commands within them, stand in the order of a newcomer's work.
app.command("predict", cls=Predict, help=HELP, rich_help_panel=ANSWER)(other_schedule)
app.command(rich_help_panel=ANSWER)(advise)
app.command(rich_help_panel=ANSWER)(compare)
app.command(rich_help_panel=ANSWER)(budget)
app.command(cls=Whatif, rich_help_panel=ANSWER)(whatif)
app.command(rich_help_panel=ANSWER)(diff)
for verb in (partition, traffic):
    app.command(rich_help_panel=ANSWER)(verb)
app.add_typer(ledger.app, name="ledger", rich_help_panel=ANSWER)
for verb in (sweep, report, study, simulate, dryrun):
    app.command(rich_help_panel=RUN)(verb)
app.add_typer(tender.app, name="tender", rich_help_panel=RUN)
app.add_typer(preset.app, name="preset", rich_help_panel=DESCRIBE)
app.command(rich_help_panel=DESCRIBE)(machine)
for verb in (calibrate, noise, bench, peers):
    app.command(rich_help_panel=MEASURE)(verb)
app.add_typer(import_cycles.app, name="import", rich_help_panel=RECORDS)
app.add_typer(history.app, name="history", rich_help_panel=RECORDS)
for verb in (fit, energy, cachesim, scorep, export, collect):
    app.command(rich_help_panel=RECORDS)(verb)
# The workflow starts these two, and the third writes a page of the documentation.
for verb in (run, work, coverage):
    app.command(hidden=True)(verb)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: runs the command and turns errors into one plain line and an exit status."""
    for sign in (signal.SIGINT, signal.SIGTERM):  # also where a shell started us with interrupts ignored
        signal.signal(sign, interrupt)
    if arguments is None:  # a program of its own
        atexit.register(gc.freeze)  # its end need not search all that was loaded for what is unused
    try:
        status = app(args=arguments, prog_name="spikemark", standalone_mode=False)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BadInput as error:
        if COMPLETION in os.environ:  # a line that is not finished
            sys.exit(0)
        _fail(str(error), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        line = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
        _fail(line, 2 if is_bad_input(error) else 1)
    except Exception as error:
        if not hasattr(error, "format_message"):  # everything but a usage error is a fault of the program
            raise
        _fail(_usage(error), 2)
    if status == INTERRUPTED:
        _fail(f"{why_ended()}: the same command continues from here", INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)


def _usage(error: Exception) -> str:
    message, context = error.format_message(), getattr(error, "ctx", None)
    if message.startswith("Usage:"):
        message = "no command given"
    if hasattr(error.__cause__, "errors"):  # of pydantic, which checks values for typer
        message = option_complaint(error.param.opts[0], error.__cause__)
    return f"{message.rstrip('.')}: see `{context.command_path} --help`" if context else message


def _fail(line: str, status: int) -> None:
    print("spikemark:", plain(" ".join(line.splitlines())), file=sys.stderr)
    sys.exit(status)
