"""Answering a tender, as `spikemark tender run` does: choose, measure and collect; it goes on later."""

import dataclasses
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.layout import Layout
from spikemark.core.process import watch
from spikemark.core.reading import read_json
from spikemark.quantities.words import counted
from spikemark.running import worker
from spikemark.running.ways import Slurm, Way

from . import answer, environment, source
from .bundle import Bundle
from .fields import Rule
from .measure import Chosen, NotMeasured, Taken, experiment, take

CHOICES, NODES = "choices.json", "nodes"
READ_LIMIT_S = 120


@dataclass(frozen=True)
class Asked:
    """What the bidder asks for. None: as chosen before, or else the default.

    `set`: fields of the description; `power`: arguments of outside.source.
    """

    category: str
    bidder: str
    runs: list[str] | None = None
    ranks: int | None = None
    threads: int | None = None
    ranks_per_node: int | None = None
    set: dict[str, Any] | None = None
    power: dict[str, Any] | None = None


def measure_and_collect(
    bundle: Bundle, asked: Asked, out: Path, way: Way, say: Callable[[str], None]
) -> dict[str, Any] | None:
    """Measures what is missing and writes the answer; None while runs that must be measured are missing.

    Measurements lie in `OUT-work`. Raises BadInput for what the rules of the category do not allow, and
    NotMeasured where runs failed.
    """
    rules, work = bundle.rules(asked.runs), folder_of_work(out)
    answer.check_place(out)
    check_sources(bundle)
    choices = _choices(bundle, asked, rules, work, way)
    for rule in rules:
        experiment(bundle, rule, choices[rule.name], rule.model_ms[-1])
    write_json(work / CHOICES, _content(bundle, asked.category, choices))
    way = _reading(way, work)
    taken = {rule.name: take(bundle, rule, choices[rule.name], work, way, say) for rule in rules}
    for rule in bundle.tender.runs:
        if rule.name not in taken and rule.name in choices:
            taken[rule.name] = take(bundle, rule, choices[rule.name], work, way, say)
    if missing := [rule.name for rule in bundle.tender.runs if rule.measured and rule.name not in taken]:
        say(f"not measured yet: {', '.join(missing)}; `spikemark tender run` without --run measures them")
        return None
    ordered = [taken[rule.name] for rule in bundle.tender.runs if rule.name in taken]
    return answer.write(
        out, bundle, asked.category, asked.bidder, ordered, _nodes(work, ordered), asked.power
    )


def folder_of_work(out: Path) -> Path:
    """Folder of the measurements for an answer."""
    return out.resolve().with_name(f"{out.resolve().name}-work")


def check_sources(bundle: Bundle) -> None:
    """Raises BadInput where the measured program's sources are not those of the bundle."""
    changed = source.measured(source.differing(bundle.source, places.root()))
    if changed:
        raise BadInput(
            f"source: {counted(len(changed), 'file')} of the measured program not as in {bundle.source.name},"
            f" first {changed[0]}; allowed: none; unpack the archive, build it, and run its own spikemark"
        )


def _choices(bundle: Bundle, asked: Asked, rules: list[Rule], work: Path, way: Way) -> dict[str, Chosen]:
    """How each run is made: those asked for now, and what was chosen for the others before."""
    found = _chosen_before(bundle, asked.category, work)
    for rule in rules:
        before = found.get(rule.name)
        layout = _layout(bundle, rule, asked, before, way)
        changed = (before.set if before else {}) if asked.set is None else asked.set
        check_set(bundle, asked.category, changed)
        found[rule.name] = Chosen(layout, changed)
    return found


def _chosen_before(bundle: Bundle, category: str, work: Path) -> dict[str, Chosen]:
    """What earlier calls chose, by run. Raises BadInput for another bundle or category."""
    if not (work / CHOICES).is_file():
        return {}
    kept = read_json(work / CHOICES)
    try:
        belongs = kept["bundle_sha256"], kept["category"]
        found = {name: Chosen.of(content) for name, content in kept["runs"].items()}
    except (KeyError, TypeError, AttributeError):
        raise BadInput(
            f"{work / CHOICES}: not what `tender run` wrote; delete it, and choose again"
        ) from None
    if belongs != (bundle.sha256, category):
        raise BadInput(
            f"{work}: measured for another bundle or category; allowed: another --out, or delete the folder"
        )
    return found


def _content(bundle: Bundle, category: str, choices: dict[str, Chosen]) -> dict[str, Any]:
    runs = {name: chosen.content() for name, chosen in choices.items()}
    return {"bundle_sha256": bundle.sha256, "category": category, "runs": runs}


def check_set(bundle: Bundle, category: str, changed: dict[str, Any]) -> None:
    """Raises BadInput for a category that there is not, and for a field that it does not let a bidder set."""
    rules = bundle.tender.categories.get(category)
    if rules is None:
        raise BadInput(f"category={category!r}; allowed: {', '.join(bundle.tender.categories)}")
    for name, given in changed.items():
        if name.split(".")[0] not in rules.changes:
            allowed = ", ".join(rules.changes) or "nothing"
            raise BadInput(f"--set {name}={given}: in the category {category} allowed: {allowed}")


def _layout(bundle: Bundle, rule: Rule, asked: Asked, before: Chosen | None, way: Way) -> Layout:
    """Ranks and threads: as asked for, as before, or a rank for each area and all cores of a node."""
    if before and (asked.ranks, asked.threads, asked.ranks_per_node) == (None, None, None):
        return before.layout
    areas = {p.get("area", p["name"]) for p in read_json(bundle.description(rule))["network"]["populations"]}
    cores = way.campaign.cores() if isinstance(way, Slurm) else max(launch.nodes_at_hand().cores)
    ranks = asked.ranks or min(len(areas), cores)
    threads = asked.threads or max(1, cores // ranks)
    return Layout(ranks, threads, asked.ranks_per_node)


def _reading(way: Way, work: Path) -> Way:
    """The way; its jobs of Slurm also read the environment of their nodes."""
    if not isinstance(way, Slurm):
        return way
    variables = [f"{name}={shlex.quote(value)}" for name, value in worker.environment().items()]
    command = ["srun", "--ntasks-per-node=1", *_reader(work)]
    line = " ".join(["env", *variables, shlex.join(command), "|| true"])
    profile = way.campaign.profile
    profile = profile.model_copy(update={"setup": [*profile.setup, line]})
    return dataclasses.replace(way, campaign=dataclasses.replace(way.campaign, profile=profile))


def _reader(work: Path) -> list[str]:
    return [sys.executable, "-m", "spikemark", "tender", "environment", "--out", str(work / NODES)]


def _nodes(work: Path, taken: list[Taken]) -> list[dict[str, Any]]:
    """Description of every node that a run used; a node that was not read has a reason."""
    names: dict[str, None] = {}
    for one in taken:
        for measured in one.runs:
            host = measured.run.record.host
            names |= dict.fromkeys(host.node_names or [host.name])
    if missing := [name for name in names if not _file(work, name).is_file()]:
        _read_here(work, len(names))
        missing = [name for name in names if not _file(work, name).is_file()]
    unread = environment.unread("the node could not be reached after its runs")
    return [
        {"host": environment.value(name), "all": unread} if name in missing else read_json(_file(work, name))
        for name in names
    ]


def _file(work: Path, name: str) -> Path:
    return work / NODES / f"{name.split('.')[0]}.json"


def _read_here(work: Path, nodes: int) -> None:
    """Reads this node, and all of an allocation that this process is in."""
    if nodes == 1:
        write_node(work / NODES)
        return
    try:
        start = launch.launch(None, _reader(work), Layout(nodes, ranks_per_node=1))
    except BadInput:
        return
    watch(start, READ_LIMIT_S)


def write_node(folder: Path) -> Path:
    """Writes what is known of this node into a folder of all nodes."""
    found = environment.read_node(variables=os.environ)
    path = folder / f"{found['host']['value'].split('.')[0]}.json"
    write_json(path, found)
    return path


__all__ = ["Asked", "NotMeasured", "measure_and_collect", "write_node"]
