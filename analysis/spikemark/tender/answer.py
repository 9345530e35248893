"""`spikemark tender answer`: collects measured runs, projections and commitments in one folder."""

import contextlib
import math
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import whole_folder, write_json
from spikemark.core.reading import read_json
from spikemark.measuring.energy import measured, of_run, source
from spikemark.measuring.meter import Source
from spikemark.prediction import draws, question, search
from spikemark.prediction.answers import decides
from spikemark.prediction.layout import Layout
from spikemark.prediction.workload import Loads
from spikemark.records import record, run_files
from spikemark.records.record import Run
from spikemark.running.energy import COLUMNS

from . import environment, formats, measure
from .formats import FIGURES, JOULES, POWER, RTF, Answer, Bundle, Rule

#: (run, figure) -> value.
Promised = dict[tuple[str, str], float]


def write(
    bundle: Bundle, work: Path, out: Path, bidder: str, offer: dict[str, Any], *,
    promised: Promised | None = None, projected: Sequence[dict[str, Any]] = (),
    meter: dict[str, Any] | None = None,
) -> Answer:  # fmt: skip
    """Writes the answer, whole or not at all, in place of an earlier one.

    `offer`, `projected`: fields of Offer and of Projections of formats.TABLE. `meter`: arguments of
    meter.source; None where the nodes' own readings count. Raises BadInput for a folder that holds anything
    else, for measurements of another bundle, for missing runs, and for an offer, a projection or a promise
    that cannot be meant.
    """
    if out.exists() and not (out / formats.ANSWER).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput.of("out", str(out), "a new folder, or that of an answer")
    choices = measure.read_choices(work)
    if choices["bundle_sha256"] != bundle.sha256:
        raise BadInput(f"{work}: bundle_sha256: measured for another bundle than {bundle.path}")
    done = {name: run for name, run in choices["runs"].items() if "records" in run}
    if missing := [rule.name for rule in bundle.rules(None) if rule.name not in done]:
        raise BadInput(f"run: {', '.join(missing)} not measured; expected `spikemark tender run` to complete")
    if (most := max((made["nodes"] for made in projected), default=1)) > offer["nodes"]:
        raise BadInput.of("nodes", offer["nodes"], f"at least {most}, which a projection takes", code="range")
    names = [rule.name for rule in bundle.tender.runs if rule.name in done]
    loaded = {name: [record.load(work / path) for path in done[name]["records"]] for name in names}
    used = [run for runs in loaded.values() for run in runs]
    with whole_folder(out) as made:
        runs = [_collected(made, name, done[name], runs, meter) for name, runs in loaded.items()]
        write_json(made / formats.ENVIRONMENT, _environment(work, used))
        content = {
            "kind": "tender_answer", "format_version": formats.VERSION, "bundle_sha256": bundle.sha256,
            "tender": bundle.tender.name, "quick": bundle.tender.quick, "bidder": bidder,
            "category": choices["category"], "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "program": program(used[0]) | {"sha256": choices["program_sha256"]},
            "offer": offer, "runs": runs, "projected": [*projected], "committed": [],
        }  # fmt: skip
        found = checked(Answer, content, out / formats.ANSWER, "answer")
        content["committed"] = promises(bundle, found, promised or {})
        write_json(made / formats.ANSWER, content)
        formats.write_manifest(made)
    return formats.read_answer(out)


def program(run: Run) -> dict[str, str]:
    """How the program of a run was built."""
    return {n: getattr(run.record.provenance, n) for n in ("compiler", "flags", "mpi_library", "version")}


def _collected(
    made: Path, name: str, chosen: dict[str, Any], runs: list[Run], meter: dict[str, Any] | None
) -> dict[str, Any]:
    """The entry of a run in answer.json; copies its records and writes the readings of an external meter."""
    repetitions, reason = [], None
    for number, run in enumerate(runs, 1):
        folder = f"runs/{name}/{number}"
        (made / folder).mkdir(parents=True)
        for file in run_files.FILES:
            if (run.path / file).is_file():
                shutil.copyfile(run.path / file, made / folder / file)
        if meter is None:
            energy, readings = of_run(run), f"{folder}/{run_files.ENERGY}"
        else:
            energy, readings = measured(run, source(run, **meter)), f"power/{name}-{number}.csv"
            write_readings(made / readings, energy.source, run)
        per_event = energy.per_event[0].gross_uj
        reason = reason or per_event.reason
        repetitions.append({
            "folder": folder, RTF: run.record.timing.real_time_factor,
            JOULES: 1e-6 * per_event.value if per_event else None,
            "readings": readings if per_event else None,
        })  # fmt: skip
    first = runs[0].record
    return {
        "name": name, "layout": {"ranks": first.ranks, "threads": first.threads, "nodes": first.host.nodes},
        "set": chosen["set"], "model_ms": chosen["model_ms"], "repetitions": repetitions,
        "figures": {name: of_repetitions([one[name] for one in repetitions]) for name in FIGURES},
        "reason": reason,
    }  # fmt: skip


def of_repetitions(values: list[float | None]) -> dict[str, float] | None:
    """Median, smallest and largest value; None where a repetition has none."""
    return None if None in values else {"value": median(values), "low": min(values), "high": max(values)}


def write_readings(path: Path, source: Source, run: Run) -> None:
    """Writes the channels of an external meter like energy.csv, in the time of the run, from its pause on."""
    moved, frames = run.record.timing.simulate_started_s - source.timeline.measured[0], []
    for name, trace in source.traces.items():
        first, last = np.searchsorted(trace.time_s, source.timeline.known)
        kept = slice(max(first - 1, 0), last + 1)
        unit, values = ("energy_j", trace.counter_j) if trace.cumulative else ("power_w", trace.power_w)
        given = {"time_s": (trace.time_s[kept] + moved).round(6), unit: values[kept]}
        frames.append(pd.DataFrame({"node": 0, "source": source.name, "channel": name, **given}))
    path.parent.mkdir(exist_ok=True)
    pd.concat(frames).reindex(columns=COLUMNS).to_csv(path, index=False, lineterminator="\n")


def _environment(work: Path, runs: list[Run]) -> dict[str, Any]:
    """Every node that a run used; of a node out of reach, the name."""
    files = {name: environment.file_of(work / measure.NODES, name) for name in measure.node_names(runs)}
    nodes = [read_json(path) if path.is_file() else {"host": name} for name, path in files.items()]
    return {"kind": "tender_environment", "format_version": formats.VERSION, "nodes": nodes}


def project(
    bundle: Bundle, rule: Rule, machine: Any, layout: tuple[int, int, int | None], changed: dict[str, Any]
) -> list[dict[str, Any]]:
    """Projections of a run by a profile, of every figure that it yields.

    `layout`: ranks, threads, ranks per node; `changed`: fields set. Raises BadInput as the prediction does,
    for instance for a network that does not fit.
    """
    asked = question.of_description(rule.name, bundle.description(rule, changed), rule.expected.rates_hz)
    ranks, threads, each = layout
    loads = Loads.of(asked.description, ranks, threads, asked.rates.hz)
    found = search.option(asked, machine, loads, Layout.of(machine, ranks, threads, each))
    if found.fits is False:
        raise BadInput.of("ranks", ranks, f"more nodes than {found.nodes}: the network does not fit")
    values = {RTF: found.rtf, POWER: found.power_w}
    if found.energy_uj is not None and loads.total_events:  # it counts events from outside, too
        values[JOULES] = 1e-6 * found.energy_uj * (loads.total_events + loads.external) / loads.total_events
    top = [name for name, _ in decides(found.rtf, found.inputs, 3)]
    assumes = [f"profile {found.machine.name}", f"{ranks} ranks x {threads} threads", *top]
    about = {"nodes": found.nodes, "method": "spikemark predict", "assumes": assumes}
    ends = {name: draws.interval(v) for name, v in values.items() if v is not None and np.ptp(v) > 0}
    return [
        {"run": rule.name, "figure": name, "value": value, "low": low, "high": high, **about}
        for name, (value, low, high) in ends.items()
    ]


def stated(text: str, nodes: int, method: str | None) -> dict[str, Any]:
    """A projection such as target.real_time_factor=0.9:0.7:1.2. Raises BadInput for anything else."""
    (run, figure), (value, low, high) = _split(text, "projected", "VALUE:LOW:HIGH", (*FIGURES, POWER))
    if not low <= value <= high > low:
        raise BadInput.of("projected", text, "a value within its interval, VALUE:LOW:HIGH")
    if not method:
        raise BadInput("method: missing; expected how the projection was made")
    about = {"nodes": nodes, "method": method, "assumes": ["stated by the bidder"]}
    return {"run": run, "figure": figure, "value": value, "low": low, "high": high, **about}


def promised(texts: list[str]) -> Promised:
    """Promises such as target.real_time_factor=0.9. Raises BadInput for anything else."""
    return {key: value for key, [value] in (_split(text, "promise", "VALUE", (*FIGURES,)) for text in texts)}


def _split(
    text: str, option: str, form: str, figures: tuple[str, ...]
) -> tuple[tuple[str, str], list[float]]:
    key, _, values = text.partition("=")
    run, _, figure = key.rpartition(".")
    with contextlib.suppress(ValueError):
        numbers = [float(value) for value in values.split(":")]
        whole = len(numbers) == form.count(":") + 1 and all(0 < n < math.inf for n in numbers)
        if whole and run and figure in figures:
            return (run, figure), numbers
    raise BadInput.of(option, text, f"RUN.FIGURE={form}, the figure one of {', '.join(figures)}")


def promises(bundle: Bundle, answer: Answer, given: Promised) -> list[dict[str, Any]]:
    """A promise for every figure with evidence: as given, else the evidence itself. Raises BadInput."""
    keys, found = [(rule.name, figure) for rule in bundle.tender.runs for figure in FIGURES], []
    for run, figure in dict.fromkeys([*keys, *given]):
        best, basis = answer.evidence(run, figure)
        if best is not None:
            value = given.get((run, figure), best.value)
            found.append({"run": run, "figure": figure, "value": value, "basis": basis})
        elif (run, figure) in given:
            raise BadInput.of("promise", f"{run}.{figure}", "a figure that is measured or projected")
    return found
