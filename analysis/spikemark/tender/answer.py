"""An answer: everything that a bidder hands in, collected from measured runs."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import whole_folder, write_json
from spikemark.core.reading import read_json
from spikemark.records import run_files

from . import environment, figures, manifest, source
from .bundle import Bundle
from .environment import unread, value
from .fields import Answer
from .measure import Taken

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
        "runs": [_run(one, power) for one in taken],
    }
    with whole_folder(out) as made:
        for one in taken:
            for number, measured in enumerate(one.runs, 1):
                shutil.copytree(measured.run.path, made / _folder(one, number), ignore=_not_of_a_run)
        if power is not None:
            (made / "power").mkdir()
            shutil.copyfile(power["path"], made / "power" / Path(power["path"]).name)
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


def _run(one: Taken, power: dict[str, Any] | None) -> dict[str, Any]:
    """The entry of a run in answer.json."""
    repetitions = [
        {"folder": _folder(one, number), **figures.of_run(m.run, figures.energy_of(m.run, power))}
        for number, m in enumerate(one.runs, 1)
    ]
    first = one.runs[0].run.record
    return {
        "name": one.rule.name,
        "layout": {"ranks": first.ranks, "threads": first.threads, "nodes": first.host.nodes},
        "set": one.chosen.set,
        "model_ms": one.model_ms,
        "repetitions": repetitions,
        "figure": figures.of_repetitions(repetitions),
    }


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
