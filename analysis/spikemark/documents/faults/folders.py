"""Results folders that people copied, moved, half deleted, or kept from another version."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.records.results import Results

from .tries import Bench, Outcomes, Said, whole_records

VERSIONS = (0, 999, None)


def _again(bench: Bench, place: Path) -> Said:
    """The sweep again, with its results below another folder."""
    _, *words = bench.subject.command(bench.place)
    return bench.run(words=[*words[:-1], str(place)])


def elsewhere(bench: Bench, move: bool) -> Outcomes:
    """A results folder that was copied, or moved; nothing is measured again there."""
    found, verb = Outcomes(), "moved" if move else "copied"
    bench.anew()
    bench.run()
    kept = whole_records(bench.place)
    other = bench.place / "elsewhere"
    (shutil.move if move else shutil.copytree)(bench.place / "faults", other / "faults")
    said = _again(bench, other)
    now = whole_records(other)
    wrong = []
    if said.status != 0 or " 0 to measure" not in said.output:
        wrong.append(f"measures again: {said.output.splitlines()[:1]} {said.errors}")
    if sorted(now.values()) != sorted(kept.values()):
        wrong.append("a record has changed")
    found.add("whole" if not wrong else "some", [f"{bench.subject.name} {verb}: {line}" for line in wrong])
    return found


def _files(bench: Bench) -> list[Path]:
    """Files of whole results, relative to the place; of runs, those of the first."""
    bench.anew()
    bench.run()
    _, *others = sorted(bench.after)
    found = (path for path in (bench.place / "faults").rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(
        path.relative_to(bench.place) for path in found if not any(other in str(path) for other in others)
    )


def damaged(bench: Bench, how: str) -> Outcomes:
    """One file after the other is deleted, or cut in half; the sweep goes on.

    Records without the damage keep their bytes. A damaged one is measured again, or named.
    """
    found = Outcomes()
    files = _files(bench)
    whole = bench.place.with_name("whole")
    shutil.copytree(bench.place, whole)
    for file in files:
        shutil.rmtree(bench.place)
        shutil.copytree(whole, bench.place)
        path = bench.place / file
        others = {p: d for p, d in whole_records(bench.place).items() if p not in path.parents}
        _damage(path, how)
        _judge(bench, _again(bench, bench.place), path, others, f"{file} {how}", found)
    shutil.rmtree(whole)
    return found


def _damage(path: Path, how: str) -> None:
    if how == "deleted":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def versions(bench: Bench) -> Outcomes:
    """Files that say that another version of the format wrote them."""
    found = Outcomes()
    files = [file for file in _files(bench) if file.suffix == ".json"]
    whole = bench.place.with_name("whole")
    shutil.copytree(bench.place, whole)
    for file in files:
        content = json.loads((whole / file).read_text())
        for version in VERSIONS if "format_version" in content else ():
            shutil.rmtree(bench.place)
            shutil.copytree(whole, bench.place)
            path = bench.place / file
            others = {p: d for p, d in whole_records(bench.place).items() if p not in path.parents}
            path.write_text(json.dumps(content | {"format_version": version}))
            _judge(bench, _again(bench, bench.place), path, others, f"{file} of {version!r}", found)
    shutil.rmtree(whole)
    return found


def _judge(bench: Bench, said: Said, path: Path, others: dict[Path, str], what: str, found: Outcomes) -> None:
    """Adds what a sweep made of results with one damaged file."""
    wrong = list(_wrong(bench, said, path, others))
    try:
        whole = bench.subject.parts(bench.place) == bench.after
    except BadInput:
        whole = False
    named = path.name in said.errors + said.output or path.parent.name in said.errors + said.output
    if not whole and not named:
        wrong.append("neither mended nor named")
    found.add("whole" if whole else "some", [f"{bench.subject.name}: {what}: {line}" for line in wrong])


def _wrong(bench: Bench, said: Said, path: Path, others: dict[Path, str]) -> Iterator[str]:
    if "Traceback" in said.errors + said.output:
        yield f"a traceback: {said.errors.strip().splitlines()[-1]}"
    now = whole_records(bench.place)
    for other, digest in others.items():
        if now.get(other) != digest:
            yield f"{other.name} has changed"
    report = Results(bench.place / "faults" / "here").report
    if said.status == 0 and not report.is_file():
        yield "no page"
