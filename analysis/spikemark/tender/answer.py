"""An answer: everything that a bidder hands in, collected from measured runs."""

import csv
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import whole_folder, write_json
from spikemark.core.reading import read_json
from spikemark.energy.source import Source
from spikemark.records import run_files
from spikemark.records.record import Run

from . import environment, figures, manifest, source
from .bundle import Bundle
from .check.energy import COLUMNS, METER, meter_file
from .environment import unread, value
from .fields import Answer
from .measure import Taken

METER_FILES = "power"
KIND, VERSION = "tender_answer", 1
FILE, ENVIRONMENT, COMMITMENT = "answer.json", "environment.json", "commitment.json"


def write(
    out: Path,
    bundle: Bundle,
    category: str,
    bidder: str,
    taken: list[Taken],
    nodes: list[dict[str, Any]],
    power: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Writes the answer, whole or not at all, in place of an earlier one; returns answer.json.

    `nodes`: what `environment.read_node` found on each node. `power`: arguments of outside.source. Raises
    BadInput for a folder that holds anything but an answer.
    """
    check_place(out)
    content = {
        "kind": KIND,
        "format_version": VERSION,
        "bundle_sha256": bundle.sha256,
        "tender": bundle.tender.name,
        "quick": bundle.tender.quick,
        "bidder": bidder,
        "category": category,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    with whole_folder(out) as made:
        for one in taken:
            for number, measured in enumerate(one.runs, 1):
                shutil.copytree(measured.run.path, made / _folder(one, number), ignore=_not_of_a_run)
        if power is not None:
            (made / METER_FILES).mkdir()
            shutil.copyfile(power["path"], made / METER_FILES / Path(power["path"]).name)
        content["runs"] = [_run(made, one, power) for one in taken]
        about = {"kind": "tender_environment", "format_version": 1, "software": software(bundle, taken)}
        write_json(made / ENVIRONMENT, {**about, "nodes": nodes})
        write_json(made / FILE, content)
        manifest.write(made, bundle_sha256=bundle.sha256)
    return content


def check_place(out: Path) -> None:
    """Raises BadInput where there is anything but an earlier answer."""
    if out.exists() and not (out / FILE).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"--out: {out} is no answer to a tender; allowed: a new folder, or that of an answer")


def _folder(one: Taken, number: int) -> str:
    return f"runs/{one.rule.name}/{number}"


def _not_of_a_run(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name not in run_files.FILES or name.startswith(".")]


def _run(made: Path, one: Taken, power: dict[str, Any] | None) -> dict[str, Any]:
    """The entry of a run in answer.json; writes the readings of a meter outside beside."""
    repetitions = []
    for number, measured in enumerate(one.runs, 1):
        folder, energy = _folder(one, number), figures.energy_of(measured.run, power)
        repetitions.append({"folder": folder, **figures.of_run(measured.run, energy)})
        if power is not None:
            repetitions[-1][METER] = meter_file(folder)
            _write_readings(made / meter_file(folder), energy.source, measured.run)
    first = one.runs[0].run.record
    return {
        "name": one.rule.name,
        "layout": {"ranks": first.ranks, "threads": first.threads, "nodes": first.host.nodes},
        "set": one.chosen.set,
        "model_ms": one.model_ms,
        "repetitions": repetitions,
        "figure": figures.of_repetitions(repetitions),
    }


def _write_readings(path: Path, source: Source, run: Run) -> None:
    """Writes the channels of a meter outside like energy.csv, in the time of the run, from pause to pause."""
    begin, end = source.timeline.measured
    moved = run.record.timing.simulate_started_s - begin
    first = source.timeline.idle_before[0] if source.timeline.idle_before else begin
    last = source.timeline.idle_after[1] if source.timeline.idle_after else end
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, trace in source.traces.items():
            begun = max(int(np.searchsorted(trace.time_s, first, side="right")) - 1, 0)
            for i in range(begun, min(int(np.searchsorted(trace.time_s, last)) + 1, len(trace.time_s))):
                joules = trace.counter_j[i] - trace.counter_j[begun] if trace.cumulative else None
                values = joules, None if trace.cumulative else trace.power_w[i]
                cells = ["" if value is None else repr(float(value)) for value in values]
                writer.writerow([0, source.name, name, f"{trace.time_s[i] + moved:.6f}", *cells])


def software(bundle: Bundle, taken: list[Taken]) -> dict[str, Any]:
    """How the measured program was built and started, as the first record says, and what it was made from."""
    run = taken[0].runs[0].run
    record, launched = run.record, run.launched
    found = {name: value(getattr(record.provenance, name)) for name in ("compiler", "flags", "mpi_library")}
    found |= {"version": value(record.provenance.version), "commit": _or(record.provenance.commit, "no git")}
    found["program_sha256"] = value(manifest.sha256(places.program("miniapp")))
    found["sources"] = value(source.differing(bundle.source, places.root()))
    found["binding"] = _or(record.host.binding, "the record does not say")
    found["waiting"] = _or(
        record.host.waiting and record.host.waiting.model_dump(), "the record does not say"
    )
    for name in ("launcher", "command", "environment"):
        given = launched and getattr(launched, name)
        found[name] = _or(list(given) if isinstance(given, tuple) else given, "launch.json does not say")
    if launched and launched.environment:
        found["environment"] = value(environment.kept(launched.environment))
    return found


def _or(given: Any, reason: str) -> dict[str, Any]:
    return unread(reason) if given is None else value(given)


def read(path: Path) -> dict[str, Any]:
    """answer.json of an answer, whose other fields the caller checks. Raises BadInput where it is none."""
    if not (path / FILE).is_file():
        raise BadInput(f"{path}: no {FILE}; allowed: a folder that `spikemark tender run` wrote")
    content = read_json(path / FILE)
    found = (content.get("kind"), content.get("format_version")) if isinstance(content, dict) else None
    if found != (KIND, VERSION):
        raise BadInput(f"{path / FILE}: kind: one JSON object of the kind {KIND}, format_version {VERSION}")
    return content


def read_whole(path: Path) -> dict[str, Any]:
    """As `read`, with every field checked."""
    content = read(path)
    checked(Answer, content, path / FILE, "answer")
    return content
