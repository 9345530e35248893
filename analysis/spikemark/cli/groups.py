"""Groups of commands: help in panels, and commands that are imported when they are asked for.

Typer builds every command of a program before it runs one of them. Here `spikemark run` imports
what `run` needs, and nothing of the other commands: a group holds its commands in a mapping that
makes each one when it is looked up (CommandsOnDemand). `spikemark --help` makes all of them.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from spikemark.core.errors import BadInput

#: What the help calls the value of an option, by what Typer calls its type.
PLAIN_TYPES = {
    "<int>": "INTEGER",
    "<int range>": "INTEGER",
    "<float>": "NUMBER",
    "<float range>": "NUMBER",
    "<float,float>": "NUMBER NUMBER",
    "<str>": "TEXT",
    "<list[str]>": "TEXT",
    "<path>": "PATH",
    "<list[Path]>": "PATH",
}
#: Commands of other packages: entry points `NAME = "module:register"`, each a function that adds
#: commands to the `typer.Typer` that it is given.
ENTRY_POINTS = "spikemark.commands"


class Groups(TyperGroup):
    """Lists commands under the panel that each was registered with, in the order of registration.

    Typer knows panels only together with rich. First lines wrap where the terminal is narrow;
    nothing is cut.
    """

    def invoke(self, ctx: Any) -> Any:
        """Carry out a command. What a function says of its argument is said of the option."""
        try:
            return super().invoke(ctx)
        except BadInput as error:
            raise _about_option(error, self.commands.get(ctx.invoked_subcommand)) from error

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The name of a command, the command, and its words.

        Raises BadInput for an option that is given twice and holds one value: the parser would take
        the last one, and leave out the others without a word.
        """
        name, command, words = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            _refuse_repeated(ctx, name, command, words)
        return name, command, words

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name; its help says the types of its options in plain words, and those
        of its arguments not at all: their names say what they are.
        """
        command: Any = super().get_command(ctx, cmd_name)
        if command is None:
            return None
        for parameter in command.params:
            plain = PLAIN_TYPES.get(parameter.display_type(ctx))
            is_option = parameter.opts[0].startswith("--")
            if is_option and parameter.metavar is None and not parameter.is_flag:
                parameter.metavar = plain
            elif not is_option and plain is not None:
                parameter.display_type_rich = _no_type
        return command

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write options and commands. The epilog has the options that concern the shell."""
        options: list[Any] = self.params
        for option in options:
            if option.name in ("install_completion", "show_completion"):
                option.hidden = True
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one list for each panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        names = self.list_commands(ctx)
        width = max(map(len, names), default=0)
        for name in names:
            command: Any = self.commands[name]
            if command.hidden:
                continue
            row = (name.ljust(width), command.get_short_help_str(limit=1000))
            panels.setdefault(command.rich_help_panel or "Commands", []).append(row)
        for title, rows in panels.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _refuse_repeated(ctx: Any, name: str | None, command: Any, words: list[str]) -> None:
    """Raises BadInput for an option of one value that is given twice."""
    of_command = command.context_class(command, info_name=name, parent=ctx)
    _, _, in_order = command.make_parser(of_command).parse_args(list(words))
    given = set()
    for parameter in in_order:
        is_option = parameter.opts[0].startswith("--")
        if parameter in given and is_option and not parameter.multiple and not parameter.is_flag:
            option = parameter.opts[0]
            raise BadInput(field=option, reason="given twice", expected="once")
        given.add(parameter)


def _no_type(ctx: Any) -> None:
    """What is said of the type of an argument: nothing."""


def _about_option(error: BadInput, command: Any) -> BadInput:
    """A complaint about an argument of a function as one about the command line's own.

    An option has the same name; an argument stands in the usage line in capitals.
    """
    if command is None or error.file is not None or error.field is None:
        return error
    flags = {}
    for parameter in command.params:
        if parameter.opts[0].startswith("--"):
            flags[parameter.name] = parameter.opts[0]
        elif parameter.metavar == error.field.upper():
            flags[error.field] = parameter.metavar
    if error.field not in flags:
        return error
    return error.about_option(flags[error.field], flags)


class CommandsOnDemand(Mapping[str, Any]):
    """Commands by name; each is made when it is looked up. Subclasses say which, and how."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def names(self) -> list[str]:
        """Names of all commands, in the order of the help."""
        raise NotImplementedError

    def make(self, name: str) -> Any:
        """The command of a name. Raises KeyError where there is none."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self.make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())


class CommandsOfModules(CommandsOnDemand):
    """Commands of this package, by the modules that they stand in, and those of entry points.

    A module has an `app`, a `typer.Typer` with its commands. Entry points are read only where a
    name is none of this package, or where all names are asked for.
    """

    def __init__(self, modules: Mapping[str, str]):
        super().__init__()
        self.modules = modules

    def names(self) -> list[str]:
        return [*self.modules, *self._of_entry_points]

    def make(self, name: str) -> Any:
        if name not in self.modules:
            return self._of_entry_points[name]
        module = import_module(self.modules[name])
        return commands_of(module.app)[name]

    @cached_property
    def _of_entry_points(self) -> dict[str, Any]:
        return _commands_of_entry_points(taken=self.modules)


def commands_of(app: typer.Typer) -> dict[str, Any]:
    """The commands that an application of Typer has, by name.

    Example:
        >>> app = typer.Typer()
        >>> bench = app.command("bench")(lambda: None)
        >>> other = app.command("report")(lambda: None)
        >>> sorted(commands_of(app))
        ['bench', 'report']
    """
    collector = typer.Typer(rich_markup_mode=None)
    collector.add_typer(app)
    return dict(get_group(collector).commands)


def _commands_of_entry_points(taken: Iterable[str]) -> dict[str, Any]:
    """The commands that other packages register, by name.

    A package that cannot be imported, or that names one of the commands that are `taken`, is left
    out, and a line on standard error says so: it must not keep others from their work.
    """
    from importlib.metadata import entry_points  # takes longer to import than Typer does

    commands: dict[str, Any] = {}
    for entry_point in entry_points(group=ENTRY_POINTS):
        app = typer.Typer(rich_markup_mode=None)
        try:
            register = entry_point.load()
            register(app)
            added = dict(get_group(app).commands)
        except Exception as error:
            _warn(entry_point.value, f"{type(error).__name__}: {error}")
            continue
        clashes = [name for name in added if name in taken or name in commands]
        if clashes:
            _warn(entry_point.value, f"there is a command {', '.join(clashes)} already")
            continue
        commands |= added
    return commands


def _warn(source: str, reason: str) -> None:
    line = " ".join(f"spikemark: commands of {source} are left out: {reason}".split())
    print(line, file=sys.stderr)
