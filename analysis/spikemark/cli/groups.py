"""Help in groups, as plain text of any width."""

from typer.core import TyperGroup


class Groups(TyperGroup):
    """Lists commands under the panel that each was registered with, in the order of registration.

    Typer knows panels only together with rich. First lines wrap where the terminal is narrow; nothing is cut.
    """

    def format_options(self, ctx, formatter) -> None:
        """Write options and commands. The epilog has the options that concern the shell."""
        for parameter in self.params:
            parameter.hidden |= parameter.name in ("install_completion", "show_completion")
        super().format_options(ctx, formatter)

    def format_commands(self, ctx, formatter) -> None:
        """Write one list for each panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        longest = max(map(len, commands), default=0)
        for name, command in commands.items():
            if not command.hidden:
                row = (name.ljust(longest), command.get_short_help_str(limit=1000))
                panels.setdefault(command.rich_help_panel or "Commands", []).append(row)
        for title, rows in panels.items():
            with formatter.section(title):
                formatter.write_dl(rows)
