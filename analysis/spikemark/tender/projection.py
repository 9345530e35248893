"""Figures of runs that were not measured: each names its method, its interval, and what it assumes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.fields import assign
from spikemark.core.reading import read_json
from spikemark.energy import analysis
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.prediction import asked, model_error
from spikemark.prediction.measured import differing
from spikemark.prediction.predict import PER_EVENT, Prediction, predict
from spikemark.prediction.simulators import MINI_APP
from spikemark.quantities.quantity import FEWEST, Quantity, mean, missing
from spikemark.quantities.words import counted, number
from spikemark.records import record
from spikemark.records.dry_run import DryRun
from spikemark.records.record import Run

from . import figures
from .bundle import Bundle
from .fields import FIGURES, HELD, Rule

#: How a figure can be projected, by the name in commitment.json, in words.
METHODS = {
    "model": "modelled from a machine profile",
    "dry_run+profile": "computing measured by a dry run, the rest modelled from a machine profile",
    "simulation": "the program on a simulated machine",
}
SEEDS = "the interval covers the jitter of the simulated machine, not what is unknown of that machine"


@dataclass(frozen=True)
class Question:
    """The offered machine: its profile, and how the run lies on it. `set`: fields that the bidder changes.

    `dry_run`: a folder of `spikemark dryrun`; `simulated`: folders of `spikemark simulate`. With these,
    `ranks` and `threads` may be None. `measured`: the runs of the answer, as in answer.json, which the
    profile is held against.
    """

    profile: Any = None
    ranks: int | None = None
    threads: int | None = None
    ranks_per_node: int | None = None
    set: dict[str, Any] | None = None
    dry_run: Path | None = None
    simulated: tuple[Path, ...] = ()
    measured: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Projected:
    """What was projected: entries of commitment.json, the nodes that the run takes, and its power in W."""

    entries: list[dict[str, Any]]
    nodes: int
    power_w: Quantity | None = None


def project(bundle: Bundle, rule: Rule, question: Question) -> Projected:
    """The figures of a run. Raises BadInput for a dry run or a simulation of another network."""
    description, hz = _network(bundle, rule, question.set)
    if question.simulated:
        return _simulated(rule, description, question)
    return _predicted(rule, description, question, hz, _held(bundle, question))


def _network(
    bundle: Bundle, rule: Rule, changed: dict[str, Any] | None
) -> tuple[dict[str, Any], dict[str, float] | None]:
    """The description of a run with changed fields, and the rates of populations that the bundle states."""
    description = read_json(bundle.description(rule))
    for name, given in (changed or {}).items():
        assign(description, name, given)
    return description, bundle.read_expected(rule).get("rates_hz")


def _held(bundle: Bundle, question: Question) -> list[str]:
    """Hold the profile against what the bidder measured, the real-time factor of every run.

    Returns one line for all and, where the interval of the profile misses a run, one for this run.
    """
    lines, held, tried = [], 0, 0
    for run in question.measured:
        found, layout = run["figure"]["real_time_factor"], run["layout"]
        if found is None:
            continue
        [rule] = bundle.rules([run["name"]])
        description, hz = _network(bundle, rule, run["set"])
        where = f"{rule.name} on {_layout(layout['ranks'], layout['threads'])}"
        each = -(-layout["ranks"] // layout["nodes"])
        try:
            made = predict(
                description, question.profile, layout["ranks"], layout["threads"], ranks_per_node=each, hz=hz
            )
        except BadInput as reason:
            lines.append(f"not held against the measured {where}: {reason}")
            continue
        factor = model_error.widened(made).figures["real_time_factor"]
        tried += 1
        if factor.low <= found["value"] <= factor.high:
            held += 1
            continue
        lines.append(
            f"{where}: measured {number(found['value'])}, predicted {number(factor.value)}"
            f" ({number(factor.low)} to {number(factor.high)})"
        )
    return [f"{HELD} {held} of {counted(tried, 'measured run')}", *lines] if tried else lines


def _predicted(
    rule: Rule, description: dict[str, Any], question: Question, hz: dict[str, float] | None, held: list[str]
) -> Projected:
    """Projects by a machine profile, with the compute times of a dry run if there is one.

    `hz`: rates of populations that the bundle states, where neurons have none of their own. `held`: how the
    profile does on the measured runs.
    """
    timed: DryRun | None = None
    if question.dry_run is not None:
        timed = asked.compute_from(question.dry_run, MINI_APP)
    ranks = question.ranks or (timed and timed.ranks)
    if ranks is None:
        raise BadInput(
            "--ranks: missing; allowed: the number of ranks of the projected run, or --dry-run DIR"
        )
    threads = question.threads or (timed and timed.about.threads) or _threads(question)
    made = predict(
        description, question.profile, ranks, threads, ranks_per_node=question.ranks_per_node,
        hz=hz, compute_from=timed,
    )  # fmt: skip
    found = model_error.widened(made)
    if found.fits is False:
        raise BadInput(
            f"--ranks: {ranks} ranks on {found.nodes} nodes; {rule.name} does not fit into their memory;"
            " allowed: more nodes"
        )
    method = "model" if timed is None else "dry_run+profile"
    entries = [
        _entry(rule, name, quantity, method, _assumes(found, held))
        for name, quantity in (
            ("real_time_factor", found.figures["real_time_factor"]),
            ("joules_per_synaptic_event", _per_recurrent(found)),
        )
    ]
    power = found.figures["power_w"]
    return Projected(entries, found.nodes, power or None)


def _threads(question: Question) -> int:
    cores = round(question.profile.need("node.cores", "placing ranks").value)
    return max(1, cores // (question.ranks_per_node or 1))


def _assumes(found: Prediction, held: list[str]) -> list[str]:
    """What a prediction rests on, strongest first."""
    factor = found.figures["real_time_factor"]
    lines = [f"machine profile {found.machine}", _layout(found.ranks, found.threads)]
    lines += [*held, model_error.SAID, *(f"extrapolated: {line}" for line in found.outside)]
    lines += [f"depends most on {', '.join(factor.depends[:3])}"] if factor.depends else []
    lines += [] if found.measured is None else found.measured.lines
    return [*lines, *(f"the profile may be wrong: {line}" for line in found.odd), *found.assumptions]


def _layout(ranks: int, threads: int) -> str:
    return f"{counted(ranks, 'rank')} of {counted(threads, 'thread')}"


def _per_recurrent(found: Prediction) -> Quantity:
    """Energy per recurrent synaptic event in J; the prediction also counts events from outside."""
    quantity = found.figures[PER_EVENT]
    if not quantity:
        return quantity
    loads = found.loads
    return quantity.times(1e-6 * (loads.total_events + loads.external) / loads.total_events, "J")


def _entry(rule: Rule, name: str, found: Quantity, method: str, assumes: list[str]) -> dict[str, Any]:
    about: dict[str, Any] = {"run": rule.name, "figure": name, "value": found.value}
    about |= {"low": found.low, "high": found.high, "method": method, "assumes": assumes}
    return about if found else {**about, "reason": found.reason}


def _simulated(rule: Rule, description: dict[str, Any], question: Question) -> Projected:
    """Projects by simulated runs: the mean, with its t interval over the seeds of the jitter."""
    if len(question.simulated) < FEWEST:
        given = counted(len(question.simulated), "run")
        raise BadInput(
            f"--simulated: {given}; allowed: {FEWEST} or more that differ in --seed, as an interval needs"
        )
    runs = [_simulated_run(path, description) for path in question.simulated]
    _check_alike(runs)
    about = runs[0].simulation
    assumes = [f"simulated machine {about['machine']}", SEEDS]
    assumes += [_layout(runs[0].record.ranks, int(about.get("threads") or 1)), about["facts"]]
    assumes += [str(line) for run in runs for line in run.simulation.get("assumptions", [])]
    made = [figures.of_run(run, analysis.of_run(run)) for run in runs]
    entries = [
        _entry(rule, name, _mean(made, name), "simulation", list(dict.fromkeys(assumes))) for name in FIGURES
    ]
    return Projected(entries, -(-runs[0].record.ranks // int(about.get("ranks_per_node") or 1)))


def _check_alike(runs: list[Run]) -> None:
    """Raises BadInput unless simulated runs differ in the seed of their jitter and in nothing else."""
    seeds = [run.simulation.get("seed") for run in runs]
    for run, seed in zip(runs[1:], seeds[1:], strict=True):
        for name in ("profile", "compute", "ranks_per_node", "threads"):
            if run.simulation.get(name) != runs[0].simulation.get(name):
                raise BadInput(
                    f"--simulated: {run.path}: {name} differs; allowed: runs that differ in --seed"
                )
        if run.record.ranks != runs[0].record.ranks or seeds.count(seed) > 1:
            raise BadInput(
                f"--simulated: {run.path}: {counted(run.record.ranks, 'rank')}, seed {seed}; allowed: as many"
                " ranks as the others, and another --seed for each"
            )


def _simulated_run(path: Path, description: dict[str, Any]) -> Run:
    run = record.load(path)
    if run.record.kind != "simulated" or run.simulation is None:
        raise BadInput(f"--simulated: {path} was measured; allowed: a folder that `spikemark simulate` wrote")
    ran = {**run.record.description, "inject": description.get("inject")}  # jitter is injected there
    owns, wanted = (lanes.chosen(read(one), None, None) for one in (ran, description))
    if owns[0] != wanted[0] or owns[1] != wanted[1]:
        raise BadInput(
            f"--simulated: {path}: {owns[0].name} with placement {owns[1]}; allowed: {wanted[0].name} with"
            f" {wanted[1]}, as in the bundle or as --set says"
        )
    if name := differing(ran, description):
        raise BadInput(f"--simulated: {path}: {name}: not that of the bundle's run; allowed: a run of it")
    return run


def _mean(made: list[dict[str, Any]], name: str) -> Quantity:
    """The mean of a figure over simulated runs; missing where one of them lacks it."""
    values = [one[name] for one in made]
    if None in values:
        return missing(next(one["reason"] for one in made if one[name] is None))
    return mean(values)
