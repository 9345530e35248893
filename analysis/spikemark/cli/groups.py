"""Help in groups, as plain text of any width, and commands whose values a shell can complete."""

from typer.core import TyperGroup

from . import completion


class Groups(TyperGroup):
    """Lists commands under the panel that each was registered with, in the order of registration.

    Typer knows panels only together with rich. First lines wrap where the terminal is narrow; nothing is cut.
    """

    def get_command(self, ctx, cmd_name):
        """The command of that name, with values that a shell can complete; None where there is none."""
        command = super().get_command(ctx, cmd_name)
        return completion.teach(command) if command is not None and ctx.resilient_parsing else command

    def format_options(self, ctx, formatter) -> None:
        """Write options and commands. The options that concern the shell stand in the epilog."""
        for parameter in self.params:
            if parameter.name in completion.OPTIONS:
                parameter.hidden = True
        super().format_options(ctx, formatter)

    def format_commands(self, ctx, formatter) -> None:
        """Write one list for each panel; within it, a command that has commands of its own comes first."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if not command.hidden:
                rows = panels.setdefault(command.rich_help_panel or "Commands", [])
                place = 0 if isinstance(command, TyperGroup) else len(rows)
                rows.insert(place, (name, command.get_short_help_str(limit=1000)))
        longest = max((len(name) for rows in panels.values() for name, _ in rows), default=0)
        for title, rows in panels.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(longest), line) for name, line in rows])
