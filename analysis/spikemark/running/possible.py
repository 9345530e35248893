"""Finds the points of a grid that the mini-app, or the simulated machine, would refuse, before anything is
measured.

A point is what runs have in common that differ only in seed and repetition. The rules are those by which
predictions refuse (network/, prediction/exchange.py), and a test holds them to `miniapp --explain`. What the
analysis passes on unchecked, such as parameters of a neuron model, is only refused when it is run.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.network import lanes, ring
from spikemark.network.description import Description, read
from spikemark.prediction import exchange
from spikemark.quantities.words import counted
from spikemark.records.experiment_fields import Experiment

from . import simulate
from .experiments import RunSpec, digest

#: Fields of a description that do not decide whether it can be run, as far as the analysis can tell.
IRRELEVANT = "seed", "record", "inject"
MODELS = "ignore_and_fire", "lif_delta", "lif_exp", "lif_sfa"
SHOWN = 10  # points, before the rest is counted
MOST_THREADS, MOST_PLACES = 4096, 10_000_000  # of a rank, and ranks x threads; limits of the mini-app


@dataclass(frozen=True)
class Sifted:
    """The runs that are possible, and why others are not: the reason by point, in words."""

    runs: list[RunSpec]
    left_out: dict[str, str]

    @property
    def lines(self) -> list[str]:
        """One line for each of the first points that were left out, and how many more there are."""
        lines = [f"left out: {point}: {reason}" for point, reason in self.left_out.items()]
        more = len(lines) - SHOWN
        return lines if more <= 0 else [*lines[:SHOWN], f"left out: {counted(more, 'more point')}"]


def sift(experiment: Experiment, runs: list[RunSpec]) -> Sifted:
    """The runs of an experiment without those that the mini-app would refuse.

    Raises BadInput naming the first such point unless the experiment says `skip_impossible: true`, and
    if no point is possible.
    """
    known: dict[Any, str | None] = {}
    networks: dict[str, Any] = {}
    load = functools.cache(simulate.filled)
    points: dict[str, None] = {}
    possible, refused = [], {}
    for run in runs:
        relevant = {name: value for name, value in run.description.items() if name not in IRRELEVANT}
        network = digest(relevant.pop("network", None))
        machine = None if run.machine is None else run.machine.model_dump_json()
        key = network, digest(relevant), run.ranks, run.threads, machine
        if key not in known:
            known[key] = _refusal_of(run, networks, network, load)
        point = _point(run)
        points[point] = None
        if known[key] is None:
            possible.append(run)
        else:
            refused[point] = known[key]
    if refused and not (experiment.skip_impossible and possible):
        point, reason = next(iter(refused.items()))
        of = f" ({len(refused)} of {counted(len(points), 'point')} cannot be run)" if len(points) > 1 else ""
        advice = "; 'skip_impossible: true' leaves such points out" if possible else ""
        raise BadInput(f"{experiment.name}: {point}: {reason}{of}{advice}")
    return Sifted(possible, refused)


def _refusal_of(run: RunSpec, networks: dict[str, Any], network: str, load: Callable) -> str | None:
    """Like `refusal`, but reads a network only once, which takes a second for a large one."""
    try:
        given = read({**run.description, **({"network": networks[network]} if network in networks else {})})
    except BadInput as why:
        return str(why)
    networks[network] = given.network
    return refusal(given, run.ranks, run.threads) or simulate.refusal(run, given, load)


def refusal(description: dict[str, Any] | Description, ranks: int, threads: int) -> str | None:
    """Why a description cannot be run on so many ranks with so many threads; None if it can."""
    try:
        given = read(description)
        for i, population in enumerate(given.network.populations):
            if (model := population.neuron.model) not in MODELS:
                where = f"network.populations.{i}.neuron.model"
                raise BadInput(f"{where}={model!r}: one of {', '.join(MODELS)}")
        if threads > MOST_THREADS:
            raise BadInput(f"threads={threads}: at most {MOST_THREADS}")
        if ranks * threads > MOST_PLACES:
            raise BadInput(f"ranks x threads: {ranks} x {threads}; expected at most {MOST_PLACES}")
        ring.of(given)
        schedule, placement = lanes.chosen(given, None, None)
        for lane in lanes.read(given, ranks, schedule, placement):
            exchange.check(lane)
    except BadInput as why:
        return str(why)
    return None


def _point(run: RunSpec) -> str:
    """The label of a run without seed and repetition."""
    words = run.label.split()
    return " ".join(word for word in words if not word.startswith(("seed=", "repetition=")))
