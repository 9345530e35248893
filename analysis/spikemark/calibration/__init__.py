"""The profile of this host, or of the nodes of an allocation, measured in minutes: `spikemark calibrate`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from spikemark.core import places
from spikemark.core.files import write_output
from spikemark.machines.profile import checked

from . import node, of_parts, profile_text, session
from .effort import FULL, QUICK, Effort
from .session import title
from .site import Site
from .target import target


@dataclass(frozen=True)
class Outcome:
    """`path`: the file; `unknown`: what was not measured, and why.

    `warnings`: what disturbed the calibration.
    """

    path: Path
    unknown: dict[str, str]
    warnings: list[str] = field(default_factory=list)


def calibrate(
    name: str | None = None,
    out: Path | None = None,
    effort: Effort = FULL,
    force: bool = False,
    say: Callable[[str], None] = lambda line: None,
    nodes: int | None = None,
) -> Outcome:
    """Measures this host, or `nodes` nodes of the allocation, and writes a profile.

    The file is `out` (machines/NAME.yaml in the checkout). `name` is by default that of the file, or else
    made from the processor's. `say` receives a line per part. Raises BadInput, before anything is measured,
    for a name that is not allowed, a file that exists (unless `force`), missing programs and more nodes than
    there are; BenchFailed or RunFailed if a program fails. The file is written whole at the end or not at
    all.
    """
    if name is None:
        name = out.stem if out else node.default_name()
    name, path = target(name, out, force)
    for program in session.PROGRAMS:
        places.program(program)
    made = session.measure(Site.of(nodes), effort, path.parent, say)
    reference = made.reference("" if nodes is None else f" --nodes {nodes}")
    head = profile_text.Head(name, made.title, reference, made.unknown, made.warnings)
    text = profile_text.text(head, made.values)
    checked(yaml.safe_load(text), "calibrated")  # what is written can be read
    write_output(path, text)
    return Outcome(path, made.unknown, made.warnings)


def calibrate_parts(
    given: list[str],
    name: str | None = None,
    out: Path | None = None,
    effort: Effort = FULL,
    force: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> list[Outcome]:
    """Measures parts of an allocation whose nodes are unequal, one after the other, and writes their files.

    `given`: texts such as arm=n[3-4]. Each part gets the profile NAME-PART.yaml. Several parts get a machine
    of parts beside them, NAME.yaml (`out`), with what was measured between the first nodes of each two parts.
    Raises as `calibrate` does. The files are written at the end, or none of them.
    """
    made = of_parts.calibrate(given, name, out, effort, force, say)
    for file in made:
        write_output(file.path, file.text)
    return [Outcome(file.path, file.unknown, file.warnings) for file in made]


__all__ = ["FULL", "QUICK", "Effort", "Outcome", "calibrate", "calibrate_parts", "title"]
