"""Types of options and arguments; None where they are not given. Shells complete names from registries."""

import functools
import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer


def chosen(names: Callable[[], Iterable[str]], kind: Any = str | None, parameter: Any = typer.Option) -> Any:
    """A name that a shell completes to those that begin with what is typed."""

    def matching(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return Annotated[kind, parameter(autocompletion=matching)]


def registry(module: str, name: str, parameter: Any = typer.Option) -> Any:
    """A name in a registry of a module of the package, which is loaded when its names are asked for."""
    return chosen(lambda: getattr(importlib.import_module(f"spikemark.{module}"), name), parameter=parameter)


def number(low: float, high: float | None = None, kind: Any = int | None) -> Any:
    """A number within limits."""
    return Annotated[kind, typer.Option(min=low, max=high)]


def _underscored(name: str | None) -> str | None:
    """Names of schedules as files have them; pages print them with hyphens."""
    return name and name.replace("-", "_")


def _machines() -> Iterable[str]:
    from spikemark import machines

    return machines.names(*machines.ALL)


def _experiments() -> Iterable[str]:
    from spikemark.core import places

    return sorted(path.stem for path in (places.root() / "workflows" / "experiments").glob("*.yaml"))


def _writable(context: typer.Context, parameter: typer.CallbackParam, path: Path | None) -> Path | None:
    """Refuses, before any work, a file that cannot be written."""
    if path is not None and not context.resilient_parsing:
        from spikemark.core.files import output_file

        output_file(parameter.opts[0], path)
    return path


Text, Texts, Number = str | None, list[str] | None, float | None
File, Files = Path | None, list[Path] | None
Count, Positive = number(1), number(1, kind=int)
OutputFile = Annotated[Path | None, typer.Option(callback=_writable)]
Profile, NeededProfile = chosen(_machines), chosen(_machines, str)
Profiles, ProfileName = (
    chosen(_machines, list[str], typer.Argument),
    chosen(_machines, str | None, typer.Argument),
)
Experiment = chosen(_experiments, str, typer.Argument)
Preset = registry("network.presets", "PRESETS")
Schedule = registry("network.schedules", "SCHEDULES", functools.partial(typer.Option, callback=_underscored))
Placement = registry("network.placement", "PLACEMENTS")
