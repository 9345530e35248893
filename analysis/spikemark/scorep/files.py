"""The files that Score-P leaves of a measurement, and what it was told to write."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_text
from spikemark.records import otf2_trace

PROFILE, TRACE = "profile.cubex", "traces.otf2"
#: Files, and the variable that asks for each.
NAMES = {PROFILE: "SCOREP_ENABLE_PROFILING", TRACE: "SCOREP_ENABLE_TRACING"}
SETTINGS = "scorep.cfg"  # Score-P writes there what it was told
TRUE = ("true", "yes", "on", "1")


def asked(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The files that settings of Score-P, variables with their values, ask for."""
    return tuple(name for name, variable in NAMES.items() if settings.get(variable, "").lower() in TRUE)


def found(folder: Path) -> tuple[str, ...]:
    """The files that are in the folder.

    Raises BadInput where there is none, or where one is missing that Score-P was told to write.
    """
    there = tuple(name for name in NAMES if (folder / name).is_file())
    for name in asked(_settings(folder / SETTINGS)):
        if name not in there:
            raise BadInput(f"{folder / name}: not found; by {SETTINGS}, Score-P was to write it")
    if not there:
        raise BadInput(
            f"{folder / PROFILE}: not found, nor is {TRACE}; Score-P writes them with"
            f" {'=true and '.join(NAMES.values())}=true"
        )
    return there


def read_later(folder: Path) -> list[Path]:
    """All files that the folder has of those that `spikemark scorep` reads, but for the run record."""
    single = [folder / name for name in (PROFILE, SETTINGS)]
    return [*(path for path in single if path.is_file()), *otf2_trace.parts(folder / TRACE)]


def _settings(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    lines = re.findall(r"^\s*(SCOREP_\w+)=(.*)$", read_text(path), re.MULTILINE)
    return {name: value.strip().strip("\"'") for name, value in lines}


def environment(defaults: Mapping[str, str]) -> dict[str, str]:
    """`defaults`, or what the environment says instead. Raises BadInput if nothing is to be written."""
    settings = {name: os.environ.get(name, value) for name, value in defaults.items()}
    if not asked(settings):
        said = " and ".join(f"{name}={settings[name]}" for name in NAMES.values())
        raise BadInput(f"{said}: Score-P would write nothing; allowed: at least one of them true")
    return settings
