"""Calibrates the parts of an allocation whose nodes are unequal, and what lies between them.

The parts are measured one after the other, each like a machine of its own, since its programs run only on its
nodes. Then messages go between the first node of each part and that of each other one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import yaml

from spikemark.bench.kept import BenchFailed
from spikemark.core import launch, places, slurm
from spikemark.core.errors import BadInput
from spikemark.machines import parts_file
from spikemark.machines.fields import FABRIC
from spikemark.machines.parts import BETWEEN, LINKS, OF_LINKS
from spikemark.machines.profile import Value, checked

from . import messages, profile_text, session
from .effort import Effort
from .profile_text import PartLine
from .session import Session
from .site import Site, listed
from .target import target
from .values import measured

PART = re.compile(r"[a-z][a-z0-9_]*")
EXAMPLE = "NAME=NODES, such as arm=n[3-4]"
SELECTOR = "interconnect.selector"


@dataclass(frozen=True)
class Made:
    """A file that is to be written, and what it leaves out."""

    path: Path
    text: str
    unknown: dict[str, str]
    warnings: list[str]


@dataclass(frozen=True)
class Between:
    """What was measured between two parts, by path, and what was not, with reasons."""

    values: dict[str, Value]
    unknown: dict[str, str]
    warnings: list[str]


def calibrate(
    given: list[str], name: str | None, out: Path | None, effort: Effort, force: bool,
    say: Callable[[str], None],
) -> list[Made]:  # fmt: skip
    """The profile of each part, then the file of the machine if there are several parts.

    Raises BadInput before anything is measured; BenchFailed or RunFailed if a program fails on the nodes of a
    part. What is not measured between parts is left out, with the reason.
    """
    asked = nodes_of(given)
    if name is None and out is None:
        raise BadInput("--part: allowed with --name or --out, after which the files are named")
    whole, path = target(name or out.stem, out, force or len(asked) == 1)
    files = {part: f"{whole}{BETWEEN}{part.replace('_', BETWEEN)}" for part in asked}
    paths = {part: target(file, path.with_name(f"{file}.yaml"), force)[1] for part, file in files.items()}
    for program in session.PROGRAMS:
        places.program(program)
    found: dict[str, Session] = {}
    for part, nodes in asked.items():
        say(f"part {part}: {listed(nodes)}")
        with slurm.only(nodes):
            found[part] = session.measure(Site.of(len(nodes)), effort, path.parent, say)
    options = "".join(f" --part {text}" for text in given)
    made = [
        Made(paths[part], _profile(files[part], one, options), one.unknown, one.warnings)
        for part, one in found.items()
    ]
    if len(asked) == 1:
        return made
    links = {
        BETWEEN.join(pair): _between([asked[part][0] for part in pair], effort, path.parent, found, say)
        for pair in combinations(asked, 2)
    }
    parts = [PartLine(part, paths[part].name, listed(nodes), len(nodes)) for part, nodes in asked.items()]
    return [*made, _machine(whole, path, parts, links, found, options, made)]


def nodes_of(given: list[str]) -> dict[str, tuple[str, ...]]:
    """The nodes of each part, in the order of the allocation, from texts such as arm=n[3-4].

    Raises BadInput outside an allocation, for other texts, and for nodes that are not there, or in two parts.
    """
    if not slurm.inside():
        raise BadInput("--part: allowed inside an allocation of Slurm (salloc)")
    there = launch.nodes_at_hand()
    found: dict[str, tuple[str, ...]] = {}
    of: dict[str, str] = {}
    for text in given:
        part, equals, nodes = text.partition("=")
        if not equals or not PART.fullmatch(part):
            raise BadInput(
                f"--part: {text!r}; allowed: {EXAMPLE}; names have lower-case letters, digits and '_'"
            )
        if part in found:
            raise BadInput(f"--part: {part} is given twice; allowed: each part once")
        for node in (named := _expanded(text, nodes)):
            if node not in there.names:
                allowed = listed(there.names, most=16)
                raise BadInput(
                    f"--part: {text!r}: no node {node}; allowed: the nodes of {there.whose}, {allowed}"
                )
            if of.setdefault(node, part) != part:
                raise BadInput(
                    f"--part: {text!r}: node {node} is in part {of[node]}; allowed: one part for a node"
                )
        found[part] = tuple(node for node in there.names if node in named)
    return found


def _expanded(text: str, nodes: str) -> tuple[str, ...]:
    try:
        named = slurm.expanded(nodes) if nodes.strip() else ()
    except slurm.SlurmFailed as failed:
        raise BadInput(f"--part: {text!r}: {failed}; allowed: {EXAMPLE}") from None
    if not named:
        raise BadInput(f"--part: {text!r} has no nodes; allowed: {EXAMPLE}")
    return named


def _profile(name: str, made: Session, options: str) -> str:
    head = profile_text.Head(name, made.title, made.reference(options), made.unknown, made.warnings)
    text = profile_text.text(head, made.values)
    checked(yaml.safe_load(text), "calibrated")  # what is written can be read
    return text


def _between(
    nodes: list[str], effort: Effort, near: Path, found: dict[str, Session], say: Callable[[str], None]
) -> Between:
    """Messages between two nodes. A program that fails leaves all of them unknown."""
    say(f"messages between {' and '.join(nodes)}")
    with slurm.only(nodes):
        site = Site.of(len(nodes))
        with session.workspace(site, near) as parts:
            try:
                rounds = [
                    parts(lambda _, first=not n: messages.between(site, effort, first))
                    for n in range(effort.rounds)
                ]
            except (BenchFailed, BadInput) as reason:
                unknown = {f"interconnect.{cost}": str(reason) for cost in (*messages.COSTS, "eager")}
                return Between({}, unknown | {FABRIC: messages.FABRIC}, session.failures(parts))
            values, unknown = messages.values([], rounds)
            libraries = {one.values[SELECTOR].value for one in found.values() if SELECTOR in one.values}
            if len(libraries) == 1:
                values[SELECTOR] = measured(libraries.pop(), None, detail="as in all parts")
            known = {path: why for path, why in unknown.items() if path in OF_LINKS}
            return Between(values, known, session.failures(parts))


def _machine(
    name: str, path: Path, parts: list[PartLine], links: dict[str, Between], found: dict[str, Session],
    options: str, profiles: list[Made],
) -> Made:  # fmt: skip
    unknown = {f"{LINKS}.{n}.{p}": why for n, link in links.items() for p, why in link.unknown.items()}
    warnings = [warning for link in links.values() for warning in link.warnings]
    first = next(iter(found.values()))
    titles = "; ".join(f"{part}: {one.title}" for part, one in found.items())
    title = f"Machine of {len(found)} parts: {titles}"
    head = profile_text.Head(name, title, first.reference(options), unknown, warnings)
    text = profile_text.of_parts(head, parts, {n: link.values for n, link in links.items()})
    texts = {made.path.name: made.text for made in profiles}
    parts_file.read(
        yaml.safe_load(text), "calibrated", lambda file: checked(yaml.safe_load(texts[file]), file)
    )
    return Made(path, text, unknown, warnings)
