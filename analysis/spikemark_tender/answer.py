"""`spikemark tender answer`: collects measured runs, projections and promises in one folder.

The folder holds copies of the records, readings of power, a description of every node, answer.json
with all figures, and a manifest. It is written whole or not at all. Figures are medians over the
repetitions. A figure that was measured or projected is promised as it is, unless another is named.
"""

import contextlib
import math
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

import spikemark
from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import whole_folder, write_json
from spikemark.core.reading import read_json
from spikemark.measuring.energy import measured, of_run
from spikemark.measuring.meter import PowerReadings, source
from spikemark.prediction import draws, question
from spikemark.prediction.draws import Draws
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.mini_app import MiniAppOption, mini_app_option
from spikemark.prediction.narrowing import decides
from spikemark.prediction.workload import Loads
from spikemark.quantities.words import counted
from spikemark.records import run_files
from spikemark.records.record import Run
from spikemark.running.energy import POWER_COLUMNS

from . import environment, formats, measure, nest, schema
from .formats import FIGURES, JOULES, POWER, RTF, Bundle
from .schema import OfferedMachine, RunRule, TenderAnswer

#: Promised values by (run, figure).
Promised = dict[tuple[str, str], float]

#: Fields of a refusal that are about the layout of ranks, which is the bidder's choice.
LAYOUT_FIELDS = ("ranks", "threads", "ranks_per_node", "nodes")
#: Arguments of `tender answer` by fields of the offer, where they differ.
ARGUMENTS = {"machine": "system", "node_limit_w": "node_power", "node_idle_w": "node_idle"}
MAX_DECIDING_INPUTS = 3  #: that a projection names


@dataclass(frozen=True)
class ExternalMeter:
    """A power meter outside of the nodes, whose readings count instead of theirs."""

    path: Path  #: CSV file of time and power
    at_wall_percent: float | None = None  #: its accuracy, if it reads whole nodes


def write(
    bundle: Bundle,
    work: Path,
    out: Path,
    bidder: str,
    offer: dict[str, Any],
    *,
    promised: Promised | None = None,
    projected: Sequence[dict[str, Any]] = (),
    meter: ExternalMeter | None = None,
    profile: Path | None = None,
    nest_runs: Path | None = None,
) -> TenderAnswer:
    """Writes the answer, whole or not at all, in place of an earlier one.

    Args:
        bundle: what the buyer published.
        work: folder of the measurements, see `measure.measure`.
        out: folder of the answer.
        bidder: name of the bidder.
        offer: fields of schema.OfferedMachine.
        promised: values that replace the evidence.
        projected: fields of one schema.ProjectedFigure each.
        meter: None where the nodes' own readings count.
        profile: file of the machine profile by which the target was projected.
        nest_runs: folder of runs of NEST that `spikemark anchor` wrote and its runs filled.

    Raises BadInput for a folder that holds anything else, for measurements of another bundle, for
    missing runs, and for an offer, a projection or a promise that cannot be meant.
    """
    offer = _checked_offer(offer)
    _refuse_other_content(out)
    choices = measure.read_choices(work)
    chosen = _measured_runs(bundle, work, choices)
    _refuse_too_few_nodes(offer["nodes"], projected)
    records = {}
    for name in chosen:
        paths = chosen[name]["records"]
        records[name] = [spikemark.load_run(work / path) for path in paths]
    all_runs = [run for runs in records.values() for run in runs]
    with whole_folder(out) as folder:
        answered = [
            _collected(folder, name, chosen[name], runs, meter) for name, runs in records.items()
        ]
        write_json(folder / formats.ENVIRONMENT, _environment(work, all_runs))
        content = {
            "kind": "tender_answer",
            "format_version": schema.VERSION,
            "bundle_sha256": bundle.sha256,
            "tender": bundle.tender.name,
            "quick": bundle.tender.quick,
            "bidder": bidder,
            "category": choices["category"],
            "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "program": program(all_runs[0]) | {"sha256": choices["program_sha256"]},
            "profile": None if profile is None else f"{formats.MACHINE}/{profile.name}",
            "offer": offer,
            "runs": answered,
            "nest": [],
            "projected": [*projected],
            "committed": [],
        }
        without_promises = checked(TenderAnswer, content, "the answer", "answer")
        if nest_runs is not None:
            nest.copy(nest_runs, folder / nest.FOLDER)
            content["nest"] = nest.collected(folder / nest.FOLDER)
        if profile is not None:
            (folder / formats.MACHINE).mkdir()
            shutil.copyfile(profile, folder / formats.MACHINE / profile.name)
        content["committed"] = _promises(bundle, without_promises, promised or {})
        write_json(folder / formats.ANSWER, content)
        formats.write_manifest(folder)
    return formats.read_answer(out)


def _checked_offer(offer: dict[str, Any]) -> dict[str, Any]:
    """Fields of schema.OfferedMachine, with the currency in upper case.

    Raises BadInput for what cannot be meant, naming the argument by which it was given.
    """
    try:
        checked(OfferedMachine, offer, "the offer", "offer")
    except BadInput as problem:
        field = problem.field or "offer"
        raise problem.about_option(ARGUMENTS.get(field, field)) from None
    code = offer["currency"].upper()
    if not re.fullmatch("[A-Z]{3}", code):
        expected = "a code of three letters, such as EUR"
        raise BadInput(field="currency", value=offer["currency"], expected=expected)
    return offer | {"currency": code}


def _refuse_other_content(out: Path) -> None:
    """Raises BadInput where a folder is not new, nor empty, nor that of an answer."""
    if not out.exists() or (out / formats.ANSWER).is_file():
        return
    if not out.is_dir() or any(out.iterdir()):
        raise BadInput(field="out", value=str(out), expected="a new folder, or that of an answer")


def _measured_runs(bundle: Bundle, work: Path, choices: dict[str, Any]) -> dict[str, Any]:
    """How the runs were made that are measured, by name, in the order of the tender.

    Raises BadInput for runs of another bundle, and for those that are not measured yet.
    """
    if choices["bundle_sha256"] != bundle.sha256:
        raise BadInput(
            field="bundle_sha256",
            reason=f"measured for another bundle than {bundle.path}",
            file=work,
        )
    complete = {name: run for name, run in choices["runs"].items() if "records" in run}
    missing = [rule.name for rule in bundle.rules(None) if rule.name not in complete]
    if missing:
        raise BadInput(
            f"run: {', '.join(missing)} not measured; expected `spikemark tender run` to complete",
            field="run",
        )
    names = [rule.name for rule in bundle.tender.runs if rule.name in complete]
    return {name: complete[name] for name in names}


def _refuse_too_few_nodes(offered: int, projected: Iterable[dict[str, Any]]) -> None:
    """Raises BadInput for a projection that takes more nodes than are offered."""
    for projection in projected:
        if projection["nodes"] > offered:
            basis = ", ".join([projection["method"] or "yours", *projection["assumes"][:2]])
            needs = f"as the projection of {projection['run']} takes ({basis})"
            expected = f"at least {projection['nodes']}, {needs}"
            raise BadInput(field="nodes", value=offered, expected=expected, code="range")


def program(run: Run) -> dict[str, str]:
    """How the program of a run was built: the fields of schema.UsedProgram but the hash.

    Example:
        >>> import spikemark
        >>> sorted(program(spikemark.load_run("tests/golden/analysis/records/aware-4")))
        ['compiler', 'flags', 'mpi_library', 'version']
    """
    provenance = run.record.provenance
    fields = ("compiler", "flags", "mpi_library", "version")
    return {field: getattr(provenance, field) for field in fields}


def _collected(
    answer_folder: Path,
    name: str,
    chosen: dict[str, Any],
    runs: list[Run],
    meter: ExternalMeter | None,
) -> dict[str, Any]:
    """The entry of a run in answer.json: fields of schema.MeasuredRun.

    Copies its records, and writes the readings of an external meter.
    """
    repetitions: list[dict[str, Any]] = []
    reasons = []
    for number, run in enumerate(runs, 1):
        folder = f"runs/{name}/{number}"
        _copy_record(run, answer_folder / folder)
        if meter is None:
            energy = of_run(run)
            readings = f"{folder}/{run_files.ENERGY}"
        else:
            meter_readings = source(run, meter.path, at_wall_percent=meter.at_wall_percent)
            energy = measured(run, meter_readings)
            readings = f"power/{name}-{number}.csv"
            _write_readings(answer_folder / readings, meter_readings, run)
        per_event = energy.per_event[0].gross_uj
        if per_event.reason:
            reasons.append(per_event.reason)
        joules = None if per_event.value is None else 1e-6 * per_event.value
        repetitions.append(
            {
                "folder": folder,
                RTF: run.record.timing.real_time_factor,
                JOULES: joules,
                "readings": None if joules is None else readings,
            }
        )
    first = runs[0].record
    return {
        "name": name,
        "layout": {"ranks": first.ranks, "threads": first.threads, "nodes": first.host.nodes},
        "set": chosen["set"],
        "model_ms": chosen["model_ms"],
        "repetitions": repetitions,
        "figures": {
            figure: of_repetitions([repetition[figure] for repetition in repetitions])
            for figure in FIGURES
        },
        "reason": reasons[0] if reasons else None,
    }


def _copy_record(run: Run, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in run_files.FILES:
        if (run.path / name).is_file():
            shutil.copyfile(run.path / name, folder / name)


def of_repetitions(values: Sequence[float | None]) -> dict[str, float] | None:
    """Median, smallest and largest value: fields of schema.Range; None where a repetition has none.

    >>> of_repetitions([2.0, 1.0, 4.0])
    {'value': 2.0, 'low': 1.0, 'high': 4.0}
    """
    measured_values = [value for value in values if value is not None]
    if len(measured_values) < len(values):
        return None
    return {
        "value": median(measured_values),
        "low": min(measured_values),
        "high": max(measured_values),
    }


def _write_readings(path: Path, source: PowerReadings, run: Run) -> None:
    """Writes the channels of an external meter as a file such as energy.csv of a run.

    Times are those of the run, from the pause before it to the end of the measured part.
    """
    started_s = run.record.timing.simulate_started_s
    assert started_s is not None  # or the meter could not be placed
    moved_s = started_s - source.timeline.measured[0]
    channels = []
    for name, trace in source.traces.items():
        first, last = np.searchsorted(trace.time_s, source.timeline.with_pause)
        covered = slice(max(first - 1, 0), last + 1)
        columns: dict[str, Any] = {
            "node": 0,
            "source": source.name,
            "channel": name,
            "time_s": (trace.time_s[covered] + moved_s).round(6),
        }
        if trace.counter_j is not None:
            columns["energy_j"] = trace.counter_j[covered]
        elif trace.power_w is not None:
            columns["power_w"] = trace.power_w[covered]
        channels.append(pd.DataFrame(columns))
    path.parent.mkdir(exist_ok=True)
    table = pd.concat(channels).reindex(columns=POWER_COLUMNS)
    table.to_csv(path, index=False, lineterminator="\n")


def _environment(work: Path, runs: list[Run]) -> dict[str, Any]:
    """Every node that a run used; of a node out of reach, the name."""
    nodes = []
    for name in measure.node_names(runs):
        path = environment.file_of(work / measure.NODES, name)
        nodes.append(read_json(path) if path.is_file() else {"host": name})
    return {"kind": "tender_environment", "format_version": schema.VERSION, "nodes": nodes}


def project(
    bundle: Bundle,
    rule: RunRule,
    machine: object,
    layout: tuple[int, int, int | None],
    settings: dict[str, Any],
    category: str,
) -> list[dict[str, Any]]:
    """Projections of a run by a machine profile, of every figure that it yields.

    Args:
        bundle: what the buyer published.
        rule: the run.
        machine: a profile without unknown values.
        layout: ranks, threads and ranks per node.
        settings: fields of the description that the bidder changes.
        category: that of the answer, which says what may be changed.

    Returns fields of one schema.ProjectedFigure each. Raises BadInput for what the category does
    not allow, for ranks that the rules do not take, and for a network that does not fit.
    """
    bundle.check_set(category, settings)
    ranks, threads, _ = layout
    try:
        option, loads = predicted(bundle, rule, machine, layout, settings)
    except BadInput as refusal:
        if refusal.field in LAYOUT_FIELDS:
            raise
        raise _only_as_allowed(bundle, category, ranks, refusal) from None
    if option.fits is False:
        expected = f"more nodes than {option.nodes}: the network does not fit"
        raise BadInput(field="ranks", value=ranks, expected=expected)
    figures: dict[str, Draws | float | None] = {RTF: option.rtf, POWER: option.power_w}
    if option.energy_uj is not None and loads.total_events:
        # The predicted energy counts events from outside, too; the tender's figure does not.
        joules = 1e-6 * option.energy_uj
        figures[JOULES] = joules * (loads.total_events + loads.external) / loads.total_events
    deciding = decides(option.rtf, option.inputs, MAX_DECIDING_INPUTS)
    counts = f"{counted(ranks, 'rank')} x {counted(threads, 'thread')}"
    assumes = [f"profile {option.machine.name}", counts]
    assumes += [name for name, _ in deciding]
    projections = []
    for figure, values in figures.items():
        is_certain = values is not None and not np.ptp(values) > 0
        if values is None or (is_certain and figure != POWER):  # the profile may state its watts
            continue
        middle, low, high = draws.interval(np.asarray(values))
        projections.append(
            {
                "run": rule.name,
                "figure": figure,
                "value": middle,
                "low": low,
                "high": high,
                "nodes": option.nodes,
                "layout": {"ranks": ranks, "threads": threads, "nodes": option.nodes},
                "set": settings,
                "method": command("predict"),
                "assumes": assumes,
            }
        )
    return projections


def predicted(
    bundle: Bundle,
    rule: RunRule,
    machine: Any,
    layout: tuple[int, int, int | None],
    settings: dict[str, Any],
) -> tuple[MiniAppOption, Loads]:
    """What a profile says of a run, and what its ranks have to do; arguments as of `project`.

    Raises BadInput as a prediction does.
    """
    ranks, threads, ranks_per_node = layout
    description = bundle.description(rule, settings)
    network = question.of_description(rule.name, description, rule.expected.rates_hz)
    loads = Loads.count(network.description, ranks, threads, network.rates.hz)
    placed = MachineLayout.from_machine(machine, ranks, threads, ranks_per_node)
    return mini_app_option(network, machine, loads, placed), loads


def _only_as_allowed(bundle: Bundle, category: str, ranks: int, refusal: BadInput) -> BadInput:
    """A refusal that proposes nothing but what the category allows."""
    allowed = bundle.tender.categories[category].changes
    if refusal.field is not None and refusal.field.split(".")[0] in allowed:
        return refusal
    changes = ", ".join(allowed) or "nothing"
    return BadInput(
        field="ranks",
        value=ranks,
        reason=f"the run of the rules does not take them ({str(refusal).partition(';')[0]})",
        expected=f"other ranks; category {category} may change {changes}",
    )


def stated(text: str, nodes: int, method: str | None) -> dict[str, Any]:
    """A projection that a bidder states, such as target.real_time_factor=0.9:0.7:1.2.

    Args:
        text: RUN.FIGURE=VALUE:LOW:HIGH.
        nodes: nodes of the projected run.
        method: how it was projected.

    Returns fields of a schema.ProjectedFigure. Raises BadInput for another text, and without a
    method.

    Example:
        >>> projection = stated("target.real_time_factor=0.9:0.7:1.2", 32, "scaled from 4 nodes")
        >>> projection["run"], projection["low"], projection["high"]
        ('target', 0.7, 1.2)
    """
    figures = (*FIGURES, POWER)
    (run, figure), (value, low, high) = _split(text, "projected", "VALUE:LOW:HIGH", figures)
    if not low <= value <= high or low == high:
        expected = "a value within its interval, VALUE:LOW:HIGH"
        raise BadInput(field="projected", value=text, expected=expected)
    if not method:
        expected = "how the projection was made"
        raise BadInput(field="method", reason="missing", expected=expected, code="missing")
    return {
        "run": run,
        "figure": figure,
        "value": value,
        "low": low,
        "high": high,
        "nodes": nodes,
        "layout": None,
        "set": {},
        "method": method,
        "assumes": ["stated by the bidder"],
    }


def promised(texts: list[str]) -> Promised:
    """Promises such as target.real_time_factor=0.9. Raises BadInput for any other text.

    >>> promised(["target.real_time_factor=0.9"])
    {('target', 'real_time_factor'): 0.9}
    """
    values = {}
    for text in texts:
        run_and_figure, [value] = _split(text, "promise", "VALUE", tuple(FIGURES))
        values[run_and_figure] = value
    return values


def _split(
    text: str, option: str, form: str, figures: tuple[str, ...]
) -> tuple[tuple[str, str], list[float]]:
    """Run and figure, and the numbers, of RUN.FIGURE=NUMBER:NUMBER.

    Raises BadInput naming `option` for a figure that is none of `figures`, and unless there are as
    many numbers as `form` has, all above 0.
    """
    key, _, values = text.partition("=")
    run, _, figure = key.rpartition(".")
    with contextlib.suppress(ValueError):
        numbers = [float(value) for value in values.split(":")]
        has_all = len(numbers) == form.count(":") + 1
        are_positive = all(0 < number < math.inf for number in numbers)
        if run and figure in figures and has_all and are_positive:
            return (run, figure), numbers
    expected = f"RUN.FIGURE={form}, the figure one of {', '.join(figures)}"
    raise BadInput(field=option, value=text, expected=expected)


def _promises(bundle: Bundle, answer: TenderAnswer, values: Promised) -> list[dict[str, Any]]:
    """A promise for every figure with evidence: the value that is named, else the evidence itself.

    Returns fields of one schema.Commitment each. Raises BadInput for a value without evidence.
    """
    keys = [(rule.name, figure) for rule in bundle.tender.runs for figure in FIGURES]
    commitments = []
    for run, figure in dict.fromkeys([*keys, *values]):
        evidence = answer.evidence(run, figure)
        if evidence.figure is not None:
            value = values.get((run, figure), evidence.figure.value)
            commitments.append(
                {"run": run, "figure": figure, "value": value, "basis": evidence.basis}
            )
        elif (run, figure) in values:
            expected = "a figure that is measured or projected"
            raise BadInput(field="promise", value=f"{run}.{figure}", expected=expected)
    return commitments
