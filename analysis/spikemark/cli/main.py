"""The command line `spikemark`. Each command is a thin face on an importable function.

Exit status: 0 done, 1 ran but something failed, 2 bad input (one line on standard error), 130 interrupted.
"""

import atexit
import gc
import os
import sys
from typing import Annotated

import typer

from spikemark.core.errors import BadInput, ending, invalid, plain
from spikemark.launch.process import interruptible

from . import describe, diff, measuring, partition, predict, simulate, sweep, tender, waiting
from .groups import Groups
from .output import INTERRUPTED, interrupted

COMPLETION = "_SPIKEMARK_COMPLETE"  # set by a shell that asks for completions

app = typer.Typer(
    cls=Groups,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="Shows where the time between two spike exchanges goes, and how another schedule would change that.",
    epilog="`spikemark COMMAND --help` explains a command. `spikemark --install-completion` lets bash, zsh"
    " or fish complete commands, options and names; `spikemark --show-completion` only prints the script.",
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


# Panels, and commands within them, in the order of a newcomer's work.
PANELS = {
    "Answer a question": (predict.predict, predict.advise, predict.compare, waiting.waiting, diff.diff,
                          partition.partition, predict.score, predict.anchor),
    "Run and report": (tender.app, sweep.sweep, sweep.report, sweep.study, simulate.simulate,
                       simulate.dryrun, sweep.run),
    "Describe networks and machines": (describe.presets, describe.machine),
    "Measure this machine": (measuring.calibrate, measuring.bench, measuring.peers),
    "Work with records": (waiting.import_cycles, measuring.energy, measuring.cachesim, measuring.scorep,
                          sweep.export, sweep.collect),
}  # fmt: skip
NAMES = {tender.app: "tender", describe.presets: "preset", waiting.import_cycles: "import"}
for panel, commands in PANELS.items():
    for command in commands:
        name = NAMES.get(command)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=panel)
        else:
            form = {"cls": waiting.Formats} if name == "import" else {}
            app.command(name, rich_help_panel=panel, **form)(command)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: runs the command and turns errors into one plain line and an exit status."""
    interruptible()
    if arguments is None:  # a program of its own
        atexit.register(gc.freeze)  # its end need not search all that was loaded for what is unused
    try:
        status = app(args=arguments, prog_name="spikemark", standalone_mode=False)
        sys.stdout.flush()  # a full disk is found here, not at the end of the interpreter
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except (BadInput, OSError) as error:
        if COMPLETION in os.environ:  # a line that is not finished
            sys.exit(0)
        _fail(*ending(error))
    except Exception as error:
        if not hasattr(error, "format_message"):  # everything but a usage error is a fault of the program
            raise
        _fail(_usage(error), 2)
    if status == INTERRUPTED:
        interrupted()
    sys.exit(status if isinstance(status, int) else 0)


def _usage(error: Exception) -> str:
    message, context = error.format_message(), getattr(error, "ctx", None)
    if message.startswith("Usage:"):
        message = "no command given"
    if hasattr(error.__cause__, "errors"):  # of pydantic, which checks values for typer
        message = str(invalid(error.__cause__, whole=error.param.opts[0]))
    return f"{message.rstrip('.')}: see `{context.command_path} --help`" if context else message


def _drop_output() -> None:
    """Keeps the interpreter from trying again at its end what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(line: str, status: int) -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    print("spikemark:", plain(" ".join(line.splitlines())), file=sys.stderr)
    sys.exit(status)
