"""The command line `spikemark`. Each command is a thin face on an importable function.

Exit status: 0 done, 1 ran but something failed, 2 bad input (one line on standard error), 130
interrupted.

A new command is a module with an `app` and an entry in MODULES. Its function has its parameters in
its signature (params.py has those that commands share), imports what it needs in its body, so that
other commands start quickly, and prints by output.py. Commands of other packages: groups.py.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_group

from spikemark.core import streams
from spikemark.core.commands import BETWEEN, command
from spikemark.core.errors import BadInput, ending, plain
from spikemark.core.interrupts import interruptible

from .groups import CommandsOfModules, Groups
from .output import INTERRUPTED, carrying_out, interrupted

RENAMED = {"--simulator": "--program"}  #: options that have another name now
OUTPUT_BROKE = 1  # status with which click and rich exit where nobody reads on; ours are returned
COMPLETION = "_SPIKEMARK_COMPLETE"  # set by a shell that asks for completions

#: Commands that keep what they have done when they are interrupted, and go on from there.
CONTINUING = (
    ["sweep"],
    ["study"],
    ["dryrun"],
    ["tender", "run"],
    ["tender", "accept"],
)
#: Module of this package that each command stands in, in the order of the help.
MODULES = {
    "predict": "predict",
    "advise": "advise",
    "compare": "compare",
    "waiting": "waiting",
    "diff": "diff",
    "partition": "partition",
    "anchor": "anchor",
    "sweep": "sweep",
    "report": "report",
    "simulate": "simulate",
    "dryrun": "dryrun",
    "run": "run",
    "machine": "machine",
    "preset": "preset",
    "schema": "schema",
    "calibrate": "calibrate",
    "bench": "bench",
    "peers": "peers",
    "import": "import_cycles",
    "energy": "energy",
    "cachesim": "cachesim",
    "scorep": "scorep",
    "export": "export",
    "collect": "collect",
}


class Commands(Groups):
    """The commands of MODULES, imported when they are asked for, and those of other packages."""

    def __init__(self, **attributes: Any):
        modules = {name: f"spikemark.cli.{module}" for name, module in MODULES.items()}
        super().__init__(**attributes | {"commands": CommandsOfModules(modules)})


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help=(
        "Shows where the time between two spike exchanges goes, and how another schedule would"
        " change that."
    ),
    epilog=(
        "`spikemark COMMAND --help` explains a command; [brackets] hold its defaults. `spikemark"
        " --install-completion` lets bash, zsh or fish complete commands, options and names;"
        " `spikemark --show-completion` only prints the script."
    ),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from spikemark import __version__

        print(f"spikemark {__version__}")
        raise typer.Exit


@app.callback()
def _options_without_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


def commands() -> Mapping[str, Any]:
    """All commands by name, those of other packages included.

    Example:
        >>> {"predict", "sweep", "study", "tender"} <= commands().keys()
        True
    """
    return get_group(app).commands


def main(arguments: list[str] | None = None) -> NoReturn:
    """Carry out a command line, and exit; errors become one plain line and an exit status.

    Args:
        arguments: the words behind `spikemark`; None for those of this process.
    """
    interruptible()
    streams.prepare()
    try:
        with carrying_out(sys.argv[1:] if arguments is None else arguments):
            status = app(args=arguments, prog_name="spikemark", standalone_mode=False)
        sys.stdout.flush()  # a full disk is found here, not at the end of the interpreter
    except KeyboardInterrupt:
        status = INTERRUPTED
    except SystemExit as end:
        if end.code != OUTPUT_BROKE:
            raise
        streams.end_by_pipe()
    except BrokenPipeError:
        streams.end_by_pipe()
    except (BadInput, OSError) as error:
        if COMPLETION in os.environ:  # a line that is not finished
            sys.exit(0)
        text, status = ending(error)
        if isinstance(error, BadInput):
            text += _better_command(error, sys.argv[1:] if arguments is None else arguments)
        _fail(text, status)
    except MemoryError:
        _fail("out of memory; expected a smaller network, or fewer ranks, threads or cycles", 1)
    except Exception as error:
        if not _is_usage_error(error):  # a fault of the program
            raise
        _fail(_line_of_usage_error(error), 2)
    if status == INTERRUPTED:
        interrupted(_after_interruption(sys.argv[1:] if arguments is None else arguments))
    sys.exit(status if isinstance(status, int) else 0)


def _after_interruption(words: list[str]) -> str:
    """What the same command line would do after an interruption.

    `words`: those behind `spikemark`.
    """
    if words[:1] in CONTINUING or words[:2] in CONTINUING:
        return "the same command continues from here"
    return "the same command starts from the beginning"


def _better_command(error: BadInput, words: list[str]) -> str:
    """The command that was typed, with the path that would do; empty where none is known."""
    if error.instead is None:
        return ""
    refused = {Path(error.file), Path(error.file).parent}
    paths = {Path(word).absolute() for word in words} & {path.absolute() for path in refused}
    if not paths:
        return ""
    better = [error.instead if Path(word).absolute() in paths else word for word in words]
    return BETWEEN + command(*better)


def _is_usage_error(error: Exception) -> bool:
    """Whether Typer found a mistake in the command line. Its class is no public name of Typer."""
    return hasattr(error, "format_message")


def _line_of_usage_error(error: Any) -> str:
    """What is wrong with the command line, and where help on the command is."""
    message: str = error.format_message()
    if message.startswith("Usage:"):
        message = "no command given"
    values_checked_by_pydantic = hasattr(error.__cause__, "errors")
    if values_checked_by_pydantic:
        from spikemark.core.validation import invalid

        message = str(invalid(error.__cause__, error.param.opts[0]))
    message = " ".join(message.splitlines())
    renamed = RENAMED.get(getattr(error, "option_name", ""))
    if renamed:
        message = f"{message.rstrip('.')}, which is now {renamed}"
    context = getattr(error, "ctx", None)
    message = message.rstrip(".") + _instead_of_format(error, context)
    if context is None:
        return message
    return f"{message}: see `{context.command_path} --help`"


def _instead_of_format(error: Any, context: Any) -> str:
    """What prints the figures of a command without --format; empty for other options."""
    if getattr(error, "option_name", "") != "--format" or context is None:
        return ""
    if any("--json" in parameter.opts for parameter in context.command.params):
        return ", since the figures are more than one table; expected --json"
    return ""


def _fail(text: str, status: int) -> NoReturn:
    """Print a complaint on standard error, and exit.

    Args:
        text: a line; below it, further faults of the same file in indented lines.
        status: the exit status.
    """
    try:
        sys.stdout.flush()
    except OSError:
        streams.drop_output()
    print("spikemark:", plain(text), file=sys.stderr)
    sys.exit(status)
